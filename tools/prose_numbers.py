"""Whole numbers and percentages of the prose that nothing in the notebook shows.

A number of two digits or more, or a percentage, must be a number of an output or of a code cell of the same
notebook, rounded to the digits that are said. Decimals of three digits are ``notebook_policy``'s business. Minutes
are counted there too, years and the numbers of issues are names, and a ``(source: ...)`` vouches for its paragraph.
"""

import re

import nbformat
from notebook_policy import _plain, _texts

OUTER = re.compile(r"\[[^\]]*\]\(https?:[^)]*\)")  # TRL 4159: a name
WHOLE = re.compile(
    r"(?<![\w.,-])(\d{1,3}(?:,\d{3})+|\d+)(?![\w,]*\d|\.\d|,\d)"
    r"(?=(\s?%|(?: (?:or|to|and) \d+)? (?:per cent|in 100|of 100|in a hundred))?)(?! minutes)"
)
SHOWN = re.compile(r"(?<![\w.])\d[\d_,]*\.?\d*(?:e[+-]?\d+)?")
YEARS = range(1900, 2031)


def said(text):
    """(number, is it a share of a hundred, the words around it) of each number of the prose that must be shown."""
    for paragraph in _plain(OUTER.sub(" ", text)).split("\n\n"):
        if "(source:" in paragraph or paragraph.startswith("**Sources.**"):
            continue
        for found in WHOLE.finditer(paragraph):
            words = paragraph[max(0, found.start() - 30) : found.end() + 20].replace("\n", " ")
            number, share = int(found[1].replace(",", "")), bool(found[2])
            follows = paragraph[: found.start()].endswith((" in ", " of ")) and number == 100
            if (share or number >= 10 and number not in YEARS) and not follows:
                yield number, share, words


def shown(code):
    """Every number of the outputs and of the code."""
    text = " ".join([*_texts(code), *(cell.source for cell in code)])
    return [float(number.replace(",", "").replace("_", "").rstrip(".")) for number in SHOWN.findall(text)]


def is_shown(number, share, numbers):
    """A share of a hundred may be shown as such, or as a share of one."""
    scales = (1, 100) if share else (1,)
    return any(abs(scale * each - number) <= 0.5000001 for scale in scales for each in numbers)


def unseen(path):
    """[(number, words around it)] of those that the notebook says and does not show."""
    cells = nbformat.read(path, as_version=4).cells
    numbers = shown([cell for cell in cells if cell.cell_type == "code"])
    text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return [(number, words) for number, share, words in said(text) if not is_shown(number, share, numbers)]
