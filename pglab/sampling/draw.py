"""Completions drawn from a small language model, with the log-probability of every token.

Each prompt is read once. Its keys and values are kept as one copy for the whole group, and the
group stands where the model expects the positions of one text: (B, G, width). Completions of a prompt that
are alike so far are read once too, and those that have ended no more.

The draw is the Gumbel-max trick, argmax(logits - log E) with E exponential, and all noise is drawn
up front: no step waits for the one before it to come back from a GPU.
"""

import math
from functools import partial
from typing import NamedTuple

import torch

from pglab import _checks, lm
from pglab.lm.model import reading
from pglab.sampling.policy import sampling_logits
from pglab.sampling.prompts import as_tokens

FEWEST = 4  # rows: a product of fewer may add up in another order, and differ in the last digits


class Samples(NamedTuple):
    """N = B G completions; row i G + j is number j of prompt i."""

    tokens: torch.Tensor  # (N, T) int64; behind the end token more end tokens
    logprobs: torch.Tensor  # (N, T) under the policy that was sampled from, in nats; 0 behind the end
    mask: torch.Tensor  # (N, T) True up to and including the end token
    entropies: torch.Tensor = None  # (N, T) of the distribution each token was drawn from, nats; 0 behind

    @property
    def finished(self):
        """(N,) True where a completion has an end token, False where it was cut off."""
        return ((self.tokens == lm.END) & self.mask).any(1)

    def texts(self):
        """N texts, without the end token."""
        return lm.decode_all(self.tokens)


@torch.no_grad()
def sample(
    model,
    prompts,
    group_size=1,
    max_new_tokens=16,
    temperature=1.0,
    generator=None,
    *,
    top_k=None,
    top_p=None,
    cache=True,
    among=None,
):
    """Draw completions for every prompt.

        y_t ~ pi(. | prompt, y_1 .. y_{t-1}),   until the end token or max_new_tokens

    The end token is drawn, and has a log-probability, like every other token.

    Args:
      model: lm.SmallLM.
      prompts: a list of B texts, or (B, P) tokens without padding. Texts of different lengths are
        padded on the left, where no attention goes.
      group_size: G, completions for each prompt.
      max_new_tokens: T, the most tokens of a completion. P + T is at most the context, plus 1: the
        last token is never read.
      temperature, top_k, top_p: as ``sampling_logits``; 0 is greedy.
      generator: torch.Generator on the model's device; None takes torch's own.
      cache: False reads the whole text again for every token: slower, and the same numbers.
      among: (first, all) where these prompts are numbers first, first + 1, ... of a batch of ``all`` prompts:
        their completions are then those that the batch drawn in one call would have had. None for a
        batch of its own.

    Returns:
      Samples.

    Raises:
      ValueError: prompts that are too long, not texts and not tokens; counts below 1; settings outside
        their ends; an unknown character; more prompts than the batch has behind ``first``; a model that
        gives no numbers.

    Source: Kool, van Hoof and Welling 2019, section 2.3 (Gumbel-max).
    """
    group = _checks.whole("group_size", group_size, 1)
    steps = _checks.whole("max_new_tokens", max_new_tokens, 1)
    prompts, mask = as_tokens(model, prompts, steps)
    batch = len(prompts)
    first, every = _place(among, batch)
    shape = (steps, every, group, model.shape["vocabulary"])
    dtype = torch.promote_types(model.norm.weight.dtype, torch.float32)
    noise = torch.rand(shape, dtype=dtype, device=model.device, generator=generator)
    noise = noise.clamp_(min=torch.finfo(dtype).eps / 2).log_().neg_().log_()  # a 0 would bar the only token
    noise = noise[:, first : first + batch]  # the part that the whole batch would use for these prompts
    reader = (_Cached if cache else _Anew)(model, prompts, mask, group, steps)
    logits = reader.first()  # (B, 1, V)
    alive = torch.ones(batch, group, dtype=torch.bool, device=model.device)
    tokens, chances, masks, entropies = [], [], [], []
    for step in range(steps):
        logits = sampling_logits(logits, temperature, top_k, top_p)  # (B, G, V); at first (B, 1, V)
        log_pi = logits.log_softmax(-1)
        entropy = torch.special.entr(log_pi.exp()).sum(-1)
        token = (logits - noise[step]).argmax(-1) * alive  # (B, G); END is 0
        chance = log_pi.expand(batch, group, -1).gather(-1, token[..., None])[..., 0]
        chances.append(chance.where(alive, 0.0))  # a product would make -inf behind the end a NaN
        entropies.append(entropy.where(alive, 0.0))
        tokens.append(token)
        masks.append(alive)
        alive = alive & (token != lm.END)
        if step + 1 == steps or (model.device.type == "cpu" and not alive.any()):  # a GPU is not asked
            break
        logits = reader.next(token, alive)  # (B, G, V)
    if torch.stack(chances).isnan().any():  # asked once, at the end: each time a GPU would be waited for
        raise ValueError(
            "model gives logits that are NaN, or -inf for every token, so nothing can be drawn; its weights must be "
            "finite. Has training run away? Go back to a checkpoint from before."
        )
    columns = [torch.stack(column, -1).flatten(0, 1) for column in (tokens, chances, masks, entropies)]
    return Samples(*(_widen(column, steps) for column in columns))  # each (N, T)


def _place(among, batch):
    """Number of the first prompt in its batch, and how many the batch has."""
    if among is None:
        return 0, batch
    if not isinstance(among, (tuple, list)) or len(among) != 2:
        raise ValueError(f"among is {among!r}; it must be (first, all), two whole numbers, or None.")
    first, every = _checks.whole("among[0]", among[0], 0), _checks.whole("among[1]", among[1], 1)
    if first + batch > every:
        raise ValueError(
            f"among is {among!r}, for {batch} prompts; a batch of {every} has {max(every - first, 0)} from number "
            f"{first} on."
        )
    return first, every


def _widen(column, steps):
    """(N, t) -> (N, steps): where all completions ended early, end tokens, zeros and False."""
    return torch.nn.functional.pad(column, (0, steps - column.shape[1]))


class _Cached:
    """Reads the prompts once, then one token of each completion at a time."""

    def __init__(self, model, prompts, mask, group, steps):
        self.model, self.prompts, self.mask = model, prompts, mask
        self.places, attend = reading(prompts, mask)
        self.layers = [_Layer(group, steps, mask, attend) for _ in model.blocks]
        self.length = prompts.shape[1] if mask is None else mask.sum(1, keepdim=True)  # real tokens so far
        self.kind = torch.arange(len(prompts), device=prompts.device)[:, None]  # equal for equal texts so far

    def first(self):
        hidden = self.model.run(self.prompts, self.places, [layer.read_prompts for layer in self.layers])
        return self.model.head(hidden[:, -1:])

    def next(self, token, alive):
        place = torch.as_tensor(self.length, device=token.device).expand_as(token)  # (B, G)
        self.length = self.length + 1
        if token.device.type != "cpu":  # it would have to say which are alike before it can go on
            return self.model.head(self.model.run(token, place, [layer.read_token for layer in self.layers]))
        one, of = self.alike(token, alive)
        reads = [partial(layer.read_alike, one, of) for layer in self.layers]
        read, place = token.flatten()[one, None], place.flatten()[one, None]  # (n, 1)
        logits = self.model.head(self.model.run(read, place, reads))  # (n, 1, V)
        return logits[:, 0].index_select(0, of).view(*token.shape, -1)

    def alike(self, token, alive):
        """Which completions have to be read: of those with the same prompt and the same tokens so far, one.

        Those that have ended are put with one that has not: nothing is read for them.

        Returns:
          (n,) one completion of each kind; (B G,) which of the n each completion is like.
        """
        kind = self.kind * self.model.shape["vocabulary"] + token
        kind = kind.where(alive, kind[alive][0])
        kinds, self.kind = kind.unique(return_inverse=True)
        of, rows = self.kind.flatten(), alive.flatten().nonzero()[:, 0]
        number = max(len(kinds), min(FEWEST, len(of)))
        return of.new_zeros(number).scatter_(0, of[rows], rows), of


class _Layer:
    """Keys and values of one layer: one copy of the prompt's for the group, and each completion's own.

    What is looked at stands on the first axis: the softmax then runs over long rows of memory, and
    takes a fraction of the time.
    """

    def __init__(self, group, steps, mask, attend):
        self.group, self.steps, self.step = group, steps, 0
        self.attend = attend
        self.hidden = None if mask is None else ~mask.T[:, :, None, None]  # (P, B, 1, 1)

    def read_prompts(self, query, key, value):
        batch, heads, _, size = key.shape
        self.prompt = key.transpose(2, 3).contiguous(), value.contiguous()  # (B, H, D, P), (B, H, P, D)
        self.own = key.new_empty(2, self.steps, batch, heads, self.group, size)
        return self.attend(query, key, value)

    def read_token(self, query, key, value):
        """All (B, H, G, D): the group stands where a text has its positions."""
        self.own[0, self.step], self.own[1, self.step] = key, value
        self.step += 1
        keys, values = self.own[:, : self.step]  # each (t, B, H, G, D)
        query = query / math.sqrt(query.shape[-1])
        far = (query @ self.prompt[0]).permute(3, 0, 1, 2)  # (P, B, H, G)
        if self.hidden is not None:
            far = far.masked_fill(self.hidden, -math.inf)
        near = (keys * query).sum(-1)  # (t, B, H, G)
        weights = torch.cat([far, near]).softmax(0)
        far, near = weights[: len(far)], weights[len(far) :]
        return (near[..., None] * values).sum(0) + far.permute(1, 2, 3, 0) @ self.prompt[1]

    def read_alike(self, one, of, *columns):
        """The same for one completion of each kind: query, key, value (n, H, 1, D)."""
        batch, group = self.prompt[0].shape[0], self.group
        spread = [c.flatten(1).index_select(0, of).view(batch, group, c.shape[1], -1) for c in columns]
        seen = self.read_token(*(c.transpose(1, 2) for c in spread))  # (B, H, G, D)
        return seen.transpose(1, 2).flatten(0, 1).index_select(0, one)[:, :, None]


class _Anew:
    """Reads the whole text again for every token: what the cache is checked against."""

    def __init__(self, model, prompts, mask, group, steps):
        self.model, self.group = model, group
        self.text = prompts.repeat_interleave(group, 0)
        self.mask = None if mask is None else mask.repeat_interleave(group, 0)

    def first(self):
        logits = self.model(self.text, self.mask)[:, -1]
        return logits.view(-1, self.group, logits.shape[-1])

    def next(self, token, alive):
        self.text = torch.cat([self.text, token.reshape(-1, 1)], 1)
        if self.mask is not None:
            self.mask = torch.nn.functional.pad(self.mask, (0, 1), value=True)
        return self.first()
