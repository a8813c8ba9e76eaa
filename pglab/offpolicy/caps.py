"""Bias and noise against the cap, and the cap for which they are least together."""

from typing import NamedTuple

import numpy as np

from pglab import _checks
from pglab.offpolicy.moments import checked, cut, sums, uncut

AIMS = ("error", "direction")
MOST = 4_000_000  # weights in one table


class Curve(NamedTuple):
    """What C caps do to the mean of n answers. All but ``astray`` are in the unit of the gradient."""

    caps: np.ndarray  # (C,)
    bias: np.ndarray  # (C,) length of the bias
    deviation: np.ndarray  # (C,) root of the trace of the covariance, divided by the root of n
    rmse: np.ndarray  # (C,) root of the mean squared error
    astray: np.ndarray  # (C,) what is left of it with the best step size, a share of |grad J|: from 0 to 1


class Best(NamedTuple):
    """The best cap, and the error there."""

    cap: float  # infinity where none is better than any; 0 where no step at all would be
    error: float  # "error": in the unit of the gradient; "direction": a share of |grad J|


def curve(answers, caps, samples, level="sequence", mode="truncate", baseline=0.0):
    """Exact bias, noise and error of the mean of n answers, for several caps.

        rmse^2   = |bias|^2 + variance / n
        astray^2 = min over s >= 0 of E|s g_hat - grad J|^2 / |grad J|^2 = 1 - max(mean . grad J, 0)^2 / (|grad J|^2 E|g_hat|^2)

    The first counts a short estimate as a good one where there is much noise: any cap that makes all weights
    small lowers it, as a smaller learning rate would. The second leaves the length to the learning rate.

    Args:
      answers, level, mode, baseline: as in ``moments``.
      caps: (C,) positive numbers.
      samples: n, independent answers.

    Returns:
      Curve.

    Raises:
      ValueError: as ``moments``; caps that are no vector of positive numbers, samples below 1, a gradient of 0.

    Source: Ionides 2008, section 2.
    """
    caps, samples = _checks.vector("caps", caps), _checks.whole("samples", samples, low=1)
    checked(answers, level, float(caps.min()), mode)
    found = _Errors(answers, level, mode, baseline, samples)
    bias, variance, along, square = found.at(caps)
    astray = found.astray(along, square)
    return Curve(caps, bias, (variance / samples) ** 0.5, (bias**2 + variance / samples) ** 0.5, astray)


def best_cap(answers, samples, level="sequence", mode="truncate", baseline=0.0, aim="error"):
    """The cap for which the mean of n answers has the least error, exact.

    Between two weights that occur, a truncated estimate is linear in the cap u and its mean square a parabola:
    the least value of one of the two errors of ``curve`` then follows from three points.

        "error"       a parabola too
        "direction"   (p0 + p1 u)^2 / (q0 + q1 u + q2 u^2) is largest at  u = (2 p1 q0 - p0 q1) / (2 p0 q2 - p1 q1)

    A masked estimate changes only at the weights themselves.

    Args:
      answers, level, mode, baseline: as in ``moments``; a level with weights, not "none".
      samples: n, independent answers.
      aim: one of ``AIMS``.

    Returns:
      Best.

    Raises:
      ValueError: as ``curve``; the level "none", another aim.

    Source: made for this course.
    """
    _checks.one_of("aim", aim, AIMS, repr)
    checked(answers, level, 1.0, mode)
    if level == "none":
        raise ValueError("level is 'none', which has no cap; it must be 'token', 'prefix' or 'sequence'.")
    errors = _Errors(answers, level, mode, baseline, _checks.whole("samples", samples, low=1))
    places = np.unique(uncut(answers, level)[answers.times > 0])
    places = places[places > 0]
    low = np.append(0.0, places[:-1])
    tried = [places]
    if mode == "truncate":
        points = [errors.at(caps) for caps in (low, (low + places) / 2, places)]
        inside = _vertex(points, errors, aim)
        tried.append(low + np.clip(inside, 0, 1) * (places - low))
    caps = np.concatenate(tried)
    caps = caps[caps > 0]
    found = errors.size_at(caps, aim)
    best = int(found.argmin())
    # Nothing is cut where all weights fit under the cap; what differs from that by rounding is no better.
    whole = float(found[caps >= places[-1]].min())
    nothing = errors.length if aim == "error" else 1.0
    if min(whole, nothing) <= found[best] * (1 + 1e-12):
        return Best(np.inf, whole) if whole <= nothing else Best(0.0, nothing)
    return Best(float(caps[best]), float(found[best]))


def _vertex(points, errors, aim):
    """(I,) where in each interval, from 0 to 1, the error would be least if the interval had no ends."""
    if aim == "error":
        q0, middle, q2 = (bias**2 + variance / errors.samples for bias, variance, _, _ in points)
        along0 = along1 = None
    else:
        (_, _, along0, q0), (_, _, _, middle), (_, _, along1, q2) = points
    slope, bend = 4 * middle - 3 * q0 - q2, 2 * (q0 + q2 - 2 * middle)  # of q0 + slope u + bend u^2
    above, below = -slope, 2 * bend
    if aim == "direction":
        tilt = along1 - along0
        above, below = 2 * tilt * q0 - along0 * slope, 2 * along0 * bend - tilt * slope
    return np.divide(above, below, out=np.ones_like(below), where=below != 0)


class _Errors:
    """Errors as functions of the cap."""

    def __init__(self, answers, level, mode, baseline, samples):
        self.answers, self.level, self.mode, self.samples = answers, level, mode, samples
        self.baseline = _checks.number("baseline", baseline)
        self.full = uncut(answers, level) * (answers.times > 0)
        self.length = float(np.linalg.norm(answers.gradient))
        if self.length == 0:
            raise ValueError("the gradient is 0; rewards must differ, or no error can be compared with it.")

    def at(self, caps):
        """|bias|, variance of one answer, mean along the gradient, mean square with n answers; each (C,).

        The last two in the unit of the gradient's length.
        """
        block, parts = max(MOST // self.full.size, 1), []
        for start in range(0, len(caps), block):
            here = caps[start : start + block, None, None]
            w = np.broadcast_to(self.full, (len(here), *self.full.shape))
            w = w if self.level == "none" else cut(w, here, self.mode)
            mean, square = sums(self.answers, w, self.baseline)
            own = (mean**2).sum(axis=1)
            variance = np.maximum(square - own, 0.0)
            bias = np.linalg.norm(mean - self.answers.gradient, axis=1)
            along = mean @ self.answers.gradient / self.length**2
            parts.append((bias, variance, along, (own + variance / self.samples) / self.length**2))
        return [np.concatenate(column) for column in zip(*parts, strict=True)]

    def size_at(self, caps, aim):
        """(C,) the error that is asked for."""
        bias, variance, along, square = self.at(caps)
        if aim == "error":
            return (bias**2 + variance / self.samples) ** 0.5
        return self.astray(along, square)

    @staticmethod
    def astray(along, square):
        """(C,) the error with the best step size, which is at least 0: a wrong direction is not turned round."""
        shared = np.divide(np.maximum(along, 0.0) ** 2, square, out=np.zeros_like(square), where=square > 0)
        return np.maximum(1 - shared, 0.0) ** 0.5
