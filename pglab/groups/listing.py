"""The list of all groups, each a multiset, with its probability; and expectations over it."""

import math
from functools import lru_cache

import numpy as np

from pglab import _checks

MOST = 24_000_000  # counts in one list, multisets times actions; more would fill the memory
TRIED = 16  # groups that f gets in two more orders, to see that it does not look at the order


def multisets(actions, size):
    """Every way to draw ``size`` samples from ``actions`` actions, order not counted.

    Args:
      actions: A, how many different actions there are, at least 1.
      size: G, how many samples a group holds, at least 1.

    Returns:
      (M, A) integers: row m says how often each action occurs, and sums to ``size``.
      M = C(size + actions - 1, actions - 1).

    Raises:
      ValueError: sizes that are not whole and positive, or a list of more than 24 million counts.

    Source: Feller 1968, section II.5.
    """
    return list_multisets(_checks.whole("actions", actions, low=1), _checks.whole("size", size, low=1)).copy()


@lru_cache(maxsize=8)
def list_multisets(actions, size):
    # C(n, k) is at least 2^min(k, n - k): such a number is too large, and takes too long to compute.
    if min(actions - 1, size) > 30 or math.comb(size + actions - 1, actions - 1) * actions > MOST:
        raise ValueError(
            f"{actions} actions in groups of {size} make too many multisets; the list must hold at most "
            f"{MOST:,} counts. Take a smaller size, or give equal rewards to more actions."
        )
    counts, left = np.zeros((1, 0), dtype=np.int64), np.array([size])
    for _ in range(actions - 1):
        row = np.repeat(np.arange(left.size), left + 1)  # each row once for 0, 1, ... left of the next action
        taken = np.arange(row.size) - np.repeat(np.cumsum(left + 1) - (left + 1), left + 1)
        counts, left = np.column_stack([counts[row], taken]), left[row] - taken
    counts = np.column_stack([counts, left])
    counts.flags.writeable = False
    return counts


def multinomial(probabilities, counts):
    """Probability of each multiset.

        P(counts) = G! / (counts[1]! ... counts[A]!)  p[1]^counts[1] ... p[A]^counts[A]

    Args:
      probabilities: (A,) of each action; they sum to 1.
      counts: (M, A) integers, rows as ``multisets`` gives them; every row sums to the same G.

    Returns:
      (M,) float64.

    Raises:
      ValueError: probabilities that are negative or do not sum to 1; counts of another width,
        negative, not whole, or of different sums.

    Source: Feller 1968, section VI.9.
    """
    p = checked_probabilities(probabilities)
    counts = _checks.floats("counts", counts, f"whole numbers of shape (M, {p.size})")
    if counts.ndim != 2 or counts.shape[1] != p.size or len(counts) == 0:
        raise ValueError(f"counts has shape {counts.shape}; it must be (M, {p.size}), one column an action.")
    if (counts < 0).any() or (counts % 1 != 0).any() or np.ptp(counts.sum(axis=1)) > 0:
        raise ValueError("counts must hold whole numbers, none negative, every row with the same sum.")
    return chances_of(p, counts.astype(np.int64))


def chances_of(p, counts):
    size = int(counts[0].sum())
    log_factorial = np.cumsum(np.log(np.maximum(np.arange(size + 1), 1)))
    log_p = np.log(p, out=np.zeros_like(p), where=p > 0)
    logs = log_factorial[size] - log_factorial[counts].sum(axis=1) + counts @ log_p
    impossible = counts[:, p == 0].any(axis=1)  # 0^0 is 1, and 0^n is 0
    return np.where(impossible, 0.0, np.exp(logs))


def checked_probabilities(probabilities):
    p = _checks.vector("probabilities", probabilities)
    if not _checks.is_distribution(p):
        raise ValueError(
            f"probabilities sum to {p.sum():.6g}, the least is {p.min():.6g}; they must be >= 0 and sum to 1."
        )
    return p


def expect(probabilities, size, f):
    """Exact expectation of a function of a group of independent samples.

        E f(a_1 .. a_G) = sum over multisets of P(multiset) f(multiset)

    Args:
      probabilities: (A,) of each action.
      size: G, samples in a group.
      f: function of a (G,) array of action numbers (0 to A-1) that does not look at their order
        (tried on some groups); it returns a number or an array, always of one shape.

    Returns:
      float, or float64 array of the shape that f returns.

    Raises:
      ValueError: probabilities that are negative or do not sum to 1, a size below 1, too many
        multisets, an f that depends on the order, returns NaN, infinity, or different shapes.

    Source: Feller 1968, section IX.2.
    """
    p, size = checked_probabilities(probabilities), _checks.whole("size", size, low=1)
    if not callable(f):
        raise ValueError(f"f is {f!r}; it must be a function of a group of action numbers.")
    counts = list_multisets(p.size, size)
    chances = chances_of(p, counts)
    possible, total = np.flatnonzero(chances), None  # impossible groups are not asked for
    step = max(1, possible.size // TRIED)
    for i, number in enumerate(possible):
        group = np.repeat(np.arange(p.size), counts[number])
        value = _value(f, group, None if total is None else total.shape, check_order=i % step == 0)
        total = chances[number] * value + (0.0 if total is None else total)
    return float(total) if total.ndim == 0 else total


def _value(f, group, shape, check_order):
    value, *others = (
        _checks.floats("f(group)", f(order.copy()), "a number or an array of numbers")
        for order in ([group, group[::-1], np.append(group[1::2], group[::2])] if check_order else [group])
    )
    if not np.isfinite(value).all():
        raise ValueError(f"f(group) is NaN or infinite for the group {group.tolist()}; it must be finite.")
    if shape is not None and value.shape != shape:
        raise ValueError(f"f(group) has shape {value.shape}, and {shape} before; it must keep one shape.")
    for other in others:
        if other.shape != value.shape or not np.allclose(value, other, rtol=1e-9, atol=1e-12):
            raise ValueError(
                f"f(group) changes when the group {group.tolist()} is reordered; it must not look at the order."
            )
    return value
