"""Every trajectory, V, Q, the objective and its gradient against a plain recursion over dictionaries."""

import math
from typing import NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pglab import mdp

pytestmark = pytest.mark.filterwarnings("error")

# ---- The same by hand. A problem is five nested lists and knows nothing of TabularMDP.


class Problem(NamedTuple):
    start: list
    transition: list  # [s][a][s']; whatever stands in the rows of a terminal state is not used
    reward: list  # [s][a] or [s][a][s']
    terminal: list
    logits: list

    def model(self, horizon):
        return mdp.TabularMDP(self.start, self.transition, self.reward, horizon, self.terminal)


def softmax(row):
    odds = [math.exp(x) for x in row]
    return [x / sum(odds) for x in odds]


def earned(problem, s, a, after):
    reward = problem.reward[s][a]
    return reward[after] if isinstance(reward, list) else reward


def paths_from(problem, s, steps):
    """{((s, a, s'), ...): probability} of every path from s; it ends in a terminal state or after steps."""
    if steps == 0 or problem.terminal[s]:
        return {(): 1.0}
    paths = {}
    for a, chosen in enumerate(softmax(problem.logits[s])):
        for after, led in enumerate(problem.transition[s][a]):
            if led > 0:
                for rest, p in paths_from(problem, after, steps - 1).items():
                    paths[((s, a, after), *rest)] = chosen * led * p
    return paths


def all_paths(problem, steps):
    return {
        path: start * p
        for s, start in enumerate(problem.start)
        if start > 0
        for path, p in paths_from(problem, s, steps).items()
    }


def discounted(problem, path, gamma):
    return sum(gamma**t * earned(problem, *step) for t, step in enumerate(path))


def value(problem, s, steps, gamma):
    return sum(p * discounted(problem, path, gamma) for path, p in paths_from(problem, s, steps).items())


def q_value(problem, s, a, steps, gamma):
    """What is earned from s, given that a was the first action."""
    if problem.terminal[s]:
        return 0.0
    return sum(
        p * (earned(problem, s, a, after) + gamma * value(problem, after, steps - 1, gamma))
        for after, p in enumerate(problem.transition[s][a])
    )


def earnings(problem, steps, gamma):
    return sum(p * discounted(problem, path, gamma) for path, p in all_paths(problem, steps).items())


@st.composite
def problems(draw, minus_inf=True):
    """(problem, horizon): up to 3 states, 2 actions, 3 steps, some of it deterministic, some over early."""
    n, actions, horizon = draw(st.integers(1, 3)), draw(st.integers(1, 2)), draw(st.integers(1, 3))
    terminal = [False, *draw(st.lists(st.booleans(), min_size=n - 1, max_size=n - 1))]
    quarter = st.integers(-8, 8).map(lambda k: k / 4)

    def table(entries, *shape):
        return entries if not shape else [table(entries, *shape[1:]) for _ in range(shape[0])]

    def drawn(nested):
        return [drawn(x) for x in nested] if isinstance(nested, list) else draw(nested)

    def distribution(allowed):
        odds = [draw(st.integers(0, 3)) if ok else 0 for ok in allowed]
        odds[0] += not any(odds)
        return [x / sum(odds) for x in odds]

    junk = [math.nan] * n
    transition = [[junk if over else distribution([True] * n) for _ in range(actions)] for over in terminal]
    reward = drawn(table(quarter, n, actions, n) if draw(st.booleans()) else table(quarter, n, actions))
    logits = drawn(table(quarter, n, actions))
    if minus_inf and actions == 2 and draw(st.booleans()):
        logits[0][draw(st.integers(0, 1))] = -math.inf
    problem = Problem(distribution([not over for over in terminal]), transition, reward, terminal, logits)
    return problem, horizon


SEARCH = Problem(
    [1, 0, 0, 0, 0],
    [
        [[0, 0.6, 0.4, 0, 0], [0, 0, 0, 0.3, 0.7]],
        [[0, 0.8, 0.2, 0, 0], [0, 0, 0, 0.9, 0.1]],
        [[0, 0.5, 0.5, 0, 0], [0, 0, 0, 0.2, 0.8]],
        [[0] * 5] * 2,
        [[0] * 5] * 2,
    ],
    [[[-0.05] * 5, [0, 0, 0, 1, 0]]] * 3 + [[[0] * 5] * 2] * 2,
    [False, False, False, True, True],
    [list(row) for row in mdp.LOGITS],
)


def as_path(states, actions, mask):
    """One row of Trajectories in the words of the recursion."""
    end = sum(mask)
    return tuple((int(states[t]), int(actions[t]), int(states[t + 1])) for t in range(end))


# ---- Trajectories


@given(problems(), st.integers(0, 2))
def test_every_trajectory_by_hand(case, fewer):
    problem, horizon = case
    steps = max(1, horizon - fewer)
    paths = mdp.trajectories(problem.model(horizon), problem.logits, steps)
    by_hand = all_paths(problem, steps)
    names = [as_path(*row) for row in zip(paths.states, paths.actions, paths.mask, strict=True)]
    assert len(names) == len(set(names)) and set(names) == set(by_hand)
    order = [list(row) for row in np.concatenate([paths.states[:, :1], interleaved(paths)], axis=1)]
    assert order == sorted(order)
    np.testing.assert_allclose(paths.probability, [by_hand[name] for name in names], atol=1e-14)
    np.testing.assert_allclose(paths.probability.sum(), 1, rtol=1e-12)
    assert (paths.probability == paths.dynamics * paths.policy).all() and (paths.dynamics > 0).all()
    for i, name in enumerate(names):
        rewards = [earned(problem, *step) for step in name] + [0.0] * (steps - len(name))
        assert paths.rewards[i].tolist() == rewards and paths.mask[i].tolist() == [
            t < len(name) for t in range(steps)
        ]
        assert not paths.actions[i, len(name) :].any() and not paths.scores[i, len(name) :].any()
        for t, (s, a, _) in enumerate(name):
            score = np.zeros((len(problem.start), len(problem.logits[0])))
            score[s] = [(a == b) - p for b, p in enumerate(softmax(problem.logits[s]))]
            np.testing.assert_allclose(paths.scores[i, t], score, atol=1e-15)


def interleaved(paths):
    """(N, 2 T): a_0, s_1, a_1, s_2, ..."""
    pairs = np.stack([paths.actions, paths.states[:, 1:]], axis=2)
    return pairs.reshape(len(pairs), -1)


@given(problems())
def test_a_truncated_trajectory_has_the_probability_of_all_that_it_could_become(case):
    problem, horizon = case
    whole = mdp.trajectories(problem.model(horizon), problem.logits)
    for steps in range(1, horizon):
        cut = mdp.trajectories(problem.model(horizon), problem.logits, steps=steps)
        become = {as_path(*row): 0.0 for row in zip(cut.states, cut.actions, cut.mask, strict=True)}
        for *row, p in zip(whole.states, whole.actions, whole.mask, whole.probability, strict=True):
            become[as_path(*row)[:steps]] += p
        np.testing.assert_allclose(cut.probability, list(become.values()), atol=1e-14)


def test_scores_are_the_slopes_of_log_p():
    model, logits, nudge = SEARCH.model(3), np.array(SEARCH.logits), 1e-5
    paths = mdp.trajectories(model, logits)
    for s, a in np.ndindex(logits.shape):
        up, down = logits.copy(), logits.copy()
        up[s, a] += nudge
        down[s, a] -= nudge
        ends = [np.log(mdp.trajectories(model, z).probability) for z in (up, down)]
        np.testing.assert_allclose(
            paths.scores.sum(axis=1)[:, s, a], (ends[0] - ends[1]) / (2 * nudge), atol=1e-8
        )


# ---- Values, objective, occupancy, gradient


@given(problems(), st.sampled_from([0.0, 0.3, 0.9, 1.0]))
def test_dynamic_programming_agrees_with_the_recursion(case, gamma):
    problem, horizon = case
    model = problem.model(horizon)
    exact = mdp.values(model, problem.logits, gamma)
    n, actions = len(problem.start), len(problem.logits[0])
    v = [[value(problem, s, horizon - t, gamma) for s in range(n)] for t in range(horizon + 1)]
    q = [
        [[q_value(problem, s, a, horizon - t, gamma) for a in range(actions)] for s in range(n)]
        for t in range(horizon)
    ]
    np.testing.assert_allclose(exact.v, v, atol=1e-12)
    np.testing.assert_allclose(exact.q, q, atol=1e-12)
    np.testing.assert_allclose(exact.advantage, np.array(q) - np.array(v)[:-1, :, None], atol=1e-12)
    assert mdp.objective(model, problem.logits, gamma) == pytest.approx(
        earnings(problem, horizon, gamma), abs=1e-12
    )


@given(problems())
def test_occupancy_counts_the_paths(case):
    problem, horizon = case
    visits = np.zeros((horizon + 1, len(problem.start)))
    for path, p in all_paths(problem, horizon).items():
        states = [path[0][0], *(after for _, _, after in path)]
        for t in range(horizon + 1):
            visits[t, states[min(t, len(path))]] += p  # who has arrived at the end stays there
    occupancy = mdp.occupancy(problem.model(horizon), problem.logits)
    np.testing.assert_allclose(occupancy, visits, atol=1e-14)
    np.testing.assert_allclose(occupancy.sum(axis=1), 1, rtol=1e-12)


def objective_in_torch(problem, logits, horizon, gamma):
    """The sum over all paths, in torch; autograd does the rest."""
    logp, total = torch.log_softmax(logits, dim=1), 0.0
    for path, p in all_paths(problem, horizon).items():
        led = p / math.prod(softmax(problem.logits[s])[a] for s, a, _ in path)
        total = total + led * sum(logp[s, a] for s, a, _ in path).exp() * discounted(problem, path, gamma)
    return total


@given(problems(minus_inf=False), st.sampled_from([0.0, 0.5, 1.0]))
def test_gradient_by_autograd_through_all_paths(case, gamma):
    problem, horizon = case
    logits = torch.tensor(problem.logits, dtype=torch.float64, requires_grad=True)
    objective_in_torch(problem, logits, horizon, gamma).backward()
    gradient = mdp.objective_gradient(problem.model(horizon), problem.logits, gamma)
    np.testing.assert_allclose(gradient, logits.grad, atol=1e-12)


@given(problems(), st.sampled_from([0.0, 0.5, 1.0]))
def test_gradient_by_finite_differences(case, gamma):
    problem, horizon = case
    gradient = mdp.objective_gradient(problem.model(horizon), problem.logits, gamma)
    for s, row in enumerate(problem.logits):
        for a, logit in enumerate(row):
            ends = []
            for nudge in (1e-5, -1e-5):
                moved = [list(r) for r in problem.logits]
                moved[s][a] = logit + nudge
                ends.append(earnings(problem._replace(logits=moved), horizon, gamma))
            assert gradient[s, a] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-8)


# ---- The running example


@pytest.mark.parametrize("horizon", [1, 3, 5])
def test_the_search_agent_is_what_its_drawing_says(horizon):
    agent, logits = mdp.search_agent(horizon), mdp.LOGITS
    assert len(mdp.STATES) == agent.states == 5 and len(mdp.ACTIONS) == agent.actions == 2
    assert mdp.objective(agent, logits) == pytest.approx(earnings(SEARCH, horizon, 1.0), rel=1e-12)
    same = mdp.trajectories(SEARCH.model(horizon), logits)
    for ours, theirs in zip(mdp.trajectories(agent, logits), same, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-15)


def test_a_free_search_is_worth_more_than_a_dear_one():
    worth = [mdp.objective(mdp.search_agent(3, cost), mdp.LOGITS) for cost in (0.0, 0.05, 0.5)]
    searches = sum(
        p * sum(a == 0 for _, a, _ in path) for path, p in all_paths(SEARCH, 3).items()
    )  # each costs as much as the next
    assert worth[0] - worth[1] == pytest.approx(0.05 * searches)
    assert worth[0] - worth[2] == pytest.approx(0.5 * searches)
