"""Moments of the gradient estimate of a group, by every tuple, and the closed forms."""

import math
from functools import partial

import numpy as np
import pytest
from bandit_by_hand import close
from groups_by_hand import (
    ADVANTAGES,
    CENTRED,
    DISTINCT,
    LOGITS,
    PAIRS,
    QUARTERS,
    REWARDS,
    by_tuples,
    every_tuple,
    problems,
)
from hypothesis import given
from hypothesis import strategies as st

from pglab import advantages, bandit, groups

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
