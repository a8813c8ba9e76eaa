"""The registry and its settings: advantages, penalties, what the papers say, dictionaries for JSON."""

import json
from fractions import Fraction

import algorithms_by_hand as hand
import numpy as np
import pytest
import refusals
import torch
from hypothesis import given
from hypothesis import strategies as st

from pglab import advantages, algorithms
from pglab.algorithms import ALGORITHMS, LIBRARIES, Algorithm, differences, named, table

pytestmark = pytest.mark.filterwarnings("error")

GROUPED = [name for name in ALGORITHMS if name != "ppo"]

# ---- Advantages


@pytest.mark.parametrize("name", GROUPED)
@given(batch=hand.groups())
def test_advantages_are_those_of_the_paper(name, batch):
    rewards, mask = batch
    wanted = hand.weights(name, rewards, mask)
    for kind in (np.asarray, torch.tensor):
        found = named(name).advantages(kind(rewards), kind(mask))
        assert type(found) is type(kind(rewards)) and tuple(found.shape) == rewards.shape
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-12, atol=1e-12)
    filled = np.where(mask, rewards, 0.5)
    every = hand.weights(name, filled, np.ones_like(mask))
    np.testing.assert_allclose(named(name).advantages(filled), every, rtol=1e-12, atol=1e-12)


def test_settings_reach_the_advantages():
    rewards = np.array([[0.0, 1.0, 1.0, 3.0], [2.0, 2.0, 2.0, 2.0]])
    mask = np.array([[True, True, True, True], [True, False, True, True]])
    for changes, wanted in [
        ({"weight": "constant", "baseline": -1}, rewards + 1),
        ({"weight": "constant", "baseline": 0.5}, rewards - 0.5),
        ({"weight": "grpo", "eps": 0, "ddof": 0}, advantages.grpo(rewards, eps=0, ddof=0)),
        ({"weight": "grpo", "eps": 2}, advantages.grpo(rewards, eps=2, ddof=1)),
        ({"weight": "leave_one_out_std", "eps": 0.5}, advantages.leave_one_out_std(rewards, eps=0.5)),
        ({"weight": "leave_one_out"}, advantages.leave_one_out(rewards)),
    ]:
        algorithm = Algorithm("mine", "here", **changes)
        np.testing.assert_array_equal(algorithm.advantages(rewards), wanted)
        np.testing.assert_array_equal(algorithm.advantages(rewards, mask), np.where(mask, wanted, 0))
    # Paying {1, 2} in place of {0, 1}, or {-1, 0}, is another baseline.
    right = np.array([[0.0, 1.0]])
    for baseline, paid in ((-1, right + 1), (1, right - 1)):
        found = named("reinforce", baseline=baseline).advantages(right)
        np.testing.assert_array_equal(found, named("reinforce").advantages(paid))


@given(batch=hand.groups())
def test_whitened_advantages_have_mean_0_and_variance_1_over_the_batch(batch):
    rewards, mask = batch
    white = named("batch_mean", whiten=True).advantages(rewards, mask)
    raw = hand.weights("batch_mean", rewards, mask)[mask]
    assert (white[~mask] == 0).all()
    if raw.size > 1 and raw.std() > 0:
        wanted = (raw - raw.mean()) / np.sqrt(raw.var(ddof=1) + 1e-8)
        np.testing.assert_allclose(white[mask], wanted, rtol=0, atol=1e-12)
        assert white[mask].std(ddof=1) == pytest.approx(1, abs=1e-6)
    else:
        assert (white == 0).all()


def test_the_smallest_group_is_the_smallest_that_has_an_answer():
    for name, algorithm in ALGORITHMS.items():
        assert algorithm.smallest_group == (1 if name in ("vanilla", "reinforce", "ppo") else 2)
        assert algorithm.skips == (name != "ppo")
    for weight in algorithms.WEIGHTS:
        algorithm = Algorithm("mine", "here", weight=weight)
        if weight != "critic":
            assert algorithm.advantages(np.ones((3, algorithm.smallest_group))).shape[0] == 3
        if algorithm.smallest_group == 2 and weight not in ("batch_mean", "max_rl"):
            with pytest.raises(ValueError, match="a group of one has no others"):
                algorithm.advantages(np.ones((3, 1)))
    # With these two a group of one does no harm, and teaches nothing.
    assert named("batch_mean").advantages([[1.0]]) == named("max_rl").advantages([[1.0]]) == 0


# ---- Penalties


@given(st.integers(0, 9), st.integers(1, 6), st.integers(0, 12), st.lists(st.integers(0, 40), max_size=6))
def test_penalties_by_hand(soft, more, enough, lengths):
    algorithm = named("grpo", overlong=(soft, soft + more))
    wanted = [-float(min(max(Fraction(n - enough - soft, more), 0), 1)) for n in lengths]
    for kind in (list, np.array, lambda n: torch.tensor(n, dtype=torch.int64)):
        found = algorithm.penalties(kind(lengths), enough)
        assert found.shape == (len(lengths),) and found.dtype == np.float64
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-15)
    nothing = named("grpo").penalties(lengths, enough)
    assert nothing.dtype == np.float64 and nothing.tolist() == [0.0] * len(lengths)


def test_dapo_takes_a_point_off_four_tokens_beyond_the_longest_right_answer():
    assert named("dapo").penalties([1, 5, 6, 7, 9, 30], 5).tolist() == [0, 0, -0.25, -0.5, -1, -1]


# ---- The registry

SAID = {  # weight, ratio, variant, clip, aggregation, norm: what the papers say, in the words of the class
    "vanilla": ("constant", "none", "ppo", None, "constant", 1),
    "reinforce": ("constant", "token", "ppo", (0.2, 0.2), "constant", 1),
    "batch_mean": ("batch_mean", "token", "ppo", (0.2, 0.2), "constant", 1),
    "rloo": ("leave_one_out", "sequence_product", "ppo", (0.2, 0.2), "sequence_mean", None),
    "grpo": ("grpo", "token", "ppo", (0.2, 0.2), "sequence_mean", None),
    "dr_grpo": ("batch_mean", "token", "ppo", (0.2, 0.2), "constant", None),
    "ppo": ("critic", "token", "ppo", (0.2, 0.2), "token_mean", None),
    "grpo_clip_higher": ("grpo", "token", "ppo", (0.2, 0.28), "sequence_mean", None),
    "grpo_dynamic": ("grpo", "token", "ppo", (0.2, 0.2), "sequence_mean", None),
    "grpo_token_mean": ("grpo", "token", "ppo", (0.2, 0.2), "token_mean", None),
    "grpo_overlong": ("grpo", "token", "ppo", (0.2, 0.2), "sequence_mean", None),
    "dapo": ("grpo", "token", "ppo", (0.2, 0.28), "token_mean", None),
    "gspo": ("grpo", "sequence_mean", "ppo", (3e-4, 4e-4), "sequence_mean", None),
    "cispo": ("grpo", "token", "cispo", (None, 0.28), "token_mean", None),
    "max_rl": ("max_rl", "token", "ppo", (0.2, 0.2), "constant", None),
}


def test_the_registry():
    assert list(ALGORITHMS) == list(SAID) and set(hand.LOSSES) == set(SAID)
    for name, algorithm in ALGORITHMS.items():
        fields = ("weight", "ratio", "variant", "clip", "aggregation", "norm")
        assert tuple(getattr(algorithm, field) for field in fields) == SAID[name]
        assert algorithm.name == name and any(c.isdigit() for c in algorithm.source)
        assert algorithm.kl == 0 and algorithm.dual_clip is None and algorithm.baseline == 0
        assert (algorithm.eps, algorithm.ddof) == (1e-4, 1)
        assert algorithm.whiten == (name == "ppo") and algorithm.lam == 1
        assert algorithm.value_clip == (0.2 if name == "ppo" else None) and algorithm.value_weight == 0.5
        assert algorithm.rounds == (3 if name in ("dapo", "grpo_dynamic") else 1)
        assert algorithm.overlong == ((0, 4) if name in ("dapo", "grpo_overlong") else None)


def test_the_four_parts_of_dapo_make_dapo():
    """Each is GRPO but for one field; all four changes together are DAPO, and none of them is idle."""
    parts = ["grpo_clip_higher", "grpo_dynamic", "grpo_token_mean", "grpo_overlong"]
    together = {}
    for name in parts:
        ((field, (_, changed)),) = differences("grpo", name).items()
        assert field not in together
        together[field] = changed
    assert differences(named("grpo", **together), "dapo") == {}
    assert set(differences("grpo", "dapo")) == set(together) and len(together) == 4


@pytest.mark.parametrize("name", ALGORITHMS)
def test_an_algorithm_is_its_dictionary(name):
    algorithm = ALGORITHMS[name]
    for one in (algorithm, named(name, kl=0.1, clip=None), named(name, overlong=(1, 3), baseline=0.5)):
        assert Algorithm(**one.as_dict()) == one
        written = json.loads(json.dumps(one.as_dict(), allow_nan=False))
        assert written == one.as_dict() and Algorithm(**written) == one
        assert hash(Algorithm(**written)) == hash(one)
    assert named(name) is not None and named(name) == algorithm == named(algorithm)
    changed = named(name, kl=0.1)
    assert changed.kl == 0.1 and changed != algorithm and algorithm.kl == 0
    assert changed.name == name and named(changed, kl=0) == algorithm


@given(hand.any_algorithm())
def test_so_is_any_other(algorithm):
    assert Algorithm(**json.loads(json.dumps(algorithm.as_dict()))) == algorithm


def test_settings_are_stored_as_plain_numbers():
    one = Algorithm("mine", "here", kl=np.float32(0.5), rounds=3.0, eps=torch.tensor(1), lam=np.int64(1))
    assert type(one.kl) is type(one.eps) is type(one.lam) is float and type(one.rounds) is int
    assert json.loads(json.dumps(one.as_dict()))["rounds"] == 3 and len(range(one.rounds)) == 3
    with pytest.raises(AttributeError):
        one.kl = 1.0

    whole, true = one_of_each(1, 1), one_of_each(True, True)
    assert whole == true and json.dumps(whole.as_dict()) == json.dumps(true.as_dict())
    assert type(true.ddof) is int and whole.whiten is True and one_of_each(0.0, np.bool_(0)).whiten is False


def one_of_each(ddof, whiten):
    return Algorithm("mine", "here", ddof=ddof, whiten=whiten)


# ---- What libraries run


def test_a_library_stands_for_its_algorithm():
    assert not set(LIBRARIES) & set(ALGORITHMS)  # or a name would not say which
    for name, library in LIBRARIES.items():
        assert named(name) is not None and named(name) == named(library) == library.algorithm
        assert named(library, kl=0.5) == named(library.algorithm, kl=0.5)
        assert differences(name, library) == {} == differences(library, library.algorithm.as_dict())
        assert table([name]) == table([library]) == table([library.algorithm])
    assert differences("slime", "grpo") == {"eps": (1e-6, 1e-4)}


def test_registries_are_read_only():
    for registry in (ALGORITHMS, LIBRARIES):
        with pytest.raises(TypeError):
            registry["mine"] = None
        with pytest.raises(AttributeError):
            registry.clear()


# ---- Differences


def test_differences_by_hand():
    assert differences("grpo", "dr_grpo") == {
        "weight": ("grpo", "batch_mean"), "aggregation": ("sequence_mean", "constant"),
    }  # fmt: skip
    assert differences("grpo", "grpo_clip_higher") == {"clip": ((0.2, 0.2), (0.2, 0.28))}
    assert differences("grpo", named("grpo", kl=0.1)) == {"kl": (0.0, 0.1)}
    assert differences("reinforce", "vanilla") == {"ratio": ("token", "none"), "clip": ((0.2, 0.2), None)}
    assert (
        differences("grpo", Algorithm(**{**ALGORITHMS["grpo"].as_dict(), "name": "x", "source": "y"})) == {}
    )
    refusals.check(lambda: differences("grpo", "grop"), "algorithm is 'grop'; it must be one of vanilla")


@given(st.sampled_from(list(ALGORITHMS)), st.sampled_from(list(ALGORITHMS)))
def test_differences_turn_the_one_into_the_other(one, other):
    found = differences(one, other)
    changed = named(one, **{field: new for field, (_, new) in found.items()})
    assert differences(changed, other) == {} and bool(found) == (one != other)
    assert found == differences(ALGORITHMS[one].as_dict(), ALGORITHMS[other])
    assert {field: pair[::-1] for field, pair in found.items()} == differences(other, one)


def test_a_field_that_an_older_card_lacks_is_none_there():
    card = ALGORITHMS["grpo"].as_dict()
    del card["overlong"], card["lam"]
    assert differences("grpo", card) == {"lam": (1.0, None)}
    assert differences(card, "grpo") == {"lam": (None, 1.0)}


def test_differences_look_at_the_fields_of_both():
    grpo = ALGORITHMS["grpo"].as_dict()
    about = {field: v for field, v in grpo.items() if v is not None and field not in ("name", "source")}
    clip = {"clip": (0.2, 0.2)}
    assert differences({}, "grpo") == {field: (None, v) for field, v in (about | clip).items()}
    assert differences("grpo", {}) == {field: (v, None) for field, v in (about | clip).items()}
    assert list(differences({}, "grpo")) == list(about) and differences({}, {}) == {}
    newer = {"tau": 0.5} | dict(reversed(grpo.items())) | {"kl": 0.5, "eps": 0.5}
    assert list(differences(newer, "grpo")) == ["eps", "kl", "tau"]
    assert differences("grpo", newer)["tau"] == (None, 0.5)
