"""Diagnostics against plain loops over fractions and floats; edges; bad input."""

import inspect
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import refusals
import torch
from hypothesis import given
from hypothesis import strategies as st

from pglab import bandit, diagnostics

pytestmark = pytest.mark.filterwarnings("error")
KINDS = [np.asarray, torch.tensor]


def batch_of(draw, values, last):
    """Numbers of shape (..., last), up to two leading axes."""
    shape = (*draw(st.lists(st.integers(1, 3), max_size=2)), last)
    n = math.prod(shape)
    return np.reshape(draw(st.lists(values, min_size=n, max_size=n)), shape)


# ---- Effective sample size


@given(st.data(), st.integers(1, 5))
def test_effective_sample_size_by_hand(data, n):
    weights = batch_of(data.draw, st.integers(0, 6), n)
    weights[..., 0] += 1

    def by_hand(row):
        return float(Fraction(sum(row) ** 2, sum(w * w for w in row)))

    wanted = np.reshape([by_hand(row) for row in weights.reshape(-1, n).tolist()], weights.shape[:-1])
    for kind in KINDS:
        result = diagnostics.effective_sample_size(kind(weights))
        np.testing.assert_allclose(result, wanted, rtol=1e-14)
        assert ((result >= 1 - 1e-14) & (result <= n + 1e-14)).all()
        for unit in (2.0**-900, 2.0**900):  # the square would vanish, or overflow; no bit may change
            assert (diagnostics.effective_sample_size(kind(weights * unit)) == result).all()
    single = diagnostics.effective_sample_size(torch.tensor(weights * 1e30, dtype=torch.float32))
    assert single.dtype == torch.float32
    np.testing.assert_allclose(single, wanted, rtol=1e-5)


def test_effective_sample_size_at_its_ends():
    assert diagnostics.effective_sample_size([0, 0, 7]) == 1
    assert diagnostics.effective_sample_size([0.3, 0.3, 0.3]) == 3
    assert diagnostics.effective_sample_size([[1, 3], [5, 5]]).tolist() == pytest.approx([1.6, 2])


# ---- Groups of equal rewards


@given(st.data(), st.integers(1, 4))
def test_groups_of_equal_rewards_by_hand(data, size):
    rewards = batch_of(data.draw, st.integers(0, 1), size) * 0.7
    mask = batch_of(data.draw, st.sampled_from([True, True, False]), rewards.size).reshape(-1)
    mask = mask[: rewards.size].reshape(rewards.shape)
    junk = np.where(mask, rewards, data.draw(st.sampled_from([np.nan, np.inf, 5.0])))
    rows = zip(rewards.reshape(-1, size), mask.reshape(-1, size), strict=True)
    wanted = [len(set(r[m].tolist())) <= 1 for r, m in rows]
    for kind in KINDS:
        zero = diagnostics.zero_std_groups(kind(junk), kind(mask))
        assert zero.ravel().tolist() == wanted and tuple(zero.shape) == rewards.shape[:-1]
        fraction = diagnostics.zero_std_fraction(kind(junk), kind(mask))
        assert fraction == sum(wanted) / len(wanted) and type(fraction) is float
    full = diagnostics.zero_std_groups(rewards)
    assert (full == diagnostics.zero_std_groups(rewards, np.ones_like(rewards, bool))).all()


def test_equal_rewards_are_found_without_a_mean():
    for size in (3, 8, 63):
        row = np.full(size, 0.7, np.float32)  # the float32 mean of these is not 0.7
        assert diagnostics.zero_std_groups(row) and diagnostics.zero_std_groups(torch.tensor(row))
        row[0] = np.nextafter(row[0], np.float32(1))
        assert not diagnostics.zero_std_groups(row) and diagnostics.zero_std_fraction(row) == 0
    assert diagnostics.zero_std_fraction(np.zeros((0, 4))) == 0


# ---- Entropy


def entropy_by_hand(row):
    """-sum p log p in plain floats, 0 log 0 = 0."""
    total = math.fsum(math.exp(x) for x in row)
    return -math.fsum(math.exp(x) / total * (x - math.log(total)) for x in row if x > -math.inf)


@given(st.data(), st.integers(1, 4))
def test_entropy_by_hand(data, size):
    numbers = st.one_of(st.floats(-20, 20), st.just(-math.inf))
    logits = batch_of(data.draw, numbers, size).astype(float)
    logits[..., 0] = np.where(np.isinf(logits[..., 0]), 0.5, logits[..., 0])
    n = math.prod(logits.shape[:-1])
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n))).reshape(logits.shape[:-1])
    counted = [entropy_by_hand(row) for row in logits[mask].tolist()]
    wanted = math.fsum(counted) / max(len(counted), 1)
    junk = np.where(mask[..., None], logits, data.draw(st.sampled_from([np.nan, np.inf, -np.inf, 3.0])))
    for kind in KINDS:
        result = diagnostics.entropy(kind(junk), kind(mask))
        assert float(result) == pytest.approx(wanted, abs=1e-12) and result.shape == ()
        unmasked = diagnostics.entropy(kind(logits)), diagnostics.entropy(kind(logits), np.ones_like(mask))
        assert unmasked[0] == unmasked[1]
    bandits = [bandit.entropy(row) for row in logits[mask]]
    assert float(result) == pytest.approx(sum(bandits) / max(len(bandits), 1), abs=1e-12)


def test_entropy_far_out_and_in_half_precision():
    assert diagnostics.entropy([1e4, 1e4]) == pytest.approx(math.log(2), abs=1e-15)
    assert diagnostics.entropy([1e300, -1e300]) == 0
    assert diagnostics.entropy([-1e300, -1e300, -np.inf]) == pytest.approx(math.log(2), abs=1e-15)
    assert diagnostics.entropy(np.zeros((0, 3))) == 0
    half = diagnostics.entropy(torch.zeros(1, 50_000, dtype=torch.bfloat16))
    assert half.dtype == torch.float32 and half.item() == pytest.approx(math.log(50_000), rel=1e-6)


def test_the_gradient_of_the_entropy():
    """-p_v (log p_v + H), and nothing from tokens that cannot occur or from under the mask."""
    rows = [[0.4, -0.2, 1.1, -math.inf], [math.nan] * 4, [0.0, 0.0, 0.0, 0.0]]
    logits = torch.tensor(rows, dtype=torch.float64, requires_grad=True)
    diagnostics.entropy(logits, [True, False, True]).backward()
    p = bandit.softmax([0.4, -0.2, 1.1])
    wanted = np.zeros((3, 4))
    wanted[0, :3] = -p * (np.log(p) + entropy_by_hand([0.4, -0.2, 1.1])) / 2
    np.testing.assert_allclose(logits.grad, wanted, atol=1e-15)


# ---- pass@k


def test_pass_at_k_by_counting():
    """Every choice of k out of n completions, the first c of which are right."""
    for n in range(1, 7):
        for c, k in itertools.product(range(n + 1), range(1, n + 1)):
            choices = list(itertools.combinations(range(n), k))
            wanted = Fraction(sum(min(choice) < c for choice in choices), len(choices))
            assert diagnostics.pass_at_k(n, c, k) == float(wanted)


def test_pass_at_k_of_many():
    assert diagnostics.pass_at_k(10_000, 1, 5_000) == 0.5
    assert diagnostics.pass_at_k(10**6, 1, 2) == 2e-6  # 1 - (1 - 2e-6) in floats would lose ten digits
    assert diagnostics.pass_at_k(np.int64(10), 3.0, torch.tensor(8)) == 1


# ---- Bad input

REFUSED = {
    "a negative weight": (
        lambda: diagnostics.effective_sample_size([1, -1]),
        "weights holds a negative number, NaN or infinity; it must be finite weights, 0 or more",
    ),
    "a weight of infinity": (
        lambda: diagnostics.effective_sample_size(torch.tensor([1, torch.inf])),
        "weights holds a negative number, NaN or infinity",
    ),
    "a weight of NaN": (lambda: diagnostics.effective_sample_size([np.nan]), "weights holds a negative number, NaN"),
    "a row of zeros": (
        lambda: diagnostics.effective_sample_size([[0, 0], [1, 0]]),
        "weights holds a row of zeros; it must be finite weights",
    ),
    "words for weights": (
        lambda: diagnostics.effective_sample_size(["a"]),
        "weights is ['a']; it must be finite weights, 0 or more, of shape (..., n), one of them positive",
    ),
    "words for rewards": (
        lambda: diagnostics.zero_std_groups(["a"]),
        "rewards is ['a']; it must be numbers of shape (..., G), G at least 1.",
    ),
    "words for logits": (
        lambda: diagnostics.entropy(["a"]), "logits is ['a']; it must be logits of shape (..., V), V at least 1.",
    ),
    "no weights": (lambda: diagnostics.effective_sample_size([]), "weights has shape (0,); it must be finite"),
    "one weight": (lambda: diagnostics.effective_sample_size(1.0), "weights has shape (); it must be finite"),
    "a reward of NaN": (
        lambda: diagnostics.zero_std_groups([[1, np.nan]]),
        "rewards holds NaN or infinity; it must be numbers of shape (..., G), G at least 1, all finite. Give mask",
    ),
    "empty groups": (lambda: diagnostics.zero_std_fraction(np.zeros((3, 0))), "rewards has shape (3, 0); it must"),
    "one reward": (lambda: diagnostics.zero_std_fraction(1.0), "rewards has shape (); it must be numbers"),
    "a mask of one group": (
        lambda: diagnostics.zero_std_fraction(np.zeros((2, 2)), [True, True]),
        "mask has shape (2,); it must be booleans of shape (2, 2)",
    ),
    "a logit of NaN": (
        lambda: diagnostics.entropy([[0, 1], [0, np.nan]]),
        "logits holds NaN, infinity, or a row that is -inf for every token; it must be logits of shape (..., V)",
    ),
    "a logit of infinity": (lambda: diagnostics.entropy(torch.tensor([0, torch.inf])), "logits holds NaN, infinity"),
    "nothing can occur": (lambda: diagnostics.entropy([-np.inf, -np.inf]), "logits holds NaN, infinity, or a row"),
    "no vocabulary": (lambda: diagnostics.entropy(np.zeros((2, 0))), "logits has shape (2, 0); it must be logits"),
    "one logit": (lambda: diagnostics.entropy(1.0), "logits has shape (); it must be logits of shape (..., V)"),
    "a mask over the vocabulary": (
        lambda: diagnostics.entropy(np.zeros((2, 3)), np.ones((2, 3), bool)),
        "mask has shape (2, 3); it must be booleans of shape (2,)",
    ),
    "more tries than completions": (
        lambda: diagnostics.pass_at_k(2, 0, 5),
        "k is 5; it must be at most n, which is 2.",
    ),
    "more right than there are": (
        lambda: diagnostics.pass_at_k(2, 3, 1),
        "c is 3; it must be at most n, which is 2.",
    ),
    "none drawn": (lambda: diagnostics.pass_at_k(0, 0, 1), "n is 0; it must be a whole number, at least 1."),
    "no tries": (lambda: diagnostics.pass_at_k(2, 1, 0), "k is 0; it must be a whole number, at least 1."),
    "fewer than none right": (lambda: diagnostics.pass_at_k(2, -1, 1), "c is -1; it must be a whole number, at"),
    "half a completion": (lambda: diagnostics.pass_at_k(2, 0.5, 1), "c is 0.5; it must be a whole number"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused(name):
    refusals.check(*REFUSED[name])


def test_every_public_function_is_tested():
    members = inspect.getmembers(diagnostics, inspect.isfunction)
    public = [name for name, f in members if f.__module__ == "pglab.diagnostics" and name[0] != "_"]
    tested = ["effective_sample_size", "entropy", "pass_at_k", "zero_std_fraction", "zero_std_groups"]
    assert sorted(public) == sorted(
        [*tested, "clip_fraction", "gradient_noise"]
    )  # these: test_diagnostics_steps
