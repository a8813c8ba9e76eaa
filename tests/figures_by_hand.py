"""A sample picture, and what lies where in a picture."""

import numpy as np
from matplotlib.figure import Figure

from pglab.figures import (
    Axis,
    Bars,
    Line,
    Panel,
    Picture,
    Points,
    Rule,
    Text,
    frame,
    layout,
    palette,
)


def of(picture, kind):
    """The primitives of one kind, without the sheet of paper."""
    picture = picture if isinstance(picture, Picture) else Picture(picture)
    return [p for p in layout.scene(picture).primitives[1:] if isinstance(p, kind)]


def words(picture):
    return [label.text for label in of(picture, layout.Label)]


def label(picture, word):
    (found,) = [each for each in of(picture, layout.Label) if each.text == word]
    return found


def curves_of(panel):
    """The paths that belong to marks, not to the grid."""
    return [p for p in of(panel, layout.Path) if p.stroke not in (palette.GRID, palette.QUIET)]


def drawn(path):
    """The points of a path that are drawn: those that are not NaN."""
    return path.points[np.isfinite(path.points).all(axis=1)]


def sample():
    """Every kind of mark, positive, negative and missing numbers, two panels and a caption."""
    left = Panel(
        "Bars and a rule",
        [Bars([0, 1, 2], [0.5, -0.25, 0.1], "before", palette.BLUE, 0.36, ".2f"), Rule(0.3, "mean")],
        x=Axis(low=-0.6, high=2.6, ticks=((0, "a"), (1, "b"), (2, "c"))),
        y=Axis("height", -0.5, 1.0),
    )
    x = np.linspace(0, 4, 9)
    right = Panel(
        "Curves",
        [
            Line(x, x**2, "square", palette.GREEN),
            Line(x, np.where(x == 2, np.nan, 2 * x), "double", palette.PURPLE, dashed=True),
            Points([1, 2], [3, 4], "dots", palette.OCHRE, ("one", "")),
            Text(1.0, 12.0, "a word"),
            Rule(3.0, "here", vertical=True),
        ],
        Axis("x"),
        Axis("y"),
    )
    return Picture((left, right), "A sample", "The caption says what to see.")


def framed(marks, x=None, y=None):
    return frame.Frame(Panel("t", marks, x or Axis(), y or Axis()), 0, 0)


HOSTILE = [
    '<script>alert("1")</script>',
    "a & b",
    "\"quoted\" 'twice'",
    "]]>",
    "&amp;",
    "π → ∞ 中 🎲",
    "$x_1$ \\frac",
]


def matplotlib_figure():
    fig = Figure(figsize=(4, 3))
    axes = fig.add_subplot()
    axes.plot([0, 1, 2], [1.0, 4.0, 1e-17], label="curve")
    axes.scatter([1, 2], [3, 4])
    axes.bar([0, 1], [2, 5])
    axes.fill_between([0, 1], [1, 1], [2, 6])
    axes.imshow([[1.0, 2.0], [3.0, np.nan]])
    axes.set(title="Title", xlabel="steps", ylabel="J")
    return fig
