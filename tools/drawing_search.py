"""The drawing of notebook 04: the model that may search before it answers, with every chance in it."""

from pen import BODY, HEADING, MARGIN, NAME, PALE, SMALL, WIDTH, Drawing, tint

from pglab import bandit, mdp
from pglab.figures.palette import BLUE, GREEN, INK, OCHRE, PAPER, QUIET, VERMILLION

TOP, ROW, BAR = 74, 80, 34  # ROW: from one state to the next; BAR: height of a bar
STATES = mdp.STATES[:3]
# What the three columns show: (heading, words below it, left end, width, colours, names of the two parts)
COLUMNS = (
    ("the model chooses", "what is trained", 186, 200, (BLUE, OCHRE), mdp.ACTIONS),
    ("a search ends at a", "chance of the world", 436, 200, (GREEN, QUIET), ("good page", "poor page")),
    ("an answer is", "chance of the world", 686, 200, (INK, VERMILLION), mdp.STATES[3:]),
)


def chances():
    """{state: (of the two actions, of the page after a search, of the verdict after an answer)}."""
    agent = mdp.search_agent()
    table = {}
    for s, name in enumerate(STATES):
        page, verdict = agent.transition[s, 0, [1, 2]], agent.transition[s, 1, [3, 4]]
        table[name] = tuple(pair.round(2) for pair in (bandit.softmax(mdp.LOGITS[s]), page, verdict))
    return table


def search_agent():
    height = TOP + len(STATES) * ROW + 14
    drawing = Drawing(WIDTH, height, "A model that may search before it answers", in_words())
    drawing.text(MARGIN, 40, "In each state", HEADING, INK, bold=True)
    for heading, below, x, _, _, _ in COLUMNS:
        drawing.text(x, 34, heading, NAME, INK, bold=True)
        drawing.text(x, 54, below, SMALL, QUIET)
    for row, (state, pairs) in enumerate(chances().items()):
        y = TOP + row * ROW
        drawing.box(MARGIN, y, 136, BAR, tint(INK, PALE), INK)
        drawing.text(MARGIN + 68, y + 22, state, NAME, INK, bold=True, anchor="middle")
        for (_, _, x, width, colours, names), pair in zip(COLUMNS, pairs, strict=True):
            _bar(drawing, x, y, width, colours, names, pair)
        drawing.arrow([(MARGIN + 136, y + BAR / 2), (COLUMNS[0][2] - 4, y + BAR / 2)])
    drawing.text(COLUMNS[1][2], height - 12, f"It costs {cost():g}; then choose again.", BODY)
    drawing.text(COLUMNS[2][2], height - 12, "Right pays 1; then it is over.", BODY)
    return drawing


def _bar(drawing, x, y, width, colours, names, pair):
    """Two parts, as long as they are likely; their chances inside, their names below."""
    first = width * float(pair[0])
    for left, part, colour, chance in (
        (x, first, colours[0], pair[0]),
        (x + first, width - first, colours[1], pair[1]),
    ):
        drawing.box(left, y, part, BAR, colour, radius=0)
        if part >= 36:
            drawing.text(left + part / 2, y + 22, f"{chance:.2f}", SMALL, PAPER, bold=True, anchor="middle")
    drawing.text(x, y + BAR + 17, names[0], SMALL, colours[0])
    drawing.text(x + width, y + BAR + 17, names[1], SMALL, colours[1], anchor="end")


def cost():
    """What a search costs, read off the process."""
    return -float(mdp.search_agent().reward[0, 0, 1])


def in_words():
    lines = [f"Three states: {', '.join(STATES)}. A search costs {cost():g}, a right answer pays 1."]
    for state, pairs in chances().items():
        parts = [
            f"{heading} "
            + " or ".join(f"{name} {chance:.2f}" for name, chance in zip(names, pair, strict=True))
            for (heading, _, _, _, _, names), pair in zip(COLUMNS, pairs, strict=True)
        ]
        lines.append(f"{state}: {'; '.join(parts)}.")
    return "\n".join(lines)
