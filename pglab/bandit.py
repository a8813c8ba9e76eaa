"""The softmax bandit, exact in float64: objective, scores, gradient, covariance, optimal baselines.

One state, ``A`` actions, one logit each. For a language model: one prompt and ``A`` possible
answers. Everything is a finite sum, so nothing here is sampled.

Notation, kept in every notebook:

    pi(a) = exp(logits[a]) / sum_b exp(logits[b])          probability of action a
    score_a = grad log pi(a) = onehot(a) - pi              gradient with respect to the logits
    J = sum_a pi(a) R(a)                                   expected reward

A logit of ``-inf`` is allowed and means an action that is never taken.
Sources: Williams 1992, section 4; Sutton and Barto (2nd ed.), sections 2.8 and 13.3.
"""

import numpy as np

from pglab import _checks

# The running example of the whole course: four answers to one prompt, the first and last right.
EXAMPLE_LOGITS = (0.4, -0.2, 1.1, 0.0)
EXAMPLE_REWARDS = (1.0, 0.0, 0.0, 1.0)
EXAMPLE_ANSWERS = ('"4"', '"5"', '"22"', '"four"')  # to the prompt: What is 2 + 2?


def _checked_logits(logits):
    logits = _checks.vector("logits", logits, allow_minus_inf=True)
    if np.all(logits == -np.inf):
        raise ValueError("logits are all -inf; at least one action must be possible (finite logit).")
    return logits


def log_softmax(logits):
    """Log-probabilities of the actions.

        log pi(a) = logits[a] - log sum_b exp(logits[b])

    Args:
      logits: (A,) one logit for each action; ``-inf`` for an impossible one.

    Returns:
      (A,) float64 log-probabilities, ``-inf`` where the logit is.

    Raises:
      ValueError: logits that are not a non-empty vector, hold NaN or +inf, or are all -inf.

    Source: Sutton and Barto, section 2.8.
    """
    logits = _checked_logits(logits)
    # Subtracting the maximum keeps exp() from overflowing and changes no probability.
    shifted = logits - logits.max()
    return shifted - np.log(np.exp(shifted).sum())


def softmax(logits):
    """Probabilities of the actions.

        pi(a) = exp(logits[a]) / sum_b exp(logits[b])

    Args:
      logits: (A,) one logit for each action; ``-inf`` for an impossible one.

    Returns:
      (A,) float64 probabilities that sum to 1.

    Raises:
      ValueError: as ``log_softmax``.

    Source: Sutton and Barto, section 2.8.
    """
    logits = _checked_logits(logits)
    unnormalised = np.exp(logits - logits.max())
    return unnormalised / unnormalised.sum()


def score_matrix(logits):
    """The score of every action: row ``a`` is the gradient of ``log pi(a)``.

        d log pi(a) / d logits[k] = [a == k] - pi(k)

    Args:
      logits: (A,) one logit for each action.

    Returns:
      (A, A) float64; row a belongs to the action, column k to the logit.

    Raises:
      ValueError: as ``log_softmax``.

    Source: Williams 1992, section 4 (characteristic eligibility).
    """
    p = softmax(logits)
    return np.eye(p.size) - p  # (A, A) - (A,): each row minus pi


def expected_reward(logits, rewards):
    """The objective.

        J = sum_a pi(a) R(a)

    Args:
      logits: (A,) one logit for each action.
      rewards: (A,) the reward of each action, in whatever unit the task pays.

    Returns:
      float, in the unit of the rewards.

    Raises:
      ValueError: as ``log_softmax``; rewards that are not (A,) finite numbers.

    Source: Sutton and Barto, section 2.8.
    """
    p = softmax(logits)
    rewards = _checks.vector("rewards", rewards, size=p.size)
    return float(p @ rewards)


def exact_gradient(logits, weights):
    """The expected score-function estimate, every action counted with its probability.

        sum_a pi(a) w(a) grad log pi(a),     component k:  pi(k) (w(k) - sum_a pi(a) w(a))

    With ``weights`` the rewards this is the policy gradient, grad J.

    Args:
      logits: (A,) one logit for each action.
      weights: (A,) what multiplies each action's score: rewards, rewards minus a baseline, ...

    Returns:
      (A,) float64, one component for each logit.

    Raises:
      ValueError: as ``log_softmax``; weights that are not (A,) finite numbers.

    Source: Williams 1992, theorem 1; Sutton and Barto, section 2.8.
    """
    p = softmax(logits)
    weights = _checks.vector("weights", weights, size=p.size)
    return p * (weights - p @ weights)


def finite_differences(objective, logits, step=1e-5):
    """The gradient found by nudging each logit both ways: the independent check of every formula.

        (objective(logits + step e_k) - objective(logits - step e_k)) / (2 step),     error ~ step^2

    Args:
      objective: function of (A,) logits that returns a number.
      logits: (A,) where to take the gradient; all finite.
      step: size of the nudge, positive.

    Returns:
      (A,) float64.

    Raises:
      ValueError: logits that are not (A,) finite numbers, a step that is not positive, an objective
        that is not a function or returns anything but one finite number.

    Source: Abramowitz and Stegun, 25.3.21.
    """
    if not callable(objective):
        raise ValueError(f"objective is {objective!r}; it must be a function of the logits.")
    logits = _checks.vector("logits", logits)
    step = _checks.number("step", step)
    if step <= 0:
        raise ValueError(f"step is {step}; it must be a positive number, such as 1e-5.")
    nudges = step * np.eye(logits.size)

    def value(z):
        return _checks.number("objective(logits)", objective(z))

    return np.array([value(logits + n) - value(logits - n) for n in nudges]) / (2 * step)


def gradient_covariance(logits, weights):
    """Covariance of the single-sample estimate ``w(a) grad log pi(a)``, with a drawn from pi.

        Cov = sum_a pi(a) d_a d_a^T,     d_a = w(a) grad log pi(a) - exact_gradient

    A mean of N independent samples has this covariance divided by N. With all weights 1 it is
    the Fisher information matrix of the policy.

    Args:
      logits: (A,) one logit for each action.
      weights: (A,) what multiplies each action's score.

    Returns:
      (A, A) float64, symmetric, positive semi-definite.

    Raises:
      ValueError: as ``exact_gradient``.

    Source: Greensmith, Bartlett and Baxter 2004, section 3.
    """
    root = np.sqrt(softmax(logits))[:, None] * _deviations(logits, weights)
    return root.T @ root


def covariance_trace(logits, weights):
    """Total variance of the single-sample estimate: the trace of ``gradient_covariance``.

        sum_a pi(a) |w(a) grad log pi(a) - exact_gradient|^2

    Args:
      logits: (A,) one logit for each action.
      weights: (A,) what multiplies each action's score.

    Returns:
      float, never negative, in squared units of the gradient.

    Raises:
      ValueError: as ``exact_gradient``.

    Source: Greensmith, Bartlett and Baxter 2004, section 3.
    """
    deviations = _deviations(logits, weights)
    return float(softmax(logits) @ (deviations**2).sum(axis=1))


def _deviations(logits, weights):
    """(A, A): row a is action a's estimate minus its mean. Centring first avoids cancellation."""
    mean = exact_gradient(logits, weights)
    weights = np.asarray(weights, dtype=np.float64)
    return weights[:, None] * score_matrix(logits) - mean


def optimal_baseline(logits, rewards, per_coordinate=False):
    """The constant that, subtracted from the rewards, makes the estimate least noisy.

        b* = E[R |score|^2] / E[|score|^2]                          minimises the trace
        b*[k] = E[R score[k]^2] / E[score[k]^2]                     per coordinate k

    Where the score vanishes (a policy with one possible action) every baseline is equally good,
    and E[R] is returned.

    Args:
      logits: (A,) one logit for each action.
      rewards: (A,) the reward of each action.
      per_coordinate: one baseline for each component of the gradient instead of one in all.

    Returns:
      float, or (A,) float64 with ``per_coordinate``; in the unit of the rewards.

    Raises:
      ValueError: as ``expected_reward``.

    Source: Greensmith, Bartlett and Baxter 2004, section 3; Weaver and Tao 2001.
    """
    mean = expected_reward(logits, rewards)
    rewards = np.asarray(rewards, dtype=np.float64)
    squared = score_matrix(logits) ** 2  # (A, A)
    if not per_coordinate:
        squared = squared.sum(axis=1, keepdims=True)  # (A, 1)
    mass = softmax(logits)[:, None] * squared
    norm = mass.sum(axis=0)
    # b* = E[R] + E[(R - E[R]) |score|^2] / E[|score|^2]: the same number, and safe where norm is 0.
    excess = (rewards - mean) @ mass
    baseline = mean + np.divide(excess, norm, out=np.zeros_like(norm), where=norm > 0)
    return baseline if per_coordinate else float(baseline[0])


def entropy(logits):
    """How undecided the policy is.

        H = - sum_a pi(a) log pi(a)

    Args:
      logits: (A,) one logit for each action; an impossible action contributes 0.

    Returns:
      float in nats, from 0 (one action is certain) to log A (all equally likely).

    Raises:
      ValueError: as ``log_softmax``.

    Source: Shannon 1948, section 6.
    """
    p, logp = softmax(logits), log_softmax(logits)
    return float(0.0 - (p * np.where(p > 0, logp, 0.0)).sum())  # "0.0 -": a certain policy has 0, not -0
