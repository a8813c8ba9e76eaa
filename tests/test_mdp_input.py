"""Bad input to the rooms of the mdp, each with its sentence; edges; nothing is changed or shared."""

import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from refusals import check
from test_mdp import SEARCH

from pglab import mdp

pytestmark = pytest.mark.filterwarnings("error")

START, MOVE, PAY = [1, 0], [[[0, 1], [0.5, 0.5]], [[1, 0], [0, 1]]], [[1, 2], [3, 4]]
LOGITS = [[0.0, 1.0], [2.0, 0.0]]
MODEL = mdp.TabularMDP(START, MOVE, PAY, 2)
PATHS = mdp.trajectories(MODEL, LOGITS)


def model(start=START, transition=MOVE, reward=PAY, horizon=2, terminal=None):
    return mdp.TabularMDP(start, transition, reward, horizon, terminal)


def moved(row):
    return [[[0, 1], row], MOVE[1]]


BAD_MODELS = {
    "start sums to 0.9": ({"start": [0.5, 0.4]}, "start sums to 0.9, its least entry is 0.4; probabilities"),
    "start, negative": ({"start": [1.5, -0.5]}, "start sums to 1, its least entry is -0.5; probabilities"),
    "start, NaN": ({"start": [np.nan, 1]}, "start[0] is nan; it must be a vector of finite numbers"),
    "start, a table": ({"start": [START]}, "start has shape (1, 2); it must be a vector"),
    "start, empty": ({"start": []}, "start is empty"),
    "a start in the end": (
        {"terminal": [True, False]},
        "start[0] is 1.0, but state 0 is terminal: it must be 0",
    ),
    "a start in the second state": (
        {"start": [0.5, 0.5], "terminal": [False, True]},
        "start[1] is 0.5, but state 1 is terminal: it must be 0",
    ),
    "the other of two ends": (
        {"start": [0, 1], "terminal": [True, True]},
        "start[1] is 1.0, but state 1 is terminal: it must be 0",
    ),
    "terminal, a word": (
        {"terminal": "no"},
        "terminal is 'no'; it must be booleans of shape (2,), True for a state",
    ),
    "transition, a word": (
        {"transition": "on"},
        "transition is 'on'; it must be probabilities of shape (2, A, 2)",
    ),
    "reward, a word": (
        {"reward": "much"},
        "reward is 'much'; it must be finite numbers of shape (2, 2), or (2, 2, 2)",
    ),
    "all terminal": ({"terminal": [True, True]}, "start[0] is 1.0, but state 0 is terminal: it must be 0"),
    "a row of 1.1": (
        {"transition": moved([0.5, 0.6])},
        "transition[0, 1] sums to 1.1, its least entry is 0.5",
    ),
    "a negative row": (
        {"transition": moved([1.5, -0.5])},
        "transition[0, 1] sums to 1, its least entry is -0.5",
    ),
    "a row of NaN": ({"transition": moved([np.nan, 1])}, "transition holds NaN or infinity; it must be prob"),
    "a row of infinity": ({"transition": moved([np.inf, 1])}, "transition holds NaN or infinity; it must be"),
    "three states": ({"transition": np.ones((3, 2, 3)) / 3}, "transition has shape (3, 2, 3); it must be"),
    "three next states": (
        {"transition": np.ones((2, 2, 3)) / 3},
        "transition has shape (2, 2, 3); it must be",
    ),
    "no action": ({"transition": np.ones((2, 0, 2))}, "transition has shape (2, 0, 2); it must be"),
    "no next state": ({"transition": np.ones((2, 2))}, "transition has shape (2, 2); it must be"),
    "ragged": ({"transition": [[[1, 0]], [[1]]]}, "transition is a ragged list; it must be"),
    "reward (S,)": (
        {"reward": [1, 2]},
        "reward has shape (2,); it must be finite numbers of shape (2, 2), or",
    ),
    "reward (S, S, A)": ({"reward": np.ones((2, 2, 1))}, "reward has shape (2, 2, 1); it must be"),
    "reward, NaN": ({"reward": [[1, 2], [np.nan, 4]]}, "reward holds NaN or infinity; it must be finite"),
    "reward, infinity": (
        {"reward": [[1, 2], [3, -np.inf]]},
        "reward holds NaN or infinity; it must be finite",
    ),
    "reward, words": ({"reward": [["a", "b"]] * 2}, "reward is [['a', 'b'], ['a', 'b']]; it must be"),
    "horizon 0": ({"horizon": 0}, "horizon is 0; it must be a whole number, at least 1"),
    "horizon 2.5": ({"horizon": 2.5}, "horizon is 2.5; it must be a whole number, at least 1"),
    "horizon infinity": ({"horizon": np.inf}, "horizon is inf; it must be a whole number, at least 1"),
    "horizon, a list": ({"horizon": [2]}, "horizon has shape (1,); it must be a whole number"),
    "terminal of 3": ({"terminal": [0, 0, 1]}, "terminal is [0, 0, 1]; it must be booleans of shape (2,)"),
    "terminal 0.5": ({"terminal": [0, 0.5]}, "terminal is [0, 0.5]; it must be booleans of shape (2,)"),
    "terminal NaN": ({"terminal": [0, np.nan]}, "terminal is [0, nan]; it must be booleans of shape (2,)"),
}


@pytest.mark.parametrize("change, message", BAD_MODELS.values(), ids=BAD_MODELS)
def test_bad_models_are_refused(change, message):
    check(lambda: model(**change), message)


BAD_LOGITS = {
    "one row": ([0.0, 1.0], "policy_logits has shape (2,); it must be one logit for each state and action"),
    "three states": (np.zeros((3, 2)), "policy_logits has shape (3, 2); it must be"),
    "transposed": (np.zeros((2, 1)), "policy_logits has shape (2, 1); it must be"),
    "NaN": ([[0, 1], [np.nan, 0]], "policy_logits[1, 0] is nan; it must be finite, or -inf"),
    "+inf": ([[0, np.inf], [0, 0]], "policy_logits[0, 1] is inf; it must be finite, or -inf"),
    "no action": ([[0, 1], [-np.inf, -np.inf]], "policy_logits[1] is -inf throughout; some action must"),
    "words": ([["a", "b"]] * 2, "policy_logits is [['a', 'b'], ['a', 'b']]; it must be one logit"),
}
OF_LOGITS = {
    "trajectories": mdp.trajectories,
    "values": mdp.values,
    "objective": mdp.objective,
    "objective_gradient": mdp.objective_gradient,
    "occupancy": mdp.occupancy,
    "weights": lambda m, z: mdp.weights(m, z, "q"),
    "exact_gradient": lambda m, z: mdp.exact_gradient(m, z, "q"),
    "covariance": lambda m, z: mdp.covariance(m, z, "q"),
    "covariance_trace": lambda m, z: mdp.covariance_trace(m, z, "q"),
}
OF_GAMMA = {
    "values": mdp.values,
    "objective": mdp.objective,
    "objective_gradient": mdp.objective_gradient,
    **{f"weights {kind}": partial(mdp.weights, kind=kind) for kind in mdp.WEIGHTS},
    "exact_gradient": partial(mdp.exact_gradient, weight="return"),
    "covariance": partial(mdp.covariance, weight="q"),
    "covariance_trace": partial(mdp.covariance_trace, weight="q"),
}


@pytest.mark.parametrize("name", OF_LOGITS)
def test_bad_logits_are_refused(name):
    for logits, message in BAD_LOGITS.values():
        check(lambda logits=logits: OF_LOGITS[name](MODEL, logits), message)


@pytest.mark.parametrize("name", OF_GAMMA)
@pytest.mark.parametrize("gamma", [-0.1, 1.1, np.nan])
def test_a_gamma_outside_0_to_1_is_refused(name, gamma):
    check(lambda: OF_GAMMA[name](MODEL, LOGITS, gamma=gamma), f"gamma is {gamma}; it must be one finite")


def test_bad_weights_are_refused():
    for weight, message in {
        "returns": "kind is 'returns'; it must be one of return, reward_to_go, baselined, q, advantage",
        "": "kind is ''; it must be one of return",
    }.items():
        check(lambda weight=weight: mdp.exact_gradient(MODEL, LOGITS, weight), message)
    shape = PATHS.actions.shape
    bad = [
        (np.ones(shape[0]), f"weight has shape ({shape[0]},); it must be finite numbers of shape {shape}"),
        (np.ones(shape[::-1]), f"weight has shape {shape[::-1]}; it must be"),
        (1.0, "weight has shape (); it must be"),
        (np.where(np.arange(shape[0])[:, None] == 3, np.nan, PATHS.rewards), "weight holds NaN or infinity"),
        (np.full(shape, np.inf), "weight holds NaN or infinity"),
        (None, f"weight is None; it must be finite numbers of shape {shape}, one for each step"),
    ]
    for weight, message in bad:
        for call in (
            lambda w: mdp.estimates(PATHS, w),
            lambda w: mdp.moments(PATHS, w),
            lambda w: mdp.exact_gradient(MODEL, LOGITS, w),
            lambda w: mdp.covariance_trace(MODEL, LOGITS, lambda _: w),
        ):
            check(lambda call=call, weight=weight: call(weight), message)


def test_what_stands_under_a_false_mask_changes_nothing():
    agent = mdp.search_agent()
    paths = mdp.trajectories(agent, mdp.LOGITS)
    junk = np.where(paths.mask, paths.rewards, np.nan)
    assert not paths.mask.all()
    for clean, dirty in zip(mdp.moments(paths, paths.rewards), mdp.moments(paths, junk), strict=True):
        assert (clean == dirty).all()
    assert (mdp.covariance(agent, mdp.LOGITS, junk) == mdp.moments(paths, paths.rewards)[1]).all()


@pytest.mark.parametrize("steps, message", [
    (0, "steps is 0; it must be a whole number, at least 1"),
    (1.5, "steps is 1.5; it must be a whole number, at least 1"),
    (3, "steps is 3; it must be at most the horizon, 2"),
])  # fmt: skip
def test_bad_steps_are_refused(steps, message):
    check(lambda: mdp.trajectories(MODEL, LOGITS, steps), message)


@pytest.mark.parametrize("horizon", [20, 1000, 2000, 10**9])
def test_too_many_trajectories_are_refused_before_any_is_made(horizon):
    """At 2000 steps their number overflows float64; at 10^9 counting them takes too long."""
    with pytest.raises(ValueError, match="trajectories or more, of .* Take a shorter horizon, or fewer"):
        mdp.trajectories(mdp.search_agent(horizon), mdp.LOGITS)
    corridor = mdp.TabularMDP([1], [[[1]]], [[1]], 10**9)  # one path only, but as long
    with pytest.raises(ValueError, match="Take a shorter horizon"):
        mdp.trajectories(corridor, [[0.0]])


@pytest.mark.parametrize("cost", [np.nan, np.inf, [0.05], "dear"])
def test_a_bad_agent_is_refused(cost):
    with pytest.raises(ValueError, match="cost .* it must be one finite number"):
        mdp.search_agent(3, cost)
    with pytest.raises(ValueError, match="horizon is 0; it must be a whole number"):
        mdp.search_agent(0)


def test_a_model_keeps_copies_that_nobody_can_change():
    start, transition, reward = np.array([1.0, 0]), np.array(MOVE, float), np.array(PAY, float)
    terminal = np.array([False, True])
    kept = mdp.TabularMDP(start, transition, reward, 2.0, terminal)
    for array in (start, transition, reward):
        array[:] = 7
    terminal[:] = True
    assert kept.start.tolist() == [1, 0] and kept.transition[0].tolist() == MOVE[0]
    assert kept.reward[0].tolist() == [[1, 1], [2, 2]] and kept.terminal.tolist() == [False, True]
    assert kept.horizon == 2 and type(kept.horizon) is int
    for name in ("start", "transition", "reward", "terminal"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(kept, name)[0] = 0
        with pytest.raises(AttributeError):
            setattr(kept, name, None)


def test_what_comes_out_can_be_changed_without_harm():
    before = mdp.occupancy(MODEL, LOGITS)
    mdp.occupancy(MODEL, LOGITS)[:] = 0
    for array in (*mdp.trajectories(MODEL, LOGITS), *mdp.values(MODEL, LOGITS)):
        array[:] = 0
    assert (mdp.occupancy(MODEL, LOGITS) == before).all()


def test_an_end_that_cannot_be_reached_and_one_that_comes_at_once():
    never = mdp.TabularMDP(START, [[[1, 0]] * 2, [[np.nan] * 2] * 2], PAY, 3, [False, True])
    assert mdp.trajectories(never, LOGITS).mask.all()
    at_once = mdp.TabularMDP(START, [[[0, 1]] * 2, [[np.nan] * 2] * 2], [[1, 2], [np.inf] * 2], 3, [0, 1])
    paths = mdp.trajectories(at_once, LOGITS)
    assert paths.mask.tolist() == [[True, False, False]] * 2 and paths.rewards.sum(axis=1).tolist() == [1, 2]
    assert (mdp.values(at_once, LOGITS).v[:, 1] == 0).all() and (
        mdp.values(at_once, LOGITS).q[:, 1] == 0
    ).all()


def test_impossible_actions_are_listed_with_probability_0():
    logits = [[-np.inf, 0.0], *SEARCH.logits[1:]]
    paths = mdp.trajectories(mdp.search_agent(), logits)
    assert (paths.probability[paths.actions[:, 0] == 0] == 0).all() and (paths.actions[:, 0] == 0).any()
    assert mdp.objective(mdp.search_agent(), logits) == pytest.approx(0.3)


@pytest.mark.parametrize("room", ["mdp", "returns", "kl", "constraints"])
def test_torch_is_not_loaded(room):
    code = f"import sys, pglab.{room}; print({{'torch', 'matplotlib'}} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout.split() == ["set()"]
