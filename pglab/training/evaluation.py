"""How well a model does a task: the chance to be right in one try, and in 64."""

from typing import NamedTuple

import numpy as np
import torch

from pglab import _checks, sampling, tasks
from pglab.diagnostics import pass_at_k

K = 64
PROMPTS = 1_024
PROMPTS_STREAM, SAMPLES_STREAM = 3, 4  # what one seed means here, apart from what it means elsewhere
ROWS = 4_096  # samples drawn at once


class Scores(NamedTuple):
    """Means over prompts; each ``..._error`` is the standard error of the mean that stands before it."""

    pass_at_1: float
    pass_at_1_error: float
    pass_at_64: float
    pass_at_64_error: float
    greedy: float  # share of right answers where always the most likely token is taken
    greedy_error: float
    length: float  # tokens of a completion, the end token too
    length_error: float
    prompts: int
    samples: int  # completions of each prompt

    def words(self):
        """One line: pass@1 and pass@64 with their 95 % intervals."""
        one = _interval("pass@1", self.pass_at_1, self.pass_at_1_error)
        many = _interval(f"pass@{K}", self.pass_at_64, self.pass_at_64_error)
        return f"{one}, {many}, over {self.prompts:,} prompts with {self.samples} samples each"


def _interval(name, mean, error):
    low, high = max(mean - 1.96 * error, 0.0), min(mean + 1.96 * error, 1.0)
    return f"{name} {mean:.3f} (95 % interval {low:.3f} to {high:.3f})"


def evaluate(model, task, prompts=PROMPTS, samples=K, seed=0):
    """Draws completions of fresh prompts and has the task verify them.

        pass@1  = mean over prompts of c / n,                       c of n samples are right
        pass@64 = mean over prompts of 1 - C(n - c, 64) / C(n, 64)

    Prompts are independent of each other, the samples of one prompt are not: so every standard
    error is the standard deviation over prompts, divided by the root of their number.

    Args:
      model: lm.SmallLM.
      task: tasks.Task.
      prompts: how many, at least 2.
      samples: n, completions for each prompt, at least 64.
      seed: of prompts and samples.

    Returns:
      Scores.

    Raises:
      ValueError: fewer prompts or samples; a model whose context is too short for the task.

    Source: Chen et al. 2021 (Codex), section 2.1, equation 1.
    """
    if not isinstance(task, tasks.Task):
        raise ValueError(f"task is {task!r}; it must be a Task, such as tasks.Addition().")
    prompts, samples = _checks.whole("prompts", prompts, low=2), _checks.whole("samples", samples, low=K)
    asked = task.prompts(prompts, np.random.default_rng([seed, PROMPTS_STREAM]))
    stream = int(np.random.default_rng([seed, SAMPLES_STREAM]).integers(2**62))
    generator = torch.Generator(model.device).manual_seed(stream)
    size = max(ROWS // samples, 1)
    parts = [
        drawn(model, task, asked[start : start + size], samples, generator)
        for start in range(0, prompts, size)
    ]
    right, length = (np.concatenate(part) for part in zip(*parts, strict=True))  # each (prompts, samples)
    greedy, _ = drawn(model, task, asked, 1, generator, temperature=0)
    chance = [pass_at_k(samples, c, K) for c in range(samples + 1)]  # by the number of right ones
    many = np.array(chance)[right.sum(1).astype(int)]
    columns = (right.mean(1), many, greedy[:, 0], length.mean(1))  # each (prompts,)
    return Scores(*(number for column in columns for number in _mean(column)), prompts, samples)


def drawn(model, task, asked, samples, generator, tokens=None, **settings):
    """(prompts, samples) rewards and lengths; of at most ``tokens`` tokens, by default the task's own."""
    tokens = task.answer_length + 1 if tokens is None else tokens
    found = sampling.sample(model, asked, samples, tokens, generator=generator, **settings)
    rewards = [task.verify(asked[i // samples], text) for i, text in enumerate(found.texts())]
    shape = (len(asked), samples)
    return np.reshape(rewards, shape), found.mask.sum(1).cpu().numpy().reshape(shape)


def _mean(column):
    """Mean and standard error, as plain numbers."""
    return float(column.mean()), float(column.std(ddof=1) / np.sqrt(len(column)))
