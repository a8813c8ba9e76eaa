"""Make the committed drawings, one function for each: notebooks/drawings/*.svg.

    make drawings
    python tools/drawings.py build/drawings     into another folder

Plain SVG: GitHub and Jupyter show it as it is. Same code, same bytes. Every drawing carries a
title and a description for screen readers, made from the same lists as the drawing itself.
"""

import os
import sys
from pathlib import Path

from drawing_grid import weight_and_constraint
from drawing_loop import reinforce_loop
from drawing_map import learning_map
from drawing_search import search_agent
from pen import ROOT

FOLDER = ROOT / "notebooks" / "drawings"

DRAWINGS = {
    "learning_map": learning_map,
    "weight_and_constraint": weight_and_constraint,
    "reinforce_loop": reinforce_loop,
    "search_agent": search_agent,
}


def write(path, text):
    """All of the file or none of it, with the same line ends everywhere."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        scratch.write_bytes(text.encode("utf-8"))
        os.replace(scratch, path)
    finally:
        scratch.unlink(missing_ok=True)


def main(folder=FOLDER):
    for name, draw in DRAWINGS.items():
        drawing, path = draw(), Path(folder) / f"{name}.svg"
        write(path, drawing.markup(name))
        shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        print(f"{shown.as_posix()}  {drawing.width} x {drawing.height}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
