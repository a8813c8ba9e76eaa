"""One step of post-training once more: every completion read alone, the papers' formulas in plain loops.

Nothing is shared with ``pglab.training``, ``algorithms``, ``losses``, ``advantages`` or ``returns``. Rows are
lists, a row that is cut off is a shorter list, and the only tensors with gradients are its log-probabilities.
"""

import copy
import math

import torch
from models_by_hand import shaken, with_bias

from pglab import tasks, training

# What the loss is divided by: rows; a row's tokens and rows; rows and the longest allowed; all tokens.
DIVIDED = {
    "vanilla": "rows", "reinforce": "rows", "batch_mean": "rows", "rloo": "rows", "gspo": "rows", "grpo": "each",
    "dr_grpo": "longest", "max_rl": "longest", "ppo": "tokens", "dapo": "tokens", "cispo": "tokens",
    "grpo_clip_higher": "each", "grpo_dynamic": "each", "grpo_overlong": "each", "grpo_token_mean": "tokens",
}  # fmt: skip
BOUNDS = {"dapo": (0.8, 1.28), "grpo_clip_higher": (0.8, 1.28), "gspo": (1 - 3e-4, 1 + 4e-4)}
# The ratio's; 0.8 and 1.2 for all others.


def model(dtype=torch.float64, seed=0, scale=20, **shape):
    return shaken(seed, scale, dtype, **{"layers": 1, "context": 16, **shape})


def brief(bias=2.5):
    """A model that ends early: completions of many lengths. (Its reference copy would not.)"""
    return with_bias(model(scale=10, context=20), bias, *[0.0] * 31)


def paid(prompt, completion):
    """A reward for tests: 0, 1/2 or 1, as good as random."""
    return sum(map(ord, prompt + completion)) % 3 / 2


def rarely(prompt, completion):
    """The same, but nothing for half of the prompts, so that there are groups without a difference."""
    return paid(prompt, completion) if ord(prompt[0]) % 2 else 0.0


def settings(**changes):
    small = dict(task="addition", prompts=4, group_size=3, steps=3, epochs=1, grad_clip=0)
    return training.PostTraining(**{**small, **changes})


def unscorable(prompt, completion):
    return None if sum(map(ord, completion)) % 4 == 1 else paid(prompt, completion)


class Liked(tasks.Addition):
    """What is right is known, and is not what is paid: an untrained model adds up nothing."""

    def verify(self, prompt, completion):
        return float(sum(map(ord, prompt + completion)) % 2)


def trainer(start=None, reward=rarely, **changes):
    return training.Trainer(settings(**changes), model=start or model(), reward=reward, task=Liked())


def read(model, rollouts, temperature=1.0, value=None):
    """For each completion (L,) log-probabilities, with gradients, and (L,) values of the critic."""
    logs, values = [], []
    for i, (tokens, mask) in enumerate(zip(rollouts.samples.tokens, rollouts.samples.mask, strict=True)):
        prompt, answer = rollouts.prompts[i // rollouts.rewards.shape[1]], tokens[: int(mask.sum())]
        text, start = torch.cat([prompt, answer])[None], len(prompt) - 1
        each = (model(text)[0, start:-1] / temperature).log_softmax(-1)
        logs.append(each[torch.arange(len(answer)), answer])
        if value is not None:
            values.append(model.hidden(text)[0, start:-1] @ value.weight[0] + value.bias[0])
    return logs, values


def numbers(rows):
    return [row.tolist() for row in rows]


# ---- Weights


def mean(xs):
    return sum(xs) / len(xs)


def spread(xs):
    return math.sqrt(sum((x - mean(xs)) ** 2 for x in xs) / (len(xs) - 1))


def advantages(name, groups):
    """A number for each completion, from lists of rewards; None could not be scored and weighs 0."""
    found = []
    for group in groups:
        kept = [r for r in group if r is not None]
        for i, r in enumerate(group):
            others = [x for j, x in enumerate(group) if j != i and x is not None]
            found.append(0.0 if r is None else weight(name, r, kept, others))
    return found


def weight(name, r, kept, others):
    if name in ("vanilla", "reinforce"):
        return r
    if not others:
        return 0.0
    if name == "rloo":
        return r - mean(others)
    if name == "max_rl":
        return (r - mean(kept)) / mean(kept) if mean(kept) else 0.0
    scaled = name in ("dapo", "gspo", "cispo") or name.startswith("grpo")
    return (r - mean(kept)) / (spread(kept) + 1e-4 if scaled else 1)


def gae(rewards, values, lam):
    """One answer: A_t = delta_t + lam A_{t+1}."""
    found, later, following = [], 0.0, 0.0
    for r, v in zip(reversed(rewards), reversed(values), strict=True):
        later = r + following - v + lam * later
        following = v
        found.insert(0, later)
    return found


def whitened(rows):
    flat = [x for row in rows for x in row]
    scale = math.sqrt(spread(flat) ** 2 + 1e-8)
    return [[(x - mean(flat)) / scale for x in row] for row in rows]


# ---- Losses


def policy_loss(name, new, old, weights, longest):
    """``new`` with gradients, ``old`` numbers, ``weights`` a number or a list for each row."""
    total, tokens = 0.0, sum(map(len, new))
    for row, then, given in zip(new, old, weights, strict=True):
        d = row - (row.detach() if name == "vanilla" else torch.tensor(then, dtype=row.dtype))
        given = given if isinstance(given, list) else [given] * len(row)
        if name in ("rloo", "gspo"):
            d, given = [d.sum() / (len(row) if name == "gspo" else 1)], given[:1]
        low, high = BOUNDS.get(name, (0.8, 1.2))
        divisor = {
            "rows": len(new),
            "each": len(new) * len(row),
            "longest": len(new) * longest,
            "tokens": tokens,
        }
        for each, a, log in zip(d, given, row, strict=name not in ("rloo", "gspo")):
            r = each.exp()
            if name == "cispo":
                term = r.detach().clamp(max=1.28) * a * log
            else:
                term = torch.minimum(r * a, r.clamp(low, high) * a)
            total = total - term / divisor[DIVIDED[name]]
    return total


def k(kind, d):
    return {
        "k1": d,
        "k2": d**2 / 2,
        "k3": math.exp(-d) - 1 + d if isinstance(d, float) else (-d).exp() - 1 + d,
    }[kind]


def kl_loss(name, kind, new, ref, longest):
    """A sum over tokens, divided as the algorithm's loss is; or by tokens and rows: grpo, gspo."""
    total, tokens = 0.0, sum(map(len, new))
    for row, other in zip(new, ref, strict=True):
        each = k(kind, row - torch.tensor(other, dtype=row.dtype)).sum()
        rows = len(new) * (len(row) if DIVIDED[name] == "each" or name == "gspo" else 1)
        total = total + each / {"longest": len(new) * longest, "tokens": tokens}.get(DIVIDED[name], rows)
    return total


def value_loss(values, before, targets, clip=0.2):
    """Half the larger of two squared errors, a mean over tokens."""
    total = 0.0
    for row, olds, wanted in zip(values, before, targets, strict=True):
        for v, old, target in zip(row, olds, wanted, strict=True):
            kept = old + (v - old).clamp(-clip, clip)
            total = total + torch.maximum((v - target) ** 2, (kept - target) ** 2) / 2
    return total / sum(map(len, values))


# ---- A step


class Step:
    """Everything that is fixed on one batch: weights, old log-probabilities, targets of the critic."""

    def __init__(self, trainer, model, value=None, reference=None):
        self.settings, self.rollouts, self.reference = trainer.settings, trainer.rollouts, reference
        self.algorithm, self.longest = trainer.settings.algorithm, trainer.settings.longest(trainer.task)
        groups = [
            [float(r) if ok else None for r, ok in zip(*pair, strict=True)]
            for pair in zip(self.rollouts.rewards, self.rollouts.mask, strict=True)
        ]
        with torch.no_grad():
            old, before = read(model, self.rollouts, self.settings.temperature, value)
            ref = read(reference, self.rollouts, self.settings.temperature)[0] if reference else []
        self.old, self.before, self.ref = numbers(old), numbers(before), numbers(ref)
        self.costs = [[0.0] * len(row) for row in self.old]
        beta, kind = self.algorithm.kl, self.algorithm.kl_kind
        if beta and self.algorithm.kl_where == "reward":
            pairs = zip(self.old, self.ref, strict=True)
            self.costs = [[beta * k(kind, x - y) for x, y in zip(*pair, strict=True)] for pair in pairs]
        if value is None:
            size = self.rollouts.rewards.shape[1]
            charged = [
                [None if r is None else r - sum(self.costs[b * size + j]) for j, r in enumerate(group)]
                for b, group in enumerate(groups)
            ]
            self.weights = advantages(self.algorithm.name, charged)
        else:
            self.judge([r for group in groups for r in group])

    def judge(self, rewards):
        """Advantages and targets; a row that could not be scored has no tokens in either."""
        self.scored = [i for i, r in enumerate(rewards) if r is not None]
        found = []
        for i in self.scored:
            steps = [-cost for cost in self.costs[i]]
            steps[-1] += rewards[i]
            found.append(gae(steps, self.before[i], self.algorithm.lam))
        self.targets = [
            [a + v for a, v in zip(row, self.before[i], strict=True)]
            for row, i in zip(found, self.scored, strict=True)
        ]
        self.weights = [[0.0] * len(row) for row in self.old]
        for i, row in zip(self.scored, whitened(found), strict=True):
            self.weights[i] = row

    def loss(self, model, value=None):
        new, values = read(model, self.rollouts, self.settings.temperature, value)
        total = policy_loss(self.algorithm.name, new, self.old, self.weights, self.longest)
        if self.algorithm.kl and self.algorithm.kl_where == "loss":
            name, kind = self.algorithm.name, self.algorithm.kl_kind
            total = total + self.algorithm.kl * kl_loss(name, kind, new, self.ref, self.longest)
        if value is not None:
            kept = [[column[i] for i in self.scored] for column in (values, self.before)]
            total = total + self.algorithm.value_weight * value_loss(*kept, self.targets)
        return total

    def gradient(self, model, value=None):
        """Leaves it in the parameters, and returns it flat."""
        parameters = all_parameters(model, value)
        for parameter in parameters:
            parameter.grad = None
        self.loss(model, value).backward()
        return flat(parameters)


def all_parameters(model, value=None):
    return [*model.parameters(), *([] if value is None else value.parameters())]


def flat(parameters):
    return torch.cat(
        [torch.zeros_like(p).flatten() if p.grad is None else p.grad.flatten() for p in parameters]
    )


def left(trainer):
    """The gradient that the last step of a Trainer left."""
    return flat(all_parameters(trainer.policy, trainer.value))


def copies(trainer):
    return copy.deepcopy(trainer.policy), copy.deepcopy(trainer.value)


def close(found, wanted, within=1e-10):
    assert (
        found.shape == wanted.shape and float(abs(wanted).max()) > 1e-4
    )  # a gradient of zeros proves nothing
    assert torch.allclose(found, wanted, rtol=within, atol=within), float(abs(found - wanted).max())


def with_head(run, seed=1):
    """The critic starts at 0; here it says something."""
    with torch.no_grad():
        for parameter in run.value.parameters():
            parameter.copy_(0.3 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(seed)))
    return run
