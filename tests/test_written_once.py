"""No function is written twice: two with the same body, whatever their names call things, are one."""

import ast
from collections import defaultdict

import pytest
from conftest import ROOT, files

LEAST = 3  # statements; shorter bodies are alike by chance


def own_names(function):
    """What the function itself names: its arguments and whatever it stores into, nested ones included."""
    names = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node is not function:
            names.add(node.name)
    return names


def without_docstring(body):
    first = body[0]
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return body[1:] if is_text and isinstance(first.value.value, str) else body


class Numbered(ast.NodeTransformer):
    """The function's own names by the order in which they come: two functions that differ in them become one."""

    def __init__(self, names):
        self.names, self.numbers = names, {}

    def number(self, name):
        return f"_{self.numbers.setdefault(name, len(self.numbers))}" if name in self.names else name

    def visit_Name(self, node):
        return ast.Name(self.number(node.id), node.ctx)

    def visit_arg(self, node):
        return ast.arg(self.number(node.arg))

    def visit_FunctionDef(self, node):
        node.name = self.number(node.name)
        node.body = without_docstring(node.body) or [ast.Pass()]
        return self.generic_visit(node)


def statements(body):
    return sum(isinstance(node, ast.stmt) for statement in body for node in ast.walk(statement))


def shape(function):
    """The function as text, without its name, its docstring and its own names; None if it is a short one."""
    body = without_docstring(function.body)
    if statements(body) < LEAST:
        return None
    copy = ast.parse(ast.unparse(function)).body[0]
    numbered = Numbered(own_names(copy))
    arguments = numbered.visit(copy.args)
    lines = [ast.unparse(numbered.visit(node)) for node in without_docstring(copy.body)]
    return "\n".join([ast.unparse(arguments), *lines])


def written(sources):
    """{shape: places} of all functions of the files, {name: text}; methods too."""
    found = defaultdict(list)
    for name, text in sources.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef) and (key := shape(node)):
                found[key].append(f"{name}:{node.lineno} {node.name}")
    return found


def twice(sources):
    return [places for places in written(sources).values() if len(places) > 1]


FIRST = """
def mean(values, mask):
    '''Of those that count.'''
    kept = [v for v, m in zip(values, mask) if m]
    total = sum(kept)
    return total / len(kept)
"""
OTHER_NAMES = """
class Box:
    def average(xs, chosen):
        inside = [x for x, c in zip(xs, chosen) if c]
        added = sum(inside)
        return added / len(inside)
"""


def test_other_names_do_not_hide_a_second_copy():
    assert twice({"a.py": FIRST, "b.py": OTHER_NAMES}) == [["a.py:2 mean", "b.py:3 average"]]


@pytest.mark.parametrize(
    "change",
    [("sum(", "max("), ("/ len", "// len"), ("(values, mask)", "(mask, values)"), ("if m", "if not m")],
)
def test_another_thought_is_no_copy(change):
    assert twice({"a.py": FIRST, "b.py": FIRST.replace(*change, 1)}) == []


def test_short_functions_may_be_alike():
    short = "def a(x):\n    y = x + 1\n    return y\n"
    assert twice({"a.py": short, "b.py": short}) == []


def test_no_function_is_written_twice():
    sources = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in files("*.py")}
    assert len(sources) > 200 and "tests/conftest.py" in sources
    found = twice(sources)
    assert not found, "\n".join(map(str, found))
