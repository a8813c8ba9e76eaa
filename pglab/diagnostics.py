"""Effective sample size, groups without a signal, entropy, gradient noise, clip fraction, pass@k.

These are what to watch while a policy trains: they say whether a step can have taught anything.

NumPy arrays and torch tensors alike, except where plain numbers go in.
"""

import math

from pglab import _arrays, _checks, _masked
from pglab._masked import where as _where


def effective_sample_size(weights):
    """How many equally weighted samples would be as good as these weighted ones.

        n_eff = (sum_i w_i)^2 / sum_i w_i^2,     from 1 (one weight holds all) to n (all equal)

    Only the proportions count; weights known by their logarithms l are best given as
    exp(l - max l), which cannot overflow.

    Args:
      weights: (..., n) importance weights, none negative, in any unit.

    Returns:
      (...) effective numbers of samples.

    Raises:
      ValueError: a weight that is negative or not finite, or a row of zeros.

    Source: Kong, Liu and Wong 1994 (n / (1 + cv^2), cv the coefficient of variation of the weights).
    """
    wanted = "finite weights, 0 or more, of shape (..., n), one of them positive in every row"
    weights = _arrays.floating("weights", weights, wanted)
    if weights.ndim == 0 or weights.shape[-1] == 0:
        raise ValueError(f"weights has shape {tuple(weights.shape)}; it must be {wanted}.")
    xp = _arrays.namespace(weights)
    if not bool((xp.isfinite(weights) & (weights >= 0)).all()):
        raise ValueError(f"weights holds a negative number, NaN or infinity; it must be {wanted}.")
    largest = xp.amax(weights, axis=-1, keepdims=True)
    if not bool((largest > 0).all()):
        raise ValueError(f"weights holds a row of zeros; it must be {wanted}.")
    shares = weights / largest  # no square overflows, the largest is 1
    return shares.sum(axis=-1) ** 2 / (shares**2).sum(axis=-1)


def zero_std_groups(rewards, mask=None):
    """Which groups have rewards that are all equal, and so teach nothing by comparison.

        zero_i = max(r_i1 .. r_iG) == min(r_i1 .. r_iG)

    Group by group, whatever the advantages are scaled by. Such a group still has a gradient where a
    KL term or an entropy bonus is in the loss, and its tokens still count in a token mean.

    Args:
      rewards: (..., G) rewards, groups on the last axis.
      mask: (..., G) booleans, False where a completion could not be scored; None if all were.

    Returns:
      (...) booleans. True as well for a group of which one completion or none could be scored.

    Raises:
      ValueError: rewards that are not finite where the mask is True, or empty groups.

    Source: Yu et al. 2025 (DAPO), section 3.2 (dynamic sampling leaves these groups out).
    """
    wanted = "numbers of shape (..., G), G at least 1"
    rewards = _arrays.floating("rewards", rewards, wanted)
    if rewards.ndim == 0 or rewards.shape[-1] == 0:
        raise ValueError(f"rewards has shape {tuple(rewards.shape)}; it must be {wanted}.")
    return _masked.all_equal(*_masked.scored("rewards", rewards, mask, wanted))[..., 0]


def zero_std_fraction(rewards, mask=None):
    """The fraction of groups whose rewards are all equal.

        number of groups with max == min / number of groups

    Args:
      rewards: (..., G) rewards, groups on the last axis.
      mask: (..., G) booleans, False where a completion could not be scored; None if all were.

    Returns:
      A number from 0 to 1; 0 for a batch without groups.

    Raises:
      ValueError: as ``zero_std_groups``.

    Source: TRL 1.16, trainer/grpo_trainer.py (frac_reward_zero_std).
    """
    zero = zero_std_groups(rewards, mask)
    number = math.prod(zero.shape)
    return int(zero.sum()) / number if number else 0.0


def entropy(logits, mask=None):
    """The mean entropy of the next-token distribution, over the positions that count.

        H = -sum_v p_v log p_v,   p = softmax(logits)

    Count the positions that *predict* a trained token: with the mask of ``tokens`` these are
    ``logits[:, :-1]`` and ``mask[:, 1:]``.

    Args:
      logits: (..., V); ``-inf`` for a token that cannot occur, which contributes 0.
      mask: (...) booleans, False where a position does not count; None if all do.

    Returns:
      The mean in nats, without axes, from 0 to log V; 0 if no position counts.

    Raises:
      ValueError: logits that are NaN or ``inf``, or ``-inf`` for every token, where the mask is True.

    Source: Shannon 1948, section 6.
    """
    wanted = "logits of shape (..., V), V at least 1"
    logits = _arrays.floating("logits", logits, wanted)
    if logits.ndim == 0 or logits.shape[-1] == 0:
        raise ValueError(f"logits has shape {tuple(logits.shape)}; it must be {wanted}.")
    xp = _arrays.namespace(logits)
    mask = _arrays.boolean("mask", mask, logits[..., 0])
    logits = _where(mask[..., None], logits, 0.0)
    largest = xp.amax(logits, axis=-1, keepdims=True)  # NaN or inf anywhere in a row shows here
    if not bool(xp.isfinite(largest).all()):
        raise ValueError(
            f"logits holds NaN, infinity, or a row that is -inf for every token; it must be {wanted}, "
            "with a finite largest entry."
        )
    shifted = logits - largest
    weights = xp.exp(shifted)  # 0 where a token cannot occur
    total = weights.sum(axis=-1)
    # log p = shifted - log total. The product 0 * -inf would be NaN: 0 stands in for -inf.
    mean_shifted = (weights * _where(weights > 0, shifted, 0.0)).sum(axis=-1) / total
    each = (xp.log(total) - mean_shifted).reshape(-1)  # (positions,)
    return _masked.mean(each, mask.reshape(-1))[0]


def gradient_noise(parts):
    """How long a gradient is, and how much of that is chance, from the gradients of its micro-batches.

        g = sum_m g_m,     |g|^2,     V = M/(M - 1) sum_m |g_m - g/M|^2

    Micro-batches that hold independent prompts, as many each, make V an unbiased estimate of the trace
    of the covariance of g, so that E|g|^2 = |E g|^2 + E V. With V near |g|^2 a step is mostly chance.

    Args:
      parts: (M, D) gradients of M micro-batches, M at least 2, which add up to the gradient of the batch.

    Returns:
      |g| and V, two floats.

    Raises:
      ValueError: fewer than two micro-batches, numbers that are not finite.

    Source: McCandlish et al. 2018 (An empirical model of large-batch training), section 2.2 and appendix A.
    """
    wanted = "gradients of shape (M, D), M at least 2, all finite"
    parts = _arrays.floating("parts", parts, wanted)
    if parts.ndim != 2 or len(parts) < 2 or not bool(_arrays.namespace(parts).isfinite(parts).all()):
        raise ValueError(f"parts has shape {tuple(parts.shape)} or is not finite; it must be {wanted}.")
    whole, number = parts.sum(0), len(parts)
    apart = parts - whole / number
    return float((whole**2).sum()) ** 0.5, float((apart**2).sum()) * number / (number - 1)


def clip_fraction(logprobs, old_logprobs, advantages, mask, clip=(0.2, 0.2)):
    """The share of tokens whose gradient PPO's clip takes away.

        clipped_t = (A_t > 0 and r_t > 1 + high) or (A_t < 0 and r_t < 1 - low),    r_t = pi / pi_old

    A ratio outside the bounds on the other side is not clipped: it pulls back. Nor is a token of
    advantage 0. Zero for ratios of exactly 1, so always in the first step on a batch.

    Args:
      logprobs, old_logprobs: (B, T) log-probabilities of the tokens, in nats.
      advantages: (B,) one for each row, or (B, T).
      mask: (B, T) booleans, True where a token counts.
      clip: (low, high), each at least 0 or None; or None.

    Returns:
      A number from 0 to 1; 0 where no token counts.

    Raises:
      ValueError: shapes that differ, a clip that ``losses.policy_loss`` would refuse.

    Source: Schulman et al. 2017 (PPO), equation 7; TRL 1.16, grpo_trainer.py (clip_ratio).
    """
    wanted = "numbers of shape (B, T)"
    logprobs = _arrays.floating("logprobs", logprobs, wanted)
    old = _arrays.like("old_logprobs", old_logprobs, logprobs, wanted)
    advantages = _arrays.like("advantages", advantages, logprobs, "numbers of shape (B,) or (B, T)")
    if logprobs.ndim != 2:
        raise ValueError(f"logprobs has shape {tuple(logprobs.shape)}; it must be {wanted}.")
    shape = tuple(logprobs.shape)
    if tuple(old.shape) != shape:
        raise ValueError(f"old_logprobs has shape {tuple(old.shape)}; it must be {shape}.")
    if tuple(advantages.shape) not in (shape, shape[:1]):
        raise ValueError(
            f"advantages has shape {tuple(advantages.shape)}; it must be {shape} or {shape[:1]}."
        )
    mask = _arrays.boolean("mask", mask, logprobs)
    low, high = _log_bounds(clip)
    up = advantages if advantages.ndim == 2 else advantages[:, None]
    # Compared by their logarithms, as in the loss: no ratio overflows. Where the mask is False, 0.
    log_ratio = _where(mask, logprobs, 0.0) - _where(mask, old, 0.0)
    clipped = (up > 0) & (log_ratio > high) | (up < 0) & (log_ratio < low)
    number = int(mask.sum())
    return int(clipped.sum()) / number if number else 0.0


def _log_bounds(clip):
    """log(1 - low) and log(1 + high); infinite where nothing is clipped."""
    if clip is not None and (not isinstance(clip, (tuple, list)) or len(clip) != 2):
        raise ValueError(f"clip is {clip!r}; it must be (low, high), or None.")
    pairs = enumerate(clip or (None, None))
    low, high = (None if c is None else _checks.number(f"clip[{i}]", c, low=0) for i, c in pairs)
    least = -math.inf if low is None or low >= 1 else math.log(1 - low)
    return least, math.inf if high is None else math.log(1 + high)


def pass_at_k(n, c, k):
    """The chance that at least one of k completions is right, estimated from n of which c are.

        pass@k = 1 - C(n - c, k) / C(n, k)

    Drawing k of the n *without* replacement makes this unbiased; the mean of 1 - (1 - c/n)^k is
    not. Computed in whole numbers and rounded once.

    Args:
      n: how many completions were drawn.
      c: how many of these are right, 0 to n.
      k: how many tries count, 1 to n.

    Returns:
      A number from 0 to 1.

    Raises:
      ValueError: numbers that are not whole, c outside 0 to n, k outside 1 to n.

    Source: Chen et al. 2021 (Codex), section 2.1, equation 1.
    """
    n, c, k = _checks.whole("n", n, low=1), _checks.whole("c", c, low=0), _checks.whole("k", k, low=1)
    for name, value in (("c", c), ("k", k)):
        if value > n:
            raise ValueError(f"{name} is {value}; it must be at most n, which is {n}.")
    every = math.comb(n, k)
    return (every - math.comb(n - c, k)) / every
