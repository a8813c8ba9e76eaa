"""Slide marks for cells that have none: `make render` stores them, and whoever teaches may change them."""

import re

from classroom.lesson import exercise_of

MARKS = ("slide", "subslide", "fragment", "skip", "notes", "-")


def mark(cell):
    """The mark a cell has, or the usual one."""
    return cell.metadata.get("slideshow", {}).get("slide_type") or usual(cell)


def usual(cell):
    """A heading begins a slide, everything else a slide below it; imports and exercise stubs are left out."""
    if cell.cell_type == "markdown":
        return "slide" if re.match(r"#{1,2} ", cell.source) else "subslide"
    if exercise_of(cell) or _only_imports(cell.source):
        return "skip"
    return "subslide"


def _only_imports(source):
    lines = [line for line in source.splitlines() if line.strip() and not line.startswith(("#", " ", ")"))]
    return all(line.startswith(("import ", "from ")) for line in lines)
