"""Mean and variance of a gradient estimate from one group, exact, for any advantage."""

import numpy as np

from pglab import _checks, bandit
from pglab.groups.listing import chances_of, checked_probabilities, list_multisets

CHUNK = 2**16  # rewards handed to an advantage at a time: they stay in the processor's cache


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
    values, kind = np.unique(rewards[p > 0], return_inverse=True)
    share = (kind == np.arange(values.size)[:, None]) * p[p > 0]  # (K, A'): what each action adds to a value
    chance = share.sum(axis=1)  # (K,)
    share = share / chance[:, None]
    score = score[p > 0]  # (A', A)
    centre = share @ score  # (K, A): mean score given the value
    mean, covariance, inside = weight_moments(values, chance / chance.sum(), advantage, size)
    within = sum(
        inside[k] * (score - centre[k]).T * share[k] @ (score - centre[k]) for k in range(values.size)
    )
    return mean @ centre, centre.T @ covariance @ centre + within


def weight_moments(values, chance, advantage, size):
    """What the samples of each reward value weigh together in the estimate of one group.

        W_k = 1/G sum_i A_i,  over the samples i of the group with reward values[k]

    All that an advantage does to mean and variance is in these moments; what the scores are is
    another matter, so they serve a softmax of four actions and a transformer alike.

    Args:
      values: (K,) the different rewards, increasing.
      chance: (K,) probability of each.
      advantage: as for ``moments``.
      size: G, samples in a group.

    Returns:
      E[W] (K,), Cov(W) (K, K), and (K,) E[1/G^2 sum_i A_i^2] over the samples of each value: the weight
      of the variance that scores have within one value.

    Raises:
      ValueError: chances that are no distribution, values that do not increase, and as ``moments``.

    Source: law of total variance, Bertsekas and Tsitsiklis 2008, section 4.3.
    """
    size = _checks.whole("size", size, low=1)
    values = _checks.vector("values", values)
    chance = checked_probabilities(_checks.vector("chance", chance, size=values.size))
    if (np.diff(values) <= 0).any():
        raise ValueError("values must be different rewards in increasing order.")
    if not callable(advantage):
        raise ValueError(f"advantage is {advantage!r}; it must be a function of rewards of shape (M, G).")
    counts = list_multisets(values.size, size)
    weight = counts * _advantage_table(values, counts, advantage, size) / size  # (M, K)
    odds = chances_of(chance, counts)  # (M,)
    mean = odds @ weight
    covariance = (weight - mean).T * odds @ (weight - mean)
    # sum_i A_i^2 / G^2 within one value: weight^2 / counts is counts A^2 / G^2.
    inside = odds @ np.divide(weight**2, counts, out=np.zeros_like(weight), where=counts > 0)  # (K,)
    return mean, covariance, inside


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
