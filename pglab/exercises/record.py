"""The reader's own progress: one small file, never part of a stored notebook.

It lies in ``.pglab/progress.json`` beside the project. PGLAB_PROGRESS names another file, or is
"off": nothing is read or written then, as when notebooks are rendered or tested.
"""

import json
import os
from pathlib import Path

from pglab import _files

TITLES = {
    "0": "00 Start here",
    "1": "01 The exact bandit",
    "2": "02 REINFORCE",
    "3": "03 Baselines",
    "4": "04 Trajectories",
    "5": "05 Critics",
    "6": "06 Constraints",
    "7": "07 Language models",
    "8": "08 GRPO on a small model",
    "9": "09 The variants",
    "10": "10 The bug museum",
    "11": "11 Scaling out",
}


def _file():
    wanted = os.environ.get("PGLAB_PROGRESS")
    if wanted == "off":
        return None
    return Path(wanted) if wanted else Path(__file__).resolve().parents[2] / ".pglab" / "progress.json"


def done():
    """Names of the exercises solved so far, sorted; empty where there is no readable record."""
    path = _file()
    if path is None or not path.exists():
        return []
    try:
        return sorted(str(name) for name in json.loads(path.read_text(encoding="utf-8"))["done"])
    except (OSError, ValueError, KeyError, TypeError):  # damaged: start anew rather than stop the reader
        return []


def note(name):
    """Remember that an exercise is solved. The file is replaced in one step."""
    path = _file()
    if path is None or name in done():
        return
    text = json.dumps({"done": sorted({*done(), name})})
    try:
        _files.write_whole({path: text.encode()})
    except OSError as error:
        reason = error.__cause__.strerror  # of the system; write_whole adds the place to it
        print(f"(Your answer counts, but it could not be noted in {path.name}: {reason}.)")


def progress():
    """Print the exercises of every notebook and which of them are done."""
    from pglab.exercises.checking import all_exercises

    solved, exercises = set(done()), all_exercises()
    for number, title in TITLES.items():
        mine = [e for e in exercises if e.name[:-1] == number]
        print(f"{title}: {sum(e.name in solved for e in mine)} of {len(mine)} done")
        for e in mine:
            mark = "[x]" if e.name in solved else "[ ]"
            print(f"  {mark} {e.name}  {e.title} ({e.difficulty}, {e.minutes} min)")
