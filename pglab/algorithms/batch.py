"""One small batch that any algorithm can be computed on, and what it then does."""

import math
from typing import NamedTuple

import torch

from pglab import _arrays, diagnostics
from pglab._masked import where
from pglab.algorithms.registry import named


class Batch(NamedTuple):
    """P prompts with G completions each: N = P G rows of T tokens, row i G + j number j of prompt i.

    Torch tensors, NumPy arrays or nested lists.
    """

    rewards: torch.Tensor  # (P, G), NaN for a completion that could not be scored; booleans will do
    logprobs: torch.Tensor  # (N, T) of the sampled tokens under the policy that learns, in nats
    old_logprobs: torch.Tensor | None  # (N, T) under the policy that sampled; None if that is the same one
    ref_logprobs: torch.Tensor | None  # (N, T) under the model before training; None where no KL is asked for
    mask: torch.Tensor  # (N, T) booleans, True for a token of the completion; T is the longest allowed
    values: (
        torch.Tensor | None
    )  # (N, T) a critic's value of the beginning before each token; None without one


class Outcome(NamedTuple):
    """What an algorithm does with a batch."""

    advantages: torch.Tensor  # (N, T) what multiplies each token's score
    loss: torch.Tensor  # without axes
    gradient: torch.Tensor  # (N, T) of the loss, by ``logprobs``


LENGTHS = (3, 1, 4, 6, 2, 5, 3, 4, 1, 6, 2, 3, 5, 4, 2, 6)  # the longest has 6 of 8 tokens that are allowed
REWARDS = (
    (1.0, 0.0, 0.0, 1.0),
    (0.7, 0.7, 0.7, 0.7),  # equals
    (0.1, 0.9, 0.35, 0.6),  # as a learned reward model gives them
    (0.0, 0.0, 0.0, 1.0),
)
WIDTH = 8


def shared_batch():
    """A batch in float32 on which the habits of libraries show.

    Four prompts with four completions of 1 to 6 tokens, padded to 8; rewards of a verifier, rewards that
    are all equal, and rewards of a model. The policy has moved since the batch was sampled: ratios leave
    [0.8, 1.2] on both sides, under advantages of both signs, and one exceeds 3 where the advantage is
    negative. No number is drawn: every machine has the same ones.

    Returns:
      Batch, of torch tensors on the CPU.
    """
    row, token = torch.arange(len(LENGTHS))[:, None], torch.arange(WIDTH)[None, :]
    place = WIDTH * row + token  # whole numbers, folded into quarters and sixteenths: exact in float32
    mask = token < torch.tensor(LENGTHS)[:, None]
    old = -(4 + 5 * place % 11).float() / 4  # from -1 to -3.5: no ratio makes a probability above 1
    moved = ((7 * place) % 13 - 6).float() / 16  # log-ratios from -0.375 to 0.375
    moved[1, 0] = 1.25  # a ratio of 3.49 on a completion that earned nothing
    away = ((3 * place) % 7 - 3).float() / 8
    values = ((11 * place) % 9).float() / 8
    columns = (old + moved, old, old - away, values)
    new, old, ref, values = (torch.where(mask, column, 0.0) for column in columns)
    return Batch(torch.tensor(REWARDS), new, old, ref, mask, values)


def on_batch(algorithm, batch):
    """What an algorithm makes of a batch, by the functions that training runs.

    Dynamic sampling leaves out groups of equal rewards; no completion counts as too long, since the
    longest that is allowed is the batch's width. A critic adds its own loss in training; here it judges.

    Args:
      algorithm: whatever ``named`` takes: a name, an Algorithm, a Library.
      batch: Batch.

    Returns:
      Outcome, torch tensors in the precision of the batch.

    Raises:
      ValueError: as ``Algorithm.advantages`` and ``Algorithm.loss``; what is no Batch, columns of another
        shape, log-probabilities that are not finite or above 0, an outcome that is not finite.

    Source: that of the algorithm.
    """
    algorithm = named(algorithm)
    if not isinstance(batch, Batch):
        raise ValueError(f"batch is a {type(batch).__name__}; it must be a Batch, such as shared_batch().")
    batch = _read(algorithm, batch)
    scored, mask = ~batch.rewards.isnan(), batch.mask
    if algorithm.rounds > 1:
        kept = ~torch.as_tensor(diagnostics.zero_std_groups(batch.rewards, scored))
        mask = mask & kept.repeat_interleave(batch.rewards.shape[1])[:, None]
    weights = _weights(algorithm, batch, scored, mask)
    _finite(algorithm, "an advantage", weights, batch, weights)
    new = batch.logprobs.clone().requires_grad_()
    loss = algorithm.loss(new, batch.old_logprobs, weights, mask, batch.ref_logprobs)
    _finite(algorithm, "a loss", loss.detach(), batch, weights)
    loss.backward()
    _finite(algorithm, "a gradient", new.grad, batch, weights)
    return Outcome(weights, loss.detach(), new.grad)


def _weights(algorithm, batch, scored, mask):
    """(N, T) advantages; 0 where there is no token."""
    costs = algorithm.costs(batch.old_logprobs, batch.ref_logprobs, batch.mask).to(batch.rewards)
    if algorithm.weight == "critic":
        judged = mask & scored.reshape(-1, 1)
        return algorithm.from_critic(
            at_the_end(batch.rewards.reshape(-1), batch.mask) - costs, batch.values, judged
        )[0]
    charged = batch.rewards - costs.sum(1).reshape(batch.rewards.shape)
    return algorithm.advantages(charged, scored).reshape(-1, 1).where(mask, 0.0)


def _finite(algorithm, what, found, batch, weights):
    """Refuses what overflowed, with the numbers that may have done it."""
    bad = ~found.isfinite()
    if not bool(bad.any()):
        return
    moved = (batch.logprobs - batch.old_logprobs).where(batch.mask, 0.0)
    words, log_ratio = "of a token", moved
    if algorithm.ratio == "sequence_product":
        words, log_ratio = "of a completion", moved.sum(1)
    kl = " So can its KL." if algorithm.kl else ""
    raise ValueError(
        f"{algorithm.name} gives {what} of {float(found[bad][0]):g}; it must be finite. The largest log-ratio "
        f"{words} is {float(log_ratio.max()):g}, the largest reward {_largest(batch.rewards):g}, the largest "
        f"advantage {_largest(weights):g}, and {str(found.dtype)[6:]} ends at {torch.finfo(found.dtype).max:.2g}: "
        f"exp(log-ratio) overflows where no clip holds it, and so do sums of large advantages.{kl}"
    )


def _largest(values):
    return float(values.nan_to_num(0.0, math.inf, -math.inf).abs().max())


ROUNDING = 1e-5  # of a log-probability near 0, in float32


def _read(algorithm, batch):
    """The batch as constants in torch, every column of its shape."""
    wanted = "log-probabilities of shape (N, T), a row for each completion, T at least 1"
    new = _arrays.floating("logprobs", batch.logprobs, wanted)
    new = new.detach() if isinstance(new, torch.Tensor) else torch.tensor(new.copy())
    if new.ndim != 2 or new.shape[1] == 0:
        raise ValueError(f"logprobs has shape {tuple(new.shape)}; it must be {wanted}.")
    _nothing_missing(algorithm, batch, tuple(new.shape))
    mask = _arrays.boolean("mask", batch.mask, new)
    columns = {"logprobs": new}
    for name in ("old_logprobs", "ref_logprobs", "values"):
        wanted = f"numbers of shape {tuple(new.shape)}, as logprobs"
        columns[name] = _column(name, getattr(batch, name), new, wanted)
    if columns["old_logprobs"] is None:
        columns["old_logprobs"] = new
    for name in ("logprobs", "old_logprobs", "ref_logprobs"):
        _log_probabilities(name, columns[name], mask)
    return Batch(_rewards(batch.rewards, new), mask=mask, **columns)


def _nothing_missing(algorithm, batch, shape):
    if batch.mask is None:
        raise ValueError(f"mask is None; it must be booleans of shape {shape}, True for a token.")
    asked = (
        ("ref_logprobs", algorithm.kl > 0, f"has a KL of {algorithm.kl:g} in its {algorithm.kl_where}"),
        ("values", algorithm.weight == "critic", "has a critic"),
    )
    for name, needed, why in asked:
        if needed and getattr(batch, name) is None:
            raise ValueError(f"{name} is None; it must be numbers of shape {shape}: {algorithm.name} {why}.")


def _rewards(rewards, new):
    wanted = f"numbers of shape (P, G), a row for each prompt, P G = {len(new)}, the rows of logprobs"
    if rewards is None:
        raise ValueError(f"rewards is None; it must be {wanted}.")
    found = _column("rewards", rewards, new, wanted, same=False)
    if found.ndim != 2 or found.numel() != len(new):
        raise ValueError(f"rewards has shape {tuple(found.shape)}; it must be {wanted}.")
    if bool(found.isinf().any()):
        raise ValueError(
            f"rewards holds infinity; it must be finite {wanted}; or NaN for what was not scored."
        )
    return found


def _column(name, value, new, wanted, same=True):
    """A constant tensor where ``new`` lies; lists, NumPy arrays and whole numbers take its precision."""
    if value is None:
        return None
    whole = isinstance(value, torch.Tensor) and not value.is_floating_point()
    found = _arrays.like(name, value, new, wanted).detach()
    if same and found.shape != new.shape:
        raise ValueError(f"{name} has shape {tuple(found.shape)}; it must be {wanted}.")
    return found.to(new.dtype) if whole else found


def _log_probabilities(name, value, mask):
    """Refuses NaN, infinity, and what is above 0: perhaps a logit, or a log-probability without its sign."""
    if value is None or not bool((bad := mask & ~(value.isfinite() & (value <= ROUNDING))).any()):
        return
    row, token = bad.nonzero()[0].tolist()
    raise ValueError(
        f"{name}[{row}, {token}] is {float(value[row, token]):g}, where the mask is True; it must be the "
        "logarithm of a probability, finite and at most 0."
    )


def at_the_end(rewards, mask):
    """Rewards of tokens: that of a completion with its last token, nothing before it.

    Args:
      rewards: (N,) one for each completion, NumPy or torch.
      mask: (N, T) booleans, True for its tokens.

    Returns:
      (N, T).
    """
    number = mask.cumsum(1)
    return where(mask & (number == number[:, -1:]), rewards[:, None], 0.0)
