"""The code looks the way CONTRIBUTING says: one formatter, one linter."""

import subprocess
import sys

import pytest
from conftest import ROOT


@pytest.mark.parametrize("command", [["check"], ["format", "--check"]], ids=lambda command: command[0])
def test_ruff_has_nothing_to_say(command):
    result = subprocess.run(
        [sys.executable, "-m", "ruff", *command, "--no-cache", "."], cwd=ROOT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_no_room_is_too_large():
    sizes = {
        path: len(path.read_text(encoding="utf-8").splitlines()) for path in (ROOT / "pglab").rglob("*.py")
    }
    assert [str(path) for path, lines in sizes.items() if lines > 300] == []
