"""Pictures in words, and bad input in one sentence."""

import numpy as np
import pytest
from figures_by_hand import matplotlib_figure, sample
from matplotlib.figure import Figure

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
    layout,
    text,
)
from pglab.figures.show import bundle

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
