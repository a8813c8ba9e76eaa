"""The committed drawings are what the script makes, and every word in them can be read."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from functools import lru_cache
from pathlib import Path

import drawing_grid
import drawing_loop
import drawing_map
import drawings
import matplotlib
import pen
import pytest
from PIL import ImageFont

from pglab import bandit
from pglab.sliders.one_step import ANSWERS

SVG = "{http://www.w3.org/2000/svg}"
WIDER = 1.05  # room for a fallback font a little wider than DejaVu Sans
NAMES = sorted(drawings.DRAWINGS)
each = pytest.mark.parametrize("name", NAMES)


@lru_cache
def _font(bold):
    folder = Path(matplotlib.get_data_path(), "fonts", "ttf")
    return ImageFont.truetype(folder / ("DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"), 200)


def _extent(element):
    """(left, top, right, bottom) of a text, measured with the letters of its font."""
    x, y, size = (float(element.get(key)) for key in ("x", "y", "font-size"))
    width = WIDER * size / 200 * _font(element.get("font-weight") == "bold").getlength(element.text)
    left = x - width * {"start": 0, "middle": 0.5, "end": 1}[element.get("text-anchor")]
    return left, y - 0.78 * size, left + width, y + 0.24 * size


def _box(element):
    x, y, width, height = (float(element.get(key)) for key in ("x", "y", "width", "height"))
    return x, y, x + width, y + height


def _holds(box, extent, room=0.0):
    return (
        box[0] + room <= extent[0]
        and box[1] + room <= extent[1]
        and extent[2] <= box[2] - room
        and extent[3] <= box[3] - room
    )


def _overlap(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _luminance(colour):
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(a, b):
    low, high = sorted((_luminance(a), _luminance(b)))
    return (high + 0.05) / (low + 0.05)


def _root(markup):
    return ET.fromstring(markup)


def _made(name):
    return _root(drawings.DRAWINGS[name]().markup(name))


def _faults(root):
    """What a reader would stumble over, in words; an empty list if all is well."""
    faults, sheet = [], (0, 0, float(root.get("width")), float(root.get("height")))
    items = list(root)
    rects = [(i, _box(e), e.get("fill")) for i, e in enumerate(items) if e.tag == SVG + "rect"]
    texts = [(i, _extent(e), e) for i, e in enumerate(items) if e.tag == SVG + "text"]
    for i, extent, element in texts:
        cut = [box for _, box, _ in rects if _overlap(box, extent) and not _holds(box, extent)]
        middle = ((extent[0] + extent[2]) / 2, (extent[1] + extent[3]) / 2) * 2
        under = [(j, box, fill) for j, box, fill in rects if j < i and _holds(box, middle)]
        ground, box, fill = under[-1]
        if not _holds(box, extent, room=4):
            faults.append(f"{element.text!r} leaves its box")
        if not _holds(sheet, extent, room=4):
            faults.append(f"{element.text!r} leaves the sheet")
        if _contrast(element.get("fill"), fill) < 4.5:
            faults.append(f"{element.text!r} is too pale")
        if float(element.get("font-size")) < 12:
            faults.append(f"{element.text!r} is too small")
        if cut:  # by a box that holds only a part of the words
            faults.append(f"a box cuts {element.text!r}")
        # A line drawn on the same ground, or later, must not touch the words.
        for line in items[ground + 1 :]:
            if line.tag == SVG + "path" and any(_overlap(s, extent) for s in _strokes(line.get("d"))):
                faults.append(f"a line crosses {element.text!r}")
            if line.tag == SVG + "circle":
                x, y, r = (float(line.get(key)) for key in ("cx", "cy", "r"))
                if _overlap((x - r, y - r, x + r, y + r), extent):
                    faults.append(f"a circle touches {element.text!r}")
    for n, (_, a, first) in enumerate(texts):
        faults += [f"{first.text!r} overlaps {e.text!r}" for _, b, e in texts[n + 1 :] if _overlap(a, b)]
    return faults


def _strokes(d):
    """The stretches of a path as boxes two pixels thick (each stretch runs along an axis)."""
    points = [tuple(map(float, pair)) for pair in re.findall(r"(-?[\d.]+) (-?[\d.]+)", d)]
    for (x0, y0), (x1, y1) in zip(points, points[1:], strict=False):
        yield min(x0, x1) - 1, min(y0, y1) - 1, max(x0, x1) + 1, max(y0, y1) + 1


@each
def test_the_committed_file_is_what_the_script_makes(name, root):
    committed = (root / "notebooks" / "drawings" / f"{name}.svg").read_bytes()
    first, second = (drawings.DRAWINGS[name]().markup(name).encode("utf-8") for _ in range(2))
    assert first == second
    assert committed == first, "run `make drawings`"


def test_no_drawing_is_left_over(root):
    assert sorted(p.name for p in (root / "notebooks" / "drawings").glob("*.svg")) == [
        f"{n}.svg" for n in NAMES
    ]


@each
def test_it_has_a_name_and_a_description(name):
    root = _made(name)
    title, description = root.find(SVG + "title"), root.find(SVG + "desc")
    assert list(root)[:2] == [title, description]
    assert len(title.text) > 10 and len(description.text) > 200
    assert root.get("role") == "img"
    assert root.get("aria-labelledby").split() == [title.get("id"), description.get("id")]
    assert title.get("id").startswith(name)


@each
def test_the_sheet_is_white_and_not_too_wide(name):
    root = _made(name)
    sheet = root.find(SVG + "rect")
    assert sheet.get("fill") == "#ffffff"
    assert [sheet.get(k) for k in ("width", "height")] == [root.get(k) for k in ("width", "height")]
    assert float(root.get("width")) <= 900


@each
def test_every_word_can_be_read(name):
    assert _faults(_made(name)) == []


@each
def test_every_letter_is_in_the_font(name):
    from matplotlib.ft2font import FT2Font

    letters = {c for e in _made(name).iter(SVG + "text") for c in e.text}
    for style in ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf"):
        known = FT2Font(str(Path(matplotlib.get_data_path(), "fonts", "ttf", style))).get_charmap()
        assert {c for c in letters if ord(c) not in known} == set()


PLANTED = {
    "leaves its box": lambda d: d.text(400, 45, "too long for this box"),
    "overlaps": lambda d: d.text(25, 145, "on top of it"),
    "is too pale": lambda d: d.text(400, 45, "pale", colour="#999999"),
    "is too small": lambda d: d.text(400, 45, "small", size=11),
    "a line crosses": lambda d: d.arrow([(20, 130), (20, 155), (140, 155), (140, 180)]),
    "a circle touches": lambda d: d.circle(30, 140, 7, "#ffffff", "#000000"),
    "leaves the sheet": lambda d: d.text(570, 180, "outside"),
    "a box cuts": lambda d: d.box(40, 120, 60, 60, "none"),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_found(fault):
    drawing = pen.Drawing(600, 200, "title", "description")
    drawing.box(390, 20, 100, 50, "#eeeeee")
    drawing.text(20, 140, "words in the open")
    assert _faults(_root(drawing.markup("x"))) == []
    PLANTED[fault](drawing)
    assert any(fault in found for found in _faults(_root(drawing.markup("x"))))


def test_the_map_is_a_reading_order():
    numbers = list(drawing_map.NOTEBOOKS)
    assert numbers == [f"{n:02d}" for n in range(12)]
    assert [n for _, _, _, members in drawing_map.GROUPS for n in members] == numbers[1:]
    for number, (_, question, needs) in drawing_map.NOTEBOOKS.items():
        assert question.endswith("?") and question.count("?") == 1
        assert all(needed < number for needed in needs)
        assert bool(needs) == (number != "00")


def test_the_examples_lie_on_different_crossings():
    weights, constraints = ([name for name, _ in c] for c in (drawing_grid.WEIGHTS, drawing_grid.CONSTRAINTS))
    taken = [(weight, c) for _, _, weight, used in drawing_grid.EXAMPLES for c in used]
    assert len(taken) == len(set(taken))
    assert all(weight in weights and constraint in constraints for weight, constraint in taken)
    for _, _, _, used in drawing_grid.EXAMPLES:  # a wide plate covers neighbours only
        places = [constraints.index(c) for c in used]
        assert places == list(range(places[0], places[0] + len(places)))


def test_the_loop_keeps_its_order_in_words():
    names = [name for name, *_ in drawing_loop.STATIONS]
    assert names == ["Sample", "Score", "Weight", "Step"]
    description = _made("reinforce_loop").find(SVG + "desc").text
    told = [f"{number} {name}: " for number, name in enumerate(names, 1)]
    arrows = [f"Arrow from {a} to {b}: " for a, b in zip(names, names[1:] + names[:1], strict=True)]
    lines = [start for pair in zip(told, arrows, strict=True) for start in pair]
    for line, start in zip(description.splitlines()[1:], lines, strict=True):
        assert line.startswith(start)


def test_the_arrows_of_the_loop_close_it():
    items = list(_made("reinforce_loop"))
    stations = [_box(e) for e in items if e.tag == SVG + "rect" and 300 < float(e.get("width")) < 900]
    texts = [(_extent(e), e.text) for e in items if e.tag == SVG + "text"]
    for box, (name, *_) in zip(stations, drawing_loop.STATIONS, strict=True):
        assert name in [words for extent, words in texts if _holds(box, extent)]

    def touched(point):
        x, y = point
        return [n for n, (x0, y0, x1, y1) in enumerate(stations) if x0 <= x <= x1 and y0 <= y <= y1]

    links, paths = [], [e.get("d") for e in items if e.tag == SVG + "path"]
    for line, head in zip(paths[::2], paths[1::2], strict=True):  # the head is drawn after its line
        start, tip = (tuple(map(float, re.match(r"M(\S+) ([\d.]+)", d).groups())) for d in (line, head))
        links.append((touched(start), touched(tip)))
    between = [link for link in links if link[0] != link[1]]
    assert between == [([0], [1]), ([1], [2]), ([2], [3]), ([3], [0])]


def test_the_loop_shows_the_running_example():
    rows = {station: (label, values) for station, label, values in drawing_loop.ROWS}
    score = bandit.score_matrix(bandit.EXAMPLE_LOGITS)[0]  # of the answer that is drawn, the first
    assert rows["Score"] == ("logit", ["up" if s > 0 else "down" for s in score])
    assert [float(r) for r in rows["Weight"][1]] == list(bandit.EXAMPLE_REWARDS)
    assert sum(round(1000 * float(p)) for p in rows["Sample"][1]) == 1000
    assert drawing_loop.ANSWERS == ANSWERS
    assert [name for name, *_ in drawing_loop.STATIONS[:3]] == list(rows)


def test_the_script_runs_from_any_folder(root, tmp_path):
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, str(root / "tools" / "drawings.py"), "made"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        f"made/{n}.svg" for n in drawings.DRAWINGS
    ]
    assert sorted(p.name for p in (tmp_path / "made").iterdir()) == [f"{n}.svg" for n in NAMES]
    for name in NAMES:
        committed = root / "notebooks" / "drawings" / f"{name}.svg"
        assert (tmp_path / "made" / f"{name}.svg").read_bytes() == committed.read_bytes()
