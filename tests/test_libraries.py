"""The Rosetta table: every library's default, run here on one batch, against that library's own formulas.

``libraries_by_hand`` has the formulas, in plain floats; here everything runs in float32.
"""

import math
import re

import libraries_by_hand as hand
import numpy as np
import pytest
import torch
from refusals import check

from pglab import advantages, algorithms, losses
from pglab.algorithms import LIBRARIES, Batch, named, on_batch, shared_batch

pytestmark = pytest.mark.filterwarnings("error")

NEAR = {"rtol": 1e-6, "atol": 1e-6}
BATCH = shared_batch()


def padded(rows, mask):
    """(N, T) float64, 0 where there is no token."""
    result = torch.zeros(mask.shape, dtype=torch.float64)
    result[mask] = torch.tensor([x for row in rows for x in row], dtype=torch.float64)
    return result


def random_batch(seed, groups=3, size=4, width=6):
    """Other lengths, ratios and rewards than those of the shared batch, and no bend near."""
    rng = np.random.default_rng(seed)
    shape = groups * size, width
    mask = torch.from_numpy(np.arange(width) < rng.integers(1, width + 1, shape[0])[:, None])
    old = -1 - rng.integers(0, 9, shape) / 4
    new, ref = old + rng.integers(-6, 10, shape) / 16 + 1 / 64, old + rng.integers(-6, 7, shape) / 16
    single = [torch.tensor(c, dtype=torch.float32) for c in (new, old, ref, rng.random(shape))]
    new, old, ref, values = (column.where(mask, 0.0) for column in single)
    return Batch(torch.tensor(rng.random((groups, size)), dtype=torch.float32), new, old, ref, mask, values)


# ---- The rows


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("seed", [None, 0, 1, 2])
def test_a_row_computes_what_its_library_computes(name, seed):
    batch = BATCH if seed is None else random_batch(seed)
    found = on_batch(LIBRARIES[name].algorithm, batch)
    assert {part.dtype for part in found} == {torch.float32}
    weights, loss, gradient = hand.derive(name, hand.plain(batch))
    np.testing.assert_allclose(found.advantages, padded(weights, batch.mask), **NEAR)
    np.testing.assert_allclose(found.gradient, padded(gradient, batch.mask), **NEAR)
    if name == "NeMo-RL":  # the gradient of k2 and the value of k3: what its note says
        d = (batch.logprobs - batch.ref_logprobs)[batch.mask].double()
        loss = loss + 0.01 * float((d**2 / 2 - ((-d).exp() - 1 + d)).mean())
    np.testing.assert_allclose(found.loss, loss, **NEAR)
    assert found.gradient.abs().max() > 1e-3


def test_every_library_has_a_row_with_its_version_and_the_lines_it_was_read_from():
    assert list(LIBRARIES) == list(hand.LIBRARIES)
    for name, library in LIBRARIES.items():
        assert library.name == name == library.algorithm.name
        assert (
            re.search(r"1\.16\.0|commit [0-9a-f]{8}", library.version)
            and library.version in library.algorithm.source
        )
        assert re.search(r"\.(py|yaml)[: ]", library.source) and len(library.note) > 40
        assert not re.search(r"[*_`]", library.note.replace("loss_type", ""))  # it is shown as it is
        algorithms.Algorithm(**library.algorithm.as_dict())
        with pytest.raises(AttributeError):
            library.note = ""
    rows = algorithms.table([library.algorithm for library in LIBRARIES.values()])
    assert len({row[1:] for row in rows}) == len(rows)  # no two run the same


def test_the_four_kinds_called_grpo_differ_by_these_fields():
    grpo = {
        name: LIBRARIES[name].algorithm for name in ("TRL GRPO", "verl GRPO", "slime", "OpenRLHF group_norm")
    }
    assert algorithms.differences(grpo["TRL GRPO"], grpo["verl GRPO"]) == {
        "eps": (1e-4, 1e-6), "dual_clip": (None, 3.0),
    }  # fmt: skip
    assert algorithms.differences(grpo["TRL GRPO"], grpo["OpenRLHF group_norm"]) == {"eps": (1e-4, 1e-9)}
    assert list(algorithms.differences(grpo["slime"], "grpo")) == ["eps"]
    gradients = [on_batch(a, BATCH).gradient for a in grpo.values()]
    apart = [float((a - b).abs().max()) for i, a in enumerate(gradients) for b in gradients[:i]]
    assert min(apart) > 1e-7 and max(apart) > 1e-2


# ---- The batch


def test_the_shared_batch_is_what_it_says():
    mask, ratio = BATCH.mask, (BATCH.logprobs - BATCH.old_logprobs).exp()
    weights = on_batch("grpo", BATCH).advantages
    assert BATCH.rewards.shape == (4, 4) and mask.shape == (16, 8)
    assert {column.dtype for column in BATCH if column is not mask} == {torch.float32}
    lengths = mask.sum(1)
    assert (
        set(lengths.tolist()) == {1, 2, 3, 4, 5, 6} and (mask == (torch.arange(8) < lengths[:, None])).all()
    )
    for outside in (ratio > 1.2, ratio < 0.8):
        assert (mask & outside & (weights > 0)).any() and (mask & outside & (weights < 0)).any()
    assert int((mask & (ratio > 3) & (weights < 0)).sum()) == int((mask & (ratio > 3)).sum()) == 1
    assert ((ratio > 0.8) & (ratio < 1.2) & mask).sum() > 20
    equal = [i for i, row in enumerate(BATCH.rewards.tolist()) if len(set(row)) == 1]
    assert equal == [1] and any(r not in (0, 1) for r in BATCH.rewards[2].tolist())
    for column in (BATCH.logprobs, BATCH.old_logprobs, BATCH.ref_logprobs):
        assert (column[mask] < 0).all() and (column[~mask] == 0).all()
    assert all(torch.equal(a, b) for a, b in zip(BATCH, shared_batch(), strict=True))


def test_dynamic_sampling_leaves_the_group_of_equals_out():
    """Its tokens are in no denominator: the mean over tokens is larger by all tokens over those that are left."""
    with_it, without = on_batch("grpo_token_mean", BATCH), on_batch(named("grpo_token_mean", rounds=2), BATCH)
    all_tokens, left = int(BATCH.mask.sum()), int(BATCH.mask.sum() - BATCH.mask[4:8].sum())
    torch.testing.assert_close(without.gradient, with_it.gradient * all_tokens / left, rtol=1e-6, atol=0)
    assert (without.advantages[4:8] == 0).all() and left < all_tokens


@pytest.mark.parametrize("name", ["vanilla", "grpo", "dapo", "ppo", "max_rl"])
def test_a_completion_that_could_not_be_scored_teaches_nothing_and_hides_nothing(name):
    """The others are compared among themselves; its tokens still count in the denominator."""
    rewards = BATCH.rewards.clone()
    rewards[0, 1] = math.nan
    found = on_batch(name, BATCH._replace(rewards=rewards))
    assert (found.advantages[1] == 0).all() and (found.gradient[1] == 0).all()
    assert found.gradient.isfinite().all() and found.gradient[0].abs().max() > 0


def test_a_reward_sits_on_the_last_token_of_its_completion():
    mask = [[True, True, False], [True, False, True], [False, False, False]]
    for kind in (np.array, torch.tensor):
        found = algorithms.at_the_end(kind([1.0, 2.0, 3.0]), kind(mask))
        assert type(found) is type(kind([0.0])) and found.tolist() == [[0, 1, 0], [0, 0, 2], [0, 0, 0]]


def test_what_is_no_batch_is_refused():
    check(
        lambda: on_batch("grpo", tuple(BATCH)), "batch is a tuple; it must be a Batch, such as shared_batch()"
    )
    check(lambda: on_batch("grop", BATCH), "algorithm is 'grop'; it must be one of vanilla, reinforce")


# ---- Traps: rounding and reduction


def test_which_standard_deviation():
    """[1, 0, 0, 0]: TRL, verl, slime and OpenRLHF divide by G - 1, GRPO-Zero (d41bb486) by G."""
    group = hand.Plain([[1.0, 0.0, 0.0, 0.0]], [[0.0]] * 4, None, None, None)
    for ddof, first in ((1, 1.499700), (0, 1.731651)):
        wanted = [row[0] for row in hand.normalised(1e-4, ddof)(group)]
        found = named("grpo", ddof=ddof).advantages(torch.tensor(group.rewards))[0]
        np.testing.assert_allclose(found, wanted, **NEAR)
        assert wanted[0] == pytest.approx(first, abs=1e-6)


def test_which_variance_whitens():
    """verl n - 1, OpenRLHF n: advantages of the whole batch differ by one factor."""
    n = int(BATCH.mask.sum())
    ours = [on_batch(named("ppo", ddof=ddof), BATCH).advantages.double() for ddof in (0, 1)]
    torch.testing.assert_close(ours[1] * math.sqrt(n / (n - 1)), ours[0], rtol=1e-6, atol=1e-6)
    for ddof, white in enumerate(ours):
        assert white[BATCH.mask].var(correction=ddof) == pytest.approx(1, abs=1e-5)


def test_where_eps_stands():
    """Added to the std, added to the variance inside the root, or the least variance: three numbers."""
    rewards, eps = torch.tensor([[0.0, 0.02]]), 1e-4
    d, variance = 0.01, 0.0002
    found = {
        "to the std": (advantages.grpo(rewards, eps=eps), d / (math.sqrt(variance) + eps)),
        "inside the root": (advantages.whiten(rewards, eps=eps), d / math.sqrt(variance + eps)),
        "as a clamp": (advantages.whiten(rewards, eps=0), d / math.sqrt(max(variance, eps))),
    }
    for ours, wanted in found.values():
        np.testing.assert_allclose(ours, [[-wanted, wanted]], rtol=1e-6)
    assert [round(wanted, 4) for _, wanted in found.values()] == [0.7021, 0.5774, 0.7071]


def test_an_eps_below_rounding_makes_an_advantage_out_of_nothing():
    """Eight rewards of 0.7, summed one by one in float32: their mean is not 0.7, and 1e-9 does not hide it."""
    r = np.full(8, 0.7, np.float32)
    total = np.float32(0)
    for each in r:
        total = np.float32(total + each)
    d = r - total / np.float32(8)
    spread = np.sqrt((d * d).sum() / np.float32(7))
    assert d[0] != 0
    assert abs(d[0] / (spread + np.float32(1e-9))) > 0.5 and abs(d[0] / (spread + np.float32(1e-4))) < 0.01
    for name in ("TRL GRPO", "verl GRPO", "slime", "OpenRLHF group_norm"):
        assert (LIBRARIES[name].algorithm.advantages(torch.from_numpy(r)[None]) == 0).all()


def test_a_scale_of_the_padded_width_depends_on_the_other_completions():
    """verl's seq-mean-token-sum-norm divides by the width of the batch at hand, Dr. GRPO by one number."""
    mask = np.array([[1, 1, 0, 0], [1, 0, 0, 0]])
    each = np.array([[1.0, 2.0, 9.0, 9.0], [3.0, 9.0, 9.0, 9.0]])
    longer, more = np.pad(each, ((0, 0), (0, 4))), np.pad(mask, ((0, 0), (0, 4)))
    assert hand.verl_sum_norm(each, mask) == 6 / (2 * 4) and hand.verl_sum_norm(longer, more) == 6 / (2 * 8)
    for width in (4, 8):  # norm None is the width of the mask that it is given, as in verl
        padded_mask = torch.from_numpy(np.pad(mask, ((0, 0), (0, width - 4))) == 1)
        mode, norm = named("dr_grpo").denominator(padded_mask)
        wanted = hand.verl_sum_norm(np.pad(each, ((0, 0), (0, width - 4))), padded_mask.numpy() * 1)
        found = losses.aggregate(np.pad(each, ((0, 0), (0, width - 4))), padded_mask, mode, norm)
        assert float(found) == pytest.approx(wanted, abs=1e-12)
        mode, norm = named("dr_grpo", norm=10).denominator(padded_mask)
        assert float(losses.aggregate(np.ones((2, width)), padded_mask, mode, norm)) == pytest.approx(3 / 20)


def test_rows_without_tokens_count_in_trl_and_not_in_verl():
    mask, each = np.array([[1, 0], [0, 0], [1, 1]]), np.array([[1.0, 0.0], [7.0, 7.0], [2.0, 4.0]])
    assert hand.trl_grpo_type(each, mask) == pytest.approx(4 / 3) and hand.verl_seq_mean(
        each, mask
    ) == pytest.approx(2)
    for empty_rows, wanted in (("count", hand.trl_grpo_type), ("exclude", hand.verl_seq_mean)):
        found = losses.aggregate(each, mask == 1, "sequence_mean", empty_rows=empty_rows)
        assert float(found) == pytest.approx(wanted(each, mask), abs=1e-7)
    rows = torch.from_numpy(mask == 1)
    assert named("grpo").denominator(rows) == ("sequence_mean", 2)  # as verl


def test_a_batch_without_a_token_is_zero_here_and_not_a_number_there():
    mask, each = np.zeros((2, 3)), np.ones((2, 3))
    with np.errstate(invalid="ignore"):
        assert hand.trl_grpo_type(each, mask) == 0
        for theirs in (
            hand.verl_token_mean,
            hand.verl_seq_mean,
            hand.verl_sum_norm,
            hand.openrlhf_token_level,
        ):
            assert math.isnan(theirs(each, mask))
    for mode, norm in (("token_mean", None), ("sequence_mean", None), ("constant", 3), ("sum", None)):
        for empty_rows in ("count", "exclude"):
            assert float(losses.aggregate(each, mask == 1, mode, norm, empty_rows)) == 0
    nothing = BATCH._replace(mask=torch.zeros_like(BATCH.mask), rewards=torch.ones_like(BATCH.rewards))
    for name, library in LIBRARIES.items():
        found = on_batch(library.algorithm, nothing)
        assert found.loss == 0 and (found.gradient == 0).all() and (found.advantages == 0).all(), name


def test_a_group_of_one_is_refused_where_libraries_disagree():
    theirs = hand.one_alone(0.7)
    assert theirs["TRL GRPO"] == theirs["TRL RLOO"] == 0 and theirs["verl GRPO"] == pytest.approx(
        0.7, abs=1e-5
    )
    assert math.isnan(theirs["slime"])
    for name in theirs:
        with pytest.raises(ValueError, match="a group of one has no others"):
            LIBRARIES[name].algorithm.advantages([[0.7]])


def test_a_dual_clip_holds_the_one_ratio_above_three():
    with_it = on_batch(LIBRARIES["verl GRPO"].algorithm, BATCH)
    without = on_batch(named(LIBRARIES["verl GRPO"].algorithm, dual_clip=None), BATCH)
    moved = (with_it.gradient != without.gradient).nonzero().tolist()
    assert moved == [[1, 0]] and with_it.gradient[1, 0] == 0 and without.gradient[1, 0] > 0.01


def test_the_bound_of_cispo_is_one_and_a_fifth_or_a_fifth():
    """verl, slime and NeMo-RL clip at 1 + 0.2; TRL 1.16 (grpo_trainer.py 3110) at the number it is given."""
    new, old = torch.tensor([[-1.0]]), torch.tensor([[-1.5]])
    for high, bound in ((0.2, 1.2), (None, math.exp(0.5))):
        algorithm = named("cispo", clip=(None, high))
        logprobs = new.clone().requires_grad_()
        algorithm.loss(logprobs, old, [1.0], torch.tensor([[True]])).backward()
        assert float(-logprobs.grad) == pytest.approx(bound, rel=1e-6)
