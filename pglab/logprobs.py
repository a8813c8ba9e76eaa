"""Log-probabilities of tokens: the shift, the gather, the mask up to the first end token.

Torch throughout; lists and NumPy arrays are taken too. Half precision is computed, and comes out,
in float32: next to old log-probabilities in float32, rounded new ones would give a ratio other than
1 before any update. Log-probabilities at a temperature T are those of ``logits / T``, on both sides.

The values of the logits are not looked at, since a GPU would have to wait for the answer: NaN,
``inf``, or a row that is ``-inf`` throughout comes out as NaN, and ``losses.policy_loss`` refuses it.
"""

import torch

from pglab import _arrays, _checks


def gather(logits, tokens):
    """The log-probability of each token under the logits at the *same* position: no shift.

        log pi(y) = logits[y] - log sum_v exp(logits[v])

    Args:
      logits: (..., V), one row for each token; ``-inf`` for a token that cannot occur.
      tokens: (...) whole numbers from 0 to V - 1. Padding too must be a token; a mask leaves it
        out of the loss later.

    Returns:
      (...) log-probabilities in nats; ``-inf`` for a token that cannot occur.

    Raises:
      ValueError: logits and tokens of different lengths, tokens that are not whole numbers, or
        outside the vocabulary (the one look at values that this function takes).

    Source: Williams 1992, section 4 (its derivative is the characteristic eligibility, now the score).
    """
    logits = _logits(logits)
    tokens = _tokens(tokens).to(logits.device)
    size = logits.shape[-1]
    if logits.shape[:-1] != tokens.shape:
        wanted = f"{tuple(logits.shape[:-1])}, one token for each row of the logits {tuple(logits.shape)}"
        raise ValueError(f"tokens has shape {tuple(tokens.shape)}; it must be {wanted}.")
    outside = (tokens < 0) | (tokens >= size)
    if bool(outside.any()):
        raise ValueError(
            f"tokens holds {int(tokens[outside][0])}; it must be whole numbers from 0 to {size - 1}, "
            "under padding too."
        )
    # log_softmax subtracts the largest logit first: no overflow, and no digits lost at 10000.
    every = torch.log_softmax(logits, dim=-1)  # (..., V)
    return every.gather(-1, tokens[..., None])[..., 0]  # (...)


def token_logprobs(logits, tokens):
    """The log-probability of each token but the first, given those before it: the shift, once.

        entry t = log pi(tokens[t + 1] | tokens[0] .. tokens[t]),   read from logits[t]

    The logits at a position speak about the *next* token, so the first token has none. A mask over
    ``tokens`` is shifted the same way: ``mask[:, 1:]`` belongs to the result.

    Args:
      logits: (B, L, V) what the model gave for ``tokens``.
      tokens: (B, L) prompt and completion.

    Returns:
      (B, L - 1) log-probabilities in nats.

    Raises:
      ValueError: as ``gather``; logits and tokens of different lengths, or no position at all.

    Source: Radford et al. 2019 (a language model is a product of conditional probabilities), section 2.
    """
    logits, tokens = _logits(logits), _tokens(tokens)
    if tokens.ndim == 0 or tokens.shape[-1] == 0:
        raise ValueError(f"tokens has shape {tuple(tokens.shape)}; it must be (B, L), L at least 1.")
    if logits.shape[:-1] != tokens.shape:
        wanted = f"(B, L, V) with (B, L) = {tuple(tokens.shape)}, the shape of tokens"
        raise ValueError(f"logits has shape {tuple(logits.shape)}; it must be {wanted}.")
    return gather(logits[..., :-1, :], tokens[..., 1:])


def completion_mask(tokens, end_token):
    """Which tokens of a completion were chosen by the model: up to and including the first end token.

        mask_t = no end token among tokens[0] .. tokens[t - 1]

    By position, not by value: padding may be the end token itself. The first one is an action, the
    choice to stop, and takes part in the loss.

    Args:
      tokens: (..., T) completions without their prompts.
      end_token: the whole number that ends a completion.

    Returns:
      (..., T) booleans. A completion without an end token was cut off: True throughout.

    Raises:
      ValueError: tokens that are not whole numbers, or an end token that is not one.

    Source: TRL 1.16, trainer/grpo_trainer.py (the mask after the first end token).
    """
    ends = _tokens(tokens) == _checks.whole("end_token", end_token)
    if ends.ndim == 0:
        raise ValueError("tokens has shape (); it must be completions of shape (..., T).")
    earlier = ends.cumsum(-1) - ends.long()  # (..., T) end tokens before this position
    return earlier == 0


def _logits(logits):
    wanted = "logits of shape (..., V), V at least 1"
    logits = _tensor(_arrays.floating("logits", logits, wanted))
    if logits.ndim == 0 or logits.shape[-1] == 0:
        raise ValueError(f"logits has shape {tuple(logits.shape)}; it must be {wanted}.")
    return logits


def _tokens(tokens):
    """Tokens as int64; booleans are refused, since they are a mask in the wrong place."""
    wanted = "whole numbers, one for each token"
    if not isinstance(tokens, torch.Tensor):
        tokens = _tensor(_checks.real("tokens", tokens, wanted))
    if tokens.dtype == torch.bool or tokens.is_floating_point() or tokens.is_complex():
        raise ValueError(f"tokens is of type {tokens.dtype}; it must be {wanted}, of an integer type.")
    return tokens.long()


def _tensor(array):
    """A tensor as it is; anything that NumPy read, copied into one."""
    return array if isinstance(array, torch.Tensor) else torch.tensor(array, device="cpu")
