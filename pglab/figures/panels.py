"""Ready-made panels beyond ``bars`` and ``curves``: distributions, repeated runs, curves that go anywhere."""

import numpy as np

from pglab import _checks
from pglab.figures import palette
from pglab.figures.picture import Axis, Bars, Line, Panel, Points, Rule


def distribution(title, values, probability, x_label="", mean="", width=380):
    """A bar for each value that can occur, and a rule at the mean.

    Args:
      title: what the panel shows.
      values: (n,) the values; equal ones (to nine decimals) are put together.
      probability: (n,) their probabilities, which sum to 1.
      x_label: label of the horizontal axis, with its unit.
      mean: the word at the mean, "" for no rule.
      width: of the panel, in pixels.

    Returns:
      Panel.

    Raises:
      ValueError: probabilities of another number, negative, or of another sum than 1.
    """
    values, p = _checks.vector("values", values), _checks.vector("probability", probability)
    if p.size != values.size or not _checks.is_distribution(p):
        raise ValueError(f"probability must hold {values.size} numbers, none negative, that sum to 1.")
    places, which = np.unique(np.round(values[p > 0], 9), return_inverse=True)
    gap = np.diff(places).min() if places.size > 1 else 1.0
    marks = [Bars(places, np.bincount(which, p[p > 0]), width=0.7 * gap)]
    marks += [Rule(float(p @ values), mean, vertical=True)] if mean else []
    return Panel(title, marks, Axis(x_label), Axis("probability"), width)


def trails(title, paths, x_label="", y_label="", limits=(None, None, None, None), width=430, height=300):
    """A panel of curves that may go anywhere, each with a dot and its name where it ends.

    Args:
      title: what the panel shows.
      paths: {name: (x, y)}, two vectors of one length; colours and words as in ``curves``.
      x_label, y_label: labels of the axes, with their units.
      limits: lowest and highest x, lowest and highest y; None is found from the curves.
      width, height: of the panel, in pixels.

    Returns:
      Panel.

    Raises:
      ValueError: no curves, one whose x and y differ in length.
    """
    if not paths:
        raise ValueError("paths is empty; give at least one curve, as {name: (x, y)}.")
    marks = []
    for name, (x, y) in paths.items():
        line = Line(x, y, colour=palette.COLOURS.get(name, palette.BLUE))
        words = (palette.NAMES.get(name, name),)
        marks += [line, Points(line.x[-1:], line.y[-1:], colour=line.colour, labels=words, radius=3.0)]
    left, right, low, high = limits
    return Panel(title, marks, Axis(x_label, left, right), Axis(y_label, low, high), width, height)


def runs(title, groups, x_label="", low=None, high=None, width=430):
    """A panel of repeated runs: thin lines, those of one name in one colour and named once.

    Args:
      title: what the panel shows.
      groups: {name: (K, n)} K runs of n numbers; colours and words as in ``curves``.
      x_label: label of the horizontal axis, on which the numbers stand at 0, 1, 2, ...
      low, high: limits of the vertical axis, found from the runs if left out.
      width: of the panel, in pixels.

    Returns:
      Panel.

    Raises:
      ValueError: no groups; runs that are not a table of numbers.
    """
    if not groups:
        raise ValueError("groups is empty; give at least one, as {name: runs}.")
    lines = []
    for name, several in groups.items():
        wanted = "a table of numbers, shape (K, n), one row for each run"
        several = _checks.floats(f"group {name!r}", several, wanted)
        if several.ndim != 2 or several.size == 0:
            raise ValueError(f"group {name!r} has shape {several.shape}; it must be {wanted}.")
        words, colour = palette.NAMES.get(name, name), palette.COLOURS.get(name, palette.BLUE)
        lines += [
            Line(np.arange(run.size), run, words * (k == 0), colour, width=1) for k, run in enumerate(several)
        ]
    return Panel(title, lines, Axis(x_label), Axis("", low, high), width)
