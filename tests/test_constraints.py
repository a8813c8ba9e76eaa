"""Surrogate, Fisher matrix and trust region: autograd, finite differences, closed forms, extremes."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pglab import bandit, constraints, kl

pytestmark = pytest.mark.filterwarnings("error")

OLD, REWARDS = np.array([0.4, -0.2, 1.1, 0.0]), np.array([1.0, 0.0, 0.0, 1.0])
CLIPS = [None, (0.2, 0.2), (0.2, 0.28), (0.0, 0.0), (1.5, 3.0)]


@st.composite
def steps(draw):
    """(logits, old_logits, weights) of one length."""
    n = draw(st.integers(1, 5))
    entry = st.floats(-2, 2, allow_subnormal=False)
    return tuple(np.array(draw(st.lists(entry, min_size=n, max_size=n))) for _ in range(3))


def rare(p):
    """Logits of four actions, the first of which has probability p."""
    return np.log([p, 0.3, 0.2, 0.5 - p])


# ---- Surrogate


def in_torch(logits, old_logits, weights, clip):
    """PPO's objective as a training script has it, each action weighing with its chance to be drawn."""
    z, old, w = (torch.tensor(x, dtype=torch.float64) for x in (logits, old_logits, weights))
    z.requires_grad_()
    old = torch.log_softmax(old, 0)
    ratio = torch.exp(torch.log_softmax(z, 0) - old)
    terms = ratio * w
    if clip is not None:
        terms = torch.min(terms, torch.clamp(ratio, 1 - clip[0], 1 + clip[1]) * w)
    value = (old.exp() * terms).sum()
    value.backward()
    return value.item(), z.grad.numpy(), ratio.detach().numpy()


@pytest.mark.parametrize("clip", CLIPS, ids=str)
@given(steps())
def test_surrogate_and_its_gradient_by_autograd(clip, step):
    value, gradient, ratio = in_torch(*step, clip)
    np.testing.assert_allclose(constraints.ratios(*step[:2]), ratio, rtol=1e-13)
    assert constraints.surrogate(*step, clip) == pytest.approx(value, abs=1e-13)
    if clip is None or min(abs(ratio - e).min() for e in (1 - clip[0], 1 + clip[1])) > 1e-9:  # else a kink
        np.testing.assert_allclose(constraints.surrogate_gradient(*step, clip), gradient, atol=1e-13)


@pytest.mark.parametrize("clip", CLIPS, ids=str)
def test_surrogate_gradient_by_finite_differences(clip):
    rng = np.random.default_rng(1)
    for _ in range(20):
        logits, weights = OLD + 0.4 * rng.normal(size=4), rng.normal(size=4)
        wanted = bandit.finite_differences(
            lambda z, w=weights: constraints.surrogate(z, OLD, w, clip), logits, 1e-6
        )
        np.testing.assert_allclose(
            constraints.surrogate_gradient(logits, OLD, weights, clip), wanted, atol=1e-8
        )


def test_where_the_clip_holds_and_where_it_does_not():
    """pi is (0.6, 0.4) and was (0.5, 0.5): the ratios are 1.2 and 0.8."""
    logits, old = np.log([0.6, 0.4]), [0.0, 0.0]
    assert constraints.ratios(logits, old) == pytest.approx([1.2, 0.8])
    for weights, clip, value in (
        ([1, 0], (0.1, 0.1), 0.55),  # clipped from above: the gain counts only up to 1.1
        ([-1, 0], (0.1, 0.1), -0.6),  # a loss is never clipped from above
        ([0, -1], (0.1, 0.1), -0.45),
        ([0, 1], (0.1, 0.1), 0.4),
        ([1, 0], (0.1, 0.3), 0.6),  # each end has its own bound
        ([0, -1], (0.3, 0.1), -0.4),
    ):
        assert constraints.surrogate(logits, old, weights, clip) == pytest.approx(value)
        alive = bool(np.any(constraints.surrogate_gradient(logits, old, weights, clip)))
        assert alive == (constraints.surrogate(logits, old, weights) == pytest.approx(value))


@given(steps())
def test_at_the_old_policy_nothing_is_clipped(step):
    old, _, weights = step
    for clip in (None, (0.2, 0.2)):
        assert constraints.surrogate(old, old, weights, clip) == pytest.approx(
            bandit.expected_reward(old, weights), abs=1e-14
        )
        np.testing.assert_allclose(
            constraints.surrogate_gradient(old, old, weights, clip), bandit.exact_gradient(old, weights)
        )


def test_a_ratio_beyond_float64():
    assert constraints.ratios([0.0, 0.0], [0.0, -800.0])[1] == np.inf
    for weights, plain, clipped in (([0, 1], 0.5, 0.0), ([0, -1], -0.5, -0.5), ([1, 0], 0.5, 0.5)):
        far = ([0.0, 0.0], [0.0, -800.0], weights)
        assert constraints.surrogate(*far) == pytest.approx(plain)
        assert constraints.surrogate(*far, (0.2, 0.2)) == pytest.approx(clipped)
        assert np.isfinite(constraints.surrogate_gradient(*far, (0.2, 0.2))).all()
    assert constraints.ratios([0.0, -np.inf], [0.0, 0.0]).tolist() == [2.0, 0.0]


# ---- Fisher matrix and natural gradient


@given(steps())
def test_fisher_matrix_is_the_curvature_of_the_divergence(step):
    logits, n, h = step[0], step[0].size, 1e-3
    for old_first in (True, False):  # KL(old || new) and KL(new || old) have the same curvature

        def divergence(move, old_first=old_first, logits=logits):
            ends = (logits, logits + move)
            return kl.divergence(*(ends if old_first else ends[::-1]))

        hessian = [
            [
                sum(sa * sb * divergence(h * (sa * a + sb * b)) for sa in (1, -1) for sb in (1, -1))
                for b in np.eye(n)
            ]
            for a in np.eye(n)
        ]
        np.testing.assert_allclose(constraints.fisher(logits), np.array(hessian) / (4 * h * h), atol=1e-5)
    np.testing.assert_allclose(constraints.fisher(logits) @ np.ones(n), 0, atol=1e-15)


@given(steps())
def test_natural_gradient_solves_for_every_gradient(step):
    logits, other, weights = step
    gradient = bandit.exact_gradient(logits, weights)
    natural = constraints.natural_gradient(logits, gradient)
    np.testing.assert_allclose(constraints.fisher(logits) @ natural, gradient, atol=1e-14)
    np.testing.assert_allclose(natural, weights - weights.mean(), atol=1e-12)
    np.testing.assert_allclose(constraints.natural_gradient(logits + 5, gradient), natural, atol=1e-12)
    for g in (gradient, other):  # any vector at all: the pseudo-inverse drops what no policy can follow
        natural = constraints.natural_gradient(logits, g)
        wanted = np.linalg.pinv(constraints.fisher(logits), rcond=1e-10, hermitian=True) @ g
        np.testing.assert_allclose(natural, wanted, atol=1e-9)
        assert natural.sum() == pytest.approx(0, abs=1e-11)
        np.testing.assert_allclose(constraints.natural_gradient(logits, g + 3), natural, atol=1e-10)
        assert natural @ g >= -1e-12


@pytest.mark.parametrize("p", [1e-6, 1e-9, 1e-12, 1e-15, 1e-100, 1e-300])
def test_natural_gradient_of_a_rare_action(p):
    """An eigenvalue of F is about p: a cut-off would take it for zero."""
    weights = np.array([2.0, 1.0, -1.0, 0.5])
    gradient = bandit.exact_gradient(rare(p), weights)
    natural = constraints.natural_gradient(rare(p), gradient)
    np.testing.assert_allclose(natural, weights - weights.mean(), atol=1e-12)
    new = constraints.trust_region_step(rare(p), gradient, 0.01)
    assert 0.008 < kl.divergence(rare(p), new) <= 0.01


def test_natural_gradient_of_an_action_whose_probability_is_0_in_float64():
    logits = np.array([0.0, -1000.0, 0.0])
    gradient = bandit.exact_gradient(logits, [1.0, 5.0, 0.0])
    assert constraints.natural_gradient(logits, gradient).tolist() == pytest.approx([0.5, 0.0, -0.5])
    assert constraints.natural_gradient([3.0], [2.0]).tolist() == [0.0]


# ---- Trust region


@pytest.mark.parametrize("max_kl", [1.0, 0.1, 1e-2, 1e-4, 1e-8, 1e-16, 1e-24])
def test_a_step_stays_in_the_trust_region_and_climbs(max_kl):
    rng = np.random.default_rng(2)
    for _ in range(10):
        logits, rewards = rng.normal(size=5), rng.normal(size=5)
        gradient = bandit.exact_gradient(logits, rewards)
        new = constraints.trust_region_step(logits, gradient, max_kl)
        reached = kl.divergence(logits, new)
        assert 0 < reached <= max_kl
        before, after = (bandit.expected_reward(z, rewards) for z in (logits, new))
        assert after > before or max_kl < 1e-20
        full = constraints.trust_region_step(logits, gradient, max_kl, line_search=False)
        if max_kl <= 1e-4:
            assert kl.divergence(logits, full) == pytest.approx(max_kl, rel=0.05)
            assert reached > 0.8 * max_kl
        if max_kl >= 1e-8:  # below, rounding decides
            shorter = np.linalg.norm(new - logits) / np.linalg.norm(full - logits)
            times = np.log(shorter) / np.log(0.9)
            assert times == pytest.approx(round(times), abs=1e-3)
            # Shortened no more often than it had to be.
            assert round(times) == 0 or kl.divergence(logits, logits + (new - logits) / 0.9) > max_kl


def test_the_step_is_the_best_of_its_length():
    """No other direction of the same parabola climbs faster."""
    gradient, best = bandit.exact_gradient(OLD, REWARDS), constraints.trust_region_step
    step = best(OLD, bandit.exact_gradient(OLD, REWARDS), 1e-6, line_search=False) - OLD
    length = step @ constraints.fisher(OLD) @ step
    assert length / 2 == pytest.approx(1e-6)
    for other in np.random.default_rng(3).normal(size=(100, 4)):
        other *= np.sqrt(length / (other @ constraints.fisher(OLD) @ other))
        assert other @ gradient <= step @ gradient * (1 + 1e-9)


def test_a_zero_gradient_and_one_that_no_policy_can_follow():
    for gradient in (np.zeros(4), np.ones(4)):
        for line_search in (True, False):
            new = constraints.trust_region_step(OLD, gradient, 0.01, line_search)
            np.testing.assert_allclose(new, OLD, atol=1e-6)
    new = constraints.trust_region_step(OLD, np.zeros(4), 0.01)
    new[:] = 7
    assert OLD[0] == 0.4


@pytest.mark.parametrize("unit", [5e-324, 1e-200, 1e-30, 1e30, 1e200, 1e307])
def test_the_length_of_the_gradient_does_not_matter(unit):
    gradient = np.array([2.0, -1.0, -1.0, 0.0])
    wanted = constraints.trust_region_step(OLD, gradient, 0.01)
    np.testing.assert_allclose(constraints.trust_region_step(OLD, gradient * unit, 0.01), wanted, rtol=1e-12)
    # Nor does a constant in it, which no policy can follow, however little is left beside it.
    np.testing.assert_allclose(constraints.trust_region_step(OLD, gradient + 100, 0.01), wanted, rtol=1e-9)


@pytest.mark.parametrize("max_kl", [5e-324, 1e-300, 1e-40, 1e10, 1e308])
@pytest.mark.parametrize("logits", [OLD, np.zeros(4), rare(1e-300), [0.0, -1000.0, 0.0, 1e9]], ids=str)
def test_the_line_search_ends(logits, max_kl):
    for gradient in ([1.0, -1.0, 0.5, -0.5], [1e300, 0.0, -1e300, 1.0]):
        new = constraints.trust_region_step(logits, gradient, max_kl)
        assert np.isfinite(new).all() and kl.divergence(logits, new) <= max_kl


# ---- Bad input


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: constraints.ratios([0, 0], [0, -np.inf]), "old_logits[1] is -inf; it must be a vector"),
        (
            lambda: constraints.ratios([0, 0], [0, 0, 0]),
            "old_logits has 3 entries; it must have 2, as logits",
        ),
        (lambda: constraints.ratios([0, np.nan], [0, 0]), "logits[1] is nan; it must be"),
        (lambda: constraints.surrogate([0, 0], [0, 0], [1]), "weights has 1 entries; it must have 2"),
        (lambda: constraints.surrogate([0, 0], [0, 0], [1, np.nan]), "weights[1] is nan; it must be"),
        (
            lambda: constraints.surrogate_gradient([0, 0], [0, 0], [1], (0.2, 0.2)),
            "weights has 1 entries; it must have 2",
        ),
        (
            lambda: constraints.surrogate([0], [0], [1], 0.2),
            "clip is 0.2; it must be (low, high), two numbers",
        ),
        (lambda: constraints.surrogate([0], [0], [1], (0.2,)), "clip is (0.2,); it must be (low, high)"),
        (lambda: constraints.surrogate([0], [0], [1], (-0.1, 0.2)), "clip[0] is -0.1; it must be one finite"),
        (lambda: constraints.surrogate([0], [0], [1], (0.2, -0.1)), "clip[1] is -0.1; it must be one finite"),
        (lambda: constraints.surrogate_gradient([0], [0], [1], (0.2, np.inf)), "clip[1] is inf; it must be"),
        (lambda: constraints.fisher([[0.0]]), "logits has shape (1, 1); it must be"),
        (lambda: constraints.natural_gradient([0, -np.inf], [1, -1]), "logits[1] is -inf; it must be"),
        (lambda: constraints.natural_gradient([0, 0], [1, np.inf]), "gradient[1] is inf; it must be"),
        (lambda: constraints.natural_gradient([0, 0], [1, 0, -1]), "gradient has 3 entries; it must have 2"),
        (lambda: constraints.trust_region_step([0, 0], [0], 0.1), "gradient has 1 entries; it must have 2"),
        (lambda: constraints.trust_region_step([0, np.inf], [1, -1], 0.1), "logits[1] is inf; it must be"),
        (
            lambda: constraints.trust_region_step([0, 0], [1, -1], 0),
            "max_kl is 0; it must be a positive number",
        ),
        (
            lambda: constraints.trust_region_step([0, 0], [0, 0], -1.0),
            "max_kl is -1.0; it must be a positive",
        ),
        (
            lambda: constraints.trust_region_step([0, 0], [1, -1], np.nan),
            "max_kl is nan; it must be one finite",
        ),
        (
            lambda: constraints.trust_region_step([0, 0], [1, -1], np.inf),
            "max_kl is inf; it must be one finite",
        ),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError) as caught:
        call()
    assert str(caught.value).startswith(message) and str(caught.value).endswith(".")


def test_the_clip_holds_in_two_quadrants():
    ratio, weights = np.array([0.5, 0.8, 1.0, 1.3, 1.31]), np.ones(5)
    assert constraints.held(ratio, weights, 0.2, 0.3).tolist() == [False, False, False, False, True]
    assert constraints.held(ratio, -weights, 0.2, 0.3).tolist() == [True, False, False, False, False]
    assert not constraints.held(ratio, 0 * weights, 0.2, 0.3).any()
    assert not constraints.held(ratio, weights, np.inf, np.inf).any()
