"""Every trajectory of the process, one after the other, with its probability."""

from typing import NamedTuple

import numpy as np

from pglab import _checks
from pglab.mdp.model import policy

MOST = 24_000_000  # numbers in the table of scores; more would fill the memory


class Trajectories(NamedTuple):
    """All N trajectories of positive dynamics, sorted by their states and actions in order of time.

    ``probability`` is ``dynamics * policy``: the first factor knows nothing of the logits.
    """

    probability: np.ndarray  # (N,) p(tau); they sum to 1
    dynamics: np.ndarray  # (N,) P(s_0) prod_t P(s_{t+1} | s_t, a_t)
    policy: np.ndarray  # (N,) prod_t pi(a_t | s_t)
    states: np.ndarray  # (N, T + 1) s_0 .. s_T
    actions: np.ndarray  # (N, T); 0 where the mask is False
    rewards: np.ndarray  # (N, T); 0 where the mask is False
    mask: np.ndarray  # (N, T) False once the episode is over
    scores: np.ndarray  # (N, T, S, A) grad log pi(a_t | s_t) by the logits; 0 where the mask is False


def trajectories(mdp, policy_logits, steps=None):
    """Enumerate every trajectory that the dynamics allow.

        p(tau) = P(s_0) prod_t pi(a_t | s_t) P(s_{t+1} | s_t, a_t)

    Args:
      mdp: a TabularMDP.
      policy_logits: (S, A) one logit for each state and action.
      steps: T, how many steps to follow, at most the horizon (as None says); fewer give
        trajectories that are truncated: cut off, though the episode would have gone on.

    Returns:
      Trajectories.

    Raises:
      ValueError: logits of another shape; steps outside 1 .. horizon; more paths than fit in memory.

    Source: Sutton and Barto (2nd ed.), sections 3.1 and 13.1; Spinning Up, Intro to policy optimization.
    """
    pi = policy(mdp, policy_logits)
    steps = mdp.horizon if steps is None else _checks.whole("steps", steps, low=1)
    if steps > mdp.horizon:
        raise ValueError(f"steps is {steps}; it must be at most the horizon, {mdp.horizon}.")
    _refuse_too_many(mdp, steps)
    states, actions = _paths(mdp, steps)
    now, then = states[:, :-1], states[:, 1:]
    mask = ~mdp.terminal[now]
    dynamics = mdp.start[states[:, 0]] * mdp.transition[now, actions, then].prod(axis=1)
    of_policy = np.where(mask, pi[now, actions], 1.0).prod(axis=1)
    rewards = mdp.reward[now, actions, then]
    scores = _score_table(pi, mdp.terminal)[now, actions]
    return Trajectories(dynamics * of_policy, dynamics, of_policy, states, actions, rewards, mask, scores)


def along(paths, table, name="table"):
    """What a table says of the state of each step of each trajectory.

        table[t, s_t]

    Args:
      paths: Trajectories of T steps.
      table: (T, S) one finite number for each time and state, such as a critic or a baseline.
      name: of the table, for the error.

    Returns:
      (N, T) float64; once an episode is over, what the table says of the terminal state.

    Raises:
      ValueError: a table of another shape.

    Source: none.
    """
    shape = checked_paths(paths).actions.shape[1], paths.scores.shape[2]
    return checked_table(name, table, *shape)[np.arange(shape[0]), paths.states[:, :-1]]


def checked_paths(paths):
    """The trajectories, if that is what they are; else refused."""
    return _checks.kind("paths", paths, Trajectories, "Trajectories, as mdp.trajectories gives them")


def checked_table(name, table, steps, states):
    """The table as float64, if its shape is (steps, states); else refused."""
    wanted = f"one finite value for each time and state, shape ({steps}, {states})"
    table = _checks.floats(name, table, wanted)
    if table.shape != (steps, states):
        raise ValueError(f"{name} has shape {table.shape}; it must be {wanted}.")
    return table


def _paths(mdp, steps):
    """(N, T + 1) states and (N, T) actions of every path whose dynamics have positive probability."""
    states = np.flatnonzero(mdp.start)[:, None]
    actions = np.zeros((len(states), 0), dtype=np.int64)
    for _ in range(steps):
        row, action, following = np.nonzero(mdp.transition[states[:, -1]])
        states = np.column_stack([states[row], following])
        actions = np.column_stack([actions[row], action])
    return states, actions


def _score_table(pi, terminal):
    """(S, A, S, A): grad log pi(a | s) by every logit of the policy; 0 in a state where all is over."""
    states, actions = pi.shape
    table = np.zeros((states, actions, states, actions))
    for s in np.flatnonzero(~terminal):
        table[s, :, s, :] = np.eye(actions) - pi[s]
    return table


def _refuse_too_many(mdp, steps):
    branches = (mdp.transition > 0).sum(axis=1).astype(float)  # (S, S) ways from one state to the next
    ends = (mdp.start > 0).astype(float)
    for _ in range(steps):
        ends = ends @ branches
        size = ends.sum() * steps * mdp.states * mdp.actions  # never falls from one step to the next
        if size > MOST:
            raise ValueError(
                f"{ends.sum():.3g} trajectories or more, of {steps} steps, make a table of {size:.3g} scores; "
                f"it must hold at most {MOST:,}. Take a shorter horizon, or fewer states and actions."
            )
