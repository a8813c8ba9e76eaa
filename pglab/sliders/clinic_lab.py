"""Notebook 10: eight recorded runs without names, any two numbers of the panel side by side."""

from dataclasses import dataclass

import numpy as np

from pglab import _checks, recordings
from pglab.figures import COLOURS, Axis, Line, Panel, Picture, Points, Text
from pglab.sliders.controls import Choice, Slider
from pglab.sliders.explorer import Explorer

# The numbers of the panel in the order of the choice, and their units.
UNITS = {
    "reward": "what was paid, mean",
    "length": "tokens, the end token too",
    "finished": "share of completions",
    "entropy": "nats, next token",
    "zero_std": "share of groups",
    "advantage_mean": "mean over the completions",
    "advantage_std": "deviation over the completions",
    "grad_norm": "length of the gradient",
    "grad_noise": "trace of the gradient's covariance",
    "clip_fraction": "share of tokens",
    "kl": "nats a token, to the policy before the batch",
    "kl_ref": "nats a token, to the model before training",
}
IN_A_ROW = 3  # steps outside the others' range before it counts
FACTOR = 10  # a value so many times as large as the largest of all other runs is cut
DECADES = 1000  # largest over smallest, from where on an axis is logarithmic
ROOM = 0.06  # of the axis, beyond the outermost values
OTHERS, INK = COLOURS["before"], COLOURS["exact"]


def clinic_lab(recording=None, run="A", left="reward", right="kl", step=12):
    """The explorer of unlabelled runs: how much of them has been seen, one run, and two numbers of the panel.

    Args:
      recording: recordings.Recording, one run of whose first seed is shown for every variant; None for
        "clinic".
      run: the variant to start with.
      left, right: the number on each side, such as "reward"; any that was measured at every step.
      step: the last one that has been seen, counted from 0.

    Returns:
      Explorer.

    Raises:
      ValueError: a recording with fewer than two runs, with runs of different lengths, or with fewer than
        two numbers; a run or a number that it does not have; a step outside the slider's ends.
    """
    ward = admitted(recordings.read("clinic") if recording is None else recording)
    letters, names = next(iter(ward.values())).runs, tuple(ward)
    last = next(iter(ward.values())).values.shape[1] - 1
    _checks.one_of("run", run, letters)
    _checks.one_of("left", left, names)
    _checks.one_of("right", right, names)
    controls = [
        Slider("step", "step, 0 = first", step, 0, last, 1, group="what is seen"),
        Choice("run", "run", run, letters, group="what is seen"),
        Choice("left", "left", left, names, group="two numbers of the panel"),
        Choice("right", "right", right, names, group="two numbers of the panel"),
    ]

    def picture_at(step, run, left, right):
        return picture((ward[left], ward[right]), run, int(step))

    return Explorer(controls, picture_at)


@dataclass(frozen=True)
class Number:
    """One number of the panel in R runs of T steps, and what does not depend on the step that is shown."""

    name: str
    runs: tuple  # R names
    values: np.ndarray  # (R, T)
    medians: np.ndarray  # (R, T) of the other runs
    outside: np.ndarray  # (R, T) whether the value lies below or above those of all others at this step
    cut: np.ndarray  # (R, T) whether it is drawn beyond the border
    axis: Axis


def admitted(recording):
    """The numbers of a recording that were measured at every step, in the order of ``UNITS``.

    Args:
      recording: recordings.Recording.

    Returns:
      {name: Number}, each with the first seed of every variant.

    Raises:
      ValueError: fewer than two runs, runs of different lengths, fewer than two such numbers.
    """
    runs = tuple(sorted(recording.variants))
    if len(runs) < 2:
        raise ValueError(f"recording {recording.name!r} has {len(runs)} runs; the lab needs two or more.")
    more = sorted(set(recording.columns) - set(UNITS) - {"samples"})
    found = {}
    for name in [*(name for name in UNITS if name in recording.columns), *more]:
        rows = [recording.column(run, name)[0] for run in runs]
        if len({len(row) for row in rows}) > 1:
            raise ValueError(
                f"recording {recording.name!r} has runs of different lengths; all must have one."
            )
        if np.isfinite(rows).all():
            found[name] = number(name, runs, np.array(rows))
    if len(found) < 2:
        raise ValueError(f"recording {recording.name!r} has {len(found)} numbers; the lab needs two or more.")
    return found


def number(name, runs, values):
    """A number with its axis, and with every run compared with the others.

    Args:
      name: of the number.
      runs: R names.
      values: (R, T) finite.

    Returns:
      Number.
    """
    log = bool(values.min() > 0 and values.max() > DECADES * values.min())
    others = [np.delete(values, k, axis=0) for k in range(len(values))]
    lowest, highest = (np.array([f(rest, axis=0) for rest in others]) for f in (np.min, np.max))
    largest = np.array([np.abs(rest).max() for rest in others])[:, None]
    # On a logarithmic axis there is room for all. Beside zeros alone nothing can be ten times as large.
    cut = (np.abs(values) > FACTOR * largest) & (largest > 0) & (not log)
    medians = np.array([np.median(rest, axis=0) for rest in others])
    outside = (values < lowest) | (values > highest)
    return Number(name, tuple(runs), values, medians, outside, cut, _axis(name, values[~cut], log))


def _axis(name, values, log):
    """Ends that hold all steps of all runs, so that the axis stays where it is."""
    low, high, label = values.min(), values.max(), UNITS.get(name, "")
    if log:
        room = (high / low) ** ROOM
        return Axis(label, low / room, high * room, log=True)
    room = ROOM * ((high - low) or abs(high) or 1.0)
    return Axis(label, 0.0 if low >= 0 else low - room, high + room)


def leaves(outside):
    """When a run is first outside the range of the others for three steps in a row.

    Args:
      outside: (T,) booleans.

    Returns:
      (first, last) step of that stretch, None if there is none.
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[0], outside, [0]])))
    stretches = ((int(start), int(end) - 1) for start, end in edges.reshape(-1, 2))
    return next((each for each in stretches if each[1] - each[0] + 1 >= IN_A_ROW), None)


def picture(numbers, run, step):
    """Two numbers of a run up to a step, with those of all other runs in grey.

    Args:
      numbers: two Numbers of the same runs.
      run: one of these.
      step: the last one that has been seen, counted from 0.

    Returns:
      Picture of two panels with a caption of six lines.
    """
    panels = [_panel(each, run, step) for each in numbers]
    return Picture(panels, f"Run {run} up to step {step}", _caption(numbers, run, step))


def _panel(each, run, step):
    row, last = each.runs.index(run), each.values.shape[1] - 1
    x, seen, colour = np.arange(step + 1), each.values[:, : step + 1], _colour(row)
    rest = [y for k, y in enumerate(seen) if k != row]
    marks = [Line(x, y, "", OTHERS, width=0.8) for y in rest]
    marks += [
        Line(x, seen[row], "", colour, width=2.2),
        Points(np.full(len(rest), step), [y[-1] for y in rest], colour=OTHERS, radius=2.0),
        Points([step], [seen[row, -1]], colour=colour, labels=(run,), radius=4.5),
    ]
    if each.cut[row, step]:  # the dot lies beyond the border: its number stands there
        marks.append(_at_the_border(each.axis, step, last, run, seen[row, -1], colour))
    return Panel(f"{each.name}, run {run}", marks, Axis("step", 0, last + 1), each.axis, 470, 310)


def _at_the_border(axis, step, last, run, value, colour):
    """Beside the curve that leaves the panel; left of it where the panel ends."""
    inwards = 0.5 * ROOM * (axis.high - axis.low)
    y = axis.low + inwards if value < axis.low else axis.high - inwards
    fits = step <= 0.9 * (last + 1)
    return Text(
        step + 0.3 if fits else step - 1.3, y, f"{run}: {value:.4g}", colour, "start" if fits else "end"
    )


def _colour(row):
    """As in the other pictures of these runs; grey is that of the others, so ink takes its place."""
    colour = COLOURS[f"seed {row % 8}"]
    return INK if colour == OTHERS else colour


def _caption(numbers, run, step):
    """Six lines, always, each short enough for one panel's width, so that the picture keeps its height."""
    lines = [f"Run {run} up to step {step}. Thin grey: the {len(numbers[0].runs) - 1} other runs."]
    for each in numbers:
        row = each.runs.index(run)
        now, middle = each.values[row, step], each.medians[row, step]
        lines.append(f"{each.name} {now:.4g}; median of the others {middle:.4g}.")
        lines.append(_when(leaves(each.outside[row, : step + 1]), step))
    return "\n".join([*lines, _cuts(numbers, step)])


def _when(stretch, step):
    if stretch is None:
        return "Not outside their range for three steps in a row."
    first, last = stretch
    return "Outside their range " + (
        f"from step {first} on." if last == step else f"in steps {first} to {last}."
    )


def _cuts(numbers, step):
    """Whose spikes run out of a panel, and how far."""
    words = {}
    for each in numbers:
        for run, y, cut in zip(each.runs, each.values[:, : step + 1], each.cut, strict=True):
            if cut[: step + 1].any():
                spike = max(y[cut[: step + 1]], key=abs)
                words[each.name, run] = f"{each.name} ({run}: {spike:.4g})"
    return f"Cut: {', '.join(words.values())}." if words else "No value is cut off."
