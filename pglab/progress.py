"""The reader's own progress: one small file on their disk, never part of a stored notebook.

It lies in ``.pglab/progress.json`` beside the project. PGLAB_PROGRESS names another file, or is
"off": nothing is read or written then, as when notebooks are rendered or tested.
"""

import json
import os
from pathlib import Path

from pglab import _files


def done():
    """Names of the exercises solved so far, sorted; empty where there is no readable record."""
    return sorted(_read()["done"])


def guesses():
    """{name of a prediction: what the reader guessed}, as far as it is noted."""
    return _read()["guesses"]


def note_done(name):
    """Remember that an exercise is solved."""
    noted = _read()
    if name not in noted["done"]:
        _write(noted | {"done": sorted({*noted["done"], name})}, "Your answer counts, but it")


def note_guess(name, guess):
    """Remember what was guessed; the first guess counts."""
    noted = _read()
    if name not in noted["guesses"]:
        _write(noted | {"guesses": noted["guesses"] | {name: guess}}, "Your guess stands, but it")


def _file():
    wanted = os.environ.get("PGLAB_PROGRESS")
    if wanted == "off":
        return None
    return Path(wanted) if wanted else Path(__file__).resolve().parents[1] / ".pglab" / "progress.json"


def _read():
    """What is noted, in whole; empty where nothing is, or nothing that can be read."""
    empty = {"done": [], "guesses": {}}
    path = _file()
    if path is None:
        return empty
    try:
        noted = dict(json.loads(path.read_text(encoding="utf-8")))
        done, guesses = list(noted.get("done", [])), dict(noted.get("guesses", {}))
    except (OSError, ValueError, TypeError):  # damaged: start anew rather than stop the reader
        return empty
    return {"done": [str(name) for name in done], "guesses": {str(k): str(v) for k, v in guesses.items()}}


def _write(noted, what):
    """Replace the file in one step. What cannot be read any more is kept beside it, not written over."""
    path = _file()
    if path is None:
        return
    try:
        if path.is_file() and _read() == {"done": [], "guesses": {}}:
            _keep(path)
        _files.write_whole({path: json.dumps(noted, ensure_ascii=False, indent=1).encode()})
    except OSError as error:
        reason = getattr(error.__cause__, "strerror", None) or error  # write_whole adds the place to it
        print(f"({what} could not be noted in {path.name}: {reason}.)")


def _keep(path):
    try:
        json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        os.replace(path, path.with_name("progress.damaged.json"))
