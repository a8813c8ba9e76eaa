"""Cells run out of order: a cell that lacks a name says so, and none gets another cell's thing under that name."""

import builtins
from textwrap import dedent

import pytest
from conftest import ROOT
from kernels_by_hand import kernel
from rebound import Rebound, cell, rebound, sources

NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@each_notebook
def test_a_name_means_one_thing_in_a_notebook(path):
    found = rebound(sources(path))
    assert found == [], [f"{name}: cell {used} uses it, cell {by} binds it anew" for name, used, by in found]


@each_notebook
def test_every_name_comes_from_a_cell_or_from_python(path):
    """So in a fresh kernel a cell either stands alone or ends in Python's NameError; it never half works by luck."""
    cells = [cell(source) for source in sources(path)]
    bound = set(dir(builtins)).union(*(each.binds for each in cells))
    assert [(number, each.reads - bound) for number, each in enumerate(cells, 1) if each.reads - bound] == []


def planted(*cells):
    return rebound([dedent(each) for each in cells])


@pytest.mark.parametrize("cells, name, used, by", [
    (["p = 1", "print(p)", "p = 2"], "p", 2, 3),
    (["rewards = [1]", "def f(): return rewards", "x = 1", "rewards, y = 0, 1"], "rewards", 2, 4),
    (["rewards = [1]", "print([r for r in rewards])", "for rewards in (1, 2): pass"], "rewards", 2, 3),
    (["import math as m", "m.pi", "def m(): return 1"], "m", 2, 3),
    (["p = 1", "p = p + 1"], "p", 2, 2),
    (["p = 1", "p += 1"], "p", 2, 2),
    (["p = 1", "(lambda: p)()", "if True:\n    p = 2"], "p", 2, 3),
    (["p = 1", "print(p)", "with open('x') as p: pass"], "p", 2, 3),
    (["p = 1", "print([p for _ in (1, 2)])", "[p := 3]"], "p", 2, 3),
    (["p = 1", "print(p)", "[p := q for q in (1, 2)]"], "p", 2, 3),
    (["def f(): return p", "p = 1", "f()", "p = 2"], "p", 1, 4),
])  # fmt: skip
def test_a_planted_name_is_found(cells, name, used, by):
    assert planted(*cells) == [Rebound(name, used, by)]


@pytest.mark.parametrize("cells", [
    ["p = 1", "print(p)", "q = 2"],
    ["p = 1", "p = 2\nprint(p)", "p = 3\nprint(p)"],  # each cell has its own
    ["p = 1", "print(p)", "p = 1"],  # the same thing once more
    ["p = 1", "print(p)", "def f(p):\n    return p\nprint([p for p in (1, 2)])"],  # names inside stay inside
    ["for i in (1, 2): print(i)", "for i in (3, 4): print(i)"],
])  # fmt: skip
def test_what_is_fine_is_not_found(cells):
    assert planted(*cells) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["03", "08"])
def test_a_middle_cell_in_a_fresh_kernel_says_which_name_it_lacks(tmp_path, name):
    (path,) = (each for each in NOTEBOOKS if each.stem.startswith(name))
    code = sources(path)
    middle = next(each for each in code[len(code) // 2 :] if cell(each).reads - set(dir(builtins)))
    with kernel(tmp_path) as running:
        error, said = running.run(middle)
        assert error == "NameError" and said.split("'")[1] in cell(middle).reads
        assert running.says("print('it goes on')") == "it goes on\n"
