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


# ---- Options and defaults


def test_a_training_without_options():
    run = mdp.actor_critic(AGENT, [[1, 0], [0, 0], [0, 0], [0, 0], [0, 0]], updates=2)
    wanted = mdp.actor_critic(AGENT, np.eye(5, 2), "learning", 0, 2, 256, 0.95, 1.0)[:1]
    assert run[0].logits.dtype == np.float64 and len(run[0].batch.actions) == 256
    np.testing.assert_array_equal(run[0].critic, wanted[0].critic)
    assert len(mdp.actor_critic(AGENT, LOGITS, size=1)) == 60


def test_a_critic_of_noise_learns_something_else():
    """Both see the same first batch; one of them sees its returns in another order."""
    one, other = (mdp.actor_critic(AGENT, LOGITS, kind, 0, 2, 64) for kind in ("learning", "noise"))
    np.testing.assert_array_equal(one[0].batch.rewards, other[0].batch.rewards)
    np.testing.assert_array_equal(one[0].critic, other[0].critic)
    assert abs(one[1].critic - other[1].critic).max() > 1e-4


def test_the_error_of_a_sampled_mean():
    drawn, change = np.random.default_rng(5), lambda w, mask: 2 * w
    mean, error = mdp.sampled_batch_estimate(PATHS, Q, 3, change, np.random.default_rng(5), 7)
    every = drawn.choice(len(Q), size=(7, 3), p=PATHS.probability)
    single = np.array([np.einsum("nt,ntsa->sa", 2 * Q[rows], PATHS.scores[rows]) / 3 for rows in every])
    np.testing.assert_allclose(mean, sum(single) / 7, atol=1e-14)
    np.testing.assert_allclose(error, (sum((single - mean) ** 2) / 6 / 7) ** 0.5, atol=1e-14)
    mdp.sampled_batch_estimate(PATHS, Q, 1, change, np.random.default_rng(0), 2)


def test_a_change_of_a_batch_sees_0_where_an_episode_is_over():
    seen = []
    junk = np.where(PATHS.mask, Q, np.nan)
    mdp.batch_estimate(PATHS, junk, 1, lambda w, mask: seen.append((w[~mask] == 0).all()) or w)
    assert all(seen) and not PATHS.mask.all()


def test_moments_of_the_trajectories_that_are_handed_in():
    some = mdp.Trajectories(*(field[:4] for field in PATHS))
    critic = np.zeros((3, 5))
    mean, variance = mdp.gae_moments(AGENT, LOGITS, critic, 1.0, [0.5], some)
    single = mdp.estimates(some, mdp.gae_weights(some, critic, 1.0, 0.5))
    np.testing.assert_allclose(mean[0], np.einsum("n,nsa->sa", some.probability, single), atol=1e-14)
    assert not np.allclose(mean, mdp.gae_moments(AGENT, LOGITS, critic, 1.0, [0.5])[0])


def test_a_trajectory_may_weigh_nothing():
    weights = np.arange(len(PATHS.actions)) % 2
    some = mdp.Trajectories(*(field[1::2] for field in PATHS))
    critic = np.random.default_rng(0).normal(size=(3, 5))
    assert mdp.explained_variance(PATHS, critic, weights) == pytest.approx(
        mdp.explained_variance(some, critic)
    )


def test_what_weights_and_moments_are_without_options():
    usual = {"gamma": 1.0, "discount_from_start": False}
    for kind in mdp.WEIGHTS:
        for function in (mdp.weights, mdp.exact_gradient, mdp.covariance, mdp.covariance_trace):
            np.testing.assert_array_equal(
                function(AGENT, LOGITS, kind), function(AGENT, LOGITS, kind, **usual)
            )
    late = {"gamma": 0.5, "discount_from_start": False}
    for function in (mdp.weights, mdp.exact_gradient, mdp.covariance, mdp.covariance_trace):
        np.testing.assert_array_equal(function(AGENT, LOGITS, "q", 0.5), function(AGENT, LOGITS, "q", **late))


def test_a_long_walk_without_a_choice_is_one_trajectory():
    ring = np.roll(np.eye(50), 1, axis=1)[:, None, :]
    paths = mdp.trajectories(mdp.TabularMDP(np.eye(50)[0], ring, np.ones((50, 1)), 20), np.zeros((50, 1)))
    assert paths.states.tolist() == [list(range(21))]


def test_how_many_trajectories_are_too_many():
    """Four ways on from every state: 4^9 of them, 30 steps, 2 states and 2 actions are the first that do not fit."""
    model = mdp.TabularMDP([1, 0], np.full((2, 2, 2), 0.5), np.zeros((2, 2)), 30)
    with pytest.raises(
        ValueError, match=r"^2.62e\+05 trajectories or more, of 30 steps, .* table of 3.15e\+07 scores"
    ):
        mdp.trajectories(model, np.zeros((2, 2)))


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
        (
            lambda: mdp.sampled_batch_estimate(PATHS, Q, 0, None, None, 2),
            "size is 0; it must be a whole number, at",
        ),
        (
            lambda: mdp.follow(AGENT, "log"),
            "history is 'log'; it must be a list of Updates, as mdp.actor_critic gives it.$",
        ),
        (
            lambda: mdp.values("agent", LOGITS),
            r"mdp is 'agent'; it must be a TabularMDP, such as mdp.search_agent\(\).$",
        ),
        (
            lambda: mdp.moments("all", Q),
            "paths is 'all'; it must be Trajectories, as mdp.trajectories gives them.$",
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
