"""Baselines as tables, the tree of tokens, and one reward after T tokens: against plain loops and formulas."""

import math
from itertools import product

import numpy as np
import pytest

from pglab import bandit, mdp

AGENT, LOGITS = mdp.search_agent(), np.array(mdp.LOGITS)
PATHS = mdp.trajectories(AGENT, LOGITS)
Q, G = (mdp.weights(AGENT, LOGITS, kind) for kind in ("q", "reward_to_go"))
PLACES = (0, 0), (1, 1), (1, 2), (2, 1), (2, 2)  # (step, state) where the agent acts


def noise(weight, table):
    """Trace of the covariance, trajectory by trajectory."""
    estimates = []
    for states, mask, scores, row in zip(PATHS.states, PATHS.mask, PATHS.scores, weight, strict=True):
        taken = np.flatnonzero(mask)
        estimates.append(sum((row[t] - table[t, states[t]]) * scores[t] for t in taken).ravel())
    off = np.array(estimates) - PATHS.probability @ estimates
    return PATHS.probability @ (off**2).sum(axis=1)


@pytest.mark.parametrize("weight", [Q, G])
def test_the_noise_of_a_table_is_that_of_plain_loops(weight):
    table = np.random.default_rng(0).normal(size=(3, 5))
    assert np.isclose(mdp.noise_with_table(PATHS, weight, table), noise(weight, table), rtol=1e-12)
    shifted = mdp.minus_table(PATHS, weight, table)
    np.testing.assert_allclose(shifted[:, 0], weight[:, 0] - table[0, 0])


def test_with_two_actions_the_score_weighted_mean_swaps_the_probabilities():
    policy = np.array([bandit.softmax(z) for z in LOGITS])
    swapped = (policy[:, ::-1] * mdp.values(AGENT, LOGITS).q).sum(axis=2)
    table = mdp.score_weighted_table(PATHS, Q)
    for place in product(range(3), range(5)):
        assert np.isclose(table[place], swapped[place] if place in PLACES else 0.0, rtol=1e-12)


def test_one_mean_for_each_step_minimises_a_parabola():
    table = mdp.score_weighted_table(PATHS, Q, by_state=False)
    assert (table == table[:, :1]).all()
    squared = (PATHS.scores**2).sum(axis=(2, 3)) * PATHS.probability[:, None]
    np.testing.assert_allclose((squared * (Q - table[:, 0]) * PATHS.mask).sum(axis=0), 0, atol=1e-15)


@pytest.mark.parametrize("weight", [Q, G])
def test_nothing_beats_the_best_table(weight):
    table = mdp.best_table(PATHS, weight)
    least = noise(weight, table)
    assert {tuple(place) for place in np.argwhere(table)} == set(PLACES)
    for place, step in product(PLACES, (-1e-3, 1e-3)):
        moved = table.copy()
        moved[place] += step
        assert noise(weight, moved) > least
    assert least < noise(weight, mdp.score_weighted_table(PATHS, Q))


def test_where_no_step_is_taken_the_tables_say_0():
    for function in (mdp.score_weighted_table, mdp.best_table):
        for _ in range(20):  # memory that is not set holds what was there before
            spoilt = [np.full((3, 5), 7.0) for _ in range(20)]
            del spoilt
            assert (function(PATHS, Q)[0, 1:] == 0).all()


@pytest.mark.parametrize("own", [False, True])
def test_the_shy_process_has_no_state_to_spare(own):
    model, logits = mdp.two_steps(own)
    states = 3 if own else 2
    assert model.terminal.tolist() == [False] * (states - 1) + [True] and model.horizon == 2
    assert logits.tolist() == [[1, -1]] * (states - 1) + [[0, 0]] and model.start[0] == 1
    assert mdp.two_steps()[0].states == 2


def test_sixteen_tokens_are_the_most():
    found = mdp.noise_to_signal("one decides", 16, 0.5)
    np.testing.assert_allclose(found, [31, 15, 0], atol=1e-9)


def test_a_model_lists_its_own_trajectories():
    model = mdp.search_agent(horizon=3)
    for found, wanted in zip(
        model.trajectories(mdp.LOGITS, 2), mdp.trajectories(model, mdp.LOGITS, 2), strict=True
    ):
        np.testing.assert_array_equal(found, wanted)
    assert model.trajectories(mdp.LOGITS).actions.shape[1] == 3


def test_the_tree_pays_at_the_last_token():
    paid = np.arange(8.0).reshape(4, 2)
    paths = mdp.trajectories(mdp.token_tree(paid), np.zeros((8, 2)))
    assert (paths.dynamics == 1).all() and len(paths.probability) == 8
    for actions, rewards in zip(paths.actions, paths.rewards, strict=True):
        first, second, third = actions
        np.testing.assert_array_equal(rewards, [0, 0, paid[2 * first + second, third]])


@pytest.mark.parametrize("T", [1, 3, 7])
def test_ratios_of_a_logit_each_are_the_formulas(T):
    for p in (0.3, 0.9):
        q, d = p**T, 1 - p
        none, value, advantage = mdp.noise_to_signal("all right", T, p)
        second = sum(p**t * p ** (2 * (T - 1 - t)) * p * d * (d**3 + p**3) for t in range(T))
        assert np.isclose(none, (1 - q) / q) and np.isclose(value, (d * (1 - 3 * q) + q * p) / (q * d))
        assert np.isclose(advantage, second / (T * (q * d) ** 2) - 1)
    for one_logit in (False, True):
        found = mdp.noise_to_signal("one decides", T, 0.5, one_logit)
        np.testing.assert_allclose(found, [2 * T - 1, T - 1, 0], atol=1e-12)


@pytest.mark.parametrize("T", [2, 6, 11])
def test_ratios_of_one_logit_count_the_right_tokens(T):
    p = 0.5 ** (1 / T)
    for minus, place in ((0.0, 0), (0.5, 1)):
        k = np.arange(T + 1)
        chance = [math.comb(T, n) * p**n * (1 - p) ** (T - n) for n in k]
        estimate = ((k == T) - minus) * (k - T * p)
        mean = chance @ estimate
        wanted = chance @ (estimate - mean) ** 2 / mean**2
        assert np.isclose(mdp.noise_to_signal("all right", T, p, one_logit=True)[place], wanted)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: mdp.minus_table(PATHS, Q, np.zeros((2, 5))), "table has shape"),
        (
            lambda: mdp.minus_table(PATHS, Q, "low"),
            "table is 'low'; it must be one finite value for each time",
        ),
        (lambda: mdp.token_tree(np.zeros((2, 2))), "paid is"),
        (lambda: mdp.token_tree("much"), r"paid is 'much'; it must be an array of shape \(4, 2\)\.$"),
        (
            lambda: mdp.noise_to_signal("all right", 0, 0.5),
            "length is 0; it must be a whole number, at least 1",
        ),
        (lambda: mdp.noise_to_signal("all right", 3, 0), "p is 0"),
        (
            lambda: mdp.noise_to_signal("all right", 3, 1.5),
            "p is 1.5; it must be one finite number from 0 to 1",
        ),
        (
            lambda: mdp.noise_to_signal("all right", 3, -0.5),
            "p is -0.5; it must be one finite number from 0 to 1",
        ),
        (lambda: mdp.token_tree(np.full((4, 2), np.nan)), "paid is"),
        (lambda: mdp.noise_to_signal("some right", 3, 0.5), "task is"),
        (lambda: mdp.noise_to_signal("all right", 17, 0.5), "length is 17"),
        (lambda: mdp.noise_to_signal("all right", 3, 1.0), "p is 1.0"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=f"^{words}"):
        call()
