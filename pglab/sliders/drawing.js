// The one front end of every explorer. It puts elements on the screen that Python has already
// measured to the pixel; no arithmetic on the picture lives here.
//
// A frame is {key, columns, width, height, narrowest, words, elements: [[tag, attributes, text], ...]}. Its key names
// the stop of every control, so a frame may come ahead of time and waits until its key is chosen. Its columns
// say for how many panels side by side it was laid out: when the window changes, older frames are dropped.

const SVG = "http://www.w3.org/2000/svg";
const KEPT_FRAMES = 400;

function makeCanvas() {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("role", "img");
  svg.setAttribute("class", "pglab-drawing");
  return svg;
}

function setChanged(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    const text = String(value);
    if (node.getAttribute(name) !== text) node.setAttribute(name, text);
  }
}

// Reuse the node at this place where the tag is the same; otherwise put a new one there.
function nodeAt(svg, index, tag) {
  const old = svg.children[index];
  if (old && old.tagName === tag) return old;
  const fresh = document.createElementNS(SVG, tag);
  if (old) svg.replaceChild(fresh, old);
  else svg.appendChild(fresh);
  return fresh;
}

function draw(svg, frame) {
  setChanged(svg, {
    viewBox: `0 0 ${frame.width} ${frame.height}`,
    "aria-label": frame.words,
    "data-key": frame.key,
  });
  svg.style.width = "100%";
  svg.style.maxWidth = `${frame.width}px`;
  svg.style.minWidth = `${frame.narrowest}px`;
  frame.elements.forEach(([tag, attributes, text], index) => {
    const node = nodeAt(svg, index, tag);
    setChanged(node, attributes);
    if (node.textContent !== text) node.textContent = text;
  });
  while (svg.children.length > frame.elements.length) svg.lastChild.remove();
}

// The same words for the same stops as explorer.py writes: six decimals, no minus zero.
const asWord = (value) => (typeof value === "number" ? (Number(value.toFixed(6)) || 0).toFixed(6) : String(value));

// Tell of a new width once it has settled; a hidden element has none.
function watchWidth(el, tell) {
  if (typeof ResizeObserver === "undefined") return () => {};
  let known = el.clientWidth;
  let timer;
  const observer = new ResizeObserver(() => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (!el.clientWidth || el.clientWidth === known) return;
      known = el.clientWidth;
      tell(known);
    }, 150);
  });
  observer.observe(el);
  return () => {
    clearTimeout(timer);
    observer.disconnect();
  };
}

// A screen reader hears a slider's group and name and the words beside it: "the run: algorithm, GRPO", not "1 of 3".
function speak(line) {
  const [handle, label, readout] = [".noUi-handle", ".widget-label", ".widget-readout"].map((css) => line.querySelector(css));
  if (!handle || !readout) return () => {};
  const group = line.parentElement.querySelector(".widget-html b")?.textContent;
  handle.dataset.lmSuppressShortcuts = "true"; // a letter pressed on a slider is no command of JupyterLab's
  handle.setAttribute("aria-label", group ? `${group}: ${label.textContent}` : label.textContent);
  const say = () => setChanged(handle, { "aria-valuetext": readout.textContent.trim() });
  const observer = new MutationObserver(say); // the slider writes a number of its own at each move
  observer.observe(handle, { attributeFilter: ["aria-valuetext"] });
  observer.observe(readout, { childList: true, characterData: true, subtree: true });
  say();
  return () => observer.disconnect();
}

// The sliders of this explorer come into the page a little before or after its picture.
function speakAll(el, tries = 100) {
  let silence = [];
  const attempt = () => {
    const lines = el.closest(".widget-vbox")?.querySelectorAll(".pglab-controls .widget-inline-hbox:has(.noUi-handle)") ?? [];
    if (lines.length) silence = [...lines].map(speak);
    else if (tries-- > 0) timer = setTimeout(attempt, 50);
  };
  let timer = setTimeout(attempt, 0);
  return () => {
    clearTimeout(timer);
    silence.forEach((stop) => stop());
  };
}

async function render({ model, el }) {
  const svg = makeCanvas();
  el.classList.add("pglab-scroll");
  el.appendChild(svg);
  const frames = new Map();
  let columns;
  const keep = (frame) => {
    if (frame.columns !== columns) return;
    frames.set(frame.key, frame);
    if (frames.size > KEPT_FRAMES) frames.delete(frames.keys().next().value);
  };
  const controls = await Promise.all(model.get("controls").map((id) => model.widget_manager.get_model(id)));
  // A choice has the place of its word in "index", a slider its number in "value".
  const stop = (control) => control.get("index") ?? control.get("value");
  const events = ["change:value", "change:index"];
  const chosen = () => controls.map((control) => asWord(stop(control))).join(" ");

  const drawIfKnown = () => {
    const frame = frames.get(chosen());
    if (frame) draw(svg, frame);
  };
  const receive = () => {
    const frame = JSON.parse(model.get("frame"));
    if (frame.columns !== columns) frames.clear();
    columns = frame.columns;
    keep(frame);
    // A frame for stops the reader has already left is kept, not shown.
    if (frame.key === chosen() || !svg.children.length) draw(svg, frame);
  };
  const receiveAhead = (message) => JSON.parse(message.frames).forEach(keep);

  model.on("change:frame", receive);
  model.on("msg:custom", receiveAhead);
  controls.forEach((control) => events.forEach((event) => control.on(event, drawIfKnown)));
  receive();
  model.send({ ready: true, width: el.clientWidth });
  const stopWatching = watchWidth(el, (width) => model.send({ width }));
  const stopSpeaking = speakAll(el);
  return () => {
    stopWatching();
    stopSpeaking();
    model.off("change:frame", receive);
    model.off("msg:custom", receiveAhead);
    controls.forEach((control) => events.forEach((event) => control.off(event, drawIfKnown)));
  };
}

export default { render };
