"""Notebook 02: one step along a sampled gradient, over all batches that could have been drawn."""

from functools import lru_cache

import numpy as np

from pglab import _checks, bandit, groups
from pglab.figures import COLOURS, Axis, Bars, Line, Panel, Picture, Points, Rule, Text
from pglab.sliders.controls import Slider
from pglab.sliders.ends import end_for
from pglab.sliders.explorer import Explorer

STEP_SIZES = np.linspace(0.0, 20.0, 81)
MOST_SAMPLES, LONGEST_TRAINING = 16, 30
BINS = np.linspace(0.0, 1.0, 21)  # of the range of the rewards
TRAINING_STEP = 1.0
GAINS = (0.05, 0.1, 0.15, 0.2, 0.4, 0.6, 1.0)  # the ends of the left axis, as shares of the rewards' range


def noisy_step(
    logits=bandit.EXAMPLE_LOGITS, rewards=bandit.EXAMPLE_REWARDS, step_size=4.0, samples=4, baseline=-1.0, trained=10
):  # fmt: skip
    """The explorer of one sampled gradient step: nothing in it is sampled, all batches are counted.

    Args:
      logits: (A,) logits of the policy before any training.
      rewards: (A,) rewards, not all equal.
      step_size: where the step size starts, from 0 to 20.
      samples: where the number of samples starts, from 1 to 16.
      baseline: where the number subtracted from every reward starts, from -1 to 2.
      trained: where the number of exact steps taken beforehand starts, from 0 to 30.

    Returns:
      Explorer.

    Raises:
      ValueError: a start outside the sliders' ends; as ``picture``.
    """
    controls = [
        Slider("step_size", "step size", step_size, 0, STEP_SIZES[-1], 0.25, group="the step"),
        Slider("samples", "samples N", samples, 1, MOST_SAMPLES, 1, group="the step"),
        Slider("baseline", "baseline b", baseline, -1, 2, 0.1, group="the weight: reward minus b"),
        Slider("trained", "trained", trained, 0, LONGEST_TRAINING, 1, group="the policy: exact steps before"),
    ]

    def picture_at(step_size, samples, baseline, trained):
        return picture(train(logits, rewards, trained), rewards, step_size, samples, baseline)

    return Explorer(controls, picture_at)


def train(logits, rewards, steps):
    """Logits after so many exact gradient steps of size 1.

    Args:
      logits: (A,) where to start.
      rewards: (A,) rewards.
      steps: a whole number, 0 or more.

    Returns:
      (A,) float64.

    Raises:
      ValueError: as ``bandit.exact_gradient``; steps that are not whole or negative.
    """
    logits = _checks.vector("logits", logits)
    rewards = _checks.vector("rewards", rewards, size=logits.size)
    for _ in range(_checks.whole("steps", steps, low=0)):
        logits = logits + TRAINING_STEP * bandit.exact_gradient(logits, rewards)
    return logits


def outcomes(logits, rewards, baseline, samples, step_sizes):
    """The expected reward after one sampled step, for every batch and every step size.

        logits + step_size * 1/N sum_i (R(a_i) - b) grad log pi(a_i)

    Args:
      logits: (A,) logits before the step.
      rewards: (A,) rewards.
      baseline: b, one number.
      samples: N, answers in a batch.
      step_sizes: (E,) step sizes.

    Returns:
      chances (M,) of the batches, as multisets; expected rewards (E, M) after the step.

    Raises:
      ValueError: as ``bandit.expected_reward`` and ``groups.multisets``; step sizes that are not
        a vector of finite numbers, a baseline that is not one.

    Source: none; the sum over multisets is that of ``groups.expect``.
    """
    p, score = bandit.softmax(logits), bandit.score_matrix(logits)
    rewards = _checks.vector("rewards", rewards, size=p.size)
    weights = rewards - _checks.number("baseline", baseline)
    step_sizes = _checks.vector("step_sizes", step_sizes)
    counts = groups.multisets(p.size, samples)
    estimates = (counts * weights) @ score / counts[0].sum()  # (M, A)
    # Actions first: sums and maxima over a short last axis would take most of the time.
    moved = (
        bandit.log_softmax(logits)[:, None, None] + step_sizes[:, None] * estimates.T[:, None, :]
    )  # (A, E, M)
    moved = np.exp(moved - moved.max(axis=0))
    return groups.multinomial(p, counts), np.tensordot(rewards, moved, axes=1) / moved.sum(axis=0)


def picture(logits, rewards, step_size, samples, baseline):
    """Exact expected reward against the step size, and how it is spread at one of them.

    Args:
      logits: (A,) logits before the step.
      rewards: (A,) rewards, not all equal.
      step_size: the step size of the right panel, from 0 to 20.
      samples: N, answers in a batch.
      baseline: what is subtracted from every reward.

    Returns:
      Picture of two panels with a caption.

    Raises:
      ValueError: as ``outcomes``; rewards that are all equal, a step size outside 0 to 20.
    """
    step_size = _checks.number("step_size", step_size, 0, STEP_SIZES[-1])
    before = bandit.expected_reward(logits, rewards)
    if np.ptp(rewards) == 0:
        raise ValueError(f"rewards are all {rewards[0]}; they must differ, or no step changes anything.")
    limits = float(np.min(rewards)), float(np.max(rewards))
    chances, after = outcomes(logits, rewards, baseline, samples, np.append(STEP_SIZES, step_size))
    expected = after @ chances  # (E + 1,)
    panels = (
        _gain_panel(logits, rewards, step_size, samples, baseline, expected[:-1] - before, limits),
        _spread_panel(chances, after[-1], before, limits),
    )
    caption = _caption(before, step_size, chances, after[-1], expected)
    return Picture(panels, "One step along a sampled gradient, over all batches", caption)


def _gain_panel(logits, rewards, step_size, samples, baseline, gain, limits):
    logits, rewards = tuple(logits), tuple(rewards)
    lines = [Line(STEP_SIZES, _exact(logits, rewards), "exact gradient", COLOURS["exact"])]
    if baseline != 0:
        bare = _bare(logits, rewards, int(samples))
        lines.append(Line(STEP_SIZES, bare, "b = 0", COLOURS["before"], dashed=True, width=1.5))
    lines.append(Line(STEP_SIZES, gain, f"b = {baseline:zg}", COLOURS["constant"]))
    marks, best = [*lines, Rule(step_size, vertical=True)], int(gain.argmax())
    if 0 < best < gain.size - 1:
        marks.append(Points(STEP_SIZES[[best]], gain[[best]], "best step", COLOURS["constant"]))
    width = limits[1] - limits[0]
    highest, lowest = max(line.y.max() for line in lines), min(line.y.min() for line in lines)
    high = width * min(1.0, end_for(highest / width, GAINS, full=0.95))  # no gain is larger than the range
    low = -high / 3 if lowest > -high / 3 else -high
    return Panel(f"Expected gain in J, N = {int(samples)}", marks, Axis("step size", 0, STEP_SIZES[-1]),
                 Axis("J after the step minus J before", low, high), width=430)  # fmt: skip


@lru_cache(maxsize=64)
def _exact(logits, rewards):
    """(E,) gain along the exact gradient."""
    gradient = bandit.exact_gradient(logits, rewards)
    after = np.array([bandit.expected_reward(logits + eta * gradient, rewards) for eta in STEP_SIZES])
    return after - after[0]


@lru_cache(maxsize=64)
def _bare(logits, rewards, samples):
    """(E,) expected gain without a baseline."""
    chances, after = outcomes(logits, rewards, 0.0, samples, STEP_SIZES)
    return after @ chances - bandit.expected_reward(logits, rewards)


def _spread_panel(chances, after, before, limits):
    low, high = limits
    edges = low + (high - low) * BINS
    # A hair inwards: an outcome on an edge falls into the same bin on every machine.
    heights, _ = np.histogram(np.clip(after - 1e-9, low, high), edges, weights=chances)
    bars = Bars(
        (edges[:-1] + edges[1:]) / 2, heights, colour=COLOURS["constant"], width=0.9 * (edges[1] - edges[0])
    )
    anchor, shift = ("end", -0.015) if before > (low + high) / 2 else ("start", 0.015)
    word = Text(before + shift * (high - low), 0.94, "J before the step", COLOURS["before"], anchor)
    marks = (bars, Rule(before, vertical=True), word)
    return Panel("All outcomes at this step size", marks, Axis("J after the step", low, high),
                 Axis("chance of this outcome", 0, 1.0), width=380)  # fmt: skip


def _caption(before, step_size, chances, after, expected):
    """Three lines, always, so that the picture keeps its height."""
    best, lower = int(expected[:-1].argmax()), float(chances[after < before - 1e-12].sum())
    words = f"Best step size: {STEP_SIZES[best]:.2f}, where J is expected to be {expected[best]:z.4f}."
    if best == STEP_SIZES.size - 1:
        words = f"No best step size up to {STEP_SIZES[-1]:.0f}: the expected J is highest at the end."
    return (
        f"J = {before:z.4f} before the step; {expected[-1]:z.4f} expected after a step of size {step_size:.2f}.\n"
        f"Chance that this step lowers J: {lower:.4f}.\n{words}"
    )
