"""A scene as SVG: a list of elements for the live front end, or one string for a file.

Both come from ``elements``, so what a file shows is what the browser shows.
"""

import re
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from pglab.figures import palette
from pglab.figures.layout import Dot, Label, Path, Rect
from pglab.figures.layout import scene as lay_out

FONT = "DejaVu Sans, Verdana, Arial, sans-serif"
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # control characters


def elements(scene):
    """[[tag, {attribute: value}, text], ...]: pixels rounded to one decimal, nothing left to compute."""
    return [_ELEMENT[type(primitive)](primitive) for primitive in scene.primitives]


def _n(value):
    return round(float(value), 1) + 0.0


def _rect(r):
    place = {"x": _n(r.x), "y": _n(r.y), "width": _n(r.width), "height": _n(r.height)}
    return ["rect", place | {"fill": r.fill}, ""]


def _path(p):
    style = {"fill": "none", "stroke": p.stroke, "stroke-width": p.width, "stroke-linejoin": "round"}
    return ["path", {"d": _pen(p.points), "stroke-dasharray": "4 3" if p.dashed else "none"} | style, ""]


def _pen(points):
    """Move where the pen was lifted (or at the start), draw a line to everywhere else."""
    steps, drawing = [], False
    for x, y in (np.round(points, 1) + 0.0).tolist():
        if x != x:  # NaN: the curve has left the panel
            drawing = False
            continue
        steps.append(f"{'L' if drawing else 'M'}{x:g} {y:g}")
        drawing = True
    return "".join(steps)


def _dot(d):
    return ["circle", {"cx": _n(d.x), "cy": _n(d.y), "r": _n(d.radius), "fill": d.fill}, ""]


def _label(t):
    style = {"fill": t.colour, "font-size": t.size, "text-anchor": t.anchor}
    # Always written: the front end keeps its nodes, and a rim must not stay behind.
    style |= {"stroke": palette.PAPER if t.halo else "none", "stroke-width": 3, "paint-order": "stroke"}
    return [
        "text",
        {"x": _n(t.x), "y": _n(t.y), "font-weight": "bold" if t.bold else "normal"} | style,
        t.text,
    ]


_ELEMENT = {Rect: _rect, Path: _path, Dot: _dot, Label: _label}


def markup(picture, description=""):
    """The whole picture as one SVG document, with its description for screen readers."""
    scene = lay_out(picture)
    size = f'width="{scene.width}" height="{scene.height}" viewBox="0 0 {scene.width} {scene.height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family={quoteattr(FONT)}>'
    body = [f"<desc>{_escaped(description)}</desc>"] if description else []
    for tag, attributes, text in elements(scene):
        inside = " ".join(f"{name}={quoteattr(str(value))}" for name, value in attributes.items())
        body.append(f"<{tag} {inside}>{_escaped(text)}</{tag}>")
    return "\n".join([head, *body, "</svg>"]) + "\n"


def _escaped(text):
    return escape(_NOT_XML.sub("\ufffd", text))
