"""Make the committed drawings, one function for each: notebooks/drawings/*.svg.

    make drawings
    python tools/drawings.py build/drawings     into another folder

Plain SVG: GitHub and Jupyter show it as it is. Same code, same bytes. Every drawing carries a
title and a description for screen readers, made from the same lists as the drawing itself.
"""

import os
import sys
from pathlib import Path

from drawing_search import search_agent
from pen import BODY, HEADING, LEADING, NAME, ROOT, SMALL, Drawing, tint

from pglab import bandit
from pglab.figures.palette import BLUE, GREEN, INK, PAPER, PURPLE, QUIET, VERMILLION

FOLDER = ROOT / "notebooks" / "drawings"
WIDTH = 900
MARGIN = 14
PALE = 0.06  # strength of the tint behind words in the full colour


def _words(text):
    return " ".join(text.split("\n"))


# --- The map of the collection -----------------------------------------------------------------

# number: (short title, the one question it answers, the notebooks it builds on directly)
NOTEBOOKS = {
    "00": ("Start here", "Does everything run, and\nhow does the course work?", ()),
    "01": ("The exact bandit", "How can a mere verdict\ngive a gradient?", ("00",)),
    "02": ("REINFORCE", "Can random samples stand in\nfor the exact sum?", ("01",)),
    "03": ("Baselines", "What may be subtracted, and\nhow much noise does it save?", ("02",)),
    "04": ("Trajectories and credit", "Which rewards count\nfor which step?", ("03",)),
    "05": ("Values, critics, GAE", "What does a critic save,\nand what bias does it bring?", ("04",)),
    "06": ("Constraining the step", "How far may one batch\nmove the policy?", ("05",)),
    "07": ("A language model is a policy", "What changes when\nthe actions are tokens?", ("04",)),
    "08": ("GRPO on a small language model", "Can a model learn to be right\nfrom a verifier alone?",
           ("06", "07")),
    "09": ("The variants", "Which one term does\neach variant change?", ("08",)),
    "10": ("The bug museum", "How do you see a bug\nbefore the reward shows it?", ("09",)),
    "11": ("Scaling out", "What changes when\none machine is not enough?", ("08",)),
}  # fmt: skip

# (name, what it is about, colour, its notebooks)
GROUPS = (
    ("Four actions", "the gradient,\nsamples,\nbaselines", BLUE, ("01", "02", "03")),
    ("Many steps", "trajectories,\ncritics,\nconstraints", GREEN, ("04", "05", "06")),
    ("Language\nmodel", "tokens,\nGRPO", PURPLE, ("07", "08")),
    ("Further", "variants,\nbugs,\nscale", VERMILLION, ("09", "10", "11")),
)


def learning_map():
    card, pad, between = 88, 12, 32  # height of a card, room around it in its band, room between bands
    left, right, gap = 132, WIDTH - MARGIN - 12, 24  # of the cards
    column, half = (right - left - 2 * gap) / 3, (right - left - gap) / 2
    first, step = MARGIN + card + between, card + 2 * pad + between  # top of the first band; to the next
    height = first + len(GROUPS) * step - between + MARGIN
    drawing = Drawing(WIDTH, height, "Map of the twelve notebooks", _map_in_words())
    place = {}  # number: (x, y, width) of the card

    def put(number, x, y, width, colour, fill=PAPER, ink=INK):
        title, question, _ = NOTEBOOKS[number]
        drawing.box(x, y, width, card, fill, colour)
        drawing.text(x + 12, y + 26, number, 16, ink if fill == INK else colour, bold=True)
        drawing.text(x + 40, y + 26, title, NAME, ink, bold=True)
        drawing.text(x + 12, y + 52, question, BODY, ink)
        place[number] = (x, y, width)

    put("00", left, MARGIN, column, INK, fill=INK, ink=PAPER)
    _map_heading(drawing, left + column + gap + 8, MARGIN)
    for row, (name, about, colour, numbers) in enumerate(GROUPS):
        top = first + row * step
        drawing.box(MARGIN, top, WIDTH - 2 * MARGIN, card + 2 * pad, tint(colour, PALE), radius=12)
        drawing.text(MARGIN + 12, top + pad + 26, name, NAME, colour, bold=True)
        lines = name.count("\n")
        drawing.text(MARGIN + 12, top + pad + 48 + LEADING * lines, about, SMALL, INK)
        width = column if len(numbers) == 3 else half
        for i, number in enumerate(numbers):
            put(number, left + i * (width + gap), top + pad, width, colour)
    for number, (_, _, needs) in NOTEBOOKS.items():
        for needed in needs:
            drawing.arrow(_route(place[needed], place[number], card, pad + between / 2))
    return drawing


def _route(start, end, height, drop):
    """From a card to one that builds on it: along the row, straight down, or round the corner."""
    (x0, y0, width0), (x1, y1, width1) = start, end
    if y0 == y1:
        return [(x0 + width0, y0 + height / 2), (x1, y1 + height / 2)]
    below, above = y0 + height, y1
    # The narrower card sets the place of a straight arrow, if it lies above or below the wider one.
    middle = x0 + width0 / 2 if width0 <= width1 else x1 + width1 / 2
    if max(x0, x1) < middle < min(x0 + width0, x1 + width1):
        return [(middle, below), (middle, above)]
    # Round the corner: a wide card is left near the side of the goal, clear of its other arrow.
    x0, x1 = x0 + width0 / (4 if width0 > width1 else 2), x1 + width1 / 2
    return [(x0, below), (x0, below + drop), (x1, below + drop), (x1, above)]


def _map_heading(drawing, x, y):
    drawing.text(x, y + 22, "Twelve notebooks, in reading order", HEADING, INK, bold=True)
    drawing.text(x, y + 48, "Begin with 00 and follow the numbers.", BODY)
    drawing.arrow([(x, y + 68.5), (x + 36, y + 68.5)])
    drawing.text(x + 46, y + 73, "leads to what builds on it", BODY)


def _map_in_words():
    groups = "; ".join(f"{_words(name)}: {', '.join(ns)}" for name, _, _, ns in GROUPS)
    lines = [f"Twelve notebooks, read in the order of their numbers. Start with 00. Groups: {groups}."]
    for number, (title, question, needs) in NOTEBOOKS.items():
        after = f" Builds on {' and '.join(needs)}." if needs else ""
        lines.append(f"{number} {title}. {_words(question)}{after}")
    return "\n".join(lines)


# --- Weight and constraint ---------------------------------------------------------------------

# R is the reward of one sample; (name, formula)
WEIGHTS = (
    ("Return", "R, as it is"),
    ("Return − batch mean", "R − mean over the batch"),
    ("Leave-one-out", "R − mean of the other R"),
    ("Group-normalised", "(R − group mean) / group std"),
    ("Critic’s advantage", "an estimate of Q − V"),
)
CONSTRAINTS = (
    ("None", "take the step\nas it is"),
    ("KL penalty", "objective minus\nβ × KL"),
    ("Clip", "no gain past\nratio 1 ± ε"),
    ("Trust region", "keep KL ≤ δ\nin every step"),
)
# (name, note, its weight, its constraints)
EXAMPLES = (
    ("REINFORCE", "", "Return", ("None",)),
    ("RLOO", "KL, if any, in the reward", "Leave-one-out", ("None", "KL penalty")),
    ("GRPO", "clip, often with KL in the loss", "Group-normalised", ("KL penalty", "Clip")),
    ("PPO", "", "Critic’s advantage", ("Clip",)),
    ("TRPO", "", "Critic’s advantage", ("Trust region",)),
)


def weight_and_constraint():
    root_y, root_height, header_y, header_height = 82, 84, 136, 74
    row_x, row_width, row_height, row_step = 58, 216, 54, 70
    column_width, column_step = 138, 150
    columns = {name: 367 + i * column_step for i, (name, _) in enumerate(CONSTRAINTS)}
    rows = {name: 274 + i * row_step for i, (name, _) in enumerate(WEIGHTS)}
    row_end, last_row, last_column = row_x + row_width, max(rows.values()), max(columns.values())
    height = last_row + row_height / 2 + 108
    drawing = Drawing(WIDTH, round(height), "An algorithm is a weight and a constraint", _grid_in_words())
    drawing.text(MARGIN, 32, "An algorithm is a weight and a constraint", HEADING, bold=True)
    drawing.text(
        MARGIN, 58, "The weight scales the score, the constraint limits the step, and any goes with any."
    )

    # The lattice: every weight crosses every constraint.
    for y in rows.values():
        drawing.line([(row_end, y), (last_column, y)], tint(BLUE, 0.4))
    for x in columns.values():
        drawing.line([(x, header_y + header_height), (x, last_row)], tint(VERMILLION, 0.4))
    for x, y in ((x, y) for y in rows.values() for x in columns.values()):
        drawing.circle(x, y, 7, PAPER, QUIET)

    # The two branches, from the root to each choice.
    trunk, branch = MARGIN + 16, root_y + 28
    for y in rows.values():
        bend = [(trunk, root_y + root_height)] if y == last_row else []
        drawing.arrow([*bend, (trunk, y), (row_x, y)], BLUE)
    for x in columns.values():
        bend = [(row_end, branch)] if x == last_column else []
        drawing.arrow([*bend, (x, branch), (x, header_y)], VERMILLION)
    drawing.box(MARGIN, root_y, row_end - MARGIN, root_height, INK, INK)
    drawing.text(MARGIN + 14, root_y + 26, "One step", NAME, PAPER, bold=True)
    drawing.text(MARGIN + 14, root_y + 50, "mean of weight × score,\nwhere score = ∇ log π(a)", BODY, PAPER)
    drawing.text(row_x, 198, "WEIGHT", NAME, BLUE, bold=True)
    drawing.text(row_x, 198 + LEADING + 2, "How good was this sample?")
    start = min(columns.values()) - column_width / 2
    drawing.text(start, branch - 10, "CONSTRAINT", NAME, VERMILLION, bold=True)
    drawing.text(start + 114, branch - 10, "How far may one step move the policy?")

    for name, formula in WEIGHTS:
        top = rows[name] - row_height / 2
        drawing.box(row_x, top, row_width, row_height, tint(BLUE, PALE), BLUE)
        drawing.text(row_x + 12, top + 22, name, NAME, BLUE, bold=True)
        drawing.text(row_x + 12, top + 42, formula, SMALL)
    for name, words in CONSTRAINTS:
        x, fill = columns[name], tint(VERMILLION, PALE)
        drawing.box(x - column_width / 2, header_y, column_width, header_height, fill, VERMILLION)
        drawing.text(x, header_y + 23, name, NAME, VERMILLION, bold=True, anchor="middle")
        drawing.text(x, header_y + 44, words, SMALL, anchor="middle")
    for name, note, weight, constraints in EXAMPLES:
        first, last, y = columns[constraints[0]], columns[constraints[-1]], rows[weight]
        tall = 25 if note else 18
        drawing.box(first - 60, y - tall, last - first + 120, 2 * tall, INK, INK, radius=tall)
        drawing.text(
            (first + last) / 2, y + (-4 if note else 5), name, NAME, PAPER, bold=True, anchor="middle"
        )
        if note:
            drawing.text((first + last) / 2, y + 14, note, SMALL, PAPER, anchor="middle")

    key = last_row + row_height / 2 + 34
    drawing.circle(start + 8, key - 4.5, 7, PAPER, QUIET)
    drawing.text(start + 24, key, "An algorithm as well: notebook 06 trains every crossing.")
    words = (
        "R: the return of one sample. Ratio: new π over old π.",
        "KL: how far the new policy is from the old one, or from a reference.",
        "Left out here: the level of the ratio and the denominator (notebook 09).",
    )
    drawing.text(start, key + 24, "\n".join(words), SMALL)
    return drawing


def _grid_in_words():
    lines = ["Two branches grow from one step, the mean of weight times score."]
    for branch, choices in (("Weight on the score", WEIGHTS), ("Constraint on the step", CONSTRAINTS)):
        lines.append(f"{branch}: " + "; ".join(f"{name} ({_words(words)})" for name, words in choices) + ".")
    lines.append("Any weight goes with any constraint. Examples:")
    for name, note, weight, constraints in EXAMPLES:
        lines.append(f"{name}: {weight}; {' and '.join(constraints)}" + (f" ({note})." if note else "."))
    return "\n".join(lines)


# --- The REINFORCE loop ------------------------------------------------------------------------

ANSWERS = bandit.EXAMPLE_ANSWERS  # the loop is drawn for the first
# In the order of the loop: (name, formula, what happens, a remark, what the gradient does, colour)
STATIONS = (
    ("Sample", "a ~ π",
     'Ask "What is 2 + 2?" N times. The policy π\nanswers by chance. This time: "4".',
     "the only roll of the dice", "no gradient flows", GREEN),
    ("Score", "∇ log π(a)",
     "The direction in θ that makes this answer more\nlikely: its logit up, the others down.",
     "this is not the reward", "the gradient flows here", VERMILLION),
    ("Weight", "R(a)",
     "The verifier pays 1 if the answer is right,\n0 if it is wrong. This reward is the weight.",
     "a plain number (detached)", "no gradient flows", BLUE),
    ("Step", "θ ← θ + η × mean of weight × score",
     "The mean runs over N samples; η is the step size.",
     "A right answer, with weight 1, pulls the policy\ntowards itself. A wrong one, with weight 0,\nadds nothing.",
     "", INK),
)  # fmt: skip
# Under the answers: (station, label, a value for each answer)
ROWS = (
    ("Sample", "π(a)", [f"{p:.3f}" for p in bandit.softmax(bandit.EXAMPLE_LOGITS)]),
    ("Score", "logit", ["up", "down", "down", "down"]),
    ("Weight", "R(a)", [f"{r:g}" for r in bandit.EXAMPLE_REWARDS]),
)
# What leads from each station to the next, and from the last back to the first.
HANDED = (
    "each\nanswer a",
    "A verifier reads\nthe same answer.",
    "weight\n× score",
    "The policy has changed: throw its old samples\naway and draw new ones, each for one use.\n"
    "This is called on-policy.",
)


def reinforce_loop():
    width, height, between, top = 386, 188, 94, 84  # of a station; room between the rows; the first row
    right, low = WIDTH - MARGIN - width, top + height + between
    title = "The REINFORCE loop"
    drawing = Drawing(WIDTH, low + height + MARGIN, title, _loop_in_words())
    drawing.text(MARGIN, 32, title, HEADING, bold=True)
    drawing.text(
        MARGIN, 58, "Sample, score, weight, step, and round again. One turn is one step of the policy."
    )
    places = ((MARGIN, top), (right, top), (right, low), (MARGIN, low))  # clockwise
    for number, (x, y) in enumerate(places, 1):
        _station(drawing, number, x, y, width, height)

    left, bottom, half, middle = MARGIN + width, top + height, height / 2, WIDTH / 2
    inset, beside = MARGIN + 36, MARGIN + 52  # of an upright arrow, and of the words beside it
    drawing.arrow([(left, top + half), (right, top + half)])
    drawing.text(middle, top + half - 27, HANDED[0], anchor="middle")
    drawing.arrow([(WIDTH - inset, bottom), (WIDTH - inset, low)])
    drawing.text(WIDTH - beside, bottom + 43, HANDED[1], anchor="end")
    drawing.arrow([(right, low + half), (left, low + half)])
    drawing.text(middle, low + half - 27, HANDED[2], anchor="middle")
    drawing.arrow([(inset, low), (inset, bottom)])
    drawing.text(beside, bottom + 34, HANDED[3])
    return drawing


def _station(drawing, number, x, y, width, height):
    name, formula, words, remark, gradient, colour = STATIONS[number - 1]
    fill, strong, ink = (INK, PAPER, PAPER) if colour == INK else (tint(colour, PALE), colour, INK)
    start, end, foot = x + 14, x + width - 14, y + height - 36  # of its words; of its last line
    drawing.box(x, y, width, height, fill, colour)
    drawing.text(start, y + 27, str(number), 16, strong, bold=True)
    drawing.text(start + 20, y + 27, name, NAME, strong, bold=True)
    if not gradient:  # the step: the formula is what counts
        drawing.text(start, y + 68, formula, 16, strong, bold=True)
        drawing.text(start, y + 98, words, BODY, ink)
        drawing.text(start, y + 130, remark, BODY, ink)
        return
    drawing.text(end, y + 27, formula, NAME, strong, bold=True, anchor="end")
    drawing.text(start, y + 52, words, BODY, ink)
    _answers(drawing, number, start, end, y + 84, colour)
    flows, plate = not gradient.startswith("no "), 12 + 6.6 * len(gradient)
    plate_fill, plate_ink, rim = (colour, PAPER, colour) if flows else (PAPER, INK, QUIET)
    drawing.box(end - plate, foot, plate, 24, plate_fill, rim, radius=12)
    drawing.text(end - plate / 2, foot + 16, gradient, SMALL, plate_ink, anchor="middle")
    if "dice" in remark:
        _die(drawing, start, foot, colour)
        start += 32
    drawing.text(start, foot + 16, remark, SMALL, strong, bold=True)


def _answers(drawing, number, start, end, y, colour):
    """The four answers, the sampled one filled, and below each what the station knows of it."""
    _, label, values = ROWS[number - 1]
    plate, step = 62, 72
    drawing.text(start, y + 50, label, SMALL)
    for i, (answer, value) in enumerate(zip(ANSWERS, values, strict=True)):
        left, sampled = end - plate - step * (len(ANSWERS) - 1 - i), i == 0
        middle = left + plate / 2
        drawing.box(left, y, plate, 28, colour if sampled else PAPER, colour)
        drawing.text(middle, y + 19, answer, BODY, PAPER if sampled else INK, bold=sampled, anchor="middle")
        if value in ("up", "down"):
            ends = [(middle, y + 34), (middle, y + 56)]
            drawing.arrow(ends if value == "down" else ends[::-1], colour if sampled else QUIET)
        else:
            drawing.text(middle, y + 50, value, SMALL, bold=sampled, anchor="middle")


def _die(drawing, x, y, colour):
    drawing.box(x, y, 24, 24, PAPER, colour, radius=5)
    for dx, dy in ((6.5, 6.5), (17.5, 6.5), (12, 12), (6.5, 17.5), (17.5, 17.5)):
        drawing.circle(x + dx, y + dy, 1.2, colour, colour)


def _loop_in_words():
    names = [name for name, *_ in STATIONS]
    rows = {name: (label, values) for name, label, values in ROWS}
    lines = [f"A closed loop of four stations: {', '.join(names)}, and back to {names[0]}."]
    onward = [*names[1:], names[0]]
    for number, ((name, formula, words, remark, gradient, _), handed, goal) in enumerate(
        zip(STATIONS, HANDED, onward, strict=True), 1
    ):
        line = f"{number} {name}: {formula}. {_words(words)} "
        if name in rows:
            label, values = rows[name]
            line += f"{label}: {', '.join(f'{a} {v}' for a, v in zip(ANSWERS, values, strict=True))}. "
        line += f"Note: {_words(remark).removesuffix('.')}" + (f"; {gradient}." if gradient else ".")
        lines += [line, f"Arrow from {name} to {goal}: {_words(handed).removesuffix('.')}."]
    return "\n".join(lines)


# --- Writing them ------------------------------------------------------------------------------

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
