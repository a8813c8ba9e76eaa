"""The frame of a panel: where its plotting area lies, and how axis units become pixels."""

import math
from functools import lru_cache

import numpy as np

from pglab import _packages
from pglab.figures.picture import SMALLEST, Bars, Line, Rule

TITLE, SMALL = 13, 11  # font sizes in pixels
TOP, BOTTOM, LEFT, RIGHT = 46, 38, 46, 12  # room around the plotting area of a panel
CHARACTER = 0.6  # width of an average character, as a share of the font size


class Frame:
    """The plotting area of one panel: where it lies, and how axis units become pixels."""

    def __init__(self, panel, left, top):
        self.left, self.right = left + LEFT, left + outer_width(panel) - RIGHT - _end_room(panel)
        self.top, self.bottom = top + TOP, top + panel.height - BOTTOM
        self.x, self.x_limits = panel.x, _limits(panel.x, panel.marks, "x")
        self.y, self.y_limits = panel.y, _limits(panel.y, panel.marks, "y")

    def px(self, x):
        return self.left + (self.right - self.left) * _share(x, self.x_limits, self.x.log)

    def py(self, y):
        return self.bottom - (self.bottom - self.top) * _share(y, self.y_limits, self.y.log)


def text_width(text, size):
    return CHARACTER * size * len(text)


def outer_width(panel):
    """The panel's own width, or what its title (in wider, bold letters) or its end labels need."""
    title = LEFT + 1.15 * text_width(panel.title, TITLE)
    return max(panel.width, math.ceil(title), math.ceil(SMALLEST + _end_room(panel)))


def _end_room(panel):
    """Pixels at the right border for the names of curves and rules."""
    ends = [m.label for m in panel.marks if isinstance(m, (Line, Rule)) and m.label]
    return max((text_width(label, SMALL) + 6 for label in ends), default=0)


def _share(value, limits, log):
    """How far along the axis a value lies: 0 at the low end, 1 at the high end."""
    low, high = limits
    if log:
        value, low, high = np.log10(value), math.log10(low), math.log10(high)
    return (value - low) / (high - low)


def _limits(axis, marks, direction):
    """The axis' own limits, or where left open those that hold all marks."""
    if axis.low is not None and axis.high is not None:
        return axis.low, axis.high
    values = np.concatenate([_extent(mark, direction) for mark in marks] or [np.zeros(1)])
    values = values[np.isfinite(values) & ((values > 0) | (not axis.log))]
    low, high = (values.min(), values.max()) if values.size else (0.1, 1.0)
    if axis.log:
        low, high = low / 1.3, high * 1.3
    elif low == high:
        margin = 0.5 * abs(low) or 0.5
        low, high = low - margin, high + margin
    else:
        margin = 0.08 * (high - low)
        is_floor, is_ceiling = low == 0, high == 0  # bars stand on the axis itself
        low, high = low - margin * (not is_floor), high + margin * (not is_ceiling)
    low, high = (low if axis.low is None else axis.low), (high if axis.high is None else axis.high)
    if not low < high:
        raise ValueError(
            f"Axis {direction} goes from {low} to {high}: every mark lies beyond; give both limits."
        )
    return low, high


def _extent(mark, direction):
    """The numbers of a mark that an axis must have room for."""
    if isinstance(mark, Rule):
        return np.array([mark.value] if mark.vertical == (direction == "x") else [])
    if isinstance(mark, Bars) and direction == "x":
        return np.concatenate([mark.x - mark.width / 2, mark.x + mark.width / 2])
    if isinstance(mark, Bars):
        # The printed number needs room beyond the bar.
        return np.append(mark.heights * (1.1 if mark.values else 1.0), 0.0)
    return np.atleast_1d(np.asarray(getattr(mark, direction), dtype=float))


@lru_cache(maxsize=256)
def _round_ticks(low, high, log):
    positions = _locator(low, high, log).tick_values(low, high)
    return tuple(zip(*_named(_within(positions, (low, high), log), log), strict=True))


def _named(positions, log):
    """Positions as floats and their words; on a linear axis all of them plain, or all with one exponent."""
    positions = [float(t) for t in positions]
    if not log and all(abs(t) < 1e6 and t.is_integer() for t in positions):
        return positions, [f"{t + 0.0:.0f}" for t in positions]
    words = [number(t) for t in positions]
    if log or not any("e" in word for word in words):
        return positions, words
    tiny = 1e-9 * max(abs(t) for t in positions)  # what is left of a zero
    exponent = min(math.floor(math.log10(abs(t)) + 1e-9) for t in positions if abs(t) > tiny)
    return positions, [f"{t / 10**exponent:.4g}e{exponent}" if abs(t) > tiny else "0" for t in positions]


def _locator(low, high, log):
    """Round numbers; on a logarithmic axis powers of ten, or 1, 2, 5 where those would be too few."""
    LogLocator, MaxNLocator = _packages.bring("matplotlib.ticker", "LogLocator", "MaxNLocator")
    if not log or high < 5 * low:
        return MaxNLocator(5, steps=[1, 2, 2.5, 5, 10])
    return LogLocator(numticks=7) if high >= 100 * low else LogLocator(subs=(1, 2, 5), numticks=7)


def _within(positions, limits, log):
    low, high = limits
    return [t for t in positions if (t > 0 or not log) and -1e-9 <= _share(t, limits, log) <= 1 + 1e-9]


def number(value):
    """A tick label: short, and powers of ten written as such once they grow long."""
    if value != 0 and not 1e-3 <= abs(value) < 1e5:
        exponent = math.floor(math.log10(abs(value)) + 1e-9)
        mantissa = value / 10**exponent
        return f"1e{exponent}" if abs(mantissa - 1) < 1e-6 else f"{mantissa:.3g}e{exponent}"
    return f"{round(value, 10) + 0.0:g}"


def ticks(axis, limits):
    if axis.ticks is not None:
        return [(t, words) for t, words in axis.ticks if _within([t], limits, axis.log)]
    return _round_ticks(float(limits[0]), float(limits[1]), axis.log)
