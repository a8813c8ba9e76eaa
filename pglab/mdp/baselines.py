"""Baselines that depend on step and state, as tables: what they do to the noise, and two good ones."""

import numpy as np

from pglab.mdp.moments import checked_weight, estimates, moments
from pglab.mdp.trajectories import along, checked_paths


def minus_table(paths, weight, table):
    """The weight of each step, minus the baseline of its step and state.

    Args:
      paths: Trajectories.
      weight: (N, T) the weight of each step.
      table: (T, S) a baseline for each step and state.

    Returns:
      (N, T) float64.

    Raises:
      ValueError: a table of another shape.
    """
    return weight - along(paths, table)


def score_weighted_table(paths, weight, by_state=True):
    """The mean of the weight at each step and state, weighted with the squared length of the score.

        b_t(s) = E[w_t |grad log pi|^2 | s_t = s] / E[|grad log pi|^2 | s_t = s]

    Args:
      paths: Trajectories.
      weight: (N, T) the weight of each step.
      by_state: False, one mean for all states of a step.

    Returns:
      (T, S) float64, 0 where no step is taken.

    Raises:
      ValueError: weights of another shape.

    Source: Greensmith, Bartlett and Baxter 2004, section 4.
    """
    weight = checked_weight(paths, weight)
    squared = (paths.scores**2).sum(axis=(2, 3))
    mass = (paths.probability[:, None] * squared)[..., None] * _visits(paths)
    above, below = (mass * weight[..., None]).sum(axis=0), mass.sum(axis=0)
    if not by_state:
        above, below = (np.broadcast_to(x.sum(axis=1, keepdims=True), x.shape) for x in (above, below))
    return np.divide(above, below, out=np.zeros(below.shape), where=below > 0)


def best_table(paths, weight):
    """The baseline of each step and state that makes the estimate least noisy, all chosen together.

    A baseline leaves the mean alone, so least noise is least mean square: a problem of least squares.
    Steps that share a state's logits are not independent, so this is not ``score_weighted_table``.

    Args:
      paths: Trajectories.
      weight: (N, T) the weight of each step.

    Returns:
      (T, S) float64, 0 where no step is taken.

    Raises:
      ValueError: as ``estimates``.
    """
    root, visits = np.sqrt(checked_paths(paths).probability)[:, None], _visits(paths)
    places = np.argwhere(visits.any(axis=0))

    def flat(w):
        return (root * estimates(paths, w).reshape(len(root), -1)).ravel()

    pushes = [flat(visits[:, :, s] * (np.arange(visits.shape[1]) == t)) for t, s in places]
    table = np.zeros(visits.shape[1:])
    table[tuple(places.T)] = np.linalg.lstsq(np.array(pushes).T, flat(weight))[0]
    return table


def noise_with_table(paths, weight, table):
    """Variance (trace) of the estimate with ``minus_table``; arguments as there."""
    return float(np.trace(moments(paths, minus_table(paths, weight, table))[1]))


def _visits(paths):
    """(N, T, S): was a step taken in state s at step t?"""
    at = paths.states[:, :-1, None] == np.arange(paths.scores.shape[2])
    return at & paths.mask[..., None]
