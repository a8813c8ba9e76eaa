"""What a cell needs of the cells before it."""

import ast
import builtins


def needed(before, cell):
    """The statements of earlier cells that a cell needs, and the cell: a program that stands alone.

    Args:
      before: sources of the cells before it, in order.
      cell: its own source.

    Returns:
      The program. What earlier cells only show or assert is left out.
    """
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
