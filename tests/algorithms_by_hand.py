"""Each algorithm of the registry once more, as its paper writes it: plain loops over single tokens.

A batch is a list of groups, a group a list of rows, a row a list of (log pi, log pi_old) of its tokens:
numbers of the mask and no others. The tokens are float64 tensors without axes, so that autograd can
differentiate what the loops add up. Nothing is shared with ``pglab``.
"""

import math

import numpy as np
import torch
from hypothesis import strategies as st

from pglab.algorithms import Algorithm

# ---- The two branches: who is compared with whom, and what a token's loss is


def mean(numbers):
    return math.fsum(numbers) / len(numbers) if numbers else 0.0


def spread(numbers, ddof=1):
    if len(set(numbers)) < 2:
        return 0.0
    centre = mean(numbers)
    return math.sqrt(math.fsum((x - centre) ** 2 for x in numbers) / (len(numbers) - ddof))


def centred(rewards):
    return [0.0 if len(set(rewards)) < 2 else r - mean(rewards) for r in rewards]


def from_the_others(rewards):
    return [
        r - mean(rewards[:i] + rewards[i + 1 :]) if len(rewards) > 1 else 0.0 for i, r in enumerate(rewards)
    ]


def standardised(rewards):
    return [d / (spread(rewards) + 1e-4) for d in centred(rewards)]


def relative(rewards):
    return [d / mean(rewards) if mean(rewards) else 0.0 for d in centred(rewards)]


WEIGHTS = {
    "vanilla": list,
    "reinforce": list,
    "batch_mean": centred,
    "rloo": from_the_others,
    "grpo": standardised,
    "dr_grpo": centred,
    "grpo_clip_higher": standardised,
    "grpo_dynamic": standardised,
    "grpo_token_mean": standardised,
    "grpo_overlong": standardised,
    "dapo": standardised,
    "gspo": standardised,
    "cispo": standardised,
    "max_rl": relative,
}


def clipped(ratio, advantage, low, high):
    """PPO, equation 7: the smaller of two objectives."""
    return torch.minimum(ratio * advantage, ratio.clamp(1 - low, 1 + high) * advantage)


def tokens_of(row, advantage, low=0.2, high=0.2):
    return [clipped((new - old).exp(), a, low, high) for (new, old), a in zip(row, advantage, strict=True)]


def one_for_the_row(row, advantage, exponent, low, high):
    """The ratio of a completion's probabilities, to a power; the row has one advantage."""
    ratio = math.prod((new.exp() / old.exp() for new, old in row), start=torch.tensor(1.0).double())
    return clipped(ratio**exponent, advantage[0], low, high)


# ---- The losses: what the paper maximises, with the sign changed. ``width`` is the longest completion allowed.


def vanilla(rows, advantages, width):
    """The sum of A grad log pi, whatever sampled; its value is that of a ratio of 1."""
    each = [
        (t - t.detach()).exp() * a
        for r, w in zip(rows, advantages, strict=True)
        for (t, _), a in zip(r, w, strict=True)
    ]
    return -sum(each) / len(rows)


def sum_over_rows(rows, advantages, width):
    """Every completion counts once: the mean of the sums."""
    return -sum(sum(tokens_of(r, a)) for r, a in zip(rows, advantages, strict=True)) / len(rows)


def rloo(rows, advantages, width):
    return -sum(one_for_the_row(r, a, 1, 0.2, 0.2) for r, a in zip(rows, advantages, strict=True)) / len(rows)


def grpo(rows, advantages, width, high=0.2):
    each = [sum(tokens_of(r, a, 0.2, high)) / len(r) for r, a in zip(rows, advantages, strict=True)]
    return -sum(each) / len(rows)


def clip_higher(rows, advantages, width):
    return grpo(rows, advantages, width, 0.28)


def constant_length(rows, advantages, width):
    return -sum(sum(tokens_of(r, a)) for r, a in zip(rows, advantages, strict=True)) / (len(rows) * width)


def all_tokens(rows, advantages, width, high=0.2):
    total = sum(sum(tokens_of(r, a, 0.2, high)) for r, a in zip(rows, advantages, strict=True))
    return -total / sum(len(r) for r in rows)


def dapo(rows, advantages, width):
    return all_tokens(rows, advantages, width, 0.28)


def gspo(rows, advantages, width):
    each = [one_for_the_row(r, a, 1 / len(r), 3e-4, 4e-4) for r, a in zip(rows, advantages, strict=True)]
    return -sum(each) / len(rows)


def cispo(rows, advantages, width):
    pairs = [(t, a) for r, row in zip(rows, advantages, strict=True) for t, a in zip(r, row, strict=True)]
    total = sum(min((new - old).exp().item(), 1.28) * a * new for (new, old), a in pairs)
    return -total / len(pairs)


LOSSES = {
    "vanilla": vanilla,
    "reinforce": sum_over_rows,
    "batch_mean": sum_over_rows,
    "rloo": rloo,
    "grpo": grpo,
    "dr_grpo": constant_length,
    "ppo": all_tokens,
    "grpo_clip_higher": clip_higher,
    "grpo_dynamic": grpo,
    "grpo_token_mean": all_tokens,
    "grpo_overlong": grpo,
    "dapo": dapo,
    "gspo": gspo,
    "cispo": cispo,
    "max_rl": constant_length,
}


def loss(name, logprobs, old, advantages, mask):
    """From (B, T) tensors: the rows that have tokens, cut to these."""
    rows, weights = [], []
    for i, places in enumerate(mask.tolist()):
        here = [t for t, counts in enumerate(places) if counts]
        if here:
            rows.append([(logprobs[i, t], old[i, t]) for t in here])
            weights.append([float(advantages[i, t] if advantages.ndim == 2 else advantages[i]) for t in here])
    return LOSSES[name](rows, weights, mask.shape[1]) if rows else logprobs.sum() * 0


def weights(name, rewards, mask):
    """(B, G) advantages; 0 where a completion could not be scored."""
    result = np.zeros(np.shape(rewards))
    for i, (row, scored) in enumerate(zip(rewards.tolist(), mask.tolist(), strict=True)):
        found = WEIGHTS[name]([r for r, m in zip(row, scored, strict=True) if m])
        result[i, np.array(scored, bool)] = found
    return result


def divergence(kind, new, ref):
    """k1, k2 and k3 of one token."""
    d = new - ref
    return {"k1": d, "k2": d * d / 2, "k3": (-d).exp() - 1 + d}[kind]


# ---- Batches to try


@st.composite
def batches(draw, advantages="rows"):
    """(logprobs, old, advantages, mask), float64, some rows without tokens.

    Log-ratios are multiples of 1/8 and their sums and means no less than 1/48 from every bend but 0:
    no gradient is taken at a bend.
    """
    rows, width = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    lengths = rng.integers(0, width + 1, rows)
    mask = np.arange(width) < lengths[:, None]
    if draw(st.booleans()):  # holes too: prompts and tools are masked out like this
        mask &= rng.random(mask.shape) < 0.8
    logprobs = torch.tensor(-rng.integers(1, 25, mask.shape) / 8)
    old = logprobs if draw(st.booleans()) else logprobs - torch.tensor(rng.integers(-6, 7, mask.shape) / 8)
    shape = mask.shape if advantages == "tokens" else rows
    return logprobs, old, torch.tensor(rng.integers(-4, 5, shape) / 4), torch.tensor(mask)


@st.composite
def groups(draw):
    """(rewards, mask), each (B, G): some completions, and whole groups, that could not be scored."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = draw(st.integers(0, 4)), draw(st.integers(2, 6))
    rewards = rng.integers(0, draw(st.sampled_from([1, 2, 9])), shape) / 4
    mask = rng.random(shape) < draw(st.sampled_from([0.3, 0.8, 1.0]))
    return np.where(mask, rewards, np.nan), mask


SETTINGS = {
    "ratio": st.sampled_from(["token", "sequence_mean", "sequence_product"]),
    "variant": st.sampled_from(["ppo", "cispo"]),
    "clip": st.sampled_from([None, (0.2, 0.28), (None, 0.1), (0.1, None)]),
    "aggregation": st.sampled_from(["token_mean", "sequence_mean", "constant", "sum"]),
    "norm": st.sampled_from([None, 1, 3.5]),
    "kl": st.sampled_from([0.0, 0.5]),
    "kl_kind": st.sampled_from(["k1", "k2", "k3"]),
}


@st.composite
def any_algorithm(draw):
    chosen = {name: draw(strategy) for name, strategy in SETTINGS.items()}
    if draw(st.integers(0, 7)) == 0:
        chosen |= {"ratio": "none", "variant": "ppo", "clip": None}
    elif chosen["variant"] == "ppo":
        chosen["dual_clip"] = draw(st.sampled_from([None, 1.5]))
    return Algorithm("mine", "here", **chosen)
