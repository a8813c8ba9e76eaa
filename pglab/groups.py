"""Groups of G independent samples, exact: every group counted, and none of them twice.

G answers to one prompt of A possible answers make A^G groups. An estimate that does not look at
the order is the same for all groups that hold the same answers, so it is enough to go through the
*multisets*: C(G + A - 1, A - 1) of them, 47,905 instead of 10^38 for A = 4 and G = 64. An
advantage looks only at rewards, so ``moments`` needs the multisets of reward *values*: with
rewards of 0 and 1 these are the G + 1 pass counts.

Source: Feller 1968, An introduction to probability theory, vol. 1, sections II.5 and VI.9.
"""

import math
from functools import lru_cache

import numpy as np

from pglab import _checks, bandit

MOST = 24_000_000  # counts in one list, multisets times actions; more would fill the memory
CHUNK = 2**16  # rewards handed to an advantage at a time: they stay in the processor's cache
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
    return _multisets(_checks.whole("actions", actions, low=1), _checks.whole("size", size, low=1)).copy()


@lru_cache(maxsize=8)
def _multisets(actions, size):
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
    p = _probabilities(probabilities)
    counts = _checks.floats("counts", counts, f"whole numbers of shape (M, {p.size})")
    if counts.ndim != 2 or counts.shape[1] != p.size or len(counts) == 0:
        raise ValueError(f"counts has shape {counts.shape}; it must be (M, {p.size}), one column an action.")
    if (counts < 0).any() or (counts % 1 != 0).any() or np.ptp(counts.sum(axis=1)) > 0:
        raise ValueError("counts must hold whole numbers, none negative, every row with the same sum.")
    return _multinomial(p, counts.astype(np.int64))


def _multinomial(p, counts):
    size = int(counts[0].sum())
    log_factorial = np.cumsum(np.log(np.maximum(np.arange(size + 1), 1)))
    log_p = np.log(p, out=np.zeros_like(p), where=p > 0)
    logs = log_factorial[size] - log_factorial[counts].sum(axis=1) + counts @ log_p
    impossible = counts[:, p == 0].any(axis=1)  # 0^0 is 1, and 0^n is 0
    return np.where(impossible, 0.0, np.exp(logs))


def _probabilities(probabilities):
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
    p, size = _probabilities(probabilities), _checks.whole("size", size, low=1)
    if not callable(f):
        raise ValueError(f"f is {f!r}; it must be a function of a group of action numbers.")
    counts = _multisets(p.size, size)
    chances = _multinomial(p, counts)
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


def moments(logits, rewards, advantage, size):
    """Exact mean and covariance of the gradient estimate from one group.

        estimate = 1/G sum_i A_i grad log pi(a_i),     A = advantage(rewards of the group)

    Given the rewards of a group, its actions are independent; so the covariance is that of the
    conditional means plus the mean of the conditional covariances, and the advantage is evaluated
    once for each distinct multiset of reward values.

    Args:
      logits: (A,) one logit for each action.
      rewards: (A,) the reward of each action.
      advantage: function of (M, G) rewards, one group in a row, that returns (M, G) advantages,
        such as ``advantages.leave_one_out``. Equal rewards of a group must get equal advantages.
      size: G, samples in a group.

    Returns:
      mean (A,), covariance (A, A), float64. The trace of the covariance is the total variance.

    Raises:
      ValueError: as ``bandit.expected_reward``; a size below 1 or too many multisets; an advantage
        that returns another shape, NaN or infinity, or different numbers for equal rewards.

    Source: law of total variance, Bertsekas and Tsitsiklis 2008, section 4.3; the estimate as in
    Ahmadian et al. 2024 (RLOO), section 2.
    """
    p, score = bandit.softmax(logits), bandit.score_matrix(logits)
    rewards = _checks.vector("rewards", rewards, size=p.size)
    size = _checks.whole("size", size, low=1)
    if not callable(advantage):
        raise ValueError(f"advantage is {advantage!r}; it must be a function of rewards of shape (M, G).")
    values, kind = np.unique(rewards[p > 0], return_inverse=True)
    share = (kind == np.arange(values.size)[:, None]) * p[p > 0]  # (K, A'): what each action adds to a value
    chance = share.sum(axis=1)  # (K,)
    share = share / chance[:, None]
    score = score[p > 0]  # (A', A)
    centre = share @ score  # (K, A): mean score given the value
    counts = _multisets(values.size, size)
    weight = counts * _advantage_table(values, counts, advantage, size) / size  # (M, K)
    odds = _multinomial(chance / chance.sum(), counts)  # (M,)
    mean = odds @ weight
    between = centre.T @ ((weight - mean).T * odds @ (weight - mean)) @ centre
    # Inside one value: sum_i A_i^2 Cov(score | value) / G^2, and weight^2 / counts is counts A^2 / G^2.
    inside = odds @ np.divide(weight**2, counts, out=np.zeros_like(weight), where=counts > 0)  # (K,)
    within = sum(
        inside[k] * (score - centre[k]).T * share[k] @ (score - centre[k]) for k in range(values.size)
    )
    return mean @ centre, between + within


def _advantage_table(values, counts, advantage, size):
    """(M, K): the advantage of a sample that earned value k in group m; 0 where none did."""
    rows = max(1, CHUNK // size)
    return np.concatenate(
        [_advantages(values, counts[i : i + rows], advantage, size) for i in range(0, len(counts), rows)]
    )


def _advantages(values, counts, advantage, size):
    groups = np.repeat(np.tile(values, len(counts)), counts.ravel()).reshape(-1, size)  # sorted rows
    result = _checks.floats("advantage(rewards)", advantage(groups), f"numbers of shape {groups.shape}")
    if result.shape != groups.shape:
        raise ValueError(
            f"advantage(rewards) has shape {result.shape}; it must be {groups.shape}, as the rewards."
        )
    if not np.isfinite(result).all():
        raise ValueError("advantage(rewards) holds NaN or infinity; it must be finite for every group.")
    end = counts.cumsum(axis=1)
    first = np.take_along_axis(result, np.minimum(end - counts, size - 1), axis=1)
    last = np.take_along_axis(result, np.maximum(end - 1, 0), axis=1)
    rounding = 1e-9 * abs(result).max() + 1e-13 * abs(values).max()
    if (abs(first - last)[counts > 0] > rounding).any():
        raise ValueError(
            "advantage gives equal rewards of one group different numbers; it must look at nothing "
            "but the rewards (a baseline must be one number, not one for each place)."
        )
    return np.where(counts > 0, first, 0.0)


def rloo_covariance_trace(logits, rewards, size):
    """Total variance of the leave-one-out estimate from one group, in closed form for any size.

    The estimate is a U-statistic: the mean over pairs of h(x, y) = (R_x - R_y)(score_x - score_y)/2.
    Its variance follows from two numbers (Hoeffding):

        trace = (4 (G-2) zeta_1 + 2 zeta_2) / (G (G-1))
        zeta_1 = variance of E[h | x] = 1/4 of the single-sample trace with baseline E[R]
        zeta_2 = variance of h = Var(R) - |gradient|^2       (a softmax: |score_x - score_y|^2 = 2)

    Args:
      logits: (A,) one logit for each action.
      rewards: (A,) the reward of each action.
      size: G, samples in a group, at least 2.

    Returns:
      float, in squared units of the gradient.

    Raises:
      ValueError: as ``bandit.expected_reward``; a size below 2.

    Source: Hoeffding 1948, section 5; the estimate: Kool, van Hoof and Welling 2019.
    """
    size = _checks.whole("size", size, low=2)
    p = bandit.softmax(logits)
    centred = _checks.vector("rewards", rewards, size=p.size) - bandit.expected_reward(logits, rewards)
    gradient = bandit.exact_gradient(logits, centred)
    zeta_1 = bandit.covariance_trace(logits, centred) / 4
    zeta_2 = p @ centred**2 - gradient @ gradient
    return float((4 * (size - 2) * zeta_1 + 2 * zeta_2) / (size * (size - 1)))


def zero_variance_probability(p, size):
    """Chance that all rewards of a 0/1 group are equal, so that it teaches nothing.

        p^G + (1 - p)^G

    Args:
      p: pass rate of the prompt, a number or an array of them, from 0 to 1.
      size: G, samples in a group.

    Returns:
      float, or float64 array of the shape of p.

    Raises:
      ValueError: a pass rate outside 0 to 1, a size below 1.

    Source: Yu et al. 2025 (DAPO), section 3.2, on groups of accuracy 0 and 1.
    """
    size = _checks.whole("size", size, low=1)
    p = _checks.floats("p", p, "a pass rate from 0 to 1")
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError("p holds a number outside 0 to 1; it must be a pass rate from 0 to 1.")
    result = p**size + (1 - p) ** size
    return float(result) if result.ndim == 0 else result
