"""Training a small network from its own samples, where the objective can be watched exactly."""

import copy

import numpy as np
import torch

from pglab import _checks, logprobs
from pglab.oracle.tree import prompt_tokens
from pglab.sampling import sampling_logits


@torch.no_grad()
def draw(model, prompt, size, max_new_tokens, rng, end_token=0):
    """Completions of one prompt, one token after the other: the plain way, with NumPy's random numbers.

    Args:
      model: a torch module on the CPU, (B, L) tokens -> (B, L, V) logits, which looks only back.
      prompt: P tokens, at least one.
      size: G, how many.
      max_new_tokens: T, at least 1.
      rng: numpy.random.Generator; T draws of G numbers.
      end_token: the token that stops.

    Returns:
      tokens (G, T), behind the end token more end tokens; mask (G, T), True up to and including it.

    Raises:
      ValueError: an empty prompt, counts below 1.

    Source: Radford et al. 2019, section 2 (one conditional probability after the other).
    """
    steps, size = _checks.whole("max_new_tokens", max_new_tokens, 1), _checks.whole("size", size, 1)
    text = torch.from_numpy(prompt_tokens(prompt)).expand(size, -1)
    before = text.shape[1]
    for _ in range(steps):
        below = model(text)[:, -1].softmax(-1).cumsum(-1)[:, :-1] < torch.from_numpy(rng.random((size, 1)))
        text = torch.cat([text, below.sum(-1, keepdim=True)], 1)  # how many tokens lie below the number
    mask = logprobs.completion_mask(text[:, before:], end_token)
    return text[:, before:].where(mask, end_token), mask


def token_logps(model, prompt, tokens, shift=1, **settings):
    """Log-probabilities of the tokens of completions, differentiable; or what a wrong shift takes for them.

        entry t = log pi(tokens[t]),     read from the logits `shift` places before it

    Args:
      model: a torch module, (B, L) tokens -> (B, L, V) logits.
      prompt: P tokens, at least ``shift``.
      tokens: (N, T) completions.
      shift: 1 is right: the logits at a position speak about the next token.
      settings: temperature, top_k, top_p, as ``sampling.sampling_logits``: of the policy that samples so.

    Returns:
      (N, T) log-probabilities in nats; behind the end token they mean nothing.

    Raises:
      ValueError: a shift below 0 or beyond the prompt; as ``logprobs.gather``.

    Source: Radford et al. 2019, section 2.
    """
    prompt = torch.from_numpy(prompt_tokens(prompt))
    shift = _checks.whole("shift", shift, 0)
    if shift > len(prompt):
        raise ValueError(f"shift is {shift}; it must be at most {len(prompt)}, the length of the prompt.")
    first = len(prompt) - shift
    text = torch.cat([prompt.expand(len(tokens), -1), tokens], 1)
    logits = model(text[:, : text.shape[1] - shift])[:, first:]  # what stands behind is not asked
    return logprobs.gather(sampling_logits(logits, **settings) if settings else logits, tokens)


def train(model, prompt, reward, loss, steps, seeds, watch, rate=0.005, size=64, max_new_tokens=4):
    """Runs that sample, score and step, with Adam, from the same model: one for each seed.

    Args:
      model: a torch module; it stays as it is.
      prompt: P tokens.
      reward: function of a completion, a list of tokens up to and including its end token.
      loss: function of (model, tokens (G, T), mask (G, T), rewards (G,)), a tensor without axes.
      steps: how many, at least 0.
      seeds: one for each run.
      watch: function of a model, one number: recorded before every step and at the end.
      rate: Adam's step size.
      size, max_new_tokens: samples of each step, and their greatest length.

    Returns:
      curves, a list of steps + 1 numbers for each seed; and the models at the end.

    Raises:
      ValueError: counts out of range.

    Source: Williams 1992 (the loop); Kingma and Ba 2015, algorithm 1 (Adam).
    """
    steps, curves, models = _checks.whole("steps", steps, 0), [], []
    for seed in seeds:
        trained, rng, curve = copy.deepcopy(model), np.random.default_rng(int(seed)), []
        optimiser = torch.optim.Adam(trained.parameters(), rate)
        for _ in range(steps):
            curve.append(_number(watch, trained))
            tokens, mask = draw(trained, prompt, size, max_new_tokens, rng)
            lengths = mask.sum(1).tolist()
            paid = [reward(row[:length]) for row, length in zip(tokens.tolist(), lengths, strict=True)]
            optimiser.zero_grad()
            loss(trained, tokens, mask, torch.tensor(paid)).backward()
            optimiser.step()
        curves.append([*curve, _number(watch, trained)])
        models.append(trained)
    return curves, models


def apart(found, true):
    """How far a direction is from the true one.

    Args:
      found, true: (n,), neither of them zero.

    Returns:
      |found - true| / |true|, and the cosine between the two.
    """
    found, true = _checks.vector("found", found), _checks.vector("true", true)
    length = np.linalg.norm(true)
    return float(np.linalg.norm(found - true) / length), float(found @ true / length / np.linalg.norm(found))


def _number(watch, model):
    with torch.no_grad():
        return float(watch(model))
