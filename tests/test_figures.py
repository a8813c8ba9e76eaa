"""Pictures: where everything lies, measured a second way, and the three forms say the same."""

import base64
import io
import math
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import cbook
from matplotlib.figure import Figure
from PIL import Image, ImageColor

from pglab import figures
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
    png,
    svg,
    text,
)
from pglab.figures.show import bundle

SVG = "{http://www.w3.org/2000/svg}"


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


# ---- Layout: axes


def framed(marks, x=None, y=None):
    return frame.Frame(Panel("t", marks, x or Axis(), y or Axis()), 0, 0)


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8),
    st.sampled_from([Bars, Line, Points]),
)
def test_open_limits_hold_every_mark(ys, kind):
    f = framed([kind(np.arange(len(ys)), ys)])
    assert f.x_limits[0] < f.x_limits[1] and f.y_limits[0] < f.y_limits[1]
    assert f.y_limits[0] <= min(ys) and max(ys) <= f.y_limits[1]
    assert (f.py(np.array(ys)) >= f.top - 1e-6).all() and (f.py(np.array(ys)) <= f.bottom + 1e-6).all()


def test_limits_given_are_kept():
    f = framed([Line([0, 1], [0, 1])], Axis(low=-3, high=5), Axis(low=-7))
    assert f.x_limits == (-3, 5) and f.y_limits[0] == -7
    assert (f.px(-3), f.px(5)) == pytest.approx((f.left, f.right))
    assert f.py(-7) == pytest.approx(f.bottom)


@pytest.mark.parametrize(
    "marks", [[], [Bars([0], [0.0])], [Line([2, 2], [3, 3])], [Line([0, 1], [np.nan, np.nan])]]
)
def test_an_axis_without_extent_still_has_two_ends(marks):
    f = framed(marks)
    assert f.x_limits[0] < f.x_limits[1] and f.y_limits[0] < f.y_limits[1]
    assert "nan" not in svg.markup(Picture(Panel("t", marks)))


def test_bars_stand_on_the_axis():
    assert framed([Bars([0, 1], [1, 2])]).y_limits[0] == 0
    assert framed([Bars([0, 1], [-1, -2])]).y_limits[1] == 0
    assert framed([Bars([0], [1], values=".2f")]).y_limits[1] > framed([Bars([0], [1])]).y_limits[1]


def test_a_rule_and_a_word_are_given_room():
    assert framed([Line([0, 1], [0, 1]), Rule(5.0)]).y_limits[1] > 5
    assert framed([Line([0, 1], [0, 1]), Rule(5.0, vertical=True)]).x_limits[1] > 5
    assert framed([Line([0, 1], [0, 1]), Text(0.5, 5.0, "here")]).y_limits[1] > 5


def test_on_a_logarithmic_axis_equal_factors_are_equal_distances():
    f = framed([Line([1, 10, 100], [1, 10, 100])], Axis(log=True), Axis(log=True, low=1e-2, high=1e2))
    x = f.px(np.array([1, 10, 100]))
    assert x[1] - x[0] == pytest.approx(x[2] - x[1])
    assert f.py(1.0) == pytest.approx((f.top + f.bottom) / 2)
    assert f.x_limits == pytest.approx((1 / 1.3, 130))


def test_what_is_not_positive_is_a_gap_on_a_logarithmic_axis():
    panel = Panel("t", [Line([1, 2, 3, 4], [1.0, 0.0, -1.0, 100.0])], y=Axis(log=True))
    (path,) = curves_of(panel)
    assert len(drawn(path)) == 2
    assert framed(panel.marks, y=panel.y).y_limits == pytest.approx((1 / 1.3, 130))


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_linear_ticks_lie_inside(low, span):
    limits = low, low + span
    if limits[0] < limits[1]:
        ticks = frame.ticks(Axis(), limits)
        assert 1 <= len(ticks) <= 12
        assert all(limits[0] - 1e-8 * span <= t <= limits[1] + 1e-8 * span for t, _ in ticks)


@given(st.floats(-12, 6), st.floats(0.05, 18))
def test_logarithmic_ticks_lie_inside_and_are_at_least_two(start, decades):
    low, high = 10**start, 10 ** (start + decades)
    ticks = frame.ticks(Axis(log=True), (low, high))
    assert 2 <= len(ticks) <= 12
    assert all(low * (1 - 1e-6) <= t <= high * (1 + 1e-6) for t, _ in ticks)


def test_logarithmic_ticks_are_round():
    def ticks(low, high):
        return [word for _, word in frame.ticks(Axis(log=True), (low, high))]

    assert ticks(0.5, 2000) == ["1", "10", "100", "1000"]
    assert ticks(2, 60) == ["2", "5", "10", "20", "50"]
    assert ticks(2, 8) == ["2", "4", "6", "8"]
    assert ticks(1e-12, 1)[0] == "1e-12"


def test_small_and_large_ticks_share_one_exponent():
    def ticks(low, high):
        return [word for _, word in frame.ticks(Axis(), (low, high))]

    assert ticks(0, 0.001) == ["0", "2e-4", "4e-4", "6e-4", "8e-4", "10e-4"]
    assert ticks(0, 2e5) == ["0", "50000", "100000", "150000", "200000"]  # whole numbers of six digits fit
    assert ticks(0, 2e6) == ["0", "5e5", "10e5", "15e5", "20e5"]
    assert ticks(-2e-4, 2e-4) == ["-2e-4", "-1e-4", "0", "1e-4", "2e-4"]
    assert ticks(0, 0.01) == ["0", "0.002", "0.004", "0.006", "0.008", "0.01"]


def test_ticks_stand_where_they_say():
    panel = Panel("t", [Line([0, 10], [0, 1])], x=Axis(low=0, high=10), y=Axis(low=0, high=1))
    f = framed(panel.marks, panel.x, panel.y)
    assert label(panel, "0.4").y == pytest.approx(
        f.py(0.4) + 4
    )  # four pixels put small letters in the middle
    assert label(panel, "8").x == pytest.approx(f.px(8))
    assert (label(panel, "0.4").anchor, label(panel, "8").anchor) == ("end", "middle")
    grid = [p.points[0, 1] for p in of(panel, layout.Path) if p.stroke == palette.GRID]
    assert grid == pytest.approx([f.py(y) for y in (0, 0.2, 0.4, 0.6, 0.8, 1)])


def test_own_ticks_are_written_where_they_are_and_only_inside():
    axis = Axis(low=0, high=2, ticks=[(0, "zero"), (1, 1), (3, "outside")])
    panel = Panel("t", [Line([0, 2], [5, 6])], x=axis)
    f = framed(panel.marks, axis)
    assert label(panel, "zero").x == pytest.approx(f.left)
    assert label(panel, "1").x == pytest.approx((f.left + f.right) / 2)
    assert "outside" not in words(panel)


@pytest.mark.parametrize(
    "value, word",
    [
        (0.0, "0"), (-0.0, "0"), (1e-17, "1e-17"), (0.1 + 0.2, "0.3"), (1.0, "1"), (-2.5, "-2.5"), (0.001, "0.001"),
        (1e-4, "1e-4"), (2.5e-4, "2.5e-4"), (12345.0, "12345"), (1e5, "1e5"), (-1e6, "-1e6"), (2.5e7, "2.5e7"),
        (1000000.0000000001, "1e6"), (9.999999999999999e-06, "1e-5"),
    ],
)  # fmt: skip
def test_tick_labels_are_short(value, word):
    assert frame.number(value) == word


def test_the_zero_line_is_drawn_where_zero_is_inside():
    def zero_lines(low, high):
        panel = Panel("t", [Line([0, 1], [low, high])], y=Axis(low=low, high=high))
        return [p for p in of(panel, layout.Path) if p.stroke == palette.QUIET]

    (line,) = zero_lines(-1, 1)
    assert line.points[:, 1] == pytest.approx((frame.TOP + 250 - frame.BOTTOM) / 2)
    assert not zero_lines(1, 2)


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


HOSTILE = [
    '<script>alert("1")</script>',
    "a & b",
    "\"quoted\" 'twice'",
    "]]>",
    "&amp;",
    "π → ∞ 中 🎲",
    "$x_1$ \\frac",
]


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


# ---- Words


def test_a_picture_in_words():
    assert figures.describe(sample()) == (
        "Picture: A sample\n"
        "Panel: Bars and a rule (y: height)\n"
        "  bars 'before': a 0.5, b -0.25, c 0.1\n"
        "  level rule 'mean': 0.3\n"
        "Panel: Curves (x: x, y: y)\n"
        "  line 'square': 9 points, from (0, 0) to (4, 16), lowest 0, highest 16\n"
        "  line 'double': 9 points, from (0, 0) to (4, 8), lowest 0, highest 8\n"
        "  points 'dots': one (1, 3), (2, 4)\n"
        "  words: a word\n"
        "  vertical rule 'here': 3\n"
        "Caption: The caption says what to see."
    )


def test_words_are_the_same_where_numbers_agree_to_four_digits():
    noise = 1 + 1e-7 * np.array([1, -1, 1])
    values = np.array([0.12345, 2.71828, -3.14159])
    pictures = [Picture(figures.bars("abc", v, "t")) for v in (values, values * noise)]
    assert figures.describe(pictures[0]) == figures.describe(pictures[1])
    assert figures.describe(Picture(figures.bars("abc", values * 1.01, "t"))) != figures.describe(pictures[0])


@pytest.mark.parametrize(
    "values, words",
    [
        ([1.0, 1e-17], ["1", "0"]),
        ([1.0, -1e-17], ["1", "0"]),
        ([1e-17, -2e-17], ["0", "0"]),
        ([-0.0], ["0"]),
        ([1e6, 1e-5], ["1e+06", "0"]),
        ([1e-6, 2e-6], ["1e-06", "2e-06"]),
        ([0.123456, np.nan, np.inf], ["0.1235", "nan", "inf"]),
        ([], []),
    ],
)
def test_rounding_noise_is_zero(values, words):
    assert text.rounded(values) == words


def test_a_logarithmic_axis_shows_tiny_numbers_as_they_are():
    panel = figures.curves("t", [1e-20, 1.0], {"a": [1e-18, 1.0]}, "n", "error", log=True)
    words = figures.describe(Picture(panel))
    assert "from (1e-20, 1e-18) to (1, 1), lowest 1e-18, highest 1" in words
    assert "(x: n, logarithmic, y: error, logarithmic)" in words


def test_bars_without_ticks_are_named_by_their_place():
    panel = Panel("t", [Bars([0.0, 2.0], [1, 3])])
    assert "bars: 0 1, 2 3" in figures.describe(Picture(panel))
    grouped = Panel("t", [Bars([-0.2, 0.8], [1, 3])], x=Axis(ticks=((0, "left"), (1, "right"))))
    assert "bars: left 1, right 3" in figures.describe(Picture(grouped))


def test_a_line_of_nothing_is_said_to_be_nothing():
    assert "lowest nan, highest nan" in figures.describe(
        Picture(Panel("t", [Line([0, 1], [np.nan, np.nan])]))
    )


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


def test_a_matplotlib_figure_in_words():
    words = figures.describe(matplotlib_figure())
    assert words == (
        "Figure with 1 axes\n"
        "Axes: Title (x: steps, y: J)\n"
        "  line 'curve': 3 points, from (0, 1) to (2, 0), lowest 0, highest 4\n"
        "  bars: 2, 5\n"
        "  points: 2 points, from (1, 3) to (2, 4), lowest 3, highest 4\n"
        "  area: lowest 1, highest 6\n"
        "  image (2, 2): lowest 1, highest 3"
    )


def test_a_matplotlib_figure_with_words_on_its_axis_or_a_logarithm():
    fig = Figure()
    axes = fig.add_subplot()
    axes.plot(["a", "b"], [1e-20, 1])
    axes.set_yscale("log")
    assert "from (0, 1e-20) to (1, 1)" in figures.describe(fig)


def test_numbers_are_printed_in_columns(capsys):
    figures.numbers("one", 1.0)
    figures.numbers("several", [-1e-9, -0.25, 12.5])
    figures.numbers("large", [123456.0, -123456.0], digits=2)
    assert capsys.readouterr().out == (
        "one                                   1.0000\n"
        "several                               0.0000   -0.2500   12.5000\n"
        "large                              123456.00 -123456.00\n"
    )


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


# ---- Bad input

ONE = Panel("t", [])
BAD = [
    (lambda: Bars([0, 1], [1.0]), "Bars.heights", "1 entries"),
    (lambda: Bars([], []), "Bars.x", "(0,)"),
    (lambda: Bars([[0]], [[1]]), "Bars.x", "(1, 1)"),
    (lambda: Bars(0, 1), "Bars.x", "()"),
    (lambda: Bars([0], ["1"]), "Bars.heights", "['1']"),
    (lambda: Bars([0], [None]), "Bars.heights", "[None]"),
    (lambda: Bars([0], [1j]), "Bars.heights", "[1j]"),
    (lambda: Bars([0, 1], [1, 2], colour=("red",)), "Bars.colour", "1 colours for 2"),
    (lambda: Line([0, 1], [0, 1, 2]), "Line.y", "3 entries"),
    (lambda: Line([0, 1], [[0], [1, 2]]), "Line.y", "ragged"),
    (lambda: Line("ab", [0, 1]), "Line.x", "'ab'"),
    (lambda: Points([0, 1], [0, 1], labels=("a",)), "Points.labels", "1 words for 2"),
    (lambda: Rule(np.nan), "Rule.value", "nan"),
    (lambda: Rule("a"), "Rule.value", "'a'"),
    (lambda: Rule([1.0]), "Rule.value", "(1,)"),
    (lambda: Text(np.inf, 0, "a"), "Text.x", "inf"),
    (lambda: Text(0, None, "a"), "Text.y", "None"),
    (lambda: Text(0, 0, "a", anchor="left"), "Text.anchor", "'left'"),
    (lambda: Axis(low=1, high=1), "Axis.low", "1.0"),
    (lambda: Axis(low=2, high=1), "Axis.low", "2.0"),
    (lambda: Axis(low=np.nan), "Axis.low", "nan"),
    (lambda: Axis(high=np.inf), "Axis.high", "inf"),
    (lambda: Axis(low="0"), "Axis.low", "'0'"),
    (lambda: Axis(low=0, log=True), "Axis.low", "0.0"),
    (lambda: Axis(high=-1, log=True), "Axis.high", "-1.0"),
    (lambda: Axis(ticks=[0, 1]), "Axis.ticks", "[0, 1]"),
    (lambda: Axis(ticks=[("a", 0)]), "Axis.ticks", "'a'"),
    (lambda: Panel("t", [3]), "Panel.marks", "int"),
    (lambda: Panel("t", [ONE]), "Panel.marks", "Panel"),
    (lambda: Panel("t", [], width=10), "Panel.width", "10"),
    (lambda: Panel("t", [], height=np.nan), "Panel.height", "nan"),
    (lambda: Picture([]), "Picture.panels", "empty"),
    (lambda: Picture("panel"), "Picture.panels", "str"),
    (lambda: Picture([ONE, Line([0], [1])]), "Picture.panels", "Line"),
    (lambda: Picture(ONE, columns=0), "Picture.columns", "0"),
    (lambda: Picture(ONE, columns=1.5), "Picture.columns", "1.5"),
    (lambda: figures.bars("ab", [1.0], "t"), "names", "2 entries"),
    (lambda: figures.bars("ab", "cd", "t"), "heights", "'cd'"),
    (lambda: figures.curves("t", [0, 1], {}), "ys", "empty"),
    (lambda: figures.curves("t", [0, 1], {"a": [1]}), "Line.y", "1 entries"),
    (lambda: figures.curves("t", [0, 1], {"a": [1, 2]}, low=-1, log=True), "Axis.low", "-1.0"),
    (lambda: figures.describe("picture"), "picture", "str"),
    (lambda: figures.describe(ONE), "picture", "Panel"),
    (lambda: bundle(None), "picture", "NoneType"),
    (lambda: figures.show(), "show", "0 things"),
    (lambda: figures.show(sample(), sample()), "show", "2 things"),
    (lambda: figures.show(3), "picture", "int"),
    (lambda: figures.show(sample(), title="lost"), "title", "Picture"),
    (lambda: figures.numbers("a", "1.5"), "values", "'1.5'"),
    (lambda: figures.numbers("a", [None]), "values", "None"),
    (lambda: layout.scene(Picture(Panel("t", [Line([0, 1], [1, 2])], y=Axis(low=9)))), "Axis y", "9.0"),
]


@pytest.mark.parametrize("make, name, got", BAD, ids=lambda value: None if callable(value) else str(value))
def test_bad_input_is_refused(make, name, got):
    with pytest.raises(ValueError) as caught:
        make()
    message = str(caught.value)
    assert message.startswith(name) and got in message and message.endswith("."), message


def test_pyplot_itself_is_no_figure():
    import matplotlib.pyplot

    with pytest.raises(ValueError, match="picture is a module"):
        figures.describe(matplotlib.pyplot)


def test_one_mark_and_one_panel_may_stand_alone():
    panel = Panel("t", Line([0, 1], [0, 1]))
    assert isinstance(panel.marks, tuple) and Picture(panel).panels == (panel,)


def test_a_format_may_ask_for_a_sign():
    panel = Panel("t", Bars([0, 1], [0.5, -1e-9], values="+.2f"))
    assert {"+0.50", "+0.00"} <= {
        p.text for p in layout.scene(Picture(panel)).primitives if isinstance(p, layout.Label)
    }
