"""What public libraries compute, each written once more from its own formulas: plain floats, plain loops.

Nothing is shared with ``pglab``. A batch is a list of groups of rewards and, for each completion, the
numbers of its own tokens: no padding, no mask. Losses are functions of the log-probabilities, and gradients
are central differences of these. Versions are those of ``algorithms.LIBRARIES``.
"""

import math
from typing import NamedTuple

import numpy as np

STEP = 1e-4  # of the differences: what they leave out is of the order of STEP**2


class Plain(NamedTuple):
    """A batch of lists of floats."""

    rewards: list  # P groups of G
    new: list  # N rows, each as long as its completion
    old: list
    ref: list
    values: list


def plain(batch):
    """From anything with ``tolist``: float32 numbers become the floats that they are."""
    rows = [
        [[x for x, counts in zip(row, places, strict=True) if counts] for row, places in pairs]
        for pairs in (
            list(zip(column.tolist(), batch.mask.tolist(), strict=True))
            for column in (batch.logprobs, batch.old_logprobs, batch.ref_logprobs, batch.values)
        )
    ]
    return Plain(batch.rewards.tolist(), *rows)


def mean(xs):
    return math.fsum(xs) / len(xs)


def variance(xs, ddof):
    return math.fsum((x - mean(xs)) ** 2 for x in xs) / (len(xs) - ddof)


# ---- Advantages


def normalised(eps, ddof=1):
    """TRL 2765-2787, verl 316-326, slime 613-629, OpenRLHF 270: the same words, another eps."""

    def advantages(batch):
        found = []
        for group in batch.rewards:
            scale = math.sqrt(variance(group, ddof)) + eps
            found += [(r - mean(group)) / scale for r in group]
        return by_token(found, batch)

    return advantages


def by_token(each, batch):
    return [[a] * len(row) for a, row in zip(each, batch.new, strict=True)]


def trl_rloo(batch):
    """1669-1690: the KL of a completion, beta 0.05, goes off its reward; then the mean of the others."""
    size, found = len(batch.rewards[0]), []
    paid = [
        r - 0.05 * sum(x - y for x, y in zip(batch.old[i], batch.ref[i], strict=True))
        for i, r in enumerate(r for group in batch.rewards for r in group)
    ]
    for i in range(0, len(paid), size):
        group = paid[i : i + size]
        found += [r - (sum(group) - r) / (size - 1) for r in group]
    return by_token(found, batch)


def gae(rewards, values):
    """gamma 1, lambda 1, from the last token back; after it nothing is worth anything."""
    found, later, following = [], 0.0, 0.0
    for r, v in zip(reversed(rewards), reversed(values), strict=True):
        later = (r + following - v) + later
        following = v
        found.append(later)
    return found[::-1]


def verl(batch):
    """core_algos 215-262: the reward on the last token, GAE, whitened over tokens, eps inside the root."""
    paid = [r for group in batch.rewards for r in group]
    rows = [gae([0.0] * (len(v) - 1) + [r], v) for r, v in zip(paid, batch.values, strict=True)]
    flat = [x for row in rows for x in row]
    scale = 1 / math.sqrt(variance(flat, 1) + 1e-8)
    return [[(x - mean(flat)) * scale for x in row] for row in rows]


def openrlhf(batch):
    """utils 95-120, experience_maker 315-328: k1 off every token, GAE, whitened by the population variance."""
    paid, rows = [r for group in batch.rewards for r in group], []
    for i, r in enumerate(paid):
        steps = [-0.01 * clamp(x - y, -10, 10) for x, y in zip(batch.old[i], batch.ref[i], strict=True)]
        steps[-1] += clamp(r, -10, 10)
        rows.append(gae(steps, batch.values[i]))
    flat = [x for row in rows for x in row]
    scale = 1 / math.sqrt(max(variance(flat, 0), 1e-8))
    return [[(x - mean(flat)) * scale for x in row] for row in rows]


def nemo_rl(batch):
    """advantage_estimator 69-98: mean and std of the others; undivided where these are all alike."""
    found = []
    for group in batch.rewards:
        for i, r in enumerate(group):
            others = group[:i] + group[i + 1 :]
            spread = math.sqrt(variance(others, 1))
            found.append((r - mean(others)) / (spread + 1e-6) if spread > 0 else r - mean(others))
    return by_token(found, batch)


def centred(batch):
    return by_token([r - mean(group) for group in batch.rewards for r in group], batch)


# ---- Losses: functions of the log-probabilities; ``frozen`` are those that the gradient does not see


def clamp(x, low, high):
    return min(max(x, low), high)


def pairs_of(new, batch, advantages):
    """(log-ratio, advantage) of every token, row by row."""
    for row, then, weights in zip(new, batch.old, advantages, strict=True):
        yield [(x - y, a) for x, y, a in zip(row, then, weights, strict=True)]


def objective(d, a, low=0.8, high=1.2):
    """TRL 3115-3120, slime, NeMo-RL: the worse of two, with the sign changed."""
    return -min(math.exp(d) * a, clamp(math.exp(d), low, high) * a)


def verl_token(d, a, dual=3.0):
    """core_algos 1330-1360: the log-ratio held, the larger of two losses, and c |A| at most below 0."""
    ratio = math.exp(clamp(d, -20, 20))
    larger = max(-a * ratio, -a * clamp(ratio, 0.8, 1.2))
    return min(larger, -a * dual) if a < 0 and dual else larger


def openrlhf_token(d, a):
    ratio = math.exp(clamp(d, -20, 20))
    return -min(ratio * a, clamp(ratio, 0.8, 1.2) * a)


def over_tokens(token):
    """The sum over the number of tokens of the whole batch."""

    def loss(new, batch, advantages, frozen):
        rows = list(pairs_of(new, batch, advantages))
        return sum(token(*pair) for row in rows for pair in row) / sum(map(len, rows))

    return loss


def over_rows(new, batch, advantages, frozen):
    """slime cp_utils 47-81: the mean of each completion's mean."""
    rows = list(pairs_of(new, batch, advantages))
    return sum(sum(objective(*pair) for pair in row) / max(len(row), 1) for row in rows) / len(rows)


def whole_completions(new, batch, advantages, frozen):
    """rloo_trainer 1824-1833: one ratio a completion, the mean over completions."""
    rows = list(pairs_of(new, batch, advantages))
    return sum(objective(sum(d for d, _ in row), row[0][1]) for row in rows) / len(rows)


def nemo_loss(new, batch, advantages, frozen):
    """loss_functions 488-503 and 678: the KL's weight is 1, and its gradient that of the sampling."""
    total, number = 0.0, sum(map(len, new))
    for row, ref, then in zip(new, batch.ref, frozen, strict=True):
        for x, y, x0 in zip(row, ref, then, strict=True):
            total += 0.01 * math.exp(x - x0) * (math.exp(y - x) - 1 - (y - x))
    return over_tokens(objective)(new, batch, advantages, frozen) + total / number


def summed(new, batch, advantages, frozen):
    return -sum(math.exp(d) * a for row in pairs_of(new, batch, advantages) for d, a in row)


LIBRARIES = {
    "TRL GRPO": (normalised(1e-4), over_tokens(objective)),
    "TRL RLOO": (trl_rloo, whole_completions),
    "verl": (verl, over_tokens(verl_token)),
    "verl GRPO": (normalised(1e-6), over_tokens(verl_token)),
    "slime": (normalised(1e-6), over_rows),
    "OpenRLHF": (openrlhf, over_tokens(openrlhf_token)),
    "OpenRLHF group_norm": (normalised(1e-9), over_tokens(openrlhf_token)),
    "NeMo-RL": (nemo_rl, nemo_loss),
    "tinker-cookbook": (centred, summed),
}


def derive(name, batch):
    """Advantages (rows), loss, gradient (rows) of a library on a Plain batch."""
    weigh, loss = LIBRARIES[name]
    advantages = weigh(batch)
    gradient = []
    for i, row in enumerate(batch.new):
        slopes = []
        for t in range(len(row)):
            beside = []
            for step in (STEP, -STEP):
                moved = [list(r) for r in batch.new]
                moved[i][t] += step
                beside.append(loss(moved, batch, advantages, batch.new))
            slopes.append((beside[0] - beside[1]) / (2 * STEP))
        gradient.append(slopes)
    return advantages, loss(batch.new, batch, advantages, batch.new), gradient


# ---- Denominators, as each library writes them, from (B, T) losses and a 0/1 mask of NumPy


def trl_grpo_type(losses, mask):
    """grpo_trainer 3154: every row counts, one without tokens as 0."""
    return ((losses * mask).sum(1) / np.maximum(mask.sum(1), 1)).mean()


def verl_token_mean(losses, mask):
    return (losses * mask).sum() / mask.sum()


def verl_seq_mean(losses, mask):
    """core_algos 1196-1202: rows without tokens do not count; without any row it is 0/0."""
    means = (losses * mask).sum(1) / (mask.sum(1) + 1e-8)
    return means.sum() / (mask.sum(1) > 0).sum()


def verl_sum_norm(losses, mask):
    """core_algos 1189-1193, ``seq-mean-token-sum-norm``: the scale is the width of this very batch."""
    return (losses * mask).sum() / ((mask.sum(1) > 0).sum() * mask.shape[1])


openrlhf_token_level, openrlhf_seq_mean = verl_token_mean, verl_seq_mean  # loss.py 11-45: the same sums


# ---- A group of one, as each library meets it


def one_alone(r):
    with np.errstate(invalid="ignore"):
        nothing = np.float64(0) / np.float64(0)  # torch.std of one number
    return {
        "TRL GRPO": (r - r) / (0 + 1e-4),  # 2772: its std is taken as 0
        "TRL RLOO": 0.0,  # 1692
        "verl GRPO": (r - 0.0) / (1.0 + 1e-6),  # 316: mean 0, std 1
        "slime": (r - r) / (nothing + 1e-6),
    }
