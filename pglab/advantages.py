"""One function for each weight: constant, batch mean, leave-one-out, GRPO and others, with masks.

Rewards in, what multiplies each score out.

Groups stand on the last axis: ``rewards`` has shape (..., G), one row of G completions for each
prompt. NumPy arrays and torch tensors both work, and what comes in (kind, device, precision)
comes out; half precision is computed, and comes out, in float32. No function here detaches: hand
in rewards that carry no gradient.

Shared by all:

* ``mask`` is False where a completion could not be scored. It is left out of every mean and
  every spread, and its advantage is 0, whatever stands in its place (NaN too).
* NaN or infinity where the mask is True raises. A verifier that failed is not a reward of 0.
* Rewards that are all equal are found by comparing the largest with the smallest: in float32 a
  mean of equal numbers need not equal them. Their advantage is exactly 0, except in ``constant``.
* A group of one has nothing to be compared with: ``leave_one_out``, ``leave_one_out_std`` and
  ``grpo`` raise; where the mean includes the sample itself, the advantage is 0. If a mask
  leaves one completion of a larger group, its advantage is 0 and the batch goes on.
"""

from pglab import _arrays, _checks, _masked
from pglab._masked import where as _where


def constant(rewards, baseline=0.0, mask=None):
    """Rewards minus one number.

        A_i = r_i - b

    With b = 0 the bare reward of REINFORCE; with b = E[R] the value; ``bandit.optimal_baseline``
    gives the least noisy b. Any b that does not look at the action leaves the mean gradient as it is.

    Args:
      rewards: (..., G) rewards.
      baseline: one number, in the unit of the rewards.
      mask: (..., G) booleans, False where a completion could not be scored; None if all were.

    Returns:
      (..., G) advantages, in the unit of the rewards.

    Raises:
      ValueError: a baseline that is not one number (one for each completion could depend on the
        action, and would then bias the gradient); rewards that are not finite where the mask is True.

    Source: Williams 1992, section 4 (reinforcement baseline).
    """
    rewards, mask = _rewards(rewards, mask)
    baseline = _checks.number("baseline", baseline)
    return _where(mask, rewards - baseline, 0.0)


def batch_mean(rewards, mask=None):
    """Rewards minus the mean of their group, each reward included in the mean it is compared with.

        A_i = r_i - mean(r_1 .. r_G),     E[gradient estimate] = (G - 1)/G times the gradient

    Args:
      rewards: (..., G) rewards.
      mask: (..., G) booleans, False where a completion could not be scored; None if all were.

    Returns:
      (..., G) advantages, in the unit of the rewards; they sum to 0 in every group. A group of
      one gives 0.

    Raises:
      ValueError: rewards that are not finite where the mask is True, or an empty group.

    Source: Shao et al. 2024 (GRPO), section 4.1.1, before the division.
    """
    rewards, mask = _rewards(rewards, mask)
    return _masked.centred(rewards, mask)


def dr_grpo(rewards, mask=None):
    """The advantage of Dr. GRPO: that of GRPO without the division by the standard deviation.

        A_i = r_i - mean(r_1 .. r_G)

    The same numbers as ``batch_mean``; the other half of Dr. GRPO is the loss's denominator.

    Args:
      rewards: (..., G) rewards.
      mask: (..., G) booleans, False where a completion could not be scored; None if all were.

    Returns:
      (..., G) advantages, in the unit of the rewards.

    Raises:
      ValueError: as ``batch_mean``.

    Source: Liu et al. 2025, Understanding R1-Zero-like training, section 3.
    """
    return batch_mean(rewards, mask)


def leave_one_out(rewards, mask=None):
    """Rewards minus the mean of the *others* of their group (RLOO).

        A_i = r_i - 1/(G-1) sum_{j != i} r_j  =  G/(G-1) (r_i - mean(r_1 .. r_G))

    The others do not know which action sample i took, so the gradient estimate is unbiased.

    Args:
      rewards: (..., G) rewards, G at least 2.
      mask: (..., G) booleans, False where a completion could not be scored; None if all were.

    Returns:
      (..., G) advantages, in the unit of the rewards. Where the mask leaves one completion: 0.

    Raises:
      ValueError: a group of one; rewards that are not finite where the mask is True.

    Source: Kool, van Hoof and Welling 2019; Ahmadian et al. 2024 (RLOO), section 2.
    """
    rewards, mask = _rewards(rewards, mask, smallest=2)
    return _masked.against_others(rewards, mask)


def grpo(rewards, eps=1e-4, ddof=1, mask=None):
    """Rewards in standard deviations from the mean of their group (GRPO).

        A_i = (r_i - mean) / (std + eps),     std^2 = sum_j (r_j - mean)^2 / (G - ddof)

    Args:
      rewards: (..., G) rewards, G at least 2.
      eps: added to the standard deviation, in the unit of the rewards; 0 or more.
      ddof: 1 for the sample standard deviation (TRL, verl), 0 for that of the population.
      mask: (..., G) booleans, False where a completion could not be scored; None if all were.

    Returns:
      (..., G) advantages, without a unit. A group of equal rewards gives exactly 0.

    Raises:
      ValueError: a group of one, a negative eps, a ddof other than 0 and 1; rewards that are not
        finite where the mask is True.

    Source: Shao et al. 2024 (GRPO), section 4.1.1; eps and ddof as in TRL 1.16, grpo_trainer.py.
    """
    rewards, mask = _rewards(rewards, mask, smallest=2)
    eps, ddof = _checks.number("eps", eps, low=0), _ddof(ddof)
    differences = _masked.centred(rewards, mask)
    scale = _masked.deviation(differences, mask, ddof) + eps
    return differences / _where(scale > 0, scale, 1.0)


def max_rl(rewards, mask=None):
    """Rewards relative to the mean of their group (MaxRL).

        A_i = (r_i - mean) / mean

    Args:
      rewards: (..., G) rewards, none negative, such as 0 and 1.
      mask: (..., G) booleans, False where a completion could not be scored; None if all were.

    Returns:
      (..., G) advantages, without a unit. A group that earned nothing gives 0.

    Raises:
      ValueError: a negative reward (the mean could be 0 or below); rewards that are not finite
        where the mask is True.

    Source: Tajwar et al. 2026, Maximum likelihood reinforcement learning, arXiv 2602.02710.
    """
    rewards, mask = _rewards(rewards, mask)
    if bool((rewards < 0).any()):
        raise ValueError(
            "rewards holds a negative number; max_rl divides by the mean and needs rewards >= 0."
        )
    average = _masked.mean(rewards, mask)
    return _masked.centred(rewards, mask) / _where(average > 0, average, 1.0)


def leave_one_out_std(rewards, eps=1e-6, mask=None):
    """Rewards in standard deviations of the *others*, from the mean of the others.

        A_i = (r_i - mean_{j != i} r_j) / (std_{j != i} r_j + eps),     sample standard deviation

    Where the others are all equal, or only one, their standard deviation says nothing and the
    difference stays undivided. The advantages of a group need not sum to 0.

    Args:
      rewards: (..., G) rewards, G at least 2.
      eps: added to the standard deviation, in the unit of the rewards; 0 or more.
      mask: (..., G) booleans, False where a completion could not be scored; None if all were.

    Returns:
      (..., G) advantages.

    Raises:
      ValueError: a group of one, a negative eps; rewards that are not finite where the mask is True.

    Source: NeMo-RL 7ea279ab, algorithms/advantage_estimator.py (its default).
    """
    rewards, mask = _rewards(rewards, mask, smallest=2)
    eps = _checks.number("eps", eps, low=0)
    spread = _masked.deviation_of_others(rewards, mask)
    return _masked.against_others(rewards, mask) / _where(spread > 0, spread + eps, 1.0)


def whiten(advantages, eps=1e-8, ddof=1, mask=None):
    """Numbers with mean 0 and variance 1 over the *whole* batch, all axes together.

        A'_i = (A_i - mean) / sqrt(variance + eps),     variance = sum_j (A_j - mean)^2 / (n - ddof)

    Args:
      advantages: (...) of at least one axis; each entry counts the same.
      eps: added to the variance, inside the root; 0 or more.
      ddof: 1 for the sample variance, 0 for that of the population.
      mask: booleans of that shape, False where an entry does not count; None if all do.

    Returns:
      Numbers of the same shape: exactly 0 where the mask is False, in a batch of equals, of one.

    Raises:
      ValueError: a negative eps, a ddof other than 0 and 1; entries that are not finite where the
        mask is True.

    Source: verl 0.10, utils/torch_functional.py, masked_whiten.
    """
    advantages, mask = _rewards(advantages, mask, name="advantages")
    eps, ddof = _checks.number("eps", eps, low=0), _ddof(ddof)
    if 0 in advantages.shape:
        return advantages  # no groups, no numbers
    counted = mask.reshape(-1)
    differences = _masked.centred(advantages.reshape(-1), counted)
    scale = _masked.deviation(differences, counted, ddof)
    if eps > 0:  # the root of variance + eps, without squaring
        xp = _arrays.namespace(scale)
        scale = xp.hypot(scale, xp.full_like(scale, eps**0.5))
    return (differences / _where(scale > 0, scale, 1.0)).reshape(advantages.shape)


def _rewards(rewards, mask, smallest=1, name="rewards"):
    """Checked rewards, 0 where the mask is False, and the mask as booleans."""
    wanted = f"numbers of shape (..., G), G at least {smallest}"
    wanted += " (a group of one has no others to be compared with)" if smallest == 2 else ""
    rewards = _arrays.floating(name, rewards, wanted)
    if rewards.ndim == 0 or rewards.shape[-1] < smallest:
        shape = tuple(rewards.shape)
        raise ValueError(f"{name} has shape {shape}, the last axis being the group; it must be {wanted}.")
    return _masked.scored(name, rewards, mask, wanted)


def _ddof(ddof):
    if _checks.number("ddof", ddof) not in (0, 1):
        raise ValueError(f"ddof is {ddof!r}; it must be 0 (population) or 1 (sample).")
    return int(ddof)
