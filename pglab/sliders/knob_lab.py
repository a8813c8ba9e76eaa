"""Notebook 08: recorded runs of GRPO, one knob at a time: where it holds, and where it breaks."""

from dataclasses import dataclass

import numpy as np

from pglab import _checks, recordings
from pglab.figures import COLOURS, Axis, Line, Panel, Picture, Points, Rule
from pglab.sliders.controls import Choice, Slider
from pglab.sliders.explorer import Explorer

KNOBS = {
    "learning_rate": "learning rate",
    "group_size": "group size",
    "epochs": "inner epochs",
    "epochs_without_clip": "inner epochs, no clip",
    "kl": "KL beta",
}
# What ``training.plan("addition")`` has, where the others stand while one is turned; without clip none is it.
DEFAULTS = {"learning_rate": 1e-3, "group_size": 8.0, "epochs": 2.0, "kl": 0.0}
GOAL, APART = 0.9, 0.16
OTHERS, CHOSEN = COLOURS["before"], COLOURS["after"]


def knob_lab(recording=None, knob="learning_rate", place=4):
    """The explorer of recorded runs: a knob, its value, and what became of every seed.

    Args:
      recording: recordings.Recording whose variants say "knob" and "value", with the column "pass_at_1";
        None for "knobs".
      knob: the one to start with, a key of ``KNOBS``.
      place: which of its values, counted from 1.

    Returns:
      Explorer.

    Raises:
      ValueError: a recording without knobs; a knob it does not have; a place outside the slider's ends.
    """
    turned = turnings(recordings.read("knobs") if recording is None else recording)
    _checks.one_of("knob", knob, list(turned))
    by_words = {KNOBS[name]: name for name in turned}
    most = max(len(each.values) for each in turned.values())
    controls = [
        Choice("knob", "knob", KNOBS[knob], tuple(by_words)),
        Slider("place", "value, 1 = lowest", place, 1, most, 1),
    ]
    return Explorer(controls, lambda knob, place: picture(turned[by_words[knob]], by_words[knob], int(place)))


@dataclass(frozen=True)
class Turning:
    """One knob: K values in increasing order, each with S seeds and T points."""

    values: np.ndarray  # (K,)
    samples: np.ndarray  # (T,)
    curves: np.ndarray  # (K, S, T) pass@1

    @property
    def final(self):
        """(K, S) pass@1 at the end."""
        return self.curves[:, :, -1]


def turnings(recording):
    """What a recording holds of each knob, in the order of ``KNOBS``.

    Args:
      recording: recordings.Recording.

    Returns:
      {knob: Turning}, for the knobs that were turned.

    Raises:
      ValueError: fewer than two knobs.
    """
    found = {}
    for knob in KNOBS:
        pairs = [(about["value"], v) for v, about in recording.variants.items() if about.get("knob") == knob]
        if pairs:
            pairs.sort()
            curves = np.array([recording.column(variant, "pass_at_1") for _, variant in pairs])
            samples = recording.column(pairs[0][1], "samples")[0]
            found[knob] = Turning(np.array([value for value, _ in pairs], dtype=float), samples, curves)
    if len(found) < 2:
        raise ValueError(f"recording {recording.name!r} turns {len(found)} knobs; the lab needs two or more.")
    return found


def picture(turning, knob, place):
    """The curves of all seeds beside the medians of other values, and the end of every run.

    Args:
      turning: Turning.
      knob: its name, a key of ``KNOBS``.
      place: which value, counted from 1; beyond the last one the last.

    Returns:
      Picture of two panels with a caption of three lines.
    """
    place = min(place, len(turning.values)) - 1
    value = f"{turning.values[place]:g}"
    default = " (default)" if turning.values[place] == DEFAULTS.get(knob) else ""
    title = f"{KNOBS[knob]} {value}{default}"
    panels = (_curves_panel(turning, title, place), _ends_panel(turning, knob, place))
    return Picture(panels, f"GRPO on addition, {title}", _caption(turning, knob, place))


def _curves_panel(turning, title, place):
    others = [np.median(curves, axis=0) for k, curves in enumerate(turning.curves) if k != place]
    marks = [Rule(GOAL, f"{GOAL:g}")]
    marks += [Line(turning.samples, run, "", OTHERS, width=0.8) for run in others]
    marks += [Line(turning.samples, run, "", CHOSEN, width=2.0) for run in turning.curves[place]]
    x = Axis("completions", 0, turning.samples[-1])
    return Panel(f"{title}: every seed", marks, x, Axis("pass@1, fresh questions", 0, 1), 470, 310)


def _ends_panel(turning, knob, place):
    places, ends = np.arange(len(turning.values)), turning.final
    beside = APART * (np.arange(ends.shape[1]) - (ends.shape[1] - 1) / 2)  # so that equal ends stay apart
    marks = [
        Rule(GOAL, f"{GOAL:g}"),
        *(
            Points(places + away, column, colour=OTHERS, radius=3.0)
            for away, column in zip(beside, ends.T, strict=True)
        ),
        Points(place + beside, ends[place], colour=CHOSEN, radius=5.0),
    ]
    marks += [
        Rule(float(x), "", vertical=True)
        for x, value in zip(places, turning.values, strict=True)
        if value == DEFAULTS.get(knob)
    ]
    ticks = tuple((x, f"{value:g}") for x, value in zip(places, turning.values, strict=True))
    x = Axis(KNOBS[knob], -0.5, len(places) - 0.5, ticks)
    return Panel("Where every run ended", marks, x, Axis("pass@1, fresh questions", 0, 1), 470, 310)


def _caption(turning, knob, place):
    """Three lines, always, so that the picture keeps its height."""
    ends = np.sort(turning.final[place])
    reached = [recordings.samples_to(turning.samples, run, GOAL) for run in turning.curves[place]]
    there = [each for each in reached if np.isfinite(each)]
    which = f"value {place + 1} of {len(turning.values)} of this knob"
    soon = f", the first after {min(there):,.0f} completions" if there else ""
    return (
        f"{KNOBS[knob]} {turning.values[place]:g} ({which}): ends at {', '.join(f'{end:.3f}' for end in ends)}.\n"
        f"{len(there)} of {len(reached)} seeds reach {GOAL:g}{soon}.\n"
        "Blue: the seeds of this value. Thin grey: of each other value the median. Dashed, on the right: the default."
    )
