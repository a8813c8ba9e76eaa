"""From a picture in axis units to primitives in pixels. Every way of drawing starts from these.

There are four primitives: Rect, Path, Dot and Label. Whatever draws them needs to know nothing
about axes, so the picture in the browser and the stored picture cannot disagree.
"""

import numpy as np

from pglab.figures import palette
from pglab.figures.frame import CHARACTER, LEFT, RIGHT, SMALL, TITLE, Frame, outer_width, text_width, ticks
from pglab.figures.labels import beside, spread
from pglab.figures.picture import Bars, Line, Points, Rule, Text
from pglab.figures.primitives import Dot, Label, Path, Rect, Scene

GAP = 18  # between panels
CAPTION_LINE = 17


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


def _panel(panel, left, top):
    frame = Frame(panel, left, top)
    primitives = [Label(left + LEFT, top + 16, panel.title, palette.INK, TITLE, bold=True)]
    primitives += _grid(frame, panel) + _key(panel, left + LEFT, top + 33)
    dots, words = [], []
    for mark in panel.marks:
        if isinstance(mark, Points):
            dots += _dots(mark, frame)
            words += mark.labels or ("",) * mark.x.size
        else:
            primitives += _DRAW[type(mark)](mark, frame)
    # The dots lie on top: the rim of a word must not hide one.
    return primitives + beside(dots, words, frame) + dots + _end_labels(panel, frame)


def _grid(frame, panel):
    primitives = []
    for position, words in ticks(panel.y, frame.y_limits):
        y = float(frame.py(position))
        primitives.append(_segment(frame.left, y, frame.right, y, palette.GRID, 1))
        primitives.append(Label(frame.left - 5, y + 4, words, anchor="end"))
    for position, words in ticks(panel.x, frame.x_limits):
        # A word at the end of the axis may not run out of the picture.
        middle = min(float(frame.px(position)), frame.right + RIGHT - text_width(words, SMALL) / 2)
        primitives.append(Label(middle, frame.bottom + 15, words, anchor="middle"))
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


def _without_minus_zero(spec):
    """The format with the option that prints -0.0 as 0.0; a sign comes before it."""
    sign = spec[0] if spec[0] in "+- " else ""
    return f"{sign}z{spec[len(sign) :]}"


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
            words = format(height, _without_minus_zero(mark.values)) if right[i] > left[i] else ""
            primitives.append(
                Label(middle, y + (12 if below else -4), words, mark.colours[i], anchor="middle")
            )
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
        if crossing.size == 0:
            return points
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


def _dots(mark, frame):
    primitives = []
    for x, y in _inside(_pixels(mark.x, mark.y, frame), frame):
        # A dot outside the panel keeps its place in the list, with nothing to see.
        seen = np.isfinite(x)
        place = (float(x), float(y)) if seen else (frame.left, frame.bottom)
        primitives.append(Dot(*place, mark.radius if seen else 0.0, mark.colour))
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
    return [Label(*place, mark.text, mark.colour, anchor=mark.anchor, halo=True)]


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
    return [
        Label(frame.right + 5, y + 4, m.label, m.colour) for y, (_, m) in zip(heights, wanted, strict=True)
    ]


_DRAW = {Bars: _draw_bars, Line: _draw_line, Rule: _draw_rule, Text: _draw_text}
