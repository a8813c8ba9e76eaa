"""Pictures: limits, ticks and labels of an axis."""

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
    Text,
    frame,
    layout,
    palette,
    svg,
)


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
