"""What the classroom needs to know of a notebook: its parts, its folds, its predictions and exercises."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import nbformat
from notebook_policy import PREDICT

from pglab import predictions

ROOT = Path(__file__).resolve().parents[2]
FOLD = re.compile(r"<details><summary>(.*?)</summary>\s*(.*?)</details>\s*", re.S)
SOLUTION = re.compile(
    r"<details><summary>Solution (\w+)</summary>\s*```python\n(.*?)```\s*(.*?)</details>", re.S
)


@dataclass(frozen=True)
class Lesson:
    """One notebook: where it lies, its number, its title without the number."""

    path: Path

    @property
    def number(self):
        return self.path.name[:2]

    @property
    def title(self):
        return re.match(r"# \d\d (.*)", self.notebook().cells[0].source)[1]

    def notebook(self):
        """A fresh copy of what is stored."""
        return nbformat.read(self.path, as_version=4)


def lessons(folder=ROOT / "notebooks"):
    """Every lesson, in order."""
    return [Lesson(path) for path in sorted(folder.glob("[0-9][0-9]_*.ipynb"))]


def chosen_lessons(numbers):
    """The lessons of these numbers, all of them if there are none.

    Raises:
      ValueError: a number that no notebook has.
    """
    known = lessons()
    if unknown := set(numbers) - {lesson.number for lesson in known}:
        raise ValueError(f"there is no notebook {', '.join(sorted(unknown))}; give numbers such as 03.")
    return [lesson for lesson in known if not numbers or lesson.number in numbers]


def exercise_of(cell):
    """The name of the exercise that a code cell asks for, or None."""
    tags = cell.metadata.get("tags", [])
    return next((tag.removeprefix("exercise-") for tag in tags if tag.startswith("exercise-")), None)


def solutions(notebook):
    """{name of an exercise: the code of its folded solution}."""
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    return {name: code for name, code, _ in SOLUTION.findall(prose)}


def asked(cell):
    """The predictions that a code cell answers."""
    return [predictions.find(name) for name in PREDICT.findall(cell.source)]


def choices_of(prediction):
    """What whoever asks the room reads out: every choice; nothing where the guess is free."""
    return f" ({' / '.join(prediction.choices)})" if prediction.choices else ""


def without_folds(markdown):
    """(the text without what is folded away, [(summary, text) of each fold])."""
    return FOLD.sub("", markdown).strip(), FOLD.findall(markdown)


def with_answers_out_of_sight(notebook):
    """The notebook without the stored outputs of cells that answer a prediction: running them asks first."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and asked(cell):
            cell.outputs, cell.execution_count = [], None
    return notebook


def noted(path):
    """What a small file of ours remembers, as a dictionary; empty where there is none that can be read."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return {}
