"""What GRPO's division by the standard deviation does where rewards are 0 and 1: a scale, and an objective.

With one prompt and two reward values every advantage that looks only at rewards points along the
true gradient; all it can change is how long the step is. Here is that length, c(p, G), and the
function of p whose gradient it makes.
"""

import math

import numpy as np

from pglab import _checks


def grpo_scale(p, size, eps=1e-4, ddof=1):
    """The expected GRPO gradient of one prompt, in true gradients.

        E[1/G sum_i A_i score_i] = c(p, G) grad J,     c = E[k (1 - k) / (std + eps)] / (p (1 - p))

    k is the share of right answers in the group, std its standard deviation, p = J the pass rate. The
    two factors of the fraction cancel: a group's k (1 - k) is 0 where all are alike, and

        c = (G - 1)/G E[1 / (std_m + eps)],     m - 1 of the other G - 2 right, m = 1 .. G - 1

    with std_m of a group with m right answers. So c is finite at 0 and at 1 as well, where no group
    shows a difference any more: it is the limit there. Rewards of 0 and 1, one prompt, mean over the group.

    Args:
      p: pass rate of the prompt, a number or an array of them, from 0 to 1.
      size: G, samples in a group, at least 2.
      eps: added to the standard deviation; 0 or more.
      ddof: 1 for the sample standard deviation, 0 for that of the population.

    Returns:
      float, or float64 array of the shape of p.

    Raises:
      ValueError: a pass rate outside 0 to 1, a size below 2, a negative eps, a ddof other than 0 and 1.

    Source: advantages as in Shao et al. 2024 (GRPO), section 4.1.1; the scale derived here.
    """
    p, size, heights = _checked(p, size, eps, ddof)
    return _mean(p, size - 2, (size - 1) / size * heights)


def grpo_objective(p, size, eps=1e-4, ddof=1):
    """The objective that GRPO's expected gradient climbs, as a function of the pass rate; 0 at p = 0.

        F(p) = integral of c(q, G) from 0 to p = 1/G E[sum_{m = 1 .. j} 1 / (std_m + eps)]

    j is how many of G - 1 answers are right. grad F = c grad J by the chain rule. For large groups
    (ddof 0, eps 0) it tends to 2 arcsin sqrt(p): steepest near 0 and near 1, where J is not.

    Args, Raises:
      as ``grpo_scale``.

    Returns:
      float, or float64 array of the shape of p.

    Source: derived here; integrals of binomial probabilities, Feller 1968, section VI.10 (problems).
    """
    p, size, heights = _checked(p, size, eps, ddof)
    return _mean(p, size - 1, np.concatenate([[0.0], heights.cumsum()]) / size)


def _checked(p, size, eps, ddof):
    """p as an array, the size, and (G - 1,) 1 / (std_m + eps) of groups with m = 1 .. G - 1 right answers."""
    size, eps = _checks.whole("size", size, low=2), _checks.number("eps", eps, low=0)
    if _checks.number("ddof", ddof) not in (0, 1):
        raise ValueError(f"ddof is {ddof!r}; it must be 0 (population) or 1 (sample).")
    p = _checks.floats("p", p, "a pass rate from 0 to 1")
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError("p holds a number outside 0 to 1; it must be a pass rate from 0 to 1.")
    right = np.arange(1, size)
    deviation = np.sqrt(right * (size - right) / (size * (size - int(ddof))))
    return p, size, 1 / (deviation + eps)


def _mean(p, tries, heights):
    """E[heights[j]], j of ``tries`` right with probability p each; heights (tries + 1,), any shape of p."""
    j = np.arange(tries + 1)
    log_factorial = np.array([math.lgamma(n + 1) for n in j])
    with np.errstate(divide="ignore", invalid="ignore"):
        log_p, log_q = np.log(p)[..., None], np.log1p(-p)[..., None]
        # 0 times -inf is NaN where it should be 0: that nobody is right at p = 0 is certain.
        logs = np.where(j > 0, j * log_p, 0.0) + np.where(j < tries, (tries - j) * log_q, 0.0)
    chance = np.exp(log_factorial[-1] - log_factorial - log_factorial[::-1] + logs)
    result = chance @ heights
    return float(result) if result.ndim == 0 else result
