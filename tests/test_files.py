"""Files are whole or not there: a disk that fails at any point leaves the old ones, and no scraps."""

import errno
import os
import stat
import subprocess
import sys

import pytest

from pglab import _files

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture
def folder(tmp_path):
    """Two files that stand there already."""
    for name in ("a.bin", "b.bin"):
        tmp_path.joinpath(name).write_bytes(f"old {name}".encode())
    return tmp_path


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


OLD = {"a.bin": b"old a.bin", "b.bin": b"old b.bin"}


def new(folder, size=3):
    return {folder / "a.bin": b"A" * size, folder / "b.bin": b"B" * size}


def full(*arguments):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_files_are_replaced_whole(folder):
    _files.write_whole(new(folder, 100_000))
    assert contents(folder) == {"a.bin": b"A" * 100_000, "b.bin": b"B" * 100_000}
    if sys.platform != "win32":
        assert stat.S_IMODE(folder.joinpath("a.bin").stat().st_mode) == 0o644  # others may read it


def test_folders_are_made_and_paths_may_be_words(folder):
    _files.write_whole({str(folder / "deep" / "er" / "c.bin"): b""})
    assert contents(folder / "deep" / "er") == {"c.bin": b""}
    _files.write_whole({})


def test_a_reader_has_the_old_or_the_new(folder, monkeypatch):
    """Until all lie on the disk, the old ones stand in their places."""
    seen, place, flush = [], os.replace, os.fsync

    def watched(function):
        def call(*arguments):
            seen.append((function.__name__, [folder.joinpath(name).read_bytes()[:3] for name in OLD]))
            return function(*arguments)

        return call

    monkeypatch.setattr(os, "replace", watched(place))
    monkeypatch.setattr(os, "fsync", watched(flush))
    _files.write_whole(new(folder))
    names, states = zip(*seen, strict=True)
    assert names == ("fsync", "fsync", "replace", "replace")
    assert states == ([b"old"] * 2, [b"old"] * 2, [b"old"] * 2, [b"AAA", b"old"])


@pytest.mark.parametrize("fails", ["fsync", "replace", "chmod", "fdopen"])
def test_the_first_failure_leaves_everything_as_it_was(folder, monkeypatch, fails):
    monkeypatch.setattr(os, fails, full)
    with pytest.raises(OSError) as caught:
        _files.write_whole(new(folder))
    assert caught.value.errno == errno.ENOSPC and contents(folder) == OLD
    message = str(caught.value)
    assert f"a.bin could not be written to {folder}: No space left on device." in message
    assert "What stood there before is unchanged. Free some space, or choose another folder." in message


def second_time(function, error):
    calls = []

    def call(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise error
        return function(*arguments)

    return call


def test_the_second_file_does_not_fit(folder, monkeypatch):
    monkeypatch.setattr(os, "fsync", second_time(os.fsync, OSError(errno.EIO, "broken")))
    with pytest.raises(
        OSError, match="b.bin could not be written .* broken. What stood there before is unch"
    ):
        _files.write_whole(new(folder))
    assert contents(folder) == OLD


@pytest.mark.parametrize("lost", [[], ["a.bin"], ["a.bin", "b.bin"]])
@pytest.mark.parametrize("links", [True, False])
def test_a_later_file_does_not_take_its_place(folder, monkeypatch, lost, links):
    """Those before it give theirs back, whether a file may have two names on this disk or not."""
    for name in lost:
        folder.joinpath(name).unlink()
    if not links:
        monkeypatch.setattr(os, "link", full)
    monkeypatch.setattr(os, "replace", second_time(os.replace, OSError("odd")))
    with pytest.raises(OSError, match=r"b.bin could not be written .*: odd. What stood there before is unch"):
        _files.write_whole(new(folder))
    assert contents(folder) == {name: data for name, data in OLD.items() if name not in lost}


def test_a_file_that_cannot_be_put_back_is_named(folder, monkeypatch):
    place = os.replace

    def once(*arguments):
        place(*arguments)
        monkeypatch.setattr(os, "replace", full)

    monkeypatch.setattr(os, "replace", once)
    with pytest.raises(OSError, match=r"b.bin could not be written .* on device. a.bin is new already."):
        _files.write_whole(new(folder))
    assert contents(folder) == OLD | {"a.bin": b"AAA"}


@pytest.mark.parametrize("fails", ["fsync", "replace", "link"])
def test_an_interrupt_leaves_no_scraps(folder, monkeypatch, fails):
    folder.joinpath("c.bin").write_bytes(b"old c.bin")
    monkeypatch.setattr(os, fails, second_time(getattr(os, fails), KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        _files.write_whole(new(folder) | {folder / "c.bin": b"CCC"})
    assert contents(folder) == OLD | {"c.bin": b"old c.bin"}


def test_a_file_in_the_way_of_the_folder(folder):
    for path in (folder / "a.bin" / "c.bin", folder / "a.bin" / "deep" / "c.bin"):
        with pytest.raises(OSError, match="c.bin could not be written to .*a.bin"):
            _files.write_whole({folder / "b.bin": b"B", path: b"C"})
        assert contents(folder) == OLD


def test_a_folder_in_the_way_of_a_file(folder):
    folder.joinpath("c.bin").mkdir()
    with pytest.raises(
        IsADirectoryError, match="c.bin could not be written .*What stood there before is unch"
    ):
        _files.write_whole({folder / "a.bin": b"A", folder / "c.bin": b"C"})
    folder.joinpath("c.bin").rmdir()
    assert contents(folder) == OLD


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has no such permissions")
def test_a_folder_that_cannot_be_written(folder):
    folder.chmod(0o500)
    try:
        if os.access(folder, os.W_OK):
            pytest.skip("whoever runs this may write everywhere")
        with pytest.raises(PermissionError, match="a.bin could not be written"):
            _files.write_whole(new(folder))
    finally:
        folder.chmod(0o700)
    assert contents(folder) == OLD


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_a_disk_that_fills_up(folder):
    """In a program of its own that may write no file above 100,000 bytes: the second is larger."""
    code = """
import resource, sys
from pathlib import Path
from pglab import _files
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
folder = Path(sys.argv[1])
try:
    _files.write_whole({folder / "a.bin": b"A" * 1000, folder / "b.bin": b"B" * 1_000_000})
except OSError as error:
    print(error)
"""
    result = subprocess.run(
        [sys.executable, "-c", code, str(folder)], capture_output=True, text=True, timeout=60, check=True
    )
    assert f"b.bin could not be written to {folder}: File too large" in result.stdout
    assert "What stood there before is unchanged" in result.stdout and contents(folder) == OLD


@pytest.mark.parametrize(
    "text, found", [("é ≤", "é ≤"), ("caf\udcc3\udca9", "café"), ("caf\udce9", "caf\ufffd")]
)
def test_a_path_of_a_terminal_without_utf_8_can_be_written_down(text, found):
    """Python marks the bytes of a path that it cannot read; they are UTF-8 after all, or not."""
    assert _files.utf8(text).decode("utf-8") == found
