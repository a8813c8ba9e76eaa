"""Runs a notebook's code cells without Jupyter, as they are or with one line of ``pglab`` changed.

A process that has numpy, torch and matplotlib, but nothing of ``pglab``, forks a child for every run: the
child plants the fault while ``pglab`` is imported, runs the cells, and says where they stopped.
"""

import importlib.abc
import importlib.machinery
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
HEAVY = (
    "numpy", "torch", "matplotlib.figure", "matplotlib.backends.backend_agg", "anywidget", "ipywidgets",
    "IPython.display", "safetensors.torch", "tqdm.auto",
)  # fmt: skip


class Fault(NamedTuple):
    """One line of one module, changed; the claim whose cell must fail; the mistake in a few words."""

    module: str
    old: str
    new: str
    claim: str
    words: str


class Outcome(NamedTuple):
    """Where a run stopped: the claims of the cell that raised, and its error (None: none raised).

    ``cell`` is the cell's place in the notebook; None if none raised, or if ``pglab`` could not be imported.
    """

    cell: int | None
    claims: list
    error: str | None
    planted: bool


def changed(fault, root=ROOT):
    """The source of the fault's module with the fault in it.

    Raises:
      ValueError: the old text is longer than a line, or does not stand exactly once in the file.
    """
    source = _file(fault.module, root).read_text(encoding="utf-8")
    times = source.count(fault.old)
    if "\n" in fault.old + fault.new or times != 1:
        raise ValueError(
            f"{fault.module}: a fault changes text that stands once, within a line; this stands {times} times:\n"
            f"  {fault.old}"
        )
    return source.replace(fault.old, fault.new)


def _file(module, root):
    path = root.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def notebook_cells(path):
    """(place, source, claims) of every code cell, in order."""
    cells = json.loads(Path(path).read_text(encoding="utf-8"))["cells"]
    code = [(i, cell) for i, cell in enumerate(cells) if cell["cell_type"] == "code"]
    return [(i, "".join(cell["source"]), cell["metadata"].get("claims", [])) for i, cell in code]


def _left(cells, without):
    for words in without:
        found = [cell for cell in cells if words in cell[1]]
        if len(found) != 1:
            raise ValueError(f"{words!r} stands in {len(found)} cells; it must be in the one to leave out.")
        cells = [cell for cell in cells if cell is not found[0]]
    return cells


def _cut(cells, until):
    if until is None:
        return cells
    last = [n for n, (_, _, claims) in enumerate(cells) if until in claims]
    if not last:
        raise ValueError(f"no cell has the claim {until!r}.")
    return cells[: last[-1] + 1]


class Cells:
    """The process that forks: use it in a ``with``, and call ``run`` as often as you like."""

    def __enter__(self):
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT / "notebooks",
            env=os.environ | {"PGLAB_PROGRESS": "off", "OMP_NUM_THREADS": "1"},
        )
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait(timeout=60)
        self._process.stdout.close()

    def run(self, path, fault=None, until=None, without=(), seconds=300):
        """Run the cells of a notebook from the top, up to the first that raises.

        Args:
          path: the notebook.
          fault: a ``Fault`` to plant; None leaves the code as it is.
          until: the claim after whose last cell the run ends; None runs all cells.
          without: words, each of which stands in one cell only, and that cell is left out (slow ones,
            which no later cell needs: a run without a fault shows whether that is so).
          seconds: how long the cells may take before that is an error too.

        Returns:
          an ``Outcome``.

        Raises:
          ValueError: a fault whose text does not stand exactly once, a claim that no cell has, words to
            leave out that do not stand in exactly one cell.
          RuntimeError: the child ended without a word.
        """
        cells = _cut(_left(notebook_cells(path), without), until)
        planted = None if fault is None else [fault.module, changed(fault)]
        self._process.stdin.write(json.dumps([cells, planted, seconds]) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer.strip():
            raise RuntimeError(f"{Path(path).name}: the run ended without a word, with {fault}.")
        return Outcome(*json.loads(answer))


# --- What runs in the other process ------------------------------------------------------------


class _Planter(importlib.abc.MetaPathFinder):
    """Finds one module, and compiles the changed source instead of what is in its file."""

    def __init__(self, module, source):
        self.module, self.source, self.planted = module, source, False

    def find_spec(self, name, path=None, target=None):
        if name != self.module:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        spec.loader.get_code = self._code  # the usual loader, which would read its cache
        return spec

    def _code(self, name):
        self.planted = True
        return compile(self.source, str(_file(name, ROOT)), "exec")


def _nothing(*_, **__):
    return None


def _without_pictures():
    """Pictures, explorers and checks of exercises cost time and assert nothing."""
    import IPython.display

    from pglab import exercises, figures, predictions, sliders

    IPython.display.display = _nothing
    figures.show = exercises.check = exercises.progress = predictions.predict = _nothing
    sliders.Explorer.__init__ = sliders.Explorer.show = sliders.Live.finish = _nothing


def _run(cells, planted, seconds):
    """The fields of an ``Outcome``."""
    planter = _Planter(*(planted or (None, None)))
    sys.meta_path.insert(0, planter)
    place, claims = None, []
    try:
        signal.setitimer(
            signal.ITIMER_REAL, seconds, 5
        )  # again and again: a destructor may swallow the first
        _without_pictures()
        room = {"__name__": "__main__"}
        for place, source, claims in cells:  # noqa: B007 (the last ones are the answer)
            exec(compile(source, f"<cell {place}>", "exec"), room)
    except BaseException as error:  # an exit or an alarm stops a notebook too
        return place, claims, f"{type(error).__name__}: {error}", planter.planted
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return None, [], None, planter.planted


class TooLong(BaseException):
    """No ``Exception``, so that no cell and no library takes it for its own."""


def _too_slow(*_):
    raise TooLong("the cells took too long")


def _serve():
    """A job is a line that comes in, its outcome a line that goes out; whatever else is printed goes nowhere."""
    for module in HEAVY:
        importlib.import_module(module)
    sys.path.insert(0, str(ROOT))
    signal.signal(signal.SIGALRM, _too_slow)
    out, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            os.dup2(nowhere, 2)  # warnings of a broken line
            os.write(out, (json.dumps(_run(*json.loads(line))) + "\n").encode())
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status != 0:  # it died without an answer
            os.write(out, b"\n")


if __name__ == "__main__":
    _serve()
