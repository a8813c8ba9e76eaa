"""Finding the explorers of a notebook, each with the statements it needs and the questions asked of it."""

import ast
import builtins
import re
from dataclasses import dataclass

from classroom.lesson import Lesson, without_folds

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
            yield Found(lesson, name, title, _needed(before, cell.source), questions, words)


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


def _needed(before, cell):
    """The statements of earlier cells that the cell needs, and the cell: no more is run on a stage."""
    statements = [node for source in before for node in ast.parse(source).body]
    kept, wanted = [], _used(ast.parse(cell))
    for node in reversed(statements):
        if bound := _bound(node) & wanted:
            kept.append(ast.unparse(_only(node, bound)))
            wanted = (wanted - bound) | _used(node)
    return "\n".join([*reversed(kept), cell])


def _only(node, names):
    """An import without what is not needed; any other statement as it is."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        node.names = [alias for alias in node.names if _bound_by(alias) in names]
    return node


def _bound_by(alias):
    return alias.asname or alias.name.partition(".")[0]


def _bound(node):
    """The names that a statement gives a value, those inside comprehensions left out."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {_bound_by(alias) for alias in node.names}
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp, ast.Lambda, ast.Assert)):
        return set()
    own = {node.id} if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else set()
    return own.union(*map(_bound, ast.iter_child_nodes(node)))


def _used(node):
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return names - set(dir(builtins))


def _heading(markdown):
    """(the last heading, what stands below it without folds)."""
    *_, (title, below) = re.findall(r"^#{2,3} (.*)\n([\s\S]*?)(?=^#{2,3} |\Z)", markdown, re.M)
    return title.removeprefix("Explorer: "), without_folds(below)[0]
