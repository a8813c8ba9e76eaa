"""The drawing of notebook 02: sample, score, weight, step, and round again."""

from pen import BODY, HEADING, MARGIN, NAME, PALE, SMALL, WIDTH, Drawing, in_one_line, tint

from pglab import bandit
from pglab.figures.palette import BLUE, GREEN, INK, PAPER, QUIET, VERMILLION

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
        line = f"{number} {name}: {formula}. {in_one_line(words)} "
        if name in rows:
            label, values = rows[name]
            line += f"{label}: {', '.join(f'{a} {v}' for a, v in zip(ANSWERS, values, strict=True))}. "
        line += f"Note: {in_one_line(remark).removesuffix('.')}" + (f"; {gradient}." if gradient else ".")
        lines += [line, f"Arrow from {name} to {goal}: {in_one_line(handed).removesuffix('.')}."]
    return "\n".join(lines)
