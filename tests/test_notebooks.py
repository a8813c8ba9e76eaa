"""The stored notebooks: their form, their claims, and that a planted fault would be noticed."""

import base64
import io
import json
import re
import subprocess
import sys

import nbformat
import pytest
from conftest import ROOT
from nbconvert import HTMLExporter, MarkdownExporter
from notebook_policy import asserted_claims, problems
from PIL import Image
from test_rendering import pictures as pictures_of

NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
CLAIMS = json.loads((ROOT / "tests" / "claims.json").read_text())
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
EXACT = ROOT / "notebooks" / "01_the_exact_bandit.ipynb"


@each_notebook
def test_the_stored_form_is_the_one_we_want(path):
    assert problems(path, CLAIMS) == []


def test_every_claim_has_a_cell_that_asserts_it():
    asserted = set().union(*(asserted_claims(path) for path in NOTEBOOKS))
    assert asserted == set(CLAIMS)


def test_the_glossary_links_to_every_notebook_that_exists():
    text = "\n".join(cell.source for cell in nbformat.read(NOTEBOOKS[0], 4).cells)
    rows = re.findall(r"^\| [^|]+ \| [^|]+ \| (.+?) \|$", text, re.M)
    existing = {path.name[:2]: path.name for path in NOTEBOOKS[1:]}
    unlinked = [row for row in rows if row in existing]
    wrong = [
        row for row in rows if (m := re.match(r"\[(\d\d)\]\((.*)\)", row)) and existing.get(m[1]) != m[2]
    ]
    assert len(rows) > 60 and unlinked == [] and wrong == []


def test_the_glossary_has_each_term_once_and_in_order():
    text = "\n".join(cell.source for cell in nbformat.read(NOTEBOOKS[0], 4).cells)
    heading, _, after = text.partition("## Glossary\n\n")[2].partition("|---|---|---|\n")
    terms = [
        row.split(" | ")[0][2:].lower() for row in after.partition("\n\n")[0].splitlines() if row[0] == "|"
    ]
    assert heading == "| term | in a few words | shown in |\n" and len(terms) > 60
    assert terms == sorted(set(terms))


# --- What the policy would notice --------------------------------------------------------------


def _png_cell(notebook):
    return next(
        c for c in notebook.cells if any("image/png" in o.get("data", {}) for o in c.get("outputs", []))
    )


def _strip(notebook):
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None


def _empty_outputs(notebook):
    _png_cell(notebook).outputs = []


def _drop_png(notebook):
    del _png_cell(notebook).outputs[0].data["image/png"]


def _blank_png(notebook):
    buffer = io.BytesIO()
    Image.new("RGB", (300, 200), "white").save(buffer, "png")
    _png_cell(notebook).outputs[0].data["image/png"] = base64.b64encode(buffer.getvalue()).decode()


def _broken_png(notebook):
    _png_cell(notebook).outputs[0].data["image/png"] = "AAAA"


def _widget_state(notebook):
    notebook.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {}}}


def _widget_id(notebook):
    _png_cell(notebook).outputs[0].data["application/vnd.jupyter.widget-view+json"] = {"model_id": "1"}


def _count(notebook):
    _png_cell(notebook).execution_count += 1


def _stderr(notebook):
    _png_cell(notebook).outputs.append(nbformat.v4.new_output("stream", name="stderr", text="a warning"))


def _path(notebook):
    _png_cell(notebook).outputs.append(
        nbformat.v4.new_output("stream", text="/".join(["", "home", "me", "x.py"]))
    )


def _address(notebook):
    _png_cell(notebook).outputs.append(nbformat.v4.new_output("stream", text="<object at 0x7f12ab34cd56>"))


def _marker(notebook):
    _png_cell(notebook).source = "# NBVAL_IGNORE_OUTPUT\n" + _png_cell(notebook).source


def _semicolon(notebook):
    _png_cell(notebook).source += ";"


def _kernel(notebook):
    notebook.metadata.kernelspec.name = "conda-env-mine"


def _hollow_claim(notebook):
    cell = next(c for c in notebook.cells if c.metadata.get("claims"))
    cell.source = cell.source.replace("assert ", "bool ")


def _uncomputed_number(notebook):
    notebook.cells[3].source += "\n\nThe result is 0.98765."


def _word(notebook):
    notebook.cells[3].source += "\n\nThis is obviously true."


FAULTS = [
    _strip, _empty_outputs, _drop_png, _blank_png, _broken_png, _widget_state, _widget_id, _count, _stderr, _path,
    _address, _marker, _semicolon, _kernel, _hollow_claim, _uncomputed_number, _word,
]  # fmt: skip


@pytest.mark.parametrize("plant", FAULTS, ids=lambda plant: plant.__name__.strip("_"))
def test_the_policy_notices(plant, tmp_path):
    notebook = nbformat.read(EXACT, 4)
    plant(notebook)
    path = tmp_path / EXACT.name
    nbformat.write(notebook, path)
    assert problems(path, CLAIMS) != []


# --- What strict nbval would notice ------------------------------------------------------------


def _run_nbval(path):
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--nbval",
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        "/dev/null",
        path,
    ]
    return subprocess.run(command, capture_output=True, text=True, cwd=path.parent, timeout=300)


def _small(tmp_path, change=None):
    """A copy of the first cells of notebook 01, with a fault planted or not."""
    notebook = nbformat.read(EXACT, 4)
    last = next(i for i, c in enumerate(notebook.cells) if "S1" in c.metadata.get("claims", []))
    notebook.cells = notebook.cells[: last + 1]
    if change:
        change(notebook)
    path = tmp_path / "copy.ipynb"
    nbformat.write(notebook, path)
    return path


def _wrong_number(notebook):
    stream = notebook.cells[-1].outputs[0]
    assert "0.143022" in stream.text
    stream.text = stream.text.replace("0.143022", "0.143023", 1)


def _wrong_code(notebook):
    cell = next(c for c in notebook.cells if "nudged = " in c.source)
    cell.source = cell.source.replace("np.outer(p, p)", "np.outer(p, p) / 2")


def _wrong_picture_words(notebook):
    output = _png_cell(notebook).outputs[0]
    output.data["text/plain"] = output.data["text/plain"].replace("0.2362", "0.2363")


@pytest.mark.slow
def test_nbval_passes_the_copy_without_a_fault(tmp_path):
    result = _run_nbval(_small(tmp_path))
    assert result.returncode == 0, result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("plant", [_wrong_number, _wrong_code, _wrong_picture_words])
def test_nbval_fails_a_planted_fault(plant, tmp_path):
    result = _run_nbval(_small(tmp_path, plant))
    assert result.returncode == 1 and "failed" in result.stdout, result.stdout


# --- Rendering ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_notebook_that_raises_is_left_as_it_was(tmp_path):
    path = tmp_path / "09_broken.ipynb"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")])
    nbformat.write(notebook, path)
    before = path.read_bytes()
    result = subprocess.run(
        [sys.executable, ROOT / "tools" / "render.py", path], capture_output=True, text=True, timeout=120
    )
    assert result.returncode == 1 and "ZeroDivisionError" in result.stdout
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.slow
@pytest.mark.parametrize("exporter", [HTMLExporter, MarkdownExporter], ids=["html", "markdown"])
@each_notebook
def test_without_a_kernel_every_picture_and_its_words_are_there(path, exporter):
    """As GitHub shows it: converted, nothing run."""
    page, resources = exporter().from_filename(path)
    notebook = nbformat.read(path, 4)
    pictures = len(list(pictures_of(notebook)))
    assert pictures > 0
    embedded = re.findall(r"<img[^>]+src=\"data:image/png;base64", page)
    found = len(embedded) or len([name for name in resources["outputs"] if name.endswith(".png")])
    assert found == pictures
    folded = re.findall("<details><summary>(The numbers in|This picture in words)", page)
    assert len(folded) == pictures
    letters = re.sub(r"&\w+;|&#\d+;|\W", "", re.sub(r"data:image[^\"]*", "", page).replace("&#x27;", ""))
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            for line in data.get("text/plain", "").splitlines() if "image/png" in data else ():
                assert re.sub(r"\W", "", line) in letters, line
