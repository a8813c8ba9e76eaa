"""make.py: its words, and the Makefile that hands them over.

Nothing is started here: what JupyterLab or pytest would be told is recorded instead.
"""

import os
import re
import subprocess
from types import SimpleNamespace

import pytest
from conftest import ROOT

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
posix = pytest.mark.skipif(
    os.name == "nt", reason="Windows has neither make nor bash; make.py is the way there"
)


@pytest.fixture
def started(make, folder, monkeypatch):
    """What a word starts, as (arguments, environment); its exit code is `started.code`."""
    calls = SimpleNamespace(code=0, arguments=None, env=None)

    def call(command, cwd, env):
        calls.arguments, calls.env = command[1:], env
        assert cwd == str(make.places.ROOT)
        return calls.code

    monkeypatch.setattr(make.subprocess, "call", call)
    monkeypatch.setattr(make.signal, "signal", lambda *_: None)
    return calls


PYTEST = ["-m", "pytest", "-n", "auto", "--maxprocesses", "4", "--dist", "loadscope"]


@pytest.mark.parametrize(
    "word, arguments",
    [
        ("test", [*PYTEST, "--nbval", "tests", "notebooks", "-k", "x"]),
        ("quick", [*PYTEST, "--nbval", "tests", "notebooks", "-m", "not slow and not browser", "-k", "x"]),
        ("slides", ["-m", "classroom", "slides", "-k", "x"]),
        ("app", ["-m", "classroom", "app", "-k", "x"]),
        ("student", ["-m", "classroom", "student", "-k", "x"]),
        ("render", ["tools/render.py", "-k", "x"]),
        ("bench", ["tools/bench.py", "-k", "x"]),
        ("drawings", ["tools/drawings.py", "-k", "x"]),
    ],
)
def test_a_word_installs_then_starts_its_tool_with_what_follows(make, folder, started, word, arguments):
    assert make.main([word, "-k", "x"]) == 0
    assert len(folder.orders) == 3
    assert started.arguments == arguments
    assert started.env["PATH"].startswith(str(make.places.PYTHON.parent) + os.pathsep)
    assert (started.env.get("PGLAB_PROGRESS") == "off") or word not in ("test", "quick")


def test_mine_copies_and_opens_the_copy(make, folder, started, monkeypatch):
    orders = []
    monkeypatch.setattr(make, "run", lambda *arguments, **settings: orders.append(arguments) or 0)
    assert make.main(["mine", "--no-browser"]) == 0
    assert orders[0] == ("-m", "classroom", "mine")
    assert f"--ServerApp.root_dir={make.places.ROOT / 'mine'}" in orders[1] and "--no-browser" in orders[1]
    orders.clear()
    assert make.main(["mine", "--beside", "03"]) == 0 and make.main(["mine", "--no-open"]) == 0
    assert orders == [("-m", "classroom", "mine", "--beside", "03"), ("-m", "classroom", "mine")]


@pytest.mark.parametrize("code, ours", [(0, 0), (5, 5), (-9, 137)])
def test_the_exit_code_is_the_tool_s(make, started, code, ours):
    started.code = code
    assert make.main(["test"]) == ours


@pytest.mark.parametrize("uid, allowed", [(0, True), (1000, False)])
def test_lab_runs_as_root_only_for_root(make, started, monkeypatch, uid, allowed):
    monkeypatch.setattr(make.os, "getuid", lambda: uid, raising=False)
    make.main(["lab", "--no-browser"])
    assert ("--allow-root" in started.arguments) == allowed
    assert started.arguments[-1] == "--no-browser"
    assert f"--ServerApp.root_dir={make.places.ROOT / 'notebooks'}" in started.arguments


def test_lab_opens_the_first_notebook_if_there_is_one(make, started, capsys):
    opening = "--LabApp.default_url=/lab/tree/00.ipynb"
    make.main(["lab"])
    assert opening not in started.arguments
    make.places.FIRST.parent.mkdir()
    make.places.FIRST.touch()
    make.main(["lab"])
    assert opening in started.arguments
    assert "Ctrl-C" in capsys.readouterr().out.splitlines()[-1]


def test_an_unknown_word_gets_the_list_and_exit_code_2(make, capsys):
    assert make.main(["lap"]) == 2
    out = capsys.readouterr().out
    assert "'lap'" in out and all(re.search(rf"^  {word} ", out, re.M) for word in make.WORDS)


def test_no_word_is_a_question(make, capsys):
    assert make.main([]) == 0
    assert "make WORD" in capsys.readouterr().out


def test_the_lock_is_made_without_torch_and_its_gigabytes(make, folder, monkeypatch):
    said = "numpy==2.4.6\nnvidia-nccl-cu13==2.1\ntorch==2.13.0\ntorchless==1\ntriton==3.5 ; sys_platform == 'linux'\n"
    said += "cuda-bindings==13.0\nuv-like==1 ; sys_platform == 'win32'\n"
    asked = []
    monkeypatch.setattr(make.subprocess, "check_call", lambda command: None)
    monkeypatch.setattr(make.subprocess, "check_output", lambda command, **_: asked.extend(command) or said)
    assert make.main(["lock"]) == 0
    kept = "numpy==2.4.6\ntorchless==1\nuv-like==1 ; sys_platform == 'win32'\n"
    assert make.places.LOCK.read_text() == make.locks.LOCK_HEADER + kept
    assert {"--universal", "--no-annotate", "3.11", "test", "pyproject.toml"} < set(asked)


def test_clean_removes_what_can_be_made_again_and_nothing_else(make, folder):
    made = [
        ".venv/bin",
        "build",
        ".pytest_cache",
        "tests/__pycache__",
        "pglab/figures/__pycache__",
        "notebooks/.ipynb_checkpoints",
    ]
    yours = ["notebooks/mine", ".pglab", ".git/hooks", "data"]
    for name in made + yours:
        (folder.path / name).mkdir(parents=True)
    assert make.main(["clean"]) == 0
    assert [name for name in made if (folder.path / name).exists()] == []
    assert [name for name in yours if not (folder.path / name).exists()] == []


def test_the_makefile_knows_the_words_of_make_py(make):
    (words,) = re.findall(r"^WORDS = (.*)$", MAKEFILE, re.M)
    assert sorted(words.split()) == sorted(make.WORDS)


def gnu_make(*arguments, **environ):
    environ |= {
        key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "TORCH", "PYTHON"))
    }
    return subprocess.check_output(
        ["make", "--no-print-directory", *arguments], cwd=ROOT, env=environ, text=True
    )


@posix
@pytest.mark.parametrize(
    "said, command",
    [
        ([], "python3 make.py help"),
        (["lab"], "python3 make.py lab"),
        (["test", "ARGS=-k bandit"], "python3 make.py test -k bandit"),
        (["env", "PYTHON=python3.12"], "python3.12 make.py env"),
    ],
)
def test_make_hands_over_to_make_py(said, command):
    assert gnu_make("--dry-run", *said).split() == command.split()


@posix
def test_make_takes_another_python_from_the_environment_too():
    assert gnu_make("--dry-run", "env", PYTHON="python3.13").split() == ["python3.13", "make.py", "env"]


@posix
@pytest.mark.parametrize("choice", ["TORCH=cuda", "TORCH_INDEX=", "TORCH_INDEX=mirror"])
def test_make_passes_the_choice_of_torch_on(choice):
    assert choice in gnu_make("lab", "PYTHON=env #", choice).splitlines()
    assert not re.search(r"^TORCH", gnu_make("lab", "PYTHON=env #"), re.M)
