"""The seven weights of notebook 03, and the exact moments of the estimate that each of them gives."""

from dataclasses import dataclass

import numpy as np

from pglab import _checks, advantages, bandit, groups

SINGLE = ("none", "constant", "value", "optimal")  # a sample's weight does not look at the others
GROUPED = {
    "batch_mean": advantages.batch_mean,
    "leave_one_out": advantages.leave_one_out,
    "grpo": advantages.grpo,
}
WEIGHTS = (*SINGLE, *GROUPED)


@dataclass(frozen=True)
class Moments:
    """Exact mean (A,) and covariance (A, A) of a gradient estimate, beside the gradient (A,) it is for."""

    gradient: np.ndarray
    mean: np.ndarray
    covariance: np.ndarray

    @property
    def variance(self):
        """Total variance: the trace of the covariance."""
        return float(np.trace(self.covariance))

    @property
    def squared_bias(self):
        """Squared length of mean minus gradient; exactly 0 where rounding is all there is."""
        squared = float(np.sum((self.mean - self.gradient) ** 2))
        return squared if squared > 1e-24 * max(1.0, float(self.gradient @ self.gradient)) else 0.0

    def matched(self):
        """The same estimate times the number that makes its mean as long as the gradient, along it.

        A step size does that in practice. None where the mean has no component along the gradient.
        """
        along = float(self.mean @ self.gradient)
        if along <= 1e-12:
            return None
        scale = float(self.gradient @ self.gradient) / along
        return Moments(self.gradient, scale * self.mean, scale**2 * self.covariance)


def baseline_of(weight, logits, rewards, b):
    """The number that a single-sample weight subtracts from the reward."""
    if weight == "value":
        return bandit.expected_reward(logits, rewards)
    if weight == "optimal":
        return bandit.optimal_baseline(logits, rewards)
    return b if weight == "constant" else 0.0


def moments(weight, logits, rewards, size, b=0.0):
    """Moments of the estimate from one group of ``size`` samples.

    Args:
      weight: one of WEIGHTS.
      logits, rewards: (A,) of the bandit.
      size: samples in a group.
      b: the baseline of the weight "constant", one number.

    Returns:
      Moments, or None where the weight needs company and the group is of one.

    Raises:
      ValueError: a weight that is none of WEIGHTS; as ``bandit.exact_gradient`` and ``groups.moments``.
    """
    gradient = bandit.exact_gradient(logits, rewards)
    if weight in SINGLE:
        centred = advantages.constant(rewards, baseline_of(weight, logits, rewards, b))
        mean = bandit.exact_gradient(logits, centred)
        return Moments(gradient, mean, bandit.gradient_covariance(logits, centred) / size)
    _checks.one_of("weight", weight, WEIGHTS)
    if size == 1 and weight != "batch_mean":
        return None
    return Moments(gradient, *groups.moments(logits, rewards, GROUPED[weight], size))
