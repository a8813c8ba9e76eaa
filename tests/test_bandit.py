"""The bandit against independent roads on fixed examples, and at its edges."""

import itertools
from decimal import Decimal, localcontext

import numpy as np
import pytest
import torch
from bandit_by_hand import LOGITS, REWARDS, WITH_LOGITS, WITH_REWARDS, WITH_WEIGHTS, close

from pglab import bandit

SKEWED = np.log([0.9, 0.1])


# ---- The figures of the syllabus, to the digits given there


def test_the_running_example():
    J, gradient = bandit.expected_reward(LOGITS, REWARDS), bandit.exact_gradient(LOGITS, REWARDS)
    assert f"{J:.6f}" == "0.394606"
    assert [f"{g:.6f}" for g in gradient] == ["0.143022", "-0.051162", "-0.187730", "0.095870"]
    best = bandit.optimal_baseline(LOGITS, REWARDS)
    traces = [bandit.covariance_trace(LOGITS, REWARDS - b) for b in (0, J, best)]
    assert [f"{t:.6f}" for t in traces] == ["0.293183", "0.113781", "0.100724"]
    assert f"{best:.6f}" == "0.533587"


def test_one_baseline_for_each_coordinate():
    best = bandit.optimal_baseline(LOGITS, REWARDS, per_coordinate=True)
    variances = [bandit.gradient_covariance(LOGITS, REWARDS - b)[k, k] for k, b in enumerate(best)]
    assert f"{sum(variances):.6f}" == "0.036981"


def test_the_mean_reward_can_be_a_worse_baseline_than_none():
    rewards = np.array([1.0, 0.0])
    mean, best = bandit.expected_reward(SKEWED, rewards), bandit.optimal_baseline(SKEWED, rewards)
    close(mean, 0.9)
    close(best, 0.1)
    traces = [bandit.covariance_trace(SKEWED, rewards - b) for b in (0, mean, best)]
    assert [f"{t:.4f}" for t in traces[:2]] == ["0.0018", "0.1152"]
    assert 0 <= traces[2] < 1e-30


# ---- Independent roads on fixed examples


def by_hand(logits):
    """Probabilities with fifty digits, from Python's own decimal numbers."""
    with localcontext() as context:
        context.prec = 50
        powers = [Decimal(float(z)).exp() if z != -np.inf else Decimal(0) for z in logits]
        return [power / sum(powers) for power in powers]


@pytest.mark.parametrize(
    "logits", [LOGITS, SKEWED, [700.0, -700.0, 699.0], [-700.0, -701.0], [5.0, -np.inf, 4.0]]
)
def test_probabilities_agree_with_fifty_digits(logits):
    exact = by_hand(logits)
    np.testing.assert_allclose(bandit.softmax(logits), [float(p) for p in exact], rtol=1e-12, atol=0)
    with localcontext() as context:
        context.prec = 50
        logs = [float(p.ln()) if p else -np.inf for p in exact]
        entropy = float(-sum(p * p.ln() for p in exact if p))
    np.testing.assert_allclose(bandit.log_softmax(logits), logs, rtol=1e-12, atol=1e-13)
    close(bandit.entropy(logits), entropy)


def torch_gradient(function, logits):
    z = torch.tensor(logits, dtype=torch.float64, requires_grad=True)
    function(z).backward()
    return z.grad.numpy()


def test_autograd_agrees():
    weights = torch.tensor(REWARDS)
    close(
        bandit.exact_gradient(LOGITS, REWARDS),
        torch_gradient(lambda z: torch.softmax(z, 0) @ weights, LOGITS),
    )
    rows = [torch_gradient(lambda z, a=a: torch.log_softmax(z, 0)[a], LOGITS) for a in range(4)]
    close(bandit.score_matrix(LOGITS), rows)


def test_finite_differences_agree():
    nudged = bandit.finite_differences(lambda z: bandit.expected_reward(z, REWARDS), LOGITS)
    close(bandit.exact_gradient(LOGITS, REWARDS), nudged, tolerance=1e-8)
    rows = [bandit.finite_differences(lambda z, a=a: bandit.log_softmax(z)[a], LOGITS) for a in range(4)]
    close(bandit.score_matrix(LOGITS), rows, tolerance=1e-8)
    # The gradient of the entropy is the policy gradient of -log pi: the forgotten term is zero.
    by_formula = bandit.exact_gradient(LOGITS, -bandit.log_softmax(LOGITS))
    close(bandit.finite_differences(bandit.entropy, LOGITS), by_formula, tolerance=1e-8)


def test_finite_differences_of_functions_with_known_gradients():
    x = np.array([0.3, -1.2, 2.0])
    close(bandit.finite_differences(lambda z: float(z @ z), x), 2 * x, tolerance=1e-8)
    close(bandit.finite_differences(lambda z: np.sin(z).sum(), x), np.cos(x), tolerance=1e-8)
    # Exact for a parabola whatever the step, and wrong by step^2 for a cubic: central differences.
    close(bandit.finite_differences(lambda z: float(z @ z), x, step=0.5), 2 * x)
    close(bandit.finite_differences(lambda z: (z**3).sum(), x, step=0.1), 3 * x**2 + 0.01)


def double_sum(logits, weights):
    """The covariance as it is written on paper: E[g g^T] - E[g] E[g]^T, entry by entry."""
    p = bandit.softmax(logits)
    n = p.size
    score = [[(a == k) - p[k] for k in range(n)] for a in range(n)]
    mean = [sum(p[a] * weights[a] * score[a][k] for a in range(n)) for k in range(n)]
    covariance = np.empty((n, n))
    for j, k in itertools.product(range(n), repeat=2):
        second = sum(p[a] * weights[a] ** 2 * score[a][j] * score[a][k] for a in range(n))
        covariance[j, k] = second - mean[j] * mean[k]
    return covariance


@pytest.mark.parametrize("weights", [REWARDS, REWARDS - 0.4, [3.0, -1.0, 0.5, 2.0], np.ones(4)])
def test_covariance_is_the_double_sum(weights):
    expected = double_sum(LOGITS, np.asarray(weights))
    close(bandit.gradient_covariance(LOGITS, weights), expected, scale=10.0)
    close(bandit.covariance_trace(LOGITS, weights), np.trace(expected), scale=10.0)


def test_trace_agrees_with_sampling():
    rng = np.random.default_rng(0)
    draws = rng.choice(4, size=200_000, p=bandit.softmax(LOGITS))
    estimates = (REWARDS[:, None] * bandit.score_matrix(LOGITS))[draws]
    squares = ((estimates - bandit.exact_gradient(LOGITS, REWARDS)) ** 2).sum(axis=1)
    error = squares.std() / np.sqrt(draws.size)
    assert 0 < error < 0.001
    assert abs(squares.mean() - bandit.covariance_trace(LOGITS, REWARDS)) < 4 * error


def test_with_unit_weights_the_covariance_is_the_fisher_matrix():
    p = bandit.softmax(LOGITS)
    close(bandit.gradient_covariance(LOGITS, np.ones(4)), np.diag(p) - np.outer(p, p))
    hessian = torch.autograd.functional.hessian(lambda z: torch.logsumexp(z, 0), torch.tensor(LOGITS))
    close(bandit.gradient_covariance(LOGITS, np.ones(4)), hessian.numpy())


@pytest.mark.parametrize("rewards", [REWARDS, [3.0, -1.0, 0.5, 2.0]])
def test_the_optimal_baseline_is_found_by_brute_force(rewards):
    rewards = np.asarray(rewards)
    grid = np.linspace(-2, 4, 6001)
    traces = [bandit.covariance_trace(LOGITS, rewards - b) for b in grid]
    assert abs(grid[np.argmin(traces)] - bandit.optimal_baseline(LOGITS, rewards)) <= 0.0005 + 1e-9
    diagonals = [np.diag(bandit.gradient_covariance(LOGITS, rewards - b)) for b in grid]
    by_search = grid[np.argmin(diagonals, axis=0)]
    close(bandit.optimal_baseline(LOGITS, rewards, per_coordinate=True), by_search, tolerance=0.0005 + 1e-9)


# ---- Edges


def test_a_single_action_has_nothing_to_learn():
    assert bandit.softmax([3.0]).tolist() == [1.0]
    assert bandit.log_softmax([3.0]).tolist() == [0.0]
    assert bandit.score_matrix([3.0]).tolist() == [[0.0]]
    assert bandit.expected_reward([3.0], [5.0]) == 5.0
    assert bandit.exact_gradient([3.0], [5.0]).tolist() == [0.0]
    assert bandit.gradient_covariance([3.0], [5.0]).tolist() == [[0.0]]
    assert bandit.covariance_trace([3.0], [5.0]) == 0.0
    assert bandit.optimal_baseline([3.0], [5.0]) == 5.0
    assert bandit.optimal_baseline([3.0], [5.0], per_coordinate=True).tolist() == [5.0]
    assert str(bandit.entropy([3.0])) == "0.0"


@pytest.mark.parametrize("logits", [[1e4, 0.0, -1e4], [0.0, -np.inf, -np.inf]])
def test_a_saturated_policy(logits):
    assert bandit.softmax(logits).tolist() == [1.0, 0.0, 0.0]
    assert bandit.exact_gradient(logits, [2.0, 3.0, 4.0]).tolist() == [0.0, 0.0, 0.0]
    assert bandit.covariance_trace(logits, [2.0, 3.0, 4.0]) == 0.0
    assert bandit.optimal_baseline(logits, [2.0, 3.0, 4.0]) == 2.0
    assert str(bandit.entropy(logits)) == "0.0"


def test_an_impossible_action_is_as_if_it_were_not_there():
    logits, rewards = np.append(LOGITS, -np.inf), np.append(REWARDS, 1e6)
    assert bandit.expected_reward(logits, rewards) == pytest.approx(bandit.expected_reward(LOGITS, REWARDS))
    close(bandit.exact_gradient(logits, rewards), np.append(bandit.exact_gradient(LOGITS, REWARDS), 0))
    close(bandit.covariance_trace(logits, rewards), bandit.covariance_trace(LOGITS, REWARDS))
    close(bandit.optimal_baseline(logits, rewards), bandit.optimal_baseline(LOGITS, REWARDS))
    close(bandit.entropy(logits), bandit.entropy(LOGITS))


def results(logits, rewards):
    """Every function of the room, as one flat vector."""
    values = [f(logits) for f in WITH_LOGITS] + [f(logits, rewards) for f in WITH_REWARDS + WITH_WEIGHTS]
    return np.concatenate([np.ravel(np.asarray(value)) for value in values])


@pytest.mark.parametrize(
    "logits, rewards",
    [
        ([1, 0, -2], [True, False, True]),
        ((1, 0, -2), (1, 0, 1)),
        (np.array([1, 0, -2], np.int8), np.array([1, 0, 1], np.uint8)),
        (np.array([1, 0, -2], np.float32), np.array([1, 0, 1], np.float16)),
        (torch.tensor([1.0, 0.0, -2.0]), torch.tensor([1, 0, 1])),
    ],
)
def test_whatever_holds_numbers_is_promoted(logits, rewards):
    assert results(logits, rewards).tolist() == results([1.0, 0.0, -2.0], [1.0, 0.0, 1.0]).tolist()
    for function in (bandit.softmax, bandit.log_softmax, bandit.score_matrix):
        assert function(logits).dtype == np.float64
    assert type(bandit.expected_reward(logits, rewards)) is float


def test_large_integers_do_not_wrap_around():
    weights = np.array([100, -100], np.int8)
    close(bandit.covariance_trace([0, 0], weights), bandit.covariance_trace([0, 0], [100.0, -100.0]))


def test_what_goes_in_is_not_changed():
    logits, rewards = LOGITS.copy(), REWARDS.copy()
    logits.flags.writeable = rewards.flags.writeable = False
    results(logits, rewards)
    bandit.optimal_baseline(logits, rewards, per_coordinate=True)
    bandit.finite_differences(lambda z: z.fill(0) or 0.0, logits)
    assert (logits == LOGITS).all() and (rewards == REWARDS).all()
    out = bandit.log_softmax(LOGITS)
    out[:] = 0  # nor is a result a window on the input
    assert LOGITS[0] == 0.4
