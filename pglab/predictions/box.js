// Asks for a guess and covers the rest of the cell's output until there is one, and the text that follows
// (box.css does that). What is shown comes from Python beforehand: the kernel may still be busy with the answer.

const UNCOVERED = "pglab-uncovered"; // an event of the whole page: the reader wants to see every answer
const PATIENCE = 3000; // milliseconds that a guess may take to the kernel before the reader is told
const page = document.documentElement.dataset; // what all boxes know; each has a copy of this file

function make(tag, settings = {}, ...children) {
  const node = Object.assign(document.createElement(tag), settings);
  node.append(...children);
  return node;
}

// The output area's part that holds the box; what the cell shows further on are its later siblings.
const part = (el) => el.closest(".jp-OutputArea-child");
const cover = (el, covered) => part(el)?.classList.toggle("pglab-covering", covered);

// A button that keeps its keys from JupyterLab, where letters are commands; Shift+Enter, "run this cell", presses none.
function button(textContent, onclick, className = "") {
  const node = make("button", { type: "button", textContent, onclick, className });
  node.dataset.lmSuppressShortcuts = "true";
  node.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.shiftKey || event.ctrlKey || event.altKey)) event.preventDefault();
  });
  return node;
}

function form(model, commit, look) {
  const row = make("div", { className: "pglab-guess-row" });
  const choices = model.get("choices");
  choices.forEach((choice) => row.append(button(choice, () => commit(choice))));
  if (!choices.length) {
    const input = make("input", { type: "text", placeholder: "your guess, in a few words", maxLength: 200 });
    input.dataset.lmSuppressShortcuts = "true"; // letters typed here are the reader's, not JupyterLab's
    input.setAttribute("aria-label", `Your guess: ${model.get("question")}`);
    const send = () => (input.value.trim() ? commit(input.value.trim()) : input.focus());
    input.addEventListener("keydown", (event) => event.key === "Enter" && send());
    row.append(input, button("Commit", send));
  }
  row.append(button("Show", () => look(false), "pglab-quiet"), button("Show all", () => look(true), "pglab-quiet"));
  return row;
}

function outcome(model) {
  const [guess, right] = [model.get("guess"), model.get("right")];
  const line = (head, text) => make("tr", {}, make("th", { textContent: head, scope: "row" }), make("td", { textContent: text }));
  const table = make("table");
  if (guess) table.append(line("You guessed", right && guess === right ? `${guess} \u2713` : guess));
  if (right) table.append(line("It turned out", right));
  table.append(line(right ? "Because" : "It turned out", model.get("answer")));
  return table;
}

function render({ model, el }) {
  const box = make("div", { className: "pglab-guess" });
  box.dataset.lmSuppressShortcuts = "true"; // keys pressed in the box are the box's, not JupyterLab's
  box.dataset.name = model.get("name");
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", `Prediction ${model.get("name")}`);
  const question = make("div", { className: "pglab-guess-question", textContent: model.get("question") });
  const below = make("div");
  below.setAttribute("aria-live", "polite");
  box.append(question, below);
  el.append(box);

  const uncover = () => {
    below.replaceChildren(outcome(model));
    cover(el, false);
  };
  const waiting = make("div", { textContent: "Not noted yet: the kernel is busy, or was restarted. Then run this cell again." });
  const onNoted = () => waiting.remove();
  model.on("change:noted", onNoted);
  const commit = (guess) => {
    model.set("guess", guess);
    model.save_changes();
    uncover();
    below.tabIndex = -1; // the button that had the focus is gone
    below.focus({ preventScroll: true });
    setTimeout(() => model.get("noted") || below.append(waiting), PATIENCE);
  };
  const look = (all) => {
    if (!all) return uncover();
    page.pglabUncovered = "yes"; // for boxes that are still to come
    document.dispatchEvent(new Event(UNCOVERED));
  };
  document.addEventListener(UNCOVERED, uncover);
  if (model.get("guess") || page.pglabUncovered) uncover();
  else {
    below.append(form(model, commit, look));
    requestAnimationFrame(() => below.querySelector("button") && cover(el, true)); // once it has its place in the page
  }
  return () => {
    document.removeEventListener(UNCOVERED, uncover);
    model.off("change:noted", onNoted);
  };
}

export default { render };
