"""A scene drawn by matplotlib: the picture that is stored in a notebook."""

import io

import numpy as np

from pglab import _packages
from pglab.figures import palette
from pglab.figures.layout import Dot, Label, Path, Rect
from pglab.figures.layout import scene as lay_out

PIXELS_PER_INCH = 100
SHARPNESS = 2  # stored pixels for each pixel of the layout, so that print and dense screens stay crisp
_TO_POINTS = 72 / PIXELS_PER_INCH
_ANCHORS = {"start": "left", "middle": "center", "end": "right"}


def figure(picture):
    """The picture as a matplotlib Figure whose one set of axes is measured in layout pixels."""
    (Figure,) = _packages.bring("matplotlib.figure", "Figure")
    scene = lay_out(picture)
    fig = Figure(figsize=(scene.width / PIXELS_PER_INCH, scene.height / PIXELS_PER_INCH), dpi=PIXELS_PER_INCH)
    axes = fig.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, scene.width), ylim=(scene.height, 0))
    axes.axis("off")
    for depth, primitive in enumerate(scene.primitives):
        _DRAW[type(primitive)](axes, primitive, depth)
    return fig


def _rect(axes, r, depth):
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((r.x, r.y), r.width, r.height, facecolor=r.fill, linewidth=0, zorder=depth))


def _path(axes, p, depth):
    style = {"linestyle": (0, (4 / p.width, 3 / p.width))} if p.dashed else {}
    x, y = np.asarray(p.points).T
    axes.plot(x, y, color=p.stroke, linewidth=p.width * _TO_POINTS, zorder=depth, **style)


def _dot(axes, d, depth):
    from matplotlib.patches import Circle

    axes.add_patch(Circle((d.x, d.y), d.radius, facecolor=d.fill, linewidth=0, zorder=depth))


def _label(axes, t, depth):
    from matplotlib.patheffects import withStroke

    words = t.text.replace("$", r"\$")  # no mathematics is meant
    rim = [withStroke(linewidth=3 * _TO_POINTS, foreground=palette.PAPER)] if t.halo else None
    axes.text(
        t.x, t.y, words, path_effects=rim, color=t.colour, fontsize=t.size * _TO_POINTS, family="DejaVu Sans",
        weight="bold" if t.bold else "normal", ha=_ANCHORS[t.anchor], va="baseline", zorder=depth,
    )  # fmt: skip


_DRAW = {Rect: _rect, Path: _path, Dot: _dot, Label: _label}


def encode(fig, dots_per_inch=PIXELS_PER_INCH * SHARPNESS):
    """PNG bytes of a matplotlib figure, without the metadata that would change with a version."""
    buffer = io.BytesIO()
    fig.savefig(buffer, format="png", dpi=dots_per_inch, metadata={"Software": None})
    return buffer.getvalue()
