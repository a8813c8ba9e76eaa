"""make.py before it installs: an old Python gets a message, and it knows which torch is wanted."""

import ast
import sys
import tomllib

import pytest
from conftest import ROOT

CPU_INDEX = "https://download.pytorch.org/whl/cpu"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PARTS = sorted((ROOT / "tools/making").glob("*.py"))
(TORCH,) = (line for line in PROJECT["project"]["dependencies"] if line.startswith("torch"))


@pytest.mark.parametrize("path", [ROOT / "make.py", *PARTS], ids=lambda path: path.name)
def test_python_3_6_can_read_make_py_and_its_parts(path):
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 6))
    names = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module.split(".")[0])
    assert names <= (sys.stdlib_module_names - {"tomllib"}) | {"making"}


@pytest.mark.parametrize("version", [(3, 11, 0), (3, 12, 9), (3, 14, 2, "final", 0)])
def test_a_python_in_range_is_accepted(make, version):
    assert make.pythons.refusal(version) is None


@pytest.mark.parametrize("version", [(3, 6, 15), (3, 10, 13), (3, 15, 0), (4, 0, 0)])
def test_another_python_is_refused_by_name_and_told_what_to_do(make, monkeypatch, version):
    monkeypatch.setattr(make.shutil, "which", lambda name: None)
    message = make.pythons.refusal(version, "test")
    assert ".".join(map(str, version)) in message and "3.11 to 3.14" in message
    assert "make test PYTHON=python3.12" in message and "py -3.12 make.py test" in message
    assert "python.org/downloads" in message


def test_the_newest_python_that_is_there_is_the_one_proposed(make, monkeypatch):
    monkeypatch.setattr(make.shutil, "which", lambda name: name in ("python3.11", "python3.13"))
    message = make.pythons.refusal((3, 9, 1))
    assert "make lab PYTHON=python3.13" in message and "python.org" not in message


def test_nothing_is_done_under_a_refused_python(make, monkeypatch):
    monkeypatch.setattr(make.pythons, "OLDEST", (3, 99))
    monkeypatch.setattr(make, "WORDS", {"lab": ("", lambda more: pytest.fail("it went on"))})
    with pytest.raises(SystemExit, match="needs Python"):
        make.main(["lab"])


def test_a_python_without_venv_names_the_package_that_brings_it(make, monkeypatch):
    monkeypatch.setattr(
        make.install.importlib.util, "find_spec", lambda name: None if name == "ensurepip" else name
    )
    with pytest.raises(SystemExit, match=rf"apt install python3\.{sys.version_info[1]}-venv"):
        make.install.make_venv(progress=None)


@pytest.mark.parametrize(
    "environ, driver, index",
    [
        ({}, False, CPU_INDEX),
        ({}, True, ""),
        ({"TORCH": ""}, False, CPU_INDEX),
        ({"TORCH": "cuda"}, False, ""),
        ({"TORCH": "cpu"}, True, CPU_INDEX),
        ({"TORCH_INDEX": ""}, False, ""),
        ({"TORCH_INDEX": "mirror"}, False, "mirror"),
        ({"TORCH_INDEX": "mirror"}, True, "mirror"),
        ({"TORCH_INDEX": "mirror", "TORCH": "cuda"}, False, "mirror"),
    ],
)
def test_where_torch_comes_from(make, monkeypatch, environ, driver, index):
    monkeypatch.setattr(make.torch_choice, "has_nvidia_driver", lambda: driver)
    arguments = make.torch_choice.torch_arguments(environ)
    assert arguments[:3] == [TORCH, "-c", "requirements.lock"]
    assert arguments[3:5] == (["--extra-index-url", index] if index else [])
    assert ("--retries" in arguments) == bool(index)


def test_a_torch_that_does_not_exist_is_refused(make):
    with pytest.raises(SystemExit, match="gpu.*cuda or cpu"):
        make.torch_choice.torch_index({"TORCH": "gpu"})


@pytest.mark.parametrize("program, folder", [(True, False), (False, True), (False, False)])
def test_an_nvidia_driver_shows_by_its_program_or_its_folder(make, monkeypatch, program, folder):
    monkeypatch.setattr(make.shutil, "which", lambda name: program and name == "nvidia-smi")
    monkeypatch.setattr(make.os.path, "exists", lambda path: folder and path == "/proc/driver/nvidia")
    assert make.torch_choice.has_nvidia_driver() == (program or folder)
