"""Tables of words: the same cells for the browser and as plain text."""

from html.parser import HTMLParser

import pytest
from refusals import check

from pglab import algorithms, figures

COLUMNS = ["name", "weight"]
ROWS = [("grpo", "(r - mean) / (std + 1e-4)"), ("a <b> & c", 2)]


@pytest.fixture
def shown(monkeypatch):
    """What was displayed: a list of bundles."""
    bundles = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: bundles.append(data) if raw else None)
    return bundles


class Cells(HTMLParser):
    """The words of a table, row by row, and the scope of each header."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.scopes, self.open = [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")
            self.scopes.append(dict(attributes).get("scope"))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.rows[-1][-1] += data


def test_both_forms_hold_the_same_words(shown):
    assert figures.sheet(COLUMNS, ROWS) is None
    (bundle,) = shown
    assert bundle.keys() == {"text/html", "text/plain"}
    found = Cells(bundle["text/html"])
    assert found.rows == [COLUMNS, ["grpo", ROWS[0][1]], ["a <b> & c", "2"]]
    assert found.scopes == ["col", "col", "row", None, "row", None]
    assert "<b>" not in bundle["text/html"]
    assert bundle["text/plain"].split("\n") == [
        "name       weight",
        "---------  -------------------------",
        "grpo       (r - mean) / (std + 1e-4)",
        "a <b> & c  2",
    ]


def test_the_columns_of_the_text_stand_below_one_another(shown):
    figures.sheet(algorithms.Row._fields, algorithms.table())
    lines = shown[0]["text/plain"].split("\n")
    rows = Cells(shown[0]["text/html"]).rows
    assert len(lines) == len(rows) + 1 == len(algorithms.ALGORITHMS) + 2
    starts = [i for i in range(len(lines[1])) if lines[1][i] == "-" and (i == 0 or lines[1][i - 1] == " ")]
    for line, row in zip([lines[0], *lines[2:]], rows, strict=True):
        ends = [*starts[1:], None]
        assert [line[a:b].rstrip() for a, b in zip(starts, ends, strict=True)] == row
        assert line == line.rstrip()


def test_a_cell_is_one_line(shown):
    figures.sheet(["a"], [["two\nlines  and\tmore"]])
    assert shown[0]["text/plain"] == "a\n------------------\ntwo lines and more"
    figures.sheet(["long header", "b"], [["x", "y"]])
    assert shown[1]["text/plain"] == "long header  b\n-----------  -\nx            y"


@pytest.mark.parametrize(
    "columns, rows, message",
    [
        ([], [], "columns is empty; there must be at least one."),
        (COLUMNS, [], "rows is empty; there must be at least one."),
        (COLUMNS, [("a", "b"), ("a",)], "rows[1] has 1 cells; it must have 2, one a column."),
        (COLUMNS, [("a", 0.5)], "rows[0][1] is 0.5; it must be words or a whole number."),
        (COLUMNS, [("a", None)], "rows[0][1] is None; it must be words or a whole number."),
        (COLUMNS, [("a", True)], "rows[0][1] is True; it must be words or a whole number."),
        (COLUMNS, ["ab"], "rows[0] is 'ab'; it must be a list of words."),
        (COLUMNS, [3], "rows[0] is 3; it must be a list of words."),
        ([1.5, "b"], [("a", "b")], "columns[0] is 1.5; it must be words or a whole number."),
        ("ab", [("a", "b")], "columns must be a list of words, and rows a list of rows."),
        (COLUMNS, {"a": "b"}, "columns must be a list of words, and rows a list of rows."),
    ],
)
def test_what_is_no_table_of_words_is_refused(shown, columns, rows, message):
    check(lambda: figures.sheet(columns, rows), message)
    assert shown == []
