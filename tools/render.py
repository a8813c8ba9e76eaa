"""Run every notebook from top to bottom and store it in the one form that is committed.

    make render                        all notebooks
    make render ARGS=notebooks/01*     some of them

Executed in a fresh kernel, execution counts 1..n, cell ids and claims kept; no widget state, no
timing, no trace of the machine. Rendering twice gives the same bytes. A notebook that raises is
left as it was.
"""

import os
import sys
import time
from pathlib import Path

import nbformat
from classroom.marks import mark
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from pglab import _files

ROOT = Path(__file__).resolve().parents[1]
WIDGET = "application/vnd.jupyter.widget-view+json"
KEPT_CELL_METADATA = ("claims", "jupyter", "slideshow", "tags")
METADATA = {
    "kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"},
    "language_info": {"name": "python"},
}
SECONDS_PER_CELL = 300


def rendered(path, folder=None):
    """The notebook at ``path``, executed in ``folder`` (its own, if None) and put in stored form."""
    notebook = read(path)
    notebook.cells = [cell for cell in notebook.cells if cell.source.strip()]
    execute(notebook, folder or Path(path).parent)
    normalise(notebook)
    nbformat.validate(notebook)
    return notebook


def read(path):
    """The notebook at ``path``; a ValueError in words where nbformat finds none."""
    try:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        return notebook
    except Exception as error:  # nbformat meets what it does not expect with whatever Python raises
        why = _files.why(error).partition("\n")[0]
        raise ValueError(
            f"{Path(path).name} cannot be read as a notebook ({why}). If it is one of the course's, "
            "`git checkout notebooks` brings it back."
        ) from error


def execute(notebook, folder):
    """Run all cells in a fresh kernel; the learner's progress stays out."""
    os.environ["PGLAB_PROGRESS"] = "off"
    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(
        notebook, kernel_name="python3", timeout=SECONDS_PER_CELL, resources=resources,
        record_timing=False, coalesce_streams=True, store_widget_state=False,
        extra_arguments=["--log-level=ERROR"],
    )  # fmt: skip
    client.execute()


def normalise(notebook):
    """Drop whatever belongs to this run or this machine."""
    notebook.metadata = nbformat.from_dict(METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for cell in notebook.cells:
        kept = {name: cell.metadata[name] for name in KEPT_CELL_METADATA if name in cell.metadata}
        kept["slideshow"] = {"slide_type": mark(cell)}
        cell.metadata = nbformat.from_dict(kept)
        for output in cell.get("outputs", []):
            # The picture or the words stay; the id of a widget that no longer lives would only say "not found".
            if len(output.get("data", {})) > 1:
                output.data.pop(WIDGET, None)


def write(notebook, path):
    """Replace the file in one step, so that an interrupt or a full disk leaves the old one whole."""
    _files.write_whole({Path(path): (nbformat.writes(notebook) + "\n").encode()})


def notebooks():
    return sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))


def main(arguments):
    paths = [Path(argument) for argument in arguments] or notebooks()
    failed = False
    for path in paths:
        start = time.monotonic()
        print(f"{path.name} ...", end=" ", flush=True)
        try:
            write(rendered(path), path)
        except CellExecutionError as error:
            failed = True
            print(f"FAILED, file left as it was\n{error}")
        except (OSError, ValueError, RuntimeError) as error:  # the last one: a kernel that has died
            failed = True  # the next one may fare better
            print(f"FAILED: {_files.why(error)}")
        else:
            print(f"{time.monotonic() - start:.1f} s")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
