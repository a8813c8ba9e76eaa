"""Notebook 00: one slider, to learn how explorers work."""

import numpy as np

from pglab import bandit
from pglab.figures import COLOURS, Picture, bars
from pglab.sliders.controls import Slider
from pglab.sliders.explorer import Explorer


def temperature():
    """The explorer of notebook 00: the running example's probabilities at a temperature.

    Returns:
      Explorer with one slider, from 0.1 to 3.
    """
    return Explorer([Slider("temperature", "temperature", 1.0, 0.1, 3.0)], _picture)


def _picture(temperature):
    p = bandit.softmax(np.array(bandit.EXAMPLE_LOGITS) / temperature)
    names = [f"answer {i + 1}" for i in range(p.size)]
    panel = bars(names, p, "How often each answer is given", "probability", COLOURS["after"], ".2f", 0, 1.05)
    return Picture(
        panel, "A softmax policy at a temperature", f"Most likely answer: probability {p.max():.2f}."
    )
