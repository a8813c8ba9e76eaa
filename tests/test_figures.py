"""Pictures: panels and caption on their sheet, the palette, what a notebook stores."""

import base64
import io
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from figures_by_hand import HOSTILE, label, matplotlib_figure, sample
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageColor

from pglab import figures
from pglab.figures import (
    Bars,
    Panel,
    Picture,
    frame,
    layout,
    palette,
    png,
)
from pglab.figures.show import bundle

# ---- Layout: panels and caption


def test_panels_stand_in_rows():
    panels = [Panel("abc"[i], [], width=200 + 10 * i, height=150) for i in range(3)]
    scene = layout.scene(Picture(panels, columns=2))
    assert (scene.width, scene.height) == (200 + 210 + layout.GAP, 300)
    picture = Picture(panels, columns=2)
    assert label(picture, "b").x - label(picture, "a").x == 200 + layout.GAP
    assert label(picture, "c").y - label(picture, "a").y == 150
    assert layout.scene(Picture(panels, columns=3)).height == 150


def test_a_long_title_makes_its_panel_wider():
    title = "A title of many words that needs more room than the panel has"
    picture = Picture([Panel(title, [], width=200), Panel("next", [], width=200)])
    assert label(picture, "next").x > label(picture, title).x + 1.1 * frame.text_width(title, frame.TITLE)


@given(st.text(alphabet="ab  \n", max_size=300), st.integers(100, 800))
def test_a_caption_is_wrapped_and_no_word_lost(caption, width):
    lines = layout._wrap(caption, width)
    room = max(10, (width - frame.LEFT) / (frame.CHARACTER * (frame.SMALL + 1)))
    assert " ".join(lines).split() == caption.split()
    assert all(len(line) <= room or " " not in line.strip() for line in lines)
    if caption:
        assert len(lines) >= caption.count("\n") + 1


def test_a_caption_is_broken_before_the_word_that_does_not_fit():
    assert layout._wrap("eighteen letters, a few more and the end", 190) == [
        "eighteen letters, a",
        "few more and the end",
    ]
    assert layout._wrap("a b\n\nc", 190) == ["a b", "", "c"]


def test_a_caption_has_room_below_the_panels():
    without, one, three = (
        layout.scene(Picture(Panel("t", []), caption=c)).height for c in ("", "a", "a\nb\nc")
    )
    assert without == 250 and one > without and three - one == 2 * layout.CAPTION_LINE
    picture = Picture(Panel("t", []), caption="a\nb\nc")
    assert [label(picture, word).y for word in "abc"] == [263, 280, 297]


def test_the_sheet_is_paper_and_lies_below_everything():
    scene = layout.scene(sample())
    sheet = scene.primitives[0]
    assert (sheet.x, sheet.y, sheet.width, sheet.height) == (0, 0, scene.width, scene.height)
    assert sheet.fill == "#ffffff"


def test_a_picture_is_not_changed_by_its_makers_array():
    heights = np.array([1.0, 2.0])
    panel = figures.bars(["a", "b"], heights, "t")
    heights[:] = 9
    assert panel.marks[0].heights.tolist() == [1.0, 2.0]


# ---- What a notebook stores


def test_the_stored_form_of_a_picture():
    data, metadata = bundle(sample())
    scene = layout.scene(sample())
    assert data.keys() == {"image/png", "text/plain"}
    assert data["text/plain"] == figures.describe(sample())
    image = Image.open(io.BytesIO(base64.b64decode(data["image/png"], validate=True)))
    assert image.size == (png.SHARPNESS * scene.width, png.SHARPNESS * scene.height)
    assert metadata == {"image/png": {"width": scene.width, "height": scene.height, "alt": "A sample"}}
    assert bundle(sample()) == (data, metadata)


def test_the_stored_form_of_a_matplotlib_figure():
    data, metadata = bundle(matplotlib_figure())
    image = Image.open(io.BytesIO(base64.b64decode(data["image/png"])))
    assert image.size == (800, 600)
    assert metadata == {"image/png": {"width": 400, "height": 300, "alt": "Figure with 1 axes"}}
    assert data["text/plain"] == figures.describe(matplotlib_figure())


@pytest.fixture
def displayed(monkeypatch):
    """What reaches the notebook, instead of being printed."""
    calls = []
    monkeypatch.setattr("IPython.display.display", lambda data, **options: calls.append((data, options)))
    return calls


def test_show_puts_the_picture_and_its_words_into_the_notebook(displayed):
    figures.show(sample())
    (picture, options), (folded, _) = displayed
    assert (picture, options["metadata"]) == bundle(sample()) and options["raw"]
    assert folded["text/plain"] == "The numbers in this picture"
    page = ET.fromstring(folded["text/html"])
    assert page.find("pre").text == figures.describe(sample())


def test_show_takes_panels_and_figures(displayed):
    panels = sample().panels
    figures.show(*panels, title="A sample", caption="The caption says what to see.")
    figures.show(matplotlib_figure())
    assert displayed[0][0] == bundle(sample())[0]
    assert displayed[2][0] == bundle(matplotlib_figure())[0]


def test_words_given_by_hand_stand_in_place_of_the_numbers(displayed):
    figures.show(sample(), words="Both curves rise.")
    (picture, options), (folded, _) = displayed
    expected = bundle(sample())
    assert picture["text/plain"] == "Picture: Both curves rise."
    assert folded["text/plain"] == "This picture in words" and "Both curves rise." in folded["text/html"]
    assert picture["image/png"] == expected[0]["image/png"]
    about = expected[1]["image/png"] | {"alt": "Both curves rise."}
    assert options["metadata"] == {"image/png": about} and options["raw"]


def test_hostile_words_stay_words(displayed):
    figures.show(Panel(HOSTILE[0], [Bars([0], [1], HOSTILE[0])]))
    assert "<script" not in displayed[1][0]["text/html"]


# ---- Palette


def contrast(colour):
    """With white, as WCAG 2.1 defines it."""
    channels = [value / 255 for value in ImageColor.getrgb(colour)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 1.05 / (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)


def test_contrast_is_measured_rightly():
    assert contrast("#000000") == pytest.approx(21) and contrast("#ffffff") == pytest.approx(1)
    assert contrast("#767676") == pytest.approx(4.54, abs=0.01)


NAMED = {
    name: value for name, value in vars(palette).items() if isinstance(value, str) and value.startswith("#")
}


@pytest.mark.parametrize("name", sorted(NAMED.keys() - {"CONTOUR", "GRID", "PAPER"}))
def test_every_colour_can_be_the_colour_of_a_word(name):
    assert contrast(NAMED[name]) >= 4.5


def test_colours_are_called_by_what_they_stand_for():
    assert set(palette.COLOURS.values()) <= set(NAMED.values()) - {palette.GRID, palette.PAPER}
    for group in (palette.ESTIMATORS, palette.STEP_WEIGHTS):
        assert len(set(group.values())) == len(group)
    marks = figures.curves("t", [0, 1], {"optimal": [0, 1], "my own": [1, 2]}).marks
    assert [mark.colour for mark in marks] == [palette.GREEN, palette.BLUE]
