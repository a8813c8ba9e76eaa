"""GAE with any critic, right or wrong: its weights, and the exact mean and variance of the estimate.

A critic is a table, shape (T, S): what it says of state s at time t. ``gae_moments`` counts
trajectories, ``gae_mean`` goes backwards through time; the two routes share no code.
"""

import numpy as np

from pglab import _checks, returns
from pglab.mdp.model import policy
from pglab.mdp.trajectories import along, checked_table, trajectories
from pglab.mdp.values import occupancy


def gae_weights(paths, critic, gamma=1.0, lam=1.0, last_value=0.0):
    """The weight that GAE gives to every step of every trajectory.

        A_t = sum_{l >= 0} (gamma lam)^l delta_{t+l},     delta_t = r_t + gamma V(s_{t+1}) - V(s_t)

    Args:
      paths: Trajectories of T steps, all of them or a sample.
      critic: (T, S) the critic's value of each state at each time.
      gamma, lam: from 0 to 1.
      last_value: as in ``returns.gae``; 0 if the episode is over after the last step.

    Returns:
      (N, T) float64, 0 once an episode is over.

    Raises:
      ValueError: a critic of another shape; as ``returns.gae``.

    Source: Schulman et al. 2016 (GAE), equation 16.
    """
    critic = along(paths, critic, "critic")  # (N, T)
    return returns.gae(paths.rewards, critic, gamma, lam, last_value, paths.mask)


def gae_moments(mdp, policy_logits, critic, gamma, lams, paths=None):
    """Exact mean and variance of the estimate from one trajectory, for many lambdas at once.

        mean = sum_tau p(tau) g_hat(tau),     variance = sum_tau p(tau) |g_hat(tau) - mean|^2

    Args:
      mdp: a TabularMDP.
      policy_logits: (S, A) one logit for each state and action.
      critic: (T, S) as in ``gae_weights``; nothing is read once an episode is over.
      gamma: from 0 to 1.
      lams: (L,) lambdas, each from 0 to 1.
      paths: the Trajectories of this policy, if they are at hand; they are not checked.

    Returns:
      means (L, S, A) and variances (L,), float64.

    Raises:
      ValueError: a critic of another shape, lambdas outside [0, 1]; as ``trajectories``.

    Source: Schulman et al. 2016 (GAE), section 3.
    """
    paths = trajectories(mdp, policy_logits) if paths is None else paths
    lams = _checks.vector("lams", lams)
    if lams.min() < 0 or lams.max() > 1:
        raise ValueError(f"lams reach from {lams.min()} to {lams.max()}; they must lie from 0 to 1.")
    delta = gae_weights(paths, critic, gamma, 0.0)  # (N, T); 0 once an episode is over
    weight = np.zeros((*delta.shape, lams.size))
    later = np.zeros((len(delta), lams.size))
    for t in reversed(range(delta.shape[1])):
        weight[:, t] = later = delta[:, t, None] + gamma * lams * later
    scores = paths.scores.reshape(*delta.shape, -1)  # (N, T, S A)
    single = weight.transpose(0, 2, 1) @ scores  # (N, L, S A)
    mean = np.tensordot(paths.probability, single, axes=1)  # (L, S A)
    variance = paths.probability @ ((single - mean) ** 2).sum(axis=2)
    return mean.reshape(lams.size, *paths.scores.shape[2:]), variance


def gae_mean(mdp, policy_logits, critic, gamma, lam):
    """Mean of the same estimate by dynamic programming.

        B_t(s, a) = E[r + gamma V_{t+1}(s') - V_t(s) + gamma lam sum_b pi(b | s') B_{t+1}(s', b)]
        mean[s, a] = sum_t d_t(s) pi(a | s) (B_t(s, a) - sum_b pi(b | s) B_t(s, b))

    Args:
      mdp, policy_logits, critic, gamma: as in ``gae_moments``.
      lam: one lambda.

    Returns:
      (S, A) float64.

    Raises:
      ValueError: a critic of another shape, gamma or lam outside [0, 1], logits of another shape.

    Source: none; B is the conditional mean of GAE's definition.
    """
    pi, visits = policy(mdp, policy_logits), occupancy(mdp, policy_logits)
    gamma, lam = _checks.number("gamma", gamma, low=0, high=1), _checks.number("lam", lam, low=0, high=1)
    critic = np.where(mdp.terminal, 0.0, checked_table("critic", critic, mdp.horizon, mdp.states))
    credit, following = np.zeros((mdp.states, mdp.actions)), np.zeros(mdp.states)
    mean = np.zeros((mdp.states, mdp.actions))
    for t in reversed(range(mdp.horizon)):
        after = gamma * following + gamma * lam * (pi * credit).sum(axis=1)  # (S,) by the next state
        credit = (mdp.transition * (mdp.reward + after)).sum(axis=2) - critic[t][:, None]
        credit[mdp.terminal], following = 0.0, critic[t]
        mean += visits[t][:, None] * pi * (credit - (pi * credit).sum(axis=1, keepdims=True))
    return mean


def explained_variance(paths, critic, probability=None, centred=True, lam=1.0):
    """The share of the returns' variance that a critic explains, over all steps of a batch.

        EV = 1 - Var(G - V) / Var(G),     with ``centred=False``:  1 - E[(G - V)^2] / Var(G)

    The second form also sees a critic that is off by a constant; the first is blind to it. For lam
    below 1 the lambda-return, GAE's A_t + V(s_t) at gamma 1, stands in the place of G, as in many logs.

    Args:
      paths: Trajectories of T steps, a sample or all of them.
      critic: (T, S) the critic's value of each state at each time.
      probability: (N,) the weight of each trajectory; None if all count alike, as in a sample.
      centred: False for the second form.
      lam: 1 for the sampled return G; from 0 to 1.

    Returns:
      float, at most 1; NaN where all returns are the same.

    Raises:
      ValueError: a critic of another shape; weights that are negative, all 0, or too many or few; a
        lambda outside [0, 1].

    Source: none; common in logs of PPO.
    """
    said = along(paths, critic, "critic")[paths.mask]
    count = len(paths.actions)
    probability = np.ones(count) if probability is None else _checks.vector("probability", probability)
    if probability.size != count or probability.min() < 0 or probability.sum() == 0:
        raise ValueError(f"probability must hold {count} weights, none negative and not all 0.")
    p = np.repeat(probability[:, None], paths.mask.shape[1], axis=1)[paths.mask]
    if _checks.number("lam", lam, low=0, high=1) < 1:
        to_go = gae_weights(paths, critic, 1.0, lam)[paths.mask] + said
    else:
        to_go = returns.reward_to_go(paths.rewards, 1.0, paths.mask)[paths.mask]
    spread = np.average((to_go - np.average(to_go, weights=p)) ** 2, weights=p)
    rest = to_go - said - (np.average(to_go - said, weights=p) if centred else 0.0)
    return float(1 - np.average(rest**2, weights=p) / spread) if spread > 0 else float("nan")
