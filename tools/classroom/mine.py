"""One's own copy of the notebooks, in mine/: git does not look there, and no update writes over it.

make mine                          copies what is not there yet, opens it in JupyterLab
make mine ARGS="--beside 03"       puts the present 03 beside your own, under another name
"""

import argparse
import hashlib
import json
import shutil
import sys

from render import write

from classroom.lesson import ROOT, chosen_lessons, lessons, noted, with_answers_out_of_sight

OUT = ROOT / "mine"
NOTE = ".copied.json"  # {name: hash of the notebook it was copied from}


def copy(out=OUT):
    """Copy what is missing; (names copied now, names whose original has changed since they were copied)."""
    out.mkdir(exist_ok=True)
    known, fresh, changed = noted(out / NOTE), [], []
    for lesson in lessons():
        name = lesson.path.name
        if not (out / name).exists():
            write(with_answers_out_of_sight(lesson.notebook()), out / name)
            known[name] = _hash(lesson)
            fresh.append(name)
        elif known.get(name) != _hash(lesson):
            changed.append(name)
    _copy_drawings(out)
    (out / NOTE).write_text(json.dumps(known, indent=1), encoding="utf-8")
    return fresh, changed


def beside(chosen, out=OUT):
    """Put the present notebooks beside the reader's own, under names that are free; [the names].

    Raises:
      ValueError: a number that no notebook has.
    """
    written, known = [], noted(out / NOTE)
    for lesson in chosen_lessons(chosen):
        stem, number = lesson.path.stem, 1
        while (path := out / f"{stem} (new{'' if number == 1 else f' {number}'}).ipynb").exists():
            number += 1
        write(with_answers_out_of_sight(lesson.notebook()), path)
        known[lesson.path.name] = _hash(lesson)
        written.append(path.name)
    (out / NOTE).write_text(json.dumps(known, indent=1), encoding="utf-8")
    return written


def _copy_drawings(out):
    """Pictures that the text shows: what is missing only, like the notebooks."""
    for path in (ROOT / "notebooks" / "drawings").iterdir():
        target = out / "drawings" / path.name
        target.parent.mkdir(exist_ok=True)
        if not target.exists():
            shutil.copy(path, target)


def _hash(lesson):
    """Of the sources alone: another run of the same notebook is no news."""
    cells = [[cell.cell_type, cell.source] for cell in lesson.notebook().cells]
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()


def main(arguments):
    parser = argparse.ArgumentParser(
        prog="make mine", description="Your own copy of the notebooks, in mine/."
    )
    parser.add_argument(
        "--beside", nargs="+", metavar="03", default=[], help="put these, new, beside your own"
    )
    chosen = parser.parse_args(arguments)
    try:
        fresh, changed = copy()
        new = beside(tuple(chosen.beside)) if chosen.beside else []
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        print(
            f"{error.filename or OUT} cannot be written: {error.strerror}. Nothing of yours was changed.",
            file=sys.stderr,
        )
        return 1
    print(f"{len(fresh)} notebooks copied into {OUT.name}/; those that were there are as you left them.")
    for name in changed if not new else []:
        print(
            f'  {name} has changed since you copied it. make mine ARGS="--beside {name[:2]}" puts it beside yours.'
        )
    for name in new:
        print(f"  beside yours: {name}")
    return 0
