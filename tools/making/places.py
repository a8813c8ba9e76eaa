"""Where everything is, and how a file there is replaced."""

import os
from pathlib import Path


def python_in(folder):
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def write_whole(path, text):
    """The file has its old content or its new one, never half of it."""
    fresh = path.with_name(path.name + ".new")
    fresh.write_bytes(text.encode())
    fresh.replace(path)


ROOT = Path(__file__).resolve().parents[2]
PROJECT, LOCK, PEERS = ROOT / "pyproject.toml", ROOT / "requirements.lock", ROOT / "requirements-peers.lock"
FIRST = ROOT / "notebooks/00_start_here.ipynb"
VENV = ROOT / ".venv"
PYTHON, STAMP, LOG = python_in(VENV), VENV / "complete.json", VENV / "install.log"
