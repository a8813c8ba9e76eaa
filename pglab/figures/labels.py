"""Where words go so that they cover neither each other nor what they speak of."""

import numpy as np

from pglab.figures.frame import RIGHT, SMALL, text_width
from pglab.figures.primitives import Label, Path

LINE = SMALL + 3  # from one line of words to the next
CLOSE = 8  # pixels: a word moved further than this from its dot is tied to it by a thin line


def spread(positions, gap, high):
    """Sorted positions up to ``high``, moved as little as possible until ``gap`` lies between them.

    The squared moves add up to the least there is: without its share ``i * gap`` each position must
    not fall below the one before, and neighbours that would are given their mean (isotonic regression).
    """
    blocks = []  # of [sum, number] of positions that share their mean
    for i, position in enumerate(positions):
        blocks.append([position - i * gap, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, number = blocks.pop()
            blocks[-1] = [blocks[-1][0] + total, blocks[-1][1] + number]
    means = [total / number for total, number in blocks for _ in range(number)]
    last = high - (len(means) - 1) * gap
    return [min(mean, last) + i * gap for i, mean in enumerate(means)]


def beside(dots, words, frame):
    """Labels for dots, each beside its own, moved up or down as little as possible.

    They stand to the right of their dots; to the left where the panel ends.

    Args:
      dots: list of Dot; one of radius 0 is not seen and gets no word.
      words: as many words, "" for none.
      frame: the Frame of their panel; the words stay inside its height.

    Returns:
      list of Label, and of Path for those that had to move.
    """
    named = [(dot, word) for dot, word in zip(dots, words, strict=True) if dot.radius and word]
    named.sort(key=lambda pair: pair[0].y)
    primitives = []
    for column in _columns(named, frame):
        heights = spread([dot.y for dot, _ in column], LINE, frame.bottom - LINE / 2)
        for (dot, word), y in zip(column, heights, strict=True):
            primitives += _tied(dot, word, y - dot.y, frame)
    return primitives


def _columns(named, frame):
    """The dots in sets whose words stand above one another; those of other sets cannot touch them."""
    columns = []  # of [left, right, members]
    for pair in named:
        left, right = _sides(*pair, frame)
        members = [pair]
        for column in [c for c in columns if c[0] < right and left < c[1]]:
            columns.remove(column)
            left, right, members = min(left, column[0]), max(right, column[1]), column[2] + members
        columns.append([left, right, sorted(members, key=lambda pair: pair[0].y)])
    return [members for _, _, members in columns]


def _sides(dot, word, frame, indent=0):
    """Left and right end of the word: right of its dot, or left of it where the panel ends."""
    width, gap = text_width(word, SMALL), dot.radius + 3 + indent
    fits = dot.x + gap + width <= frame.right + RIGHT
    left = dot.x + gap if fits else dot.x - gap - width
    return left, left + width


def _tied(dot, word, shift, frame):
    """The word; if it had to move, with a line to its dot and a little room for that line."""
    moved = abs(shift) > CLOSE
    left, right = _sides(dot, word, frame, indent=8 if moved else 0)
    label = Label(left, dot.y + shift + 4, word, dot.fill, halo=True)
    if not moved:
        return [label]
    near = left - 1 if left > dot.x else right + 1
    return [Path(np.array([[dot.x, dot.y], [near, dot.y + shift]]), dot.fill, 0.8), label]
