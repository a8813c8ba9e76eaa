"""Pretraining on a bad day: a folder in the way, a full disk, a damaged file. Nothing good is lost."""

import os
import subprocess
import sys

import pytest
import torch
from disks_by_hand import fills_up, full

from pglab import _files, training
from pglab.training import command, pretraining, run, state, unfinished

TINY = training.Pretraining("addition", seed=3, examples=200, steps=12, batch=8, warmup=4, width=8, heads=2)
FEW = dict(device="cpu", progress=False, prompts=4)
KEYS = dict.fromkeys(state.KEYS, 0)


@pytest.fixture
def no_training(monkeypatch):
    monkeypatch.setattr(run.Run, "one", lambda *_: pytest.fail("it was tried too late"))


# ---- Tried before anything starts


@pytest.mark.parametrize("name", ["way/a.safetensors", "way/deeper/a.safetensors"])
def test_a_file_in_the_way_of_the_folder(tmp_path, no_training, name):
    (tmp_path / "way").write_text("a file")
    with pytest.raises(OSError, match="a.safetensors cannot be written to .*way.*Nothing was started.*--out"):
        training.pretrain(TINY, tmp_path / name, **FEW)
    assert (tmp_path / "way").read_text() == "a file"


@pytest.mark.parametrize("name", ["a.safetensors", "a.json", "a.unfinished"])
def test_a_folder_in_the_way_of_a_file(tmp_path, no_training, name):
    (tmp_path / name).mkdir()
    with pytest.raises(OSError, match=f"{name} cannot be written.*a folder of this name is in the way"):
        training.pretrain(TINY, tmp_path / "a.safetensors", **FEW)


def test_a_folder_that_takes_no_file(monkeypatch, tmp_path, no_training):
    monkeypatch.setattr(state.tempfile, "TemporaryFile", full)
    with pytest.raises(OSError, match="a.safetensors cannot be written to .*No space left"):
        training.pretrain(TINY, tmp_path / "new" / "a.safetensors", **FEW)


def test_the_command_says_it_in_one_line(capsys, tmp_path, no_training):
    (tmp_path / "way").write_text("a file")
    assert command.main(["pretrain", "--task", "addition", "--out", f"{tmp_path}/way/a.safetensors"]) == 1
    said = capsys.readouterr().err
    assert (
        said.count("\n") == 1 and said.startswith("a.safetensors cannot be written") and "Errno" not in said
    )


# ---- A disk that fills up


@pytest.mark.parametrize("broken", ["replace", "fsync"])
def test_a_full_disk_at_the_end_keeps_what_was_there(monkeypatch, tmp_path, broken):
    path = tmp_path / "a.safetensors"
    training.pretrain(TINY, path, **FEW)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    other = training.Pretraining(**{**TINY.as_dict(), "seed": 4})
    monkeypatch.setattr(_files.os, broken, full)
    with pytest.raises(OSError, match="No space left.*unchanged"):
        training.pretrain(other, path, **FEW)
    monkeypatch.undo()
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_what_finds_no_room_for_the_weights_is_kept_as_an_unfinished_run(monkeypatch, tmp_path):
    path = tmp_path / "a.safetensors"
    monkeypatch.setattr(pretraining.lm, "save", full)
    with pytest.raises(OSError):
        training.pretrain(TINY, path, **FEW)
    monkeypatch.undo()
    assert state.read(state.place(path))["step"] == 12
    monkeypatch.setattr(run.Run, "one", lambda *_: pytest.fail("nothing is left to do"))
    assert len(training.pretrain(TINY, path, **FEW).losses) == 12 and path.exists()


@pytest.mark.parametrize("stop", [KeyboardInterrupt, OSError])
def test_a_full_disk_keeps_the_last_good_state(monkeypatch, tmp_path, stop):
    """States are written at steps 1, 3 and 7; the disk is full from the second on."""
    path, seen = tmp_path / "a.safetensors", fills_up(monkeypatch)
    monkeypatch.setattr(run, "REPORT", 4)
    monkeypatch.setattr(unfinished, "KEEP", -1)
    if stop is KeyboardInterrupt:
        one = run.Run.one
        monkeypatch.setattr(run.Run, "one", lambda self, i, *more: stop_at(5, i) or one(self, i, *more))
    with pytest.raises(OSError, match="No space left"):
        training.pretrain(TINY, path, **FEW)
    monkeypatch.undo()
    assert len(seen) >= 2 and state.read(state.place(path))["step"] == 1
    whole = training.pretrain(TINY, **FEW)
    assert training.pretrain(TINY, path, **FEW).losses == whole.losses


def stop_at(wanted, step):
    if step == wanted:
        raise KeyboardInterrupt


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such limit")
def test_a_real_limit_on_the_size_of_files(tmp_path):
    """The operating system itself refuses: 20,000 bytes are too few for the weights."""
    code = f"""
import resource, signal
from pathlib import Path
from pglab import training
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
settings = training.Pretraining("addition", examples=100, steps=3, batch=4, width=48, heads=2)
try:
    training.pretrain(settings, Path({str(tmp_path)!r}) / "a.safetensors", "cpu", False, prompts=2)
except OSError as error:
    print(error.strerror)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0 and "a.safetensors could not be written" in ran.stdout, ran.stderr
    assert list(tmp_path.iterdir()) == []


# ---- A damaged state


def spoil(path, how):
    data = path.read_bytes()
    if how == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "one bit":
        path.write_bytes(data[:-4000] + bytes([data[-4000] ^ 1]) + data[-3999:])
    else:
        state.write(path, how)


@pytest.mark.parametrize("how", ["cut", "empty", "one bit", [1, 2], {"step": 3}, {**KEYS, "step": TINY}])
def test_a_damaged_state_is_said_and_the_run_starts_afresh(monkeypatch, capsys, tmp_path, how):
    path = tmp_path / "a.safetensors"
    whole = training.pretrain(TINY, **FEW)
    kept = state.place(path)
    unfinished = run.Run(TINY, torch.device("cpu"), kept, progress=False)
    unfinished.remember()
    unfinished.write()
    spoil(kept, how)
    made = training.pretrain(TINY, path, **FEW)
    assert made.losses == whole.losses and not kept.exists()
    assert "a.unfinished is damaged" in (said := capsys.readouterr().out) and "Starting afresh." in said


def test_a_state_is_read_back_as_it_was(tmp_path):
    wanted = {**KEYS, "model": {"w": torch.arange(3.0)}, "rows": [0.1, 0.2]}
    state.write(tmp_path / "s", wanted)
    found = state.read(tmp_path / "s")
    assert torch.equal(found["model"]["w"], wanted["model"]["w"]) and found["rows"] == [0.1, 0.2]
    assert state.read(tmp_path / "other") is None


def test_states_of_shipped_checkpoints_lie_where_git_does_not_look(root, tmp_path):
    assert (
        state.place(training.settings.lm.DATA / "addition.safetensors")
        == root / ".pglab" / "addition.unfinished"
    )
    assert state.place(tmp_path / "b.safetensors") == tmp_path / "b.unfinished"
    assert ".pglab/" in (root / ".gitignore").read_text(encoding="utf-8").splitlines()
