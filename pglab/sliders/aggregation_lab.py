"""Notebook 09: one batch, split into micro-batches or workers: which denominators survive it."""

from typing import NamedTuple

import numpy as np

from pglab import _checks
from pglab.figures import COLOURS, Axis, Bars, Line, Panel, Picture, Points, Rule
from pglab.sliders.controls import Choice, Slider
from pglab.sliders.ends import ENDS, end_for
from pglab.sliders.explorer import Explorer

MIDDLE, AWAY = 9, (-7, -3, 11, 0, -5, 7, -6, 3)  # tokens, and how far from them each answer's length is
SPREAD, WIDEST = 8, 10  # how unequal the lengths are: 0, all alike; at 8 MIDDLE + AWAY
ADVANTAGES = (0.5, -0.5, -0.5, 0.5, 0.5, -0.5, 0.5, -0.5)  # two prompts with four answers each
BUDGET = 24  # tokens for each row, for "constant"
CUT, IDLE = 2, slice(4, 8)  # the row that may lose its tokens, the group that may have nothing to tell
DENOMINATORS = {
    "token_mean": "token mean",
    "sequence_mean": "sequence mean",
    "constant": "constant",
    "sum": "sum",
}
COLOUR = dict(zip(DENOMINATORS, (COLOURS["after"], COLOURS["down"], COLOURS["natural"], COLOURS["k2"]), strict=True))  # fmt: skip
PARTS = (1, 2, 4, 8)
TOGETHER = OWN, WHOLE = ("each part", "the whole batch")  # whose denominator divides
ORDERS = CAME, SORTED = ("as they came", "by length")
EMPTY = FULL, LEFT_OUT, COUNTED = ("none", "not counted", "counted")
GROUPS = BOTH, ONE = ("both differ", "one all alike")
SAME = 1e-12
HEIGHT = 250  # pixels: sliders, picture and caption fit into one window of 768


def aggregation_lab(
    denominator="token_mean", parts=4, together=OWN, order=CAME, empty=FULL, groups=BOTH, spread=SPREAD
):  # fmt: skip
    """The explorer of a split batch: eight answers, in 1, 2, 4 or 8 micro-batches or workers, nothing sampled.

    Args:
      denominator: what a loss is divided by at the start, one of ``DENOMINATORS``.
      parts: how many parts at the start, 1, 2, 4 or 8.
      together: whose denominator D divides a part, one of ``TOGETHER``: its own, and the mean of the parts
        is taken; or that of the whole batch, and the parts are added up.
      order: of the rows, one of ``ORDERS``.
      empty: whether one row has lost its tokens, and if such a row counts as a row; one of ``EMPTY``.
      groups: whether the answers of the second prompt all got the same reward, one of ``GROUPS``.
      spread: how unequal the lengths are at the start, from 0 (all alike) to 10.

    Returns:
      Explorer.

    Raises:
      ValueError: a start that is none of these.
    """
    _checks.one_of("denominator", denominator, list(DENOMINATORS))
    divided = {words: name for name, words in DENOMINATORS.items()}
    counts = {str(n): n for n in PARTS}
    controls = [
        Slider("spread", "spread", spread, 0, WIDEST, 1, group="the batch"),
        Choice("empty", "empty row", empty, EMPTY, group="the batch"),
        Choice("groups", "rewards", groups, GROUPS, group="the batch"),
        Choice("denominator", "denominator", DENOMINATORS[denominator], tuple(divided), group="the loss"),
        Choice("together", "D is that of", together, TOGETHER, group="the loss"),
        Choice("parts", "parts", str(parts), tuple(counts), group="the split"),
        Choice("order", "rows", order, ORDERS, group="the split"),
    ]

    def picture_at(denominator, parts, together, order, empty, groups, spread):
        return picture(divided[denominator], counts[parts], together, order, empty, groups, spread)

    return Explorer(controls, picture_at)


class Batch(NamedTuple):
    """Eight answers in the order of the batch."""

    lengths: np.ndarray  # (8,) tokens
    advantages: np.ndarray  # (8,)
    counted: bool  # whether a row without tokens counts as a row


def batch(order=CAME, empty=FULL, groups=BOTH, spread=SPREAD):
    """The batch, with one row emptied or one group made silent where that is asked for.

    Args:
      order, empty, groups, spread: as in ``aggregation_lab``.

    Returns:
      Batch.

    Raises:
      ValueError: words that are none of these, a spread outside 0 to 10.

    Source: made for this course.
    """
    _checks.one_of("order", order, ORDERS, repr)
    _checks.one_of("empty", empty, EMPTY, repr)
    _checks.one_of("groups", groups, GROUPS, repr)
    spread = _checks.number("spread", spread, 0, WIDEST)
    away = np.rint(np.array(AWAY) * spread / SPREAD).astype(int)
    tokens, advantages = np.maximum(MIDDLE + away, 1), np.array(ADVANTAGES)
    if empty != FULL:
        tokens[CUT] = 0
    if groups == ONE:
        advantages[IDLE] = 0.0
    places = np.argsort(tokens, kind="stable") if order == SORTED else np.arange(tokens.size)
    return Batch(tokens[places], advantages[places], empty == COUNTED)


def token_weights(rows, denominator, parts=1, together=WHOLE):
    """What one token of each answer is multiplied by, beside its advantage.

        "each part"          1/parts sum_p [sum of part p / D(part p)]
        "the whole batch"    sum_p [sum of part p] / D(all rows)

    D as in ``losses.aggregate``: tokens, rows times the answer's own length, rows times 24, or 1.

    Args:
      rows: Batch.
      denominator: one of ``DENOMINATORS``.
      parts: into how many parts of equal numbers of rows, 1, 2, 4 or 8.
      together: one of ``TOGETHER``.

    Returns:
      (8,) float64; 0 for a row without tokens.

    Raises:
      ValueError: an unknown denominator, number of parts, or way to put them together.

    Source: Yu et al. 2025 (DAPO), equation 8; Shao et al. 2024 (GRPO), equation 3; Liu et al. 2025
    (Dr. GRPO), section 3. Averaging over accumulation steps or over workers is "each part".
    """
    _checks.one_of("denominator", denominator, list(DENOMINATORS), repr)
    _checks.one_of("parts", parts, PARTS)
    _checks.one_of("together", together, TOGETHER, repr)
    if together == WHOLE:
        return _divided(rows.lengths, denominator, rows.counted)
    own = [_divided(part, denominator, rows.counted) for part in np.split(rows.lengths, parts)]
    return np.concatenate(own) / parts


def _divided(tokens, denominator, counted):
    """(n,) 1 over the denominator of each row's tokens, with these rows and no others."""
    rows = len(tokens) if counted else max(1, np.count_nonzero(tokens))
    full = {
        "token_mean": max(1, tokens.sum()),
        "sequence_mean": rows * np.maximum(tokens, 1),
        "constant": rows * BUDGET,
        "sum": 1,
    }[denominator]
    return (tokens > 0) / (full * np.ones(len(tokens)))


def update(rows, denominator, parts=1, together=WHOLE):
    """(8,) the update along each answer's own direction: advantage times tokens times ``token_weights``.

    The scores of different answers are taken to be orthogonal, those of one answer's tokens equal; then
    these eight numbers are the gradient.

    Args, Raises:
      as ``token_weights``.

    Returns:
      (8,) float64.
    """
    return rows.advantages * rows.lengths * token_weights(rows, denominator, parts, together)


def difference(split, unsplit):
    """Length of one update over the other's, their cosine, and the relative distance between them.

    Args:
      split, unsplit: (n,) updates, neither of them 0.

    Returns:
      Three floats.
    """
    lengths = np.linalg.norm(split), np.linalg.norm(unsplit)
    apart = np.linalg.norm(split - unsplit) / lengths[1]
    return lengths[0] / lengths[1], float(split @ unsplit / (lengths[0] * lengths[1])), float(apart)


def picture(denominator, parts, together, order=CAME, empty=FULL, groups=BOTH, spread=SPREAD):
    """What each answer gets, split and unsplit, and how far off each denominator is.

    Args:
      denominator, parts, together, order, empty, groups, spread: as in ``aggregation_lab``.

    Returns:
      Picture of two panels with a caption of three lines.

    Raises:
      ValueError: as ``batch`` and ``token_weights``.
    """
    rows = batch(order, empty, groups, spread)
    split, unsplit = update(rows, denominator, parts, together), update(rows, denominator)
    panels = (
        _answers_panel(rows, split, unsplit, parts, denominator),
        _parts_panel(rows, denominator, parts, together),
    )
    title = (
        f"{DENOMINATORS[denominator]}, {parts} {'part' if parts == 1 else 'parts'}, D is that of {together}"
    )
    return Picture(panels, title, _caption(rows, split, unsplit, denominator, parts, together))


def _answers_panel(rows, split, unsplit, parts, denominator):
    x = np.arange(len(split))
    marks = [
        Bars(x - 0.2, unsplit, "unsplit", COLOURS["before"], 0.36),
        Bars(x + 0.2, split, "split", COLOUR[denominator], 0.36),
    ]
    marks += [Rule(edge - 0.5, vertical=True) for edge in x[:: len(x) // parts][1:]]
    end = end_for(max(abs(split).max(), abs(unsplit).max()), ENDS)
    ticks = tuple(enumerate(map(str, rows.lengths)))
    horizontal = Axis("tokens of the answer; dashed: where the batch is cut", -0.6, len(x) - 0.4, ticks)
    title = "What each answer weighs in the update"
    return Panel(title, marks, horizontal, Axis("advantage x tokens / D", -end, end), 480, HEIGHT)


def _parts_panel(rows, denominator, parts, together):
    marks = []
    for name, words in DENOMINATORS.items():
        unsplit, chosen = update(rows, name), name == denominator
        apart = [difference(update(rows, name, n, together), unsplit)[2] for n in PARTS]
        marks.append(Line(PARTS, apart, words, COLOUR[name], not chosen, 2.6 if chosen else 1.4))
        if chosen:
            dot = Points([parts], [apart[PARTS.index(parts)]], colour=COLOUR[name], radius=5.0)
    high = end_for(max(line.y.max() for line in marks), (1.0, 2.0, 5.0))
    x = Axis("parts", 1, PARTS[-1], tuple((n, str(n)) for n in PARTS), log=True)
    y = Axis("distance / length of the unsplit", 0, high)
    return Panel("How far off the split is", [*marks, dot], x, y, 420, HEIGHT)


def _caption(rows, split, unsplit, denominator, parts, together):
    """Three lines, always, so that the picture keeps its height."""
    ratio, cosine, apart = difference(split, unsplit)
    if apart < SAME:
        verdict = "The update is that of the whole batch."
    elif 1 - cosine < SAME:
        verdict = f"The direction is that of the whole batch; {ratio:.3f} times as long."
    else:
        verdict = f"Another direction: cosine {cosine:.4f} with the update of the whole batch, {ratio:.3f} times as long."
    full, telling = rows.lengths > 0, rows.lengths[rows.advantages != 0].sum()
    weights = [token_weights(rows, denominator, *how)[full] for how in ((parts, together), (1, WHOLE))]
    now, before = (_span(each) for each in weights)
    return (
        f"{verdict}\n"
        f"One token of an answer is multiplied by its advantage and by {now}; unsplit by {before}.\n"
        f"{len(split)} rows, {rows.lengths.sum()} tokens, {telling} of them with an advantage; "
        f"tokens in each part: {_sums(rows, parts)}."
    )


def _span(values):
    low, high = values.min(), values.max()
    return f"{low:.4f}" if high - low < SAME else f"{low:.4f} to {high:.4f}"


def _sums(rows, parts):
    return ", ".join(str(part.sum()) for part in np.split(rows.lengths, parts))
