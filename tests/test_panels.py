"""Ready-made panels and the table: what stands in them is what was handed in."""

import numpy as np
import pytest

from pglab import figures
from pglab.figures import COLOURS, NAMES

pytestmark = pytest.mark.filterwarnings("error")


def test_a_distribution_puts_equal_values_together_and_its_rule_at_the_mean():
    panel = figures.distribution("t", [0.3, 1.0, 0.1 + 0.2, 5.0], [0.2, 0.5, 0.3, 0.0], "return", "mean")
    bars, rule = panel.marks
    assert bars.x.tolist() == [0.3, 1.0] and bars.heights == pytest.approx([0.5, 0.5])
    assert bars.width == pytest.approx(0.49) and panel.x.label == "return"
    assert rule.value == pytest.approx(0.65) and rule.vertical and rule.label == "mean"
    assert len(figures.distribution("t", [2.0], [1.0]).marks) == 1


def test_trails_name_each_curve_where_it_ends():
    x, y = np.array([1.0, 0.5, 0.2]), np.array([0.0, 2.0, 1.0])
    panel = figures.trails("t", {"too high": (x, y), "clip": (y, x)}, "a", "b", (0, 2, -1, 3))
    (line, end), (_, other) = panel.marks[:2], panel.marks[2:]
    assert (end.x[0], end.y[0], end.labels) == (0.2, 1.0, ("too high",)) and other.labels == (NAMES["clip"],)
    assert line.colour == end.colour == COLOURS["too high"] and line.label == ""
    assert (panel.x.low, panel.x.high, panel.y.low, panel.y.high) == (0, 2, -1, 3)
    assert (panel.x.label, panel.y.label) == ("a", "b")


def test_a_strip_has_a_sorted_column_of_dots_for_each_name():
    panel = figures.strip("t", {"gspo": [0.9, 0.1, 0.5], "other": [0.3]}, 0, 1, 500, y_label="share")
    first, second = panel.marks
    assert first.y.tolist() == [0.1, 0.5, 0.9] and first.x == pytest.approx([-0.3, 0, 0.3])
    assert (second.x.tolist(), second.y.tolist()) == ([1.0], [0.3])
    assert first.colour == COLOURS["gspo"] and [word for _, word in panel.x.ticks] == [NAMES["gspo"], "other"]
    assert (panel.y.label, panel.y.low, panel.y.high, panel.width) == ("share", 0, 1, 500)
    for groups, words in (({}, "groups is empty"), ({"a": [[1.0]]}, "shape"), ({"a": "b"}, "group 'a'")):
        with pytest.raises(ValueError, match=words):
            figures.strip("t", groups)


def test_runs_have_one_colour_and_one_word_for_each_name():
    panel = figures.runs("t", {"dead": [[1, 2, 3], [3, 2, 1]], "other": [[0, 0, 0]]}, "updates", -1, 4)
    assert [line.label for line in panel.marks] == ["dead", "", "other"]
    assert [line.colour == COLOURS["dead"] for line in panel.marks] == [True, True, False]
    assert panel.marks[1].y.tolist() == [3, 2, 1] and panel.marks[1].x.tolist() == [0, 1, 2]
    assert (panel.x.label, panel.y.low, panel.y.high) == ("updates", -1, 4)
    placed = figures.runs("t", {"dead": [[1, 2, 3], [3, 2, 1]]}, x=[0, 10, 30], y_label="share")
    assert (panel.y.label, placed.y.label) == ("", "share")
    assert [line.x.tolist() for line in placed.marks] == [[0, 10, 30]] * 2


def test_answers_stand_in_rows_below_their_questions_in_the_colour_of_their_verdict():
    rows = {"before": [("2170", False), ("33", None)], "after": [("2270", True), ("33", 1.0)]}
    panel = figures.answers("t", ["437+285=", "1+2="], rows, 500)
    place = {(mark.x, mark.y): (mark.text, mark.colour) for mark in panel.marks}
    assert place[0, 3] == ("437+285=", COLOURS["before"]) and place[1, 3][0] == "1+2="
    assert place[0, 2] == ("2170", COLOURS["down"]) and place[1, 2] == ("33", COLOURS["before"])
    assert place[0, 1] == ("2270", COLOURS["up"]) and place[1, 1] == ("33", COLOURS["up"])
    assert [place[-0.7, y][0] for y in (2, 1)] == ["before", "after"] and len(place) == 8


def test_a_run_is_watched_column_by_column():
    rows = [{"samples": 256, "right": 0.25, "length": 5.0}, {"samples": 512, "right": 0.5, "length": 4.0}]
    shown = figures.watch([rows, rows[:1]], ("right", "length"), 1000)
    assert [panel.title for panel in shown.panels] == ["right answers", "tokens of an answer"]
    (first, second), (length, _) = (panel.marks for panel in shown.panels)
    assert first.x.tolist() == [256, 512] and first.y.tolist() == [0.25, 0.5] and second.y.tolist() == [0.25]
    assert length.y.tolist() == [5, 4] and first.colour == COLOURS["seed 0"] != second.colour
    assert (shown.panels[0].x.high, shown.panels[0].y.high, shown.panels[1].y.high) == (1000, 1, 6)


def test_a_table_has_its_header_on_its_own_line(capsys):
    figures.table(
        "V", ("good", "a long name"), {"t = 1": [0.12345, -0.00001], "later": np.array([1, 2])}, digits=3
    )
    header, first, second, empty = capsys.readouterr().out.splitlines()
    assert empty == ""
    assert header == "V         good  a long name"
    assert first == "t = 1    0.123        0.000"
    assert second == "later    1.000        2.000"


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: figures.distribution("t", [1, 2], [1.0]), "probability must hold 2 numbers"),
        (lambda: figures.distribution("t", [1, 2], [0.5, 0.6]), "sum to 1"),
        (lambda: figures.distribution("t", [1, 2], [-0.5, 1.5]), "none negative"),
        (lambda: figures.trails("t", {}), "paths is empty"),
        (lambda: figures.trails("t", {"a": ([1, 2], [1])}), "equally many"),
        (lambda: figures.runs("t", {}), "groups is empty"),
        (lambda: figures.runs("t", {"a": [[1, 2]]}, x=[1]), "equally many"),
        (lambda: figures.runs("t", {"a": [1, 2]}), r"group 'a' has shape \(2,\)"),
        (lambda: figures.watch([]), "empty"),
        (lambda: figures.watch([[]]), "non-empty vector"),
        (lambda: figures.watch([[{"samples": 1}]], ("rewrd",)), "column is 'rewrd'"),
        (lambda: figures.answers("t", ["a"], {}), "rows is empty"),
        (lambda: figures.answers("t", ["a"], {"r": []}), "row 'r' has 0 answers for 1 columns"),
        (lambda: figures.table("t", ("a",), {}), "rows is empty"),
        (lambda: figures.table("t", ("a",), {"r": [1, 2]}), "row 'r' has 2 numbers for 1 columns"),
        (lambda: figures.table("t", ("a",), {"r": ["x"]}), "row 'r'"),
    ],
)
def test_bad_input_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()
