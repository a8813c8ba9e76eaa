"""Notebook 06: how far one batch should move the policy: ratios, clip, KL penalty, and the true objective."""

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pglab import _checks, bandit, constraints, steps
from pglab.figures import COLOURS, NAMES, Axis, Bars, Line, Panel, Picture, Points, Rule, Text, named_axis
from pglab.sliders.controls import Choice, Slider
from pglab.sliders.ends import end_for
from pglab.sliders.explorer import Explorer
from pglab.sliders.four_answers import ANSWERS, named

LONGEST = 6.0
DISTANCES = np.linspace(0.0, LONGEST, 121)
DRAWS = {"all": None, "fair": (1, 0, 2, 1), "poor": (0, 1, 3, 0)}  # of four samples
WORDS = {"all": "all answers", "fair": "a fair draw", "poor": "a poor draw"}
DIRECTIONS = ("plain", "natural")
SIZE = 16  # samples, of which the caption says what they are worth
CLIPS, RATIO_ENDS = (0.05, 1.0), (2.5, 5.0, 10.0)


def step_lab(
    logits=bandit.EXAMPLE_LOGITS, rewards=bandit.EXAMPLE_REWARDS, distance=2.0, clip=0.2, beta=0.0, baseline=-1.0,
    draw="poor", direction="plain", answers=ANSWERS,
):  # fmt: skip
    """The explorer of one batch that is used for a long step: nothing in it is sampled.

    Args:
      logits: (4,) logits of the policy that drew the batch.
      rewards: (4,) rewards.
      distance: where the length of the step in logits starts, from 0 to 6.
      clip: where epsilon starts, from 0.05 to 1.
      beta: where the price of a nat of KL starts, from 0 to 2.
      baseline: where the number subtracted from every reward starts, from -1 to 2.
      draw: what the batch holds, one of ``DRAWS``.
      direction: "plain" or "natural", the gradient that is followed.
      answers: four words, the names of the answers.

    Returns:
      Explorer.

    Raises:
      ValueError: a start outside the sliders' ends, an unknown draw or direction; as ``picture``.
    """
    logits, rewards = _checks.vector("logits", logits, size=4), _checks.vector("rewards", rewards, size=4)
    controls = [
        Slider("distance", "distance", distance, 0, LONGEST, 0.1, group="the step"),
        Choice("direction", "direction", direction, DIRECTIONS, group="the step"),
        Choice("draw", "batch", draw, tuple(DRAWS), group="the weight: reward minus b"),
        Slider("baseline", "baseline b", baseline, -1, 2, 0.1, group="the weight: reward minus b"),
        Slider("clip", "clip eps", clip, *CLIPS, 0.05, group="the constraint"),
        Slider("beta", "KL price", beta, 0, 2, 0.05, group="the constraint"),
    ]

    def picture_at(distance, clip, beta, baseline, draw, direction):
        return picture(logits, rewards, distance, clip, beta, baseline, draw, direction, answers=answers)

    return Explorer(controls, picture_at)


class Walk(NamedTuple):
    """Everything along the line that the clip and the KL price do not change; D distances."""

    shares: np.ndarray  # (A,) of the batch
    weights: np.ndarray  # (A,)
    direction: np.ndarray  # (A,) of length 1 in logits, or 0
    ratios: np.ndarray  # (D, A)
    gain: np.ndarray  # (D,) J there minus J at the start
    kl: np.ndarray  # (D,) KL(old || new) in nats


def walk(logits, rewards, baseline, draw, direction, distances=DISTANCES):
    """The policies on a line from the old one, along the gradient of the batch's surrogate.

        surrogate = sum_a share(a) rho(a) (R(a) - b),     share(a) of the batch; pi_old(a) for "all"

    Args:
      logits: (A,) old logits.
      rewards: (A,) rewards.
      baseline: b, one number.
      draw: one of ``DRAWS``.
      direction: "plain" or "natural".
      distances: (D,) lengths of the step.

    Returns:
      Walk.

    Raises:
      ValueError: as ``bandit.expected_reward``; an unknown draw or direction.

    Source: Schulman et al. 2017 (PPO), equation 6; Kakade 2001 for the natural gradient.
    """
    if draw not in DRAWS or direction not in DIRECTIONS:
        raise ValueError(
            f"draw is {draw!r}, direction {direction!r}; they must be one of {', '.join(DRAWS)}, and one of "
            f"{', '.join(DIRECTIONS)}."
        )
    logits = _checks.vector("logits", logits)
    rewards = _checks.vector("rewards", rewards, size=logits.size)
    weights = rewards - _checks.number("baseline", baseline)
    p, score = bandit.softmax(logits), bandit.score_matrix(logits)
    counts = DRAWS[draw]
    shares = p if counts is None else np.array(counts) / sum(counts)
    along = (shares * weights) @ score
    if direction == "natural":
        along = constraints.natural_gradient(logits, along)
    length = np.linalg.norm(along)
    along = along / length if length > 1e-12 else 0 * along
    moved = logits + np.asarray(distances)[:, None] * along  # (D, A)
    log_new = steps.log_softmax(moved)
    log_ratio = log_new - bandit.log_softmax(logits)
    gain = np.exp(log_new) @ rewards - p @ rewards
    return Walk(shares, weights, along, np.exp(log_ratio), gain, -(log_ratio @ p))


@lru_cache(maxsize=32)
def _walk(logits, rewards, baseline, draw, direction):
    return walk(logits, rewards, baseline, draw, direction)


def objective(path, clip=None):
    """(D,) the batch's surrogate along a ``Walk``, clipped to 1 - clip .. 1 + clip or not, from 0."""
    terms = path.ratios * path.weights
    if clip is not None:
        terms = np.minimum(terms, np.clip(path.ratios, 1 - clip, 1 + clip) * path.weights)
    return (terms - path.weights) @ path.shares


def picture(logits, rewards, distance, clip, beta, baseline, draw, direction, answers=ANSWERS):
    """Ratios at one distance, and four objectives along the line.

    Args:
      logits, rewards, baseline, draw, direction: as in ``walk``.
      distance: of the left panel, from 0 to 6.
      clip: epsilon of the clip.
      beta: price of a nat of KL(old || new).
      answers: A words, the names of the answers.

    Returns:
      Picture of two panels with a caption.

    Raises:
      ValueError: as ``walk``; a distance outside 0 to 6, a clip or a beta below 0.
    """
    distance = _checks.number("distance", distance, 0, LONGEST)
    clip, beta = _checks.number("clip", clip, low=0), _checks.number("beta", beta, low=0)
    path = _walk(tuple(logits), tuple(rewards), float(baseline), draw, direction)
    here = walk(logits, rewards, baseline, draw, direction, [distance])
    held = _held(here, clip)
    climbed = objective(path, clip) - beta * path.kl
    panels = (
        _ratio_panel(here, held, clip, answers),
        _line_panel(path, climbed, distance, clip, beta),
    )
    title = f"A step of length {distance:.1f} along the {NAMES[direction]} of {WORDS[draw]}"
    return Picture(panels, title, _caption(logits, path, here, held, climbed, clip, answers))


def _held(here, clip):
    """(A,) True for an answer of the batch whose gradient the clip has stopped."""
    return constraints.held(here.ratios[0], here.weights, clip, clip) & (here.shares > 0)


def _ratio_panel(here, held, clip, answers):
    """Bars of the ratios: blue is pulled up, orange down, grey is stopped or was not drawn."""
    ratio = here.ratios[0]
    idle = held | (here.shares * here.weights == 0)
    colours = tuple(
        COLOURS["before"] if rests else COLOURS["up"] if w > 0 else COLOURS["down"]
        for rests, w in zip(idle, here.weights, strict=True)
    )
    marks = [
        Bars(np.arange(ratio.size), ratio, colour=colours),
        Rule(1 - clip, colour=COLOURS["clip"]),
        Rule(1 + clip, colour=COLOURS["clip"]),
    ]
    top = end_for(1.05 * max(ratio.max(), 1 + clip), RATIO_ENDS)  # the numbers have a row of their own
    marks += [Text(i, 0.945 * top, f"{x:.2f}", colours[i]) for i, x in enumerate(ratio)]
    return Panel(
        "New over old probability", marks, named_axis(answers), Axis("ratio", 0, top), width=340, height=290
    )


def _line_panel(path, climbed, distance, clip, beta):
    free, clipped = objective(path), objective(path, clip)
    lines = [
        Line(DISTANCES, path.gain, "J, the truth", COLOURS["exact"]),
        Line(DISTANCES, free, "the batch", COLOURS["believed"], dashed=True, width=1.5),
        Line(DISTANCES, clipped, "clipped", COLOURS["clip"]),
    ]
    if beta > 0:
        lines.append(Line(DISTANCES, climbed, "minus KL", COLOURS["kl_penalty"]))
    best = int(climbed.argmax())
    dot = Points(
        DISTANCES[[best]], climbed[[best]], colour=COLOURS["kl_penalty" if beta > 0 else "clip"], radius=5.0
    )
    high = end_for(max(0.1, free.max(), path.gain.max()))
    low = -end_for(max(0.1, -min(path.gain.min(), climbed[: best + 1].min(), clipped.min())))
    lines = [Line(x.x, np.where(x.y < low, np.nan, x.y), x.label, x.colour, x.dashed, x.width) for x in lines]
    marks = [*lines, Rule(distance, vertical=True), dot]
    if beta > 0 and np.isnan(lines[-1].y[-1]):  # it leaves through the bottom: its name stands where it does
        out = DISTANCES[np.isnan(lines[-1].y).argmax()]
        marks[3] = replace(lines[-1], label="")
        side, anchor = (0.1, "start") if out < 4.5 else (-0.25, "end")
        marks.append(Text(out + side, low + 0.05 * (high - low), "minus KL", COLOURS["kl_penalty"], anchor))
    x, y = Axis("distance in logits", 0, LONGEST), Axis("change from the old policy", low, high)
    return Panel("Along this line", marks, x, y, width=470, height=290)


def _caption(logits, path, here, held, climbed, clip, answers):
    """Three lines, always, so that the picture keeps its height."""
    worth = SIZE / (bandit.softmax(logits) @ here.ratios[0] ** 2)
    outside = np.abs(here.ratios[0] - 1) > clip + 1e-12
    best = int(climbed.argmax())
    place = f"at distance {DISTANCES[best]:.2f}" if best < DISTANCES.size - 1 else "at its end"

    return (
        f"KL(old, new) = {here.kl[0]:z.4f} nats; {SIZE} old samples are worth about {worth:.1f}. "
        f"J changes by {here.gain[0]:z.4f}.\n"
        f"Ratio outside the clip: {named(outside, answers)}. Stopped by it: {named(held, answers)}.\n"
        f"Along this line, what is climbed is highest {place} (dot). J changes there by {path.gain[best]:z.4f}."
    )
