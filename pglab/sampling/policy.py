"""The policy that is sampled from: the model's, made sharper or flatter, or with a part cut off."""

import math

import torch

from pglab import _arrays, _checks


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
    logits = checked_logits(logits)
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


def checked_logits(logits):
    """At least float32: in half precision a log-probability has three digits."""
    logits = torch.as_tensor(_arrays.floating("logits", logits, "a tensor of logits, (..., V)"))
    if logits.ndim == 0 or logits.shape[-1] == 0:
        raise ValueError(f"logits has shape {tuple(logits.shape)}; it must be (..., V), V at least 1.")
    return logits
