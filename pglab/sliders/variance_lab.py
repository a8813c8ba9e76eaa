"""Notebook 03: logits, rewards, baseline, group size and weight in; bias and noise of the estimate out."""

from itertools import combinations

import numpy as np

from pglab import _checks, bandit
from pglab.figures import COLOURS, NAMES, Axis, Bars, Line, Panel, Picture, Points, Rule, Text, named_axis
from pglab.sliders.controls import Choice, Slider
from pglab.sliders.ends import end_for
from pglab.sliders.explorer import Explorer
from pglab.sliders.four_answers import ANSWERS, LIMIT, eight_sliders, values_of
from pglab.sliders.weights import GROUPED, WEIGHTS, baseline_of, moments

CIRCLE = np.linspace(0, 2 * np.pi, 73)


def variance_lab(
    logits=bandit.EXAMPLE_LOGITS, rewards=bandit.EXAMPLE_REWARDS, weight="none", size=4, baseline=0.8, answers=ANSWERS
):  # fmt: skip
    """The explorer of baselines: everything exact, nothing sampled.

    Args:
      logits: (4,) where the logit sliders start, from -3 to 3.
      rewards: (4,) where the reward sliders start, from -3 to 3.
      weight: what multiplies the scores at the start, one of ``weights.WEIGHTS``.
      size: where the group size starts, from 1 to 16.
      baseline: where the constant b starts, from -3 to 3.
      answers: four words, the names of the answers.

    Returns:
      Explorer.

    Raises:
      ValueError: a start outside the sliders' ends, not four of each, an unknown weight.
    """
    controls = eight_sliders(logits, rewards, answers)
    pairs = {f"{answers[i]} and {answers[k]}": (i, k) for i, k in combinations(range(4), 2)}
    _checks.one_of("weight", weight, WEIGHTS)
    by_words = {NAMES[name]: name for name in WEIGHTS}
    controls += [
        Choice("weight", "weight", NAMES[weight], tuple(by_words), group="the estimate"),
        Slider("size", "samples G", size, 1, 16, 1, group="the estimate"),
        Slider("baseline", "constant b", baseline, -LIMIT, LIMIT, 0.05, group="the estimate"),
        Choice("pair", "noise of", list(pairs)[1], tuple(pairs), group="the estimate"),
    ]

    def picture_at(weight, size, baseline, pair, **sliders):
        z, r = values_of(sliders)
        return picture(z, r, by_words[weight], int(size), baseline, pairs[pair], answers)

    return Explorer(controls, picture_at)


def picture(logits, rewards, weight, size, baseline, pair=(0, 2), answers=ANSWERS):
    """Mean, noise and variance of the estimate that one weight gives.

    Args:
      logits: (A,) logits.
      rewards: (A,) rewards.
      weight: one of ``weights.WEIGHTS``.
      size: samples in a group.
      baseline: the constant b.
      pair: the two logits whose noise is drawn.
      answers: A words, the names of the answers.

    Returns:
      Picture of three panels with a caption.

    Raises:
      ValueError: as ``weights.moments``.
    """
    every = {name: moments(name, logits, rewards, size, baseline) for name in WEIGHTS}
    panels = (
        _gradient_panel(weight, every, answers),
        _noise_panel(weight, every, pair, answers),
        _variance_panel(weight, every, logits, rewards, size, baseline),
    )
    title = f"The gradient estimate with weight {NAMES[weight]}, group size {size}"
    return Picture(panels, title, _caption(weight, every, logits, rewards, size, baseline), columns=3)


def _gradient_panel(weight, every, answers):
    gradient, chosen = every["none"].gradient, every[weight]
    x = np.arange(gradient.size)
    marks = [Bars(x - 0.2, gradient, "exact", COLOURS["exact"], 0.36)]
    largest = np.abs(gradient).max()
    if chosen is not None:
        marks.append(Bars(x + 0.2, chosen.mean, "mean estimate", COLOURS[weight], 0.36, ".3f"))
        largest = max(largest, np.abs(chosen.mean).max())
    limit = max(0.1, end_for(1.1 * largest))
    return Panel(
        "Is it right on average?", marks, named_axis(answers), Axis("", -limit, limit), width=320, height=290
    )


def _noise_panel(weight, every, pair, answers):
    """Ellipses of one standard deviation: of the chosen weight, and of no baseline for comparison."""
    pair = list(pair)
    marks, reach = [], []
    for name, dashed in (("none", True), (weight, False)):
        if every[name] is None or (dashed and weight == "none"):
            continue
        marks.append(_ellipse(every[name], pair, COLOURS[name], dashed))
        reach.append(_reach(every[name], pair))
    target = every["none"].gradient[pair]
    marks.append(Points(target[:1], target[1:], "exact", COLOURS["exact"]))
    if every[weight] is not None:
        centre = every[weight].mean[pair]
        marks.append(Points(centre[:1], centre[1:], NAMES[weight], COLOURS[weight], radius=3.0))
    # The reach of every weight but the constant, so that the axes stand still while only b or the weight moves.
    reach += [_reach(each, pair) for name, each in every.items() if each is not None and name != "constant"]
    limit = end_for(max([*reach, *np.abs(target)]))
    if weight != "none":
        top = marks[0].y.argmax()
        marks.append(Text(marks[0].x[top], marks[0].y[top] + 0.05 * limit, NAMES["none"], COLOURS["none"]))
    x, y = (Axis(f"logit of {answers[i]}", -limit, limit) for i in pair)
    return Panel("How far off is one estimate?", marks, x, y, width=290, height=290)


def _reach(estimate, pair):
    """How far from 0 the ellipse goes, in either coordinate."""
    deviations = np.sqrt(np.diag(estimate.covariance)[pair])
    return float(np.max(np.abs(estimate.mean[pair]) + deviations))


def _ellipse(estimate, pair, colour, dashed):
    values, vectors = np.linalg.eigh(estimate.covariance[np.ix_(pair, pair)])
    axes = vectors * np.sqrt(np.maximum(values, 0.0))
    around = axes @ np.array([np.cos(CIRCLE), np.sin(CIRCLE)]) + estimate.mean[pair][:, None]
    return Line(*around, colour=colour, dashed=dashed, width=1.4 if dashed else 2.2)


def _variance_panel(weight, every, logits, rewards, size, baseline):
    """The parabola of the constant baselines, and the weights that are not on it as levels."""
    low, high = (
        min(-1.0, rewards.min() - 0.5, baseline - 0.25),
        max(2.0, rewards.max() + 0.5, baseline + 0.25),
    )
    b = np.linspace(low, high, 61)
    best, least = baseline_of("optimal", logits, rewards, 0.0), every["optimal"].variance
    curvature = bandit.softmax(logits) @ (bandit.score_matrix(logits) ** 2).sum(axis=1) / size
    marks = [Line(b, least + curvature * (b - best) ** 2, colour=COLOURS["constant"])]
    for name in GROUPED:
        if every[name] is not None:
            marks.append(Rule(every[name].variance, NAMES[name], COLOURS[name]))
    top = end_for(max(1.6 * every[name].variance for name in ("none", "value", "optimal")))
    for name in ("none", "value", "optimal", "constant"):
        marks.append(
            _dot(name, weight, baseline_of(name, logits, rewards, baseline), every[name].variance, top)
        )
    x, y = Axis("baseline b", low, high), Axis("variance (trace)", 0, top)
    return Panel("What would another baseline do?", marks, x, y, width=410, height=290)


def _dot(name, weight, place, variance, top):
    """A constant on the parabola; one that has left the panel stands at its upper border."""
    words = NAMES[name] if variance <= top else f"{NAMES[name]}, up at {variance:.3g}"
    radius = 6.0 if name == weight else 4.0
    return Points([place], [min(variance, top)], colour=COLOURS[name], labels=(words,), radius=radius)


def _caption(weight, every, logits, rewards, size, baseline):
    """Three lines, always, so that the picture keeps its height."""
    chosen, none = every[weight], every["none"]
    samples = f"{size} sample{'s' if size > 1 else ''}"
    others = f"No baseline, {samples}: {none.variance:.4f}. Best constant b* = {bandit.optimal_baseline(logits, rewards):z.3f}: {every['optimal'].variance:.4f}."
    if chosen is None:
        return f"{_capital(NAMES[weight])} needs at least two samples: a group of one has no others.\n{others}\n "
    bias = np.sqrt(chosen.squared_bias)
    words = (
        "unbiased"
        if bias == 0
        else f"bias of length {bias:.4f} (the gradient has {np.linalg.norm(chosen.gradient):.4f})"
    )
    return f"{_capital(NAMES[weight])}, {samples}: {words}; variance {chosen.variance:.4f}.\n{others}\n{_quieter(chosen, none)}"


def _capital(words):
    return words[0].upper() + words[1:]


def _quieter(chosen, none):
    if none.variance < 1e-15:
        return "Without a baseline there is no noise at all here."
    return f"Variance against no baseline: {chosen.variance / none.variance:#.3g} times."
