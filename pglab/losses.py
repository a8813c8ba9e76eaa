"""Surrogate losses in torch: ratio levels, clips, sums with explicit denominators, importance weights.

Torch throughout; lists and NumPy arrays are taken too, and half precision is computed in float32.
A row is one completion, T the width of the batch; the mask is True where a token was chosen by the
policy and is trained on. Shared by all:

* What stands where the mask is False reaches no value and no gradient, whatever it is (NaN too): it
  is replaced *before* anything is computed from it, since NaN times 0 is NaN, in gradients as well.
* A batch without a single token gives exactly 0, and a gradient of 0.
* A completion that could not be scored has the advantage 0 (``advantages``): it adds nothing, but its
  tokens and its row still count in the denominator, unless the mask leaves them out.
* NaN or infinity where the mask is True raises. All values are looked at together, once.
* Exponents are not clamped: what is not clipped is exact, or overflows where the mathematics does.
"""

import math

import torch

from pglab import _arrays, _checks, _masked

MODES = ("token_mean", "sequence_mean", "constant", "sum")
RATIOS = ("token", "sequence_mean", "sequence_product")


def policy_loss(
    logprobs, old_logprobs, advantages, mask, *, clip=(0.2, 0.2), dual_clip=None, ratio="token",
    variant="ppo", aggregation="token_mean", norm=None, empty_rows="exclude",
):  # fmt: skip
    """A loss whose gradient is a policy-gradient step; its value means nothing.

        "ppo"    l = -min(r A, clip(r, 1 - low, 1 + high) A),    at most c |A| where A < 0, c = dual_clip
        "cispo"  l = -clip(r, 1 - low, 1 + high) A log pi,       r held constant in the gradient
        "token"             r_t = exp(d_t),     d_t = log pi(y_t) - log pi_old(y_t)
        "sequence_mean"     r   = exp(sum_t d_t / L),     L tokens in the row (GSPO)
        "sequence_product"  r   = exp(sum_t d_t),         the probability ratio of completions (RLOO)

    On-policy, where r = 1, the gradient of l is -A grad log pi (that of "sequence_mean" divided by L): do
    not read progress off the value, which is a mean of -A. A clipped l is a constant, without a gradient.
    With a sequence ratio each row has *one* l, whose gradient reaches all of its tokens, and ``aggregate``
    sees one entry for each row: "token_mean" is then the mean over rows that have tokens. In "cispo" log pi
    is the mean, or the sum, of the row.

    Args:
      logprobs: (B, T) log-probabilities of the tokens, in nats, with gradients.
      old_logprobs: (B, T) the same under the policy that sampled, as constants; or None for the
        detached ``logprobs``, so that r is exactly 1. Not for data that is older than the policy.
      advantages: (B,) one for each row or (B, T), as constants. With a sequence ratio all tokens
        of a row must have the same.
      mask: (B, T) booleans.
      clip: (low, high), each at least 0 or None for no bound on that side; or None for no clip.
      dual_clip: c > 1, or None; acts where A < 0 and r > c, on "ppo" only.
      ratio, variant: as above.
      aggregation, norm, empty_rows: ``mode``, ``norm`` and ``empty_rows`` of ``aggregate``.

    Returns:
      The loss, without axes.

    Raises:
      ValueError: shapes that differ, precisions that differ between old and new, numbers that are
        not finite where the mask is True, unknown names.

    Source: Schulman et al. 2017 (PPO), equation 7; Ye et al. 2020 (dual clip); Zheng et
    al. 2025 (GSPO), equation 7; MiniMax 2025 (M1), section 3.1 (CISPO); Ahmadian et al. 2024 (RLOO),
    section 2; bounds named as in TRL 1.16, but "cispo" clips at 1 + high, as in verl 0.10.
    """
    low, high = _bounds(clip)
    _checks.one_of("ratio", ratio, RATIOS, repr)
    _checks.one_of("variant", variant, ("ppo", "cispo"), repr)
    dual_clip = _above(1, "dual_clip", dual_clip)
    if dual_clip and variant != "ppo":
        raise ValueError(f"dual_clip is {dual_clip}; it must be None where variant is not 'ppo'.")
    new, old, advantages, mask = _inputs(logprobs, old_logprobs, advantages, mask)
    log_ratio = new - old  # (B, T)
    if ratio != "token":  # from here on one column: (B, 1)
        advantages = _one_for_each_row(advantages, mask)
        if ratio == "sequence_mean":
            log_ratio, new = _masked.mean(log_ratio, mask), _masked.mean(new, mask)
        else:
            log_ratio, new = log_ratio.sum(1, keepdim=True), new.sum(1, keepdim=True)
        mask = mask.any(1, keepdim=True)
    if variant == "ppo":
        each = _ppo(log_ratio, advantages, low, high, dual_clip or math.inf)
    else:
        each = _cispo(log_ratio, advantages, new, low, high)
    return _reduce(each, mask, aggregation, norm, empty_rows)


def _ppo(log_ratio, advantages, low, high, most):
    """-min(r A, clip(r) A); ``low`` and ``high`` are the bounds of r itself, ``most`` that where A < 0.

    What is clipped is decided on the logarithm: if exp(1000) were taken and thrown away, its gradient
    would be infinity times 0.
    """
    seen = log_ratio.detach()
    above = (advantages > 0) & (seen > math.log(high))
    below = (advantages < 0) & (seen < (math.log(low) if low > 0 else -math.inf))
    beyond = (advantages < 0) & (seen > math.log(most))
    free = (advantages != 0) & ~(above | below | beyond)
    ratio = torch.where(free, log_ratio, 0.0).exp()
    for clipped, bound in ((above, high), (below, low), (beyond, most)):
        ratio = torch.where(clipped, bound, ratio)
    return -ratio * advantages


def _cispo(log_ratio, advantages, logprobs, low, high):
    seen = torch.where(advantages != 0, log_ratio.detach(), 0.0)
    return -seen.exp().clamp(low, high) * advantages * logprobs


def aggregate(token_losses, mask, mode="token_mean", norm=None, empty_rows="exclude"):
    """One number from the losses of tokens, l (B, T), with L_i tokens in row i.

        mode              numerator               denominator            with ``norm``
        "token_mean"      sum of all l            N = sum_i L_i          norm in the place of N
        "sequence_mean"   sum_i [sum_t l / L_i]   R                      norm in the place of R
        "constant"        sum of all l            R * norm               needed: tokens for each row
        "sum"             sum of all l            1                      norm in the place of 1

    R counts the rows that have tokens ("exclude") or all B rows ("count"). Numerator and
    denominator use one mask. To split a batch into micro-batches and add up their losses, hand each
    one the denominator of the whole: N, R, or for "constant" the mode "sum" with R * norm. A mean
    of micro-batch means is another number. A denominator of 0 is taken as 1.

    Args:
      token_losses: (B, T).
      mask: (B, T) booleans, True where a token counts.
      mode: as above.
      norm: a positive number, or None.
      empty_rows: "exclude" or "count"; matters for "sequence_mean" without norm and "constant".

    Returns:
      The loss, without axes; its gradient is 0 where the mask is False.

    Raises:
      ValueError: shapes that differ, NaN where the mask is True, a norm missing or not positive.

    Source: Shao et al. 2024 (GRPO), equation 3 ("sequence_mean"); Yu et al. 2025 (DAPO), equation 8
    ("token_mean"); Liu et al. 2025 (Dr. GRPO), section 3 ("constant"). "exclude" as in verl 0.10,
    core_algos.py (agg_loss); "count" as in TRL 1.16, grpo_trainer.py.
    """
    token_losses = _rows("token_losses", token_losses)
    mask = _arrays.boolean("mask", mask, token_losses)
    if bool((mask & token_losses.isnan()).any()):
        raise ValueError("token_losses holds NaN where the mask is True; it must be numbers there.")
    return _reduce(token_losses, mask, mode, norm, empty_rows)


def _reduce(losses, mask, mode, norm, empty_rows):
    """What ``aggregate`` does, for losses that have been looked at."""
    _checks.one_of("aggregation mode", mode, MODES, repr)
    _checks.one_of("empty_rows", empty_rows, ("exclude", "count"), repr)
    norm = _above(0, "norm", norm)
    if norm is None and mode == "constant":
        raise ValueError("norm is None; it must be a positive number of tokens, for mode 'constant'.")
    losses = torch.where(mask, losses, 0.0)
    rows = mask.any(1).sum().clamp(min=1) if empty_rows == "exclude" else max(len(mask), 1)
    if mode == "token_mean":
        return losses.sum() / (norm or mask.sum().clamp(min=1))
    if mode == "sequence_mean":
        return _masked.mean(losses, mask).sum() / (norm or rows)  # a row without tokens has the mean 0
    if mode == "constant":
        return losses.sum() / (rows * norm)
    return losses.sum() / (norm or 1)


def importance_weights(logprobs, behaviour_logprobs, mask, cap=None, level="token", mode="truncate"):
    """How much likelier the scored policy is than the one that sampled; multiply the advantages by it.

        "token"     w_t = exp(log pi(y_t) - log mu(y_t))
        "sequence"  w   = exp(sum_t [log pi(y_t) - log mu(y_t)])
        "truncate"  min(w, cap)                 "mask"  w if w <= cap, else 0

    Only the sequence weight without a cap corrects the expectation exactly. A cap lowers the
    variance and brings a bias.

    Args:
      logprobs: (B, T) log-probabilities under the scored policy, in nats; ``-inf`` gives weight 0.
      behaviour_logprobs: (B, T) the same under the policy that sampled. The precisions may differ:
        what rounding does to the sampler is part of what is corrected.
      mask: (B, T) booleans.
      cap: the largest weight, a positive number, or None.
      level, mode: as above.

    Returns:
      Weights without a gradient: (B, T) for "token", 0 where the mask is False; (B,) for
      "sequence", 0 for a row without tokens.

    Raises:
      ValueError: shapes that differ, log-probabilities that are not finite where the mask is True
        (but see above), a cap that is not positive, mode "mask" without a cap, unknown names.

    Source: Ionides 2008 (truncated importance sampling), section 2; the defaults of libraries differ
    (TRL 1.16: "sequence", "mask", cap 3; slime: off, "token", "truncate", cap 2).
    """
    _checks.one_of("level", level, ("token", "sequence"), repr)
    _checks.one_of("mode", mode, ("truncate", "mask"), repr)
    cap = _above(0, "cap", cap)
    if cap is None and mode == "mask":
        raise ValueError("cap is None; it must be a positive number, for mode 'mask'.")
    new = _rows("logprobs", logprobs).detach()
    mask = _arrays.boolean("mask", mask, new)
    new = torch.where(mask, new, 0.0)
    old = _like("behaviour_logprobs", behaviour_logprobs, new, mask)
    _all_finite(logprobs=torch.where(new == -math.inf, 0.0, new), behaviour_logprobs=old)
    log_weights = new - old
    if level == "sequence":
        log_weights, mask = log_weights.sum(1), mask.any(1)
    weights = log_weights.exp()
    if mode == "mask":
        mask = mask & (weights <= cap)
    elif cap is not None:
        weights = weights.clamp(max=cap)
    return torch.where(mask, weights, 0.0)


# ---- What comes in


def _inputs(logprobs, old_logprobs, advantages, mask):
    """New and old log-probabilities, advantages (all (B, T), 0 where the mask is False), the mask."""
    new = _rows("logprobs", logprobs)
    mask = _arrays.boolean("mask", mask, new)
    types = {value.dtype for value in (logprobs, old_logprobs) if isinstance(value, torch.Tensor)}
    if len(types) == 2:
        raise ValueError(
            f"old_logprobs is of type {old_logprobs.dtype}, logprobs of type {logprobs.dtype}; they must "
            "be of one precision, or the ratio of equal policies is not 1."
        )
    new = torch.where(mask, new, 0.0)
    old = new.detach() if old_logprobs is None else _like("old_logprobs", old_logprobs, new, mask)
    advantages = _like("advantages", advantages, new, mask, one_for_each_row=True)
    _all_finite(logprobs=new, old_logprobs=old, advantages=advantages)
    return new, old, advantages, mask


def _tensor(name, value, wanted):
    value = _arrays.floating(name, value, wanted)
    return value if isinstance(value, torch.Tensor) else torch.tensor(value, device="cpu")


def _rows(name, value):
    wanted = "numbers of shape (B, T), one row for each completion, T at least 1"
    value = _tensor(name, value, wanted)
    if value.ndim != 2 or value.shape[1] == 0:
        raise ValueError(f"{name} has shape {tuple(value.shape)}; it must be {wanted}.")
    return value


def _like(name, value, like, mask, one_for_each_row=False):
    """A constant of the shape, precision and device of ``like``, 0 where the mask is False."""
    wanted = f"numbers of shape {tuple(like.shape)}"
    wanted += f" or {tuple(like.shape[:1])}" if one_for_each_row else ", as logprobs"
    value = _tensor(name, value, wanted).detach()
    if one_for_each_row and value.shape == like.shape[:1]:
        value = value[:, None].expand(like.shape)
    if value.shape != like.shape:
        raise ValueError(f"{name} has shape {tuple(value.shape)}; it must be {wanted}.")
    return torch.where(mask, value.to(like), 0.0)


def _all_finite(**named):
    """Raise if one of the tensors is not finite throughout; one answer for all, so one wait."""
    if bool(torch.stack([value.isfinite().all() for value in named.values()]).all()):
        return
    name, value = next(item for item in named.items() if not item[1].isfinite().all())
    row, token = (~value.isfinite()).nonzero()[0].tolist()
    text = f"{name}[{row}, {token}] is {value[row, token]:g}, where the mask is True; it must be finite."
    impossible = "logprobs" in name and value[row, token] == -math.inf
    raise ValueError(text + " The token sampled there has probability 0." * impossible)


def _one_for_each_row(advantages, mask):
    """(B, 1) the advantage that all tokens of a row share, 0 for a row without tokens."""
    if not bool(_masked.all_equal(advantages, mask).all()):
        raise ValueError("advantages differ within a row; with a sequence ratio they must be equal there.")
    largest = torch.where(mask, advantages, -math.inf).amax(1, keepdim=True)
    return torch.where(mask.any(1, keepdim=True), largest, 0.0)


def _bounds(clip):
    """Lower and upper bound of the ratio; one at or below 0, and infinity, never clip."""
    if clip is None:
        return 0.0, math.inf
    if not isinstance(clip, (tuple, list)) or len(clip) != 2:
        raise ValueError(f"clip is {clip!r}; it must be (low, high), or None.")
    low, high = (None if c is None else _checks.number(f"clip[{i}]", c, low=0) for i, c in enumerate(clip))
    return 0.0 if low is None else 1 - low, math.inf if high is None else 1 + high


def _above(low, name, value):
    """None, or one number above ``low``; a tensor may lie on any device."""
    if value is not None:
        value = _checks.number(name, value.cpu() if isinstance(value, torch.Tensor) else value)
    if value is not None and value <= low:
        raise ValueError(f"{name} is {value}; it must be larger than {low}, or None.")
    return value
