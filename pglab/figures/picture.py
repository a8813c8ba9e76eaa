"""A picture as data: panels with axes, and marks on them. Nothing here draws anything.

Numbers are in the units of the axes. How they become pixels is the business of ``layout``.
"""

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from pglab import _checks
from pglab.figures import palette

ANCHORS = ("start", "middle", "end")
SMALLEST = 100  # pixels: a panel needs room for its labels


def _series(name, values):
    """A non-empty one-dimensional float array; NaN is allowed and leaves a gap."""
    array = _checks.floats(name, values, "a vector of numbers")
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} has shape {array.shape}; it must be a non-empty vector, shape (n,).")
    return array


def _pair(mark, x_name, y_name):
    """Check that two fields of a mark are vectors of one length, and store them as float64."""
    kind = type(mark).__name__
    x = _series(f"{kind}.{x_name}", getattr(mark, x_name))
    y = _series(f"{kind}.{y_name}", getattr(mark, y_name))
    if x.size != y.size:
        raise ValueError(
            f"{kind}.{y_name} has {y.size} entries and {kind}.{x_name} has {x.size}; they must have equally many."
        )
    object.__setattr__(mark, x_name, x)
    object.__setattr__(mark, y_name, y)


@dataclass(frozen=True)
class Axis:
    """One axis: its label (with the unit), its limits, its ticks.

    Limits left at None are found from the marks. ``ticks`` is a list of (position, words);
    None chooses round numbers. With ``log`` both limits must be positive.
    """

    label: str = ""
    low: float | None = None
    high: float | None = None
    ticks: tuple | None = None
    log: bool = False

    def __post_init__(self):
        for name in ("low", "high"):
            if getattr(self, name) is None:
                continue
            limit = _checks.number(f"Axis.{name}", getattr(self, name))
            if self.log and limit <= 0:
                raise ValueError(f"Axis.{name} is {limit}; it must be positive on a logarithmic axis.")
            object.__setattr__(self, name, limit)
        if self.low is not None and self.high is not None and not self.low < self.high:
            raise ValueError(f"Axis.low is {self.low} and Axis.high is {self.high}; low must be below high.")
        if self.ticks is not None:
            object.__setattr__(self, "ticks", _ticks(self.ticks))


def _ticks(ticks):
    """((position, words), ...) with the positions as floats and the words as text."""
    try:
        pairs = [(position, str(words)) for position, words in ticks]
    except (TypeError, ValueError) as error:
        raise ValueError(f"Axis.ticks is {ticks!r}; it must be pairs of (position, words).") from error
    return tuple((_checks.number("Axis.ticks", position), words) for position, words in pairs)


@dataclass(frozen=True)
class Bars:
    """Vertical bars from 0. ``values`` is a format such as ".2f" that prints each height.

    ``colour`` is one colour, or a tuple of one for each bar.
    """

    x: np.ndarray
    heights: np.ndarray
    label: str = ""
    colour: str | tuple = palette.BLUE
    width: float = 0.7
    values: str = ""

    def __post_init__(self):
        _pair(self, "x", "heights")
        if not isinstance(self.colour, str) and len(self.colour) != self.x.size:
            raise ValueError(
                f"Bars.colour has {len(self.colour)} colours for {self.x.size} bars; give one, or one for each."
            )

    @property
    def colours(self):
        """One colour for each bar."""
        return (self.colour,) * self.x.size if isinstance(self.colour, str) else tuple(self.colour)


@dataclass(frozen=True)
class Line:
    """A curve, labelled at its right end."""

    x: np.ndarray
    y: np.ndarray
    label: str = ""
    colour: str = palette.BLUE
    dashed: bool = False
    width: float = 2.0

    def __post_init__(self):
        _pair(self, "x", "y")


@dataclass(frozen=True)
class Points:
    """Dots; ``labels`` (one word for each, or none) stand beside them."""

    x: np.ndarray
    y: np.ndarray
    label: str = ""
    colour: str = palette.BLUE
    labels: tuple = ()
    radius: float = 4.0

    def __post_init__(self):
        _pair(self, "x", "y")
        if self.labels and len(self.labels) != self.x.size:
            raise ValueError(
                f"Points.labels has {len(self.labels)} words for {self.x.size} points; "
                "give one for each, or none."
            )


@dataclass(frozen=True)
class Rule:
    """A thin dashed line across the panel at one value, with a word beside it."""

    value: float
    label: str = ""
    colour: str = palette.QUIET
    vertical: bool = False

    def __post_init__(self):
        object.__setattr__(self, "value", _checks.number("Rule.value", self.value))


@dataclass(frozen=True)
class Text:
    """A word at a place of the panel, in axis units."""

    x: float
    y: float
    text: str
    colour: str = palette.INK
    anchor: str = "middle"  # or "start", "end"

    def __post_init__(self):
        object.__setattr__(self, "x", _checks.number("Text.x", self.x))
        object.__setattr__(self, "y", _checks.number("Text.y", self.y))
        _checks.one_of("Text.anchor", self.anchor, ANCHORS)


MARKS = (Bars, Line, Points, Rule, Text)


@dataclass(frozen=True)
class Panel:
    """Axes and what stands on them. ``width`` and ``height`` are in pixels, labels included.

    A panel whose title needs more room is drawn wider.
    """

    title: str
    marks: tuple
    x: Axis = field(default_factory=Axis)
    y: Axis = field(default_factory=Axis)
    width: int = 330
    height: int = 250

    def __post_init__(self):
        object.__setattr__(self, "marks", _several("Panel.marks", self.marks, MARKS))
        _checks.number("Panel.width", self.width, low=SMALLEST)
        _checks.number("Panel.height", self.height, low=SMALLEST)


def _several(name, value, kinds):
    """A tuple of things of these kinds; one alone may stand without brackets."""
    things = value if isinstance(value, (list, tuple)) else (value,)
    for thing in things:
        if not isinstance(thing, kinds):
            wanted = ", ".join(kind.__name__ for kind in kinds)
            raise ValueError(f"{name} holds a {type(thing).__name__}; it must hold only {wanted}.")
    return tuple(things)


@dataclass(frozen=True)
class Picture:
    """Panels in rows of ``columns``, with a caption below; ``title`` says in words what it shows."""

    panels: tuple
    title: str = ""
    caption: str = ""
    columns: int = 2

    def __post_init__(self):
        panels = _several("Picture.panels", self.panels, (Panel,))
        if not isinstance(self.columns, int) or self.columns < 1:
            raise ValueError(f"Picture.columns is {self.columns!r}; it must be a whole number, at least 1.")
        if not panels:
            raise ValueError("Picture.panels is empty; give at least one Panel.")
        object.__setattr__(self, "panels", panels)


def named_axis(names):
    """The axis below bars at 0, 1, 2, ...: a name under each."""
    _checks.kind("names", names, Collection, "a list of words")
    return Axis(low=-0.6, high=len(names) - 0.4, ticks=tuple(enumerate(names)))


def bars(
    names, heights, title, y_label="", colour=palette.BLUE, values=".3f", low=None, high=None, width=330
):
    """The panel needed most often: one labelled bar for each name.

    Args:
      names: n words, written under the bars.
      heights: (n,) heights of the bars.
      title: what the panel shows.
      y_label: label of the vertical axis, with its unit.
      colour: one colour, or a tuple of one for each bar.
      values: format of the number printed at each bar, "" for none.
      low, high: limits of the vertical axis, found from the heights if left out.
      width: of the panel, in pixels.

    Returns:
      Panel.

    Raises:
      ValueError: names and heights of different lengths, heights that are not a vector.
    """
    heights = _series("heights", heights)
    if len(names) != heights.size:
        raise ValueError(
            f"names has {len(names)} entries and heights has {heights.size}; give one name for each bar."
        )
    places = np.arange(heights.size)
    return Panel(
        title,
        [Bars(places, heights, colour=colour, values=values)],
        x=named_axis(names),
        y=Axis(y_label, low, high),
        width=width,
    )


def curves(title, x, ys, x_label="", y_label="", log=False, low=None, high=None, width=380):
    """A panel of labelled curves over one x; a curve named in the palette gets its colour and its words.

    Args:
      title: what the panel shows.
      x: (n,) horizontal positions.
      ys: {name: (n,) heights}.
      x_label, y_label: labels of the axes, with their units.
      log: True for two logarithmic axes, "x" for the horizontal one alone.
      low, high: limits of the vertical axis, found from the heights if left out.
      width: of the panel, in pixels.

    Returns:
      Panel.

    Raises:
      ValueError: no curves, one whose length differs from that of x, another log.
    """
    if not ys:
        raise ValueError("ys is empty; give at least one curve, as {name: heights}.")
    _checks.table_of("ys", ys, "{name: heights}")
    if log not in (True, False, "x"):
        raise ValueError(f"log is {log!r}; it must be True, False or 'x'.")
    lines = [
        Line(x, y, palette.NAMES.get(name, name), palette.COLOURS.get(name, palette.BLUE))
        for name, y in ys.items()
    ]
    return Panel(
        title, lines, Axis(x_label, log=bool(log)), Axis(y_label, low, high, log=log is True), width=width
    )
