"""From a picture in axis units to primitives in pixels. Every way of drawing starts from these.

There are four primitives: Rect, Path, Dot and Label. Whatever draws them needs to know nothing
about axes, so the picture in the browser and the stored picture cannot disagree.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from pglab.figures import palette
from pglab.figures.picture import SMALLEST, Bars, Line, Points, Rule, Text

TITLE, SMALL = 13, 11  # font sizes in pixels
TOP, BOTTOM, LEFT, RIGHT = 46, 38, 46, 12  # room around the plotting area of a panel
GAP = 18  # between panels
CAPTION_LINE = 17
CHARACTER = 0.6  # width of an average character, as a share of the font size


@dataclass(slots=True)
class Rect:
    x: float
    y: float
    width: float
    height: float
    fill: str


@dataclass(slots=True)
class Path:
    points: np.ndarray  # (n, 2); a NaN row lifts the pen
    stroke: str
    width: float
    dashed: bool = False


@dataclass(slots=True)
class Dot:
    x: float
    y: float
    radius: float
    fill: str


@dataclass(slots=True)
class Label:
    x: float
    y: float  # the baseline of the text
    text: str
    colour: str = palette.QUIET
    size: int = SMALL
    anchor: str = "start"
    bold: bool = False


@dataclass(slots=True)
class Scene:
    width: int
    height: int
    primitives: list


def scene(picture):
    """The primitives of a whole picture, in drawing order, with its size in pixels."""
    rows = [picture.panels[i : i + picture.columns] for i in range(0, len(picture.panels), picture.columns)]
    width = max(sum(outer_width(p) for p in row) + GAP * (len(row) - 1) for row in rows)
    primitives, top = [], 0
    for row in rows:
        left = 0
        for panel in row:
            primitives += _panel(panel, left, top)
            left += outer_width(panel) + GAP
        top += max(p.height for p in row)
    lines = _wrap(picture.caption, width)
    for line in lines:
        top += CAPTION_LINE
        primitives.append(Label(LEFT, top - 4, line, palette.INK, SMALL + 1))
    height = top + (6 if lines else 0)
    return Scene(width, height, [Rect(0, 0, width, height, palette.PAPER)] + primitives)


def _wrap(text, width):
    """Break a caption into lines that fit; the text itself may ask for breaks."""
    room = max(10, int((width - LEFT) / (CHARACTER * (SMALL + 1))))
    lines = []
    for paragraph in text.split("\n") if text else []:
        line = ""
        for word in paragraph.split(" "):
            if line and len(line) + 1 + len(word) > room:
                lines.append(line)
                line = word
            else:
                line = f"{line} {word}" if line else word
        lines.append(line)
    return lines


class _Frame:
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
        raise ValueError(f"Axis {direction} goes from {low} to {high}: every mark lies beyond; give both limits.")
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


def _panel(panel, left, top):
    frame = _Frame(panel, left, top)
    primitives = [Label(left + LEFT, top + 16, panel.title, palette.INK, TITLE, bold=True)]
    primitives += _grid(frame, panel) + _key(panel, left + LEFT, top + 33)
    for mark in panel.marks:
        primitives += _DRAW[type(mark)](mark, frame)
    return primitives + _end_labels(panel, frame)


def _grid(frame, panel):
    primitives = []
    for position, words in _ticks(panel.y, frame.y_limits):
        y = float(frame.py(position))
        primitives.append(_segment(frame.left, y, frame.right, y, palette.GRID, 1))
        primitives.append(Label(frame.left - 5, y + 4, words, anchor="end"))
    for position, words in _ticks(panel.x, frame.x_limits):
        primitives.append(Label(float(frame.px(position)), frame.bottom + 15, words, anchor="middle"))
    low, high = frame.y_limits
    if not panel.y.log and low <= 0 <= high:
        zero = float(frame.py(0.0))
        primitives.append(_segment(frame.left, zero, frame.right, zero, palette.QUIET, 1))
    middle = (frame.left + frame.right) / 2
    primitives.append(Label(middle, frame.bottom + 31, panel.x.label, anchor="middle"))
    return primitives


def _segment(x0, y0, x1, y1, stroke, width, dashed=False):
    return Path(np.array([[x0, y0], [x1, y1]]), stroke, width, dashed)


def _key(panel, x, y):
    """The label of the vertical axis, then a coloured word for each labelled kind of bar or dot."""
    primitives = [Label(x, y, panel.y.label)]
    x += text_width(panel.y.label, SMALL) + (10 if panel.y.label else 0)
    for mark in panel.marks:
        if isinstance(mark, (Bars, Points)) and mark.label:
            colour = mark.colours[0] if isinstance(mark, Bars) else mark.colour
            primitives.append(Rect(x, y - 8, 8, 8, colour))
            primitives.append(Label(x + 11, y, mark.label, colour))
            x += 11 + text_width(mark.label, SMALL) + 10
    return primitives


@lru_cache(maxsize=256)
def _round_ticks(low, high, log):
    positions = _locator(low, high, log).tick_values(low, high)
    return tuple((float(t), number(t)) for t in _within(positions, (low, high), log))


def _locator(low, high, log):
    """Round numbers; on a logarithmic axis powers of ten, or 1, 2, 5 where those would be too few."""
    from matplotlib.ticker import LogLocator, MaxNLocator

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


def _ticks(axis, limits):
    if axis.ticks is not None:
        return [(t, words) for t, words in axis.ticks if _within([t], limits, axis.log)]
    return _round_ticks(float(limits[0]), float(limits[1]), axis.log)


def _draw_bars(mark, frame):
    low, high = frame.y_limits
    base = float(frame.py(min(max(0.0, low), high)))
    sides = frame.px(mark.x - mark.width / 2), frame.px(mark.x + mark.width / 2)
    left, right = np.clip(sides, frame.left, frame.right)
    tops = frame.py(np.clip(mark.heights, low, high))
    primitives = []
    for i, height in enumerate(mark.heights):
        y = float(tops[i]) if np.isfinite(height) else base
        primitives.append(Rect(left[i], min(y, base), right[i] - left[i], abs(y - base), mark.colours[i]))
        if mark.values:
            middle, below = (left[i] + right[i]) / 2, height < 0
            words = format(height, "z" + mark.values) if right[i] > left[i] else ""
            primitives.append(Label(middle, y + (12 if below else -4), words, mark.colours[i], anchor="middle"))
    return primitives


def _draw_line(mark, frame):
    return [Path(_curve(mark, frame), mark.colour, mark.width, mark.dashed)]


def _pixels(x, y, frame):
    with np.errstate(divide="ignore", invalid="ignore"):  # zero on a logarithmic axis
        return np.column_stack([frame.px(x), frame.py(y)])


def _curve(mark, frame):
    """The part of a line inside the panel, right up to the border."""
    points = _pixels(mark.x, mark.y, frame)
    for side, border in ((0, frame.left), (0, frame.right), (1, frame.top), (1, frame.bottom)):
        points = _meet(points, side, border)
    return _inside(points, frame)


def _meet(points, side, border):
    """The same curve with a point more wherever it crosses this border."""
    with np.errstate(invalid="ignore"):
        beyond = points[:, side] - border
        crossing = np.flatnonzero(beyond[:-1] * beyond[1:] < 0)
        share = beyond[crossing] / (beyond[crossing] - beyond[crossing + 1])
        step = points[crossing + 1] - points[crossing]
        return np.insert(points, crossing + 1, points[crossing] + share[:, None] * step, axis=0)


def _inside(points, frame):
    """Pixel positions, NaN for those outside the panel."""
    slack = 0.5
    outside = (points[:, 0] < frame.left - slack) | (points[:, 0] > frame.right + slack)
    outside |= (points[:, 1] < frame.top - slack) | (points[:, 1] > frame.bottom + slack)
    points[outside | ~np.isfinite(points).all(axis=1)] = np.nan
    return points


def _draw_points(mark, frame):
    primitives, words = [], mark.labels or ("",) * mark.x.size
    for (x, y), word in zip(_inside(_pixels(mark.x, mark.y, frame), frame), words, strict=True):
        # A dot outside the panel keeps its place in the list, with nothing to see.
        radius = mark.radius if np.isfinite(x) else 0.0
        x, y = (x, y) if np.isfinite(x) else (frame.left, frame.bottom)
        primitives.append(Dot(x, y, radius, mark.colour))
        if word:
            primitives.append(Label(x + mark.radius + 3, y + 4, word if radius else "", mark.colour))
    return primitives


def _draw_rule(mark, frame):
    ends = _rule(mark, frame)
    primitives = [Path(ends, mark.colour, 1.2, dashed=True)]
    if mark.vertical and mark.label and np.isfinite(ends).all():
        primitives.append(Label(ends[0, 0] + 4, frame.top + 9, mark.label, mark.colour))
    return primitives


def _rule(mark, frame):
    """Both ends of a rule, NaN if its value lies outside the panel."""
    value = (mark.value, mark.value)
    x, y = (value, frame.y_limits) if mark.vertical else (frame.x_limits, value)
    return _inside(_pixels(np.array(x), np.array(y), frame), frame)


def _draw_text(mark, frame):
    place = float(frame.px(mark.x)), float(frame.py(mark.y))
    return [Label(*place, mark.text, mark.colour, anchor=mark.anchor)]


def _end_labels(panel, frame):
    """Names of curves and level rules, at the right border, pushed apart where they would overlap."""
    wanted = []
    for mark in panel.marks:
        if not isinstance(mark, (Line, Rule)) or not mark.label or getattr(mark, "vertical", False):
            continue
        seen = _curve(mark, frame) if isinstance(mark, Line) else _rule(mark, frame)
        seen = seen[np.isfinite(seen[:, 0])]
        if len(seen):
            wanted.append((seen[-1, 1], mark))
    wanted.sort(key=lambda pair: pair[0])
    heights = spread([y for y, _ in wanted], SMALL + 3, frame.bottom)
    return [Label(frame.right + 5, y + 4, m.label, m.colour) for y, (_, m) in zip(heights, wanted, strict=True)]


def spread(positions, gap, high):
    """Sorted positions up to ``high``, moved as little as a sweep allows until ``gap`` lies between them."""
    result = list(positions)
    for i in range(1, len(result)):
        result[i] = max(result[i], result[i - 1] + gap)
    overshoot = result[-1] - high if result else 0
    if overshoot > 0:
        result[-1] -= overshoot
        for i in range(len(result) - 2, -1, -1):
            result[i] = min(result[i], result[i + 1] - gap)
    return result


_DRAW = {Bars: _draw_bars, Line: _draw_line, Points: _draw_points, Rule: _draw_rule, Text: _draw_text}
