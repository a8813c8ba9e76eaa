"""Weights for the scores of a trajectory, and the exact mean and covariance of the estimate they make."""

import numpy as np

from pglab import _checks, returns
from pglab.mdp.trajectories import Trajectories, checked_paths, trajectories
from pglab.mdp.values import values

WEIGHTS = ("return", "reward_to_go", "baselined", "q", "advantage")


def weights(mdp, policy_logits, kind, gamma=1.0, discount_from_start=False):
    """The weight of every step of every trajectory, by name.

        "return"         R = sum_k gamma^k r_k                  the same for all steps
        "reward_to_go"   G_t = sum_{k >= t} gamma^(k - t) r_k
        "baselined"      G_t - V_t(s_t)
        "q"              Q_t(s_t, a_t)
        "advantage"      Q_t(s_t, a_t) - V_t(s_t)

    For gamma below 1 only the first has the gradient of J as its mean; the others have it with
    ``discount_from_start``, that is times gamma^t.

    Args:
      mdp: a TabularMDP.
      policy_logits: (S, A) one logit for each state and action.
      kind: one of ``WEIGHTS``.
      gamma: discount of one step, from 0 to 1.
      discount_from_start: times gamma^t, for all kinds but "return", which has it already.

    Returns:
      (N, T) float64, rows in the order of ``trajectories``; 0 once an episode is over.

    Raises:
      ValueError: a kind that is none of ``WEIGHTS``, a gamma outside [0, 1], logits of another shape.

    Source: Schulman et al. 2016 (GAE), section 2; Spinning Up, Intro to policy optimization.
    """
    return _weights(mdp, policy_logits, trajectories(mdp, policy_logits), kind, gamma, discount_from_start)


def _weights(mdp, policy_logits, paths, kind, gamma, discount_from_start):
    _checks.one_of("kind", kind, WEIGHTS)
    gamma = _checks.number("gamma", gamma, low=0, high=1)
    if kind == "return":
        total = returns.discounted_return(paths.rewards, gamma, paths.mask)
        return np.where(paths.mask, total[:, None], 0.0)
    exact = values(mdp, policy_logits, gamma)
    time, now = np.arange(paths.actions.shape[1]), paths.states[:, :-1]
    table = {
        "reward_to_go": lambda: returns.reward_to_go(paths.rewards, gamma, paths.mask),
        "baselined": lambda: returns.reward_to_go(paths.rewards, gamma, paths.mask) - exact.v[time, now],
        "q": lambda: exact.q[time, now, paths.actions],
        "advantage": lambda: exact.advantage[time, now, paths.actions],
    }
    usual = np.where(paths.mask, table[kind](), 0.0)
    return usual * gamma**time if discount_from_start else usual


def estimates(paths, weight):
    """What each trajectory alone says about the gradient.

        g_hat(tau) = sum_t w_t grad log pi(a_t | s_t)

    Args:
      paths: Trajectories.
      weight: (N, T) the weight of each step.

    Returns:
      (N, S, A) float64.

    Raises:
      ValueError: weights of another shape, or not finite where the mask is True.

    Source: Williams 1992, section 7 (episodic REINFORCE).
    """
    weight = checked_weight(paths, weight)
    (n, steps), (_, _, states, actions) = weight.shape, paths.scores.shape
    return (weight[:, None, :] @ paths.scores.reshape(n, steps, -1)).reshape(n, states, actions)


def checked_weight(paths, weight):
    """The weight as float64, 0 once an episode is over; refused if its shape is another, or it is not finite."""
    wanted = (
        f"finite numbers of shape {checked_paths(paths).actions.shape}, one for each step of each trajectory"
    )
    weight = _checks.floats("weight", weight, wanted)
    if weight.shape != paths.actions.shape:
        raise ValueError(f"weight has shape {weight.shape}; it must be {wanted}.")
    weight = np.where(paths.mask, weight, 0.0)
    if not np.isfinite(weight).all():
        raise ValueError(f"weight holds NaN or infinity; it must be {wanted}.")
    return weight


def moments(paths, weight):
    """Exact mean and covariance of the estimate from one trajectory.

        mean = sum_tau p(tau) g_hat(tau),     Cov = sum_tau p(tau) d(tau) d(tau)^T,  d = g_hat - mean

    Args:
      paths: Trajectories.
      weight: (N, T) the weight of each step.

    Returns:
      mean (S, A) and covariance (S A, S A), float64; entry s A + a belongs to logit [s, a].

    Raises:
      ValueError: as ``estimates``.

    Source: Greensmith, Bartlett and Baxter 2004, section 3.
    """
    single = estimates(paths, weight)
    flat = single.reshape(len(single), -1)
    mean = paths.probability @ flat
    root = np.sqrt(paths.probability)[:, None] * (flat - mean)  # centring first avoids cancellation
    return mean.reshape(single.shape[1:]), root.T @ root


def exact_gradient(mdp, policy_logits, weight, gamma=1.0, discount_from_start=False):
    """Mean of the estimate over every trajectory; for the right weights it is grad J.

    Args:
      mdp: a TabularMDP.
      policy_logits: (S, A) one logit for each state and action.
      weight: one of ``WEIGHTS``, or (N, T) numbers, or a function of Trajectories that returns them.
      gamma, discount_from_start: as in ``weights``; used where ``weight`` is a name.

    Returns:
      (S, A) float64.

    Raises:
      ValueError: as ``weights`` and ``estimates``.

    Source: Sutton and Barto (2nd ed.), section 13.3.
    """
    return _moments(mdp, policy_logits, weight, gamma, discount_from_start)[0]


def covariance(mdp, policy_logits, weight, gamma=1.0, discount_from_start=False):
    """Covariance of the estimate from one trajectory, (S A, S A); see ``moments``.

    Args, Raises:
      as ``exact_gradient``.

    Returns:
      (S A, S A) float64, symmetric, positive semi-definite. Divide by N for the mean of N trajectories.

    Source: Greensmith, Bartlett and Baxter 2004, section 3.
    """
    return _moments(mdp, policy_logits, weight, gamma, discount_from_start)[1]


def covariance_trace(mdp, policy_logits, weight, gamma=1.0, discount_from_start=False):
    """Total variance of the estimate from one trajectory: the trace of ``covariance``.

    Args, Raises:
      as ``exact_gradient``.

    Returns:
      float, never negative, in squared units of the gradient.

    Source: Greensmith, Bartlett and Baxter 2004, section 3.
    """
    return float(np.trace(covariance(mdp, policy_logits, weight, gamma, discount_from_start)))


def _moments(mdp, policy_logits, weight, gamma, discount_from_start):
    paths: Trajectories = trajectories(mdp, policy_logits)
    if isinstance(weight, str):
        weight = _weights(mdp, policy_logits, paths, weight, gamma, discount_from_start)
    return moments(paths, weight(paths) if callable(weight) else weight)
