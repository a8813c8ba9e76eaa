"""The set-up: three descriptions of one environment agree, and make.py keeps its promises.

Nothing is installed here: what pip or JupyterLab would be told is recorded instead.
"""

import ast
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
CPU_INDEX = "https://download.pytorch.org/whl/cpu"

posix = pytest.mark.skipif(
    os.name == "nt", reason="Windows has neither make nor bash; make.py is the way there"
)


def ranges(requirements):
    """{name: range} of requirement lines, names in the one spelling that pip compares."""
    return {canonicalize_name(r.name): r.specifier for r in map(Requirement, requirements)}


def direct():
    project = PROJECT["project"]
    extras = project["optional-dependencies"]
    return ranges(project["dependencies"] + extras["test"] + extras["classroom"])


def conda():
    """environment.yml in PyPI's words, its pip section included."""
    packages = [line for line in CONDA["dependencies"] if isinstance(line, str)]
    (pip_section,) = (section["pip"] for section in CONDA["dependencies"] if isinstance(section, dict))
    found = ranges(packages + [line for line in pip_section if line != "-e ."])
    found["torch"] = found.pop("pytorch")
    return found


def pins():
    return [Requirement(line) for line in LOCK.splitlines() if not line.startswith("#")]


# ---- pyproject.toml, environment.yml and requirements.lock


def test_conda_users_get_the_same_packages_in_the_same_ranges():
    found = conda()
    del found["python"], found["pip"]
    assert found == direct()


def test_conda_users_get_the_project_itself():
    assert {"pip": [*CONDA["dependencies"][-1]["pip"][:-1], "-e ."]} == CONDA["dependencies"][-1]
    assert CONDA["channels"] == ["conda-forge"]


def test_one_range_of_pythons_everywhere(make):
    promised = SpecifierSet(PROJECT["project"]["requires-python"])
    assert conda()["python"] == promised
    assert SpecifierSet(f">=3.{make.OLDEST[1]},<3.{make.NEWEST[1] + 1}") == promised


def test_every_line_of_the_lock_pins_one_version():
    for pin in pins():
        (clause,) = pin.specifier
        assert clause.operator == "==" and "*" not in clause.version and not pin.url, pin


def test_the_lock_pins_each_direct_dependency_inside_its_range():
    locked = {canonicalize_name(pin.name): pin for pin in pins()}
    for name, wanted in direct().items():
        if name != "torch":
            (clause,) = locked[name].specifier
            assert wanted.contains(clause.version), f"{name} {clause} is outside {wanted}"
            assert locked[name].marker is None, f"{name} is wanted on every platform"


def test_the_lock_holds_the_build_backend_since_the_project_is_installed_without_isolation():
    locked = {canonicalize_name(pin.name): pin.specifier for pin in pins()}
    for name, wanted in ranges(PROJECT["build-system"]["requires"]).items():
        (clause,) = locked[name]
        assert wanted.contains(clause.version)


def test_the_lock_leaves_torch_and_its_gigabytes_out():
    assert not [pin.name for pin in pins() if re.match(r"(py)?torch|nvidia|cuda|.*triton", pin.name)]


def test_the_lock_names_no_host_and_says_how_it_is_made(make):
    assert "//" not in LOCK and "--index" not in LOCK
    assert LOCK.startswith(make.LOCK_HEADER) and "make lock" in make.LOCK_HEADER


def test_the_lock_of_the_extra_pins_what_the_main_lock_does_not(make):
    text = (ROOT / "requirements-peers.lock").read_text(encoding="utf-8")
    assert text.startswith(make.PEERS_HEADER) and "//" not in text
    extra = {canonicalize_name(pin.name): pin for pin in map(Requirement, make.pins(make.PEERS))}
    assert not set(extra) & {canonicalize_name(pin.name) for pin in pins()}
    assert not [name for name in extra if re.match(r"(py)?torch|nvidia|cuda|.*triton", name)]
    wanted = ranges(PROJECT["project"]["optional-dependencies"]["peers"])
    assert set(wanted) == {"transformers", "trl", "accelerate", "datasets"}
    for name, clauses in wanted.items():
        (clause,) = extra[name].specifier
        assert clause.operator == "==" and clauses.contains(clause.version) and extra[name].marker is None


def test_ci_installs_the_extra_and_then_insists_on_it():
    text = (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert text.index("make peers") < text.index("export PGLAB_REQUIRE_PEERS=1") < text.rindex("make test")


def test_the_set_up_names_no_host_but_two_public_ones():
    files = ["make.py", "Makefile", ".ci/run", "environment.yml", "pyproject.toml", "requirements.lock"]
    files += ["requirements-peers.lock"]
    text = "".join((ROOT / name).read_text(encoding="utf-8") for name in files)
    assert set(re.findall(r"//([\w.-]+\.\w+)", text)) == {"download.pytorch.org", "www.python.org"}


# ---- make.py: an old Python gets a message


@pytest.fixture
def make():
    """A fresh copy of make.py as a module, so that no test sees another's changes."""
    spec = importlib.util.spec_from_file_location("make", ROOT / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_python_3_6_can_read_make_py():
    tree = ast.parse((ROOT / "make.py").read_text(encoding="utf-8"), feature_version=(3, 6))
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names}
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names - {"tomllib"}


@pytest.mark.parametrize("version", [(3, 11, 0), (3, 12, 9), (3, 14, 2, "final", 0)])
def test_a_python_in_range_is_accepted(make, version):
    assert make.refusal(version) is None


@pytest.mark.parametrize("version", [(3, 6, 15), (3, 10, 13), (3, 15, 0), (4, 0, 0)])
def test_another_python_is_refused_by_name_and_told_what_to_do(make, monkeypatch, version):
    monkeypatch.setattr(make.shutil, "which", lambda name: None)
    message = make.refusal(version, "test")
    assert ".".join(map(str, version)) in message and "3.11 to 3.14" in message
    assert "make test PYTHON=python3.12" in message and "py -3.12 make.py test" in message
    assert "python.org/downloads" in message


def test_the_newest_python_that_is_there_is_the_one_proposed(make, monkeypatch):
    monkeypatch.setattr(make.shutil, "which", lambda name: name in ("python3.11", "python3.13"))
    message = make.refusal((3, 9, 1))
    assert "make lab PYTHON=python3.13" in message and "python.org" not in message


def test_nothing_is_done_under_a_refused_python(make, monkeypatch):
    monkeypatch.setattr(make, "OLDEST", (3, 99))
    monkeypatch.setattr(make, "WORDS", {"lab": ("", lambda more: pytest.fail("it went on"))})
    with pytest.raises(SystemExit, match="needs Python"):
        make.main(["lab"])


def test_a_python_without_venv_names_the_package_that_brings_it(make, monkeypatch):
    monkeypatch.setattr(make.importlib.util, "find_spec", lambda name: None if name == "ensurepip" else name)
    with pytest.raises(SystemExit, match=rf"apt install python3\.{sys.version_info[1]}-venv"):
        make.make_venv(progress=None)


# ---- make.py: which torch


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
    monkeypatch.setattr(make, "has_nvidia_driver", lambda: driver)
    arguments = make.torch_arguments(environ)
    assert arguments[:3] == [f"torch{direct()['torch']}", "-c", "requirements.lock"]
    assert arguments[3:5] == (["--extra-index-url", index] if index else [])
    assert ("--retries" in arguments) == bool(index)


def test_a_torch_that_does_not_exist_is_refused(make):
    with pytest.raises(SystemExit, match="gpu.*cuda or cpu"):
        make.torch_index({"TORCH": "gpu"})


@pytest.mark.parametrize("program, folder", [(True, False), (False, True), (False, False)])
def test_an_nvidia_driver_shows_by_its_program_or_its_folder(make, monkeypatch, program, folder):
    monkeypatch.setattr(make.shutil, "which", lambda name: program and name == "nvidia-smi")
    monkeypatch.setattr(make.os.path, "exists", lambda path: folder and path == "/proc/driver/nvidia")
    assert make.has_nvidia_driver() == (program or folder)


# ---- make.py: installs what is missing, once


@pytest.fixture
def folder(make, monkeypatch, tmp_path):
    """A project folder of its own, where pip's orders are recorded in `folder.orders`."""
    for name in ("requirements.lock", "requirements-peers.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    for name, path in [
        ("ROOT", "."),
        ("VENV", ".venv"),
        ("STAMP", ".venv/complete.json"),
        ("LOG", ".venv/install.log"),
        ("LOCK", "requirements.lock"),
        ("PEERS", "requirements-peers.lock"),
        ("PROJECT", "pyproject.toml"),
        ("FIRST", "notebooks/00.ipynb"),
    ]:
        monkeypatch.setattr(make, name, tmp_path / path)
    for name in ("TORCH", "TORCH_INDEX"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / ".venv").mkdir()
    found = SimpleNamespace(path=tmp_path, orders=[], stop_at=None)

    def pip(progress, *arguments):
        found.orders.append(arguments)
        if len(found.orders) == found.stop_at:
            raise KeyboardInterrupt

    monkeypatch.setattr(make, "pip", pip)
    monkeypatch.setattr(make, "venv_works", lambda: True)
    monkeypatch.setattr(make, "has_nvidia_driver", lambda: False)
    return found


def orders_of_one_more_run(make, folder):
    folder.orders.clear()
    make.ready()
    return list(folder.orders)


def test_lock_then_torch_then_the_project_and_the_second_time_nothing(make, folder):
    packages, torch, project = orders_of_one_more_run(make, folder)
    assert packages[-2:] == ("-r", "requirements.lock")
    assert torch[1:] == tuple(make.torch_arguments({}))
    assert project[-2:] == ("-e", ".") and {"--no-deps", "--no-build-isolation"} < set(project)
    assert orders_of_one_more_run(make, folder) == []


@pytest.mark.parametrize("stop_at", [1, 2, 3])
def test_an_interrupted_install_is_finished_by_the_next_run(make, folder, stop_at):
    make.ready()
    (folder.path / "requirements.lock").write_text("numpy==2.4.6\n")
    folder.orders.clear()
    folder.stop_at = stop_at
    assert make.main(["env"]) == 130
    folder.stop_at = None
    assert not make.is_complete({})
    assert len(orders_of_one_more_run(make, folder)) == 3
    assert make.is_complete({})


@pytest.mark.parametrize("name", ["requirements.lock", "pyproject.toml"])
def test_a_changed_file_brings_the_environment_up_to_date(make, folder, name):
    make.ready()
    with (folder.path / name).open("a") as file:
        file.write("# changed\n")
    assert len(orders_of_one_more_run(make, folder)) == 3


def test_a_moved_folder_and_another_python_bring_it_up_to_date(make, folder, monkeypatch):
    make.ready()
    with monkeypatch.context() as patch:
        patch.setattr(make, "ROOT", folder.path / "elsewhere")
        assert not make.is_complete({})
    with monkeypatch.context() as patch:
        patch.setattr(make, "sys", SimpleNamespace(version_info=(3, 99, 0)))
        assert not make.is_complete({})
    assert make.is_complete({})


@pytest.mark.parametrize("nonsense", ["", "{", "3", "[1, 2]"])
def test_a_damaged_stamp_is_no_stamp(make, folder, nonsense):
    make.STAMP.write_text(nonsense)
    assert make.read_stamp() == {} and not make.is_complete({})


def test_another_torch_replaces_the_first_only_when_asked_for(make, folder, monkeypatch):
    make.ready()
    monkeypatch.setenv("TORCH_INDEX", "")  # no wish in particular: what is there will do
    assert orders_of_one_more_run(make, folder) == []
    monkeypatch.delenv("TORCH_INDEX")
    monkeypatch.setenv("TORCH", "cuda")
    assert ("uninstall", "--yes", "torch") in orders_of_one_more_run(make, folder)
    assert json.loads(make.STAMP.read_text())["torch"] == make.torch_arguments({"TORCH": "cuda"})
    monkeypatch.delenv("TORCH")
    assert orders_of_one_more_run(make, folder) == []


def test_an_interrupted_change_of_torch_is_not_forgotten(make, folder, monkeypatch):
    make.ready()
    monkeypatch.setenv("TORCH", "cuda")
    folder.stop_at = len(folder.orders) + 2  # the first torch is gone, the second not there yet
    assert make.main(["env"]) == 130
    monkeypatch.delenv("TORCH")
    assert not make.is_complete({})


def test_the_extra_is_installed_once_and_stays(make, folder):
    assert make.main(["peers"]) == 0
    assert (
        folder.orders[-1] == ("install", "--no-deps", "-r", "requirements-peers.lock")
        and len(folder.orders) == 4
    )
    folder.orders.clear()
    assert make.main(["peers"]) == 0 and make.main(["env"]) == 0
    assert folder.orders == []
    (folder.path / "requirements-peers.lock").write_text("trl==9\n")
    assert make.main(["peers"]) == 0 and len(folder.orders) == 1
    (folder.path / "requirements.lock").write_text(
        "numpy==2.4.6\n"
    )  # a new main lock: the extra is looked at again
    folder.orders.clear()
    assert make.main(["env"]) == 0 and len(folder.orders) == 3
    assert make.main(["peers"]) == 0 and len(folder.orders) == 4


def test_an_interrupted_extra_is_finished_by_the_next_run(make, folder):
    make.ready()
    folder.stop_at = len(folder.orders) + 1
    assert make.main(["peers"]) == 130
    folder.stop_at = None
    folder.orders.clear()
    assert make.main(["env"]) == 0 and folder.orders == []  # what was complete still is
    assert make.main(["peers"]) == 0 and len(folder.orders) == 1


def test_a_venv_that_does_not_work_is_made_anew(make, folder, monkeypatch):
    make.ready()
    (folder.path / ".venv" / "rubbish").touch()
    monkeypatch.setattr(make, "venv_works", lambda: False)
    monkeypatch.setattr(make, "watch", lambda progress, *command: folder.orders.append(command))
    made, *rest = orders_of_one_more_run(make, folder)
    assert made == (sys.executable, "-m", "venv", str(make.VENV)) and len(rest) == 3
    assert not (folder.path / ".venv" / "rubbish").exists()


def test_a_venv_works_if_its_python_starts_and_is_of_the_same_minor_version(make, monkeypatch, tmp_path):
    monkeypatch.setattr(make, "PYTHON", tmp_path / "missing")
    assert not make.venv_works()
    monkeypatch.setattr(make, "PYTHON", sys.executable)
    assert make.venv_works()
    monkeypatch.setattr(make, "sys", SimpleNamespace(version_info=(3, 99, 0)))
    assert not make.venv_works()


def test_a_package_that_pip_left_half_unpacked_is_forgotten(make, folder):
    """METADATA without INSTALLER: seen with sympy, whose unpacking was killed; pip then took it for installed."""
    packages = Path(make.sysconfig.get_path("purelib", "venv", {"base": str(make.VENV)}))
    half, whole = packages / "sympy-1.14.0.dist-info", packages / "numpy-2.4.6.dist-info"
    for info, name in [(half, "METADATA"), (whole, "METADATA"), (whole, "INSTALLER")]:
        info.mkdir(parents=True, exist_ok=True)
        (info / name).touch()
    make.ready()
    assert whole.exists() and not half.exists()


def test_an_environment_that_has_lost_a_package_is_made_anew(make, folder, monkeypatch):
    package = make.site_packages() / "numpy"
    package.mkdir(parents=True)
    make.ready()
    assert orders_of_one_more_run(make, folder) == []
    (make.site_packages() / "the_reader_s_own").mkdir()
    assert orders_of_one_more_run(make, folder) == []  # more than we put there is no damage
    package.rmdir()
    made = []
    monkeypatch.setattr(make, "make_venv", made.append)
    assert len(orders_of_one_more_run(make, folder)) == 3 and len(made) == 1


def test_a_file_is_replaced_whole(make, monkeypatch, tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with monkeypatch.context() as patch, pytest.raises(OSError):
        patch.setattr(make.Path, "replace", lambda *_: (_ for _ in ()).throw(OSError))
        make.write_whole(path, "new")
    assert path.read_text() == "old"
    make.write_whole(path, "new")
    assert path.read_text() == "new" and list(tmp_path.iterdir()) == [path]


# ---- make.py: what one sees meanwhile

PIP_SAYS = """\
Ignoring appnope: markers 'sys_platform == "darwin"' don't match your environment
Requirement already satisfied: Jinja2==3.1.6 in ./.venv (3.1.6)
Collecting jinja2 (from torch)
Processing /some where/argon2_cffi-25.1.0-py3-none-any.whl (from -r requirements.lock (line 6))
Collecting async-lru==2.4.0
Requirement already satisfied: async_lru
Collecting torch==2.13.0
"""


def test_each_package_counts_once(make):
    progress = make.Progress(total=9)
    for line in PIP_SAYS.splitlines(True):
        progress.read(line)
    assert progress.seen == {"appnope", "jinja2", "argon2-cffi", "async-lru", "torch"}
    assert re.match(r" *\[ *5/9\] .* torch$", progress.line())


@pytest.mark.parametrize(
    "line",
    [
        "  Downloading torch-2.13.0-cp311-none-linux.whl (190.2 MB)\n",
        "  Downloading https://a.host/whl/torch-2.13.0%2Bcpu-cp311.whl (190.2 MB)\n",
    ],
)
def test_a_long_download_says_what_and_how_much(make, line):
    progress = make.Progress(total=1)
    progress.read(line)
    assert progress.line().endswith("downloading torch (190.2 MB)")


def test_a_log_file_gets_a_line_now_and_then(make, capsys):
    progress = make.Progress(total=100)
    for number in range(100):
        progress.read(f"Collecting package{number}==1\n")
        progress.read(f"Requirement already satisfied: package{number}\n")
        progress.show(progress.line())
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_a_terminal_gets_one_line_no_wider_than_itself(make, monkeypatch, capsys):
    monkeypatch.setattr(make.shutil, "get_terminal_size", lambda: SimpleNamespace(columns=40))
    progress = make.Progress(total=1)
    progress.live = True
    progress.read("Installing collected packages: one, two\n")
    progress.show("x" * 100)
    progress.show("")
    out = capsys.readouterr().out
    assert "\n" not in out and {len(part) for part in out.split("\r")} == {0, 39}


def test_silence_is_noticed_and_no_line_is_lost(make):
    says = "import time; print('one', flush=True); time.sleep(0.5); print('two')"
    with subprocess.Popen([sys.executable, "-c", says], stdout=subprocess.PIPE, encoding="utf-8") as process:
        heard = list(make.ticking(process.stdout, seconds=0.05))
    assert [line for line in heard if line] == ["one\n", "two\n"]
    assert None in heard[heard.index("one\n") : heard.index("two\n")]


def test_a_failed_install_shows_the_end_of_what_was_said_and_keeps_it_all(make, folder):
    says = "import sys; [print('line', i) for i in range(40)]; sys.exit(1)"
    with pytest.raises(SystemExit) as stop:
        make.watch(make.Progress(total=1), sys.executable, "-c", says)
    message = str(stop.value)
    assert "line 39" in message and "line 14\n" not in message and "install.log" in message
    assert len(make.LOG.read_text().splitlines()) == 40


# ---- make.py: the words


@pytest.fixture
def started(make, folder, monkeypatch):
    """What a word starts, as (arguments, environment); its exit code is `started.code`."""
    calls = SimpleNamespace(code=0, arguments=None, env=None)

    def call(command, cwd, env):
        calls.arguments, calls.env = command[1:], env
        assert cwd == str(make.ROOT)
        return calls.code

    monkeypatch.setattr(make.subprocess, "call", call)
    monkeypatch.setattr(make.signal, "signal", lambda *_: None)
    return calls


@pytest.mark.parametrize(
    "word, arguments",
    [
        ("test", ["-m", "pytest", "--nbval", "tests", "notebooks", "-k", "x"]),
        (
            "quick",
            ["-m", "pytest", "--nbval", "tests", "notebooks", "-m", "not slow and not browser", "-k", "x"],
        ),
        ("render", ["tools/render.py", "-k", "x"]),
        ("bench", ["tools/bench.py", "-k", "x"]),
        ("drawings", ["tools/drawings.py", "-k", "x"]),
    ],
)
def test_a_word_installs_then_starts_its_tool_with_what_follows(make, folder, started, word, arguments):
    assert make.main([word, "-k", "x"]) == 0
    assert len(folder.orders) == 3
    assert started.arguments == arguments
    assert started.env["PATH"].startswith(str(make.PYTHON.parent) + os.pathsep)
    assert (started.env.get("PGLAB_PROGRESS") == "off") or word not in ("test", "quick")


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
    assert f"--ServerApp.root_dir={make.ROOT / 'notebooks'}" in started.arguments


def test_lab_opens_the_first_notebook_if_there_is_one(make, started, capsys):
    opening = "--LabApp.default_url=/lab/tree/00.ipynb"
    make.main(["lab"])
    assert opening not in started.arguments
    make.FIRST.parent.mkdir()
    make.FIRST.touch()
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
    assert make.LOCK.read_text() == make.LOCK_HEADER + kept
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


# ---- Makefile and .ci/run


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
