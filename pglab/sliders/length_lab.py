"""Notebook 09: what the denominator of a loss does to lengths that no reward depends on."""

from functools import lru_cache

import numpy as np

from pglab import _checks, advantages
from pglab.figures import COLOURS, NAMES, Axis, Bars, Line, Panel, Picture, Points, Rule
from pglab.mdp import lengths
from pglab.sliders.controls import Choice, Slider
from pglab.sliders.ends import end_for
from pglab.sliders.explorer import Explorer

DENOMINATORS = {
    "sequence_mean": "sequence mean",
    "token_mean": "token mean",
    "constant": "constant",
    "sum": "sum",
}
WEIGHTS = {"dr_grpo": advantages.dr_grpo, "grpo": advantages.grpo}
MOST_STEPS = 400
REASONS = {
    "sequence_mean": "The longer an answer, the less each of its tokens weighs: wrong ones hide in length, right ones lose by it.",
    "token_mean": "A long answer adds to the divisor of its batch. The batch is one group here; in a larger one this is less.",
    "constant": "Each token weighs the same in a long answer and a short one, so nothing pulls at the length.",
    "sum": "Nothing is divided: the gradient of the constant times a fixed number, so on average it is zero as well.",
}
RIGHT, WRONG, START = COLOURS["right"], COLOURS["down"], COLOURS["before"]


def length_lab(
    denominator="sequence_mean", weight="dr_grpo", size=8, chance_right=0.5, steps=lengths.STEPS,
    longest=lengths.LONGEST,
):  # fmt: skip
    """The explorer of length bias: answers are right by chance, the policy chooses how long they get.

    Args:
      denominator: what the loss divides by at the start, one of ``DENOMINATORS``.
      weight: of the answers, "dr_grpo" or "grpo".
      size: where the group size starts, from 2 to 16.
      chance_right: where the chance that an answer is right starts, from 0.05 to 0.95.
      steps: where the number of exact steps starts, from 1 to 400.
      longest: where the longest answer starts, from 3 to 16 tokens.

    Returns:
      Explorer.

    Raises:
      ValueError: a start outside the sliders' ends, an unknown denominator or weight.
    """
    _checks.one_of("denominator", denominator, list(DENOMINATORS))
    _checks.one_of("weight", weight, list(WEIGHTS))
    divided = {words: name for name, words in DENOMINATORS.items()}
    weighed = {NAMES[name]: name for name in WEIGHTS}
    controls = [
        Slider("size", "group size G", size, 2, 16, 1, group="the answers"),
        Slider("chance_right", "chance right", chance_right, 0.05, 0.95, 0.05, group="the answers"),
        Slider("longest", "longest", longest, 3, 16, 1, group="the answers"),
        Choice("denominator", "denominator", DENOMINATORS[denominator], tuple(divided), group="the loss"),
        Choice("weight", "weight", NAMES[weight], tuple(weighed), group="the loss"),
        Slider("steps", "steps", steps, 1, MOST_STEPS, 1, group="the climb"),
    ]

    def picture_at(denominator, weight, size, chance_right, steps, longest):
        chosen = divided[denominator], weighed[weight]
        return picture(*chosen, int(size), chance_right, int(steps), int(longest))

    return Explorer(controls, picture_at)


@lru_cache(maxsize=256)
def _climb(denominator, weight, size, chance_right, longest):
    return lengths.climb(chance_right, size, WEIGHTS[weight], denominator, MOST_STEPS, longest=longest)


def picture(denominator, weight, size, chance_right, steps, longest):
    """Mean lengths along the climb, and the lengths at one step of it.

    Args:
      denominator, weight, size, chance_right, steps, longest: as in ``length_lab``.

    Returns:
      Picture of two panels with a caption of three lines.

    Raises:
      ValueError: an unknown denominator or weight; steps outside 0 to 400; as ``lengths.climb``.
    """
    _checks.one_of("denominator", denominator, list(DENOMINATORS))
    _checks.one_of("weight", weight, list(WEIGHTS))
    _checks.number("steps", steps, 0, MOST_STEPS)
    steps = _checks.whole("steps", steps)
    path = _climb(denominator, weight, size, chance_right, longest)
    words = f"{DENOMINATORS[denominator]}, weights of {NAMES[weight]}, {size} answers, right with {chance_right:.2f}"
    panels = (_path_panel(path, steps, longest), _lengths_panel(path, steps, longest))
    return Picture(panels, f"Lengths: {words}", _caption(path, steps, denominator))


def _path_panel(path, steps, longest):
    """From the first step on: a logarithmic axis has no place for step 0, whose height the rule shows."""
    every = np.arange(1, MOST_STEPS + 1)
    marks = [Rule(path.lengths[0, 0], "start")]
    marks += [
        Line(every, mean[1:], word, colour)
        for mean, word, colour in zip(path.lengths.T, lengths.KINDS, (RIGHT, WRONG), strict=True)
    ]
    if steps:
        marks.append(Rule(steps, vertical=True))
        marks += [Points([steps], [path.lengths[steps, k]], colour=c) for k, c in enumerate((RIGHT, WRONG))]
    ticks = tuple((n, str(n)) for n in (1, 2, 5, 10, 20, 50, 100, 200, 400))
    x = Axis("exact steps", 1, MOST_STEPS, ticks, log=True)
    return Panel("Mean length", marks, x, Axis("tokens", 0, end_for(longest, (8, 12, 20))), 450, 310)


def _lengths_panel(path, steps, longest):
    every = np.arange(lengths.SHORTEST, longest + 1)
    shown = [("start", path.logits[0, 0], START), ("right", path.logits[steps, 0], RIGHT)]
    shown.append(("wrong", path.logits[steps, 1], WRONG))
    marks = [
        Bars(every + 0.27 * (k - 1), lengths.distribution(z, longest=longest), word, colour, 0.25)
        for k, (word, z, colour) in enumerate(shown)
    ]
    ticks = tuple((n, str(n)) for n in every)
    x = Axis("tokens of an answer", lengths.SHORTEST - 0.6, longest + 0.6, ticks)
    title = f"Lengths after {steps} {'step' if steps == 1 else 'steps'}"
    return Panel(title, marks, x, Axis("probability", 0, 1), 450, 310)


def _caption(path, steps, denominator):
    """Three lines, always, so that the picture keeps its height."""
    start, (right, wrong) = path.lengths[0, 0], path.lengths[steps]
    pull = (path.logits[1] - path.logits[0]) / lengths.RATE
    found = "zero, as it should be"
    if abs(pull).max() > 1e-12:
        found = f"right answers {pull[0]:+.4f}, wrong ones {pull[1]:+.4f}"
    return (
        f"Mean length after {steps} exact steps: right answers {right:.2f} tokens, wrong ones {wrong:.2f} "
        f"(start {start:.2f}).\n"
        f"The true gradient is zero. Mean push towards stopping, at the start: {found}.\n"
        f"{REASONS[denominator]}"
    )
