"""Weights and the moments of the estimate: loops over paths, sampled paths, and what is often claimed."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_mdp import SEARCH, all_paths, as_path, discounted, earned, problems, q_value, softmax, value

from pglab import mdp, returns

pytestmark = pytest.mark.filterwarnings("error")

# ---- The same by hand


def weights_by_hand(problem, path, horizon, kind, gamma, from_start):
    """One number for each step that was taken."""
    rewards, result = [earned(problem, *step) for step in path], []
    for t, (s, a, _) in enumerate(path):
        to_go = sum(gamma ** (k - t) * rewards[k] for k in range(t, len(path)))
        v, q = value(problem, s, horizon - t, gamma), q_value(problem, s, a, horizon - t, gamma)
        whole = discounted(problem, path, gamma)
        usual = {"return": whole, "reward_to_go": to_go, "baselined": to_go - v, "q": q, "advantage": q - v}
        result.append(usual[kind] * gamma**t if from_start and kind != "return" else usual[kind])
    return result


def estimate_by_hand(problem, path, weight):
    estimate = np.zeros((len(problem.start), len(problem.logits[0])))
    for (s, a, _), w in zip(path, weight, strict=True):
        for b, p in enumerate(softmax(problem.logits[s])):
            estimate[s, b] += w * ((a == b) - p)
    return estimate


def moments_by_hand(problem, horizon, weight):
    """Mean and covariance of the estimate; ``weight`` is a function of the path."""
    singles = [
        (p, estimate_by_hand(problem, path, weight(path)).ravel())
        for path, p in all_paths(problem, horizon).items()
    ]
    mean = sum(p * g for p, g in singles)
    return mean, sum(p * np.outer(g - mean, g - mean) for p, g in singles)


# ---- Every weight by hand


@pytest.mark.parametrize("kind", mdp.WEIGHTS)
@given(problems(), st.sampled_from([0.0, 0.5, 1.0]), st.booleans())
def test_every_weight_and_its_moments_by_hand(kind, case, gamma, from_start):
    problem, horizon = case
    model, wanted = problem.model(horizon), {}
    for path in all_paths(problem, horizon):
        wanted[path] = weights_by_hand(problem, path, horizon, kind, gamma, from_start)
    paths = mdp.trajectories(model, problem.logits)
    weight = mdp.weights(model, problem.logits, kind, gamma, from_start)
    assert weight.shape == paths.actions.shape
    for i, row in enumerate(zip(paths.states, paths.actions, paths.mask, strict=True)):
        own = wanted[as_path(*row)]
        np.testing.assert_allclose(weight[i], own + [0.0] * (horizon - len(own)), atol=1e-12)
    mean, covariance = moments_by_hand(problem, horizon, wanted.get)
    options = (model, problem.logits, kind, gamma, from_start)
    np.testing.assert_allclose(mdp.exact_gradient(*options), mean.reshape(-1, model.actions), atol=1e-12)
    np.testing.assert_allclose(mdp.covariance(*options), covariance, atol=1e-12)
    assert mdp.covariance_trace(*options) == pytest.approx(np.trace(covariance), abs=1e-12)


@given(problems(), st.sampled_from([0.0, 0.5, 0.9, 1.0]))
def test_all_weights_have_the_gradient_as_their_mean(case, gamma):
    problem, horizon = case
    model = problem.model(horizon)
    gradient = mdp.objective_gradient(model, problem.logits, gamma)
    for kind in mdp.WEIGHTS:
        mean = mdp.exact_gradient(model, problem.logits, kind, gamma, discount_from_start=True)
        np.testing.assert_allclose(mean, gradient, atol=1e-12)
        if gamma == 1 or kind == "return":
            mean = mdp.exact_gradient(model, problem.logits, kind, gamma)
            np.testing.assert_allclose(mean, gradient, atol=1e-12)


@given(problems(), st.sampled_from([0.0, 0.4, 1.0]))
def test_gae_with_the_exact_values_has_the_gradient_as_its_mean_at_any_lambda(case, lam):
    problem, horizon = case
    model = problem.model(horizon)
    v = mdp.values(model, problem.logits).v

    def weight(paths):
        critic = v[np.arange(horizon), paths.states[:, :-1]]
        return returns.gae(paths.rewards, critic, 1.0, lam, 0.0, paths.mask)

    mean = mdp.exact_gradient(model, problem.logits, weight)
    np.testing.assert_allclose(mean, mdp.objective_gradient(model, problem.logits), atol=1e-12)


@given(problems())
def test_a_truncated_trajectory_needs_the_value_of_the_state_it_stopped_in(case):
    problem, horizon = case
    model, gamma = problem.model(horizon), 0.5
    cut = mdp.trajectories(model, problem.logits, steps=1)
    exact = mdp.values(model, problem.logits, gamma)
    first = exact.v[0, cut.states[:, :1]]
    td = returns.td_errors(cut.rewards, first, gamma, exact.v[1, cut.states[:, 1]], cut.mask)
    now = exact.advantage[0, cut.states[:, :1], cut.actions]
    means = [mdp.moments(cut, weight)[0] for weight in (td, now)]
    np.testing.assert_allclose(*means, atol=1e-12)  # V is 0 in a terminal state: no case apart


@pytest.mark.parametrize("kind", mdp.WEIGHTS)
def test_sampled_trajectories_agree_within_four_standard_errors(kind):
    rng, n, gamma = np.random.default_rng(4), 20_000, 0.9
    estimates, known = np.zeros((n, 10)), {}
    for i in range(n):
        path, s = [], 0
        while len(path) < 3 and not SEARCH.terminal[s]:
            a = int(rng.random() > softmax(SEARCH.logits[s])[0])
            after = int(np.searchsorted(np.cumsum(SEARCH.transition[s][a]), rng.random()))
            path.append((s, a, after))
            s = after
        path = tuple(path)
        if path not in known:
            weight = weights_by_hand(SEARCH, path, 3, kind, gamma, False)
            known[path] = estimate_by_hand(SEARCH, path, weight).ravel()
        estimates[i] = known[path]
    options = (mdp.search_agent(), mdp.LOGITS, kind, gamma)
    mean, error = estimates.mean(axis=0), estimates.std(axis=0, ddof=1) / math.sqrt(n)
    assert (abs(mean - mdp.exact_gradient(*options).ravel()) <= 4 * error).all()
    squares = ((estimates - mean) ** 2).sum(axis=1)
    trace = mdp.covariance_trace(*options)
    assert abs(squares.mean() - trace) <= 4 * squares.std() / math.sqrt(n) < trace / 10


# ---- What is often claimed, and what exact computation says

HALF = [[0.0, 0.0], [0.0, 0.0]]


def steps(*rewards):
    """One step after the other; rewards[t] is what the two actions of step t earn. logits are (T, 2)."""
    n = len(rewards)
    following = np.zeros((n, 2, n))
    for t in range(n):
        following[t, :, min(t + 1, n - 1)] = 1
    return mdp.TabularMDP([1, *[0] * (n - 1)], following, rewards, n)


def one_logit(moments):
    """What belongs to a policy with one logit for each step: that of action 1."""
    mean, covariance = moments
    return mean[:, 1], covariance[1::2, 1::2]


def test_below_gamma_1_the_rows_of_the_table_disagree():  # claim 12
    model = steps([0, 1], [0, 1])
    assert mdp.exact_gradient(model, HALF, "return", 0.5)[:, 1] == pytest.approx([1 / 4, 1 / 8])
    for kind in mdp.WEIGHTS[1:]:
        assert mdp.exact_gradient(model, HALF, kind, 0.5)[:, 1] == pytest.approx([1 / 4, 1 / 4])
    assert mdp.objective_gradient(model, HALF, 0.5)[:, 1] == pytest.approx([1 / 4, 1 / 8])


def test_usual_reward_to_go_can_point_downhill():  # claim 13: both steps share their logit
    model = steps([0, 0.6], [0, -1])
    assert mdp.objective_gradient(model, HALF, 0.5)[:, 1].sum() == pytest.approx(0.025)
    assert mdp.exact_gradient(model, HALF, "reward_to_go", 0.5)[:, 1].sum() == pytest.approx(-0.1)


def test_reward_to_go_can_be_noisier_than_the_whole_return():  # claim 14
    model = steps([-1, -1], [3 / 4, 1])
    for kind, trace in (("return", 3 / 256), ("reward_to_go", 51 / 256)):
        paths = mdp.trajectories(model, HALF)
        mean, covariance = one_logit(mdp.moments(paths, mdp.weights(model, HALF, kind)))
        assert mean == pytest.approx([0, 1 / 16]) and np.trace(covariance) == pytest.approx(trace)
    silent = steps([0, 0], [3 / 4, 1])  # and without the first reward the two are the same
    traces = [mdp.covariance_trace(silent, HALF, kind) for kind in ("return", "reward_to_go")]
    assert traces[0] == pytest.approx(traces[1])


def bandit(logits, rewards):
    return mdp.TabularMDP([1], np.ones((1, len(logits), 1)), [rewards], 1), [logits]


def with_baseline(b):
    return lambda paths: paths.rewards - b


def test_q_is_noisier_than_reward_to_go_with_a_baseline():  # claim 15
    trace = partial(mdp.covariance_trace, *bandit([0.4, -0.2, 1.1, 0.0], [1, 0, 0, 1]))
    assert trace("q") == pytest.approx(0.2931831, abs=1e-7)
    assert trace("baselined") == pytest.approx(0.1137808, abs=1e-7)


def test_the_advantage_can_be_far_noisier_than_no_baseline():  # claim 16
    trace = partial(mdp.covariance_trace, *bandit(np.log([0.9, 0.1]), [1, 0]))
    assert trace("q") == pytest.approx(0.0018) and trace("advantage") == pytest.approx(0.1152)
    assert trace(with_baseline(0.1)) == pytest.approx(0, abs=1e-15)


def test_the_value_can_be_the_worst_of_three_baselines():  # claim 17
    prompts = [bandit(np.log([p, 1 - p]), [1, 0]) for p in (0.05, 0.95)]
    for weight, trace in (
        (with_baseline(0), 0.0429875),
        (with_baseline(0.5), 0.0192375),
        ("advantage", 0.07695),
    ):
        traces = [mdp.covariance_trace(*prompt, weight) for prompt in prompts]
        assert np.mean(traces) == pytest.approx(trace)


def test_the_mean_of_ones_own_rewards_is_no_baseline():  # claim 18
    model = steps([0, 1], [0, 1])

    def less_its_mean(paths):
        return returns.reward_to_go(paths.rewards) - paths.rewards.mean(axis=1, keepdims=True)

    assert mdp.exact_gradient(model, HALF, less_its_mean)[:, 1] == pytest.approx([1 / 8, 1 / 8])
    assert mdp.objective_gradient(model, HALF)[:, 1] == pytest.approx([1 / 4, 1 / 4])


def test_a_lower_gamma_can_raise_the_variance():  # claim 19: r_0 = X, r_1 = -X, X = -1 or 1
    following = np.zeros((3, 1, 3))
    following[0, 0, [1, 2]], following[1, 0, 1], following[2, 0, 2] = 0.5, 1, 1
    reward = [[[0, 1, -1]], [[-1, -1, -1]], [[1, 1, 1]]]
    model = mdp.TabularMDP([1, 0, 0], following, reward, 2)
    paths = mdp.trajectories(model, np.zeros((3, 1)))
    for gamma, variance in ((1, 0), (0.5, 0.25)):
        total = returns.discounted_return(paths.rewards, gamma)
        assert paths.probability @ (total - paths.probability @ total) ** 2 == pytest.approx(variance)
