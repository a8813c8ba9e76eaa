"""Notebook 11: a cluster divided into GPUs that draw and GPUs that learn: who waits for whom."""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pglab import _checks
from pglab.figures import COLOURS, Axis, Bars, Line, Panel, Picture, Points, Rule, Text, named_axis
from pglab.figures.palette import GRID
from pglab.scaling.decoder import MODELS
from pglab.scaling.seconds import GPUS, samplers_needed, step, trainers_needed
from pglab.sliders.controls import Choice, Slider
from pglab.sliders.ends import end_for
from pglab.sliders.explorer import Explorer

CARDS, SIZES = tuple(GPUS), tuple(MODELS)
PROMPTS, GROUPS = ("32", "64", "128", "256", "512"), ("4", "8", "16", "32", "64")
ANSWERS = tuple(str(2**k) for k in range(7, 16))
TURNS, REFERENCES = ("in turn", "one step behind"), ("none", "frozen model")
PROMPT, MOST = 256, 32  # tokens of a prompt; GPUs of a kind
ENDS = tuple(digit * 10.0**power for power in range(-2, 6) for digit in (1, 2, 5))
DRAW, LEARN, STEP = COLOURS["down"], COLOURS["after"], COLOURS["exact"]


def cluster_lab(
    model="Qwen2.5 7 B", gpu="H100 80 GB", prompts=128, group=16, answer=8192, epochs=1, reference="none",
    samplers=8, trainers=8, turns="in turn",
):  # fmt: skip
    """The explorer of a cluster's shape: seconds that are reckoned, as ``scaling.step`` does.

    Args:
      model: a key of ``scaling.MODELS``.
      gpu: a key of ``scaling.GPUS``.
      prompts, group: of a step, one of ``PROMPTS`` and of ``GROUPS`` as numbers.
      answer: tokens of each answer, one of ``ANSWERS`` as a number.
      epochs: updates on each batch, from 1 to 4.
      reference: whether there is one that scores, one of ``REFERENCES``.
      samplers, trainers: GPUs that draw and that learn, from 1 to 32.
      turns: whether one side works while the other does, one of ``TURNS``.

    Returns:
      Explorer.

    Raises:
      ValueError: a start outside the sliders' ends, unknown names.
    """
    for name, value, known in (
        ("model", model, SIZES), ("gpu", gpu, CARDS), ("prompts", str(prompts), PROMPTS), ("group", str(group), GROUPS),
        ("answer", str(answer), ANSWERS), ("reference", reference, REFERENCES), ("turns", turns, TURNS),
    ):  # fmt: skip
        _checks.one_of(name, value, known, repr)
    controls = [
        Choice("answer", "tokens", str(answer), ANSWERS, group="a step"),
        Choice("prompts", "prompts", str(prompts), PROMPTS, group="a step"),
        Choice("group", "answers each", str(group), GROUPS, group="a step"),
        Slider("epochs", "updates", epochs, 1, 4, 1, group="a step"),
        Slider("samplers", "that draw", samplers, 1, MOST, 1, group="GPUs"),
        Slider("trainers", "that learn", trainers, 1, MOST, 1, group="GPUs"),
        Choice("turns", "they work", turns, TURNS, group="GPUs"),
        Choice("gpu", "GPU", gpu, CARDS, group="GPUs"),
        Choice("model", "model", model, SIZES, group="the model"),
        Choice("reference", "reference", reference, REFERENCES, group="the model"),
    ]

    def picture_at(answer, prompts, group, epochs, samplers, trainers, turns, gpu, model, reference):
        numbers = (int(each) for each in (prompts, group, answer, epochs))
        return picture(model, gpu, *numbers, reference, int(samplers), int(trainers), turns)

    return Explorer(controls, picture_at)


class Seen(NamedTuple):
    """What the division of the GPUs does not change."""

    least: tuple  # samplers, trainers that memory alone asks for; the latter may be inf
    steps: tuple  # scaling.Step with 1, 2, .. 63 samplers and one trainer; None where a copy has no room
    learning: float  # seconds of one trainer


@lru_cache(maxsize=64)
def _seen(model, gpu, prompts, group, answer, epochs, reference):
    decoder, length = MODELS[model], PROMPT + answer
    kl = reference != REFERENCES[0]
    held = {"policy": "trained"} | ({"reference": "frozen"} if kl else {})
    least = samplers_needed(decoder, gpu, length), trainers_needed(decoder, gpu, length, held)
    run = dict(prompts=prompts, group=group, prompt_length=PROMPT, answer_length=answer, epochs=epochs)
    steps = tuple(
        step(decoder, gpu, **run, samplers=k, trainers=1, reference=kl) if k >= least[0] else None
        for k in range(1, 2 * MOST)
    )
    return Seen(least, steps, steps[-1].scoring + steps[-1].training)


def picture(model, gpu, prompts, group, answer, epochs, reference, samplers, trainers, turns):
    """Who works and who waits, in seconds; and the same for every division of as many GPUs.

    Args:
      model, gpu, prompts, group, answer, epochs, reference, samplers, trainers, turns: as in ``cluster_lab``.

    Returns:
      Picture of two panels with a caption of four lines.

    Raises:
      ValueError: unknown names, numbers outside the sliders' ends; as ``scaling.step``.
    """
    for name, value in (("samplers", samplers), ("trainers", trainers)):
        _checks.number(name, value, 1, MOST)
    for name, value, known in (
        ("model", model, SIZES), ("gpu", gpu, CARDS), ("reference", reference, REFERENCES), ("turns", turns, TURNS),
    ):  # fmt: skip
        _checks.one_of(name, value, known, repr)
    seen = _seen(model, gpu, prompts, group, answer, epochs, reference)
    together = sum if turns == TURNS[0] else max
    splits = _splits(seen, samplers + trainers, together)
    panels = _works(seen, samplers, trainers, together), _division(splits, samplers, samplers + trainers)
    title = (
        f"{prompts * group:,} answers of {answer:,} tokens: {samplers} GPUs draw, {trainers} learn, {turns}"
    )
    return Picture(panels, title, _caption(model, gpu, seen, splits, samplers, trainers, together))


def _splits(seen, gpus, together):
    """(K, 4) samplers, seconds of drawing, of learning and of a step, for every division that memory allows."""
    most = gpus - min(seen.least[1], gpus)
    ways = range(seen.least[0], most + 1)
    both = [(seen.steps[k - 1].generation, seen.learning / (gpus - k)) for k in ways]
    return np.array([(k, *pair, together(pair)) for k, pair in zip(ways, both, strict=True)]).reshape(-1, 4)


def _fits(seen, samplers, trainers):
    return samplers >= seen.least[0] and trainers >= seen.least[1]


def _works(seen, samplers, trainers, together):
    """Two bars of coloured work on a pale bar as high as the whole step."""
    axis = named_axis((f"{samplers} draw", f"{trainers} learn"))
    if not _fits(seen, samplers, trainers):
        marks = [Text(0.5, 0.5, "does not fit into memory")]
        return Panel("One step", marks, axis, Axis("seconds", 0, 1), 360, 310)
    work = seen.steps[samplers - 1].generation, seen.learning / trainers
    whole = together(work)
    top = end_for(whole, ENDS)
    marks = [Bars((0, 1), (whole, whole), colour=GRID)]
    marks += [Bars([k], [work[k]], colour=(DRAW, LEARN)[k], values=f",.{_decimals(whole)}f") for k in (0, 1)]
    waits = [(k, whole - each) for k, each in enumerate(work) if whole - each > 0.15 * top]
    marks += [Text(k, whole - 0.06 * top, f"waits {_seconds(wait)}") for k, wait in waits]
    return Panel("One step: who works, who waits", marks, axis, Axis("seconds", 0, top), 360, 310)


def _division(splits, samplers, gpus):
    """Seconds against the samplers among so many GPUs."""
    title, x = "Every division of these GPUs", Axis(f"GPUs that draw, of {gpus}", 0, gpus)
    if not len(splits):
        return Panel(
            title, [Text(gpus / 2, 0.5, "none fits into memory")], x, Axis("seconds", 0, 1), 480, 310
        )
    ways, drawing, learning, steps = splits.T
    marks = [Line(ways, drawing, "drawing", DRAW), Line(ways, learning, "learning", LEARN)]
    marks += [Line(ways, steps, "a step", STEP, dashed=True), Rule(samplers, vertical=True)]
    best = int(steps.argmin())
    marks.append(Points(ways[[best]], steps[[best]], colour=STEP, radius=5.0))
    ends = (
        10.0 ** math.floor(math.log10(splits[:, 1:].min())),
        10.0 ** math.ceil(math.log10(splits[:, 1:].max())),
    )
    low, high = ends[0], max(ends[1], 10 * ends[0])
    return Panel(title, marks, x, Axis("seconds", low, high, log=True), 480, 310)


def _caption(model, gpu, seen, splits, samplers, trainers, together):
    """Four lines, always, so that the picture keeps its height."""
    size, gpus = MODELS[model].parameters / 1e9, samplers + trainers
    learn = "to learn one answer is too long" if seen.least[1] == math.inf else f"{seen.least[1]} to learn"
    lines = [f"{size:.2f} billion parameters on {gpu}: memory asks for {seen.least[0]} to draw, {learn}."]
    if _fits(seen, samplers, trainers):
        here = seen.steps[samplers - 1]
        both = here.generation, seen.learning / trainers
        waves = "all at once" if here.waves == 1 else f"{here.waves} times over"
        alone = "answer" if here.at_once == 1 else "answers"
        lines.append(
            f"Each copy draws {here.at_once:,} {alone} side by side, {waves}, and waits for {here.waits_for}."
        )
        lines.append(f"A step takes {_seconds(together(both))} s: {_who(both, together)}.")
    else:
        lines.append(f"{samplers} that draw and {trainers} that learn do not fit.")
        lines.append("Take more GPUs, larger ones, a smaller model or shorter answers.")
    if len(splits):
        k, _, _, seconds = splits[splits[:, 3].argmin()]
        lines.append(
            f"Of all divisions of {gpus} GPUs it is best that {k:.0f} draw: {_seconds(seconds)} s a step."
        )
    else:
        lines.append(f"No division of {gpus} GPUs fits.")
    return "\n".join(lines)


def _seconds(value):
    """Three digits or more, never a power of ten."""
    return f"{value:,.{_decimals(value)}f}"


def _decimals(value):
    return 0 if value >= 99.95 else 1 if value >= 9.995 else 2 if value >= 0.9995 else 3


def _who(both, together):
    """Who waits, in words."""
    if together is sum:
        return "each side waits while the other works"
    late, soon = ("drawing", "trainers") if both[0] >= both[1] else ("learning", "samplers")
    return f"{late} takes longer, and the {soon} wait for {100 * (1 - min(both) / max(both)):.0f} % of it"
