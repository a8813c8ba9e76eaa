"""Ready-made panels beyond ``bars`` and ``curves``: distributions, repeated runs, curves that go anywhere."""

import numpy as np

from pglab import _checks
from pglab.figures import palette
from pglab.figures.picture import Axis, Bars, Line, Panel, Picture, Points, Rule, Text, named_axis


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
    _checks.table_of("paths", paths, "{name: (x, y)}")
    marks = []
    for name, (x, y) in paths.items():
        line = Line(x, y, colour=palette.COLOURS.get(name, palette.BLUE))
        words = (palette.NAMES.get(name, name),)
        marks += [line, Points(line.x[-1:], line.y[-1:], colour=line.colour, labels=words, radius=3.0)]
    left, right, low, high = limits
    return Panel(title, marks, Axis(x_label, left, right), Axis(y_label, low, high), width, height)


def runs(title, groups, x_label="", low=None, high=None, width=430, x=None, y_label=""):
    """A panel of repeated runs: thin lines, those of one name in one colour and named once.

    Args:
      title: what the panel shows.
      groups: {name: (K, n)} K runs of n numbers; colours and words as in ``curves``.
      x_label: label of the horizontal axis.
      low, high: limits of the vertical axis, found from the runs if left out.
      width: of the panel, in pixels.
      x: (n,) where the numbers stand; None for 0, 1, 2, ...
      y_label: label of the vertical axis, with its unit.

    Returns:
      Panel.

    Raises:
      ValueError: no groups; an x of another length; runs that are not a table of numbers.
    """
    if not groups:
        raise ValueError("groups is empty; give at least one, as {name: runs}.")
    _checks.table_of("groups", groups, "{name: runs}")
    lines = []
    for name, several in groups.items():
        wanted = "a table of numbers, shape (K, n), one row for each run"
        several = _checks.floats(f"group {name!r}", several, wanted)
        if several.ndim != 2 or several.size == 0:
            raise ValueError(f"group {name!r} has shape {several.shape}; it must be {wanted}.")
        words, colour = palette.NAMES.get(name, name), palette.COLOURS.get(name, palette.BLUE)
        lines += [
            Line(np.arange(run.size) if x is None else x, run, words * (k == 0), colour, width=1)
            for k, run in enumerate(several)
        ]
    return Panel(title, lines, Axis(x_label), Axis(y_label, low, high), width)


def strip(title, groups, low=None, high=None, width=760, height=200, y_label=""):
    """A panel of single numbers: a column of dots for each name, from the smallest to the largest.

    Args:
      title: what the panel shows.
      groups: {name: (K,) K numbers, such as one for each seed}; colours and words as in ``curves``.
      low, high: limits of the vertical axis, found from the numbers if left out.
      width, height: of the panel, in pixels.
      y_label: label of the vertical axis, with its unit.

    Returns:
      Panel.

    Raises:
      ValueError: no groups; numbers that are not a vector.
    """
    if not groups:
        raise ValueError("groups is empty; give at least one, as {name: numbers}.")
    _checks.table_of("groups", groups, "{name: numbers}")
    dots, words = [], []
    for k, (name, several) in enumerate(groups.items()):
        several = _checks.floats(f"group {name!r}", several, "a vector of numbers")
        if several.ndim != 1 or several.size == 0:
            raise ValueError(
                f"group {name!r} has shape {several.shape}; it must be a non-empty vector, (K,)."
            )
        several, places = np.sort(several), k + np.linspace(-0.3, 0.3, several.size) * (several.size > 1)
        dots.append(Points(places, several, colour=palette.COLOURS.get(name, palette.BLUE), radius=3.5))
        words.append(palette.NAMES.get(name, name))
    return Panel(title, dots, named_axis(words), Axis(y_label, low, high), width, height)


def answers(title, columns, rows, width=560):
    """A panel of words in rows and columns: what a model wrote, right or wrong.

    Args:
      title: what the panel shows.
      columns: n words, one above each column.
      rows: {name: n pairs (words, right)}: right ones in blue, wrong ones in vermilion, and in grey
        where right is None.
      width: of the panel, in pixels.

    Returns:
      Panel.

    Raises:
      ValueError: no rows; a row with more or fewer pairs than columns.
    """
    if not rows:
        raise ValueError("rows is empty; give at least one, as {name: pairs}.")
    _checks.table_of("rows", rows, "{name: pairs}")
    colour = {True: palette.BLUE, False: palette.VERMILLION, None: palette.QUIET}
    marks = [Text(i, len(rows) + 1, word, palette.QUIET) for i, word in enumerate(columns)]
    for place, (name, pairs) in zip(range(len(rows), 0, -1), rows.items(), strict=True):
        if len(pairs) != len(columns):
            raise ValueError(f"row {name!r} has {len(pairs)} answers for {len(columns)} columns.")
        marks.append(Text(-0.7, place, name, palette.INK, "end"))
        for i, (words, right) in enumerate(pairs):
            marks.append(Text(i, place, words, colour[None if right is None else bool(right)]))
    x = Axis("", -1.9, len(columns) - 0.4, ())
    y = Axis("", 0.4, len(rows) + 1.6, ())
    return Panel(title, marks, x, y, width, 80 + 26 * (len(rows) + 1))


# What can be watched while a policy trains, by its name in the rows: a title, and the ends of its axis.
WATCHED = {
    "right": ("right answers", 0, 1),
    "reward": ("reward", None, None),
    "entropy": ("entropy of a token, nats", 0, None),
    "zero_std": ("groups all alike", 0, 1),
    "length": ("tokens of an answer", 0, None),
    "grad_norm": ("length of the gradient", 0, None),
    "grad_noise": ("its noise (variance)", 0, None),
    "clip_fraction": ("tokens clipped", 0, None),
    "kl": ("KL to before the batch, nats", 0, None),
    "advantage_std": ("deviation of the advantages", 0, 1),
}


def watch(runs, columns=("right", "entropy", "zero_std", "length"), last=None, width=330, height=190):
    """A picture of training: a panel for each thing that is watched, a line for each run.

    Args:
      runs: lists of rows, a row a dictionary of numbers, as a ``training.Trainer`` has them; run k in
        the colour of "seed k".
      columns: names of ``WATCHED``.
      last: completions at the right end of the horizontal axis, which so stays where it is while rows
        arrive; None is found from the runs.
      width, height: of each panel, in pixels.

    Returns:
      Picture.

    Raises:
      ValueError: no columns, no runs; an unknown column; a run without rows.
    """
    if not columns or not runs:
        raise ValueError("columns or runs is empty; give at least one of each.")
    _checks.kind("runs", runs, (list, tuple), "a list of runs, each a list of rows")
    panels = []
    for name in columns:
        title, low, high = WATCHED[_checks.one_of("column", name, list(WATCHED))]
        lines = [
            Line(
                [row["samples"] for row in rows], [row[name] for row in rows], "", _seed_colour(k), width=1.4
            )
            for k, rows in enumerate(runs)
        ]
        if low == 0 and high is None:  # so that the highest point lies below the last tick
            high = 1.2 * max(line.y.max() for line in lines) or None
        panels.append(Panel(title, lines, Axis("answers", 0, last), Axis("", low, high), width, height))
    return Picture(panels, ", ".join(panel.title for panel in panels))


def _seed_colour(k):
    return palette.COLOURS[f"seed {k % 8}"]
