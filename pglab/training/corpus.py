"""A corpus as tensors, and which of its examples each step reads."""

from typing import NamedTuple

import numpy as np
import torch

from pglab import lm, logprobs

CORPUS_STREAM, ORDER_STREAM = 1, 2  # what one seed means here, apart from what it means elsewhere
IGNORED = -100  # the target that torch's cross-entropy passes over


class Corpus(NamedTuple):
    """N examples, P tokens of the prompt and T of the completion with its end token."""

    inputs: torch.Tensor  # (N, P + T - 1) int64: what is read; the last token never is
    targets: torch.Tensor  # (N, T) int64: what the last T positions must say; IGNORED behind the end


def make(settings, number, device="cpu"):
    """One corpus, on the device.

    Shorter completions are filled up with end tokens; the first of them is a target, the choice to
    stop, and those behind it are not.

    Args:
      settings: Pretraining.
      number: which of ``settings.corpora``.
      device: torch.device.

    Returns:
      Corpus.
    """
    task, stage = settings.corpora[number]
    rng = np.random.default_rng([settings.seed, CORPUS_STREAM, number])
    pairs = task.corpus(settings.examples, rng, stage)
    end, size = lm.ALPHABET[lm.END], task.answer_length + 1
    text = "".join([prompt + completion.ljust(size, end) for prompt, completion in pairs])
    tokens = lm.encode(text).view(len(pairs), task.prompt_length + size)  # (N, P + T)
    completions = tokens[:, task.prompt_length :]
    chosen = logprobs.completion_mask(completions, lm.END)
    targets = torch.where(chosen, completions, IGNORED)
    return Corpus(tokens[:, :-1].contiguous().to(device), targets.to(device))


def rows(settings, start, stop):
    """Which examples the steps from ``start`` up to ``stop`` read.

    Each step's draw depends on the seed and its own number only: a run that goes on after an
    interrupt needs to remember no generator.

    Returns:
      (stop - start, batch) int64.
    """
    draws = [
        np.random.default_rng([settings.seed, ORDER_STREAM, step]).integers(
            settings.examples, size=settings.batch
        )
        for step in range(start, stop)
    ]
    return torch.from_numpy(np.stack(draws))
