"""A real JupyterLab in a real Chromium: run each notebook, move its sliders, look at the picture.

Without a browser these tests are skipped, unless PGLAB_REQUIRE_BROWSER is set, as CI does.
"""

import base64
import io

import lab
import nbformat
import numpy as np
import pytest
from classroom import student
from classroom.lesson import exercise_of
from conftest import ROOT
from PIL import Image
from render import METADATA

NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
LIVE = 'svg.pglab-drawing[data-key=""]'  # drawn anew while its cell runs; no slider moves it
DRAWING = 'svg.pglab-drawing:not([data-key=""])'
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """On the instructor's copy: each solution stands in its cell, and what JupyterLab saves is not ours."""
    _, folder = student.build(out=tmp_path_factory.mktemp("lab"))
    with lab.serving(folder) as running:
        yield running


def _run(page):
    """Run all cells, and show what they computed, as the button "Show all" of a prediction does."""
    page.evaluate(lab.UNCOVER)
    return page.evaluate(lab.RUN_ALL)


def _seen(page):
    """(stop of the sliders, everything that is drawn as text), read at one moment."""
    return tuple(page.locator(DRAWING).first.evaluate("svg => [svg.dataset.key, svg.innerHTML]"))


def _settled(page):
    """What is seen once nothing has changed for a third of a second: a drag's last picture may be late."""
    before = None
    while (now := _seen(page)) != before:
        before = now
        page.wait_for_timeout(350)
    return now


def _check_change(page, before):
    """Wait for another stop of the sliders; the picture must be another one too."""
    changed = "([css, key]) => document.querySelector(css).dataset.key !== key"
    page.wait_for_function(changed, arg=[DRAWING, before[0]], timeout=20_000)
    same = _settled(page)[1] == before[1]
    assert not same, "the sliders moved and the picture stayed as it was"


# What the cells of exercises printed, whether they are in view or not.
CHECKED = """() => window.jupyterapp.shell.currentWidget.content.widgets
  .filter(cell => (cell.model.getMetadata("tags") ?? []).some(tag => tag.startsWith("exercise-")))
  .map(cell => cell.model.outputs.toJSON().map(output => [output.text ?? ""].flat().join("")).join(""))"""


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_with_its_solutions_and_its_slider_moves(server, chromium, path):
    code = [c for c in nbformat.read(path, 4).cells if c.cell_type == "code"]
    exercises = [name for cell in code if (name := exercise_of(cell))]
    with server.open(chromium, path.name) as page:
        assert _run(page) == list(range(1, len(code) + 1))
        assert page.locator(lab.ERROR_OUTPUTS).count() == 0
        said = page.evaluate(CHECKED)
        assert len(exercises) >= 3
        assert said == [f"Exercise {name}: right. Well done.\n" for name in exercises]
        handle = page.locator(".jp-OutputArea .noUi-handle").first
        handle.scroll_into_view_if_needed()
        page.locator(f"{DRAWING} rect").first.wait_for(timeout=20_000)
        start = _settled(page)
        _move_by_mouse(page, handle)
        _move_by_keys(page, handle)
        if _seen(page)[0] == start[0]:  # the keys may have led back to where the mouse began
            _move_by_keys(page, handle, ["ArrowRight"])
        _reset(page)
        assert _seen(page)[0] == start[0]
        assert page.problems == []


def _move_by_mouse(page, handle):
    before = _settled(page)
    handle.hover()  # waits until the page has stopped moving
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.down()
    page.mouse.move(x + 25, y, steps=5)
    page.mouse.up()
    _check_change(page, before)


def _move_by_keys(page, handle, keys=("ArrowLeft", "ArrowRight", "ArrowLeft")):
    """There and back: a slider may start at its end, and the mouse may have moved it by one stop."""
    for key in keys:
        before = _settled(page)
        handle.press(key)
        _check_change(page, before)


def test_a_choice_moves_by_keys_and_changes_the_picture(server, chromium):
    """The weights of the variance lab, one after the other: another mean, another ellipse."""
    with server.open(chromium, "03_baselines.ipynb") as page:
        _run(page)
        page.locator(f"{DRAWING} rect").first.wait_for(timeout=20_000)
        choice = page.locator(".jp-OutputArea .widget-inline-hbox", has_text="weight").first
        handle = choice.locator(".noUi-handle")
        handle.scroll_into_view_if_needed()
        for words in ("optimal b*", "batch mean"):
            before = _settled(page)
            handle.press("ArrowRight")
            _check_change(page, before)
            assert words in choice.inner_text()
        assert "Batch mean, 4 samples: bias" in page.locator(DRAWING).first.get_attribute("aria-label")
        _reset(page)
        assert "value E[R]" in choice.inner_text()
        assert page.problems == []


def _reset(page):
    before = _settled(page)
    page.get_by_role("button", name="Reset").first.click()
    _check_change(page, before)


def test_all_panels_are_in_view_in_a_small_window(server, chromium):
    """The variance lab beside the list of files: its third panel goes below, nothing is cut off."""
    with server.open(chromium, "03_baselines.ipynb", width=1000, height=800) as page:
        _run(page)
        _wait_until_laid_out(page, lambda height: height > 500)
        page.set_viewport_size({"width": 1600, "height": 900})
        _wait_until_laid_out(page, lambda height: height < 500)
        assert page.problems == []


def test_no_slider_is_squeezed(server, chromium):
    """Between a long label and a long word there must be a line for the handle to run on."""
    measure = "all => all.map(line => line.getBoundingClientRect().width)"
    with server.open(chromium, "05_critics.ipynb") as page:
        _run(page)
        lines = page.locator(".pglab-controls .noUi-target")
        for width in (1000, 1200, 1280, 1366, 1500):
            page.set_viewport_size({"width": width, "height": 900})
            lines.first.scroll_into_view_if_needed()
            page.wait_for_timeout(500)
            assert min(lines.evaluate_all(measure)) > 80
        assert page.problems == []


def _wait_until_laid_out(page, is_right):
    """The browser lays out only what is in view, and text above may have moved it: scroll there, look, repeat."""
    drawing = page.locator(DRAWING).first
    look = """svg => [svg.viewBox.baseVal.height,
        svg.getBoundingClientRect().right <= svg.parentElement.getBoundingClientRect().right + 1]"""
    for _ in range(40):
        drawing.scroll_into_view_if_needed()
        page.wait_for_timeout(500)
        height, inside = drawing.evaluate(look)
        if is_right(height) and inside:
            return
    pytest.fail(f"after 20 seconds the picture is {height} high, and inside its cell: {inside}")


def test_the_picture_in_the_browser_is_the_stored_one(server, chromium):
    """SVG against matplotlib: the same picture to within the smoothing of edges and letters."""
    path = ROOT / "notebooks" / "01_the_exact_bandit.ipynb"
    cell = next(c for c in nbformat.read(path, 4).cells if "explorer.show()" in c.source)
    stored = Image.open(io.BytesIO(base64.b64decode(cell.outputs[0].data["image/png"]))).convert("RGB")
    with server.open(chromium, path.name) as page:
        _run(page)
        drawing = page.locator(DRAWING).first
        drawing.scroll_into_view_if_needed()
        drawing.locator("rect").first.wait_for(timeout=20_000)
        live = Image.open(io.BytesIO(drawing.screenshot())).convert("RGB")
    size = (live.width // 4, live.height // 4)  # average over letters, keep bars and places
    a, b = (np.asarray(image.resize(size, Image.Resampling.BOX), float) for image in (stored, live))
    assert np.abs(a - b).mean() < 6
    assert np.mean(np.abs(a - b).max(axis=2) > 60) < 0.02
    shifted = np.roll(b, 8, axis=1)  # the comparison is not blind: a shifted picture fails it
    assert np.mean(np.abs(a - shifted).max(axis=2) > 60) > 0.04


def test_a_fresh_clone_shows_the_picture_before_anything_is_run(server, chromium):
    with server.open(chromium, "01_the_exact_bandit.ipynb", height=6000) as page:
        image = page.locator(".jp-CodeCell", has_text="explorer.show()").locator("img")
        image.wait_for(timeout=30_000)
        assert image.evaluate("i => i.complete && i.naturalWidth") > 600
        assert page.problems == []


WATCHED = """
import time
from pglab import figures, sliders
live = sliders.Live(lambda n: figures.Picture([figures.curves("reward", range(n), {"grpo": [1] * n}, high=2)]))
for n in range(2, 42):
    live(n)
    time.sleep(0.1)
live.finish(42)
"""


def test_a_live_picture_changes_while_its_cell_runs(chromium, tmp_path):
    """Not only at the end: what is drawn is read a few times before the cell has finished."""
    cells = [nbformat.v4.new_code_cell(WATCHED.strip())]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=METADATA), tmp_path / "live.ipynb")
    with lab.serving(tmp_path) as running, running.open(chromium, "live.ipynb") as page:
        page.evaluate(f"() => {{ window.running = ({lab.RUN_ALL})(); }}")  # not waited for
        page.locator(f"{LIVE} path").first.wait_for(state="attached", timeout=30_000)
        seen = []
        for _ in range(6):
            busy = page.locator(".jp-InputPrompt", has_text="[*]").count()
            seen.append((page.locator(LIVE).first.inner_html(), busy))
            page.wait_for_timeout(400)
        assert len({drawn for drawn, busy in seen if busy}) >= 3
        page.locator(".jp-InputPrompt", has_text="[1]").wait_for(timeout=20_000)
        assert "41" in page.locator(LIVE).first.get_attribute("aria-label")
        assert page.problems == []


ASKED = """
from pglab.predictions import predict, register

register.prediction("98.1", "Up or down?", ("up", "down"), "down", answer="Down it goes.")
register.prediction("98.2", "Why?", answer="Because of the shared sum.")
register.prediction("98.3", "And now?", ("up", "down"), "up", answer="Up again.")
"""


def _asking(tmp_path):
    cells = [
        ASKED,
        'predict("98.1")\nprint("first answer")',
        'predict("98.2")\nprint("second answer")\nraise RuntimeError("seen")',
        'predict("98.3")\nprint("third answer")',
    ]
    cells = [nbformat.v4.new_code_cell(source.strip()) for source in cells]
    cells.insert(2, nbformat.v4.new_markdown_cell("It went down."))
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=METADATA), tmp_path / "asking.ipynb")


def test_a_prediction_covers_its_answer_until_the_reader_commits(chromium, tmp_path):
    """By keys alone: a button with Enter, a line by writing. An error is never covered."""
    _asking(tmp_path)
    with lab.serving(tmp_path) as running, running.open(chromium, "asking.ipynb") as page:
        page.evaluate(lab.RUN_ALL)
        boxes = page.locator(".pglab-guess")
        boxes.nth(1).wait_for(timeout=20_000)
        shown = page.locator('[data-mime-type="application/vnd.jupyter.stdout"] pre')
        first, second = shown.filter(has_text="first answer"), shown.filter(has_text="second answer")
        first.wait_for(state="hidden")
        second.wait_for(state="hidden")
        assert page.locator(lab.ERROR_OUTPUTS).filter(has_text="RuntimeError").is_visible()
        text, cells = (
            page.locator("p", has_text="It went down."),
            "window.jupyterapp.shell.currentWidget.content.widgets.length",
        )
        assert text.is_hidden()  # the text after the cell waits too
        boxes.nth(0).get_by_role("button", name="up", exact=True).focus()
        for key in ("x", "d", "d", "a", "Shift+Enter"):  # commands of JupyterLab, and "run this cell"
            page.keyboard.press(key)
        assert page.evaluate(cells) == 5 and first.is_hidden()
        page.keyboard.press("Enter")
        first.wait_for(state="visible")
        assert text.is_visible()
        assert "You guessed\tup\nIt turned out\tdown\nBecause\tDown it goes." in boxes.nth(0).inner_text()
        boxes.nth(1).get_by_role("textbox").focus()
        page.keyboard.type("b a d sum")  # letters that JupyterLab would take for commands
        assert second.is_hidden()
        page.keyboard.press("Enter")
        second.wait_for(state="visible")
        assert "You guessed\tb a d sum" in boxes.nth(1).inner_text()
        assert page.problems == []


def test_show_all_uncovers_what_is_there_and_what_is_run_later(chromium, tmp_path):
    _asking(tmp_path)
    with lab.serving(tmp_path) as running, running.open(chromium, "asking.ipynb") as page:
        page.evaluate(lab.RUN_ALL)  # ends at the error: the last cell has not run
        boxes = page.locator(".pglab-guess")
        boxes.first.get_by_role("button", name="Show all").click()
        shown = page.locator('[data-mime-type="application/vnd.jupyter.stdout"] pre')
        shown.filter(has_text="second answer").wait_for(state="visible")
        page.get_by_text('predict("98.3")').click()
        page.keyboard.press("Shift+Enter")
        shown.filter(has_text="third answer").wait_for(state="visible", timeout=20_000)
        assert "You guessed" not in boxes.first.inner_text()
        assert page.problems == []
