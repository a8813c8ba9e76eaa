"""The files in data/ on a bad day: damaged, lost, unreadable, another's. One sentence says which, why, and the way out."""

import errno
import json
import os
import shutil
from pathlib import Path

import pytest

from pglab import lm, peers, recordings, scaling
from pglab.lm import files
from pglab.peers import results
from pglab.scaling import measured
from pglab.training import state

# Each kind of file, as the notebooks reach it: {file: (what reads it, a command that makes it again, if there is one)}.
KINDS = {
    "addition.safetensors": (lambda data: lm.load("addition"), "pglab.training pretrain --task addition"),
    "addition.json": (lambda data: lm.load("addition"), "pglab.training pretrain --task addition"),
    "recordings/knobs.json": (
        lambda data: recordings.read("knobs", data / "recordings"), "make recordings ARGS=knobs",
    ),
    "measured/peers.json": (lambda data: peers.recorded(), ""),
    "measured/times.json": (lambda data: scaling.measured_times(), ""),
}  # fmt: skip


@pytest.fixture
def data(tmp_path, monkeypatch, root):
    """A copy of data/, which is now the project's."""
    copy = tmp_path / "data"
    shutil.copytree(root / "data", copy)
    monkeypatch.setattr(files, "DATA", copy)
    monkeypatch.setattr(results, "FOLDER", copy / "measured")
    monkeypatch.setattr(measured, "TIMES", copy / "measured" / "times.json")
    return copy


def folder_in_its_place(path):
    path.unlink()
    path.mkdir()


def first_half(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


FAULTS = {
    "lost": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "cut": first_half,
    "no text": lambda path: path.write_bytes(b"\xff\xfe{"),
    "a list": lambda path: path.write_bytes(b"[1]"),
    "another thing": lambda path: path.write_bytes(b'{"a": 1}'),
    "a number": lambda path: path.write_bytes(b"7"),
    "a folder": folder_in_its_place,
    "git's mark of a conflict": lambda path: path.write_bytes(b"<<<<<<< HEAD\n" + path.read_bytes()),
}


def sentence(call):
    """What is said: one line, which leaves out the path of the machine, the error's number and Python's names."""
    with pytest.raises(ValueError) as caught:
        call()
    said = str(caught.value)
    assert "\n" not in said and "Errno" not in said and "Error(" not in said and said.endswith((".", "back."))
    return said


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("fault", FAULTS)
def test_one_sentence_names_the_file_and_the_way_out(data, name, fault):
    read, command = KINDS[name]
    read(data)  # whole, it can be read
    FAULTS[fault](data / name)
    said = sentence(lambda: read(data))
    stem = Path(name).stem
    assert said.count(stem) and "git checkout data" in said
    assert fault == "lost" or command in said


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO])
def test_a_file_that_may_not_be_read(data, monkeypatch, name, number):
    """As root permission bits do not bite: the error is the operating system's, put in by hand."""
    opened = Path.open

    def refused(path, *given, **more):
        if path == data / name:
            raise OSError(number, os.strerror(number), str(path))
        return opened(path, *given, **more)

    monkeypatch.setattr(Path, "open", refused)
    monkeypatch.setattr(Path, "read_bytes", lambda path: path.open("rb").read())
    monkeypatch.setattr(Path, "read_text", lambda path, encoding=None: path.open(encoding=encoding).read())
    said = sentence(lambda: KINDS[name][0](data))
    assert os.strerror(number) in said and Path(name).name in said and str(data) not in said


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="whoever runs this may read everything"
)
@pytest.mark.parametrize("name", KINDS)
def test_a_file_without_its_permissions(data, name):
    (data / name).chmod(0)
    assert "Permission denied" in sentence(lambda: KINDS[name][0](data))


def test_the_card_of_another_model(data):
    shutil.copy(data / "countdown.json", data / "addition.json")
    said = sentence(lambda: lm.load("addition"))
    assert said.startswith("addition.safetensors is damaged or was changed")
    assert "pretrain --task addition`" in said and "countdown" not in said


def test_the_weights_of_another_model_with_their_hash_on_this_card(data):
    shutil.copy(data / "countdown.safetensors", data / "addition.safetensors")
    card = lm.read_card("addition") | {"sha256": lm.read_card("countdown")["sha256"]}
    (data / "addition.json").write_text(json.dumps(card), encoding="utf-8")
    assert "addition.safetensors does not hold the model of its card" in sentence(lambda: lm.load("addition"))


@pytest.mark.parametrize("stem", ["addition_large", "addition_seed7", "addition_large_seed7"])
def test_a_larger_model_is_made_again_by_the_command_on_its_own_card(data, stem):
    card = lm.read_card("addition") | {
        "command": f"python -m pglab.training pretrain --task addition --{stem}"
    }
    (data / f"{stem}.json").write_text(json.dumps(card), encoding="utf-8")
    (data / f"{stem}.safetensors").write_bytes(b"")
    assert f"--task addition --{stem}`" in sentence(lambda: lm.load(stem))


def test_all_of_data_is_gone(data):
    shutil.rmtree(data)
    for read, _ in KINDS.values():
        assert "git checkout data" in sentence(lambda read=read: read(data))


def test_a_name_that_is_misspelt_lists_the_others(data):
    said = sentence(lambda: lm.load("additon"))
    assert "addition, countdown, countdown_solver, running_sum." in said


def test_a_file_beside_the_project_is_not_git_s(tmp_path):
    (tmp_path / "mine.safetensors").write_bytes(b"")
    (tmp_path / "mine.json").write_text("{", encoding="utf-8")
    for name in ("mine", "yours"):
        assert "git checkout" not in sentence(lambda name=name: lm.load(tmp_path / f"{name}.safetensors"))


def test_an_unfinished_run_that_cannot_be_read_is_not_written_over(tmp_path, monkeypatch):
    """It may be whole all the same, so this is no reason to start afresh."""

    def refused(path):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(Path, "read_bytes", refused)
    with pytest.raises(
        OSError, match="a.unfinished in .* cannot be read: Permission denied. Nothing was started"
    ):
        state.read(tmp_path / "a.unfinished")
