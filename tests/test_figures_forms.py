"""Pictures: SVG and PNG show what the layout says."""

import io
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from figures_by_hand import HOSTILE, drawn, of, sample
from matplotlib import cbook
from PIL import Image, ImageColor

from pglab.figures import (
    Axis,
    Bars,
    Line,
    Panel,
    Picture,
    Points,
    Text,
    layout,
    palette,
    png,
    svg,
)

SVG = "{http://www.w3.org/2000/svg}"


# ---- SVG


def test_svg_says_what_the_layout_says():
    scene, root = layout.scene(sample()), ET.fromstring(svg.markup(sample()))
    assert root.tag == SVG + "svg" and root.get("viewBox") == f"0 0 {scene.width} {scene.height}"
    tags = {layout.Rect: "rect", layout.Path: "path", layout.Dot: "circle", layout.Label: "text"}
    assert [e.tag for e in root] == [SVG + tags[type(p)] for p in scene.primitives]
    for element, p in zip(root, scene.primitives, strict=True):
        if isinstance(p, layout.Rect):
            place = [float(element.get(k)) for k in ("x", "y", "width", "height")]
            assert place == pytest.approx([p.x, p.y, p.width, p.height], abs=0.051)
            assert element.get("fill") == p.fill
        elif isinstance(p, layout.Label):
            assert (element.text or "") == p.text and element.get("fill") == p.colour
            assert [float(element.get(k)) for k in ("x", "y")] == pytest.approx([p.x, p.y], abs=0.051)
            assert (element.get("text-anchor"), float(element.get("font-size"))) == (p.anchor, p.size)
            assert (element.get("font-weight") == "bold") == p.bold
        elif isinstance(p, layout.Dot):
            place = [float(element.get(k)) for k in ("cx", "cy", "r")]
            assert place == pytest.approx([p.x, p.y, p.radius], abs=0.051) and element.get("fill") == p.fill
        else:
            pairs = [pair.split() for pair in element.get("d").replace("L", "M").split("M")[1:]]
            np.testing.assert_allclose(np.array(pairs, float), drawn(p), atol=0.051)
            assert element.get("stroke") == p.stroke and float(element.get("stroke-width")) == p.width
            assert (element.get("stroke-dasharray") != "none") == p.dashed


@pytest.mark.filterwarnings("ignore:Glyph .* missing")  # the stored picture has a box there
@pytest.mark.parametrize("word", HOSTILE)
def test_svg_escapes_hostile_labels(word):
    panel = Panel(
        word,
        [Bars([0], [1], word, values=".1f"), Line([0, 1], [0, 1], word), Text(0, 1, word), Points([0], [1], word, labels=(word,))],
        Axis(word, low=-1, high=1, ticks=((0, word),)),
        Axis(word),
    )  # fmt: skip
    root = ET.fromstring(svg.markup(Picture(panel, word, word), description=word))
    assert {e.tag.removeprefix(SVG) for e in root.iter()} == {"svg", "desc", "rect", "path", "circle", "text"}
    assert root.find(SVG + "desc").text == word
    assert [e.text for e in root.iter(SVG + "text")].count(word) == 10
    fig = png.figure(Picture(panel, word))
    assert png.encode(fig)
    assert not any(cbook.is_math_text(each.get_text()) for each in fig.axes[0].texts)


def test_svg_escapes_attributes_and_control_characters():
    root = ET.fromstring(
        svg.markup(Picture(Panel("\x00\x1b[1m", [Bars([0], [1], colour='red" onload="x<&')])))
    )
    assert any(e.get("fill") == 'red" onload="x<&' for e in root)
    assert not any(e.get("onload") for e in root)
    assert any(e.text == "\ufffd\ufffd[1m" for e in root)


def test_svg_numbers_are_short_and_never_minus_zero():
    assert [svg._n(v) for v in (-0.0, -0.04, 1.26)] == [0.0, 0.0, 1.3]
    assert str(svg._n(-0.04)) == "0.0"
    assert svg._pen(np.array([[-0.0, -0.04], [1.0, 2.55]])) in ("M0 0L1 2.5", "M0 0L1 2.6")
    assert svg._pen(np.array([[np.nan, np.nan], [1.0, 2.0]])) == "M1 2"


# ---- PNG


def pixels(picture):
    encoded = png.encode(png.figure(picture))
    return np.asarray(Image.open(io.BytesIO(encoded)).convert("RGB"), dtype=int)


@pytest.mark.parametrize("width", [330, 402, 517, 812])
def test_png_has_the_size_of_the_layout(width):
    picture = Picture(Panel("t", [], width=width, height=width - 100))
    assert pixels(picture).shape == (png.SHARPNESS * (width - 100), png.SHARPNESS * width, 3)


def test_png_is_coloured_where_svg_is():
    """At the middle of every bar, dot and piece of line, before anything is drawn over it."""
    picture = Picture(
        [
            Panel(
                "Bars", [Bars([0, 1, 2], [2, -1, 3], colour=(palette.BLUE, palette.GREEN, palette.CRIMSON))]
            ),
            Panel(
                "Dots",
                [Points([0, 1], [0, 1], colour=palette.OCHRE), Line([0, 1], [1, 0], colour=palette.PURPLE)],
            ),
        ]
    )
    image, root = pixels(picture), ET.fromstring(svg.markup(picture))

    def colour(x, y):
        return image[round(png.SHARPNESS * y), round(png.SHARPNESS * x)]

    checked = 0
    for element in list(root)[1:]:
        numbers = {
            k: float(v) for k, v in element.attrib.items() if k in ("x", "y", "width", "height", "cx", "cy")
        }
        if element.tag == SVG + "rect" and numbers["width"] > 10:
            place = numbers["x"] + numbers["width"] / 2, numbers["y"] + numbers["height"] / 2
        elif element.tag == SVG + "circle":
            place = numbers["cx"], numbers["cy"]
        elif element.tag == SVG + "path" and element.get("stroke") == palette.PURPLE:
            (x0, y0), (x1, y1) = (map(float, p.split()) for p in element.get("d")[1:].split("L"))
            place = x0 + (x1 - x0) / 4, y0 + (y1 - y0) / 4
        else:
            continue
        wanted = ImageColor.getrgb(element.get("stroke" if element.tag == SVG + "path" else "fill"))
        assert np.abs(colour(*place) - wanted).max() <= 2, (element.attrib, colour(*place))
        checked += 1
    assert checked == 6
    assert colour(2, 2).tolist() == [255, 255, 255]


def test_png_bars_begin_and_end_where_svg_bars_do():
    picture = Picture(Panel("t", [Bars([0, 1], [2, 1])], y=Axis(low=0, high=2)))
    image = pixels(picture)
    for rect in of(picture, layout.Rect):
        column = image[:, round(png.SHARPNESS * (rect.x + rect.width / 2))]
        rows = np.flatnonzero((column == ImageColor.getrgb(palette.BLUE)).all(axis=1)) / png.SHARPNESS
        assert rows[0] == pytest.approx(rect.y, abs=1.01)
        assert rows[-1] == pytest.approx(rect.y + rect.height, abs=1.51)


def test_png_has_a_gap_where_the_line_has_one():
    whole = Panel("t", [Line([0, 1, 2, 3], [1, 1, 1, 1])], y=Axis(low=0, high=2))
    broken = Panel("t", [Line([0, 1, np.nan, 2, 3], [1, 1, np.nan, 1, 1])], y=Axis(low=0, high=2))

    def blue(panel):
        return (pixels(Picture(panel)) == ImageColor.getrgb(palette.BLUE)).all(axis=2).sum()

    assert 0.5 < blue(broken) / blue(whole) < 0.8


def test_both_forms_are_the_same_bytes_every_time():
    assert svg.markup(sample()) == svg.markup(sample())
    encoded = png.encode(png.figure(sample()))
    assert encoded == png.encode(png.figure(sample()))
    assert b"Software" not in encoded and b"matplotlib" not in encoded.lower()
