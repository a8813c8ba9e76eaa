"""Notebook 01: logits and rewards in; probabilities, gradient and one exact step out."""

import numpy as np

from pglab import bandit
from pglab.figures import COLOURS, Axis, Bars, Panel, Picture, named_axis
from pglab.sliders.controls import Slider
from pglab.sliders.ends import end_for
from pglab.sliders.explorer import Explorer
from pglab.sliders.four_answers import ANSWERS, eight_sliders, named, values_of

GRADIENT_ENDS = (0.5, 2.0)


def one_step(logits=bandit.EXAMPLE_LOGITS, rewards=bandit.EXAMPLE_REWARDS, step_size=2.0, answers=ANSWERS):
    """The explorer of one exact gradient step on a four-action bandit.

    Args:
      logits: (4,) where the logit sliders start, from -3 to 3.
      rewards: (4,) where the reward sliders start, from -3 to 3.
      step_size: where the step size starts, from 0 to 10.
      answers: four words, the names of the answers.

    Returns:
      Explorer.

    Raises:
      ValueError: a start outside the sliders' ends, or not four of each.
    """
    controls = eight_sliders(logits, rewards, answers)
    controls.append(Slider("step_size", "step size", step_size, 0, 10, 0.1, group="the step"))

    def picture_at(step_size, **sliders):
        return picture(*values_of(sliders), step_size, answers)

    return Explorer(controls, picture_at)


def picture(logits, rewards, step_size, answers=ANSWERS):
    """Probabilities before and after the exact step ``logits + step_size * gradient``.

    Args:
      logits: (A,) logits before the step.
      rewards: (A,) rewards.
      step_size: how far to go along the gradient.
      answers: A words, the names of the answers.

    Returns:
      Picture of two panels with a caption.

    Raises:
      ValueError: as ``bandit.exact_gradient``.
    """
    gradient = bandit.exact_gradient(logits, rewards)
    stepped = logits + step_size * gradient
    names = named_axis(answers)
    panels = (
        _gradient_panel(gradient, names),
        _probability_panel(bandit.softmax(logits), bandit.softmax(stepped), names),
    )
    caption = _caption(logits, rewards, stepped, answers)
    return Picture(panels, "One exact gradient step on four answers", caption)


def _gradient_panel(gradient, names):
    colours = tuple(COLOURS["up"] if g >= 0 else COLOURS["down"] for g in gradient)
    limit = end_for(np.abs(gradient).max(), GRADIENT_ENDS, full=0.85)
    bars = Bars(np.arange(gradient.size), gradient, colour=colours, values=".3f")
    return Panel("Gradient of J", bars, x=names, y=Axis("for each logit", -limit, limit), width=350)


def _probability_panel(before, after, names):
    x = np.arange(before.size)
    bars = [
        Bars(x - 0.2, before, "before", COLOURS["before"], 0.38, ".3f"),
        Bars(x + 0.2, after, "after the step", COLOURS["after"], 0.38, ".3f"),
    ]
    height = Axis("probability", 0, 1.05, ticks=((0, "0"), (0.5, "0.5"), (1, "1")))
    return Panel("How often each answer is given", bars, x=names, y=height, width=450)


def _caption(logits, rewards, stepped, answers):
    """What the step did, in three lines; always three, so that the picture keeps its height."""
    change = bandit.softmax(stepped) - bandit.softmax(logits)
    j, j_after = bandit.expected_reward(logits, rewards), bandit.expected_reward(stepped, rewards)
    more, less = change > 1e-12, change < -1e-12
    below, above = rewards < j - 1e-12, rewards > j + 1e-12

    return (
        f"J = {j:z.4f} before the step, {j_after:z.4f} after it.\n"
        f"More likely: {named(more, answers)}.  Less likely: {named(less, answers)}.\n"
        f"Earns less than J, yet more likely: {named(more & below, answers)}.  "
        f"Earns more than J, yet less likely: {named(less & above, answers)}."
    )
