"""Moments of gradient estimates: every group by brute force, sampled groups, closed forms, the bandit."""

import itertools
import math
from functools import cache

import numpy as np
import pytest
import torch
from models_by_hand import OneLayer, one_by_one, shaken
from torch import nn

from pglab import advantages, groups, oracle

pytestmark = pytest.mark.filterwarnings("error")

ADVANTAGES = {
    "constant": lambda r: advantages.constant(r, 0.3),
    "batch_mean": advantages.batch_mean,
    "leave_one_out": advantages.leave_one_out,
    "grpo": advantages.grpo,
}


def two_values(completion):
    return float(sum(completion) % 3 == 1)


def three_values(completion):
    return {0: -0.5, 1: 1.0, 2: 2.0}[sum(completion) % 3]


REWARDS = {"two values": two_values, "three values": three_values}


@cache
def known(rewards, other=False):
    """Exact, and by hand: probabilities, scores, rewards. 15 completions, or 22 of another model."""
    if other:
        model, prompt, steps, end = shaken(1, vocabulary=4, layers=1, width=4, heads=2), [1, 3], 2, 0
    else:
        model, prompt, steps, end = OneLayer(), [0, 1], 3, 2
    exact = oracle.exact(model, prompt, REWARDS[rewards], steps, end)
    completions = [tuple(row[m].tolist()) for row, m in zip(exact.tokens, exact.mask, strict=True)]
    return (
        exact,
        *one_by_one(model, prompt, completions),
        np.array([REWARDS[rewards](y) for y in completions]),
    )


def by_hand(name, group):
    """Advantages of one group, written out."""
    n, mean = len(group), sum(group) / len(group)
    if name == "constant":
        return [r - 0.3 for r in group]
    if name == "batch_mean":
        return [r - mean for r in group]
    if name == "leave_one_out":
        return [r - (sum(group) - r) / (n - 1) for r in group]
    deviation = math.sqrt(sum((r - mean) ** 2 for r in group) / (n - 1))
    return [0.0 if max(group) == min(group) else (r - mean) / (deviation + 1e-4) for r in group]


def directions(n):
    return [np.sin(np.arange(n)), np.cos(2.2 * np.arange(n)), np.eye(n)[3]]


# ---- Every group, and many sampled groups


@pytest.mark.parametrize("other", [False, True], ids=["one layer", "small lm"])
@pytest.mark.parametrize("rewards", REWARDS)
@pytest.mark.parametrize("name", ADVANTAGES)
def test_every_group_by_brute_force(name, rewards, other):
    exact, p, scores, r = known(rewards, other)
    for size in (2, 3):
        chances, estimates = [], []
        for group in itertools.product(range(len(p)), repeat=size):
            rows = list(group)
            chances.append(p[rows].prod())
            estimates.append(np.array(by_hand(name, r[rows].tolist())) @ scores[rows] / size)
        chances, estimates = np.array(chances), np.array(estimates)
        wanted = chances @ estimates
        mean, trace = exact.moments(ADVANTAGES[name], size)
        np.testing.assert_allclose(mean, wanted, rtol=0, atol=1e-10)
        assert trace == pytest.approx(chances @ ((estimates - wanted) ** 2).sum(1), rel=1e-9)
        for direction in directions(scores.shape[1]):
            along = chances @ ((estimates - wanted) @ direction) ** 2
            assert exact.variance_along(direction, ADVANTAGES[name], size) == pytest.approx(along, rel=1e-9)


@pytest.mark.parametrize("rewards", REWARDS)
@pytest.mark.parametrize("name", ADVANTAGES)
def test_sampled_groups_agree_within_four_standard_errors(name, rewards):
    exact, p, scores, r = known(rewards)
    rng, n, size = np.random.default_rng(7), 20_000, 4
    rows = rng.choice(len(p), (n, size), p=p / p.sum())
    weight = np.zeros((n, len(p)))
    for i, group in enumerate(rows):
        for row, advantage in zip(group, by_hand(name, r[group].tolist()), strict=True):
            weight[i, row] += advantage / size
    estimates = weight @ scores
    mean, trace = exact.moments(ADVANTAGES[name], size)
    squares = ((estimates - mean) ** 2).sum(1)
    assert abs(squares.mean() - trace) <= 4 * squares.std() / math.sqrt(n) < trace / 10
    for direction in [mean / np.linalg.norm(mean), *directions(scores.shape[1])]:
        along = estimates @ direction
        assert abs(along.mean() - mean @ direction) <= 4 * along.std() / math.sqrt(n)
        squares, wanted = (along - along.mean()) ** 2, exact.variance_along(direction, ADVANTAGES[name], size)
        assert abs(squares.mean() - wanted) <= 4 * squares.std() / math.sqrt(n) < wanted / 5


# ---- Closed forms


@pytest.mark.parametrize("rewards", REWARDS)
@pytest.mark.parametrize("size", [2, 3, 8, 32])
def test_leave_one_out_is_a_u_statistic(rewards, size):
    """(4 (G-2) zeta_1 + 2 zeta_2) / (G (G-1)), the two numbers from all pairs of completions."""
    exact, p, scores, r = known(rewards)
    gradient = (p * r) @ scores
    pairs = (r[:, None] - r)[..., None] * (scores[:, None] - scores) / 2  # (N, N, n)
    given_one = np.einsum("y,xyn->xn", p, pairs)
    zeta_1 = p @ (given_one**2).sum(1) - gradient @ gradient
    zeta_2 = p @ (pairs**2).sum(2) @ p - gradient @ gradient
    mean, trace = exact.moments(advantages.leave_one_out, size)
    np.testing.assert_allclose(mean, gradient, rtol=0, atol=1e-12)
    closed = (4 * (size - 2) * zeta_1 + 2 * zeta_2) / (size * (size - 1))
    assert trace == pytest.approx(closed, rel=1e-10)


@pytest.mark.parametrize("rewards", REWARDS)
def test_what_is_known_of_every_estimator(rewards):
    exact, p, scores, r = known(rewards)
    own, own_trace = exact.moments(lambda x: x, 1)
    np.testing.assert_allclose(own, exact.gradient, atol=1e-14)
    assert exact.moments(lambda x: x, 10)[1] == pytest.approx(own_trace / 10)  # independent samples
    for size in (2, 5):
        shrunk = exact.moments(advantages.batch_mean, size)[0]
        np.testing.assert_allclose(shrunk, (size - 1) / size * exact.gradient, atol=1e-14)
    fisher = exact.moments(lambda x: np.ones_like(x), 1)
    np.testing.assert_allclose(fisher[0], 0, atol=1e-14)
    assert fisher[1] == pytest.approx(p @ exact.squares)


class Softmax(nn.Module):
    """A bandit: one completion is one token, its logits are the parameters."""

    def __init__(self, logits):
        super().__init__()
        self.logits = nn.Parameter(torch.tensor(logits, dtype=torch.float64))

    def forward(self, tokens):
        return self.logits.expand(*tokens.shape, -1)


@pytest.mark.parametrize("earned", [[1, 0, 0, 1], [10, 0, 0, 1], [0.5, 0.5, 0.5, 0.5]])
@pytest.mark.parametrize("size", [2, 4, 7])
@pytest.mark.parametrize("name", ADVANTAGES)
def test_completions_of_one_token_are_a_bandit(name, size, earned):
    logits = [0.4, -0.2, 1.1, 0.0]
    exact = oracle.exact(Softmax(logits), [2], lambda completion: earned[completion[0]], 1, end_token=3)
    mean, covariance = groups.moments(logits, earned, ADVANTAGES[name], size)
    result, trace = exact.moments(ADVANTAGES[name], size)
    np.testing.assert_allclose(result, mean, rtol=0, atol=1e-14)
    assert trace == pytest.approx(np.trace(covariance), rel=1e-12, abs=1e-15)
    for direction in directions(4):
        wanted = direction @ covariance @ direction
        assert exact.variance_along(direction, ADVANTAGES[name], size) == pytest.approx(wanted, abs=1e-14)


def test_weight_moments_of_two_samples_by_hand():
    """Rewards 0 and 1, chance 1/4 of a 1, G = 2: the pairs 00, 01, 10, 11 weigh 9, 3, 3, 1 sixteenths."""
    mean, covariance, inside = groups.weight_moments([0, 1], [0.75, 0.25], lambda r: r, 2)
    np.testing.assert_allclose(mean, [0, 0.25])  # W_1 is 1/2 for a mixed pair, 1 for 11
    np.testing.assert_allclose(covariance, [[0, 0], [0, (6 / 4 + 1) / 16 - 1 / 16]])
    np.testing.assert_allclose(inside, [0, (6 / 4 + 2 / 4) / 16])  # each sample squared apart: 1/4 + 1/4


# ---- Sampled otherwise than scored


@pytest.mark.parametrize("settings", [(0.7, None, None), (1.0, 2, None), (0.7, 3, 0.8)])
@pytest.mark.parametrize("name", ADVANTAGES)
def test_moments_under_the_policy_that_is_sampled_from(settings, name):
    exact, _, scores, r = known("three values", True)
    q = exact.sampled_with(*settings)
    mean, trace = exact.table(q).moments(ADVANTAGES[name], 2)
    chances, estimates = [], []
    for group in itertools.product(np.flatnonzero(q), repeat=2):
        rows = list(group)
        chances.append(q[rows].prod())
        estimates.append(np.array(by_hand(name, r[rows].tolist())) @ scores[rows] / 2)
    chances, estimates = np.array(chances), np.array(estimates)
    np.testing.assert_allclose(mean, chances @ estimates, rtol=0, atol=1e-10)
    assert trace == pytest.approx(chances @ (estimates**2).sum(1) - mean @ mean, rel=1e-8)


def test_the_table_of_rewards_and_scores():
    exact, p, scores, r = known("three values")
    table = exact.table()
    assert table.values.tolist() == [-0.5, 1.0, 2.0]
    for k, value in enumerate(table.values):
        share = p * (r == value)
        assert table.chance[k] == pytest.approx(share.sum())
        np.testing.assert_allclose(table.centre[k], share @ scores / share.sum(), atol=1e-13)
        assert table.square[k] == pytest.approx(share @ (scores**2).sum(1) / share.sum())
