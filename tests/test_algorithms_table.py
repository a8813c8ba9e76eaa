"""The table of algorithms: what its words say, and that they say all that runs and nothing that does not."""

import re
from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import check

from pglab import algorithms
from pglab.algorithms import ALGORITHMS, LIBRARIES, Algorithm, Row, differences, named, on_batch, table

pytestmark = pytest.mark.filterwarnings("error")

SAID = {
    "vanilla": ("r", "none", "none", "completions", "at least 1 completion a prompt"),
    "rloo": (
        "r - mean of the others",
        "completion",
        "ratio in [0.8, 1.2]",
        "completions",
        "at least 2 completions a prompt",
    ),
    "grpo": (
        "(r - mean) / (std + 1e-4)",
        "token",
        "ratio in [0.8, 1.2]",
        "its completion's tokens, then completions",
        "at least 2 completions a prompt",
    ),
    "dr_grpo": (
        "r - mean",
        "token",
        "ratio in [0.8, 1.2]",
        "completions x longest allowed",
        "at least 2 completions a prompt",
    ),
    "ppo": (
        "GAE of a critic, lambda 1, whitened over the batch's tokens",
        "token",
        "ratio in [0.8, 1.2]; value within 0.2 of the old",
        "tokens of the batch",
        "at least 1 completion a prompt, trains a critic (0.5 x its loss)",
    ),
    "dapo": (
        "(r - mean) / (std + 1e-4); r falls by up to 1 from 0 to 4 tokens too many",
        "token",
        "ratio in [0.8, 1.28]",
        "tokens of the batch",
        "at least 2 completions a prompt, up to 3 rounds of sampling",
    ),
    "gspo": (
        "(r - mean) / (std + 1e-4)",
        "completion, to the power 1/length",
        "ratio in [0.9997, 1.0004]",
        "its completion's tokens, then completions",
        "at least 2 completions a prompt",
    ),
    "cispo": (
        "(r - mean) / (std + 1e-4)",
        "token",
        "weight of the score at most 1.28",
        "tokens of the batch",
        "at least 2 completions a prompt",
    ),
}


# ---- What is said


def test_the_registry_in_words():
    rows = table()
    assert [row.name for row in rows] == list(ALGORITHMS) and all(isinstance(row, Row) for row in rows)
    assert {row.name: row[1:] for row in rows if row.name in SAID} == SAID
    assert len({row[1:] for row in rows}) == len(rows)
    with pytest.raises(AttributeError):
        rows[0].weight = ""


@pytest.mark.parametrize(
    "changes, cell, words",
    [
        ({"weight": "constant", "baseline": 0.5}, "weight", "r - 0.5"),
        ({"weight": "constant", "baseline": -1}, "weight", "r + 1"),
        ({"weight": "grpo", "eps": 0}, "weight", "(r - mean) / std"),
        ({"weight": "grpo", "eps": 0.5, "ddof": 0}, "weight", "(r - mean) / (population std + 0.5)"),
        ({"weight": "grpo", "eps": 0, "ddof": 0}, "weight", "(r - mean) / (population std)"),
        ({"weight": "leave_one_out_std", "eps": 2.5e-9}, "weight", "(r - mean of the others) / (std of the others + 2.5e-9)"),
        ({"weight": "max_rl"}, "weight", "(r - mean) / mean"),
        ({"weight": "batch_mean", "whiten": True, "ddof": 0}, "weight",
         "r - mean, whitened over the batch's completions (population variance)"),
        ({"clip": None}, "constraint", "none"),
        ({"clip": (None, 0.28)}, "constraint", "ratio at most 1.28"),
        ({"clip": (0.2, None)}, "constraint", "ratio at least 0.8"),
        ({"clip": (1.5, None)}, "constraint", "none"),
        ({"clip": (1, 0)}, "constraint", "ratio at most 1"),
        ({"clip": (0.2, 0.2), "dual_clip": 3}, "constraint", "ratio in [0.8, 1.2]; at most 3 under a negative weight"),
        ({"clip": None, "kl": 0.05, "kl_kind": "k1", "kl_where": "reward"}, "constraint", "0.05 x KL (k1) in the reward"),
        ({"kl": 0.05}, "cost", "at least 2 completions a prompt, holds a reference"),
        ({"aggregation": "constant", "norm": 100}, "denominator", "completions x 100"),
        ({"aggregation": "sum"}, "denominator", "1"),
        ({"aggregation": "sum", "norm": 4}, "denominator", "4"),
        ({"aggregation": "sequence_mean", "norm": 4}, "denominator", "its completion's tokens, then 4"),
        ({"aggregation": "token_mean", "norm": 4}, "denominator", "4"),
        ({"aggregation": "token_mean", "ratio": "sequence_product"}, "denominator", "completions"),
        ({"aggregation": "token_mean", "ratio": "sequence_mean"}, "denominator",
         "its completion's tokens, then completions"),
        ({"aggregation": "sum", "ratio": "sequence_mean"}, "denominator", "its completion's tokens"),
        ({"aggregation": "sum", "ratio": "sequence_mean", "norm": 4}, "denominator", "its completion's tokens, then 4"),
    ],
)  # fmt: skip
def test_every_setting_has_its_words(changes, cell, words):
    (row,) = table([Algorithm("mine", "here", **changes)])
    assert getattr(row, cell) == words and row.name == "mine"


def test_bounds_that_are_said_are_those_that_act():
    """A ratio moved by a hair past the bound in the words has no gradient, one a hair before it has."""
    for name in ("grpo", "dapo", "gspo"):
        (row,) = table([name])
        low, high = map(float, re.search(r"\[(.*), (.*)\]", row.constraint).groups())
        for bound, sign, inside in ((low, -1, 1), (high, 1, -1)):
            for side, moves in ((inside, True), (-inside, False)):
                new = torch.tensor([[np.log(bound) + side * 1e-6]], dtype=torch.float64) - 1
                new.requires_grad_()
                named(name).loss(new, new.detach() * 0 - 1, [float(sign)], new > -9).backward()
                assert bool(new.grad != 0) == moves


def test_names_that_are_taken():
    assert table(["grpo", named("grpo", kl=0.1), LIBRARIES["verl"].algorithm])[2].name == "verl"
    assert table([]) == []
    check(lambda: table("grpo"), "names is 'grpo'; it must be a list of names, such as ['grpo'].")
    check(lambda: table(3), "names is 3; it must be a list of names, such as ['grpo', 'rloo'].")
    check(lambda: table(["grop"]), "algorithm is 'grop'; it must be one of vanilla, reinforce, batch_mean")


# ---- All that runs is said, each field in its own place

OPTIONS = {
    "weight": algorithms.WEIGHTS,
    "baseline": (0.0, 0.5, -1.0),
    "eps": (1e-4, 1e-2, 0.0),
    "ddof": (0, 1),
    "whiten": (False, True),
    "ratio": algorithms.RATIOS,
    "variant": ("ppo", "cispo"),
    "clip": (None, (0.2, 0.2), (0.2, 0.28), (None, 0.1), (0.1, None), (1.5, 0.1)),
    "dual_clip": (None, 1.1, 3.0),
    "aggregation": ("token_mean", "sequence_mean", "constant", "sum"),
    "norm": (None, 1, 3.5),
    "kl": (0.0, 0.05, 0.5),
    "kl_kind": ("k1", "k2", "k3"),
    "kl_where": algorithms.PLACES,
    "lam": (1.0, 0.5, 0.95),
    "value_weight": (0.5, 1.0),
    "value_clip": (None, 0.2, 0.5),
    "rounds": (1, 2, 3),
    "overlong": (None, (0, 4), (1, 4)),
}
COLUMN = dict.fromkeys(("baseline", "eps", "ddof", "whiten", "lam", "overlong"), {"weight"})
COLUMN |= dict.fromkeys(("variant", "clip", "dual_clip", "kl_kind", "kl_where", "value_clip"), {"constraint"})
COLUMN |= {
    "aggregation": {"denominator"},
    "norm": {"denominator"},
    "value_weight": {"cost"},
    "rounds": {"cost"},
}
COLUMN["ratio"] = {"ratio", "denominator"}  # with one ratio a row has one loss, and the mean is one over rows
COLUMN["kl"] = {"constraint", "cost"}  # it needs a reference
COLUMN["weight"] = {"weight", "cost", "constraint"}  # a critic, and the bound of its step


def legal(fields):
    """What can run: a critic's advantages differ within a completion, so its tokens have no ratio in common."""
    if fields["weight"] == "critic" and fields["ratio"].startswith("sequence"):
        fields = fields | {"ratio": "token"}
    if fields["ratio"] == "none":
        fields = fields | {"clip": None, "variant": "ppo"}
    if fields["ratio"] == "none" or fields["variant"] == "cispo":
        fields = fields | {"dual_clip": None}
    return fields


@st.composite
def pairs(draw):
    """Two algorithms, and the field in which they differ; or None where they are drawn apart."""
    one = legal({name: draw(st.sampled_from(values)) for name, values in OPTIONS.items()})
    field = draw(st.sampled_from([None, *OPTIONS]))
    if field is None:
        other = legal({name: draw(st.sampled_from(values)) for name, values in OPTIONS.items()})
    else:
        other = one | {field: draw(st.sampled_from([v for v in OPTIONS[field] if v != one[field]]))}
        if legal(other) != other:
            field, other = None, legal(other)
    return Algorithm("one", "here", **one), Algorithm("other", "here", **other), field


def batches():
    """The shared batch in float64, dearer rewards (none below 0 once a KL is off), and a row without tokens."""
    batch = algorithms.Batch(*(c if c.dtype == torch.bool else c.double() for c in algorithms.shared_batch()))
    batch = batch._replace(rewards=batch.rewards + 9)
    empty = batch.mask.clone()
    empty[[2, 9]] = False
    return batch, batch._replace(mask=empty, rewards=batch.rewards.flip(0))


BATCHES = batches()


def behaviour(a):
    """What the algorithm does, as one list of numbers: gradients, advantages, penalties, rounds, the critic's."""
    results = [on_batch(a, batch) for batch in BATCHES]
    found = [part.ravel() for result in results for part in (result.advantages, result.gradient)]
    found.append(torch.from_numpy(a.penalties(range(12), 4)))
    critic = (a.value_weight, a.value_clip or 0) if a.weight == "critic" else (0, 0)
    mode, norm = a.denominator(BATCHES[0].mask)
    own = mode == "sequence_mean" and a.by_token
    found.append(torch.tensor([a.rounds, a.smallest_group, float(a.kl > 0), *critic, norm, own]))
    return torch.cat([each.double() for each in found])


ACTS = {  # settings under which a field decides something
    "baseline": {"weight": "constant"},
    "eps": {"weight": "grpo"},
    "ddof": {"weight": "grpo"},
    "whiten": {"weight": "batch_mean"},
    "weight": {"eps": 0.01},
    "ratio": {"clip": None},
    "dual_clip": {"clip": None},
    "aggregation": {"norm": None},
    "kl_kind": {"kl": 0.5},
    "kl_where": {"kl": 0.5},
    **dict.fromkeys(("lam", "value_weight", "value_clip"), {"weight": "critic"}),
}


@pytest.mark.parametrize("field", OPTIONS)
def test_every_value_of_a_field_that_acts_has_words_of_its_own(field):
    """Each pair of its values: another behaviour and another row, or the same behaviour and the same row."""
    base = Algorithm("mine", "here", **ACTS.get(field, {}))
    every = [named(base, **{field: value}) for value in OPTIONS[field]]
    apart = 0
    for one, other in combinations(every, 2):
        differs = bool((behaviour(one) - behaviour(other)).abs().max() > 1e-9)
        assert (table([one]) != table([other])) == differs, differences(one, other)
        apart += differs
    assert apart >= len(every) - 1


@settings(max_examples=200)
@given(pairs())
def test_what_differs_in_what_it_does_differs_in_its_words(pair):
    one, other, field = pair
    rows = [row[1:] for row in table([one, other])]
    apart = (behaviour(one) - behaviour(other)).abs().max()
    if apart > 1e-9:
        assert rows[0] != rows[1], (field, differences(one, other))


@settings(max_examples=200)
@given(pairs())
def test_a_field_shows_in_its_own_column_alone(pair):
    one, other, field = pair
    rows = table([one, other])
    changed = {cell for cell in Row._fields[1:] if getattr(rows[0], cell) != getattr(rows[1], cell)}
    if field is not None:
        assert changed <= COLUMN[field], field
        assert set(differences(one, other)) == {field}


@settings(max_examples=100)
@given(pairs())
def test_what_is_said_to_be_the_same_is_the_same(pair):
    """Rows without a difference: fields that are idle, or two names for one sum."""
    one, _, _ = pair
    idle = {}
    if one.weight != "constant":
        idle["baseline"] = 7.0
    if one.weight not in ("grpo", "leave_one_out_std"):
        idle["eps"] = 0.25
    if one.weight != "critic":
        idle |= {"lam": 0.25, "value_weight": 3.0, "value_clip": 0.125}
    if not one.kl:
        idle |= {"kl_kind": "k1", "kl_where": "reward"}
    if one.weight != "grpo" and not one.whiten:
        idle["ddof"] = 1 - one.ddof
    other = named(one, **idle)
    assert table([one])[0] == table([other])[0]
    torch.testing.assert_close(behaviour(other), behaviour(one), rtol=0, atol=1e-12)
