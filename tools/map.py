"""Draw README's map from the code: the notebooks and the rooms, between the marks that name them.

    make map
    python tools/map.py --check     says whether README is up to date

Title and minutes of a notebook stand in its first cell; its question is that of the map in notebook 00.
What lives in a room is the first paragraph of its docstring.
"""

import argparse
import re
import sys

import drawing_rooms
import nbformat
from drawing_map import NOTEBOOKS
from pen import ROOT, in_one_line
from rooms import ROOMS, place, says

from pglab._files import write_whole

README = ROOT / "README.md"


def notebooks():
    """The table of the notebooks, in reading order."""
    lines = ["| | notebook | the question | minutes |", "|---|---|---|---|"]
    for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb")):
        number, title, minutes = opening(nbformat.read(path, 4).cells[0].source)
        question = in_one_line(NOTEBOOKS[number][1])
        lines.append(f"| {number} | [{title}](notebooks/{path.name}) | {question} | {minutes} |")
    return "\n".join(lines)


def opening(text):
    """(number, title without what follows a colon or a comma, minutes) of a first cell."""
    number, title = re.match(r"# (\d\d) ([^:,\n]+)", text).groups()
    (minutes,) = re.findall(r"About (\d+) minutes", text)
    return number, title, minutes


def rooms():
    """The table of the rooms, in the order of their imports."""
    lines = ["| room | what lives there |", "|---|---|"]
    for room in ROOMS:
        link = place(room).relative_to(ROOT).as_posix()
        lines.append(f"| [`{room}`]({link}) | {says(room)} |")
    return "\n".join(lines)


def imports():
    """The drawing of which room imports which, with its first and last rows in words."""
    rows_of = drawing_rooms.levels(drawing_rooms.graph())
    first, last = (", ".join(r for r in rows_of if rows_of[r] == n) for n in (0, max(rows_of.values())))
    words = (
        f"Which room imports which, in {1 + max(rows_of.values())} rows: from {first} at the top to {last}."
    )
    return f"![{words}](notebooks/drawings/rooms.svg)"


PARTS = {"notebooks": notebooks, "rooms": rooms, "imports": imports}


def drawn(text):
    """README with every part drawn anew.

    Raises:
      ValueError: a part's marks are not there, once each and in their order.
    """
    for name, draw in PARTS.items():
        start, end = f"<!-- {name}: drawn by make map -->\n\n", f"\n\n<!-- end of {name} -->"
        before, opened, rest = text.partition(start)
        _, closed, after = rest.partition(end)
        if not opened or not closed or start in after:
            raise ValueError(f"README.md needs one line `{start.strip()}` and below it `{end.strip()}`.")
        text = before + start + draw() + end + after
    return text


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="tools/map.py", description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 if README is old")
    options = parser.parse_args(arguments)
    old = README.read_text(encoding="utf-8")
    new = drawn(old)
    if new == old:
        print("README.md is up to date.")
        return 0
    if options.check:
        print("README.md is not what the code says: make map", file=sys.stderr)
        return 1
    write_whole({README: new.encode("utf-8")})
    print("README.md is drawn anew.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
