"""A network small enough to enumerate, a table beside it; gradients as one vector, a step, a climb."""

import copy

import numpy as np
import torch
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from pglab import _checks, lm
from pglab.oracle.tree import prompt_tokens


def network(seed=0, vocabulary=10, context=8, width=16, layers=1, heads=2):
    """A transformer in float64 before any training, the same on every machine: NumPy draws its weights.

    Args:
      seed: of the random start.
      vocabulary, context, width, layers, heads: as ``lm.SmallLM``.

    Returns:
      lm.SmallLM. Matrices are normal with deviation 0.02, the scales of the norms are 1.

    Raises:
      ValueError: as ``lm.SmallLM``.
    """
    model = lm.SmallLM(vocabulary, context, width, layers, heads, seed).double()
    rng = np.random.default_rng(seed)
    for parameter in model.parameters():
        if parameter.ndim == 2:
            parameter.data = torch.from_numpy(rng.normal(scale=0.02, size=tuple(parameter.shape)))
    return model


class FreeTable(torch.nn.Module):
    """A policy with a softmax of its own for every beginning: what one learns is not carried to another.

    It is called as the model is, and starts with the model's probabilities for all completions of one prompt.

        logits(y_1 .. y_t) = a row of a table,     1 + V + ... + V^(T-1) rows of V numbers

    Args:
      model: a torch module on the CPU, (B, L) tokens -> (B, L, V) logits, which looks only back.
      prompt: P tokens, at least one.
      max_new_tokens: T, at least 1.

    Raises:
      ValueError: an empty prompt, T below 1.

    Source: Sutton and Barto 2018, section 13.1 (softmax in action preferences, one for each state).
    """

    def __init__(self, model, prompt, max_new_tokens):
        super().__init__()
        prompt = torch.from_numpy(prompt_tokens(prompt))
        self.before, self.steps = len(prompt), _checks.whole("max_new_tokens", max_new_tokens, 1)
        with torch.no_grad():
            rows = [model(prompt[None])[:, -1]]
            for length in range(1, self.steps):  # rows of one length in the order of numbers of base V
                begun = torch.cartesian_prod(*[torch.arange(rows[0].shape[1])] * length).reshape(-1, length)
                rows.append(model(torch.cat([prompt.expand(len(begun), -1), begun], 1))[:, -1])
        self.table = torch.nn.Parameter(torch.cat(rows))  # (1 + V + ..., V)

    def forward(self, text):
        """(B, n) prompt and tokens -> (B, n, V) logits; 0 inside the prompt and after T tokens."""
        size = self.table.shape[1]
        row, rows = torch.zeros(len(text), dtype=torch.int64), []
        for t in range(min(self.steps, text.shape[1] - self.before + 1)):
            if t:
                row = 1 + size * row + text[:, self.before + t - 1]
            rows.append(row)
        behind = text.shape[1] - self.before + 1 - len(rows)
        return torch.nn.functional.pad(self.table[torch.stack(rows, 1)], (0, 0, self.before - 1, behind))


def gradient_of(objective, model):
    """The gradient of a number by all parameters, as one vector.

    Args:
      objective: a tensor without axes, made by ``model``.
      model: a torch module.

    Returns:
      (n,) float64, in the order of ``model.parameters()``, as ``Exact.gradient``; 0 for what the
      objective does not depend on.
    """
    _module(model)
    _checks.kind("objective", objective, torch.Tensor, "a tensor without axes, made by the model")
    parts = torch.autograd.grad(objective, list(model.parameters()), materialize_grads=True)
    return torch.cat([part.reshape(-1) for part in parts]).numpy().astype(np.float64)


def _module(model):
    return _checks.kind("model", model, torch.nn.Module, "a torch module, such as oracle.network(0)")


def moved(model, step):
    """A copy of the model after a step.

        theta' = theta + step

    Args:
      model: a torch module.
      step: (n,), in the order of ``model.parameters()``.

    Returns:
      The copy; the model stays as it is.

    Raises:
      ValueError: a step of another length.
    """
    copied = copy.deepcopy(_module(model))
    theta = parameters_to_vector(copied.parameters()).detach()
    step = _checks.vector("step", step)
    if len(step) != len(theta):
        raise ValueError(f"step has {len(step)} entries; it must have {len(theta)}, one a parameter.")
    vector_to_parameters(theta + torch.from_numpy(step).to(theta.dtype), copied.parameters())
    return copied


def climb(model, objective, steps, rate, every=10):
    """Up the gradient of an objective, with Adam.

    Args:
      model: a torch module; it stays as it is.
      objective: function of a model, a tensor without axes: what is to grow.
      steps: how many.
      rate: Adam's step size.
      every: after how many steps a copy is kept.

    Returns:
      A list of copies: of the start, then one after each ``every`` steps.

    Raises:
      ValueError: counts below 1.

    Source: Kingma and Ba 2015, algorithm 1 (Adam).
    """
    steps, every = _checks.whole("steps", steps, 1), _checks.whole("every", every, 1)
    model = copy.deepcopy(model)
    optimiser, path = torch.optim.Adam(model.parameters(), rate), [copy.deepcopy(model)]
    for step in range(1, steps + 1):
        optimiser.zero_grad()
        (-objective(model)).backward()
        optimiser.step()
        if step % every == 0:
            path.append(copy.deepcopy(model))
    for kept in path:
        kept.zero_grad()
    return path


def slope(objective, model, direction, step=1e-4):
    """How fast an objective grows in a direction, found by moving there: no differentiation.

        [f(theta + h v) - f(theta - h v)] / 2h,     v = direction / |direction|

    Args:
      objective: function of a model, one number.
      model: a torch module.
      direction: (n,), not zero; its length does not matter.
      step: h.

    Returns:
      float; beside ``gradient @ v``, where the objective is smooth, off by a multiple of h^2.

    Raises:
      ValueError: as ``moved``.
    """
    _module(model)
    direction = _checks.vector("direction", direction)
    v = direction / np.linalg.norm(direction)
    with torch.no_grad():
        up, down = (float(objective(moved(model, side * step * v))) for side in (1, -1))
    return (up - down) / (2 * step)
