"""What is seen of a step: noise of its gradient by counting, clipped tokens by autograd and by plain loops."""

import itertools
import math
from fractions import Fraction

import losses_by_hand as hand
import numpy as np
import pytest
import refusals
import torch
from hypothesis import given
from hypothesis import strategies as st

from pglab import diagnostics, groups, losses

pytestmark = pytest.mark.filterwarnings("error")
KINDS = [np.asarray, torch.tensor, np.ndarray.tolist]


def squared(vector):
    return sum(x * x for x in vector)


# ---- The noise of a gradient


@given(st.integers(2, 5), st.integers(1, 4), st.data())
def test_gradient_noise_by_hand(number, size, data):
    n = number * size
    parts = np.reshape(data.draw(st.lists(st.integers(-9, 9), min_size=n, max_size=n)), (number, size))
    rows = [[Fraction(x) for x in row] for row in parts.tolist()]
    whole = [sum(column) for column in zip(*rows, strict=True)]
    apart = [[x - w / number for x, w in zip(row, whole, strict=True)] for row in rows]
    wanted = math.sqrt(squared(whole)), float(Fraction(number, number - 1) * sum(map(squared, apart)))
    for kind in KINDS:
        found = diagnostics.gradient_noise(kind(parts))
        assert [type(x) for x in found] == [float, float]
        assert found == pytest.approx(wanted, rel=1e-14, abs=1e-14)
    single = diagnostics.gradient_noise(torch.tensor(parts, dtype=torch.float32))
    assert single == pytest.approx(wanted, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("number", [2, 3, 4])
def test_gradient_noise_is_unbiased(number):
    """Over every way to draw the micro-batches: E V = trace of Cov(g), and E|g|^2 = |E g|^2 + E V."""
    population = np.array([[1.0, 0.0], [-2.0, 3.0], [4.0, 0.5], [0.0, -1.0]])
    draws = [population[list(which)] for which in itertools.product(range(4), repeat=number)]
    found = np.array([diagnostics.gradient_noise(parts) for parts in draws])
    whole = np.array([parts.sum(0) for parts in draws])
    trace = whole.var(0).sum()
    assert trace == pytest.approx(number * population.var(0).sum(), rel=1e-12)
    assert found[:, 1].mean() == pytest.approx(trace, rel=1e-12)
    mean = number * population.mean(0)
    assert (found[:, 0] ** 2).mean() == pytest.approx(mean @ mean + found[:, 1].mean(), rel=1e-12)


def test_gradient_noise_at_its_edges():
    assert diagnostics.gradient_noise([[3.0, 4.0], [3.0, 4.0]]) == (10, 0)  # equal parts: all signal
    assert diagnostics.gradient_noise([[3.0, 4.0], [-3.0, -4.0]]) == (0, 100)  # opposed ones: all noise
    assert diagnostics.gradient_noise(np.zeros((3, 2))) == (0, 0)
    assert diagnostics.gradient_noise(torch.zeros(2, 0)) == (0, 0)
    assert diagnostics.gradient_noise(torch.full((2, 1), 300.0).half()) == (600, 0)  # squares of 360,000


# ---- How much is clipped


def counted(logprobs, old, advantages, mask, clip):
    """Tokens one by one, ratios in plain floats."""
    low, high = clip or (None, None)
    number = 0
    for i, t in zip(*np.nonzero(mask), strict=True):
        up = advantages[i] if np.ndim(advantages) == 1 else advantages[i, t]
        ratio = math.exp(logprobs[i, t] - old[i, t])
        number += bool(up > 0 and high is not None and ratio > 1 + high)
        number += bool(up < 0 and low is not None and ratio < 1 - low)
    return number / max(int(mask.sum()), 1)


@given(hand.batches(), hand.OPTIONS["clip"], hand.JUNK)
def test_clip_fraction_by_hand(batch, clip, junk):
    logprobs, old, advantages, mask = batch
    wanted = counted(*batch, clip)
    dirty = hand.with_junk(logprobs, mask, junk), hand.with_junk(old, mask, junk)
    for kind in KINDS:
        arguments = [kind(array) for array in (*dirty, advantages, mask)]
        found = diagnostics.clip_fraction(*arguments, clip=clip)
        assert type(found) is float and found == wanted
    if clip == (0.2, 0.2):
        assert diagnostics.clip_fraction(*batch) == wanted
    tensors = torch.tensor(logprobs), torch.tensor(old)
    assert (
        diagnostics.clip_fraction(*tensors, advantages, mask, clip) == wanted
    )  # what is beside may be arrays
    assert diagnostics.clip_fraction(*tensors, advantages.tolist(), mask.tolist(), clip) == wanted


@given(hand.batches(), hand.OPTIONS["clip"])
def test_clipped_tokens_are_those_whose_gradient_is_gone(batch, clip):
    logprobs, old, advantages, mask = batch
    new = torch.tensor(logprobs, requires_grad=True)
    losses.policy_loss(new, old, advantages, mask, clip=clip, aggregation="sum").backward()
    each = advantages if advantages.ndim == 2 else np.repeat(advantages[:, None], mask.shape[1], 1)
    gone = (new.grad.numpy() == 0) & mask & (each != 0)
    assert diagnostics.clip_fraction(*batch, clip) == gone.sum() / max(mask.sum(), 1)


def test_clip_fraction_at_its_edges():
    one, zero = np.ones((1, 1), bool), np.zeros((1, 1))

    def clipped(log_ratio, advantage, clip=(0.5, 1.0), mask=one):
        return diagnostics.clip_fraction(zero + log_ratio, zero, [advantage], mask, clip)

    up, down = math.log(2.0), math.log(0.5)
    assert clipped(up, 1) == clipped(down, -1) == 0  # at the bound is not beyond it
    assert clipped(up + 1e-9, 1) == clipped(down - 1e-9, -1) == 1
    assert clipped(up + 1, -1) == clipped(down - 1, 1) == clipped(9, 0) == clipped(-9, 0) == 0
    for clip in (None, (None, None), [None, None]):
        assert clipped(900, 1, clip) == clipped(-900, -1, clip) == 0
    assert clipped(900, 1, (0.2, None)) == 0 and clipped(-900, -1, (0.2, None)) == 1
    assert clipped(900, 1, (None, 0.2)) == 1 and clipped(-900, -1, (None, 0.2)) == 0
    assert clipped(-900, -1, (1, 0)) == clipped(-900, -1, (1.5, 0)) == 0  # no ratio is below 0
    assert clipped(1e-9, 1, (0, 0)) == clipped(-1e-9, -1, (0, 0)) == 1 and clipped(0, 1, (0, 0)) == 0
    assert clipped(9, 1, mask=~one) == 0
    assert diagnostics.clip_fraction(np.zeros((0, 3)), np.zeros((0, 3)), [], np.zeros((0, 3), bool)) == 0
    two = np.array([[9.0, 9.0], [-9.0, 9.0]])  # one token of three: the fourth does not count
    assert diagnostics.clip_fraction(two, two * 0, [1, 1], [[1, 0], [1, 1]]) == 2 / 3


def test_on_policy_nothing_is_clipped():
    logprobs = -torch.rand(4, 5, generator=torch.Generator().manual_seed(0)) * 20
    advantages, mask = torch.tensor([1.0, -1.0, 5.0, 0.0]), torch.ones(4, 5) == 1
    assert diagnostics.clip_fraction(logprobs, logprobs.clone(), advantages, mask, (0, 0)) == 0


# ---- The closed form of the zero-variance fraction


@pytest.mark.parametrize("size", [1, 2, 5])
def test_the_mean_zero_std_fraction_has_a_closed_form(size):
    rewards = np.array(list(itertools.product([0.0, 1.0], repeat=size)))
    for p in (0.0, 0.3, 0.5, 0.95, 1.0):
        chance = np.prod(np.where(rewards == 1, p, 1 - p), axis=1)
        wanted = groups.zero_variance_probability(p, size)
        assert chance @ diagnostics.zero_std_groups(rewards) == pytest.approx(wanted, rel=1e-14)
    fraction = diagnostics.zero_std_fraction(rewards)  # each group once: p is one half
    assert fraction == pytest.approx(groups.zero_variance_probability(0.5, size), rel=1e-14)


# ---- Bad input

TWO, MASK = np.zeros((2, 3)), np.ones((2, 3), bool)
PARTS = "; it must be gradients of shape (M, D), M at least 2, all finite."


def noise(parts):
    return lambda: diagnostics.gradient_noise(parts)


def clip(logprobs=TWO, old=TWO, advantages=(1, -1), mask=MASK, **options):
    return lambda: diagnostics.clip_fraction(logprobs, old, list(advantages), mask, **options)


REFUSED = {
    "one micro-batch": (noise([[1.0, 2.0]]), "parts has shape (1, 2) or is not finite" + PARTS),
    "no micro-batch": (noise(np.zeros((0, 2))), "parts has shape (0, 2) or is not finite" + PARTS),
    "one gradient": (noise([1.0, 2.0]), "parts has shape (2,) or is not finite" + PARTS),
    "one number": (noise(1.0), "parts has shape () or is not finite" + PARTS),
    "three axes": (noise(np.zeros((2, 2, 2))), "parts has shape (2, 2, 2) or is not finite" + PARTS),
    "a gradient of NaN": (noise([[1.0], [math.nan]]), "parts has shape (2, 1) or is not finite" + PARTS),
    "an infinite one": (noise(torch.tensor([[1.0], [-math.inf]])), "parts has shape (2, 1) or is not finite"),
    "parts of several lengths": (noise([[1.0], [1.0, 2.0]]), "parts is a ragged list" + PARTS),
    "words": (noise(["a", "b"]), "parts is ['a', 'b']" + PARTS),
    "a vector": (clip(TWO[0], TWO[0], [1], MASK[0]), "logprobs has shape (3,); it must be numbers of shape (B, T)."),
    "old ones for one row": (clip(old=TWO[:1]), "old_logprobs has shape (1, 3); it must be (2, 3)."),
    "an advantage too many": (clip(advantages=[1] * 3), "advantages has shape (3,); it must be (2, 3) or (2,)."),
    "advantages as a column": (clip(advantages=[[1], [1]]), "advantages has shape (2, 1); it must be (2, 3) or"),
    "a mask for one row": (clip(mask=MASK[0]), "mask has shape (3,); it must be booleans of shape (2, 3)"),
    "a mask of halves": (clip(mask=MASK * 2), "mask holds something other than 0 and 1"),
    "a tensor beside an array": (
        clip(old=torch.zeros(2, 3)),
        "old_logprobs is a tensor beside a NumPy array; hand in both as one kind",
    ),
    "letters for old ones": (clip(old=["a"]), "old_logprobs is ['a']; it must be numbers of shape (B, T)."),
    "letters for advantages": (
        clip(advantages="a"), "advantages is ['a']; it must be numbers of shape (B,) or (B, T).",
    ),
    "letters": (clip([["a"]]), "logprobs is [['a']]; it must be numbers of shape (B, T)."),
    "one number as clip": (clip(clip=0.2), "clip is 0.2; it must be (low, high), or None."),
    "three numbers as clip": (clip(clip=(0, 1, 2)), "clip is (0, 1, 2); it must be (low, high), or None."),
    "clip below 0": (clip(clip=(0.2, -0.2)), "clip[1] is -0.2; it must be one finite number, at least 0."),
    "clip of NaN": (clip(clip=(math.nan, 0.2)), "clip[0] is nan; it must be one finite number, at least 0."),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused(name):
    refusals.check(*REFUSED[name])
