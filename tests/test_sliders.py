"""The explorer: controls in, one picture out, and the frames it sends ahead."""

import base64
import html
import io
import json

import numpy as np
import pytest
from PIL import Image

from pglab.figures import Picture, bars, describe, layout, svg
from pglab.figures.show import bundle
from pglab.sliders import Explorer, Slider


def two(x, y):
    return Picture(bars(["x", "y"], [x, y], "Two numbers", low=-5, high=5), caption=f"x = {x:z.2f}")


class Spy:
    """An explorer of two sliders that notes each picture computed and each message sent."""

    def __init__(self):
        self.computed, self.sent = [], []
        controls = [Slider("x", "x", 0.0, -1, 1), Slider("y", "y", 0.5, 0, 2, 0.5)]
        self.explorer = Explorer(controls, self._picture)
        self.drawing = self.explorer._drawing
        self.drawing.send = lambda content, buffers=None: self.sent.append(content)
        self.computed.clear()

    def _picture(self, x, y):
        self.computed.append((x, y))
        return two(x, y)

    def move(self, **values):
        """What one move computes for now, and the keys of the frames it sends ahead."""
        self.computed.clear()
        self.sent.clear()
        self.explorer.move(**values)
        return self.computed[0], [
            frame["key"] for message in self.sent for frame in json.loads(message["frames"])
        ]


# ---- The explorer


def test_the_rounding_error_of_a_browser_reaches_no_picture():
    spy = Spy()
    spy.explorer._widgets["y"].value = 1.5000000000000002
    assert spy.computed[0] == (0.0, 1.5)


def test_a_narrow_window_gets_its_panels_below_one_another():
    def picture(x):
        return Picture([bars(["x"], [x], f"Panel {i}", low=-5, high=5) for i in range(3)], columns=3)

    live = Explorer([Slider("x", "x", 1.0, -1, 2)], picture)
    sent = []
    live._drawing.send = lambda content, buffers=None: sent.append(content)

    def shown(width):
        live._on_message(None, {"width": width}, None)
        frame = json.loads(live._drawing.frame)
        return frame["columns"], frame["width"]

    full = layout.scene(picture(1.0)).width
    assert shown(2000) == (None, full) and sent == []
    assert shown(round(0.75 * full)) == (None, full) and sent == []
    columns, width = shown(round(0.75 * full) - 1)
    assert columns == 2 and width < full and 0.75 * width <= 0.75 * full - 1
    assert {f["columns"] for f in json.loads(sent[0]["frames"])} == {2}
    live.move(x=0.5)
    assert (
        json.loads(live._drawing.frame)["columns"] == 2 and live.picture.columns == 3
    )  # the stored one stays
    assert shown(10)[0] == 1 and shown(2000) == (None, full)


def test_an_error_in_a_picture_is_shown_to_the_reader_and_goes_away():
    def picture(x):
        return Picture(bars(["x"], [1 / x], "1 / x"))

    live = Explorer([Slider("x", "x", 1.0, -1, 1)], picture)
    live._widgets["x"].value = 0.0  # as a reader moves it: nothing is raised
    assert "No picture for this setting" in live._note.value and "ZeroDivisionError" in live._note.value
    assert live.picture.panels[0].marks[0].heights == [1.0]
    live._widgets["x"].value = 0.1  # a neighbour that fails is left out when frames are sent ahead
    assert live._note.value == "" and live.picture.panels[0].marks[0].heights == [10.0]
    live._widgets["x"].value = 0.5
    assert live._note.value == "" and live.picture.panels[0].marks[0].heights == [2.0]
    with pytest.raises(ZeroDivisionError):
        live.move(x=0.0)


def test_bad_explorers_are_refused():
    slider = Slider("x", "x", 0.0, -1.0, 1.0)
    for controls, picture, words in [
        ([], two, "controls is empty"),
        ([slider, slider], two, "two of one name"),
        (["x"], two, "controls holds a str"),
        ([slider], lambda x: "a picture", "picture returned a str"),
        ([slider], lambda x: None, "picture returned a NoneType"),
    ]:
        with pytest.raises(ValueError, match=words):
            Explorer(controls, picture)


def test_three_faces_of_one_picture():
    spy = Spy()
    for move in ({}, {"x": 0.7, "y": 2.0}):
        spy.explorer.move(**move)
        data, metadata = spy.explorer._repr_mimebundle_()
        picture = two(**spy.explorer.values)
        assert data.keys() == {"application/vnd.jupyter.widget-view+json", "image/png", "text/plain"}
        assert data["text/plain"] == describe(picture) == spy.explorer.text
        stored, about = bundle(picture)
        assert (data["image/png"], metadata["image/png"]) == (stored["image/png"], about["image/png"])
        assert Image.open(io.BytesIO(base64.b64decode(data["image/png"]))).format == "PNG"
        assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == spy.explorer.model_id
        frame, scene = json.loads(spy.drawing.frame), layout.scene(picture)
        assert frame["elements"] == json.loads(json.dumps(svg.elements(scene)))
        assert (frame["width"], frame["height"], frame["words"]) == (
            scene.width,
            scene.height,
            describe(picture),
        )


def test_a_move_sets_the_sliders_and_computes_one_picture():
    spy = Spy()
    assert spy.explorer.values == {"x": 0.0, "y": 0.5}
    assert spy.move(x=-0.5, y=2.0) == ((-0.5, 2.0), [])
    assert spy.computed == [(-0.5, 2.0)]
    assert spy.explorer.values == {"x": -0.5, "y": 2.0}
    assert json.loads(spy.drawing.frame)["key"] == "-0.500000 2.000000"
    assert "x = -0.50" in spy.explorer.text


def test_a_hand_on_the_slider_does_the_same():
    spy = Spy()
    spy.explorer._widgets["y"].value = 2.0
    assert spy.computed[0] == (0.0, 2.0) and len(spy.computed) == 1
    assert json.loads(spy.drawing.frame)["key"] == "0.000000 2.000000"


@pytest.mark.parametrize("call", [lambda e: e.reset(), lambda e: reset_button(e).click()])
def test_reset_brings_back_the_start(call):
    spy = Spy()
    spy.move(x=0.9, y=2.0)
    spy.computed.clear()
    call(spy.explorer)
    assert spy.computed == [(0.0, 0.5)] and spy.explorer.values == {"x": 0.0, "y": 0.5}
    assert json.loads(spy.drawing.frame)["key"] == "0.000000 0.500000"


def walk(widget):
    yield widget
    for child in getattr(widget, "children", ()):
        yield from walk(child)


def reset_button(explorer):
    (button,) = [w for w in walk(explorer) if getattr(w, "description", "") == "Reset"]
    return button


@pytest.mark.parametrize(
    "values, words",
    [
        ({"z": 1.0}, r"no control is called \['z'\]; the names are \['x', 'y'\]"),
        ({"x": 0.5, "z": 1.0}, "no control"),
        ({"y": 0.7, "x": 1.5}, "x is 1.5"),
        ({"y": 1.0, "x": np.nan}, "x is nan"),
        ({"y": 1.0, "x": "0.5"}, "x is '0.5'"),
        ({"y": 1.0, "x": None}, "x is None"),
    ],
)
def test_a_bad_move_is_refused_and_moves_nothing(values, words):
    spy = Spy()
    with pytest.raises(ValueError, match=words):
        spy.explorer.move(**values)
    assert spy.explorer.values == {"x": 0.0, "y": 0.5} and not spy.computed
    spy.explorer._widgets["x"].value = 0.3  # and it still listens
    assert spy.computed


def test_sliders_of_a_group_stand_together():
    controls = [
        Slider("a", "a", 0, -1, 1, group="left"),
        Slider("b", "b", 0, -1, 1),
        Slider("c", "c", 0, -1, 1, group="left"),
    ]
    live = Explorer(controls, lambda a, b, c: two(a, b))
    groups = [[getattr(w, "description", "") for w in box.children] for box in live.children[0].children]
    assert groups == [["", "a", "c"], ["b", "Reset"]]
    assert live.children[0].children[0].children[0].value == "<b>left</b>"
    assert live._drawing.controls == [live._widgets[name].model_id for name in "abc"]


def test_show_puts_the_words_below(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda what, **options: shown.append(what))
    spy = Spy()
    spy.explorer.show()
    assert shown[0] is spy.explorer
    assert html.escape(spy.explorer.text) in shown[1]["text/html"]


# ---- Frames ahead of time


def test_after_one_step_the_next_stops_are_sent():
    spy = Spy()
    now, keys = spy.move(x=0.1)
    assert now == (0.1, 0.5)
    assert keys == [f"{x:.6f} 0.500000" for x in (0.2, 0.3, 0.4, 0.5)]  # the one back is known already
    assert spy.computed[1:] == [(0.2, 0.5), (0.3, 0.5), (0.4, 0.5), (0.5, 0.5)]
    assert spy.move(x=0.2) == ((0.2, 0.5), ["0.600000 0.500000"])  # only the one that is new
    assert spy.move(x=0.1) == ((0.1, 0.5), ["-0.100000 0.500000", "-0.200000 0.500000", "-0.300000 0.500000"])


def test_after_a_jump_nothing_is_sent():
    spy = Spy()
    assert spy.move(x=0.5)[1] == [] and len(spy.computed) == 1
    assert spy.move(x=0.6, y=1.0)[1] == []  # two sliders at once
    assert spy.move(x=0.65)[1] == []  # half a step
    assert spy.move()[1] == []


def test_nothing_is_sent_beyond_the_ends():
    spy = Spy()
    spy.move(x=0.8)
    assert spy.move(x=0.9)[1] == ["1.000000 0.500000"]
    spy.move(x=-0.9)
    assert spy.move(x=-1.0)[1] == []


def test_a_new_browser_gets_the_nearest_stops_of_every_slider():
    spy = Spy()
    nearest = ["-0.100000 0.500000", "0.100000 0.500000", "0.000000 0.000000", "0.000000 1.000000"]
    for _ in range(2):  # a second browser has nothing of what the first was sent
        spy.sent.clear()
        spy.explorer._on_message(spy.drawing, {"ready": True}, [])
        (message,) = spy.sent
        assert [frame["key"] for frame in json.loads(message["frames"])] == nearest
    spy.sent.clear()
    spy.explorer._on_message(spy.drawing, {"something": "else"}, [])
    assert not spy.sent


def test_a_frame_sent_ahead_is_the_frame_of_its_stop():
    spy = Spy()
    spy.move(x=0.1)
    for frame in json.loads(spy.sent[0]["frames"]):
        x, y = map(float, frame["key"].split())
        spy.move(x=x, y=y)
        assert json.loads(spy.drawing.frame) == frame
