"""Small inputs for a loss, and what comes out of it: values and slopes, in float64."""

import math

import torch

LIKELIEST = -1.5  # a log-probability: the larger of a token's two


class NoLoss(ValueError):
    """Nothing that could be examined; the message says why."""


def ask(loss, log_ratio, advantages, mask=None):
    """A loss on a small batch.

    Args:
      loss: f(logprobs, old_logprobs, advantages, mask) -> one number.
      log_ratio: (B, T) log pi - log pi_old of each token.
      advantages: (B,).
      mask: (B, T) booleans; None for every token.

    Returns:
      the value, and the slopes with respect to logprobs, (B, T), and to advantages, (B,): tensors.

    Raises:
      NoLoss: a result that is no single number, or one through which nothing can be differentiated.
    """
    log_ratio = torch.tensor(log_ratio, dtype=torch.float64)
    mask = torch.ones_like(log_ratio, dtype=torch.bool) if mask is None else torch.tensor(mask)
    new = LIKELIEST + log_ratio.clamp(max=0)  # so that none is above 0, however large the ratio
    old = new - log_ratio
    new.requires_grad_()
    weights = torch.tensor(advantages, dtype=torch.float64, requires_grad=True)
    value = loss(new, old, weights, mask)
    if not isinstance(value, torch.Tensor) or value.numel() != 1:
        kind = f"shape {tuple(value.shape)}" if isinstance(value, torch.Tensor) else type(value).__name__
        raise NoLoss(f"the loss returned something of {kind}; it must return one number, a torch tensor.")
    if not value.requires_grad:
        raise NoLoss("the loss has no gradient; it must be computed from logprobs by torch.")
    found = torch.autograd.grad(value.sum(), (new, weights), allow_unused=True)
    slopes = [torch.zeros_like(x) if g is None else g for x, g in zip((new, weights), found, strict=True)]
    return value.detach().double().reshape(()), *slopes


def slopes(loss, log_ratio, advantages, mask=None):
    """(B, T) the slopes with respect to logprobs alone."""
    return ask(loss, log_ratio, advantages, mask)[1]


def unit(loss):
    """How steep a loss is for one token that is not clipped, whatever it divides by; the sign is left out."""
    return slopes(loss, [[0.0]], [-1.0])[0, 0].abs()


def open_share(loss, ratio, advantage):
    """1 where a token of this ratio and this advantage keeps its whole slope, 0 where it has none."""
    return slopes(loss, [[math.log(ratio)]], [advantage])[0, 0] / (-advantage * ratio * unit(loss))
