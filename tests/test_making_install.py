"""make.py installs what is missing, once.

Nothing is installed here: what pip would be told is recorded instead.
"""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest


def orders_of_one_more_run(make, folder):
    folder.orders.clear()
    make.install.ready()
    return list(folder.orders)


def test_lock_then_torch_then_the_project_and_the_second_time_nothing(make, folder):
    packages, torch, project = orders_of_one_more_run(make, folder)
    assert packages[-2:] == ("-r", "requirements.lock")
    assert torch[1:] == tuple(make.torch_choice.torch_arguments({}))
    assert project[-2:] == ("-e", ".") and {"--no-deps", "--no-build-isolation"} < set(project)
    assert orders_of_one_more_run(make, folder) == []


@pytest.mark.parametrize("stop_at", [1, 2, 3])
def test_an_interrupted_install_is_finished_by_the_next_run(make, folder, stop_at):
    make.install.ready()
    (folder.path / "requirements.lock").write_text("numpy==2.4.6\n")
    folder.orders.clear()
    folder.stop_at = stop_at
    assert make.main(["env"]) == 130
    folder.stop_at = None
    assert not make.stamp.is_complete({})
    assert len(orders_of_one_more_run(make, folder)) == 3
    assert make.stamp.is_complete({})


@pytest.mark.parametrize("name", ["requirements.lock", "pyproject.toml"])
def test_a_changed_file_brings_the_environment_up_to_date(make, folder, name):
    make.install.ready()
    with (folder.path / name).open("a") as file:
        file.write("# changed\n")
    assert len(orders_of_one_more_run(make, folder)) == 3


def test_a_moved_folder_and_another_python_bring_it_up_to_date(make, folder, monkeypatch):
    make.install.ready()
    with monkeypatch.context() as patch:
        patch.setattr(make.places, "ROOT", folder.path / "elsewhere")
        assert not make.stamp.is_complete({})
    with monkeypatch.context() as patch:
        patch.setattr(make.stamp, "sys", SimpleNamespace(version_info=(3, 99, 0)))
        assert not make.stamp.is_complete({})
    assert make.stamp.is_complete({})


@pytest.mark.parametrize("nonsense", ["", "{", "3", "[1, 2]"])
def test_a_damaged_stamp_is_no_stamp(make, folder, nonsense):
    make.places.STAMP.write_text(nonsense)
    assert make.stamp.read_stamp() == {} and not make.stamp.is_complete({})


def test_another_torch_replaces_the_first_only_when_asked_for(make, folder, monkeypatch):
    make.install.ready()
    monkeypatch.setenv("TORCH_INDEX", "")  # no wish in particular: what is there will do
    assert orders_of_one_more_run(make, folder) == []
    monkeypatch.delenv("TORCH_INDEX")
    monkeypatch.setenv("TORCH", "cuda")
    assert ("uninstall", "--yes", "torch") in orders_of_one_more_run(make, folder)
    assert json.loads(make.places.STAMP.read_text())["torch"] == make.torch_choice.torch_arguments(
        {"TORCH": "cuda"}
    )
    monkeypatch.delenv("TORCH")
    assert orders_of_one_more_run(make, folder) == []


def test_an_interrupted_change_of_torch_is_not_forgotten(make, folder, monkeypatch):
    make.install.ready()
    monkeypatch.setenv("TORCH", "cuda")
    folder.stop_at = len(folder.orders) + 2  # the first torch is gone, the second not there yet
    assert make.main(["env"]) == 130
    monkeypatch.delenv("TORCH")
    assert not make.stamp.is_complete({})


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
    make.install.ready()
    folder.stop_at = len(folder.orders) + 1
    assert make.main(["peers"]) == 130
    folder.stop_at = None
    folder.orders.clear()
    assert make.main(["env"]) == 0 and folder.orders == []  # what was complete still is
    assert make.main(["peers"]) == 0 and len(folder.orders) == 1


def test_a_venv_that_does_not_work_is_made_anew(make, folder, monkeypatch):
    make.install.ready()
    (folder.path / ".venv" / "rubbish").touch()
    monkeypatch.setattr(make.install, "venv_works", lambda: False)
    monkeypatch.setattr(make.install, "watch", lambda progress, *command: folder.orders.append(command))
    made, *rest = orders_of_one_more_run(make, folder)
    assert made == (sys.executable, "-m", "venv", str(make.places.VENV)) and len(rest) == 3
    assert not (folder.path / ".venv" / "rubbish").exists()


def test_a_venv_works_if_its_python_starts_and_is_of_the_same_minor_version(make, monkeypatch, tmp_path):
    monkeypatch.setattr(make.places, "PYTHON", tmp_path / "missing")
    assert not make.install.venv_works()
    monkeypatch.setattr(make.places, "PYTHON", sys.executable)
    assert make.install.venv_works()
    monkeypatch.setattr(make.install, "sys", SimpleNamespace(version_info=(3, 99, 0)))
    assert not make.install.venv_works()


def test_a_package_that_pip_left_half_unpacked_is_forgotten(make, folder):
    """METADATA without INSTALLER: seen with sympy, whose unpacking was killed; pip then took it for installed."""
    packages = Path(make.stamp.sysconfig.get_path("purelib", "venv", {"base": str(make.places.VENV)}))
    half, whole = packages / "sympy-1.14.0.dist-info", packages / "numpy-2.4.6.dist-info"
    for info, name in [(half, "METADATA"), (whole, "METADATA"), (whole, "INSTALLER")]:
        info.mkdir(parents=True, exist_ok=True)
        (info / name).touch()
    make.install.ready()
    assert whole.exists() and not half.exists()


def test_an_environment_that_has_lost_a_package_is_made_anew(make, folder, monkeypatch):
    package = make.stamp.site_packages() / "numpy"
    package.mkdir(parents=True)
    make.install.ready()
    assert orders_of_one_more_run(make, folder) == []
    (make.stamp.site_packages() / "the_reader_s_own").mkdir()
    assert orders_of_one_more_run(make, folder) == []  # more than we put there is no damage
    package.rmdir()
    made = []
    monkeypatch.setattr(make.install, "make_venv", made.append)
    assert len(orders_of_one_more_run(make, folder)) == 3 and len(made) == 1


def test_a_file_is_replaced_whole(make, monkeypatch, tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with monkeypatch.context() as patch, pytest.raises(OSError):
        patch.setattr(make.places.Path, "replace", lambda *_: (_ for _ in ()).throw(OSError))
        make.places.write_whole(path, "new")
    assert path.read_text() == "old"
    make.places.write_whole(path, "new")
    assert path.read_text() == "new" and list(tmp_path.iterdir()) == [path]
