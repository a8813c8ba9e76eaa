"""The losses once more in plain floats, one row of counted tokens after the other; batches to try.

Nothing is shared with ``pglab.losses``: a clip is a min and a max here, and a mean is a loop.
"""

import math
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

MODES = ("token_mean", "sequence_mean", "constant", "sum")
RATIOS = ("token", "sequence_mean", "sequence_product")


def aggregate(rows, mode, norm=None, empty_rows="exclude"):
    """``rows`` holds lists of the losses that count; some may be empty. Exact, if they are fractions."""
    total = sum(x for row in rows for x in row)
    counted = len(rows) if empty_rows == "count" else sum(1 for row in rows if row)
    if mode == "token_mean":
        return total / (norm or sum(len(row) for row in rows) or 1)
    if mode == "sequence_mean":
        means = [sum(row) / Fraction(len(row)) for row in rows if row]
        return sum(means) / (norm or Fraction(counted or 1))
    return total / ((counted or 1) * norm) if mode == "constant" else total / (norm or 1)


def surrogate(log_ratio, held, score, advantage, clip, dual_clip, variant):
    """One loss; ``held`` is the log-ratio where it counts as a constant, ``score`` the log-probability."""
    low, high = clip or (None, None)
    low, high = -math.inf if low is None else 1 - low, math.inf if high is None else 1 + high
    if variant == "cispo":
        return -min(max(math.exp(held), low), high) * advantage * score
    ratio = math.exp(log_ratio)
    objective = min(ratio * advantage, min(max(ratio, low), high) * advantage)
    if advantage < 0 and dual_clip is not None:
        objective = max(objective, dual_clip * advantage)
    return -objective


def policy_loss(
    logprobs, old, advantages, mask, clip=(0.2, 0.2), dual_clip=None, ratio="token", variant="ppo",
    aggregation="token_mean", norm=None, empty_rows="exclude", held=None,
):  # fmt: skip
    """Lists of rows in, a float out. ``held``: log-probabilities for what the gradient keeps constant."""
    rows = []
    for i, row in enumerate(mask):
        places = [t for t, m in enumerate(row) if m]
        now, then = [logprobs[i][t] for t in places], [old[i][t] for t in places]
        kept = now if held is None else [held[i][t] for t in places]
        given = advantages[i] if isinstance(advantages[i], list) else [advantages[i]] * len(row)
        if ratio != "token" and places:
            n = len(places) if ratio == "sequence_mean" else 1
            now, then, kept = [sum(now) / n], [sum(then) / n], [sum(kept) / n]
            places = places[:1]
        rows.append([
            surrogate(x - y, k - y, x, given[t], clip, dual_clip, variant)
            for x, y, k, t in zip(now, then, kept, places, strict=True)
        ])  # fmt: skip
    return float(aggregate(rows, aggregation, norm, empty_rows))


def gradient(logprobs, old, advantages, mask, step=1e-5, **options):
    """Central differences of the value, entry by entry."""
    result = np.zeros(np.shape(logprobs))
    for i, t in np.ndindex(*result.shape):
        if mask[i][t]:
            up, down = [list(row) for row in logprobs], [list(row) for row in logprobs]
            up[i][t], down[i][t] = up[i][t] + step, down[i][t] - step
            high = policy_loss(up, old, advantages, mask, held=logprobs, **options)
            low = policy_loss(down, old, advantages, mask, held=logprobs, **options)
            result[i, t] = (high - low) / (2 * step)
    return result


# ---- Batches and options to try

# Log-ratios are multiples of 1/8, their means of 1/8, 1/16, 1/24 and 1/32: none lies within 0.003 of
# the bounds below, so central differences never straddle a bend.
BOUNDS = st.sampled_from([None, 0.2])
OPTIONS = {
    "clip": st.one_of(st.none(), st.tuples(BOUNDS, BOUNDS), st.just((0.2, 0.3)), st.just((1.5, 0.3))),
    "ratio": st.sampled_from(RATIOS),
    "variant": st.sampled_from(["ppo", "ppo", "cispo"]),
    "aggregation": st.sampled_from(MODES),
    "norm": st.sampled_from([None, 3, 0.5]),
    "empty_rows": st.sampled_from(["exclude", "count"]),
}
JUNK = st.sampled_from([np.nan, np.inf, -np.inf, 1e30, -800.0, 800.0, 0.0])


@st.composite
def masks(draw):
    shape = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    n = math.prod(shape)
    return np.reshape(draw(st.lists(st.sampled_from([True, True, False]), min_size=n, max_size=n)), shape)


def eighths(draw, n, low, high):
    return np.array(draw(st.lists(st.integers(low, high), min_size=n, max_size=n))) / 8


@st.composite
def batches(draw):
    """(logprobs, old, advantages, mask): advantages for each row or each token, zeros among them."""
    mask = draw(masks())
    logprobs = eighths(draw, mask.size, -24, -1).reshape(mask.shape)
    old = logprobs - eighths(draw, mask.size, -10, 10).reshape(mask.shape)
    shape = mask.shape if draw(st.booleans()) else mask.shape[:1]
    advantages = eighths(draw, math.prod(shape), -8, 8).reshape(shape)
    return logprobs, old, advantages, mask


@st.composite
def options(draw, advantages):
    """Options that fit together and the shape of the advantages."""
    chosen = {name: draw(strategy) for name, strategy in OPTIONS.items()}
    if advantages.ndim == 2:
        chosen["ratio"] = "token"
    if chosen["aggregation"] == "constant":
        chosen["norm"] = chosen["norm"] or 4
    chosen["dual_clip"] = draw(st.sampled_from([None, 1.5, 3.0])) if chosen["variant"] == "ppo" else None
    return chosen


def with_junk(values, mask, junk):
    """``values`` with ``junk`` wherever the mask is False; for one value per row, in rows without tokens."""
    return np.where(mask if values.ndim == 2 else mask.any(1), values, junk)
