"""What GRPO's division does with rewards of 0 and 1: the scale against every group, the objective against its slope."""

import math
import warnings
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import refusals
from hypothesis import given
from hypothesis import strategies as st

from pglab import advantages, bandit, groups

LOGITS, REWARDS = bandit.EXAMPLE_LOGITS, bandit.EXAMPLE_REWARDS
J = bandit.expected_reward(LOGITS, REWARDS)
RATES = st.floats(0.01, 0.99)
SETTINGS = st.sampled_from([(0, 0), (0, 1), (1e-4, 1), (0.3, 0)])  # eps and ddof
FUNCTIONS = [groups.grpo_scale, groups.grpo_objective]


def by_definition(p, size, eps, ddof):
    """E[k (1 - k) / (std + eps)] / (p (1 - p)), the chances of the groups as fractions."""
    p, total = Fraction(p), 0.0
    for right in range(1, size):
        chance = math.comb(size, right) * p**right * (1 - p) ** (size - right)
        deviation = math.sqrt(Fraction(right * (size - right), size * (size - ddof)))
        total += float(chance * Fraction(right * (size - right), size**2) / (p * (1 - p))) / (deviation + eps)
    return total


@pytest.mark.parametrize(("size", "wanted"), [(2, 0.707007), (4, 1.403719), (8, 1.762587), (16, 1.911684)])
def test_the_running_example(size, wanted):
    assert round(groups.grpo_scale(J, size), 6) == wanted


@given(st.floats(-3, 3), st.integers(2, 9), SETTINGS)
def test_the_expected_gradient_is_the_true_one_times_the_scale(logit, size, setting):
    eps, ddof = setting
    logits = [logit, -0.2, 1.1, 0.0]
    mean, _ = groups.moments(logits, REWARDS, partial(advantages.grpo, eps=eps, ddof=ddof), size)
    p = bandit.expected_reward(logits, REWARDS)
    wanted = groups.grpo_scale(p, size, eps, ddof) * bandit.exact_gradient(logits, REWARDS)
    np.testing.assert_allclose(mean, wanted, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("p", [Fraction(1, 1000), Fraction(2, 7), Fraction(1, 2), Fraction(999, 1000)])
@pytest.mark.parametrize("size", [2, 3, 8, 64, 300])
@pytest.mark.parametrize(("eps", "ddof"), [(0, 0), (1e-4, 1), (0.2, 0)])
def test_against_fractions(p, size, eps, ddof):
    assert groups.grpo_scale(float(p), size, eps, ddof) == pytest.approx(
        by_definition(p, size, eps, ddof), rel=1e-11
    )


@given(st.floats(0, 1))
def test_closed_forms_of_small_groups(p):
    scale = partial(groups.grpo_scale, p, eps=0)
    assert scale(2) == pytest.approx(1 / math.sqrt(2)) and scale(2, ddof=0) == pytest.approx(1)
    assert scale(3) == pytest.approx(2 / math.sqrt(3))
    four = 1.5 * ((1 - p) ** 2 + math.sqrt(3) * p * (1 - p) + p**2)
    assert scale(4) == pytest.approx(four)
    assert groups.grpo_objective(p, 2, 0) == pytest.approx(p / math.sqrt(2))


@pytest.mark.parametrize("p", [0.1, J, 0.9])
def test_against_sampled_groups(p):
    right = np.random.default_rng(0).random((200_000, 8)) < p
    score = np.where(right, 1 - p, -p)  # of one Bernoulli logit, whose gradient of J is p (1 - p)
    estimates = (advantages.grpo(right) * score).mean(axis=1) / (p * (1 - p))
    error = estimates.std() / math.sqrt(len(estimates))
    assert abs(estimates.mean() - groups.grpo_scale(p, 8)) < 4 * error < 0.03


@given(RATES, st.integers(2, 40), SETTINGS)
def test_right_and_wrong_may_be_exchanged(p, size, setting):
    eps, ddof = setting
    scale, objective = (partial(f, size=size, eps=eps, ddof=ddof) for f in FUNCTIONS)
    assert scale(p) == pytest.approx(scale(1 - p), rel=1e-10)
    assert objective(1) - objective(p) == pytest.approx(objective(1 - p), rel=1e-9)


@given(RATES, st.integers(2, 40), SETTINGS)
def test_the_slope_of_the_objective_is_the_scale(p, size, setting):
    eps, ddof = setting
    objective = partial(groups.grpo_objective, size=size, eps=eps, ddof=ddof)
    h = 1e-5
    slope = (objective(p + h) - objective(p - h)) / (2 * h)
    assert slope == pytest.approx(groups.grpo_scale(p, size, eps, ddof), rel=1e-6)


@given(st.floats(0, 1), st.integers(2, 40), SETTINGS)
def test_the_objective_is_the_integral_of_the_scale(p, size, setting):
    eps, ddof = setting
    x, weights = np.polynomial.legendre.leggauss(20)  # exact: c is a polynomial of degree G - 2
    area = p / 2 * weights @ groups.grpo_scale(p * (x + 1) / 2, size, eps, ddof)
    assert groups.grpo_objective(p, size, eps, ddof) == pytest.approx(area, rel=1e-10, abs=1e-14)


def test_ascent_on_the_objective_is_what_grpo_expects():
    def climbed(logits):
        return groups.grpo_objective(bandit.expected_reward(logits, REWARDS), 8)

    steps = 1e-5 * np.eye(4)
    slope = [(climbed(LOGITS + h) - climbed(LOGITS - h)) / 2e-5 for h in steps]
    np.testing.assert_allclose(
        groups.moments(LOGITS, REWARDS, advantages.grpo, 8)[0], slope, rtol=1e-7, atol=1e-9
    )


def test_the_ends_are_limits():
    for size in (2, 3, 8, 50):
        for eps, ddof in ((0, 0), (1e-4, 1)):
            ends = groups.grpo_scale([0, 1], size, eps, ddof)
            alone = math.sqrt((size - 1) / (size * (size - ddof)))  # one right answer among G
            np.testing.assert_allclose(ends, (size - 1) / size / (alone + eps), rtol=1e-12)
            near = groups.grpo_scale([1e-12, 1 - 1e-12], size, eps, ddof)
            np.testing.assert_allclose(near, ends, rtol=1e-9)


def test_large_groups_tend_to_the_arcsine_and_do_not_overflow():
    p = np.linspace(0, 1, 41)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scale, objective = (f(p, 1000, 0, 0) for f in FUNCTIONS)
    inside = p[4:-4]
    np.testing.assert_allclose(scale[4:-4], 1 / np.sqrt(inside * (1 - inside)), rtol=0.01)
    errors = [
        abs(groups.grpo_objective(p, n, 0, 0) - 2 * np.arcsin(np.sqrt(p))).max() for n in (10, 100, 1000)
    ]
    assert errors[0] > 2 * errors[1] > 4 * errors[2] and errors[2] < 0.1 and objective[0] == 0
    assert (np.diff(objective) > 0).all()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_comes_in_has_the_shape_of_what_comes_out(function):
    assert type(function(0.5, 4)) is float and function([0.5], 4).shape == (1,)
    table = function([[0, 0.25], [0.5, 1]], 5)
    assert table.shape == (2, 2) and table[0, 1] == pytest.approx(function(0.25, 5), rel=1e-14)
    assert function(0.5, 4) == function(0.5, 4.0, 1e-4, 1)


BAD = [
    ((1.1, 4), "p holds a number outside 0 to 1"),
    (([0.5, np.nan], 4), "p holds a number outside 0 to 1"),
    (("half", 4), "p is 'half'; it must be a pass rate"),
    ((0.5, 1), "size is 1; it must be a whole number, at least 2"),
    ((0.5, 2.5), "size is 2.5"),
    ((0.5, 4, -1e-4), "eps is -0.0001"),
    ((0.5, 4, 0, "x"), "ddof is 'x'; it must be one finite number"),
    ((0.5, 4, 0, 2), "ddof is 2; it must be 0 (population) or 1"),
]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_bad_input_is_refused(function, arguments, message):
    refusals.check(lambda: function(*arguments), message)
