""".ci/run: what CI does before `make test`, with stand-ins for the programs it calls."""

import os
import re
import subprocess

import pytest
from conftest import ROOT

posix = pytest.mark.skipif(
    os.name == "nt", reason="Windows has neither make nor bash; make.py is the way there"
)


@posix
def test_ci_runs_make_test_in_bash():
    script = ROOT / ".ci/run"
    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", script], check=True)
    text = script.read_text(encoding="utf-8")
    assert text.startswith("#!/usr/bin/env bash\n") and "set -euo pipefail" in text
    assert re.search(r"^make test\b", text, re.M)


@posix
@pytest.mark.parametrize(
    "there, chosen",
    [
        (["python3", "python3.13"], "python3"),
        (["python3.12", "python3.13"], "python3.13"),
    ],
)
def test_ci_takes_a_good_python_and_sets_what_the_tests_look_at(tmp_path, there, chosen):
    """With stand-ins for the programs on PATH, one of which (make) tells what it was given."""
    say = 'echo "$@" CI=$CI BROWSER=$PGLAB_REQUIRE_BROWSER PEERS=$PGLAB_REQUIRE_PEERS$HF_HUB_OFFLINE INDEX=${TORCH_INDEX-unset} DIR=$(basename "$PWD")'
    programs = {
        "make": say,
        "chromium": "true",
        "dpkg": "true",
        "apt-get": "echo apt-get must not run; exit 1",
    }
    programs |= dict.fromkeys(["python3", *(f"python3.{minor}" for minor in range(11, 15))], "exit 1")
    programs |= dict.fromkeys(there, "true")
    for name, body in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    out = subprocess.check_output([ROOT / ".ci/run"], cwd=tmp_path, env={"PATH": path}, text=True)
    said = "PYTHON={} CI=true BROWSER=1 PEERS={} INDEX= DIR={}\n"
    first, second = said.format(chosen, "", ROOT.name), said.format(chosen, "11", ROOT.name)
    assert out == f"peers {first}test {second}"  # offline once everything is installed


@posix
def test_ci_installs_what_is_missing_and_tries_again(tmp_path):
    """A stand-in apt-get fails once, then is asked for exactly what is missing."""
    programs = {
        "python3": 'case "$2" in *ensurepip*) exit 1;; *print*) echo python3.11-venv;; esac',
        "make": "true",
        "chromium": "true",
        "dpkg": "exit 1",
        "sleep": "true",
        "apt-get": f'echo "$@" >> {tmp_path}/log; [ -e {tmp_path}/twice ] || {{ touch {tmp_path}/twice; exit 1; }}',
    }
    for name, body in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    subprocess.run([ROOT / ".ci/run"], env={"PATH": path}, check=True, stdout=subprocess.DEVNULL)
    first, update, install = (tmp_path / "log").read_text().splitlines()
    assert first.startswith("update") and update.startswith("update") and install.startswith("install -y")
    assert install.endswith("fonts-dejavu-core python3.11-venv")
