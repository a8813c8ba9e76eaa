"""One small batch that any algorithm can be computed on, and what it then does."""

from typing import NamedTuple

import torch

from pglab import diagnostics
from pglab._masked import where
from pglab.algorithms.registry import named


class Batch(NamedTuple):
    """P prompts with G completions each: N = P G rows of T tokens, row i G + j number j of prompt i."""

    rewards: torch.Tensor  # (P, G), NaN for a completion that could not be scored
    logprobs: torch.Tensor  # (N, T) of the sampled tokens under the policy that learns, in nats
    old_logprobs: torch.Tensor  # (N, T) under the policy that sampled
    ref_logprobs: torch.Tensor  # (N, T) under the model before training
    mask: torch.Tensor  # (N, T) booleans, True for a token of the completion; T is the longest allowed
    values: torch.Tensor  # (N, T) a critic's value of the beginning before each token


class Outcome(NamedTuple):
    """What an algorithm does with a batch."""

    advantages: torch.Tensor  # (N, T) what multiplies each token's score
    loss: torch.Tensor  # without axes
    gradient: torch.Tensor  # (N, T) of the loss, by ``logprobs``


LENGTHS = (3, 1, 4, 6, 2, 5, 3, 4, 1, 6, 2, 3, 5, 4, 2, 6)  # the longest has 6 of 8 tokens that are allowed
REWARDS = (
    (1.0, 0.0, 0.0, 1.0),
    (0.7, 0.7, 0.7, 0.7),  # equals, whose float32 mean need not equal them
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
      algorithm: a name of ``ALGORITHMS``, or an Algorithm.
      batch: Batch.

    Returns:
      Outcome, in the precision of the batch.

    Raises:
      ValueError: as ``Algorithm.advantages`` and ``Algorithm.loss``; what is no Batch.

    Source: that of the algorithm.
    """
    algorithm = named(algorithm)
    if not isinstance(batch, Batch):
        raise ValueError(f"batch is a {type(batch).__name__}; it must be a Batch, such as shared_batch().")
    scored, mask = ~batch.rewards.isnan(), batch.mask
    if algorithm.rounds > 1:
        kept = ~torch.as_tensor(diagnostics.zero_std_groups(batch.rewards, scored))
        mask = mask & kept.repeat_interleave(batch.rewards.shape[1])[:, None]
    weights = _weights(algorithm, batch, scored, mask)
    new = batch.logprobs.detach().clone().requires_grad_()
    loss = algorithm.loss(new, batch.old_logprobs, weights, mask, batch.ref_logprobs)
    loss.backward()
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
