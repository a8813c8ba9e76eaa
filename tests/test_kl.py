"""Estimates of KL against decimals of 400 digits, expectations by enumeration, gradients against autograd."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pglab import bandit, kl

pytestmark = pytest.mark.filterwarnings("error")

LOGITS, REF, OLD = [0.4, -0.2, 1.1, 0.0], [0.1, 0.3, -0.4, 0.6], [0.9, -0.5, 0.2, -0.1]

# ---- The same by hand, in decimals


def digits(function):
    """The function computed with decimals: 1e-150 squared, beside 1, still has a hundred digits."""

    def computed(*arguments):
        with localcontext(prec=400):
            return float(function(*arguments))

    return computed


@digits
def by_hand(kind, difference):
    d = Decimal(float(difference))
    return {"k1": lambda: d, "k2": lambda: d * d / 2, "k3": lambda: (-d).exp() - 1 + d}[kind]()


def log_softmax_by_hand(logits):
    logits = [Decimal(float(z)) for z in logits]
    total = sum(z.exp() for z in logits).ln()
    return [z - total for z in logits]


@digits
def divergence_by_hand(logits, ref_logits):
    logp, ref = log_softmax_by_hand(logits), log_softmax_by_hand(ref_logits)
    return sum(p.exp() * (p - r) for p, r in zip(logp, ref, strict=True))


# ---- Estimates

SIZES = [0.0, 1e-150, 1e-20, 1e-8, 1e-5, 1e-3, 0.00999, 0.01, 0.0101, 0.1, 1.0, 10.0, 50.0, 600.0]


@pytest.mark.parametrize("kind", kl.KINDS)
def test_estimates_to_the_last_digits(kind):
    differences = np.array([sign * size for size in SIZES for sign in (1, -1)])
    wanted = [by_hand(kind, d) for d in differences]
    for ref in (np.zeros_like(differences), torch.zeros(len(differences), dtype=torch.float64)):
        d = differences if isinstance(ref, np.ndarray) else torch.tensor(differences)
        np.testing.assert_allclose(np.asarray(kl.estimate(d, ref, kind)), wanted, rtol=1e-13)
    small = differences[abs(differences) < 80].astype(np.float32)
    small = small[abs(small) > 1e-10]
    result = kl.estimate(small, np.zeros_like(small), kind)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, [by_hand(kind, d) for d in small], rtol=3e-5)


@given(st.floats(-700, 700), st.sampled_from([1.0, 1e-2, 1e-4, 1e-9]))
def test_k2_and_k3_are_never_negative_and_k3_lies_between_its_bounds(difference, unit):
    d = difference * unit
    k2, k3 = (kl.estimate(d, 0.0, kind) for kind in ("k2", "k3"))
    assert k2 >= 0 and k3 >= 0
    wanted = by_hand("k3", d)
    assert k3 == pytest.approx(wanted, rel=1e-13, abs=1e-300)
    single = kl.estimate(np.float32(d).reshape(1), np.zeros(1, np.float32), "k3") if abs(d) < 80 else k3
    assert single >= 0


def test_what_is_too_large_is_infinite_and_no_nan():
    large = np.array([-1e200, -800.0, 800.0])
    for logprobs in (large, torch.tensor(large)):
        assert kl.estimate(logprobs, logprobs * 0, "k3").tolist() == [math.inf, math.inf, 799.0]
        assert kl.estimate(logprobs, logprobs * 0, "k2").tolist() == [math.inf, 320_000.0, 320_000.0]


@pytest.mark.parametrize("kind", kl.KINDS)
def test_slope_of_an_estimate(kind):
    differences = [sign * size for size in SIZES for sign in (1, -1)]
    logprobs = torch.tensor(differences, dtype=torch.float64, requires_grad=True)
    kl.estimate(logprobs, torch.zeros_like(logprobs), kind).sum().backward()
    slope = {"k1": lambda d: 1.0, "k2": lambda d: d, "k3": lambda d: -math.expm1(-d)}[kind]
    np.testing.assert_allclose(logprobs.grad, [slope(d) for d in differences], rtol=1e-11)


def test_the_order_of_the_arguments_is_policy_then_reference():  # B49
    p, k = (
        bandit.softmax(LOGITS),
        lambda *args: kl.estimate(bandit.log_softmax(args[0]), bandit.log_softmax(args[1]), args[2]),
    )
    assert p @ k(LOGITS, REF, "k1") == pytest.approx(0.380633, abs=1e-6)
    assert p @ k(LOGITS, REF, "k3") == pytest.approx(0.380633, abs=1e-6)
    assert p @ k(REF, LOGITS, "k1") == pytest.approx(-0.380633, abs=1e-6)
    assert p @ k(REF, LOGITS, "k3") == pytest.approx(0.669399, abs=1e-6)


LOGIT_VECTORS = st.lists(st.tuples(*[st.floats(-3, 3)] * 3), min_size=1, max_size=5).map(
    lambda rows: [list(column) for column in zip(*rows, strict=True)]
)


@given(LOGIT_VECTORS)
def test_k1_and_k3_have_the_divergence_as_their_mean(vectors):
    logits, ref, _ = vectors
    p, logp, logr = bandit.softmax(logits), bandit.log_softmax(logits), bandit.log_softmax(ref)
    wanted = divergence_by_hand(logits, ref)
    for kind in ("k1", "k3"):
        assert p @ kl.estimate(logp, logr, kind) == pytest.approx(wanted, abs=1e-14)
    assert kl.divergence(logits, ref) == pytest.approx(wanted, rel=1e-10, abs=1e-25)
    assert kl.divergence(logits, ref) >= 0


# ---- Divergence


@pytest.mark.parametrize("size", [1.0, 0.1, 0.01, 1e-3, 1e-5, 1e-7])
def test_divergence_of_policies_that_hardly_differ(size):
    ref = np.array(LOGITS) + size * np.array([1.0, -2.0, 0.5, 3.0])
    wanted = divergence_by_hand(LOGITS, ref)
    assert kl.divergence(LOGITS, ref) == pytest.approx(wanted, rel=1e-8) and wanted > 0


def test_divergence_where_something_is_impossible():
    inf = math.inf
    assert kl.divergence([0.0, 0.0], [0.0, -inf]) == inf
    assert kl.divergence([0.0, -inf], [0.0, 0.0]) == pytest.approx(math.log(2))
    assert kl.divergence([0.0, -inf, 1.0], [0.0, -inf, 1.0]) == 0
    assert kl.divergence([0.0, -inf], [-inf, 0.0]) == inf
    assert kl.divergence([0.0, -inf, 0.001], [0.0, -6.0, 0.0]) == pytest.approx(
        divergence_by_hand([0.0, 0.001], [0.0, 0.0]) + math.log1p(math.exp(-6) / 2), rel=1e-9
    )
    assert kl.divergence([0.0, -1000.0], [0.0, 0.0]) == pytest.approx(math.log(2))
    assert kl.divergence([0.0, 0.0], [0.0, -1000.0]) == pytest.approx(500 - math.log(2))
    assert kl.divergence([5.0], [-3.0]) == 0
    assert kl.divergence(LOGITS, np.array(LOGITS) + 7) == pytest.approx(0, abs=1e-30)


# ---- Gradients

PLACES = [
    (where, detach, behaviour)
    for where in kl.WHERES
    for detach, behaviour in ((True, None), (True, OLD), (False, None))
    if detach or where == "reward"
]


def by_autograd(kind, where, detach, behaviour):
    """The penalty as it stands in a training script, each action weighing with its chance to be drawn."""
    logits = torch.tensor(LOGITS, dtype=torch.float64, requires_grad=True)
    logp = torch.log_softmax(logits, 0)
    ref = torch.log_softmax(torch.tensor(REF, dtype=torch.float64), 0)
    old = logp.detach() if behaviour is None else torch.log_softmax(torch.tensor(OLD, dtype=torch.float64), 0)

    def k(d):
        return {"k1": d, "k2": d**2 / 2, "k3": torch.exp(-d) - 1 + d}[kind]

    ratio = torch.exp(logp - old)
    penalty = {
        ("loss", True): lambda: k(logp - ref),
        ("ratio_loss", True): lambda: ratio * k(logp - ref),
        ("reward", True): lambda: ratio * k(old - ref),
        ("reward", False): lambda: logp * k(logp - ref),
    }[where, detach]()
    (old.exp() * penalty).sum().backward()
    return logits.grad


@pytest.mark.parametrize("kind", kl.KINDS)
@pytest.mark.parametrize("where, detach, behaviour", PLACES)
def test_gradient_by_autograd(kind, where, detach, behaviour):
    gradient = kl.gradient(LOGITS, REF, kind, where, detach, behaviour)
    wanted = by_autograd(kind, where, detach, behaviour)
    np.testing.assert_allclose(gradient, wanted, atol=1e-12)
    assert gradient.sum() == pytest.approx(0, abs=1e-15)


RIGHT = [("k1", "reward"), ("k1", "ratio_loss"), ("k3", "ratio_loss"), ("k2", "loss")]


@given(LOGIT_VECTORS)
def test_those_that_descend_the_divergence(vectors):
    logits, ref, old = vectors
    true = bandit.finite_differences(lambda z: kl.divergence(z, ref), logits, 1e-4)
    for kind, where in RIGHT:
        np.testing.assert_allclose(kl.gradient(logits, ref, kind, where), true, atol=1e-6)
        if where == "ratio_loss":  # whoever sampled
            gradient = kl.gradient(logits, ref, kind, where, behaviour_logits=old)
            np.testing.assert_allclose(gradient, true, atol=1e-6)
    np.testing.assert_allclose(kl.gradient(logits, ref, "k1"), 0, atol=1e-15)
    forward = bandit.softmax(logits) - bandit.softmax(ref)  # the gradient of KL(ref || pi)
    np.testing.assert_allclose(kl.gradient(logits, ref, "k3"), forward, atol=1e-12)


def test_the_gradients_of_a_report():  # B45
    logits, ref = np.log([0.75, 0.25]), [0.0, 0.0]
    np.testing.assert_allclose(kl.gradient(logits, ref, "k2"), [0.20599, -0.20599], atol=1e-5)
    np.testing.assert_allclose(kl.gradient(logits, ref, "k3"), [0.25, -0.25], atol=1e-15)


def test_a_missing_detach_adds_the_gradient_of_the_entropy():
    leak = kl.gradient(LOGITS, REF, "k1", "reward", detach=False) - kl.gradient(LOGITS, REF, "k1", "reward")
    entropy = bandit.finite_differences(bandit.entropy, LOGITS)
    np.testing.assert_allclose(leak, -entropy, atol=1e-9)


@pytest.mark.parametrize("gap", [50, 700, 1000])
def test_gradients_of_a_policy_that_is_nearly_certain(gap):
    """The rarest action has no weight left; the reference has it at one half."""
    for where in kl.WHERES:
        np.testing.assert_allclose(kl.gradient([0, -gap], [0, 0], "k1", where), 0, atol=1e-18)
    sampled = kl.gradient([0, -gap], [0, 0], "k1", behaviour_logits=[0, 0])
    np.testing.assert_allclose(sampled, [-0.5, 0.5], atol=1e-15)  # mu - pi: finite, though mu / pi overflows
    if gap < 700:
        np.testing.assert_allclose(kl.gradient([0, -gap], [0, 0], "k3"), [0.5, -0.5], atol=1e-15)
