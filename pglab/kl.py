"""k1, k2, k3: their values, and the gradient each gives as a loss or in the reward.

These estimate the KL divergence from single samples.

Samples a come from the policy pi; ref is the reference. With d(a) = log pi(a) - log ref(a):

    k1 = d,     k2 = d^2 / 2,     k3 = exp(-d) - 1 + d

    KL(pi || ref) = E_pi[k1] = E_pi[k3] = sum_a pi(a) d(a)

The order of the arguments is that of KL(policy || reference). Swapped, k1 in the reward pays the
policy for leaving its reference, k2 stays as it is, and k3 has another mean.

Source: Schulman 2020, Approximating KL divergence (the three estimators and their names).
"""

import numpy as np

from pglab import _arrays, _checks, bandit
from pglab._masked import where as _where

KINDS = ("k1", "k2", "k3")
WHERES = ("loss", "ratio_loss", "reward")
SMALL = 0.25  # below this, exp(-d) - 1 + d is summed as a series: the formula would cancel
TERMS = 14  # of that series; what is left out is below rounding, even in float64


def divergence(logits, ref_logits):
    """How far a policy is from its reference, exactly.

        KL(pi || ref) = sum_a pi(a) (log pi(a) - log ref(a))

    Args:
      logits: (A,) of the policy.
      ref_logits: (A,) of the reference.

    Returns:
      float in nats, never negative; ``inf`` where the policy can do what the reference cannot.

    Raises:
      ValueError: logits that are no vector, hold NaN or +inf; two vectors of different lengths.

    Source: Kullback and Leibler 1951; MacKay 2003, equation 2.45.
    """
    pi, logp = bandit.softmax(logits), bandit.log_softmax(logits)
    ref = bandit.log_softmax(_checks.vector("ref_logits", ref_logits, pi.size, allow_minus_inf=True))
    possible = pi > 0
    difference = np.where(possible, logp, 0.0) - np.where(possible, ref, 0.0)
    if possible.all() and (abs(difference) < SMALL).all():  # E[k1] = E[k3], whose terms do not cancel
        return float(pi @ _k3(difference))
    return float(max(np.where(possible, pi * difference, 0.0).sum(), 0.0))


def estimate(logprobs, ref_logprobs, kind, mask=None):
    """What one sample says about KL(pi || ref).

        d = logprobs - ref_logprobs;     k1 = d,     k2 = d^2 / 2,     k3 = exp(-d) - 1 + d

    Args:
      logprobs: (...) log pi of sampled actions (or of tokens, or of whole completions), NumPy or torch.
      ref_logprobs: (...) log ref of the same; -inf for what the reference never does.
      kind: "k1", "k2" or "k3".
      mask: (...) booleans, True where an entry counts; None if all do.

    Returns:
      (...) in nats, differentiable where ``logprobs`` is; 0 where the mask is False, whatever
      stands there, NaN and -inf too. What no floating-point number can hold is ``inf``: k3 grows
      as ref / pi, and is infinite in float32 once d is below -88.

    Raises:
      ValueError: another kind; shapes that differ; where the mask is True: NaN, +inf, or a -inf in
        ``logprobs`` (the policy cannot have sampled it).

    Source: Schulman 2020, Approximating KL divergence.
    """
    _checks.one_of("kind", kind, KINDS)
    logprobs, ref = _pair(logprobs, ref_logprobs)
    mask = _arrays.boolean("mask", mask, logprobs)
    logprobs, ref = _where(mask, logprobs, 0.0), _where(mask, ref, 0.0)
    xp = _arrays.namespace(logprobs)
    if not bool((xp.isfinite(logprobs) & (ref < xp.inf)).all()):
        raise ValueError(
            "logprobs and ref_logprobs must be finite where the mask is True (ref_logprobs may be -inf); "
            "there is NaN, +inf, or an action that the policy cannot have sampled (-inf)."
        )
    with np.errstate(over="ignore"):
        return _ESTIMATES[kind](logprobs - ref)


def _k1(difference):
    return difference


def _k2(difference):
    return difference**2 / 2


def _k3(difference):
    """exp(-d) - 1 + d, without loss of digits near 0, and never negative."""
    near = abs(difference) < SMALL
    x = _where(near, -difference, 0.0)
    series = 1.0
    for n in range(TERMS, 2, -1):
        series = 1 + x / n * series
    series = x**2 / 2 * series
    far = _where(near, 1.0, difference)
    return _where(near, series, _arrays.namespace(far).expm1(-far) + far)


_ESTIMATES = {"k1": _k1, "k2": _k2, "k3": _k3}


def _slope(kind, difference):
    """Derivative of k by log pi: what is left of its gradient once the score is taken out."""
    return {"k1": np.ones_like, "k2": np.array, "k3": lambda d: -np.expm1(-d)}[kind](difference)


def gradient(logits, ref_logits, kind, where="loss", detach=True, behaviour_logits=None):
    """Expected gradient, by the logits, of a KL penalty: exactly what a training step descends.

    With a drawn from the behaviour policy mu (pi itself unless given), score = grad log pi(a), and
    k' the derivative of k by log pi (1 for k1, d for k2, 1 - exp(-d) for k3):

        "loss"        E_mu[k'(a) score(a)]                          back-propagated through k alone
        "ratio_loss"  E_mu[(pi/mu) (k(a) + k'(a)) score(a)]         through (pi/mu) k
        "reward"      E_mu[(pi/mu) k_mu(a) score(a)]                k subtracted from the reward when the
                                                                    action was sampled, so with log mu in it
        "reward", detach=False: adds E_mu[log pi(a) k'(a) score(a)], the path through the weight (on-policy)

    This is grad KL(pi || ref) for k1 and k3 as ratio_loss; on-policy also for k1 as reward and k2 as loss.

    Args:
      logits: (A,) of the policy.
      ref_logits: (A,) of the reference; finite.
      kind: "k1", "k2" or "k3".
      where: "loss", "ratio_loss" or "reward".
      detach: False leaves the gradient path through a penalty that was folded into the reward.
      behaviour_logits: (A,) of the policy that sampled; None for the policy itself.

    Returns:
      (A,) float64, in nats. Subtract beta times it from the gradient of the reward.

    Raises:
      ValueError: another kind or where; logits that are not finite vectors of one length;
        detach=False elsewhere than in an on-policy reward.

    Source: Schulman 2020; Tang and Munos 2025, On a few pitfalls in KL divergence gradient estimation.
    """
    _checks.one_of("kind", kind, KINDS)
    _checks.one_of("where", where, WHERES)
    if not detach and (where != "reward" or behaviour_logits is not None):
        raise ValueError('detach=False has a meaning for where="reward" without behaviour_logits alone.')
    logits = _checks.vector("logits", logits)
    ref_logits = _checks.vector("ref_logits", ref_logits, logits.size)
    sampler = logits
    if behaviour_logits is not None:
        sampler = _checks.vector("behaviour_logits", behaviour_logits, logits.size)
    pi, mu = bandit.softmax(logits), bandit.softmax(sampler)
    logp, ref = bandit.log_softmax(logits), bandit.log_softmax(ref_logits)
    k = _ESTIMATES[kind]
    with np.errstate(over="ignore", invalid="ignore"):  # refused below
        slope = _slope(kind, logp - ref)
        if where == "loss":
            weighted = mu * slope
        elif where == "ratio_loss":
            weighted = pi * (k(logp - ref) + slope)
        else:
            weighted = pi * (k(bandit.log_softmax(sampler) - ref) + (0.0 if detach else logp * slope))
    if not np.isfinite(weighted).all():
        raise ValueError(f"{kind} is too large for float64; logits and ref_logits must lie closer together.")
    return weighted - pi * weighted.sum()  # sum_a weighted(a) score(a), score(a) = onehot(a) - pi


def _pair(logprobs, ref_logprobs):
    wanted = "log-probabilities, both arrays of one shape"
    logprobs = _arrays.floating("logprobs", logprobs, wanted)
    ref = _arrays.like("ref_logprobs", ref_logprobs, logprobs, wanted)
    if tuple(ref.shape) != tuple(logprobs.shape):
        shapes = f"{tuple(logprobs.shape)} and {tuple(ref.shape)}"
        raise ValueError(f"logprobs and ref_logprobs have shapes {shapes}; they must be {wanted}.")
    return logprobs, ref
