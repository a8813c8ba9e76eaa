"""Completions read in one go, with gradients: what a trainer does.

Each prompt is read once for all of its completions. The keys and values that it leaves stand before
those of each completion; gradients flow back through them into the one reading of the prompt.
"""

import torch
from torch.nn import functional

from pglab import _checks, logprobs
from pglab.lm.model import SmallLM, reading
from pglab.sampling.policy import checked_logits
from pglab.sampling.prompts import as_tokens, whole_numbers


def score(model, prompts, samples_tokens, temperature=1.0, owners=None):
    """Log-probabilities of completions, differentiable.

        entry t = log pi(y_t | prompt, y_1 .. y_{t-1}),  pi = softmax(logits / temperature)

    Args:
      model: lm.SmallLM.
      prompts: B texts, or (B, P) tokens without padding, as for ``sample``.
      samples_tokens: (N, T) completions.
      temperature: above 0.
      owners: as ``states``.

    Returns:
      (N, T) log-probabilities in nats. Behind the end token they mean nothing: use the mask.

    Raises:
      ValueError: as ``states``; a temperature that is not above 0.

    Source: Radford et al. 2019, section 2.
    """
    if not _checks.number("temperature", temperature) > 0:
        raise ValueError(f"temperature is {temperature}; it must be above 0.")
    _checks.kind("model", model, SmallLM, "an lm.SmallLM, such as lm.load('addition')")
    logits = model.head(states(model, prompts, samples_tokens, owners))  # (N, T, V)
    if temperature != 1:
        logits = checked_logits(logits) / temperature
    return logprobs.gather(logits, samples_tokens)


def states(model, prompts, samples_tokens, owners=None):
    """What the head reads before each token of each completion.

        entry t = h(prompt, y_1 .. y_{t-1}),     log pi(. | prompt, y_1 .. y_{t-1}) = log_softmax(head(h))

    Args:
      model: lm.SmallLM.
      prompts: B texts, or (B, P) tokens without padding.
      samples_tokens: (N, T) completions.
      owners: (N,) whole numbers, which prompt each completion belongs to; None for as many to each
        prompt, N = B G, side by side.

    Returns:
      (N, T, width), differentiable.

    Raises:
      ValueError: prompts as for ``sample``; N that is not a multiple of B, or owners that are not N
        numbers of prompts.

    Source: Radford et al. 2019, section 2.3; the prompt's keys and values shared as in Kwon et al. 2023
    (vLLM), section 4.4, here with gradients.
    """
    whole_numbers("samples_tokens", samples_tokens, "(N, T)")
    tokens = samples_tokens.to(model.device)
    prompts, mask = as_tokens(model, prompts, tokens.shape[1])
    owners = _owners(owners, len(tokens), len(prompts)).to(model.device)
    kept, length = [], prompts.shape[1]  # keys and values of the prompts, of each layer
    places, attend = reading(prompts, mask)

    def remember(query, key, value):
        kept.append((key, value))
        return attend(query, key, value)

    read = model.run(prompts, places, [remember] * len(model.blocks))  # (B, P, width)
    first = read[:, -1:].index_select(0, owners)  # (N, 1, width): what the first token is drawn from
    if tokens.shape[1] == 1:
        return first
    places = torch.arange(length, length + tokens.shape[1] - 1, device=tokens.device)
    if mask is not None:
        places = places - length + mask.sum(1)[owners, None]
    seen = _seen(tokens.shape[1] - 1, length, mask, owners)
    rest = model.run(tokens[:, :-1], places, [_after(*layer, owners, seen) for layer in kept])
    return torch.cat([first, rest], 1)


def _after(keys, values, owners, seen):
    """Attention of completions that stand behind their prompts: keys and values are the prompts'."""

    def attend(query, key, value):  # each (N, heads, T - 1, width / heads)
        key = torch.cat([keys.index_select(0, owners), key], 2)  # (N, heads, P + T - 1, width / heads)
        value = torch.cat([values.index_select(0, owners), value], 2)
        return functional.scaled_dot_product_attention(query, key, value, attn_mask=seen)

    return attend


def _seen(steps, length, mask, owners):
    """True where a token may look: all of the prompt but its padding, itself, and what stands between."""
    seen = torch.ones(steps, length + steps, dtype=torch.bool, device=owners.device).tril(length)
    if mask is None:
        return seen
    real = functional.pad(mask, (0, steps), value=True)[owners]  # (N, P + T - 1)
    return seen & real[:, None, None, :]


def _owners(owners, number, batch):
    if owners is None:
        group, rest = divmod(number, batch)
        if rest:
            raise ValueError(f"{number} completions for {batch} prompts; each must have as many.")
        return torch.arange(batch).repeat_interleave(group)
    wanted = f"{number} whole numbers from 0 to {batch - 1}, the prompt of each completion"
    if not isinstance(owners, torch.Tensor):
        owners = torch.tensor(_checks.real("owners", owners, wanted))
    whole = owners.dtype in (torch.int64, torch.int32)
    if owners.shape != (number,) or not whole or not bool(((owners >= 0) & (owners < batch)).all()):
        raise ValueError(f"owners has shape {tuple(owners.shape)}, type {owners.dtype}; it must be {wanted}.")
    return owners.long()
