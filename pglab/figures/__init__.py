"""Pictures as data, drawn as SVG, by matplotlib, and in words; one palette.

A ``Picture`` holds panels, axes and marks in plain numbers. ``svg`` draws it for the browser,
``png`` with matplotlib for the stored notebook, ``text`` in words. ``show`` puts the last two
into a notebook; it takes ordinary matplotlib figures as well.
"""

from pglab.figures.atlas import atlas
from pglab.figures.palette import COLOURS, NAMES
from pglab.figures.panels import answers, distribution, runs, strip, trails, watch
from pglab.figures.picture import (
    Axis,
    Bars,
    Line,
    Panel,
    Picture,
    Points,
    Rule,
    Text,
    bars,
    curves,
    named_axis,
)
from pglab.figures.sheet import sheet
from pglab.figures.show import show
from pglab.figures.text import describe, numbers, table

__all__ = [
    "COLOURS", "NAMES", "Axis", "Bars", "Line", "Panel", "Picture", "Points", "Rule", "Text", "answers", "atlas", "bars", "curves",
    "describe", "distribution", "named_axis", "numbers", "runs", "sheet", "show", "strip", "table", "trails", "watch",
]  # fmt: skip
