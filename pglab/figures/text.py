"""A picture in rounded words: what nbval compares, and what a screen reader reads."""

import numpy as np

from pglab import _checks
from pglab.figures.picture import Bars, Line, Picture, Points, Rule, Text

DIGITS = 4
NOISE = 1e-15  # of float64 numbers around 1


def rounded(values, log=False):
    """Numbers with four digits; rounding noise, or what is tiny beside its neighbours, becomes 0.

    With ``log`` nothing does: a logarithmic axis is there to show tiny numbers.
    """
    values = np.asarray(values, dtype=float).ravel()
    finite = np.abs(values[np.isfinite(values)])
    noise = 0.0 if log else max(NOISE, 1e-9 * finite.max(initial=0.0))
    return [f"{0.0 if abs(v) <= noise else v:.{DIGITS}g}" for v in values]


def describe(picture):
    """The picture in words: each panel, each mark, the numbers behind it.

    Args:
      picture: a ``Picture``, or a matplotlib ``Figure``.

    Returns:
      str of several lines, the same on every machine as long as the numbers agree to 4 digits.

    Raises:
      ValueError: anything else.
    """
    if isinstance(picture, Picture):
        return "\n".join(_picture(picture))
    if isinstance(getattr(picture, "axes", None), list) and hasattr(picture, "savefig"):
        return "\n".join(_figure(picture))
    raise ValueError(f"picture is a {type(picture).__name__}; it must be a Picture or a matplotlib Figure.")


def _picture(picture):
    lines = [f"Picture: {picture.title or picture.panels[0].title}"]
    for panel in picture.panels:
        axes = ", ".join(a for a in (_axis("x", panel.x), _axis("y", panel.y)) if a)
        lines.append(f"Panel: {panel.title}" + (f" ({axes})" if axes else ""))
        lines += ["  " + _MARK[type(mark)](mark, panel) for mark in panel.marks]
    return lines + ([f"Caption: {picture.caption}"] if picture.caption else [])


def _axis(letter, axis):
    words = f"{letter}: {axis.label}" if axis.label else ""
    return words + (", logarithmic" if axis.log and words else "")


def _bars(mark, panel):
    names = dict(panel.x.ticks or ())
    pairs = zip(mark.x, rounded(mark.heights, panel.y.log), strict=True)
    # Grouped bars stand beside their tick: take the name of the nearest one.
    heights = [f"{_nearest(x, names)} {height}" for x, height in pairs]
    return f"bars{_called(mark)}: " + ", ".join(heights)


def _nearest(x, names):
    return names[min(names, key=lambda place: abs(place - x))] if names else rounded([x])[0]


def _line(mark, panel):
    return f"line{_called(mark)}: " + _curve(mark.x, mark.y, panel.x.log, panel.y.log)


def _curve(x, y, x_log=False, y_log=False):
    known = y[np.isfinite(y)] if np.isfinite(y).any() else np.array([np.nan])
    x0, x1 = rounded([x[0], x[-1]], x_log)
    first, last, low, high = rounded([y[0], y[-1], known.min(), known.max()], y_log)
    return f"{len(y)} points, from ({x0}, {first}) to ({x1}, {last}), lowest {low}, highest {high}"


def _points(mark, panel):
    words = mark.labels or ("",) * mark.x.size
    triples = zip(rounded(mark.x, panel.x.log), rounded(mark.y, panel.y.log), words, strict=True)
    return f"points{_called(mark)}: " + ", ".join(f"{w} ({x}, {y})".strip() for x, y, w in triples)


def _rule(mark, panel):
    (value,) = rounded([mark.value], (panel.x if mark.vertical else panel.y).log)
    return f"{'vertical' if mark.vertical else 'level'} rule{_called(mark)}: {value}"


def _text(mark, panel):
    return f"words: {mark.text}"


def _called(mark):
    return f" {mark.label!r}" if mark.label else ""


_MARK = {Bars: _bars, Line: _line, Points: _points, Rule: _rule, Text: _text}


def _figure(fig):
    """What is plotted in an ordinary matplotlib figure, artist by artist."""
    from matplotlib.collections import PathCollection

    lines = [f"Figure with {len(fig.axes)} axes"]
    for axes in fig.axes:
        logs = axes.get_xscale() == "log", axes.get_yscale() == "log"
        lines.append(f"Axes: {axes.get_title()} (x: {axes.get_xlabel()}, y: {axes.get_ylabel()})")
        for line in axes.lines:
            x, y = (np.asarray(values, dtype=float) for values in line.get_data(orig=False))
            if y.size:
                lines.append(f"  line {line.get_label()!r}: {_curve(x, y, *logs)}")
        heights = [p.get_height() for p in axes.patches if hasattr(p, "get_height")]
        lines += ["  bars: " + ", ".join(rounded(heights, logs[1]))] if heights else []
        for marks in axes.collections:
            if isinstance(marks, PathCollection):
                x, y = np.asarray(marks.get_offsets(), dtype=float).reshape(-1, 2).T
                lines += [f"  points: {_curve(x, y, *logs)}"] if x.size else []
            elif corners := [path.vertices for path in marks.get_paths()]:  # a band, or error bars
                y = np.concatenate(corners)[:, 1]
                low, high = rounded([np.nanmin(y), np.nanmax(y)], logs[1])
                lines.append(f"  area: lowest {low}, highest {high}")
        for image in axes.images:
            cells = np.asarray(image.get_array(), dtype=float)
            low, high = rounded([np.nanmin(cells), np.nanmax(cells)])
            lines.append(f"  image {cells.shape}: lowest {low}, highest {high}")
    return lines


def numbers(label, values, digits=4):
    """Print one labelled row of numbers, aligned with the rows above and below, never as -0.0000.

    Args:
      label: the words in front.
      values: one number, or a vector.
      digits: decimals.

    Raises:
      ValueError: values that are not numbers.
    """
    row = np.atleast_1d(_checks.floats("values", values, "a number or a vector of numbers")).ravel()
    print(f"{label:<34}" + "".join(f" {value:z{digits + 5}.{digits}f}" for value in row))


def table(corner, columns, rows, digits=4):
    """Print numbers as a table: a header on its own line, one row for each name, an empty line.

    Args:
      corner: the words above the names of the rows.
      columns: n words, one above each column.
      rows: {name: n numbers}.
      digits: decimals.

    Raises:
      ValueError: no rows; a row with more or fewer numbers than columns; what is no number.
    """
    if not rows:
        raise ValueError("rows is empty; give at least one, as {name: numbers}.")
    _checks.table_of("rows", rows, "{name: numbers}")
    first = max(len(str(name)) for name in (corner, *rows))
    widths = [max(len(column), digits + 4) for column in columns]
    print(f"{corner:<{first}}" + "".join(f"  {c:>{w}}" for c, w in zip(columns, widths, strict=True)))
    for name, values in rows.items():
        row = _checks.floats(f"row {name!r}", values, "a vector of numbers").ravel()
        if row.size != len(columns):
            raise ValueError(f"row {name!r} has {row.size} numbers for {len(columns)} columns.")
        print(f"{name:<{first}}" + "".join(f"  {x:z{w}.{digits}f}" for x, w in zip(row, widths, strict=True)))
    print()
