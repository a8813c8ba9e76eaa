"""The unfinished run: kept on disk so that an interrupt costs seconds, and never half written."""

import hashlib
import io
import pickle
import tempfile
from pathlib import Path

import torch

from pglab import _files, lm

UNFINISHED = ".unfinished"
FOLDER = lm.DATA.parent / ".pglab"  # git does not look there
KEYS = ("settings", "marks", "step", "rows", "seconds", "model", "optimisers")
DIGEST = hashlib.sha256().digest_size


def place(path):
    """Where the state of the run that makes ``path`` lies: in .pglab/ for data/, beside the file elsewhere."""
    path = Path(path)
    inside = path.resolve().parent == lm.DATA
    return (FOLDER if inside else path.parent) / (path.stem + UNFINISHED)


def write(path, state):
    """Replaces the state by a new one.

    Args:
      path: of the state.
      state: a dictionary with the ``KEYS``, of tensors and plain numbers.

    Raises:
      OSError: it could not be written; the state before it is still there.
    """
    buffer = io.BytesIO()
    torch.save(state, buffer)
    data = buffer.getvalue()
    _files.write_whole({path: hashlib.sha256(data).digest() + data})


def read(path):
    """The state that lies there.

    Args:
      path: of the state.

    Returns:
      The dictionary, its tensors on the CPU; None where no state lies.

    Raises:
      ValueError: the file is damaged or is no state.
      OSError: it cannot be read.
    """
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:  # it may be whole all the same: it is not written over
        raise OSError(
            error.errno,
            f"{Path(path).name} in {Path(path).parent} cannot be read: {_files.why(error)}. Nothing was started. It "
            "holds an unfinished run: make it readable, or forget it with --fresh (from Python: delete the file).",
        ) from error
    try:
        if hashlib.sha256(data[DIGEST:]).digest() != data[:DIGEST]:
            raise ValueError("its bytes have changed")
        state = torch.load(io.BytesIO(data[DIGEST:]), map_location="cpu", weights_only=True)
        if not isinstance(state, dict) or state.keys() != set(KEYS):
            raise ValueError("it holds something else")
        return state
    except (ValueError, TypeError, RuntimeError, EOFError, pickle.UnpicklingError) as error:
        raise ValueError(f"{Path(path).name} is damaged ({error}).") from error


def forget(path):
    """Removes the state; nothing happens where there is none.

    Raises:
      OSError: it cannot be removed.
    """
    try:
        Path(path).unlink(missing_ok=True)
    except OSError as error:
        raise OSError(
            error.errno, f"{Path(path).name} in {Path(path).parent} cannot be removed: {_files.why(error)}."
        ) from error


ELSEWHERE = "Choose another place with --out (from Python: path=), or make room there."


def check_folder(path, way_out=ELSEWHERE):
    """Makes sure that a file can be written there, before minutes are spent on its content.

    Args:
      path: of the file to come. Its folder is made if it is missing.
      way_out: a sentence that says what to do.

    Raises:
      OSError: it cannot; the message names the folder.
    """
    folder = Path(path).parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"?")
            file.flush()
        if Path(path).is_dir():
            raise IsADirectoryError(None, "a folder of this name is in the way")
    except OSError as error:
        raise OSError(
            error.errno,
            f"{Path(path).name} cannot be written to {folder}: {_files.why(error)}. Nothing was started. {way_out}",
        ) from error
