"""The code looks the way CONTRIBUTING says: one formatter, one linter."""

import subprocess
import sys

import pytest
from conftest import ROOT, code_files


@pytest.mark.parametrize("command", [["check"], ["format", "--check"]], ids=lambda command: command[0])
def test_ruff_has_nothing_to_say(command):
    result = subprocess.run(
        [sys.executable, "-m", "ruff", *command, "--no-cache", "."], cwd=ROOT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_no_file_is_too_long():
    """Python, JavaScript, shell and make; data, locks and notebooks have sizes of their own."""
    sizes = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in code_files()
    }
    assert {"make.py", "Makefile", ".ci/run", "pglab/sliders/drawing.js", "tests/conftest.py"} <= set(sizes)
    assert {name: lines for name, lines in sizes.items() if lines > 300} == {}
