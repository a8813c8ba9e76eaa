"""Words beside dots and at the ends of curves: none over another, and none far from what it names."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pglab.figures import Axis, Line, Panel, Picture, Points, curves, layout
from pglab.figures.frame import RIGHT, SMALL, Frame, text_width
from pglab.figures.labels import CLOSE, LINE, beside, spread
from pglab.figures.primitives import Dot, Label, Path

FRAME = Frame(Panel("t", [Points([0.5], [0.5])], Axis("", 0, 1), Axis("", 0, 1), width=500, height=400), 0, 0)
WORDS = ("value", "batch mean", "a rather long name")


@st.composite
def scattered(draw):
    """Dots inside the frame, most of them close together, with their words."""
    number = draw(st.integers(1, 8))
    x = draw(st.lists(st.integers(50, 480), min_size=number, max_size=number))
    y = draw(st.lists(st.integers(100, 300), min_size=number, max_size=number))
    words = draw(st.lists(st.sampled_from(WORDS), min_size=number, max_size=number))
    return [Dot(float(a), float(b), 4.0, "#000000") for a, b in zip(x, y, strict=True)], words


def box(label):
    return (
        label.x,
        label.y - 4 - LINE / 2,
        label.x + text_width(label.text, SMALL),
        label.y - 4 + LINE / 2,
    )


@given(scattered())
def test_no_word_covers_another(scene):
    labels = [mark for mark in beside(*scene, FRAME) if isinstance(mark, Label)]
    assert sorted(label.text for label in labels) == sorted(scene[1])
    boxes = [box(label) for label in labels]
    for i, a in enumerate(boxes):
        assert a[2] <= FRAME.right + RIGHT + 8 and a[3] <= FRAME.bottom + 1e-9
        for b in boxes[:i]:
            apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] + 1e-9 or b[3] <= a[1] + 1e-9
            # A word that moved makes room for its line, so its end may stick out by those 8 pixels.
            assert apart or min(a[2], b[2]) - max(a[0], b[0]) <= 8


def test_a_word_stands_beside_its_dot_where_there_is_room():
    (label,) = beside([Dot(100.0, 200.0, 4.0, "red")], ["word"], FRAME)
    assert (label.x, label.y, label.colour) == (107.0, 204.0, "red")
    (label,) = beside([Dot(480.0, 200.0, 4.0, "red")], ["a rather long name"], FRAME)
    assert label.x + text_width(label.text, SMALL) == 473.0  # on the left: the panel ends


def test_moved_words_keep_the_order_of_their_dots_and_are_tied_to_them():
    dots = [Dot(100.0, 200.0 + y, 4.0, f"colour {y}") for y in (2, 0, 1)]
    marks = beside(dots, ["two", "zero", "one"], FRAME)
    labels = [mark for mark in marks if isinstance(mark, Label)]
    assert [label.text for label in sorted(labels, key=lambda label: label.y)] == ["zero", "one", "two"]
    ties = [mark for mark in marks if isinstance(mark, Path)]
    assert {tie.stroke for tie in ties} == {"colour 0", "colour 2"}
    for tie in ties:
        assert tie.points[0].tolist() == [100.0, 200.0 + int(tie.stroke[-1])]
        assert abs(tie.points[1, 1] - tie.points[0, 1]) > CLOSE


def test_dots_lie_above_the_rims_of_words_and_those_above_the_curves():
    marks = [
        Points([0.2, 0.4], [0.5, 0.6], labels=("a", "b")),
        Line([0, 1], [0, 1]),
        Points([0.3, 0.5], [0.5, 0.6]),
    ]
    kinds = [
        type(each).__name__ + ("+" if getattr(each, "halo", False) else "")
        for each in layout.scene(Picture(Panel("t", marks))).primitives
    ]
    assert kinds[-4:] == ["Dot"] * 4 and kinds[-6:-4] == ["Label+"] * 2 and kinds[-7] == "Path"


def test_dots_that_are_not_seen_or_named_get_no_word():
    dots = [Dot(100.0, 200.0, 0.0, "red"), Dot(100.0, 200.0, 4.0, "red")]
    assert beside(dots, ["hidden", ""], FRAME) == []


@given(st.lists(st.floats(0, 300), min_size=1, max_size=6).map(sorted), st.integers(0, 2**32 - 1))
def test_names_move_as_little_as_possible(positions, seed):
    """No other arrangement that keeps the gap has a smaller sum of squares."""
    found = spread(positions, 14, np.inf)
    rng = np.random.default_rng(seed)
    least = np.sum(np.subtract(found, positions) ** 2)
    for _ in range(50):
        other = np.sort(np.array(found) + rng.normal(size=len(found)) * rng.choice([0.01, 1, 10]))
        if np.all(np.diff(other) >= 14):
            assert np.sum((other - positions) ** 2) >= least - 1e-6


def test_curves_know_the_words_of_the_palette_and_either_axis():
    panel = curves("t", [1, 2], {"leave_one_out": [1, 2], "mine": [2, 3]}, log="x")
    assert [line.label for line in panel.marks] == ["leave-one-out", "mine"]
    assert panel.x.log and not panel.y.log
    both = curves("t", [1, 2], {"a": [1, 2]}, log=True)
    assert both.x.log and both.y.log
    with pytest.raises(ValueError, match="log is 'y'; it must be True, False or 'x'"):
        curves("t", [1, 2], {"a": [1, 2]}, log="y")
