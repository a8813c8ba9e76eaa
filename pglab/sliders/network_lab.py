"""Notebook 07: a transformer's gradient estimate, by policy, temperature, group size and weight."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from pglab import _checks, groups
from pglab.figures import COLOURS, NAMES, Axis, Line, Panel, Picture, Points, atlas
from pglab.sliders.controls import Choice, Slider
from pglab.sliders.ends import ENDS, end_for
from pglab.sliders.explorer import Explorer
from pglab.sliders.weights import GROUPED, SINGLE, WEIGHTS

COOLEST, HOTTEST, DEGREE = 0.5, 2.0, 0.1  # of the temperature slider: every stop has a table of its own
SIZES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)  # where the curve is computed
MEASURES = {"variance": "variance (trace)", "squared error": "mean squared error"}
FAR = (*ENDS, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4)  # ends of the axes: squared scores of a network are large


def network_lab(policies, policy=None, weight="leave_one_out", size=4, baseline=0.5, temperature=1.0):
    """The explorer of gradient estimates from one transformer: everything exact, nothing sampled.

    Completions are sampled at the temperature and scored by the plain softmax. At 1 these are one policy.

    Args:
      policies: {words: oracle.Exact}, two or more, rewards 0 and 1. Where the policy moves, its table for
        each temperature is computed once.
      policy: the words of the one to start with; None for the first.
      weight: what multiplies the scores at the start, one of ``weights.WEIGHTS``.
      size: where the group size starts, from 2 to 64.
      baseline: where the constant b starts, from -1 to 2.
      temperature: where it starts, from 0.5 to 2.

    Returns:
      Explorer.

    Raises:
      ValueError: fewer than two policies, rewards other than 0 and 1, a policy that always or never gets
        its reward, a start outside the sliders' ends, an unknown weight.
    """
    networks = {words: Network(exact) for words, exact in _checked(policies).items()}
    _checks.one_of("weight", weight, WEIGHTS)
    by_words = {NAMES[name]: name for name in WEIGHTS}
    options, measures = tuple(networks), tuple(MEASURES)
    controls = [
        Slider("temperature", "sampled at T", temperature, COOLEST, HOTTEST, DEGREE, group="the network"),
        Choice("policy", "policy", options[0] if policy is None else policy, options, group="the network"),
        Choice("weight", "weight", NAMES[weight], tuple(by_words), group="the estimate"),
        Slider("size", "samples G", size, 2, SIZES[-1], 1, group="the estimate"),
        Slider("baseline", "constant b", baseline, -1, 2, 0.05, group="the estimate"),
        Choice("measure", "curve", measures[0], measures, group="the estimate"),
    ]

    def picture_at(policy, temperature, weight, size, baseline, measure):
        seen = networks[policy].at(round(temperature, 6))
        return picture(seen, policy, by_words[weight], int(size), baseline, temperature, measure)

    return Explorer(controls, picture_at)


def _checked(policies):
    if not isinstance(policies, dict) or len(policies) < 2:
        raise ValueError("policies must be {words: oracle.Exact}, two or more of them.")
    for words, exact in policies.items():
        if not np.isin(exact.rewards, (0, 1)).all() or not 0 < exact.J < 1:
            raise ValueError(
                f"policy {words!r} has rewards other than 0 and 1, or always the same; the lab needs both."
            )
    return policies


class Network:
    """One policy, and what its scores look like at each temperature: two backward passes each, done once."""

    def __init__(self, exact):
        self.exact, self._seen = exact, {}

    def at(self, temperature):
        """Seen at a temperature."""
        stops = () if self._seen else np.round(np.arange(COOLEST, HOTTEST + DEGREE / 2, DEGREE), 6).tolist()
        for each in (*stops, temperature):
            if each not in self._seen:
                table = self.exact.table(self.exact.sampled_with(each))
                self._seen[each] = Seen.of(table, self.exact.gradient)
        return self._seen[temperature]


@dataclass(frozen=True)
class Seen:
    """A policy's scores by reward, for a sampler: all that any estimator's error follows from.

    K different rewards (one, where the sampler never passes, or never fails).
    """

    values: tuple  # (K,) the rewards
    chance: tuple  # (K,) their probabilities
    square: np.ndarray  # (K,) mean squared length of the score
    products: np.ndarray  # (K + 1, K + 1) inner products of the mean scores and, last, the gradient

    @classmethod
    def of(cls, table, gradient):
        rows = np.vstack([table.centre, gradient])
        return cls(tuple(table.values.tolist()), tuple(table.chance.tolist()), table.square, rows @ rows.T)

    def error(self, weight, size, b):
        """Squared bias and variance of an estimate from one group.

        Args:
          weight: one of WEIGHTS.
          size: samples in the group.
          b: the baseline of the weight "constant".

        Returns:
          Two floats, in squared units of the gradient. The bias is exactly 0 where rounding is all there is.
        """
        mean, covariance, inside = self._weights(weight, size, b)
        inner = self.products[:-1, :-1]
        away = np.array([*mean, -1.0])  # the mean estimate minus the gradient
        bias = float(away @ self.products @ away)
        variance = float(np.sum(covariance * inner) + inside @ (self.square - inner.diagonal()))
        return (bias if bias > 1e-12 * self.products[-1, -1] else 0.0), variance

    def cosine(self, weight, size, b):
        """Between the mean estimate and the gradient; None where the mean is 0."""
        mean = self._weights(weight, size, b)[0]
        length = float(mean @ self.products[:-1, :-1] @ mean)
        if length <= 1e-24:
            return None
        return float(mean @ self.products[:-1, -1]) / np.sqrt(length * self.products[-1, -1])

    def _weights(self, weight, size, b):
        """As ``groups.weight_moments``."""
        if weight in SINGLE:
            return _single(self.values, self.chance, self.baseline(weight, b), size)
        return _grouped(self.values, self.chance, weight, size)

    def baseline(self, weight, b):
        """The number that a weight of single samples subtracts: under the sampler, not the policy."""
        chance, values = np.array(self.chance), np.array(self.values)
        if weight == "value":
            return float(chance @ values)
        if weight == "optimal":
            return float(chance * self.square @ values / (chance @ self.square))
        return b if weight == "constant" else 0.0


def _single(values, chance, b, size):
    """``groups.weight_moments`` of rewards minus b, in closed form: G independent samples."""
    p, centred = np.array(chance), np.array(values) - b
    mean = p * centred
    covariance = (np.diag(p * centred**2) - np.outer(mean, mean)) / size
    return mean, covariance, p * centred**2 / size


@lru_cache(maxsize=20_000)
def _grouped(values, chance, weight, size):
    return groups.weight_moments(values, chance, GROUPED[weight], size)


def picture(seen, policy, weight, size, baseline, temperature, measure="variance"):
    """The atlas of all weights, and the error of the chosen one against the group size.

    Args:
      seen: Seen.
      policy: its words.
      weight: one of WEIGHTS.
      size: samples in a group, at least 2.
      baseline: the constant b.
      temperature: of sampling, for the words.
      measure: one of MEASURES.

    Returns:
      Picture of two panels with a caption.

    Raises:
      ValueError: an unknown weight or measure.
    """
    _checks.one_of("weight", weight, WEIGHTS)
    _checks.one_of("measure", measure, list(MEASURES))
    every = {name: seen.error(name, size, baseline) for name in WEIGHTS}
    title = f"{policy}, sampled at T = {temperature:.1f}, {size} samples: {NAMES[weight]}"
    panels = (_atlas_panel(every, weight, size), _curve_panel(seen, weight, size, baseline, measure))
    return Picture(panels, title, _caption(seen, every, weight, size, baseline, measure))


def _atlas_panel(every, weight, size):
    # A constant far off would squeeze the others: it may stand at the border.
    up = end_for(max(pair[1] for name, pair in every.items() if name != "constant"), FAR)
    right = max(end_for(max(pair[0] for name, pair in every.items() if name != "constant"), FAR), up / 100)
    panel = atlas(every, f"All weights, {size} samples", (right, up), width=470, height=330)
    bias, variance = every[weight]
    larger = Points([min(bias, right)], [min(variance, up)], colour=COLOURS[weight], radius=8.0)
    lines = [mark for mark in panel.marks if not isinstance(mark, Points)]
    points = [mark for mark in panel.marks if isinstance(mark, Points)]  # over it: it hides no other point
    return Panel(panel.title, (*lines, larger, *points), panel.x, panel.y, panel.width, panel.height)


def _curve_panel(seen, weight, size, baseline, measure):
    marks = []
    for name in dict.fromkeys(("none", "leave_one_out", "grpo", weight)):
        pairs = [seen.error(name, each, baseline) for each in SIZES]
        heights = [sum(pair) if measure == "squared error" else pair[1] for pair in pairs]
        chosen = name == weight
        marks.append(Line(SIZES, heights, NAMES[name], COLOURS[name], not chosen, 2.6 if chosen else 1.4))
    bias, variance = seen.error(weight, size, baseline)
    here = bias + variance if measure == "squared error" else variance
    marks.append(Points([size], [here], colour=COLOURS[weight], radius=5.0))
    ticks = tuple((each, str(each)) for each in (2, 4, 8, 16, 32, 64))
    heights = np.concatenate([line.y for line in marks[:-1]])
    low, high = (
        np.floor(np.log10(max(1e-6, heights.min()))),
        np.ceil(np.log10(heights.max())),
    )  # whole decades
    x = Axis("samples G", 2, SIZES[-1], ticks, log=True)
    y = Axis(MEASURES[measure], 10.0**low, 10.0**high, log=True)
    return Panel("Against the group size", marks, x, y, width=470, height=330)


def _caption(seen, every, weight, size, baseline, measure):
    """Three lines, always, so that the picture keeps its height."""
    bias, variance = every[weight]
    squared, cosine = seen.products[-1, -1], seen.cosine(weight, size, baseline)
    passes = float(np.array(seen.chance) @ np.array(seen.values))
    direction = "its mean is zero" if cosine is None else f"cosine of its mean with the gradient {cosine:.3f}"
    bent = "unbiased" if bias == 0 else f"squared bias {bias:.4g}, {direction}"
    words = NAMES[weight][0].upper() + NAMES[weight][1:]
    both = f"; squared error {bias + variance:.4g}" * (measure == "squared error")
    errors = [sum(pair) if measure == "squared error" else pair[1] for pair in (every[weight], every["none"])]
    return (
        f"Passes {passes:.3f} of its samples. Squared length of the gradient: {squared:.4g}.\n"
        f"{words}, {size} samples: {bent}; variance {variance:.4g}{both}.\n"
        f"{measure[0].upper() + measure[1:]} against no baseline: {errors[0] / errors[1]:.3g} times."
    )
