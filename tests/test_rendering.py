"""Restart and Run All, over and over and in any order: the same bytes, the same words, and room on a small machine."""

import base64
import configparser
import contextlib
import io
import os
import random
import re

import nbformat
import numpy as np
import pytest
import render
from conftest import ROOT
from PIL import Image

pytestmark = pytest.mark.slow

NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
# Each notebook twice, in two orders that are nobody's; nbval runs it a third time, in the order of the course.
RUNS = [
    (time, path)
    for time in ("first", "second")
    for path in random.Random(f"the {time} time").sample(NOTEBOOKS, len(NOTEBOOKS))
]
MOST = 1.5e9  # bytes of a kernel at its largest
PEAK = """
from pathlib import Path
status = Path("/proc/self/status")
print(*[line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM")] if status.exists() else [0])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where each run leaves its notebook, for the other one; several workers of pytest share it."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    (base / "rendered").mkdir(exist_ok=True)
    return base / "rendered"


def run(path, monkeypatch):
    """(the notebook as `make render` would store it, the most bytes that its kernel held; 0 where nobody can say)."""
    seen, execute = [], render.execute

    def and_weigh(notebook, place):
        notebook.cells.append(nbformat.v4.new_code_cell(PEAK))
        execute(notebook, place)
        seen.append(1024 * int(notebook.cells.pop().outputs[0].text))

    monkeypatch.setattr(render, "execute", and_weigh)
    return render.rendered(path), *seen


@pytest.mark.parametrize("time, path", RUNS, ids=[f"{time}-{path.stem}" for time, path in RUNS])
def test_run_all_gives_what_is_stored(time, path, folder, monkeypatch):
    fresh, peak = run(path, monkeypatch)
    stored = nbformat.read(path, 4)
    assert peak < MOST
    for number, (old, new) in enumerate(zip(stored.cells, fresh.cells, strict=True)):
        assert words(old) == words(new), f"cell {number}"
    same_pictures(stored, fresh)
    render.write(fresh, folder / f"{path.stem}.{time}.ipynb")
    both = [each.read_bytes() for each in sorted(folder.glob(f"{path.stem}.*.ipynb"))]
    assert both == both[:1] * len(both)  # whichever comes second compares


def words(cell):
    """Every text of a cell's outputs, as nbval compares it."""
    settings = configparser.RawConfigParser()
    settings.read(ROOT / "tests" / "nbval_sanitize.cfg", encoding="utf-8")
    rules = [settings[name] for name in settings.sections()]
    found = []
    for output in cell.get("outputs", []):
        texts = {kind: text for kind, text in output.get("data", {}).items() if kind.startswith("text/")}
        for kind, text in (texts | {"stream": output.get("text", "")}).items():
            for rule in rules:
                text = re.sub(rule["regex"], rule["replace"], text)
            found.append((kind, text))
    return found


def pictures(notebook):
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                yield Image.open(io.BytesIO(base64.b64decode(output.data["image/png"]))).convert("RGB")


def same_pictures(stored, fresh):
    """nbval never looks at the pixels."""
    for old, new in zip(pictures(stored), pictures(fresh), strict=True):
        assert old.size == new.size
        assert np.abs(np.asarray(old, float) - np.asarray(new, float)).mean() < 1.0


def test_each_notebook_comes_twice_and_in_two_orders():
    first, second = ([path for time, path in RUNS if time == which] for which in ("first", "second"))
    assert sorted(first) == sorted(second) == NOTEBOOKS and first != second != NOTEBOOKS != first


def planted(tmp_path, source, text):
    """A notebook of one cell with this stored output."""
    output = nbformat.v4.new_output("stream", text=text)
    cell = nbformat.v4.new_code_cell(source, outputs=[output], execution_count=1)
    path = tmp_path / "99_planted.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[cell], metadata=render.METADATA), path)
    return path


BIG = "big = bytearray(400_000_000)\nfor i in range(0, len(big), 4096): big[i] = 1\ndel big\nprint(1)"


@pytest.mark.parametrize("source, most, noticed", [
    ("print(1)", 300e6, False),
    ("print(2)", 300e6, True),  # another result
    (BIG, 300e6, True),  # too large for a while
])  # fmt: skip
def test_a_planted_fault_is_noticed(tmp_path, monkeypatch, source, most, noticed):
    monkeypatch.setattr("test_rendering.MOST", most)
    path = planted(tmp_path, source, "1\n")
    with pytest.raises(AssertionError) if noticed else contextlib.nullcontext():
        test_run_all_gives_what_is_stored("first", path, tmp_path, monkeypatch)


def test_a_notebook_that_remembers_its_last_run_is_noticed(tmp_path, monkeypatch):
    source = "from pathlib import Path\nhere = Path('ran')\nprint(here.exists())\nhere.touch()"
    path = planted(tmp_path, source, "False\n")
    test_run_all_gives_what_is_stored("first", path, tmp_path, monkeypatch)
    with pytest.raises(AssertionError):
        test_run_all_gives_what_is_stored("second", path, tmp_path, monkeypatch)
