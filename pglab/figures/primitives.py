"""The four things that every way of drawing knows: rectangle, path, dot, word. All in pixels."""

from dataclasses import dataclass

import numpy as np

from pglab.figures import palette
from pglab.figures.frame import SMALL


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
    halo: bool = False  # a rim of paper, so that the word stays readable over a curve


@dataclass(slots=True)
class Scene:
    width: int
    height: int
    primitives: list
