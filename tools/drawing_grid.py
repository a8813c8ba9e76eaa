"""The drawing of notebooks 00 and 06: an algorithm is a weight and a constraint."""

from pen import BODY, HEADING, LEADING, MARGIN, NAME, PALE, SMALL, WIDTH, Drawing, in_one_line, tint

from pglab.figures.palette import BLUE, INK, PAPER, QUIET, VERMILLION

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
        lines.append(
            f"{branch}: " + "; ".join(f"{name} ({in_one_line(words)})" for name, words in choices) + "."
        )
    lines.append("Any weight goes with any constraint. Examples:")
    for name, note, weight, constraints in EXAMPLES:
        lines.append(f"{name}: {weight}; {' and '.join(constraints)}" + (f" ({note})." if note else "."))
    return "\n".join(lines)
