"""Notebook 05: a critic that is wrong on purpose, lambda and gamma in; exact bias and variance out."""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from pglab import _checks, mdp
from pglab.figures import COLOURS, Axis, Bars, Line, Panel, Picture, Points, Rule, Text, named_axis
from pglab.figures.palette import CONTOUR
from pglab.sliders.controls import Choice, Slider
from pglab.sliders.ends import end_for
from pglab.sliders.explorer import Explorer

HORIZON = 4
LIVE = 3  # the question, a good page, a poor page; in the other states all is over
LAMBDAS = np.linspace(0.0, 1.0, 41)
OTHER_GAMMAS = (1.0, 0.9, 0.8)  # drawn dashed beside the chosen one
COUNTS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)  # trajectories
LARGEST = 1.0  # error of the critic, in units of the reward for a right answer
PLACES = ((0, 0), *((t, s) for t in range(1, HORIZON) for s in (1, 2)))  # (time, state) that can be reached
NAMES = ("start", *(f"{'gp'[s - 1]}{t}" for t, s in PLACES[1:]))


def _patterns():
    """{kind: (T, S)} what the critic adds to the exact value, at size 1."""
    time, states = np.arange(HORIZON), len(mdp.STATES)
    poor = np.zeros((HORIZON, states))
    poor[:, 2] = -1.0
    return {
        "too high": np.ones((HORIZON, states)),
        "too low": -np.ones((HORIZON, states)),
        "late": np.repeat(time[:, None] / (HORIZON - 1), states, axis=1),
        "random": np.random.default_rng(0).normal(size=(HORIZON, states)),
        "hates poor pages": poor,
    }


KINDS = _patterns()


def critic_lab(size=0.3, kind="too high", lam=0.5, gamma=1.0, trajectories="10"):
    """The explorer of the critic's trade: nothing in it is sampled, all trajectories are counted.

    Args:
      size: where the size of the critic's error starts, from 0 to 1.
      kind: the kind of error at the start, one of ``KINDS``.
      lam: where lambda starts, from 0 to 1.
      gamma: where gamma starts, from 0.5 to 1.
      trajectories: how many a batch holds at the start, one of ``COUNTS``, as a word.

    Returns:
      Explorer.

    Raises:
      ValueError: a start outside the sliders' ends, a kind or a number that is no option.
    """
    controls = [
        Slider("size", "size", size, 0, LARGEST, 0.05, group="the critic's error"),
        Choice("kind", "kind", kind, tuple(KINDS), group="the critic's error"),
        Slider("lam", "lambda", lam, 0, 1, 0.025, group="the estimate"),
        Slider("gamma", "gamma", gamma, 0.5, 1, 0.025, group="the estimate"),
        Choice("trajectories", "N", trajectories, tuple(map(str, COUNTS)), group="trajectories in a batch"),
    ]

    def picture_at(size, kind, lam, gamma, trajectories):
        return picture(size, kind, lam, gamma, int(trajectories))

    return Explorer(controls, picture_at)


@lru_cache(maxsize=1)
def _agent():
    """The process, the policy, its trajectories and the undiscounted gradient: what no slider changes."""
    agent, logits = mdp.search_agent(HORIZON), np.array(mdp.LOGITS)
    return agent, logits, mdp.trajectories(agent, logits), mdp.objective_gradient(agent, logits)


@lru_cache(maxsize=64)
def _values(gamma):
    agent, logits, _, _ = _agent()
    return mdp.values(agent, logits, gamma).v[:HORIZON]


@lru_cache(maxsize=1024)
def trade(size, kind, gamma):
    """Squared bias against the undiscounted gradient, and variance, for every lambda of ``LAMBDAS``.

    Args:
      size: of the error.
      kind: one of ``KINDS``.
      gamma: from 0 to 1; the critic is V for this gamma plus the error.

    Returns:
      squared bias (41,) and variance (41,) of the estimate from one trajectory.

    Raises:
      ValueError: as ``mdp.gae_moments``.
    """
    off, turn, variances = _by_size(kind, gamma)
    return ((off + size * turn) ** 2).sum(axis=1), np.array([1.0, size, size**2]) @ variances


@lru_cache(maxsize=256)
def _by_size(kind, gamma):
    """The estimate is linear in the critic: its bias a line in the size of the error, its variance a parabola.

    Returns bias at size 0 (L, S A), its change with size (L, S A), and the three coefficients (3, L).
    """
    agent, logits, paths, gradient = _agent()
    sizes = np.array([0.0, 0.5, 1.0])
    found = [mdp.gae_moments(agent, logits, critic(s, kind, gamma), gamma, LAMBDAS, paths) for s in sizes]
    none, _, full = (mean.reshape(LAMBDAS.size, -1) for mean, _ in found)
    powers = sizes[:, None] ** np.arange(3)
    return none - gradient.ravel(), full - none, np.linalg.solve(powers, np.array([v for _, v in found]))


def critic(size, kind, gamma):
    """(T, S) what the critic says: the exact value for this gamma, and its error."""
    return _values(gamma) + size * KINDS[kind]


def picture(size, kind, lam, gamma, trajectories):
    """The trade-off, the mean squared error, and the critic beside the truth.

    Args:
      size: of the critic's error, from 0 to 1.
      kind: one of ``KINDS``.
      lam: lambda, from 0 to 1 in steps of 0.025.
      gamma: from 0.5 to 1.
      trajectories: N, how many a batch holds.

    Returns:
      Picture of three panels with a caption of three lines.

    Raises:
      ValueError: a number outside its range, a kind that is none of ``KINDS``.
    """
    size, lam = _checks.number("size", size, 0, LARGEST), _checks.number("lam", lam, 0, 1)
    gamma, n = _checks.number("gamma", gamma, 0.5, 1), _checks.whole("trajectories", trajectories, low=1)
    _checks.one_of("kind", kind, KINDS)
    bias, variance = trade(size, kind, gamma)
    place = int(np.abs(LAMBDAS - lam).argmin())
    error = bias + variance / n
    panels = (
        _trade_panel(size, kind, gamma, place, n),
        _error_panel(bias, variance / n, place),
        _critic_panel(size, kind, gamma),
    )
    title = f"GAE with a critic that is wrong ({kind}, {size:g}), lambda {LAMBDAS[place]:g}, gamma {gamma:g}"
    return Picture(panels, title, _caption(bias, variance, error, place, n), columns=3)


def _trade_panel(size, kind, gamma, place, n):
    """Squared bias across, variance of the batch up; the chosen gamma's curve, the others quietly."""
    bias, variance = trade(size, kind, gamma)
    marks, reach = [], [bias.max()]
    for other in OTHER_GAMMAS:
        if other != gamma:
            (far, noise), colour = trade(size, kind, other), COLOURS[f"gamma {other:g}"]
            marks.append(Line(far, noise / n, "", colour, dashed=True, width=1.2))
            marks.append(Points(far[-1:], noise[-1:] / n, "", colour, (f"gamma {other:g}",), 2.5))
            reach.append(far.max())
    right, top = end_for(max(reach)), end_for(_highest(size, kind) / n)
    marks.append(Line(bias, variance / n, "", COLOURS["gae"], width=2.4))
    best = int((bias + variance / n).argmin())
    least = float(bias[best] + variance[best] / n)
    ends = np.array(
        [max(0.0, least - top), min(right, least)]
    )  # where the line of this error leaves the panel
    marks.append(Line(ends, least - ends, "", CONTOUR, width=1.2))
    marks.append(Points(bias[[best]], variance[[best]] / n, "", COLOURS["optimal"], ("least error",), 6.0))
    marks.append(Points(bias[[place]], variance[[place]] / n, "", COLOURS["gae"], (f"lambda {LAMBDAS[place]:g}",), 5.0))  # fmt: skip
    x, y = Axis("squared bias", 0, right), Axis(f"variance, batch of {n}", 0, top)
    return Panel("Bias buys quiet?", marks, x, y, width=390, height=300)


@lru_cache(maxsize=256)
def _highest(size, kind):
    """The largest variance over all lambdas and over both ends of gamma, so that the axis stands still."""
    return max(float(trade(size, kind, gamma)[1].max()) for gamma in (0.5, 0.8, 1.0))


def _error_panel(bias, noise, place):
    error = bias + noise
    best = int(error.argmin())
    marks = [
        Line(LAMBDAS, bias, "squared bias", COLOURS["down"], width=1.5),
        Line(LAMBDAS, noise, "variance / N", COLOURS["value"], width=1.5),
        Line(LAMBDAS, error, "sum", COLOURS["exact"]),
        Rule(LAMBDAS[place], vertical=True),
        Points(LAMBDAS[[best]], error[[best]], "", COLOURS["optimal"], radius=5.0),
    ]
    top = end_for(error.max())
    x, side = (0.02, "start") if LAMBDAS[place] < 0.6 else (-0.02, "end")
    marks.append(Text(LAMBDAS[place] + x, 0.96 * top, "your lambda", COLOURS["before"], side))
    side = "start" if best < 4 else "end" if best > 36 else "middle"  # the word stays in the panel
    marks.append(Text(LAMBDAS[best], error[best] + 0.05 * top, "least", COLOURS["optimal"], side))
    return Panel("Mean squared error", marks, Axis("lambda", 0, 1), Axis("", 0, top), width=360, height=300)  # fmt: skip


def _critic_panel(size, kind, gamma):
    time, state = np.array(PLACES).T
    x, exact, said = (
        np.arange(len(PLACES)),
        _values(gamma)[time, state],
        critic(size, kind, gamma)[time, state],
    )
    marks = [
        Bars(x - 0.2, exact, "exact V", COLOURS["exact"], 0.36),
        Bars(x + 0.2, said, "critic", COLOURS["gae"], 0.36),
    ]
    low, high = min(-0.5, -end_for(max(0.0, -said.min()), full=1.0)), max(1.5, end_for(said.max(), full=1.0))
    names = replace(named_axis(NAMES), label="g, p: good, poor page, with its time")
    return Panel("The critic", marks, names, Axis("value", low, high), width=330, height=300)


def _caption(bias, variance, error, place, n):
    """Three lines, always, so that the picture keeps its height."""
    best = int(error.argmin())
    many = f"{n} trajector{'ies' if n > 1 else 'y'}"
    return (
        f"lambda {LAMBDAS[place]:.3f}, {many}: squared bias {_few(bias[place])}, variance {_few(variance[place] / n)}, "
        f"mean squared error {_few(error[place])}.\n"
        f"Best lambda {LAMBDAS[best]:.3f}: {_few(error[best])}. "
        f"lambda 0: {_few(error[0])}. lambda 1: {_few(error[-1])}.\n"
        f"Least noise at lambda {LAMBDAS[variance.argmin()]:.3f}; least bias at {_least_bias(bias)}."
    )


def _least_bias(bias):
    """In words where every lambda has the same: a perfect critic."""
    return "every lambda alike" if np.ptp(bias) < 1e-14 else f"lambda {LAMBDAS[bias.argmin()]:.3f}"


def _few(number):
    return f"{number:z.6f}"
