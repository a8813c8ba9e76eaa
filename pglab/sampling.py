"""Completions drawn from a small language model, with the log-probability of every token.

Each prompt is read once. Its keys and values are kept as one copy for the whole group, and the
group stands where the model expects the positions of one text: (B, G, width).

The draw is the Gumbel-max trick, argmax(logits - log E) with E exponential, and all noise is drawn
up front: no step waits for the one before it to come back from a GPU.
"""

import math
from typing import NamedTuple

import torch

from pglab import _arrays, _checks, lm, logprobs
from pglab.lm.model import padded, whole_text


class Samples(NamedTuple):
    """N = B G completions; row i G + j is number j of prompt i."""

    tokens: torch.Tensor  # (N, T) int64; behind the end token more end tokens
    logprobs: torch.Tensor  # (N, T) under the policy that was sampled from, in nats; 0 behind the end
    mask: torch.Tensor  # (N, T) True up to and including the end token

    @property
    def finished(self):
        """(N,) True where a completion has an end token, False where it was cut off."""
        return ((self.tokens == lm.END) & self.mask).any(1)

    def texts(self):
        """N texts, without the end token."""
        return lm.decode_all(self.tokens)


def sampling_logits(logits, temperature=1.0, top_k=None, top_p=None):
    """The logits of the policy that is sampled from, given those of the model.

        logits / temperature,  then  -inf  for every token outside the k most likely,  then  -inf  outside
        the smallest set of most likely tokens that together have probability p or more

    Args:
      logits: (..., V).
      temperature: above 0. At 0 the most likely token alone is left (of equals the first).
      top_k: how many tokens are left, at least 1; None for all. Equals of the k-th stay too.
      top_p: the probability that is left at least, above 0 and at most 1; None for all.

    Returns:
      (..., V) logits; ``bandit.softmax`` or torch.softmax makes them probabilities.

    Raises:
      ValueError: a temperature, top_k or top_p outside these ends.

    Source: Fan, Lewis and Dauphin 2018, section 5.4 (top-k); Holtzman et al. 2020, section 3.1 (top-p).
    """
    temperature = _checks.number("temperature", temperature, low=0)
    k = None if top_k is None else _checks.whole("top_k", top_k, low=1)
    if top_p is not None and not 0 < _checks.number("top_p", top_p) <= 1:
        raise ValueError(f"top_p is {top_p}; it must be above 0 and at most 1.")
    logits = _logits(logits)
    nowhere = torch.tensor(-math.inf, dtype=logits.dtype, device=logits.device)
    if temperature == 0:
        best = logits.argmax(-1, keepdim=True)
        return torch.where(torch.zeros_like(logits, dtype=torch.bool).scatter(-1, best, True), 0.0, nowhere)
    if temperature != 1:
        logits = logits / temperature
    if k is not None:
        least = logits.topk(min(k, logits.shape[-1])).values[..., -1:]
        logits = torch.where(logits >= least, logits, nowhere)
    if top_p is not None and top_p < 1:
        logits = torch.where(_nucleus(logits, top_p), logits, nowhere)
    return logits


def _nucleus(logits, top_p):
    """(..., V) True for the smallest set of most likely tokens with probability top_p or more."""
    likely, order = torch.softmax(logits, -1).sort(dim=-1, descending=True, stable=True)
    before = likely.cumsum(-1) - likely  # probability of the more likely tokens
    return torch.zeros_like(logits, dtype=torch.bool).scatter(-1, order, before < top_p)


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

    Returns:
      Samples.

    Raises:
      ValueError: prompts that are too long, not texts and not tokens; counts below 1; settings outside
        their ends; an unknown character.

    Source: Kool, van Hoof and Welling 2019, section 2.3 (Gumbel-max).
    """
    group = _checks.whole("group_size", group_size, 1)
    steps = _checks.whole("max_new_tokens", max_new_tokens, 1)
    prompts, mask = _prompts(model, prompts, steps)
    batch = len(prompts)
    shape = (steps, batch, group, model.shape["vocabulary"])
    dtype = torch.promote_types(model.norm.weight.dtype, torch.float32)
    noise = torch.rand(shape, dtype=dtype, device=model.device, generator=generator)
    noise = noise.clamp_(min=torch.finfo(dtype).eps / 2).log_().neg_().log_()  # a 0 would bar the only token
    reader = (_Cached if cache else _Anew)(model, prompts, mask, group, steps)
    logits = reader.first()  # (B, 1, V)
    alive = torch.ones(batch, group, dtype=torch.bool, device=model.device)
    tokens, chances, masks = [], [], []
    for step in range(steps):
        logits = sampling_logits(logits, temperature, top_k, top_p).expand(shape[1:])  # (B, G, V)
        token = (logits - noise[step]).argmax(-1) * alive  # (B, G); END is 0
        chance = logits.gather(-1, token[..., None])[..., 0] - logits.logsumexp(-1)
        chances.append(chance.where(alive, 0.0))  # a product would make -inf behind the end a NaN
        tokens.append(token)
        masks.append(alive)
        alive = alive & (token != lm.END)
        if step + 1 == steps or (model.device.type == "cpu" and not alive.any()):  # a GPU is not asked
            break
        logits = reader.next(token)  # (B, G, V)
    columns = [torch.stack(column, -1).flatten(0, 1) for column in (tokens, chances, masks)]  # (N, T)
    return Samples(*(_widen(column, steps) for column in columns))


def _widen(column, steps):
    """(N, t) -> (N, steps): where all completions ended early, end tokens, zeros and False."""
    return torch.nn.functional.pad(column, (0, steps - column.shape[1]))


def score(model, prompts, samples_tokens, temperature=1.0):
    """Log-probabilities of completions, read in one go and differentiable: what a trainer does.

        entry t = log pi(y_t | prompt, y_1 .. y_{t-1}),  pi = softmax(logits / temperature)

    Args:
      model: lm.SmallLM.
      prompts: B texts, or (B, P) tokens without padding, as for ``sample``.
      samples_tokens: (N, T) completions, N = B G, the G of one prompt side by side.
      temperature: above 0.

    Returns:
      (N, T) log-probabilities in nats. Behind the end token they mean nothing: use the mask.

    Raises:
      ValueError: as ``sample``; N that is not a multiple of B.

    Source: Radford et al. 2019, section 2.
    """
    if not _checks.number("temperature", temperature) > 0:
        raise ValueError(f"temperature is {temperature}; it must be above 0.")
    _whole_numbers("samples_tokens", samples_tokens, "(N, T)")
    steps = samples_tokens.shape[1]
    prompts, mask = _prompts(model, prompts, steps)
    group, rest = divmod(len(samples_tokens), len(prompts))
    if rest or not group:
        raise ValueError(
            f"{len(samples_tokens)} completions for {len(prompts)} prompts; each must have as many."
        )
    prompts = prompts.repeat_interleave(group, 0)
    text = torch.cat([prompts, samples_tokens.to(prompts.device)], 1)  # (N, P + T)
    if mask is not None:
        mask = torch.nn.functional.pad(mask.repeat_interleave(group, 0), (0, steps), value=True)[:, :-1]
    hidden = model.hidden(text[:, :-1], mask)
    logits = model.head(hidden[:, prompts.shape[1] - 1 :])  # (N, T, V): only these are asked
    if temperature != 1:
        logits = _logits(logits) / temperature
    return logprobs.gather(logits, samples_tokens)


def _prompts(model, prompts, steps):
    """(B, P) tokens on the model's device, and the mask, or None where nothing is padded."""
    mask = None
    if not isinstance(prompts, torch.Tensor):
        prompts, mask = lm.encode_all(prompts)
        mask = None if bool(mask.all()) else mask.to(model.device)
    _whole_numbers("prompts", prompts, "(B, P)")
    context, length = model.shape["context"], prompts.shape[1]
    if length + steps > context + 1:
        raise ValueError(
            f"prompts of {length} tokens and max_new_tokens {steps} need a context of {length + steps - 1}; "
            f"this model has {context}. Take shorter prompts or fewer new tokens."
        )
    return prompts.to(model.device), mask


def _whole_numbers(name, tokens, shape):
    kind, size = getattr(tokens, "dtype", type(tokens).__name__), tuple(getattr(tokens, "shape", ()))
    if kind not in (torch.int64, torch.int32) or len(size) != 2 or 0 in size:
        wanted = f"a tensor of whole numbers of shape {shape}, neither of them 0"
        raise ValueError(f"{name} is {kind} of shape {size}; it must be {wanted}.")


def _logits(logits):
    """At least float32: in half precision a log-probability has three digits."""
    logits = torch.as_tensor(_arrays.floating("logits", logits, "a tensor of logits, (..., V)"))
    if logits.ndim == 0 or logits.shape[-1] == 0:
        raise ValueError(f"logits has shape {tuple(logits.shape)}; it must be (..., V), V at least 1.")
    return logits


class _Cached:
    """Reads the prompts once, then one token of each completion at a time."""

    def __init__(self, model, prompts, mask, group, steps):
        self.model, self.prompts, self.mask = model, prompts, mask
        self.layers = [_Layer(group, steps, mask) for _ in model.blocks]
        self.length = prompts.shape[1] if mask is None else mask.sum(1, keepdim=True)  # real tokens so far

    def first(self):
        places = torch.arange(self.prompts.shape[1], device=self.prompts.device)
        if self.mask is not None:
            places = (self.mask.long().cumsum(1) - 1).clamp(min=0)
        hidden = self.model.run(self.prompts, places, [layer.read_prompts for layer in self.layers])
        return self.model.head(hidden[:, -1:])

    def next(self, token):
        place = self.length  # an int, or (B, 1)
        if self.mask is None:
            place = torch.tensor([place], device=token.device)
        self.length = self.length + 1
        return self.model.head(self.model.run(token, place, [layer.read_token for layer in self.layers]))


class _Layer:
    """Keys and values of one layer: one copy of the prompt's for the group, and each completion's own.

    What is looked at stands on the first axis: the softmax then runs over long rows of memory, and
    takes a fraction of the time.
    """

    def __init__(self, group, steps, mask):
        self.group, self.steps, self.step = group, steps, 0
        self.attend = whole_text if mask is None else padded(mask)
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


class _Anew:
    """Reads the whole text again for every token: what the cache is checked against."""

    def __init__(self, model, prompts, mask, group, steps):
        self.model, self.group = model, group
        self.text = prompts.repeat_interleave(group, 0)
        self.mask = None if mask is None else mask.repeat_interleave(group, 0)

    def first(self):
        logits = self.model(self.text, self.mask)[:, -1]
        return logits.view(-1, self.group, logits.shape[-1])

    def next(self, token):
        self.text = torch.cat([self.text, token.reshape(-1, 1)], 1)
        if self.mask is not None:
            self.mask = torch.nn.functional.pad(self.mask, (0, 1), value=True)
        return self.first()
