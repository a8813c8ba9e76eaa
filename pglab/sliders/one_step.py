"""Notebook 01: logits and rewards in; probabilities, gradient and one exact step out."""

import numpy as np

from pglab import _checks, bandit
from pglab.figures import COLOURS, Axis, Bars, Panel, Picture
from pglab.sliders.controls import Slider
from pglab.sliders.explorer import Explorer

LOGITS = (0.4, -0.2, 1.1, 0.0)
REWARDS = (1.0, 0.0, 0.0, 1.0)
LIMIT = 3.0
GRADIENT_SCALES = (0.25, 0.5, 1.0, 2.0)


def one_step(logits=LOGITS, rewards=REWARDS, step_size=2.0):
    """The explorer of one exact gradient step on a four-action bandit.

    Args:
      logits: (4,) where the logit sliders start, from -3 to 3.
      rewards: (4,) where the reward sliders start, from -3 to 3.
      step_size: where the step size starts, from 0 to 10.

    Returns:
      Explorer.

    Raises:
      ValueError: a start outside the sliders' ends, or not four of each.
    """
    logits = _checks.vector("logits", logits, size=4)
    rewards = _checks.vector("rewards", rewards, size=4)
    controls = [
        Slider(f"logit_{i + 1}", f"answer {i + 1}", logits[i], -LIMIT, LIMIT, group="logits")
        for i in range(4)
    ]
    controls += [
        Slider(f"reward_{i + 1}", f"answer {i + 1}", rewards[i], -LIMIT, LIMIT, group="rewards")
        for i in range(4)
    ]
    controls.append(Slider("step_size", "step size", step_size, 0, 10, 0.1, group="the step"))
    return Explorer(controls, _picture)


def _picture(step_size, **sliders):
    logits = np.array([sliders[f"logit_{i}"] for i in range(1, 5)])
    rewards = np.array([sliders[f"reward_{i}"] for i in range(1, 5)])
    return picture(logits, rewards, step_size)


def picture(logits, rewards, step_size):
    """Probabilities before and after the exact step ``logits + step_size * gradient``.

    Args:
      logits: (A,) logits before the step.
      rewards: (A,) rewards.
      step_size: how far to go along the gradient.

    Returns:
      Picture of two panels with a caption.

    Raises:
      ValueError: as ``bandit.exact_gradient``.
    """
    gradient = bandit.exact_gradient(logits, rewards)
    stepped = logits + step_size * gradient
    panels = (_gradient_panel(gradient), _probability_panel(bandit.softmax(logits), bandit.softmax(stepped)))
    return Picture(panels, "One exact gradient step on four answers", _caption(logits, rewards, stepped))


def _answers(numbers):
    return ", ".join(str(i + 1) for i in numbers) or "none"


def _axis_of_answers(count):
    return Axis(low=-0.6, high=count - 0.4, ticks=tuple((i, f"answer {i + 1}") for i in range(count)))


def _gradient_panel(gradient):
    colours = tuple(COLOURS["up"] if g >= 0 else COLOURS["down"] for g in gradient)
    # The smallest of a few fixed scales: bars stay readable and do not jump at every move.
    limit = next(
        (s for s in GRADIENT_SCALES if np.abs(gradient).max() <= 0.85 * s), np.abs(gradient).max() * 1.2
    )
    return Panel(
        "Gradient of J",
        [Bars(np.arange(gradient.size), gradient, colour=colours, values=".3f")],
        x=_axis_of_answers(gradient.size),
        y=Axis("for each logit", -limit, limit),
        width=350,
    )


def _probability_panel(before, after):
    x = np.arange(before.size)
    return Panel(
        "Probability of each answer",
        [
            Bars(x - 0.2, before, "before", COLOURS["before"], 0.38, ".3f"),
            Bars(x + 0.2, after, "after the step", COLOURS["after"], 0.38, ".3f"),
        ],
        x=_axis_of_answers(before.size),
        y=Axis("pi", 0, 1.05, ticks=((0, "0"), (0.5, "0.5"), (1, "1"))),
        width=450,
    )


def _caption(logits, rewards, stepped):
    """What the step did, in three lines; always three, so that the picture keeps its height."""
    change = bandit.softmax(stepped) - bandit.softmax(logits)
    j, j_after = bandit.expected_reward(logits, rewards), bandit.expected_reward(stepped, rewards)
    more, less = np.flatnonzero(change > 1e-12), np.flatnonzero(change < -1e-12)
    lucky = [i for i in more if rewards[i] < j - 1e-12]
    unlucky = [i for i in less if rewards[i] > j + 1e-12]
    return (
        f"J = {j:z.4f} before the step, {j_after:z.4f} after it.\n"
        f"More likely: {_answers(more)}.  Less likely: {_answers(less)}.\n"
        f"Earns less than J, yet more likely: {_answers(lucky)}.  "
        f"Earns more than J, yet less likely: {_answers(unlucky)}."
    )
