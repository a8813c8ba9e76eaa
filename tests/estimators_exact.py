"""Every exact quantity of a policy, with its axes and its unit: a table for tests.

A problem is a bandit (logits, a second policy, rewards) or a small process with a policy. Whoever gives the
actions and states other names must get the same numbers in other places: ``axes`` says in which. "A" is an axis
of actions, "S" of states, "." any other. ``unit`` is the power of the rewards' unit in the result.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from pglab import advantages, bandit, groups, kl, mdp, offpolicy

NO_REWARD = None  # no reward goes in: the unit cannot matter


class Exact(NamedTuple):
    call: Callable  # of a Bandit or a Process
    axes: str
    unit: int | None


class Bandit(NamedTuple):
    """One softmax, a second one beside it (a reference, or whoever samples), a reward for each action."""

    logits: np.ndarray
    other: np.ndarray
    rewards: np.ndarray

    def renamed(self, actions, states):
        return Bandit(*(x[actions] for x in self))

    def in_unit(self, k):
        return self._replace(rewards=self.rewards * k)

    @property
    def p(self):
        return bandit.softmax(self.logits)


class Process(NamedTuple):
    """A process of 3 states (the last may be terminal), 2 actions and 3 steps, two policies, a critic (T, S)."""

    start: np.ndarray
    transition: np.ndarray
    reward: np.ndarray
    terminal: np.ndarray
    logits: np.ndarray
    other: np.ndarray
    critic: np.ndarray

    def renamed(self, actions, states):
        return Process(
            self.start[states], self.transition[np.ix_(states, actions, states)],
            self.reward[np.ix_(states, actions, states)], self.terminal[states], self.logits[states][:, actions],
            self.other[states][:, actions], self.critic[:, states],
        )  # fmt: skip

    def in_unit(self, k):
        return self._replace(reward=self.reward * k, critic=self.critic * k)

    @property
    def model(self):
        return mdp.TabularMDP(self.start, self.transition, self.reward, len(self.critic), self.terminal)

    @property
    def paths(self):
        return mdp.trajectories(self.model, self.logits)


def a_bandit(seed):
    rng = np.random.default_rng(seed)
    logits, other, rewards = rng.normal(size=3), rng.normal(size=3), rng.integers(0, 5, size=3) / 4
    rewards[2] += np.ptp(rewards) == 0  # two may be equal; if all were, there would be no gradient
    return Bandit(logits, other, rewards)


def a_process(seed):
    rng = np.random.default_rng(seed)
    start, transition = rng.random(3), rng.random((3, 2, 3))
    terminal = np.array([False, False, rng.random() < 0.5])
    start[terminal] = 0
    sums = transition.sum(axis=2, keepdims=True)
    return Process(
        start / start.sum(), transition / sums, rng.integers(-4, 5, size=(3, 2, 3)) / 4, terminal,
        rng.normal(size=(3, 2)), rng.normal(size=(3, 2)), rng.normal(size=(3, 3)),
    )  # fmt: skip


SIZE, LOO, RTG = 3, advantages.leave_one_out, "reward_to_go"


def of_values(b, part):
    """``weight_moments`` by reward value, so that names do not matter."""
    values, kind = np.unique(b.rewards, return_inverse=True)
    return groups.weight_moments(values, np.bincount(kind, b.p), LOO, SIZE)[part]


def grouped(part):
    return lambda b: groups.moments(b.logits, b.rewards, LOO, SIZE)[part]


def kl_gradient(b, kind, where, **options):
    return kl.gradient(b.logits, b.other, kind, where, **options)


def one(b):
    return offpolicy.one_decision(b.logits, b.other, b.rewards)


def some(b, pay="all"):
    return offpolicy.along_tokens(b.logits, b.other, b.rewards + 0.5, 2, pay)


def curve(part):
    return lambda b: offpolicy.curve(some(b), [0.5, 1.0, 1.5], 4)[part]


BANDITS = {
    "kl.divergence": Exact(lambda b: kl.divergence(b.logits, b.other), "", NO_REWARD),
    **{
        f"kl.gradient {kind} {where}": Exact(partial(kl_gradient, kind=kind, where=where), "A", NO_REWARD)
        for kind in kl.KINDS
        for where in kl.WHERES
    },
    "kl.gradient attached": Exact(
        partial(kl_gradient, kind="k1", where="reward", detach=False), "A", NO_REWARD
    ),
    "groups.multisets": Exact(lambda b: np.sort(groups.multisets(3, SIZE) @ b.rewards), ".", 1),
    "groups.multinomial": Exact(
        lambda b: np.sort(groups.multinomial(b.p, groups.multisets(3, SIZE))), ".", NO_REWARD
    ),
    "groups.expect": Exact(
        lambda b: groups.expect(b.p, SIZE, lambda group: b.rewards[group].max() ** 2), "", 2
    ),
    "groups.moments mean": Exact(grouped(0), "A", 1),
    "groups.moments covariance": Exact(grouped(1), "AA", 2),
    "groups.weight_moments mean": Exact(partial(of_values, part=0), ".", 1),
    "groups.weight_moments covariance": Exact(partial(of_values, part=1), "..", 2),
    "groups.weight_moments inside": Exact(partial(of_values, part=2), ".", 2),
    "groups.rloo_covariance_trace": Exact(
        lambda b: groups.rloo_covariance_trace(b.logits, b.rewards, SIZE), "", 2
    ),
    "groups.zero_variance_probability": Exact(
        lambda b: groups.zero_variance_probability(b.p, SIZE), "A", NO_REWARD
    ),
    "groups.grpo_scale": Exact(lambda b: groups.grpo_scale(b.p, SIZE), "A", NO_REWARD),
    "groups.grpo_objective": Exact(lambda b: groups.grpo_objective(b.p, SIZE), "A", NO_REWARD),
    "offpolicy.one_decision": Exact(lambda b: one(b).gradient, "A", 1),
    "offpolicy.along_tokens": Exact(lambda b: some(b).gradient, "A", None),
    "offpolicy.weights": Exact(lambda b: offpolicy.weights(one(b), "token", 1.2)[:, 0], "A", 0),
    "offpolicy.moments mean": Exact(lambda b: offpolicy.moments(one(b), cap=1.2).mean, "A", 1),
    "offpolicy.moments bias": Exact(lambda b: offpolicy.moments(one(b), cap=1.2).bias, "A", 1),
    "offpolicy.moments variance": Exact(lambda b: offpolicy.moments(one(b), cap=1.2).variance, "", 2),
    "offpolicy.moments share": Exact(lambda b: offpolicy.moments(one(b), cap=1.2).share, "", 0),
    **{f"offpolicy.curve {part}": Exact(curve(part), ".", None) for part in range(5)},
    "offpolicy.best_cap": Exact(lambda b: np.array(offpolicy.best_cap(some(b), 4)), ".", None),
    "offpolicy.ascent": Exact(
        lambda b: offpolicy.ascent(b.logits, b.rewards, 3, 0.5), ".A", None
    ),
    "offpolicy.stale": Exact(
        lambda b: offpolicy.stale([b.other, b.logits], 1, b.rewards, 2, "share").gradient, "A", 1
    ),
    "offpolicy.ratio_square": Exact(lambda b: offpolicy.ratio_square(b.logits, b.other), "", NO_REWARD),
    "offpolicy.growth": Exact(
        lambda b: np.array(offpolicy.growth(b.logits, b.other, b.rewards + [0, 1, 3], [1, 2], "share")[1:3]),
        "..", None,
    ),
}  # fmt: skip


def table(process, function, *rest):
    """A baseline table for the reward-to-go of a process."""
    paths = process.paths
    return function(paths, mdp.weights(process.model, process.logits, RTG), *rest)


def mean_of(process, weight):
    return mdp.moments(process.paths, weight)[0]


def square(x):
    """A batch's weights, changed together; no name of a state is in it."""
    return lambda weight, mask: (weight - weight.mean()) * x


PROCESSES = {
    "mdp.objective": Exact(lambda m: mdp.objective(m.model, m.logits, 0.9), "", 1),
    "mdp.objective_gradient": Exact(lambda m: mdp.objective_gradient(m.model, m.logits, 0.9), "SA", 1),
    "mdp.values v": Exact(lambda m: mdp.values(m.model, m.logits, 0.9).v, ".S", 1),
    "mdp.values q": Exact(lambda m: mdp.values(m.model, m.logits, 0.9).q, ".SA", 1),
    "mdp.values advantage": Exact(lambda m: mdp.values(m.model, m.logits, 0.9).advantage, ".SA", 1),
    "mdp.token_sequences": Exact(lambda m: mdp.token_sequences(2).sum(axis=1), ".", NO_REWARD),
    "mdp.occupancy": Exact(lambda m: mdp.occupancy(m.model, m.logits), ".S", NO_REWARD),
    "mdp.trajectories": Exact(lambda m: np.sort(m.paths.probability), ".", NO_REWARD),
    "mdp.covariance": Exact(
        lambda m: mdp.covariance(m.model, m.logits, RTG).reshape(3, 2, 3, 2), "SASA", 2
    ),
    "mdp.covariance_trace": Exact(lambda m: mdp.covariance_trace(m.model, m.logits, RTG), "", 2),
    "mdp.moments": Exact(lambda m: mean_of(m, m.paths.rewards), "SA", 1),
    "mdp.estimates": Exact(
        lambda m: np.einsum("n,nsa->sa", m.paths.probability, mdp.estimates(m.paths, m.paths.rewards) ** 2),
        "SA", 2,
    ),
    "mdp.gae_weights": Exact(lambda m: mean_of(m, mdp.gae_weights(m.paths, m.critic, 0.9, 0.5)), "SA", 1),
    "mdp.gae_moments mean": Exact(
        lambda m: mdp.gae_moments(m.model, m.logits, m.critic, 0.9, [0, 0.5])[0], ".SA", 1
    ),
    "mdp.gae_moments variance": Exact(
        lambda m: mdp.gae_moments(m.model, m.logits, m.critic, 0.9, [0, 0.5])[1], ".", 2
    ),
    "mdp.gae_mean": Exact(lambda m: mdp.gae_mean(m.model, m.logits, m.critic, 0.9, 0.5), "SA", 1),
    "mdp.explained_variance": Exact(
        lambda m: mdp.explained_variance(m.paths, m.critic, m.paths.probability), "", 0
    ),
    "mdp.batch_estimate": Exact(
        lambda m: mdp.batch_estimate(m.paths, m.paths.rewards, 1, square(2.0)), "SA", 1
    ),
    "mdp.minus_table": Exact(
        lambda m: mean_of(m, mdp.minus_table(m.paths, m.paths.rewards, m.critic)), "SA", 1
    ),
    "mdp.score_weighted_table": Exact(lambda m: table(m, mdp.score_weighted_table), ".S", 1),
    "mdp.best_table": Exact(lambda m: table(m, mdp.best_table), ".S", 1),
    "mdp.noise_with_table": Exact(lambda m: table(m, mdp.noise_with_table, m.critic), "", 2),
    **{
        f"mdp.exact_gradient {kind}": Exact(
            lambda m, kind=kind: mdp.exact_gradient(m.model, m.logits, kind, 0.9), "SA", 1
        )
        for kind in mdp.WEIGHTS
    },
    **{
        f"mdp.weights {kind}": Exact(
            lambda m, kind=kind: mean_of(m, mdp.weights(m.model, m.logits, kind, 0.9, True)), "SA", 1
        )
        for kind in mdp.WEIGHTS
    },
    "offpolicy.trajectories": Exact(
        lambda m: offpolicy.trajectories(m.model, m.logits, m.other).gradient.reshape(3, 2), "SA", 1
    ),
    "offpolicy.listed": Exact(
        lambda m: np.array(offpolicy.moments(_listed(m), "prefix").mean).reshape(3, 2), "SA", 1
    ),
}  # fmt: skip


def _listed(m):
    a = offpolicy.trajectories(m.model, m.logits, m.other)
    return offpolicy.listed(a.chance, a.rewards, a.log_ratio, a.times, a.scores, a.gradient)


# What a room offers beside estimators, and where that is tested.
ELSEWHERE = {
    "mdp.actor_critic": "a training with its own noise: test_mdp_critics",
    "mdp.follow": "a log of such a training: test_mdp_critics",
    "mdp.lengths": "one process of its own, whose true gradient is 0: test_lengths",
    "mdp.noise_to_signal": "one process of its own: test_mdp_tables",
    "mdp.sampled_batch_estimate": "draws its batches, by the order of the states: test_mdp_critics",
    "mdp.search_agent": "a process, no estimate: test_mdp",
    "mdp.token_tree": "a process, no estimate: test_mdp_tables",
    "mdp.two_steps": "a process, no estimate: test_mdp_critics",
}
ROOMS = {"groups": groups, "mdp": mdp, "offpolicy": offpolicy}
EXACT = BANDITS | PROCESSES
