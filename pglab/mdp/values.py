"""Dynamic programming: exact values, objective and gradient without listing a single trajectory."""

from typing import NamedTuple

import numpy as np

from pglab import _checks
from pglab.mdp.model import policy


class Values(NamedTuple):
    """What the policy earns from a state on. Time is the first axis, since the horizon is finite."""

    v: np.ndarray  # (T + 1, S) V_t(s); v[T] is 0: nothing comes after the last step
    q: np.ndarray  # (T, S, A) Q_t(s, a)
    advantage: np.ndarray  # (T, S, A) Q_t(s, a) - V_t(s)


def values(mdp, policy_logits, gamma=1.0):
    """V, Q and A of a policy, backwards from the last step.

        Q_t(s, a) = sum_s' P(s' | s, a) (r(s, a, s') + gamma V_{t+1}(s')),     V_t(s) = sum_a pi(a | s) Q_t(s, a)

    Args:
      mdp: a TabularMDP.
      policy_logits: (S, A) one logit for each state and action.
      gamma: discount of one step, from 0 to 1.

    Returns:
      Values, in the unit of the rewards; 0 in terminal states.

    Raises:
      ValueError: logits of another shape, a gamma outside [0, 1].

    Source: Sutton and Barto (2nd ed.), section 4.1, with time as part of the state.
    """
    pi = policy(mdp, policy_logits)
    gamma = _checks.number("gamma", gamma, low=0, high=1)
    paid = (mdp.transition * mdp.reward).sum(axis=2)  # (S, A) expected reward of one step
    v, q = np.zeros((mdp.horizon + 1, mdp.states)), np.zeros((mdp.horizon, mdp.states, mdp.actions))
    for t in reversed(range(mdp.horizon)):
        q[t] = np.where(mdp.terminal[:, None], 0.0, paid + gamma * mdp.transition @ v[t + 1])
        v[t] = (pi * q[t]).sum(axis=1)
    return Values(v, q, np.where(mdp.terminal[:, None], 0.0, q - v[:-1, :, None]))


def objective(mdp, policy_logits, gamma=1.0):
    """What the policy earns.

        J = E[sum_t gamma^t r_t] = sum_s P(s_0 = s) V_0(s)

    Args, Raises:
      as ``values``.

    Returns:
      float, in the unit of the rewards.

    Source: Sutton and Barto (2nd ed.), section 13.2.
    """
    found = values(mdp, policy_logits, gamma)  # which looks at the process first
    return float(mdp.start @ found.v[0])


def occupancy(mdp, policy_logits):
    """Where the policy is, step by step.

        d_0(s) = P(s_0 = s),     d_{t+1}(s') = sum_{s, a} d_t(s) pi(a | s) P(s' | s, a)

    Args:
      mdp: a TabularMDP.
      policy_logits: (S, A) one logit for each state and action.

    Returns:
      (T + 1, S) float64; every row sums to 1, terminal states included.

    Raises:
      ValueError: logits of another shape.

    Source: Sutton and Barto (2nd ed.), section 13.2 (the distribution mu, without the average).
    """
    pi = policy(mdp, policy_logits)
    pi[mdp.terminal] = np.eye(mdp.actions)[0]  # action 0 stays there, by the way TabularMDP is kept
    step = (pi[:, :, None] * mdp.transition).sum(axis=1)  # (S, S)
    rows = [mdp.start]
    for _ in range(mdp.horizon):
        rows.append(rows[-1] @ step)
    return np.array(rows)


def objective_gradient(mdp, policy_logits, gamma=1.0):
    """The gradient of the objective, by the policy gradient theorem.

        dJ / dlogits[s, a] = sum_t gamma^t d_t(s) pi(a | s) A_t(s, a)

    Args, Raises:
      as ``values``.

    Returns:
      (S, A) float64, in the unit of the rewards.

    Source: Sutton et al. 2000, theorem 1; Sutton and Barto (2nd ed.), section 13.2.
    """
    pi, advantage = policy(mdp, policy_logits), values(mdp, policy_logits, gamma).advantage
    visits = gamma ** np.arange(mdp.horizon)[:, None] * occupancy(mdp, policy_logits)[:-1]  # (T, S)
    return pi * (visits[:, :, None] * advantage).sum(axis=0)
