"""The rooms of pglab in the order of their imports, and what each says of itself: the one place for both.

``tests/test_imports.py`` holds the code to this order, ``tools/map.py`` draws README's table from it.
"""

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "pglab"

# Bottom to top: a room imports only rooms that stand before it. Helpers that any room may use come first of all.
HELPERS = ["_checks", "_arrays", "_masked", "_files", "_commands", "_packages"]
ROOMS = [
    "environment", "bandit", "gaussian", "groups", "returns", "mdp", "offpolicy", "advantages", "kl", "constraints",
    "steps", "logprobs", "losses", "lm", "sampling", "tasks", "oracle", "diagnostics", "algorithms", "training",
    "scaling", "recordings", "museum", "peers", "figures", "sliders", "progress", "predictions", "exercises",
]  # fmt: skip
MODULES = {
    ".".join(("pglab", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}


def place(room):
    """The file of a room, or its folder."""
    folder = PACKAGE / room
    return folder if folder.is_dir() else PACKAGE / f"{room}.py"


def says(room):
    """The first paragraph of its docstring, as Markdown on one line."""
    path = place(room)
    file = path / "__init__.py" if path.is_dir() else path
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
    return " ".join(text.partition("\n\n")[0].split()).replace("``", "`").replace("|", "\\|")


def imports(path, nested=True):
    """The dotted names that a file imports; with ``nested=False`` only while it is itself imported."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree) if nested else running(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} imports by dots; write the name of the package"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in MODULES else node.module for name in names)


def running(tree):
    """Every node but those in the bodies of functions."""
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield node
            yield from running(node)


def room_of(module):
    return module.split(".")[1] if "." in module else ""


def imports_of(room):
    """The rooms that a room imports anywhere, helpers left out."""
    found = {room_of(name) for m, path in MODULES.items() if room_of(m) == room for name in imports(path)
             if name.startswith("pglab.")}  # fmt: skip
    return found & set(ROOMS) - {room}
