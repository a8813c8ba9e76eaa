"""Groups of samples: multisets against every tuple, closed forms against both, bad input refused."""

import itertools
import math
from collections import Counter
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pglab import advantages, bandit, groups

LOGITS, REWARDS = np.array(bandit.EXAMPLE_LOGITS), np.array(bandit.EXAMPLE_REWARDS)
DISTINCT = np.array([3.0, -1.0, 0.5, 2.0])
QUARTERS = st.integers(0, 12).map(lambda n: n / 4)  # a coarse grid: ties, and no almost-ties
LOGIT = st.one_of(st.floats(-3, 3), st.floats(-30, 30), st.just(-np.inf))


def whiten_each(rewards):
    """Whitening looks at all it gets, so here it gets one group at a time."""
    return np.stack([advantages.whiten(row) for row in rewards])


ADVANTAGES = {
    "constant": advantages.constant,
    "constant, b = 0.4": partial(advantages.constant, baseline=0.4),
    "batch_mean": advantages.batch_mean,
    "dr_grpo": advantages.dr_grpo,
    "leave_one_out": advantages.leave_one_out,
    "grpo": advantages.grpo,
    "grpo, eps 0": partial(advantages.grpo, eps=0),
    "grpo, eps 0, ddof 0": partial(advantages.grpo, eps=0, ddof=0),
    "grpo, eps 1, ddof 0": partial(advantages.grpo, eps=1, ddof=0),
    "max_rl": advantages.max_rl,
    "leave_one_out_std": advantages.leave_one_out_std,
    "leave_one_out_std, eps 0": partial(advantages.leave_one_out_std, eps=0),
    "whiten": whiten_each,
}
PAIRS = {name for name in ADVANTAGES if name.startswith(("leave", "grpo"))}  # they need two samples
CENTRED = [name for name in ADVANTAGES if not name.startswith(("constant", "max_rl"))]


def close(value, wanted, scale=1.0, tolerance=1e-12):
    np.testing.assert_allclose(value, wanted, rtol=0, atol=tolerance * max(scale, 1e-300))


@st.composite
def problems(draw, sizes=(1, 4)):
    """(logits, rewards, size): few enough for every tuple to be written down."""
    actions = draw(st.integers(1, 4))
    logits = draw(st.lists(LOGIT, min_size=actions, max_size=actions).filter(lambda z: max(z) > -np.inf))
    rewards = draw(st.lists(QUARTERS, min_size=actions, max_size=actions))
    return np.array(logits), np.array(rewards), draw(st.integers(*sizes))


def every_tuple(probabilities, size):
    """(A^G, G) all groups, order counted, and the probability of each."""
    tuples = np.array(list(itertools.product(range(len(probabilities)), repeat=size)))
    return tuples, np.array([math.prod(probabilities[a] for a in group) for group in tuples])


def by_tuples(logits, rewards, advantage, size):
    """Mean and covariance of the estimate, as on paper: no sorting, no multisets, no total covariance."""
    p = np.exp(logits) / np.exp(logits).sum()
    tuples, chances = every_tuple(p, size)
    weights, scores = advantage(rewards[tuples]), (np.eye(p.size) - p)[tuples]
    estimates = (weights[:, :, None] * scores).sum(axis=1) / size
    mean = chances @ estimates
    return mean, sum(c * np.outer(e - mean, e - mean) for c, e in zip(chances, estimates, strict=True))


# ---- Multisets and their probabilities


@given(st.integers(1, 6), st.integers(1, 9))
def test_multisets_are_all_there_and_none_twice(actions, size):
    rows = groups.multisets(actions, size)
    assert rows.shape == (math.comb(size + actions - 1, actions - 1), actions)
    assert rows.dtype.kind == "i" and (rows >= 0).all() and (rows.sum(axis=1) == size).all()
    assert len({tuple(row) for row in rows.tolist()}) == len(rows)


@pytest.mark.parametrize("actions, size", [(1, 1), (1, 5), (2, 1), (2, 6), (3, 4), (4, 4), (6, 3)])
def test_multisets_are_those_of_the_tuples(actions, size):
    tuples = itertools.product(range(actions), repeat=size)
    counted = {tuple(Counter(group)[a] for a in range(actions)) for group in tuples}
    assert {tuple(row) for row in groups.multisets(actions, size).tolist()} == counted


def test_a_list_of_multisets_belongs_to_the_caller():
    groups.multisets(3, 2)[:] = 99  # lists are kept for the next call; this one must be a copy
    assert groups.multisets(3, 2).max() == 2


@given(problems())
def test_multinomial_adds_up_the_tuples(problem):
    logits, _, size = problem
    p, counts = bandit.softmax(logits), groups.multisets(logits.size, size)
    added = Counter()
    for group, chance in zip(*every_tuple(p, size), strict=True):
        added[tuple(np.bincount(group, minlength=p.size).tolist())] += chance
    chances = groups.multinomial(p, counts)
    np.testing.assert_allclose(chances, [added[tuple(row)] for row in counts.tolist()], rtol=1e-12, atol=0)
    close(chances.sum(), 1)
    assert (chances[counts[:, p == 0].any(axis=1)] == 0).all()  # not small: nothing


def test_multinomial_of_large_groups_against_fractions():
    counts = groups.multisets(2, 500)
    exact = [
        math.comb(500, k) * Fraction(1, 4) ** k * Fraction(3, 4) ** (500 - k) for k in counts[:, 0].tolist()
    ]
    np.testing.assert_allclose(
        groups.multinomial([0.25, 0.75], counts), [float(c) for c in exact], rtol=1e-11
    )


# ---- Expectations


@given(problems())
def test_expectations_are_sums_over_tuples(problem):
    logits, values, size = problem
    p = bandit.softmax(logits)
    for f in (
        lambda g: values[g].mean() ** 3,
        lambda g: np.median(values[g]),
        lambda g: np.bincount(g, minlength=p.size) ** 2,  # a vector
        lambda g: np.outer([g.min(), g.max()], [1.0, values[g].sum()]),  # a matrix
    ):
        tuples, chances = every_tuple(p, size)
        wanted = sum(c * np.asarray(f(group)) for group, c in zip(tuples, chances, strict=True))
        close(groups.expect(p, size, f), wanted, scale=100)


@pytest.mark.parametrize("size", [1, 2, 17, 60])
def test_binomial_moments(size):
    q, p = 0.3, [0.3, 0.7]
    passes = [lambda g, n=n: ((g == 0).sum() - size * q) ** n for n in (1, 2, 3)]
    wanted = [0, size * q * (1 - q), size * q * (1 - q) * (1 - 2 * q)]
    close([groups.expect(p, size, f) for f in passes], wanted, scale=size**2)


def test_expect_returns_a_float_or_an_array():
    assert type(groups.expect([0.5, 0.5], 2, lambda g: g.sum())) is float
    array = groups.expect([0.5, 0.5], 2, lambda g: [1, g.sum()])
    assert array.shape == (2,) and array.dtype == np.float64


def test_f_may_do_what_it_likes_with_its_argument():
    def careless(group):
        total = group.sum()
        group[:] = 0
        return total

    close(groups.expect([0.25, 0.75], 3, careless), 2.25)


def test_impossible_groups_are_not_asked_for():
    def picky(group):
        assert 1 not in group
        return len(group)

    assert groups.expect([0.5, 0.0, 0.5], 3, picky) == pytest.approx(3)


ORDERED = {
    "first": lambda g: g[0],
    "second": lambda g: g[1],  # of three: the middle one, so turning the group round does not show it
    "neighbours": lambda g: (g[1:] * g[:-1]).sum(),
    "shape": lambda g: np.zeros(1 + g[0]) if g[0] != g[-1] else np.zeros(1),
    "place of an action": lambda g: np.argmax(g == 0),
}


@pytest.mark.parametrize("f", ORDERED.values(), ids=ORDERED)
@pytest.mark.parametrize("p, size", [([0.5, 0.5], 3), ([0.5, 0.5, 0.0], 30), ([0.1, 0.2, 0.3, 0.4], 12)])
def test_an_f_that_looks_at_the_order_is_refused(f, p, size):
    with pytest.raises(ValueError, match=r"f\(group\)"):
        groups.expect(p, size, f)


# ---- Moments of the gradient estimate


@pytest.mark.parametrize("name", ADVANTAGES)
@given(problems())
def test_moments_are_those_of_every_tuple(name, problem):
    logits, rewards, size = problem
    size = max(size, 2) if name in PAIRS else size
    mean, covariance = groups.moments(logits, rewards, ADVANTAGES[name], size)
    wanted_mean, wanted_covariance = by_tuples(logits, rewards, ADVANTAGES[name], size)
    close(mean, wanted_mean, scale=3)
    close(covariance, wanted_covariance, scale=9)
    close(covariance, covariance.T)
    close(covariance.sum(axis=0), 0, scale=9)  # the components of a score add up to zero
    assert np.linalg.eigvalsh(covariance).min() > -1e-12


@given(problems(sizes=(2, 7)))
def test_what_the_baselines_do_to_the_mean(problem):
    logits, rewards, size = problem
    gradient = bandit.exact_gradient(logits, rewards)
    for advantage, factor in (
        (advantages.batch_mean, (size - 1) / size),
        (advantages.leave_one_out, 1),
        (advantages.constant, 1),
        (partial(advantages.constant, baseline=7), 1),
    ):
        close(groups.moments(logits, rewards, advantage, size)[0], factor * gradient, scale=10)


@given(problems(sizes=(1, 7)), QUARTERS)
def test_with_a_constant_the_samples_are_independent(problem, baseline):
    logits, rewards, size = problem
    _, covariance = groups.moments(logits, rewards, lambda r: r - baseline, size)
    close(covariance, bandit.gradient_covariance(logits, rewards - baseline) / size, scale=9)


@given(problems(sizes=(2, 4)), st.randoms(use_true_random=False))
def test_the_order_of_the_actions_does_not_matter(problem, random):
    logits, rewards, size = problem
    order = random.sample(range(logits.size), logits.size)
    for advantage in (advantages.grpo, advantages.max_rl):
        mean, covariance = groups.moments(logits, rewards, advantage, size)
        after = groups.moments(logits[order], rewards[order], advantage, size)
        close(after[0], mean[order], scale=3)
        close(after[1], covariance[order][:, order], scale=9)


@pytest.mark.parametrize("shift", [-2.5, 64.0, 2.0**20])
@pytest.mark.parametrize("name", CENTRED)
def test_shifting_all_rewards_does_nothing_to_centred_weights(name, shift):
    before = groups.moments(LOGITS, DISTINCT, ADVANTAGES[name], 4)
    after = groups.moments(LOGITS, DISTINCT + shift, ADVANTAGES[name], 4)
    for a, b in zip(after, before, strict=True):
        close(a, b, scale=9 * max(1, abs(shift)), tolerance=1e-14 if abs(shift) > 1e3 else 1e-12)


def test_an_impossible_action_is_as_if_it_were_not_there():
    logits, rewards = np.append(LOGITS, -np.inf), np.append(DISTINCT, -1e6)
    mean, covariance = groups.moments(logits, rewards, advantages.leave_one_out, 5)
    wanted = groups.moments(LOGITS, DISTINCT, advantages.leave_one_out, 5)
    close(mean, np.append(wanted[0], 0))
    close(covariance, np.pad(wanted[1], (0, 1)), scale=9)


def scale_by_passes(q, size, eps=1e-4):
    """What GRPO multiplies the gradient of a 0/1 reward by: a sum over the number of passes k."""
    total = 0.0
    for k in range(1, size):
        chance = math.comb(size, k) * q**k * (1 - q) ** (size - k)
        spread = math.sqrt(k * (size - k) / (size * (size - 1))) + eps
        right, wrong = (1 - k / size) / spread, -(k / size) / spread
        # The mean score of a right answer is gradient / q, that of a wrong one -gradient / (1 - q).
        total += chance * (k * right / (size * q) - (size - k) * wrong / (size * (1 - q)))
    return total


@pytest.mark.parametrize(
    "size, wanted", [(2, "0.707007"), (4, "1.403719"), (8, "1.762587"), (16, "1.911684"), (64, None)]
)
def test_grpo_only_scales_the_gradient_of_a_binary_reward(size, wanted):
    gradient = bandit.exact_gradient(LOGITS, REWARDS)
    mean, _ = groups.moments(LOGITS, REWARDS, advantages.grpo, size)
    scale = scale_by_passes(bandit.expected_reward(LOGITS, REWARDS), size)
    close(mean, scale * gradient)
    assert wanted is None or f"{mean[0] / gradient[0]:.6f}" == wanted


@pytest.mark.parametrize("name, size", [("leave_one_out", 2), ("grpo", 8), ("leave_one_out_std", 5)])
def test_sampling_agrees_within_four_standard_errors(name, size):
    draws = np.random.default_rng(0).choice(4, size=(100_000, size), p=bandit.softmax(LOGITS))
    weights = ADVANTAGES[name](DISTINCT[draws])
    estimates = (weights[:, :, None] * bandit.score_matrix(LOGITS)[draws]).mean(axis=1)
    mean, covariance = groups.moments(LOGITS, DISTINCT, ADVANTAGES[name], size)
    assert (abs(estimates.mean(axis=0) - mean) < 4 * estimates.std(axis=0) / np.sqrt(len(draws))).all()
    squares = ((estimates - mean) ** 2).sum(axis=1)
    error = squares.std() / np.sqrt(len(draws))
    assert 0 < error < 0.02 * np.trace(covariance)
    assert abs(squares.mean() - np.trace(covariance)) < 4 * error


@pytest.mark.parametrize(
    "rewards, size, rows", [(REWARDS, 64, 65), (DISTINCT, 64, 47_905), ([2.0] * 4, 9, 1)]
)
def test_the_advantage_sees_each_multiset_of_values_once(rewards, size, rows):
    seen = []

    def watched(groups_of_rewards):
        assert groups_of_rewards.shape[1] == size
        seen.append(groups_of_rewards.copy())
        groups_of_rewards[:] = np.nan  # and may spoil what it is given
        return advantages.leave_one_out(seen[-1])

    groups.moments(LOGITS, rewards, watched, size)
    assert len(np.unique(np.sort(np.concatenate(seen)), axis=0)) == rows == sum(map(len, seen))


# ---- Closed forms


@given(problems(sizes=(2, 4)))
def test_the_closed_form_of_leave_one_out(problem):
    logits, rewards, size = problem
    trace = groups.rloo_covariance_trace(logits, rewards, size)
    assert type(trace) is float and trace > -1e-12
    close(trace, np.trace(by_tuples(logits, rewards, advantages.leave_one_out, size)[1]), scale=9)


def as_a_u_statistic(logits, rewards, size):
    """Hoeffding's two variances from every pair of actions, without any softmax identity."""
    p, score = bandit.softmax(logits), bandit.score_matrix(logits)
    kernel = (rewards[:, None] - rewards)[:, :, None] * (score[:, None] - score) / 2
    first = np.einsum("y,xyk->xk", p, kernel)
    mean = p @ first
    zeta_1 = p @ ((first - mean) ** 2).sum(axis=1)
    zeta_2 = p @ ((kernel - mean) ** 2).sum(axis=2) @ p
    return (4 * (size - 2) * zeta_1 + 2 * zeta_2) / (size * (size - 1))


@pytest.mark.parametrize("size", [2, 4, 8, 16, 64])
@pytest.mark.parametrize("rewards", [REWARDS, DISTINCT], ids=["binary", "distinct"])
def test_the_closed_form_holds_at_any_size(rewards, size):
    _, covariance = groups.moments(LOGITS, rewards, advantages.leave_one_out, size)
    trace = groups.rloo_covariance_trace(LOGITS, rewards, size)
    np.testing.assert_allclose(trace, np.trace(covariance), rtol=1e-12)
    np.testing.assert_allclose(trace, as_a_u_statistic(LOGITS, rewards, size), rtol=1e-12)


@pytest.mark.parametrize("size", range(1, 9))
def test_chance_of_equal_rewards(size):
    p = np.array([[0.0, 0.05, 0.5], [0.62, 0.95, 1.0]])
    chances = groups.zero_variance_probability(p, size)
    assert chances.shape == p.shape and chances[0, 0] == chances[1, 2] == 1
    for q, chance in zip(p.ravel(), chances.ravel(), strict=True):
        tuples, each = every_tuple([1 - q, q], size)
        close(chance, each[np.ptp(tuples, axis=1) == 0].sum())
        assert type(groups.zero_variance_probability(q, size)) is float
        assert groups.zero_variance_probability(q, size) == pytest.approx(chance, rel=1e-15)
