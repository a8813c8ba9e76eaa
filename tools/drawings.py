"""Make the committed drawings, one function for each: notebooks/drawings/*.svg.

    make drawings
    python tools/drawings.py build/drawings     into another folder

Plain SVG: GitHub and Jupyter show it as it is. Same code, same bytes. Every drawing carries a
title and a description for screen readers, made from the same lists as the drawing itself.
"""

import sys
from pathlib import Path

from drawing_grid import weight_and_constraint
from drawing_loop import reinforce_loop
from drawing_map import learning_map
from drawing_rooms import rooms
from drawing_search import search_agent
from pen import ROOT

from pglab._files import write_whole

FOLDER = ROOT / "notebooks" / "drawings"

DRAWINGS = {
    "learning_map": learning_map,
    "weight_and_constraint": weight_and_constraint,
    "reinforce_loop": reinforce_loop,
    "search_agent": search_agent,
    "rooms": rooms,
}


def main(folder=FOLDER):
    for name, draw in DRAWINGS.items():
        drawing, path = draw(), Path(folder) / f"{name}.svg"
        write_whole({path: drawing.markup(name).encode("utf-8")})
        shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        print(f"{shown.as_posix()}  {drawing.width} x {drawing.height}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
