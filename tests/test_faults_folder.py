"""A folder that cannot be written, for everything that writes: the old files stay, and one sentence says what to do."""

import contextlib
import errno
import os
import shutil
import tempfile

import nbformat
import pytest
import recordings as recordings_tool
import render
from test_recordings_tool import tiny

from pglab import progress, recordings
from pglab.exercises import check
from pglab.lm import __main__ as lm_command
from pglab.training import Pretraining
from pglab.training import command as training

pytestmark = pytest.mark.usefixtures("one_thread")

FEW = "--device cpu --prompts 4".split()
SHORT = "--device cpu --evaluate 0 --steps 2 --fresh".split()


def note(folder, monkeypatch, which):
    monkeypatch.setenv("PGLAB_PROGRESS", str(folder / "progress.json"))
    check("0c", {"old": 0.6, "new": 0.6}[which])
    progress.note_done(f"9{'ab'[which == 'new']}")
    return None  # a reader's notebook goes on


def post_train(folder, monkeypatch, which):
    seed = {"old": "1", "new": "2"}[which]
    return training.main(
        ["grpo", "--task", "addition", *SHORT, "--seed", seed, "--out", f"{folder}/a.safetensors"]
    )


def pretrain(folder, monkeypatch, which):
    tiny = Pretraining("addition", seed={"old": 1, "new": 2}[which], examples=40, steps=2, batch=4, warmup=1)
    monkeypatch.setattr(training, "preset", lambda *given: tiny)
    words = ["--task", "addition", *FEW, "--fresh", "--out", f"{folder}/a.safetensors"]
    return training.main(["pretrain", *words])


def export(folder, monkeypatch, which):
    dtype = {"old": "float32", "new": "float16"}[which]
    return lm_command.main(["export", "addition", "--out", str(folder), "--dtype", dtype])


def record(folder, monkeypatch, which):
    monkeypatch.setattr(recordings_tool, "KEPT", folder / "kept")
    experiment = tiny(prompts={"old": 4, "new": 5}[which], seeds=(0,))
    monkeypatch.setattr(recordings_tool, "EXPERIMENTS", {"tiny": experiment})
    monkeypatch.setattr(recordings, "FOLDER", folder)
    monkeypatch.setattr(recordings.write, "__defaults__", (folder,))
    return recordings_tool.main(["tiny"])


def render_one(folder, monkeypatch, which):
    """The kernel itself is not what is tried here."""
    monkeypatch.setattr(render, "execute", lambda notebook, folder: None)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(f"'{which}'", id="a")])
    monkeypatch.setattr(render, "read", lambda path: notebook)
    return render.main([str(folder / "a.ipynb")])


WRITERS = [note, post_train, pretrain, export, record, render_one]
each_writer = pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.__name__)


def refused(number):
    def raises(*_, **__):
        raise OSError(number, os.strerror(number))

    return raises


@contextlib.contextmanager
def full_disk(folder, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", refused(errno.ENOSPC))
        yield os.strerror(errno.ENOSPC)


@contextlib.contextmanager
def read_only(folder, monkeypatch):
    with monkeypatch.context() as patch:
        for name in ("mkstemp", "TemporaryFile"):
            patch.setattr(tempfile, name, refused(errno.EROFS))
        yield os.strerror(errno.EROFS)


@contextlib.contextmanager
def small_files(folder, monkeypatch):
    """The operating system itself refuses, and spares nobody: no file may have more than ten bytes."""
    resource = pytest.importorskip("resource", reason="Windows has no such limit")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        yield os.strerror(errno.EFBIG)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def one_sentence(capsys, writer, code):
    """What is said: one line, with the file's name; the exit code says it too."""
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err and "Errno" not in out + err
    if writer is note:
        assert code is None
        return out.splitlines()[-1]
    assert code == 1, (code, out, err)
    said = err.strip() if err.strip() else out
    assert said.count("\n") <= 1
    return said


@each_writer
@pytest.mark.parametrize("fault", [full_disk, read_only, small_files], ids=lambda fault: fault.__name__)
def test_what_stood_there_is_unchanged_and_one_sentence_says_what_to_do(
    tmp_path, monkeypatch, capsys, writer, fault
):
    folder = tmp_path / "out"
    folder.mkdir()
    assert not writer(folder, monkeypatch, "old")
    before = contents(folder)
    assert before
    capsys.readouterr()
    with fault(folder, monkeypatch) as reason:
        code = writer(folder, monkeypatch, "new")
    said = one_sentence(capsys, writer, code)
    assert reason in said and any(name.rpartition("/")[2].split(".")[0] in said for name in before), said
    assert contents(folder) == before
    if writer is not note:
        assert (
            "unchanged. Free some space, or choose another folder." in said or "Nothing was started." in said
        )
    assert not writer(folder, monkeypatch, "new")  # with room again the same call does it
    assert contents(folder) != before


@each_writer
def test_a_file_in_the_way_of_the_folder(tmp_path, monkeypatch, capsys, writer):
    way = tmp_path / "way"
    way.write_text("a file")
    code = writer(way / "deeper", monkeypatch, "new")
    assert "way" in one_sentence(capsys, writer, code) or writer is note
    assert way.read_text() == "a file" and list(tmp_path.iterdir()) == [way]


@each_writer
def test_a_full_disk_without_anything_there_leaves_no_scraps(tmp_path, monkeypatch, capsys, writer):
    with full_disk(tmp_path, monkeypatch):
        code = writer(tmp_path / "new", monkeypatch, "new")
    one_sentence(capsys, writer, code)
    assert contents(tmp_path) == {}


def test_a_state_that_cannot_be_removed_is_said(tmp_path, capsys):
    (tmp_path / "a.unfinished").mkdir()
    words = ["grpo", "--task", "addition", *SHORT, "--out", f"{tmp_path}/a.safetensors"]
    assert training.main(words) == 1
    assert "a.unfinished in " in (said := capsys.readouterr().err) and "cannot be removed" in said


def test_a_hand_over_that_cannot_be_taken_back_leaves_no_file(tmp_path, monkeypatch, capsys):
    assert lm_command.main(["export", "addition", "--out", str(tmp_path / "out")]) == 0
    with full_disk(tmp_path, monkeypatch):
        words = ["import", str(tmp_path / "out"), "--out", str(tmp_path / "mine.safetensors")]
        assert lm_command.main(words) == 1
    assert "mine.safetensors could not be written" in capsys.readouterr().err
    shutil.rmtree(tmp_path / "out")
    assert contents(tmp_path) == {}
