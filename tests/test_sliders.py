"""The explorer: one exact picture for each move, three faces that agree, and frames that come early."""

import base64
import html
import importlib
import io
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from pglab import bandit, sliders
from pglab.figures import Picture, bars, describe, layout, svg
from pglab.figures.show import bundle
from pglab.sliders import Choice, Explorer, Slider, explorer, one_step

drawing = importlib.import_module(
    "pglab.sliders.one_step"
)  # the file; the package has a function of this name
SCRIPT = Path(explorer.__file__).with_name("drawing.js")


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
    slider = Slider(**GOOD)
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


# ---- The explorers of the notebooks

STOP = st.integers(-30, 30).map(lambda k: round(k / 10, 1))


@given(st.lists(STOP, min_size=4, max_size=4), st.lists(STOP, min_size=4, max_size=4), st.integers(0, 100))
def test_one_step_agrees_with_the_bandit(logits, rewards, tenths):
    picture = drawing.picture(np.array(logits), np.array(rewards), tenths / 10)
    gradient_panel, probability_panel = picture.panels
    gradient = bandit.exact_gradient(logits, rewards)
    stepped = np.array(logits) + tenths / 10 * gradient
    before, after = probability_panel.marks
    np.testing.assert_allclose(gradient_panel.marks[0].heights, gradient, atol=1e-12)
    np.testing.assert_allclose(before.heights, bandit.softmax(logits), atol=1e-12)
    np.testing.assert_allclose(after.heights, bandit.softmax(stepped), atol=1e-12)
    limit = gradient_panel.y.high
    assert gradient_panel.y.low == -limit and limit >= np.abs(gradient).max()
    first, second, third = picture.caption.split("\n")
    j, j_after = bandit.expected_reward(logits, rewards), bandit.expected_reward(stepped, rewards)
    assert f"{j:z.4f} before" in first and f"{j_after:z.4f} after" in first
    change = bandit.softmax(stepped) - bandit.softmax(logits)
    more = [i for i in range(4) if change[i] > 1e-12]
    less = [i for i in range(4) if change[i] < -1e-12]
    assert f"More likely: {names(more)}." in second and f"Less likely: {names(less)}." in second
    assert f"more likely: {names([i for i in more if rewards[i] < j - 1e-12])}." in third
    assert f"less likely: {names([i for i in less if rewards[i] > j + 1e-12])}." in third


def names(numbers):
    return ", ".join(drawing.ANSWERS[i] for i in numbers) or "none"


def test_one_step_starts_with_the_running_example():
    live = one_step()
    gradient = live.picture.panels[0].marks[0].heights
    assert [f"{g:.6f}" for g in gradient] == ["0.143022", "-0.051162", "-0.187730", "0.095870"]
    live.move(logit_2=2.5, reward_3=-1.0, step_size=0.0)
    expected = drawing.picture(np.array([0.4, 2.5, 1.1, 0.0]), np.array([1.0, 0.0, -1.0, 1.0]), 0.0)
    assert live.text == describe(expected)


def test_one_step_starts_where_it_is_told():
    live = one_step([0, 0, 1, 2], np.array([3, 2, 1, 0]), step_size=0.5)
    assert list(live.values.values()) == [0, 0, 1, 2, 3, 2, 1, 0, 0.5]
    for logits in ([0, 0, 0], [0, 0, 0, 9]):
        with pytest.raises(ValueError):
            one_step(logits)


def test_one_step_takes_names_for_the_answers():
    live = one_step(answers=("yes", "no", "maybe", "perhaps"))
    assert "More likely: yes, perhaps." in live.text and "no -0.05116" in live.text
    with pytest.raises(ValueError, match="answers has 2 entries; it must have 4 words"):
        one_step(answers=("yes", "no"))


def test_what_notebook_01_says_can_be_found_with_one_step():
    def caption(**moved):
        live = one_step()
        live.move(**moved)
        return live.picture.caption

    lucky, unlucky = 'yet more likely: "5"', 'yet less likely: "four"'
    assert lucky in caption(logit_2=-0.9) and lucky not in caption(logit_2=-0.8)
    assert unlucky in caption(logit_1=1.4) and unlucky not in caption(logit_1=1.3)
    shifted = caption(**{f"reward_{i}": r + 1 for i, r in enumerate((1.0, 0.0, 0.0, 1.0), 1)})
    assert (
        "J = 1.3946 before the step, 1.5329" in shifted and "J = 0.3946 before the step, 0.5329" in caption()
    )


@given(st.lists(STOP, min_size=4, max_size=4), st.lists(STOP, min_size=4, max_size=4), st.floats(0, 10))
def test_an_exact_step_of_any_size_never_lowers_the_expected_reward(logits, rewards, step_size):
    stepped = np.array(logits) + step_size * bandit.exact_gradient(logits, rewards)
    before, after = bandit.expected_reward(logits, rewards), bandit.expected_reward(stepped, rewards)
    assert after >= before - 1e-12


@pytest.mark.parametrize("temperature", [0.1, 0.6, 1.0, 3.0])
def test_temperature_divides_the_logits(temperature):
    live = sliders.temperature()
    live.move(temperature=temperature)
    (panel,) = live.picture.panels
    p = bandit.softmax(np.array([0.4, -0.2, 1.1, 0.0]) / temperature)
    np.testing.assert_allclose(panel.marks[0].heights, p, atol=1e-12)
    assert f"{p.max():.2f}" in live.picture.caption


# ---- The front end, in node with a small stand-in for the browser

node = pytest.mark.skipif(not shutil.which("node"), reason="node is not installed")

BROWSER = """
class Node {
  constructor(tag) {
    Object.assign(this, { tagName: tag, children: [], attributes: {}, style: {}, writes: 0, textContent: "",
      classList: { add: (name) => { this.className = name; } } });
  }
  setAttribute(name, value) { this.attributes[name] = value; this.writes += 1; }
  getAttribute(name) { return name in this.attributes ? this.attributes[name] : null; }
  appendChild(child) { child.parent = this; this.children.push(child); }
  replaceChild(fresh, old) { fresh.parent = this; this.children[this.children.indexOf(old)] = fresh; }
  remove() { this.parent.children.splice(this.parent.children.indexOf(this), 1); }
  get lastChild() { return this.children[this.children.length - 1]; }
}
globalThis.document = { createElementNS: (space, tag) => new Node(tag) };
class Model {
  constructor(values) { this.values = values; this.listeners = {}; this.sent = []; }
  get(name) { return this.values[name]; }
  set(name, value) { this.values[name] = value; this.fire("change:" + name); }
  fire(event, ...what) { (this.listeners[event] || []).slice().forEach((f) => f(...what)); }
  on(event, f) { (this.listeners[event] ||= []).push(f); }
  off(event, f) { this.listeners[event] = this.listeners[event].filter((g) => g !== f); }
  send(message) { this.sent.push(message); }
}
const same = (a, b, what) => {
  const [found, wanted] = [JSON.stringify(a), JSON.stringify(b)];
  if (found !== wanted) throw new Error(`${what}: ${found} is not ${wanted}`);
};
const frame = (key, ...elements) =>
  ({ key, width: 300, height: 200, narrowest: 225, words: "words of " + key, elements });
const rect = (height) => ["rect", { height, fill: "red" }, ""];
const word = (text) => ["text", { x: 1 }, text];

async function start(first, value = 0) {
  const control = new Model({ value });
  const model = new Model({ controls: ["IPY_MODEL"], frame: JSON.stringify(first) });
  model.widget_manager = { get_model: async () => control };
  const el = new Node("div");
  const stop = await front.default.render({ model, el });
  const svg = el.children[0];
  return { control, model, svg, stop, el, key: () => svg.getAttribute("data-key") };
}
"""


def run_in_node(tmp_path, body):
    (tmp_path / "drawing.mjs").write_text(SCRIPT.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "test.mjs").write_text(
        f'import * as front from "./drawing.mjs";\n{BROWSER}\n{body}', encoding="utf-8"
    )
    run = subprocess.run(["node", "test.mjs"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    return run.stdout


@node
def test_the_first_frame_is_drawn_and_python_is_told(tmp_path):
    run_in_node(tmp_path, """
    const { model, svg, key } = await start(frame("0.000000", rect(5), word("hello")));
    same(key(), "0.000000", "key");
    same(svg.getAttribute("viewBox"), "0 0 300 200", "viewBox");
    same(svg.getAttribute("aria-label"), "words of 0.000000", "words");
    same(svg.getAttribute("role"), "img", "role");
    same([svg.style.width, svg.style.minWidth, svg.style.maxWidth], ["100%", "225px", "300px"], "size");
    same(svg.children.map((n) => [n.tagName, n.attributes, n.textContent]),
         [["rect", { height: "5", fill: "red" }, ""], ["text", { x: "1" }, "hello"]], "elements");
    same(model.sent, [{ ready: true }], "message");
    """)  # fmt: skip


@node
def test_nodes_are_kept_and_only_changes_written(tmp_path):
    run_in_node(tmp_path, """
    const { control, model, svg } = await start(frame("0.000000", rect(5), word("hello"), rect(1), rect(2)));
    const [first, second] = svg.children;
    const writes = first.writes;
    control.set("value", 1);
    model.set("frame", JSON.stringify(frame("1.000000", rect(6), rect(7))));
    same(svg.children.length, 2, "children left");
    same(svg.children[0] === first, true, "same node");
    same([first.writes - writes, first.getAttribute("height")], [1, "6"], "one attribute written");
    same(svg.children[1] === second, false, "another tag needs another node");
    same(svg.children[1].tagName, "rect", "tag");
    model.set("frame", JSON.stringify(frame("1.000000", rect(6), rect(7), word("new"))));
    same(svg.children.map((n) => n.tagName), ["rect", "rect", "text"], "children added");
    same(first.writes - writes, 1, "nothing written twice");
    """)  # fmt: skip


@node
def test_a_late_frame_is_kept_and_not_shown(tmp_path):
    run_in_node(tmp_path, """
    const { control, model, key } = await start(frame("0.000000", rect(5)));
    control.set("value", 1);
    same(key(), "0.000000", "nothing known of this stop yet");
    control.set("value", 2);
    model.set("frame", JSON.stringify(frame("1.000000", rect(6))));
    same(key(), "0.000000", "the reader has left this stop");
    model.set("frame", JSON.stringify(frame("2.000000", rect(7))));
    same(key(), "2.000000", "this is where the reader is");
    control.set("value", 1);
    same(key(), "1.000000", "the late frame was kept");
    control.set("value", 0);
    same(key(), "0.000000", "and so was the first");
    """)  # fmt: skip


@node
def test_a_frame_sent_ahead_is_drawn_at_once_when_its_stop_is_chosen(tmp_path):
    run_in_node(tmp_path, """
    const { control, model, svg, key } = await start(frame("0.000000", rect(5)));
    model.fire("msg:custom", { frames: JSON.stringify([frame("0.100000", rect(6)), frame("0.200000", rect(7))]) });
    same(key(), "0.000000", "not before it is chosen");
    control.set("value", 0.1 + 0.1);
    same([key(), svg.children[0].getAttribute("height")], ["0.200000", "7"], "drawn without Python");
    """)  # fmt: skip


@node
def test_a_view_that_is_closed_no_longer_listens(tmp_path):
    run_in_node(tmp_path, """
    const { control, model, stop, key } = await start(frame("0.000000", rect(5)));
    stop();
    model.set("frame", JSON.stringify(frame("1.000000", rect(6))));
    control.set("value", 1);
    same(key(), "0.000000", "key");
    same([...Object.values(model.listeners), ...Object.values(control.listeners)].flat().length, 0, "listeners");
    """)  # fmt: skip


@node
def test_only_so_many_frames_are_kept(tmp_path):
    run_in_node(tmp_path, """
    const { control, model, key } = await start(frame("0.000000", rect(5)));
    const many = Array.from({ length: 400 }, (_, i) => frame(`${i + 1}.000000`, rect(i)));
    model.fire("msg:custom", { frames: JSON.stringify(many) });
    control.set("value", 400);
    same(key(), "400.000000", "the newest is there");
    control.set("value", 0);
    same(key(), "400.000000", "the oldest has made room");
    control.set("value", 1);
    same(key(), "1.000000", "the second oldest is there");
    """)  # fmt: skip


@node
def test_python_and_the_browser_write_the_same_keys(tmp_path):
    steps = [0.1, 0.05, 0.25, 0.01, 0.001, 1e-6, 1.0, 0.7]
    values = [k * step for step in steps for k in (-37, -3, -1, 0, 1, 2, 3, 6, 7, 41)] + [
        -0.0,
        -1e-9,
        1e-7,
        0.1 + 0.2,
        12345.6,
    ]
    body = f"""
    const keys = [];
    for (const value of {json.dumps(values)}) {{
      const key = [];
      const control = new Model({{ value }});
      const model = new Model({{ controls: ["a"], frame: JSON.stringify(frame("")) }});
      model.widget_manager = {{ get_model: async () => control }};
      // Which key does it look for? Only the frame of that key is drawn.
      const el = new Node("div");
      await front.default.render({{ model, el }});
      const words = {json.dumps([explorer._key([value]) for value in values])};
      model.fire("msg:custom", {{ frames: JSON.stringify([...new Set(words)].map((word) => frame(word))) }});
      control.fire("change:value");
      keys.push(el.children[0].getAttribute("data-key"));
    }}
    console.log(JSON.stringify(keys));
    """
    assert json.loads(run_in_node(tmp_path, body)) == [explorer._key([value]) for value in values]


@node
def test_frames_laid_out_for_another_width_are_dropped(tmp_path):
    run_in_node(tmp_path, """
    const wide = (key, ...e) => ({ ...frame(key, ...e), columns: null });
    const narrow = (key, ...e) => ({ ...frame(key, ...e), columns: 1 });
    const { control, model, svg, key } = await start(wide("0.000000", rect(5)));
    model.fire("msg:custom", { frames: JSON.stringify([wide("1.000000", rect(6))]) });
    model.set("frame", JSON.stringify(narrow("0.000000", rect(7))));
    same(svg.children[0].getAttribute("height"), "7", "laid out anew");
    control.set("value", 1);
    same(key(), "0.000000", "the old neighbour is gone");
    model.fire("msg:custom", { frames: JSON.stringify([wide("1.000000", rect(6)), narrow("1.000000", rect(8))]) });
    control.fire("change:value");
    same([key(), svg.children[0].getAttribute("height")], ["1.000000", "8"], "the new one is drawn");
    """)  # fmt: skip


@node
def test_a_new_width_is_told_once_it_has_settled(tmp_path):
    run_in_node(tmp_path, """
    let changed;
    globalThis.ResizeObserver = class {
      constructor(f) { changed = f; }
      observe() {}
      disconnect() { changed = () => {}; }
    };
    const later = () => new Promise((done) => setTimeout(done, 200));
    const { model, stop, el } = await start(frame("0.000000", rect(5)));
    el.clientWidth = 800; changed(); el.clientWidth = 600; changed();
    await later();
    same(model.sent, [{ ready: true }, { width: 600 }], "one message");
    changed(); await later();
    el.clientWidth = 0; changed(); await later();
    same(model.sent.length, 2, "nothing new, or hidden");
    stop();
    el.clientWidth = 500; changed(); await later();
    same(model.sent.length, 2, "a closed view is silent");
    """)  # fmt: skip


@node
def test_a_choice_is_known_by_the_place_of_its_word(tmp_path):
    run_in_node(tmp_path, """
    const { control, model, key } = await start(frame("0.000000", rect(5)), undefined);
    control.values.index = 0;
    model.fire("msg:custom", { frames: JSON.stringify([frame("2.000000", rect(6))]) });
    same(key(), "0.000000", "not before it is chosen");
    control.set("index", 2);
    same(key(), "2.000000", "drawn without Python");
    """)  # fmt: skip


@pytest.mark.parametrize(
    "values, key",
    [
        ([0.1 + 0.2, -0.0], "0.300000 0.000000"),
        ([-1e-9], "0.000000"),
        ([-0.1, 2.0], "-0.100000 2.000000"),
        ([10], "10.000000"),
    ],
)
def test_keys_have_six_decimals_and_no_minus_zero(values, key):
    assert explorer._key(values) == key
