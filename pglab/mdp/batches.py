"""Weights that depend on the whole batch: the exact mean of the estimate, every batch counted."""

import numpy as np

from pglab import _checks, groups
from pglab.mdp.moments import checked_weight


def batch_estimate(paths, weight, size, change):
    """Mean of the estimate from N trajectories whose weights are changed together, such as whitened.

        E[1/N sum_i sum_t w'_{i, t} grad log pi(a_{i, t} | s_{i, t})],     w' = change(w, mask)

    The mean runs over every batch of N independent trajectories, each multiset of them once.

    Args:
      paths: Trajectories.
      weight: (P, T) the weight of each step of each of the P trajectories, before the change.
      size: N, trajectories in a batch.
      change: function of weights (N, T) and of ``mask``, (N, T) booleans, that returns new weights.

    Returns:
      (S, A) float64.

    Raises:
      ValueError: weights of another shape; as ``groups.expect``.

    Source: none; the sum over multisets is that of ``groups.expect``.
    """
    weight = checked_weight(paths, weight)
    return groups.expect(paths.probability, size, lambda drawn: _estimate(paths, weight, drawn, change))


def sampled_batch_estimate(paths, weight, size, change, rng, batches):
    """The same mean from sampled batches, with its standard error; for sizes that cannot be counted.

    Args:
      paths, weight, size, change: as in ``batch_estimate``.
      rng: a numpy Generator.
      batches: how many are drawn, at least 2.

    Returns:
      mean (S, A) and its standard error (S, A), float64.

    Raises:
      ValueError: weights of another shape; a size or a number of batches that is too small.

    Source: none; a plain average.
    """
    weight = checked_weight(paths, weight)
    shape = _checks.whole("batches", batches, low=2), _checks.whole("size", size, low=1)
    every = rng.choice(len(weight), size=shape, p=paths.probability)
    single = np.array([_estimate(paths, weight, drawn, change) for drawn in every])
    return single.mean(axis=0), single.std(axis=0, ddof=1) / np.sqrt(len(single))


def _estimate(paths, weight, drawn, change):
    changed = np.asarray(change(weight[drawn], mask=paths.mask[drawn]))
    return np.tensordot(changed, paths.scores[drawn], axes=2) / len(drawn)
