"""Weights for answers that another policy drew, and the exact mean and variance of the estimate they make."""

from typing import NamedTuple

import numpy as np

from pglab import _checks
from pglab.offpolicy.answers import Answers

LEVELS = ("none", "token", "prefix", "sequence")
MODES = ("truncate", "mask")


class Moments(NamedTuple):
    """What one answer's estimate is on average, and how far it scatters."""

    mean: np.ndarray  # (n,)
    bias: np.ndarray  # (n,) mean minus the exact gradient
    variance: float  # trace of the covariance
    share: float  # effective sample size, as a share of the samples: (E w)^2 / E w^2, 1 where all weights are equal

    def mse(self, samples):
        """Mean squared error of the mean of n independent answers: |bias|^2 + variance / n."""
        return float(self.bias @ self.bias) + self.variance / _checks.whole("samples", samples, low=1)

    def effective(self, samples):
        """How many equally weighted samples n weighted ones are worth, for large n: n (E w)^2 / E w^2."""
        return self.share * _checks.whole("samples", samples, low=1)


def weights(answers, level="sequence", cap=None, mode="truncate"):
    """What multiplies the score of each token.

        "none"      1                    "prefix"     rho_1 ... rho_t
        "token"     rho_t                "sequence"   rho_1 ... rho_T
        "truncate"  min(w, cap)          "mask"       w if w <= cap, else 0

    Args:
      answers: Answers.
      level: one of ``LEVELS``; "prefix" asks for answers whose tokens have an order.
      cap: the largest weight, a positive number, or None; of no effect where the level is "none".
      mode: one of ``MODES``.

    Returns:
      (N, K) float64; 0 where there is no token.

    Raises:
      ValueError: no Answers, unknown names, a cap that is not positive, a "mask" without a cap.

    Source: Ionides 2008, section 2 ("truncate"); as ``losses.importance_weights`` does it on samples.
    """
    level, cap = checked(answers, level, cap, mode)
    full = uncut(answers, level)
    return (full if cap is None or level == "none" else cut(full, cap, mode)) * (answers.times > 0)


def moments(answers, level="sequence", cap=None, mode="truncate", baseline=0.0):
    """Exact mean, bias and variance of the estimate from one answer drawn from mu.

        g_hat = sum_t w_t (R - b) grad log pi(y_t),     mean = sum_y mu(y) g_hat(y)

    Where the weights have no cap and the level is "sequence" (or there is one token), sum_y mu(y) w score = 0
    and b moves nothing but the variance. Otherwise it moves the bias as well.

    Args:
      answers, level, cap, mode: as in ``weights``.
      baseline: b, subtracted from every reward.

    Returns:
      Moments.

    Raises:
      ValueError: as ``weights``; a baseline that is no number.

    Source: Owen 2013, sections 9.1 and 9.3 (effective sample size).
    """
    w = weights(answers, level, cap, mode)
    mean, square = sums(answers, w[None], _checks.number("baseline", baseline))
    mass = answers.chance[:, None] * answers.times
    if level == "sequence":  # one weight for an answer, however long it is
        mass = answers.chance[:, None] * (answers.times > 0) / (answers.times > 0).sum(1, keepdims=True)
    first, second = (mass * w).sum(), mass.sum() * (mass * w**2).sum()
    variance = max(float(square[0] - mean[0] @ mean[0]), 0.0)
    share = float(first**2 / second) if second > 0 else 0.0
    return Moments(mean[0], mean[0] - answers.gradient, variance, share)


def checked(answers, level, cap, mode):
    """The level and the cap, if all four fit together."""
    if not isinstance(answers, Answers):
        raise ValueError(f"answers is a {type(answers).__name__}; it must be Answers, as one_decision gives.")
    _checks.one_of("level", level, LEVELS, repr), _checks.one_of("mode", mode, MODES, repr)
    if level == "prefix" and not answers.ordered:
        raise ValueError("level is 'prefix', but these answers list no order; it must be another level.")
    if cap is None and mode == "mask" and level != "none":
        raise ValueError("cap is None; it must be a positive number, for mode 'mask'.")
    if cap is None:
        return level, None
    number = _checks.floats("cap", cap, "a positive number, or None")
    if number.ndim or not number > 0:  # infinity is a cap that nothing reaches
        raise ValueError(f"cap is {cap}; it must be one number larger than 0, or None.")
    return level, float(number)


def uncut(answers, level):
    """(N, K) weights without a cap."""
    ratio = answers.log_ratio
    if level == "none":
        return np.ones_like(ratio)
    if level == "prefix":
        ratio = ratio.cumsum(axis=1)
    if level == "sequence":  # a token whose ratio is 0 has -inf here, which no number of others brings back
        parts = np.where(answers.times > 0, ratio, 0.0) * np.where(answers.times > 0, answers.times, 1.0)
        ratio = np.broadcast_to(parts.sum(axis=1, keepdims=True), ratio.shape)
    return np.exp(ratio)


def cut(full, cap, mode):
    """Weights with a cap, or with several: ``cap`` is broadcast."""
    return np.minimum(full, cap) if mode == "truncate" else np.where(full <= cap, full, 0.0)


def sums(answers, w, baseline):
    """Mean (C, n) and mean square (C,) of the estimate, for C tables of weights, (C, N, K)."""
    paid = answers.rewards - baseline
    one = (answers.chance * paid)[:, None, None] * answers.times[..., None] * answers.scores  # (N, K, n)
    mean = w.reshape(len(w), -1) @ one.reshape(-1, one.shape[-1])
    # (C, N, K): for each weight what it meets in its own answer, the others' weights included
    met = np.matmul(w.swapaxes(0, 1), answers.products).swapaxes(0, 1)
    return mean, ((w * met).sum(axis=2)) @ (answers.chance * paid**2)
