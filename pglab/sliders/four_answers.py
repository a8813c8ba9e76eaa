"""What the explorers of four answers share: their names, and a slider for each logit and reward."""

import numpy as np

from pglab import _checks, bandit
from pglab.sliders.controls import Slider

LIMIT = 3.0
ANSWERS = bandit.EXAMPLE_ANSWERS


def eight_sliders(logits, rewards, answers):
    """Eight sliders from -3 to 3, for logits and rewards that may start there.

    Raises:
      ValueError: a start outside the sliders' ends, or not four of each.
    """
    starts = {
        "logit": _checks.vector("logits", logits, size=4),
        "reward": _checks.vector("rewards", rewards, size=4),
    }
    if len(answers) != 4:
        raise ValueError(f"answers has {len(answers)} entries; it must have 4 words, one for each answer.")
    return [
        Slider(f"{kind}_{i + 1}", answers[i], starts[kind][i], -LIMIT, LIMIT, group=f"{kind}s")
        for kind in starts
        for i in range(4)
    ]


def named(chosen, answers):
    """The names of the answers that are chosen, (A,) booleans, in one line."""
    return ", ".join(answers[i] for i in np.flatnonzero(chosen)) or "none"


def values_of(sliders):
    """The logits and the rewards, each (4,), from the sliders' values by name."""
    return (np.array([sliders[f"{kind}_{i}"] for i in range(1, 5)]) for kind in ("logit", "reward"))
