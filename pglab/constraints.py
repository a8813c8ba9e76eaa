"""What keeps a step small: ratios, surrogates and clip, Fisher matrix, natural gradient, trust-region step,
all exact.

Everything is about one softmax over A actions: ``old_logits`` sampled the data, ``logits`` are
being changed, ratio(a) = pi(a) / pi_old(a). For a step in many states at once, each state has its
own rows and the sum over states is the caller's.
"""

import numpy as np

from pglab import _checks, bandit, kl

SHORTER = 0.9  # what a step that went too far is multiplied by, until it fits
ROUNDING = 1e-12  # a gradient whose entries sum to less than this, relatively, sums to 0


def ratios(logits, old_logits):
    """Importance ratios.

        ratio(a) = pi(a) / pi_old(a)

    Args:
      logits: (A,) of the policy.
      old_logits: (A,) of the policy that sampled; finite, so that it can sample every action.

    Returns:
      (A,) float64; their mean under pi_old is 1. One beyond the range of float64 is ``inf``.

    Raises:
      ValueError: logits that are no vectors of one length, or old ones that are not finite.

    Source: Owen 2013, Monte Carlo theory, methods and examples, section 9.1.
    """
    new, old = bandit.log_softmax(logits), bandit.log_softmax(_checks.vector("old_logits", old_logits))
    if old.size != new.size:
        raise ValueError(f"old_logits has {old.size} entries; it must have {new.size}, as logits has.")
    with np.errstate(over="ignore"):
        return np.exp(new - old)


def held(ratio, weights, low, high):
    """Where PPO's clip holds, so that a sample has no gradient: it has had what it wanted.

        w > 0 and ratio > 1 + high,     or     w < 0 and ratio < 1 - low

    Args:
      ratio: (...) importance ratios.
      weights: (...) weights of the same samples or actions.
      low, high: how far below and above 1 a ratio may be, at least 0.

    Returns:
      (...) booleans.

    Raises:
      nothing.

    Source: Schulman et al. 2017 (PPO), figure 1.
    """
    return ((weights > 0) & (ratio > 1 + high)) | ((weights < 0) & (ratio < 1 - low))


def surrogate(logits, old_logits, weights, clip=None):
    """What PPO climbs, with every action counted: its exact expectation under the old policy.

        L = sum_a pi_old(a) min(ratio(a) w(a), clipped ratio(a) w(a))

    Without a clip L = sum_a pi(a) w(a): for weights that are rewards, the true objective.

    Args:
      logits: (A,) of the policy.
      old_logits: (A,) of the policy that sampled.
      weights: (A,) weight of each action, such as its advantage under the old policy.
      clip: (low, high), the ratio being clipped to [1 - low, 1 + high]; None for no clip.

    Returns:
      float, in the unit of the weights.

    Raises:
      ValueError: as ``ratios``; weights of another length, a clip that is not two numbers >= 0.

    Source: Schulman et al. 2017 (PPO), equation 7.
    """
    ratio = ratios(logits, old_logits)
    weights = _checks.vector("weights", weights, size=ratio.size)
    terms = bandit.softmax(logits) * weights  # pi_old(a) ratio(a) w(a), even where the ratio overflows
    if clip is not None:
        low, high = _clip(clip)
        clipped = bandit.softmax(old_logits) * np.clip(ratio, 1 - low, 1 + high)
        terms = np.minimum(terms, clipped * weights)
    return float(terms.sum())


def surrogate_gradient(logits, old_logits, weights, clip=None):
    """Gradient of ``surrogate`` by the logits.

        grad L = sum_a pi(a) w(a) alive(a) grad log pi(a)

    alive(a) is 0 where the clip holds: w > 0 and ratio > 1 + high, or w < 0 and ratio < 1 - low.

    Args, Raises:
      as ``surrogate``.

    Returns:
      (A,) float64.

    Source: Schulman et al. 2017 (PPO), section 3.
    """
    ratio = ratios(logits, old_logits)
    weights = _checks.vector("weights", weights, size=ratio.size)
    if clip is not None:
        weights = np.where(held(ratio, weights, *_clip(clip)), 0.0, weights)
    return bandit.exact_gradient(logits, weights)


def fisher(logits):
    """Fisher information matrix of the policy: the curvature of KL(old || new) at new = old.

        F = sum_a pi(a) score(a) score(a)^T = diag(pi) - pi pi^T

    Args:
      logits: (A,) one logit for each action.

    Returns:
      (A, A) float64. Adding one number to every logit changes no probability, so F (1, .., 1) = 0.

    Raises:
      ValueError: as ``bandit.log_softmax``.

    Source: Kakade 2001, A natural policy gradient, section 2.
    """
    p = bandit.softmax(logits)
    return bandit.gradient_covariance(logits, np.ones(p.size))


def natural_gradient(logits, gradient):
    """The direction that changes the policy, not its numbers, as little as possible for its gain.

        F^+ gradient,     F^+ the pseudo-inverse

    In closed form gradient / pi, less the mean of that: F x = pi (x - E[x]). For the gradient of
    E[w], which is pi (w - E[w]), it is w less its mean, whatever the probabilities are.

    Args:
      logits: (A,) one logit for each action; finite.
      gradient: (A,) of the objective by the logits.

    Returns:
      (A,) float64, summing to 0.

    Raises:
      ValueError: logits or gradient that are not finite vectors of one length.

    Source: Kakade 2001, section 2.
    """
    logits = _checks.vector("logits", logits)
    gradient = _checks.vector("gradient", gradient, size=logits.size)
    p = bandit.softmax(logits)
    possible = p >= np.finfo(np.float64).tiny  # below, F has an empty row, and so has F^+
    p, gradient = p[possible], gradient[possible]
    surplus = gradient.sum()
    if abs(surplus) > ROUNDING * abs(gradient).sum():  # the part outside the range of F, which F^+ drops
        gradient = gradient - surplus / p.size
    direction = np.zeros(logits.size)
    direction[possible] = gradient / p - (gradient / p).mean()
    return direction


def trust_region_step(logits, gradient, max_kl, line_search=True):
    """The natural step as long as the trust region allows (TRPO).

        step = sqrt(2 max_kl / (g^T F^+ g)) F^+ g

    This is the best step where KL(old || new) is replaced by its parabola (1/2) step^T F step. The
    true KL is a little more or less; with ``line_search`` the step is shortened by tenths until it fits.

    Args:
      logits: (A,) one logit for each action; finite.
      gradient: (A,) of the objective by the logits. A zero gradient gives a zero step.
      max_kl: how far the new policy may be from the old, KL(old || new) in nats, positive.
      line_search: False takes the step as the parabola gives it.

    Returns:
      (A,) the new logits.

    Raises:
      ValueError: as ``natural_gradient``; a max_kl that is not positive.

    Source: Schulman et al. 2015 (TRPO), appendix C. It also asks for a rise of the surrogate; with
    the exact gradient of an expected reward a small enough step has one, so here KL alone is asked.
    """
    logits = _checks.vector("logits", logits)
    if _checks.number("max_kl", max_kl) <= 0:
        raise ValueError(f"max_kl is {max_kl}; it must be a positive number of nats, such as 0.01.")
    gradient = _checks.vector("gradient", gradient, size=logits.size)
    largest = abs(gradient).max()
    if largest == 0:
        return logits
    gradient = gradient / largest  # its length does not matter, so neither does an extreme unit
    direction = natural_gradient(logits, gradient)
    gain = float(direction @ gradient)
    if gain <= 0:
        return logits
    step = np.sqrt(2 / gain) * np.sqrt(max_kl) * direction
    while line_search and kl.divergence(logits, logits + step) > max_kl:
        step = SHORTER * step
    return logits + step


def _clip(clip):
    wanted = "(low, high), two numbers at least 0, or None"
    try:
        low, high = clip
    except (TypeError, ValueError) as error:
        raise ValueError(f"clip is {clip!r}; it must be {wanted}.") from error
    return _checks.number("clip[0]", low, low=0), _checks.number("clip[1]", high, low=0)
