"""Files that are whole or not there: the old content or the new, never half of it."""

import errno
import json
import os
import shutil
import tempfile
from pathlib import Path


def write_whole(contents):
    """Write files so that an interrupt or a full disk leaves the old ones as they were.

    Every file is first written beside its place, under another name. Only when all of them lie on
    the disk do they take their places, one after the other. Should one not be able to, those before
    it give theirs back.

    Args:
      contents: {path: bytes}. Folders that are missing are made.

    Raises:
      OSError: it could not be written; the message names the file, and what stood there still does
        (or, if even that failed, which ones are new).
    """
    scratch, before = {}, {}
    try:
        for path, data in contents.items():
            scratch[path] = _beside(Path(path), data)
        for path in scratch:
            if Path(path).is_dir():  # the one thing that commonly keeps a file from its place
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        for path in list(scratch)[:-1]:  # after the last one nothing can fail any more
            before[path] = _second_name(Path(path))
        for path, name in scratch.items():
            os.replace(name, path)
    except BaseException as error:
        new = [Path(each).name for each in before if not _put_back(each, scratch[each], before[each])]
        if not isinstance(error, OSError):
            raise
        left = f"{', '.join(new)} is new already" if new else "What stood there before is unchanged"
        raise OSError(
            error.errno,
            f"{Path(path).name} could not be written to {Path(path).parent}: {why(error)}. "
            f"{left}. Free some space, or choose another folder.",
        ) from error
    finally:
        for name in filter(None, [*scratch.values(), *before.values()]):
            Path(name).unlink(missing_ok=True)


def _second_name(path):
    """Another name for what lies at ``path``, under which it stays when the path gets a new file; "" for nothing."""
    if not os.path.lexists(path):
        return ""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".old")
    os.close(handle)
    try:
        os.unlink(name)
        os.link(path, name)
    except OSError:  # a disk on which a file has one name only
        shutil.copy2(path, name)
    return name


def _put_back(path, new, old):
    """Whether ``path`` holds what it held before: ``new`` may have taken its place, ``old`` is the other name of that."""
    if os.path.lexists(new):
        return True
    try:
        if old:
            os.replace(old, path)
        else:
            os.unlink(path)
    except OSError:
        return False
    return True


def read_committed(path, *wanted):
    """What a JSON file of the repository holds.

    Args:
      path: of the file.
      wanted: names that it must hold.

    Returns:
      a dictionary.

    Raises:
      ValueError: it is missing or damaged; the message says how to get it back.
    """
    path = Path(path)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(found, dict):
            raise ValueError("no names and values are in it")
        if lost := [name for name in wanted if name not in found]:
            raise ValueError(f"it holds no {lost[0]!r}")
        return found
    except (OSError, ValueError) as error:
        raise ValueError(
            f"{path.name} cannot be read ({why(error)}); `git checkout data` brings it back."
        ) from error


def utf8(text):
    """A text as bytes, also one that holds a path which Python could not read as text: its odd bytes are marked."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").encode()


def why(error):
    """What went wrong with a file, in words: without the number of the error and without the path."""
    if isinstance(error, KeyError):
        return f"it holds no {error}"
    return getattr(error, "strerror", None) or str(error)


def _beside(path, data):
    """The name of a new file in the folder of ``path`` that holds ``data``; nothing is left if it fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".new")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)  # mkstemp lets only its owner read
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return name
