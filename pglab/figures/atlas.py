"""The estimator atlas: squared bias against variance, every estimator a labelled point."""

import numpy as np

from pglab import _checks
from pglab.figures import palette
from pglab.figures.picture import Axis, Line, Panel, Points

CONTOURS = 4  # lines of equal mean squared error


def atlas(estimators, title="Squared bias and variance", limits=None, width=560, height=340):
    """A panel with a point for each estimator, and thin lines of equal mean squared error.

        mean squared error = squared bias + variance

    Estimators of the palette have their colour and their words; any other name stands as it is, in ink.
    An estimator beyond the limits stands at the border, and its words say how far away it is.

    Args:
      estimators: {name: (squared bias, variance)}, both 0 or more, in squared units of the gradient.
      title: what the panel shows.
      limits: upper ends of the two axes (bias, variance); None finds some that hold all points.
      width, height: of the panel, in pixels.

    Returns:
      Panel.

    Raises:
      ValueError: no estimators, one without two finite numbers, a negative number, limits that are
        not positive.

    Source: the decomposition: Casella and Berger 2002, section 7.3.1.
    """
    if not estimators:
        raise ValueError("estimators is empty; give {name: (squared bias, variance)}.")
    _checks.table_of("estimators", estimators, "{name: (squared bias, variance)}")
    places = {name: _place(name, pair) for name, pair in estimators.items()}
    biases, variances = np.array(list(places.values())).T
    if limits is None:
        up = 1.1 * variances.max() or 1.0
        limits = 1.1 * biases.max() or up / 4, up
    limits = _checks.vector("limits", limits)
    if limits.size != 2 or (limits <= 0).any():
        raise ValueError(f"limits is {limits}; it must be two positive numbers, (bias, variance).")
    right, up = limits.tolist()
    marks = [_contour(up * k / CONTOURS) for k in range(1, 2 * CONTOURS) if up * k / CONTOURS < up + right]
    marks += [_point(name, *place, right, up) for name, place in places.items()]
    axes = Axis("squared bias", -0.02 * right, right), Axis("variance (trace)", 0, up)
    return Panel(title, marks, *axes, width=width, height=height)


def _place(name, pair):
    pair = _checks.vector(f"estimators[{name!r}]", pair)
    if pair.size != 2 or (pair < 0).any():
        raise ValueError(f"estimators[{name!r}] is {pair}; it must be (squared bias, variance), both >= 0.")
    return pair.tolist()


def _contour(error):
    return Line(
        np.array([0.0, error]), np.array([error, 0.0]), colour=palette.CONTOUR, dashed=True, width=1.0
    )


def _point(name, bias, variance, right, up):
    words = palette.NAMES.get(name, name)
    if bias > right or variance > up:
        words += f", further out: {bias:.3g}, {variance:.3g}"
    place = np.array([min(bias, right)]), np.array([min(variance, up)])
    return Points(*place, colour=palette.COLOURS.get(name, palette.INK), labels=(words,), radius=5.0)
