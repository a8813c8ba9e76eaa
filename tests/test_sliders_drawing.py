"""The front end of the explorers, in node with a small stand-in for the browser."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from pglab.sliders import explorer

SCRIPT = Path(explorer.__file__).with_name("drawing.js")
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
  closest() { return { querySelectorAll: () => [{ querySelector: () => null }] }; } // a line without a slider
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
