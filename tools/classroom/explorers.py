"""Finding the explorers of a notebook, each with the statements it needs and the questions asked of it."""

import ast
import re
from dataclasses import dataclass

from notebook_policy import PREDICT

from classroom.lesson import Lesson, without_folds
from classroom.needed import needed

NAMELESS = ("Explore it", "How to use a slider")  # headings that say nothing outside their notebook


@dataclass(frozen=True)
class Found:
    """One explorer: its lesson, name, title, the program that shows it alone, questions, its first picture in words."""

    lesson: Lesson
    name: str
    title: str
    program: str
    questions: str
    words: str

    @property
    def file(self):
        return f"{self.lesson.number}_{self.name}.ipynb"


def explorers(lesson):
    """The explorers of a lesson, in order."""
    notebook = lesson.notebook()
    for place, cell in enumerate(notebook.cells):
        if cell.cell_type == "code" and (name := _shown(ast.parse(cell.source))):
            before = [c.source for c in notebook.cells[:place] if c.cell_type == "code"]
            title, questions = _heading(notebook.cells[place - 1].source)
            title = name.replace("_", " ").capitalize() if title in NAMELESS else title[0].upper() + title[1:]
            words = next(o.data["text/plain"] for o in cell.outputs if "image/png" in o.get("data", {}))
            program = needed(before, PREDICT.sub("", cell.source))
            yield Found(lesson, name, title, program, questions, words)


def _shown(tree):
    """The name of the explorer that a cell shows, as ``sliders.NAME(...).show()`` or by way of a variable."""
    made = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            targets, values = _pairs(node)
            made |= {t.id: maker for t, v in zip(targets, values, strict=True) if (maker := _maker(v))}
    for node in tree.body:
        call = node.value if isinstance(node, ast.Expr) else None
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "show":
            shown = call.func.value
            if name := _maker(shown) or made.get(getattr(shown, "id", None)):
                return name
    return None


def _pairs(assignment):
    target, value = assignment.targets[0], assignment.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return target.elts, value.elts
    return ([target], [value]) if isinstance(target, ast.Name) else ([], [])


def _maker(node):
    """NAME of ``sliders.NAME(...)``, if the node is such a call."""
    called = node.func if isinstance(node, ast.Call) else None
    from_sliders = isinstance(called, ast.Attribute) and getattr(called.value, "id", "") == "sliders"
    return called.attr if from_sliders else None


def _heading(markdown):
    """(the last heading, what stands below it without folds)."""
    *_, (title, below) = re.findall(r"^#{2,3} (.*)\n([\s\S]*?)(?=^#{2,3} |\Z)", markdown, re.M)
    return title.removeprefix("Explorer: "), without_folds(below)[0]
