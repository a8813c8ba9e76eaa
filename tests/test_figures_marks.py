"""Pictures: where bars, curves, dots, rules and names lie, measured a second way."""

import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from figures_by_hand import curves_of, drawn, framed, label, of, words
from hypothesis import given
from hypothesis import strategies as st

from pglab.figures import (
    Axis,
    Bars,
    Line,
    Panel,
    Picture,
    Points,
    Rule,
    frame,
    layout,
    palette,
    svg,
)

# ---- Layout: bars


@given(st.lists(st.floats(-2, 2), min_size=1, max_size=6))
def test_the_height_of_a_bar_is_proportional_to_its_value(heights):
    panel = Panel("t", [Bars(np.arange(len(heights)), heights)], y=Axis(low=-2, high=2), height=284)
    assert 284 - frame.TOP - frame.BOTTOM == 200  # pixels for 4 units
    for rect, value in zip(of(panel, layout.Rect), heights, strict=True):
        assert rect.height == pytest.approx(50 * abs(value))
        foot = rect.y + rect.height if value >= 0 else rect.y
        assert foot == pytest.approx(frame.TOP + 100)  # on the zero line


def test_bars_stand_at_their_place_and_width():
    panel = Panel("t", [Bars([1, 2], [1, 1], width=0.5)], x=Axis(low=0, high=4), width=330)
    per_unit = (330 - frame.LEFT - frame.RIGHT) / 4
    for rect, x in zip(of(panel, layout.Rect), (1, 2), strict=True):
        assert rect.x == pytest.approx(frame.LEFT + per_unit * (x - 0.25))
        assert rect.width == pytest.approx(per_unit * 0.5)


def test_each_bar_has_its_own_colour():
    panel = Panel("t", [Bars([0, 1], [1, 2], colour=("#111111", "#222222"))])
    assert [rect.fill for rect in of(panel, layout.Rect)] == ["#111111", "#222222"]


def test_a_number_is_printed_beyond_the_end_of_its_bar():
    panel = Panel("t", [Bars([0, 1], [0.5, -0.5], values=".2f")], y=Axis(low=-1, high=1))
    up, down = of(panel, layout.Rect)
    assert label(panel, "0.50").y < up.y
    assert label(panel, "-0.50").y > down.y + down.height
    assert label(panel, "0.50").x == pytest.approx(up.x + up.width / 2)


def test_a_bar_is_cut_where_the_panel_ends():
    panel = Panel(
        "t", [Bars([0, 1, 9], [5, -5, 1], values=".1f")], x=Axis(low=-1, high=2), y=Axis(low=0, high=1)
    )
    first, second, third = of(panel, layout.Rect)
    assert first.y == frame.TOP and first.height == pytest.approx(250 - frame.TOP - frame.BOTTOM)
    assert second.height == 0
    assert third.width == 0 and "1.0" not in words(panel)
    assert "5.0" in words(panel)  # the number stays, so that nothing is hidden


def test_bars_that_do_not_reach_into_the_panel_have_no_height():
    panel = Panel("t", [Bars([0, 1], [0.2, 0.7])], y=Axis(low=0.5, high=1))
    low, high = of(panel, layout.Rect)
    assert low.height == 0 and high.height == pytest.approx(0.4 * (250 - frame.TOP - frame.BOTTOM))


def test_a_missing_height_is_named_not_drawn():
    panel = Panel("t", [Bars([0, 1], [np.nan, 1.0], values=".1f")])
    assert of(panel, layout.Rect)[0].height == 0
    assert "nan" in words(panel)


def test_no_minus_zero_is_printed():
    panel = Panel("t", [Bars([0, 1, 2], [-0.0, -1e-9, 1.0], values=".2f")])
    assert words(panel).count("0.00") == 2 and not any("-0" in word for word in words(panel))


# ---- Layout: curves, dots, rules, names


def test_a_gap_in_the_numbers_is_a_gap_in_the_line():
    panel = Panel("t", [Line([0, 1, 2, 3, 4], [1, 2, np.nan, 2, 1])])
    (path,) = curves_of(panel)
    assert np.isnan(path.points).all(axis=1).tolist() == [False, False, True, False, False]
    (element,) = [e for e in ET.fromstring(svg.markup(Picture(panel))) if e.get("stroke") == palette.BLUE]
    assert element.get("d").count("M") == 2 and element.get("d").count("L") == 2


def test_a_line_is_drawn_up_to_the_border_and_no_further():
    panel = Panel("t", [Line([0, 10], [-10, 10])], x=Axis(low=0, high=10), y=Axis(low=0, high=5))
    f = framed(panel.marks, panel.x, panel.y)
    (path,) = curves_of(panel)
    np.testing.assert_allclose(drawn(path), [(f.px(5), f.bottom), (f.px(7.5), f.top)])


@given(st.lists(st.tuples(st.floats(-3, 3), st.floats(-3, 3)), min_size=2, max_size=12))
def test_every_part_of_a_line_inside_is_drawn_and_nothing_outside(points):
    x, y = np.array(points).T
    panel = Panel("t", [Line(x, y)], x=Axis(low=-1, high=1), y=Axis(low=-1, high=1))
    f = framed(panel.marks, panel.x, panel.y)
    path = curves_of(panel)[0].points
    seen = path[np.isfinite(path[:, 0])]
    assert ((seen >= (f.left - 0.51, f.top - 0.51)) & (seen <= (f.right + 0.51, f.bottom + 0.51))).all()
    segments = [(a, b) for a, b in zip(path[:-1], path[1:], strict=True) if np.isfinite([a, b]).all()]
    # Walk along the original curve: whatever lies well inside must lie on a drawn segment.
    for i in range(len(x) - 1):
        for t in np.linspace(0, 1, 7):
            u, v = x[i] + t * (x[i + 1] - x[i]), y[i] + t * (y[i + 1] - y[i])
            if max(abs(u), abs(v)) < 0.98:
                place = np.array([f.px(u), f.py(v)])
                assert min(distance(place, *segment) for segment in segments) < 0.6


def distance(point, a, b):
    """From a point to a segment."""
    t = np.clip((point - a) @ (b - a) / max((b - a) @ (b - a), 1e-12), 0, 1)
    return math.dist(point, a + t * (b - a))


def test_dots_outside_the_panel_are_not_seen():
    panel = Panel(
        "t", [Points([1, 2, 1], [1, 1, 9], labels=("in", "out", "above"))], Axis("", 0, 1.5), Axis("", 0, 2)
    )
    f = framed(panel.marks, panel.x, panel.y)
    dots = of(panel, layout.Dot)
    assert [dot.radius for dot in dots] == [4.0, 0.0, 0.0]
    assert (dots[0].x, dots[0].y) == pytest.approx((f.px(1), f.py(1)))
    assert "in" in words(panel) and not {"out", "above"} & set(words(panel))


def test_rules_lie_at_their_value():
    panel = Panel("t", [Rule(2.0, "level"), Rule(3.0, "here", vertical=True)], Axis("", 0, 4), Axis("", 0, 4))
    f = framed(panel.marks, panel.x, panel.y)
    level, upright = [p.points for p in of(panel, layout.Path) if p.dashed]
    np.testing.assert_allclose(level, [(f.left, f.py(2)), (f.right, f.py(2))])
    np.testing.assert_allclose(upright[:, 0], f.px(3))
    assert sorted(upright[:, 1]) == pytest.approx([f.top, f.bottom])
    assert label(panel, "level").x > f.right and label(panel, "level").y == pytest.approx(f.py(2) + 4)
    assert label(panel, "here").x == pytest.approx(f.px(3) + 4)


def test_a_rule_or_curve_outside_is_neither_drawn_nor_named():
    marks = [Rule(9.0, "high"), Rule(9.0, "far", vertical=True), Line([0, 1], [7, 8], "gone")]
    panel = Panel("t", marks, Axis("", 0, 4), Axis("", 0, 4))
    paths = [p for p in of(panel, layout.Path) if p.dashed or p.stroke == palette.BLUE]
    assert len(paths) == 3 and all(len(drawn(path)) == 0 for path in paths)
    assert not {"high", "far", "gone"} & set(words(panel))


def test_a_curve_is_named_where_it_ends():
    panel = Panel("t", [Line([0, 1, 2], [0, 3, 1], "name", palette.GREEN)])
    f = framed(panel.marks)
    name = label(panel, "name")
    assert (name.x, name.y, name.colour) == pytest.approx((f.right + 5, f.py(1) + 4, palette.GREEN))


def test_there_is_room_for_the_name_of_a_curve():
    name = "a rather long name of forty-one letters.."
    panel = Panel("t", [Line([0, 1], [0, 1], name)], width=200)
    scene = layout.scene(Picture(panel))
    assert label(panel, name).x + frame.text_width(name, frame.SMALL) <= scene.width
    f = framed(panel.marks)
    assert f.right > f.left


@given(st.lists(st.floats(50, 200), min_size=0, max_size=10).map(sorted))
def test_names_are_kept_apart(positions):
    moved = layout.spread(positions, 14, 200)
    assert len(moved) == len(positions)
    assert all(b - a >= 14 - 1e-9 for a, b in zip(moved, moved[1:], strict=False))
    assert all(each <= 200 + 1e-9 for each in moved)
    if all(b - a >= 14 for a, b in zip(positions, positions[1:], strict=False)):
        assert moved == positions  # nothing moves without need


def test_the_key_names_bars_and_dots_in_their_colour():
    panel = Panel(
        "t",
        [Bars([0], [1], "before", palette.BLUE), Bars([1], [2], "", palette.GREEN), Points([0], [1], "dots", palette.OCHRE)],
        y=Axis("unit"),
    )  # fmt: skip
    before, dots = label(panel, "before"), label(panel, "dots")
    assert (before.colour, dots.colour) == (palette.BLUE, palette.OCHRE)
    assert label(panel, "unit").x < before.x < dots.x and before.y == dots.y
    keys = [r for r in of(panel, layout.Rect) if r.y < frame.TOP - 10]
    assert [(r.fill, round(r.x + 11 - word.x, 9)) for r, word in zip(keys, (before, dots), strict=True)] == [
        (palette.BLUE, 0), (palette.OCHRE, 0),
    ]  # fmt: skip
