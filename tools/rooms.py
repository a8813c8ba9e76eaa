"""The rooms of pglab in the order of their imports, and what each says of itself: the one place for both.

``tests/test_imports.py`` holds the code to this order, ``tools/map.py`` draws README's table from it.
"""

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "pglab"

# Bottom to top: a room imports only rooms that stand before it. Helpers that any room may use come first of all.
HELPERS = ["_checks", "_arrays", "_masked", "_files", "_commands"]
ROOMS = [
    "environment", "bandit", "gaussian", "groups", "returns", "mdp", "offpolicy", "advantages", "kl", "constraints",
    "steps", "logprobs", "losses", "lm", "sampling", "tasks", "oracle", "diagnostics", "algorithms", "training",
    "scaling", "recordings", "museum", "peers", "figures", "sliders", "progress", "predictions", "exercises",
]  # fmt: skip


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
