"""Each explorer alone: the same picture as in its notebook, no code, moved by keys in a real browser."""

import contextlib
import io
import re
import subprocess

import lab
import nbformat
import pytest
from classroom import app
from classroom.explorers import explorers
from classroom.lesson import lessons
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from pglab import sliders

FOUND = [found for lesson in lessons() for found in explorers(lesson)]
each_explorer = pytest.mark.parametrize("found", FOUND, ids=lambda found: found.file.removesuffix(".ipynb"))


def test_every_explorer_of_the_notebooks_is_found():
    prose = "\n".join(
        cell.source for lesson in lessons() for cell in lesson.notebook().cells if cell.cell_type == "code"
    )
    known = {name for name in sliders.__all__ if name.islower()}
    assert {found.name for found in FOUND} == known == set(re.findall(r"sliders\.([a-z_]+)\(", prose))
    assert {found.lesson.number for found in FOUND} == {lesson.number for lesson in lessons()}
    assert len({found.title for found in FOUND}) == len(FOUND)


@each_explorer
def test_alone_it_shows_what_its_notebook_shows(found, monkeypatch):
    shown = []
    monkeypatch.setattr(sliders.Explorer, "show", lambda self: shown.append(self.text))
    with contextlib.redirect_stdout(io.StringIO()) as said:
        exec(found.program, {"__name__": "stage"})
    assert shown == [found.words]
    assert said.getvalue() == ""


def test_what_is_built(tmp_path):
    app.build(tmp_path)
    assert sorted(path.name for path in tmp_path.glob("*.ipynb")) == sorted(found.file for found in FOUND)
    for path in tmp_path.glob("*.ipynb"):
        notebook = nbformat.read(path, 4)
        nbformat.validate(notebook)
        assert "$" not in re.sub(r"`[^`]*`", "", notebook.cells[2].source)
        assert "<details>" not in notebook.cells[2].source


def test_building_alone_starts_nothing(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(app, "OUT", app.ROOT / "build" / "app")
    monkeypatch.setattr(subprocess, "call", lambda *_, **__: pytest.fail("a server was started"))
    assert app.main(["--build"]) == 0
    assert f"{len(FOUND)} explorers" in capsys.readouterr().out


# --- In the browser ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def voila(tmp_path_factory):
    """A server on its own port, and its address."""
    folder = tmp_path_factory.mktemp("app")
    app.build(folder)
    with lab.free_port() as port, open(folder / "log", "w") as log:
        line, environment = app.command(folder, "--no-browser", f"--port={port}")
        server = subprocess.Popen(line, env=environment, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}/"
    lab.wait(server, address, folder / "log")
    yield address
    server.terminate()
    server.wait(30)


@contextlib.contextmanager
def opened(browser, address, path=""):
    page = browser.new_page(viewport={"width": 1600, "height": 900})
    page.fetched, page.problems = [], []
    own = (address, address.replace("http:", "ws:"), "data:", "blob:")
    page.on("request", lambda r: r.url.startswith(own) or page.fetched.append(r.url))
    page.on("console", lambda m: m.type == "error" and page.problems.append(m.text))
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.goto(address + path)
    yield page
    assert (page.fetched, page.problems) == ([], [])
    page.close()


@pytest.mark.browser
def test_the_contents_have_a_link_to_each_explorer_under_its_lesson(voila, chromium):
    with opened(chromium, voila) as page:
        links = page.get_by_role("link")
        assert links.all_inner_texts() == [found.title for found in FOUND]
        targets = links.evaluate_all("all => all.map(link => link.href)")
        assert targets == [f"{voila}voila/render/{found.file}" for found in FOUND]
        assert page.get_by_role("heading", level=2).count() == len(lessons())


@pytest.mark.browser
@each_explorer
def test_an_explorer_fills_the_projector_and_moves_by_keys(voila, chromium, found):
    with opened(chromium, voila, f"voila/render/{found.file}") as page:
        drawing = page.locator("svg.pglab-drawing")
        drawing.locator("rect, path").first.wait_for(timeout=90_000)
        box = drawing.bounding_box()
        assert box["width"] > 400 and box["x"] >= 0 and box["x"] + box["width"] <= 1600
        assert page.locator(".jp-InputArea-editor").count() == 0  # no code
        assert page.locator(".widget-label").first.evaluate(LETTERS) >= 17
        assert box["y"] + box["height"] <= 900 or found.name in LONG
        _check_controls(page)


def _check_controls(page):
    """Each has a name of its own, says its words, moves by keys and changes the picture; Reset leads back."""
    drawing = page.locator("svg.pglab-drawing")
    first = drawing.get_attribute("data-key")
    handles = page.locator(".noUi-handle")
    page.wait_for_function(
        "() => document.querySelector('.noUi-handle').hasAttribute('aria-label')", timeout=20_000
    )
    names = handles.evaluate_all("all => all.map(handle => handle.getAttribute('aria-label'))")
    assert all(names) and len(set(names)) == len(names)
    for handle in handles.all():
        before = drawing.evaluate("svg => svg.innerHTML")
        _move(page, handle)
        page.wait_for_timeout(100)
        assert drawing.evaluate("svg => svg.innerHTML") != before, handle.get_attribute("aria-label")
        line = page.locator(".widget-inline-hbox").filter(has=page.locator(".noUi-handle:focus"))
        assert handle.get_attribute("aria-valuetext") == line.locator(".widget-readout").inner_text().strip()
    page.get_by_role("button", name="Reset").press("Enter")
    page.wait_for_function(f"key => !({MOVED})(key)", arg=first, timeout=20_000)


# The height of letters on the screen: the page is enlarged to the projector.
LETTERS = "e => parseFloat(getComputedStyle(e).fontSize) * parseFloat(document.documentElement.style.zoom)"
LONG = ()  # explorers that need more than a screen of 1600 by 900
MOVED = "key => document.querySelector('svg.pglab-drawing').dataset.key !== key"


def _move(page, handle):
    """One stop to the right; a slider that stands at its right end goes to the left."""
    key = page.locator("svg.pglab-drawing").get_attribute("data-key")
    handle.press("ArrowRight")
    try:
        page.wait_for_function(MOVED, arg=key, timeout=5_000)
    except PlaywrightTimeout:
        handle.press("ArrowLeft")
        page.wait_for_function(MOVED, arg=key, timeout=20_000)
