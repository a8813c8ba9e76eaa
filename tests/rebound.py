"""Names that a later cell of a notebook binds to something else: whoever runs an earlier cell again gets another result."""

import ast
import dis
import types
from typing import NamedTuple

import nbformat


class Cell(NamedTuple):
    """What a cell does with the names of a notebook."""

    reads: set  # taken from cells before it
    binds: dict  # {name: the statements that bind it}, left behind


class Rebound(NamedTuple):
    """A name that cell ``used`` takes from an earlier cell, and that cell ``by`` binds anew; both counted from 1."""

    name: str
    used: int
    by: int


def cell(source):
    """The names of one cell."""
    reads, late, binds = set(), set(), {}
    for statement in ast.parse(source).body:
        code = compile(ast.Module([statement], []), "cell", "exec")
        bound = set()
        for each in dis.get_instructions(code):
            if each.opname == "STORE_NAME":
                bound.add(each.argval)
            elif each.opname == "LOAD_NAME" and each.argval not in bound | set(binds):
                reads.add(each.argval)
        late |= inside(code, "LOAD_GLOBAL")
        for name in bound | inside(code, "STORE_GLOBAL"):  # := in a comprehension
            binds[name] = binds.get(name, "") + ast.dump(statement)
    return Cell(reads | late - set(binds), binds)


def inside(code, kind):
    """Names of the notebook that functions and comprehensions in a piece of code look up, or bind."""
    found = set()
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            names = {each.argval for each in dis.get_instructions(part) if each.opname == kind}
            found |= names | inside(part, kind)
    return found


def rebound(sources):
    """Every name that is used between two cells which mean different things by it.

    Args:
      sources: of the code cells, in order.

    Returns:
      a list of Rebound; one for each cell that uses such a name, with the first cell that binds it anew. A cell
      that takes a name and binds it itself is not the same when it is run twice: there ``used`` and ``by`` are equal.
    """
    cells, found = [cell(source) for source in sources], []
    for k, this in enumerate(cells):
        for name in sorted(this.reads):
            binders = [j for j, each in enumerate(cells) if name in each.binds]
            # A function may use what a cell after it binds first.
            mine = max((j for j in binders if j < k), default=min(binders, default=k))
            later = [j for j in binders if j >= k and cells[j].binds[name] != cells[mine].binds[name]]
            if later:
                found.append(Rebound(name, k + 1, later[0] + 1))
    return found


def sources(path):
    """The code cells of a notebook."""
    return [each.source for each in nbformat.read(path, 4).cells if each.cell_type == "code"]
