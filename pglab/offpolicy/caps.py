"""Bias and noise against the cap, and the cap for which they are least together."""

from typing import NamedTuple

import numpy as np

from pglab import _checks
from pglab.offpolicy.moments import checked, cut, sums, uncut

MOST = 4_000_000  # weights in one table


class Curve(NamedTuple):
    """What C caps do to the mean of n answers; all in the unit of the gradient."""

    caps: np.ndarray  # (C,)
    bias: np.ndarray  # (C,) length of the bias
    deviation: np.ndarray  # (C,) root of the trace of the covariance, divided by the root of n
    rmse: np.ndarray  # (C,) root of the mean squared error


class Best(NamedTuple):
    """The cap with the least mean squared error."""

    cap: float  # infinity where none is better than any; 0 where no step at all would be
    rmse: float


def curve(answers, caps, samples, level="sequence", mode="truncate", baseline=0.0):
    """Exact bias, noise and error of the mean of n answers, for several caps.

        rmse^2 = |bias|^2 + variance / n

    Args:
      answers, level, mode, baseline: as in ``moments``.
      caps: (C,) positive numbers.
      samples: n, independent answers.

    Returns:
      Curve.

    Raises:
      ValueError: as ``moments``; caps that are no vector of positive numbers, samples below 1.

    Source: Ionides 2008, section 2.
    """
    caps, samples = _checks.vector("caps", caps), _checks.whole("samples", samples, low=1)
    checked(answers, level, float(caps.min()), mode)
    bias, variance = _at(answers, caps, level, mode, _checks.number("baseline", baseline))
    square = (bias**2).sum(axis=1)
    return Curve(caps, square**0.5, (variance / samples) ** 0.5, (square + variance / samples) ** 0.5)


def best_cap(answers, samples, level="sequence", mode="truncate", baseline=0.0):
    """The cap for which the mean of n answers has the least mean squared error, exact.

    Between two weights that occur, a truncated estimate is linear in the cap and its error a parabola, whose
    least value three points give. A masked one changes only at the weights themselves.

    Args:
      answers, level, mode, baseline: as in ``moments``; a level with weights, not "none".
      samples: n, independent answers.

    Returns:
      Best.

    Raises:
      ValueError: as ``curve``; the level "none".

    Source: made for this course.
    """
    samples, baseline = _checks.whole("samples", samples, low=1), _checks.number("baseline", baseline)
    checked(answers, level, 1.0, mode)
    if level == "none":
        raise ValueError("level is 'none', which has no cap; it must be 'token', 'prefix' or 'sequence'.")
    places = np.unique(uncut(answers, level)[answers.times > 0])
    places = places[places > 0]
    low = np.append(0.0, places[:-1])
    caps = np.concatenate([low, (low + places) / 2, places])
    bias, variance = _at(answers, caps, level, mode, baseline)
    start, middle, end = ((bias**2).sum(axis=1) + variance / samples).reshape(3, -1)
    if mode == "truncate":
        bend, slope = 2 * (start + end - 2 * middle), 4 * middle - 3 * start - end
        where = np.clip(np.divide(-slope, 2 * bend, out=np.ones_like(bend), where=bend > 0), 0.0, 1.0)
        lowest = start + where * (slope + where * bend)
        found, error = low + where * (places - low), np.minimum(lowest, end)
        found = np.where(lowest < end, found, places)
    else:
        found, error = places, end
    found, error = np.append(found, low[0]), np.append(error, start[0])  # cap 0: no step
    best = int(error.argmin())
    # Where the last weight is reached, nothing is cut any more.
    full = found[best] >= places[-1] or error[best] >= end[-1]
    return Best(float(np.inf if full else found[best]), float(max(error[best], 0.0) ** 0.5))


def _at(answers, caps, level, mode, baseline):
    """Bias (C, n) and variance (C,) for each cap, in blocks that fit into memory."""
    full = uncut(answers, level) * (answers.times > 0)
    block = max(MOST // full.size, 1)
    bias, variance = [], []
    for start in range(0, len(caps), block):
        here = caps[start : start + block, None, None]
        cut_off = np.broadcast_to(full, (len(here), *full.shape)) if level == "none" else cut(full, here, mode)
        mean, square = sums(answers, cut_off, baseline)
        bias.append(mean - answers.gradient)
        variance.append(np.maximum(square - (mean**2).sum(axis=1), 0.0))
    return np.concatenate(bias), np.concatenate(variance)
