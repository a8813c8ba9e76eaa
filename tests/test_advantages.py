"""Each advantage against a plain loop over fractions; masks, kinds of arrays, edges, bad input."""

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pglab import advantages

pytestmark = pytest.mark.filterwarnings("error")  # no 0/0 on the way, even if it is thrown away later

# ---- The same by hand: one group as a list of fractions, those that count and no others


def mean(numbers):
    return sum(numbers) / len(numbers) if numbers else Fraction(0)


def deviation(numbers, ddof):
    """Standard deviation; the variance is exact, so equal numbers give exactly 0."""
    if len(numbers) < 2:
        return 0.0
    return math.sqrt(sum((x - mean(numbers)) ** 2 for x in numbers) / (len(numbers) - ddof))


def others(numbers):
    return [(x, numbers[:i] + numbers[i + 1 :]) for i, x in enumerate(numbers)]


def ratio(x, y):
    return float(x) / float(y) if y else float(x)


def loo_by_hand(numbers):
    return [float(x - mean(rest)) if rest else 0.0 for x, rest in others(numbers)]


def grpo_by_hand(numbers, eps, ddof):
    return [ratio(x - mean(numbers), deviation(numbers, ddof) + eps) for x in numbers]


def loo_std_by_hand(numbers, eps):
    spreads = [deviation(rest, 1) for _, rest in others(numbers)]
    return [ratio(d, s + eps if s else 0) for d, s in zip(loo_by_hand(numbers), spreads, strict=True)]


def centred_by_hand(numbers):
    return [float(x - mean(numbers)) for x in numbers]


HAND = {
    "constant": (advantages.constant, lambda r: [float(x) for x in r]),
    "constant, b 0.75": (partial(advantages.constant, baseline=0.75), lambda r: [float(x) - 0.75 for x in r]),
    "batch_mean": (advantages.batch_mean, centred_by_hand),
    "dr_grpo": (advantages.dr_grpo, centred_by_hand),
    "leave_one_out": (advantages.leave_one_out, loo_by_hand),
    "grpo": (advantages.grpo, partial(grpo_by_hand, eps=1e-4, ddof=1)),
    "grpo, eps 0": (partial(advantages.grpo, eps=0), partial(grpo_by_hand, eps=0, ddof=1)),
    "grpo, eps 1e-9": (partial(advantages.grpo, eps=1e-9), partial(grpo_by_hand, eps=1e-9, ddof=1)),
    "grpo, eps 1, ddof 0": (partial(advantages.grpo, eps=1, ddof=0), partial(grpo_by_hand, eps=1, ddof=0)),
    "max_rl": (advantages.max_rl, lambda r: [ratio(x - mean(r), mean(r)) for x in r]),
    "leave_one_out_std": (advantages.leave_one_out_std, partial(loo_std_by_hand, eps=1e-6)),
    "leave_one_out_std, eps 0": (partial(advantages.leave_one_out_std, eps=0), partial(loo_std_by_hand, eps=0)),
    "leave_one_out_std, eps 1": (partial(advantages.leave_one_out_std, eps=1), partial(loo_std_by_hand, eps=1)),
}  # fmt: skip
PAIRS = [name for name in HAND if name.startswith(("leave", "grpo"))]  # they need two samples
COMPARED = [name for name in HAND if not name.startswith("constant")]
WHITEN = {
    "whiten": {},
    "whiten, eps 0": {"eps": 0},
    "whiten, eps 1e-9": {"eps": 1e-9},
    "whiten, eps 1, ddof 0": {"eps": 1, "ddof": 0},
}
EVERY = {name: f for name, (f, _) in HAND.items()} | {
    name: partial(advantages.whiten, **options) for name, options in WHITEN.items()
}


def whiten_by_hand(numbers, eps=1e-8, ddof=1):
    return [ratio(x - mean(numbers), math.sqrt(deviation(numbers, ddof) ** 2 + eps)) for x in numbers]


def with_mask(by_hand, rewards, mask):
    """One row by hand: fractions of those that count, 0 in the other places."""
    left = iter(by_hand([Fraction(r) for r, m in zip(rewards, mask, strict=True) if m]))
    return [next(left) if m else 0.0 for m in mask]


@st.composite
def batches(draw):
    """(rewards, mask): up to two leading axes, a coarse grid of rewards, junk under the mask."""
    shape = (*draw(st.lists(st.integers(1, 3), max_size=2)), draw(st.integers(1, 6)))
    grid = st.integers(0, 8) if draw(st.booleans()) else st.integers(0, 1)
    n = math.prod(shape)
    rewards = np.array(draw(st.lists(grid, min_size=n, max_size=n))) / 8
    mask = np.array(draw(st.lists(st.sampled_from([True, True, False]), min_size=n, max_size=n)))
    junk = draw(st.sampled_from([np.nan, np.inf, -np.inf, -1e30, 5.0]))
    return np.where(mask, rewards, junk).reshape(shape), mask.reshape(shape)


def close(value, wanted, dtype=np.float64):
    tolerance = 1e-12 if dtype == np.float64 else 2e-5
    np.testing.assert_allclose(np.asarray(value), wanted, rtol=tolerance, atol=tolerance)


# ---- Values


@pytest.mark.parametrize("name", HAND)
@given(batches())
def test_groups_by_hand(name, batch):
    rewards, mask = batch
    if name in PAIRS and rewards.shape[-1] == 1:
        return
    function, by_hand = HAND[name]
    rows = zip(rewards.reshape(-1, mask.shape[-1]), mask.reshape(-1, mask.shape[-1]), strict=True)
    wanted = np.reshape([with_mask(by_hand, *row) for row in rows], mask.shape)
    close(function(rewards, mask=mask), wanted)
    close(
        function(np.where(mask, rewards, 0.5)),
        function(np.where(mask, rewards, 0.5), mask=np.ones_like(mask)),
    )
    close(function(rewards.astype(np.float32), mask=mask), wanted, np.float32)
    close(function(torch.tensor(rewards), mask=torch.tensor(mask)), wanted)


@pytest.mark.parametrize("name", WHITEN)
@given(batches())
def test_whitening_by_hand(name, batch):
    rewards, mask = batch
    flat = with_mask(partial(whiten_by_hand, **WHITEN[name]), rewards.ravel(), mask.ravel())
    close(EVERY[name](rewards, mask=mask), np.reshape(flat, mask.shape))
    close(EVERY[name](torch.tensor(rewards), mask=torch.tensor(mask)), np.reshape(flat, mask.shape))


@given(batches())
def test_whitening_gives_mean_0_and_variance_1(batch):
    rewards, mask = batch
    white = advantages.whiten(rewards, eps=0, mask=mask)[mask]
    if len(set(rewards[mask])) > 1:
        close([white.mean(), white.std(ddof=1)], [0, 1])


def test_a_success_among_failures_and_the_reverse():
    assert advantages.leave_one_out([1, 0, 0, 0]).tolist() == pytest.approx([1, -1 / 3, -1 / 3, -1 / 3])
    assert advantages.max_rl([1, 0, 0, 0]).tolist() == [3, -1, -1, -1]
    assert advantages.max_rl([0, 0, 0]).tolist() == [0, 0, 0]
    # The others of an outlier are equal: their spread says nothing, the difference stays undivided.
    outlier = advantages.leave_one_out_std([2, 2, 2, 10], eps=0)
    close(outlier, [-8 / 3 / math.sqrt(64 / 3)] * 3 + [8])
    assert advantages.leave_one_out_std([1.0, 0.0]).tolist() == [1, -1]


@pytest.mark.parametrize("power", [-400, -100, 100, 400])
def test_rewards_in_another_unit(power):
    """Powers of two: nothing rounds, so what has no unit must not change by a single bit."""
    rewards, unit = np.array([[0.1, 0.7, 0.7, 0.3], [1, 0, 0, 0]]), 2.0**power
    for name in ("grpo, eps 0", "max_rl", "whiten, eps 0"):
        assert (EVERY[name](rewards * unit) == EVERY[name](rewards)).all()
        single = (rewards * 2.0 ** (power // 8)).astype(np.float32)
        assert (EVERY[name](single) == EVERY[name](rewards.astype(np.float32))).all()
    for name in ("constant", "batch_mean", "leave_one_out"):
        assert (EVERY[name](rewards * unit) == EVERY[name](rewards) * unit).all()


# ---- Groups that teach nothing


@pytest.mark.parametrize("name", [*COMPARED, *WHITEN])
@pytest.mark.parametrize("reward", [0.7, 0.1, 1e-7, 0.0, 3e7])
def test_equal_rewards_give_exactly_zero(name, reward):
    for size in (2, 3, 8, 63):
        rewards = np.full((2, size), reward, np.float32)
        assert (EVERY[name](rewards) == 0).all()
        assert (EVERY[name](torch.tensor(rewards)) == 0).all()
        rewards[:, 0] = np.nan
        assert (EVERY[name](rewards, mask=~np.isnan(rewards)) == 0).all()


@pytest.mark.parametrize("name", EVERY)
def test_a_group_of_one(name):
    if name in PAIRS:
        with pytest.raises(ValueError, match=r"rewards has shape \(3, 1\), .* G at least 2"):
            EVERY[name]([[1.0], [2.0], [3.0]])
    elif name in COMPARED:
        assert EVERY[name]([[1.0], [2.0], [3.0]]).tolist() == [[0.0], [0.0], [0.0]]
    else:
        assert EVERY[name]([0.75]).tolist() == [0.75 if name == "constant" else 0.0]


@pytest.mark.parametrize("name", COMPARED)
def test_a_mask_that_leaves_one_or_none(name):
    rewards = np.array([[0.3, np.nan, 9.0], [np.inf, 0.3, 9.0], [0.0, 1.0, 1.0]])
    mask = [[True, False, False], [False, False, False], [True, True, True]]
    result = EVERY[name](rewards, mask=mask)
    assert (result[:2] == 0).all()
    close(result[2], EVERY[name]([0.0, 1.0, 1.0]))  # and the batch goes on


@pytest.mark.parametrize("name", EVERY)
def test_a_batch_without_groups(name):
    assert EVERY[name](np.zeros((0, 4), np.float32)).shape == (0, 4)
    assert EVERY[name](torch.zeros(2, 0, 4)).shape == (2, 0, 4)
