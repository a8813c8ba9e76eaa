"""The exact bandit: every formula by a second road, every bad input refused in words."""

import inspect
import itertools
from decimal import Decimal, localcontext

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pglab import bandit

LOGITS = np.array([0.4, -0.2, 1.1, 0.0])  # the running example
REWARDS = np.array([1.0, 0.0, 0.0, 1.0])
SKEWED = np.log([0.9, 0.1])


def close(value, wanted, scale=1.0, tolerance=1e-12):
    """Equal to within ``tolerance`` times the scale of what went in."""
    return np.testing.assert_allclose(value, wanted, rtol=0, atol=tolerance * max(scale, 1e-300))


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


# ---- Properties, over policies and rewards of any size

REWARD = st.floats(-1e6, 1e6)
LOGIT = st.one_of(st.floats(-3, 3), st.floats(-700, 700), st.just(-np.inf))


@st.composite
def problems(draw):
    """(logits, rewards) of one to eight actions, some of them impossible, at least one not."""
    size = draw(st.integers(1, 8))
    logits = draw(st.lists(LOGIT, min_size=size, max_size=size).filter(lambda z: max(z) > -np.inf))
    rewards = draw(st.lists(REWARD, min_size=size, max_size=size))
    return np.array(logits), np.array(rewards)


@given(problems())
def test_probabilities_are_probabilities(problem):
    logits, _ = problem
    p = bandit.softmax(logits)
    close(p.sum(), 1)
    assert (p >= 0).all() and (p[logits == -np.inf] == 0).all()
    with np.errstate(divide="ignore"):
        logs = np.log(p)
    # Subnormal probabilities have fewer digits than their logarithms.
    usual = p > 1e-290
    np.testing.assert_allclose(bandit.log_softmax(logits)[usual], logs[usual], rtol=1e-12, atol=1e-12)
    assert (bandit.log_softmax(logits)[logits == -np.inf] == -np.inf).all()


@given(problems())
def test_the_expected_score_is_zero(problem):
    logits, _ = problem
    scores = bandit.score_matrix(logits)
    close(bandit.softmax(logits) @ scores, 0)
    close(scores.sum(axis=1), 0)


@given(problems())
def test_the_estimate_is_unbiased(problem):
    logits, rewards = problem
    p, scale = bandit.softmax(logits), np.abs(rewards).max()
    explicit = sum(p[a] * rewards[a] * bandit.score_matrix(logits)[a] for a in range(p.size))
    jacobian = np.diag(p) - np.outer(p, p)
    close(bandit.exact_gradient(logits, rewards), explicit, scale)
    close(bandit.exact_gradient(logits, rewards), rewards @ jacobian, scale)
    close(bandit.expected_reward(logits, rewards), sum(p * rewards), scale)


@given(problems())
def test_a_covariance_is_symmetric_and_not_negative(problem):
    logits, rewards = problem
    covariance = bandit.gradient_covariance(logits, rewards)
    scale = np.abs(rewards).max() ** 2
    assert covariance.shape == (logits.size,) * 2 and (covariance == covariance.T).all()
    assert np.linalg.eigvalsh(covariance).min() >= -1e-12 * scale
    close(covariance.sum(axis=0), 0, scale)  # the components of a score add up to zero
    close(bandit.covariance_trace(logits, rewards), np.trace(covariance), scale)
    assert bandit.covariance_trace(logits, rewards) >= 0


@given(problems(), st.randoms(use_true_random=False))
def test_the_order_of_the_actions_does_not_matter(problem, random):
    logits, rewards = problem
    order = list(range(logits.size))
    random.shuffle(order)
    scale = np.abs(rewards).max()
    for function in (bandit.softmax, bandit.log_softmax):
        close(np.exp(function(logits[order])), np.exp(function(logits)[order]))
    close(bandit.score_matrix(logits[order]), bandit.score_matrix(logits)[order][:, order])
    before, after = (logits, rewards), (logits[order], rewards[order])
    close(bandit.exact_gradient(*after), bandit.exact_gradient(*before)[order], scale)
    close(bandit.gradient_covariance(*after), bandit.gradient_covariance(*before)[order][:, order], scale**2)
    close(bandit.covariance_trace(*after), bandit.covariance_trace(*before), scale**2)
    close(bandit.entropy(logits[order]), bandit.entropy(logits))


@given(problems(), st.floats(-100, 100))
def test_adding_a_constant_to_the_logits_changes_nothing(problem, shift):
    logits, rewards = problem
    scale = np.abs(rewards).max()
    close(bandit.softmax(logits + shift), bandit.softmax(logits))
    close(bandit.exact_gradient(logits + shift, rewards), bandit.exact_gradient(logits, rewards), scale)


@given(problems(), REWARD)
def test_a_baseline_leaves_the_gradient_alone(problem, baseline):
    logits, rewards = problem
    scale = np.abs(rewards).max() + abs(baseline)
    close(bandit.exact_gradient(logits, rewards - baseline), bandit.exact_gradient(logits, rewards), scale)


@given(problems(), st.lists(REWARD, min_size=5, max_size=5))
def test_no_baseline_beats_the_optimal_one(problem, baselines):
    logits, rewards = problem
    best = bandit.optimal_baseline(logits, rewards)
    least = bandit.covariance_trace(logits, rewards - best)
    for b in [*baselines, 0.0, bandit.expected_reward(logits, rewards), best * 1.01, best * 0.99]:
        trace = bandit.covariance_trace(logits, rewards - b)
        assert least <= trace + 1e-12 * max(np.abs(rewards).max(), abs(b), 1e-300) ** 2


@given(problems())
def test_optimal_baselines_lie_among_the_rewards(problem):
    logits, rewards = problem
    each = bandit.optimal_baseline(logits, rewards, per_coordinate=True)
    one = bandit.optimal_baseline(logits, rewards)
    assert isinstance(one, float) and each.shape == logits.shape
    possible = rewards[bandit.softmax(logits) > 1e-290]  # subnormal probabilities have lost their digits
    if (bandit.softmax(logits)[logits > -np.inf] > 1e-290).all():
        slack = 1e-9 * np.abs(rewards).max()
        assert possible.min() - slack <= one <= possible.max() + slack
        assert (possible.min() - slack <= each).all() and (each <= possible.max() + slack).all()


@given(problems())
def test_entropy_lies_between_certain_and_undecided(problem):
    logits, _ = problem
    entropy = bandit.entropy(logits)
    assert 0 <= entropy <= np.log(np.isfinite(logits).sum()) + 1e-12
    assert not np.signbit(entropy)


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


WITH_LOGITS = [bandit.log_softmax, bandit.softmax, bandit.score_matrix, bandit.entropy]
WITH_REWARDS = [bandit.expected_reward, bandit.optimal_baseline]
WITH_WEIGHTS = [bandit.exact_gradient, bandit.gradient_covariance, bandit.covariance_trace]


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


# ---- Bad input

RAGGED = [[1.0, 2.0], [3.0]]
BAD = {  # what comes in: what the message must say came in
    "a matrix": (np.zeros((2, 2)), "shape (2, 2)"),
    "a row of a matrix": (np.zeros((1, 4)), "shape (1, 4)"),
    "a scalar": (3.0, "shape ()"),
    "nothing": ([], "empty"),
    "NaN": ([0.0, np.nan, 1.0, 2.0], "[1] is nan"),
    "infinity": ([0.0, 1.0, np.inf, 2.0], "[2] is inf"),
    "a word": ("abcd", "'abcd'"),
    "words": (["a", "b", "c", "d"], "['a', 'b', 'c', 'd']"),
    "numbers as words": (["1", "2", "3", "4"], "['1', '2', '3', '4']"),
    "complex numbers": ([1j, 0.0, 0.0, 0.0], "1j"),
    "None": (None, "None"),
    "None among numbers": ([None, 1.0, 2.0, 3.0], "None"),
    "a ragged list": (RAGGED, "ragged"),
    "a tensor that requires grad": (torch.zeros(4, requires_grad=True), "requires grad"),
    "a tensor of bfloat16": (torch.zeros(4, dtype=torch.bfloat16), "BFloat16"),
}
BAD_LOGITS = BAD | {"all impossible": ([-np.inf] * 4, "all -inf")}
BAD_WEIGHTS = BAD | {
    "minus infinity": ([0.0, -np.inf, 1.0, 2.0], "[1] is -inf"),
    "too few": ([1.0, 2.0, 3.0], "3 entries; it must have 4"),
    "one for all": ([1.0], "1 entries; it must have 4"),  # NumPy would broadcast it
    "too many": ([1.0] * 5, "5 entries; it must have 4"),
}
TABLE = [
    *[(f, 0, "logits", BAD_LOGITS) for f in WITH_LOGITS + WITH_REWARDS + WITH_WEIGHTS],
    *[(f, 1, "rewards", BAD_WEIGHTS) for f in WITH_REWARDS],
    *[(f, 1, "weights", BAD_WEIGHTS) for f in WITH_WEIGHTS],
]
ROWS = [
    pytest.param(function, place, name, *bad, id=f"{function.__name__}-{name}-{what}")
    for function, place, name, bads in TABLE
    for what, bad in bads.items()
]


def refuses(call, name, got):
    """A ValueError that names the argument, says what it got, and what it wants."""
    with pytest.raises(ValueError) as caught:
        call()
    message = str(caught.value)
    assert message.startswith(name), message
    assert got in message, message
    assert "must" in message and message.endswith("."), message


@pytest.mark.parametrize("function, place, name, value, got", ROWS)
def test_bad_input_is_refused(function, place, name, value, got):
    arguments = [LOGITS] if function in WITH_LOGITS else [LOGITS, REWARDS]
    arguments[place] = value
    refuses(lambda: function(*arguments), name, got)


@pytest.mark.parametrize("value, got", [*BAD.values(), ([0.0, -np.inf], "[1] is -inf")], ids=str)
def test_finite_differences_refuses_bad_logits(value, got):
    refuses(lambda: bandit.finite_differences(np.sum, value), "logits", got)


@pytest.mark.parametrize(
    "step, got", [(0, "0"), (-1e-5, "-1e-05"), (np.nan, "nan"), ("x", "'x'"), ([1.0], "(1,)")]
)
def test_finite_differences_refuses_bad_steps(step, got):
    refuses(lambda: bandit.finite_differences(np.sum, LOGITS, step), "step", got)


@pytest.mark.parametrize(
    "objective, got",
    [
        (3.0, "3.0"),
        (None, "None"),
        (lambda z: z, "shape (4,)"),
        (lambda z: np.nan, "nan"),
        (lambda z: None, "None"),
        (lambda z: "J", "'J'"),
    ],
)
def test_finite_differences_refuses_bad_objectives(objective, got):
    refuses(lambda: bandit.finite_differences(objective, LOGITS), "objective", got)


def test_every_public_function_is_tested_with_bad_input():
    functions = {
        f for name, f in inspect.getmembers(bandit, inspect.isfunction)
        if f.__module__ == "pglab.bandit" and not name.startswith("_")
    }  # fmt: skip
    assert functions == {*WITH_LOGITS, *WITH_REWARDS, *WITH_WEIGHTS, bandit.finite_differences}
