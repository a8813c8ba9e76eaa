"""The drawing of notebook 00: twelve notebooks, and which builds on which."""

from pen import BODY, HEADING, LEADING, MARGIN, NAME, PALE, SMALL, WIDTH, Drawing, in_one_line, tint

from pglab.figures.palette import BLUE, GREEN, INK, PAPER, PURPLE, VERMILLION

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
    groups = "; ".join(f"{in_one_line(name)}: {', '.join(ns)}" for name, _, _, ns in GROUPS)
    lines = [f"Twelve notebooks, read in the order of their numbers. Start with 00. Groups: {groups}."]
    for number, (title, question, needs) in NOTEBOOKS.items():
        after = f" Builds on {' and '.join(needs)}." if needs else ""
        lines.append(f"{number} {title}. {in_one_line(question)}{after}")
    return "\n".join(lines)
