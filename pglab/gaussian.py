"""Exact expectations under a normal distribution, by Gauss-Hermite quadrature.

With n points the quadrature is exact for polynomials up to degree 2n - 1, and accurate to
rounding for smooth functions that vary slowly between neighbouring points.
"""

import numpy as np

from pglab import _checks


def expect(f, mean, scale, points=100):
    """The expectation of a function of one normal variable.

        E[f(x)],     x = mean + scale * epsilon,     epsilon standard normal

    Args:
      f: function that takes an array of x and returns an array of the same shape.
      mean: mean of x.
      scale: standard deviation of x, at least 0.
      points: how many quadrature points, from 1 to 180.

    Returns:
      float.

    Raises:
      ValueError: a negative scale, a number of points outside its range, an f that returns
        another shape or NaN.

    Source: Abramowitz and Stegun, 25.4.46.
    """
    mean, scale = _checks.number("mean", mean), _checks.number("scale", scale, low=0)
    if _checks.number("points", points, low=1, high=180) != int(points):
        raise ValueError(f"points is {points}; it must be a whole number.")
    if not callable(f):
        raise ValueError(f"f is {f!r}; it must be a function of an array of x.")
    nodes, weights = np.polynomial.hermite_e.hermegauss(int(points))
    values = np.asarray(f(mean + scale * nodes), dtype=float)
    if values.shape != nodes.shape or np.isnan(values).any():
        raise ValueError(
            f"f returned shape {values.shape}; it must return one number for each of {nodes.size}."
        )
    return float(weights @ values / weights.sum())


def moments(estimate, mean, scale, points=100):
    """Mean and variance of an estimate that is a function of one normal variable.

        E[g(x)],     E[(g(x) - E[g(x)])^2]

    Args:
      estimate, mean, scale, points: as ``expect``.

    Returns:
      (float, float).

    Raises:
      ValueError: as ``expect``.

    Source: Mohamed et al. 2020, section 3.
    """
    centre = expect(estimate, mean, scale, points)  # also checks every argument
    return centre, expect(lambda x: (np.asarray(estimate(x)) - centre) ** 2, mean, scale, points)
