"""Small language models with known mathematics, and what is known of any model by reading every text."""

import math

import numpy as np
import torch
from torch import nn

from pglab import lm

torch.set_num_threads(
    1
)  # these tensors are tiny: on a busy machine threads wait for each other, 50 times longer


def shaken(seed=0, scale=20, dtype=torch.float64, **shape):
    """A SmallLM far from the uniform policy, every parameter random, those of the layer norms too."""
    model = lm.SmallLM(**{"width": 8, "layers": 2, "heads": 2, "context": 8, **shape}, seed=seed).to(dtype)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
            parameter.copy_(parameter * scale if parameter.ndim == 2 else 1 + 0.3 * noise)
    return model


def with_bias(model, *bias):
    """The same model with numbers added to its logits."""
    shift = torch.tensor(bias, dtype=model.norm.weight.dtype)
    model.head.register_forward_hook(lambda layer, came, logits: logits + shift)
    return model


class TwoLogits(nn.Module):
    """Two tokens: 0 goes on, with logit theta[t] at step t, and 1 ends, with logit 0. The prompt has one token."""

    def __init__(self, theta):
        super().__init__()
        self.theta = nn.Parameter(torch.tensor(theta, dtype=torch.float64))

    def forward(self, tokens):
        logits = torch.stack([self.theta, torch.zeros_like(self.theta)], -1)[: tokens.shape[1]]
        return logits.expand(len(tokens), -1, -1)


class OneLayer(nn.Module):
    """One attention layer and one tanh layer, no norms, untied: 3 tokens, 5 positions, width 4, 172 numbers."""

    SHAPES = {
        "embed": (3, 4), "place": (5, 4), "query": (4, 4), "key": (4, 4), "value": (4, 4), "out": (4, 4),
        "up": (4, 8), "down": (8, 4), "head": (4, 3),
    }  # fmt: skip

    def __init__(self):
        super().__init__()
        number = 0
        for name, shape in self.SHAPES.items():
            k = np.arange(number, number + math.prod(shape))
            values = torch.from_numpy(0.5 * np.sin(1 + 1.7 * k)).reshape(shape)
            self.register_parameter(name, nn.Parameter(values))
            number += k.size

    def forward(self, tokens):
        length = tokens.shape[1]
        x = self.embed[tokens] + self.place[:length]
        scores = (x @ self.query) @ (x @ self.key).mT / 2
        ahead = torch.ones(length, length).triu(1).bool()
        x = x + scores.masked_fill(ahead, -math.inf).softmax(-1) @ (x @ self.value) @ self.out
        return (x + (x @ self.up).tanh() @ self.down) @ self.head


# ---- By reading every text on its own


def every_completion(vocabulary, steps, end):
    """All tuples of tokens, the end token once and last, or none and cut off."""
    if steps == 0:
        return [()]
    rest = every_completion(vocabulary, steps - 1, end)
    return [
        (first, *more)
        for first in range(vocabulary)
        for more in (rest if first != end else [()])
    ]  # fmt: skip


def log_probability(model, prompt, completion, change=lambda logits: logits):
    """log pi of one completion, on its graph: the whole text through the model, alone."""
    logits = model(torch.tensor([[*prompt, *completion]]))[0]
    steps = range(len(prompt) - 1, len(prompt) + len(completion) - 1)
    return sum(change(logits[t]).log_softmax(-1)[y] for t, y in zip(steps, completion, strict=True))


def flat_gradient(value, model):
    wanted = [p for p in model.parameters() if p.requires_grad]
    parts = torch.autograd.grad(value, wanted, retain_graph=True, materialize_grads=True)
    return torch.cat([part.flatten() for part in parts]).numpy()


def one_by_one(model, prompt, completions):
    """(N,) probabilities and (N, n) scores."""
    logs = [log_probability(model, prompt, y) for y in completions]
    return np.exp([log.item() for log in logs]), np.array([flat_gradient(log, model) for log in logs])


# ---- The forward pass in NumPy


def numpy_logits(model, tokens):
    """(L, V) logits of one text, from the parameters alone."""
    w = {name: value.detach().double().numpy() for name, value in model.named_parameters()}
    width, heads, length = model.shape["width"], model.shape["heads"], len(tokens)

    def norm(x, weight):
        centred = x - x.mean(1, keepdims=True)
        return centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5) * weight

    x = w["tokens.weight"][tokens] + w["positions.weight"][:length]
    for i in range(model.shape["layers"]):
        read = norm(x, w[f"blocks.{i}.norm_1.weight"])
        query, key, value = np.split(read @ w[f"blocks.{i}.qkv.weight"].T, 3, axis=1)
        found = np.zeros((length, width))
        for h in range(heads):
            part = slice(h * width // heads, (h + 1) * width // heads)
            for t in range(length):
                score = key[: t + 1, part] @ query[t, part] / math.sqrt(width / heads)
                weight = np.exp(score - score.max())
                found[t, part] = weight @ value[: t + 1, part] / weight.sum()
        x = x + found @ w[f"blocks.{i}.out.weight"].T
        read = norm(x, w[f"blocks.{i}.norm_2.weight"]) @ w[f"blocks.{i}.up.weight"].T
        x = x + np.maximum(read, 0) @ w[f"blocks.{i}.down.weight"].T
    return norm(x, w["norm.weight"]) @ w["tokens.weight"].T
