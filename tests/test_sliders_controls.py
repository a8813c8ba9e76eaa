"""Sliders and choices: what they take, and the widgets they become."""

import json

import numpy as np
import pytest

from pglab.figures import Picture, bars
from pglab.sliders import Choice, Explorer, Slider

# ---- Sliders

GOOD = {"name": "x", "label": "x", "value": 0.0, "low": -1.0, "high": 1.0, "step": 0.1}


@pytest.mark.parametrize(
    "change, name, got",
    [
        ({"name": "two words"}, "Slider.name", "'two words'"),
        ({"name": ""}, "Slider.name", "''"),
        ({"name": None}, "Slider.name", "None"),
        ({"name": "lambda"}, "Slider.name", "'lambda'"),
        ({"value": 2}, "Slider.value", "2.0"),
        ({"value": -1.1}, "Slider.value", "-1.1"),
        ({"value": np.nan}, "Slider.value", "nan"),
        ({"value": "0"}, "Slider.value", "'0'"),
        ({"value": None}, "Slider.value", "None"),
        ({"value": [0.0]}, "Slider.value", "(1,)"),
        ({"low": 1}, "Slider.low", "1.0"),
        ({"low": 2, "value": 2}, "Slider.low", "2.0"),
        ({"low": -np.inf}, "Slider.low", "-inf"),
        ({"high": "wide"}, "Slider.high", "'wide'"),
        ({"step": 0}, "Slider.step", "0.0"),
        ({"step": -0.1}, "Slider.step", "-0.1"),
        ({"step": 1 / 128}, "Slider.step", "0.0078125"),  # the browser would round this half way up
        ({"value": 1 / 3}, "Slider.value", "decimals"),
    ],
)
def test_bad_sliders_are_refused(change, name, got):
    with pytest.raises(ValueError) as caught:
        Slider(**GOOD | change)
    message = str(caught.value)
    assert message.startswith(name) and got in message and message.endswith("."), message


def test_a_slider_becomes_a_widget():
    widget = Slider("x", "the label", 1, 0, 2, 0.25).widget()
    assert (widget.value, widget.min, widget.max, widget.step) == (1.0, 0.0, 2.0, 0.25)
    assert widget.description == "the label" and widget.continuous_update


def test_neighbours_end_with_the_slider():
    slider = Slider("x", "x", 0.0, -0.3, 0.3)
    assert [slider.neighbour(0.0, k) for k in (-4, -3, 0, 3, 4)] == [None, -0.3, 0.0, 0.3, None]
    assert str(slider.neighbour(0.1, -1)) == "0.0" and str(slider.neighbour(-0.1, 1)) == "0.0"
    assert slider.neighbour(0.1 + 0.2, -1) == 0.2  # no rounding error piles up


# ---- Choices


WORDS = {"name": "w", "label": "w", "value": "b", "options": ("a", "b", "c")}


@pytest.mark.parametrize(
    "change, name, got",
    [
        ({"name": "two words"}, "Choice.name", "'two words'"),
        ({"value": "d"}, "Choice.value", "'d'"),
        ({"value": 1}, "Choice.value", "1"),
        ({"options": ("b",)}, "Choice.options", "('b',)"),
        ({"options": ("b", "b")}, "Choice.options", "two or more different"),
        ({"options": "abc"}, "Choice.options", "'abc'"),
        ({"options": ("b", 2)}, "Choice.options", "2"),
        ({"options": ("b", ["c"])}, "Choice.options", "['c']"),
    ],
)
def test_bad_choices_are_refused(change, name, got):
    with pytest.raises(ValueError) as caught:
        Choice(**WORDS | change)
    message = str(caught.value)
    assert message.startswith(name) and got in message and message.endswith("."), message


def test_a_choice_becomes_a_list_and_knows_its_neighbours():
    choice = Choice(**WORDS | {"options": ["a", "b", "c"]})
    widget = choice.widget()
    assert (widget.value, widget.index, widget.options) == ("b", 1, ("a", "b", "c"))
    assert [choice.neighbour("b", k) for k in (-2, -1, 0, 1, 2)] == [None, "a", "b", "c", None]
    assert choice.stops_between("c", "a") == -2 and choice.stop("c") == 2


def test_an_explorer_with_a_choice():
    def picture(x, w):
        return Picture(bars(["x"], [x], w, low=-5, high=5))

    live = Explorer([Slider("x", "x", 0.0, -1, 1), Choice(**WORDS)], picture)
    sent = []
    live._drawing.send = lambda content, buffers=None: sent.append(content)
    assert json.loads(live._drawing.frame)["key"] == "0.000000 1.000000"
    live.move(w="c")
    assert live.picture.panels[0].title == "c"
    assert json.loads(live._drawing.frame)["key"] == "0.000000 2.000000" and sent == []  # the list ends here
    live.move(w="b")  # one place up: "a" may be next
    assert [f["key"] for f in json.loads(sent[0]["frames"])] == ["0.000000 0.000000"]
    live._on_message(None, {"ready": True}, None)
    keys = [f["key"] for f in json.loads(sent[1]["frames"])]
    assert keys == ["-0.100000 1.000000", "0.100000 1.000000", "0.000000 0.000000", "0.000000 2.000000"]
    with pytest.raises(ValueError, match="w is 'z'; it must be one of 'a', 'b', 'c'"):
        live.move(x=1.0, w="z")
    assert live.values == {"x": 0.0, "w": "b"}
