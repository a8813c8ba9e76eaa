"""Notebook 11: answers drawn by another policy than the one that is trained: bias and noise against the cap."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pglab import _checks, bandit, offpolicy
from pglab.figures import COLOURS, Axis, Bars, Line, Panel, Picture, Points, Rule
from pglab.sliders.controls import Choice, Slider
from pglab.sliders.ends import end_for
from pglab.sliders.explorer import Explorer

LEVELS = ("none", "token", "sequence")
PAYS = {"all": "all tokens right", "share": "each token"}
MODES = {"truncate": "truncate", "mask": "mask"}
STEPS, RATE = 24, 1.0  # of the ascent that leads to the policy that is trained
SAMPLES = ("16", "64", "256", "1024", "4096")
LEAST, MOST = 0.25, 8.0
CAPS = np.geomspace(LEAST, 16.0, 49)
ENDS = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0)
BINS = np.arange(-5, 5.25, 0.5)  # middles, of log2 of the weight
GAIN = 0.995  # what is not smaller by this factor is called no better
BIAS, NOISE, BOTH = COLOURS["down"], COLOURS["before"], COLOURS["exact"]


def mismatch_lab(
    behind=16, temperature=1.0, length=4, pay="all", level="sequence", cap=2.0, mode="truncate", samples=256
):  # fmt: skip
    """The explorer of importance weights: nothing in it is sampled, all answers are counted.

    The policy that is trained has climbed 24 exact steps from the running example; the one that samples is
    some steps behind it. An answer has tokens that are drawn by themselves from these four.

    Args:
      behind: where the steps behind start, from 0 to 24.
      temperature: where that of the policy that samples starts, from 0.5 to 1.5.
      length: where the tokens of an answer start, from 1 to 12.
      pay: what is paid at the start, "all" or "share", as in ``offpolicy.along_tokens``.
      level: of the weights, one of ``LEVELS``.
      cap: where the largest weight starts, from 0.25 to 8.
      mode: what happens to larger ones, "truncate" or "mask".
      samples: of a batch, one of ``SAMPLES`` as a number.

    Returns:
      Explorer.

    Raises:
      ValueError: a start outside the sliders' ends, unknown names.
    """
    _checks.one_of("pay", pay, list(PAYS), repr), _checks.one_of("mode", mode, list(MODES), repr)
    _checks.one_of("samples", str(samples), SAMPLES)
    paid = {words: name for name, words in PAYS.items()}
    controls = [
        Slider("behind", "steps behind", behind, 0, STEPS, 1, group="the policy that samples"),
        Slider("temperature", "temperature", temperature, 0.5, 1.5, 0.05, group="the policy that samples"),
        Slider("length", "tokens T", length, 1, 12, 1, group="the answers"),
        Choice("pay", "paid for", PAYS[pay], tuple(paid), group="the answers"),
        Choice("samples", "answers n", str(samples), SAMPLES, group="the answers"),
        Choice("level", "weights", level, LEVELS, group="the weights"),
        Slider("cap", "cap", cap, LEAST, MOST, 0.25, group="the weights"),
        Choice("mode", "above it", mode, tuple(MODES), group="the weights"),
    ]

    def picture_at(behind, temperature, length, pay, samples, level, cap, mode):
        return picture(int(behind), temperature, int(length), paid[pay], level, cap, mode, int(samples))

    return Explorer(controls, picture_at)


class Seen(NamedTuple):
    """What the cap and the number of samples do not change. Lengths as shares of the gradient's."""

    answers: offpolicy.Answers
    baseline: float  # the mean reward of what is drawn, as a group has it
    trained: float  # J of the policy that is trained
    bias: np.ndarray  # (C,)
    deviation: np.ndarray  # (C,) of one answer
    whole: tuple  # bias and deviation without a cap
    places: np.ndarray  # (M,) log2 of the weights
    mass: np.ndarray  # (M,) how often each is drawn


@lru_cache(maxsize=1)
def _path():
    return offpolicy.ascent(bandit.EXAMPLE_LOGITS, bandit.EXAMPLE_REWARDS, STEPS, RATE)


@lru_cache(maxsize=64)
def _seen(behind, temperature, length, pay, level, mode):
    path = _path()
    answers = offpolicy.stale(path, behind, bandit.EXAMPLE_REWARDS, length, pay, temperature)
    baseline = float(answers.chance @ answers.rewards)
    drawn = offpolicy.curve(answers, CAPS, 1, level, mode, baseline)
    size = float(np.linalg.norm(answers.gradient))
    whole = offpolicy.moments(answers, level, baseline=baseline)
    right = bandit.expected_reward(path[-1], bandit.EXAMPLE_REWARDS)
    every = offpolicy.weights(answers, level)
    kept = answers.times > 0
    mass = np.broadcast_to(answers.chance[:, None], kept.shape) * answers.times / length
    return Seen(
        answers, baseline, right**length if pay == "all" else right, drawn.bias / size, drawn.deviation / size,
        (float(np.linalg.norm(whole.bias)) / size, whole.variance**0.5 / size), np.log2(every[kept]), mass[kept],
    )  # fmt: skip


def picture(behind, temperature, length, pay, level, cap, mode, samples):
    """Bias, noise and both together against the cap; and how the weights are spread.

    Args:
      behind, temperature, length, pay, level, cap, mode, samples: as in ``mismatch_lab``.

    Returns:
      Picture of two panels with a caption of three lines.

    Raises:
      ValueError: unknown names, a cap outside 0.25 to 8; as ``offpolicy.stale`` and ``offpolicy.curve``.
    """
    cap, samples = _checks.number("cap", cap, LEAST, MOST), _checks.whole("samples", samples, low=1)
    _checks.one_of("level", level, LEVELS, repr)
    seen = _seen(behind, float(temperature), length, pay, level, mode)
    noise = seen.deviation / samples**0.5
    both = np.hypot(seen.bias, noise)
    whole = float(np.hypot(seen.whole[0], seen.whole[1] / samples**0.5))
    panels = (
        _cap_panel(seen, noise, both, whole, level, cap, samples),
        _weight_panel(seen, level, cap),
    )
    tokens = "token" if length == 1 else "tokens"
    at = "" if temperature == 1 else f", at temperature {temperature:.2f}"
    title = f"{samples:,} answers of {length} {tokens}, drawn {behind} steps behind{at}"
    return Picture(panels, title, _caption(seen, both, whole, level, cap, mode, samples))


def _cap_panel(seen, noise, both, whole, level, cap, samples):
    words = (("bias", seen.bias, BIAS), ("noise", noise, NOISE), ("together", both, BOTH))
    marks = [Line(CAPS, y, name, colour) for name, y, colour in words]
    marks.append(Rule(cap, vertical=True))
    best = int(both.argmin())
    if level != "none" and both[best] < GAIN * whole:
        marks.append(Points(CAPS[[best]], both[[best]], colour=BOTH, radius=5.0))
    ticks = tuple((c, f"{c:g}") for c in (0.25, 0.5, 1, 2, 4, 8, 16))
    top = end_for(float(both.max()), ENDS)
    title = "No weights: a cap changes nothing" if level == "none" else "Error of the mean gradient"
    y = Axis("share of the gradient's length", 0, top)
    return Panel(title, marks, Axis("cap", CAPS[0], CAPS[-1], ticks, log=True), y, 450, 310)


def _weight_panel(seen, level, cap):
    which = np.clip(np.rint((seen.places - BINS[0]) / 0.5), 0, BINS.size - 1).astype(int)
    above = np.exp2(seen.places) > cap * (1 + 1e-12)
    marks = []
    for chosen, word, colour in ((~above, "", COLOURS["after"]), (above, "above the cap", BIAS)):
        heights = np.bincount(which[chosen], seen.mass[chosen], BINS.size)
        marks.append(Bars(BINS, heights, word * bool(chosen.any()), colour, 0.4))
    if level != "none":
        marks.append(Rule(float(np.log2(cap)), vertical=True))
    ticks = tuple((k, f"{2.0**k:g}" if k >= 0 else f"1/{2**-k}") for k in (-4, -2, 0, 2, 4))
    what = "answers" if level == "sequence" else "tokens"
    x = Axis(f"weight of the {what} that are drawn", BINS[0] - 0.5, BINS[-1] + 0.5, ticks)
    return Panel("How the weights are spread", marks, x, Axis("share", 0, 1), 400, 310)


def _caption(seen, both, whole, level, cap, mode, samples):
    """Three lines, always, so that the picture keeps its height."""
    here = offpolicy.moments(seen.answers, level, cap, mode, seen.baseline)
    size = float(np.linalg.norm(seen.answers.gradient))
    bias, noise = float(np.linalg.norm(here.bias)) / size, (here.variance / samples) ** 0.5 / size
    effective = offpolicy.moments(seen.answers, level).effective(samples)
    first = (
        f"J = {seen.baseline:.4f} of who samples, {seen.trained:.4f} of who is trained. By their weights {samples:,} "
        f"answers are worth {effective:,.1f}."
    )
    second = f"Cap {cap:.2f}: bias {bias:.3f}, noise {noise:.3f}, together {np.hypot(bias, noise):.3f}"
    without = f"; without a cap {seen.whole[0]:.3f}, {seen.whole[1] / samples**0.5:.3f}, {whole:.3f}."
    return f"{first}\n{second}{without}\n{_verdict(seen, both, whole, level)}"


def _verdict(seen, both, whole, level):
    if level == "none":
        return "Taken as if the policy that is trained had drawn them: there is no weight to cap."
    best = int(both.argmin())
    if both[best] >= GAIN * whole:
        return "No cap of those drawn is better than none."
    if CAPS[best] <= np.exp2(seen.places.min()) * (1 + 1e-9):
        return f"Together least at cap {CAPS[best]:.2f} (dot), {both[best]:.3f}: below every weight, so a shorter step."
    return f"Together least at cap {CAPS[best]:.2f} (dot): {both[best]:.3f}."
