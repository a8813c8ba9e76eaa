"""The pen of the drawings: boxes, words, lines and arrows on a white sheet, as plain SVG."""

import sys
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # works before the package is installed, too

from pglab.figures.palette import INK, PAPER, QUIET  # noqa: E402
from pglab.figures.svg import FONT  # noqa: E402

HEADING, NAME, BODY, SMALL = 20, 14, 13, 12  # font sizes in pixels
LEADING = 17  # from one line of a text to the next
HEAD = 9  # length of an arrow's head
WIDTH, MARGIN = 900, 14  # of a drawing that fills a notebook's column
PALE = 0.06  # strength of the tint behind words in the full colour


class Drawing:
    """A white sheet with a title and a description; what is drawn later lies on top."""

    def __init__(self, width, height, title, description):
        self.width, self.height, self.title, self.description = width, height, title, description
        self.elements = []
        self.box(0, 0, width, height, PAPER, radius=0)

    def add(self, tag, text="", **attributes):
        inside = " ".join(f"{k.replace('_', '-')}={quoteattr(_plain(v))}" for k, v in attributes.items())
        self.elements.append(f"<{tag} {inside}>{escape(text)}</{tag}>" if text else f"<{tag} {inside}/>")

    def box(self, x, y, width, height, fill, stroke="none", radius=8):
        self.add("rect", x=x, y=y, width=width, height=height, rx=radius, fill=fill, stroke=stroke,
                 stroke_width=1.5)  # fmt: skip

    def circle(self, x, y, radius, fill, stroke):
        self.add("circle", cx=x, cy=y, r=radius, fill=fill, stroke=stroke, stroke_width=2)

    def text(self, x, y, words, size=BODY, colour=INK, bold=False, anchor="start"):
        """Words from the baseline y of the first line; a line break in them starts a new line."""
        for i, line in enumerate(words.split("\n")):
            self.add("text", line, x=x, y=y + LEADING * i, font_size=size, fill=colour, text_anchor=anchor,
                     font_weight="bold" if bold else "normal")  # fmt: skip

    def line(self, points, colour=QUIET, width=2):
        """A line through the points, its corners rounded."""
        self.add("path", d=_rounded(points), fill="none", stroke=colour, stroke_width=width)

    def arrow(self, points, colour=QUIET, width=2):
        """A line whose head touches the last point."""
        (x0, y0), (x1, y1) = points[-2:]
        length = abs(x1 - x0) + abs(y1 - y0)  # the last stretch runs along an axis
        dx, dy = (x1 - x0) / length, (y1 - y0) / length
        neck = (x1 - HEAD * dx, y1 - HEAD * dy)
        self.line([*points[:-1], neck], colour, width)
        wings = [(neck[0] - 5 * s * dy, neck[1] + 5 * s * dx) for s in (1, -1)]
        self.add("path", d="M" + "L".join(_pair(p) for p in ((x1, y1), *wings)) + "Z", fill=colour)

    def markup(self, name):
        """The whole document; ``name`` keeps the ids apart where two drawings share a page."""
        size = f'width="{self.width}" height="{self.height}" viewBox="0 0 {self.width} {self.height}"'
        ids = f'role="img" aria-labelledby="{name}_title {name}_desc" font-family={quoteattr(FONT)}'
        head = [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} {ids}>',
            f'<title id="{name}_title">{escape(self.title)}</title>',
            f'<desc id="{name}_desc">{escape(self.description)}</desc>',
        ]
        return "\n".join([*head, *self.elements, "</svg>"]) + "\n"


def _plain(value):
    """At most one decimal, and none that is zero."""
    return value if isinstance(value, str) else f"{round(float(value), 1) + 0.0:g}"


def _pair(point):
    return f"{_plain(point[0])} {_plain(point[1])}"


def _rounded(points, radius=8):
    steps = ["M" + _pair(points[0])]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        steps.append(f"L{_pair(_toward(corner, before, radius))}")
        steps.append(f"Q{_pair(corner)} {_pair(_toward(corner, after, radius))}")
    return "".join([*steps, "L" + _pair(points[-1])])


def _toward(start, end, distance):
    length = abs(end[0] - start[0]) + abs(end[1] - start[1])
    share = min(0.5, distance / length)
    return start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])


def tint(colour, strength):
    """The colour thinned with white: strength 0 is white, 1 the colour itself."""
    channels = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 + strength * (c - 255)):02x}" for c in channels)


def in_one_line(words):
    """The words of a drawing without its line breaks."""
    return " ".join(words.split("\n"))
