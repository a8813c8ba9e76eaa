"""The critic lab: its numbers by dynamic programming and plain loops, every slider's ends, the moves it invites to."""

import itertools

import numpy as np
import pytest

from pglab import mdp, sliders
from pglab.figures import COLOURS, Bars, Line, Points, Rule, Text
from pglab.sliders import critic_lab as made_by  # the function, as readers call it
from pglab.sliders.critic_lab import COUNTS, KINDS, LAMBDAS, PLACES, critic, picture, trade

pytestmark = pytest.mark.filterwarnings("error")

AGENT, LOGITS = mdp.search_agent(horizon=4), np.array(mdp.LOGITS)
GRADIENT = mdp.objective_gradient(AGENT, LOGITS)
LIVE = np.array([True, True, True, False, False])


def by_loops(critic_table, gamma, lam):
    """Mean and variance of the estimate, one trajectory and one step at a time."""
    paths = mdp.trajectories(AGENT, LOGITS)
    estimates = []
    for i in range(len(paths.probability)):
        steps, total, credit = int(paths.mask[i].sum()), np.zeros((5, 2)), 0.0
        for t in reversed(range(steps)):
            s = paths.states[i, t]
            after = critic_table[t + 1, paths.states[i, t + 1]] if t + 1 < steps else 0.0
            credit = paths.rewards[i, t] + gamma * after - critic_table[t, s] + gamma * lam * credit
            odds = np.exp(LOGITS[s])
            total[s] -= credit * odds / odds.sum()
            total[s, paths.actions[i, t]] += credit
        estimates.append(total)
    mean = np.tensordot(paths.probability, estimates, axes=1)
    return mean, paths.probability @ ((np.array(estimates) - mean) ** 2).sum(axis=(1, 2))


@pytest.mark.parametrize(
    "size, kind, gamma", [(0.3, "too high", 1.0), (0.7, "random", 0.8), (1.0, "hates poor pages", 0.5)]
)
def test_the_curve_is_that_of_plain_loops_and_of_dynamic_programming(size, kind, gamma):
    bias, variance = trade(size, kind, gamma)
    table = mdp.values(AGENT, LOGITS, gamma).v[:4] + size * KINDS[kind]
    np.testing.assert_allclose(critic(size, kind, gamma), table, atol=1e-15)
    for place in (0, 10, 20, 40):
        mean, noise = by_loops(table, gamma, LAMBDAS[place])
        backwards = mdp.gae_mean(AGENT, LOGITS, table, gamma, LAMBDAS[place])
        np.testing.assert_allclose(mean, backwards, atol=1e-14)
        np.testing.assert_allclose(bias[place], ((mean - GRADIENT) ** 2).sum(), atol=1e-14)
        np.testing.assert_allclose(variance[place], noise, rtol=1e-12)


def marks(panel, kind):
    return [mark for mark in panel.marks if isinstance(mark, kind)]


def test_the_three_panels_say_what_was_computed():
    drawn = picture(0.4, "late", 0.75, 0.9, 50)
    trade_panel, error_panel, critic_panel = drawn.panels
    bias, variance = trade(0.4, "late", 0.9)
    error = bias + variance / 50
    (curve,) = [line for line in marks(trade_panel, Line) if line.colour == COLOURS["gae"]]
    np.testing.assert_array_equal([curve.x, curve.y], [bias, variance / 50])
    *ends, best, chosen = marks(trade_panel, Points)
    assert (best.x[0], best.y[0]) == (bias[error.argmin()], variance[error.argmin()] / 50)
    assert (chosen.x[0], chosen.y[0]) == (bias[30], variance[30] / 50) and chosen.labels == ("lambda 0.75",)
    (level,) = [line for line in marks(trade_panel, Line) if line.x.size == 2]
    np.testing.assert_allclose(level.x + level.y, error.min(), rtol=1e-12)  # one mean squared error
    dashed = [line for line in marks(trade_panel, Line) if line.dashed]
    assert [end.labels for end in ends] == [("gamma 1",), ("gamma 0.8",)]
    for gamma, end, line in zip((1.0, 0.8), ends, dashed, strict=True):  # named where lambda is 1
        far, noise = trade(0.4, "late", gamma)
        np.testing.assert_array_equal([line.x, line.y], [far, noise / 50])
        assert (end.x[0], end.y[0]) == (far[-1], noise[-1] / 50) and end.colour == line.colour
    assert len({line.colour for line in [curve, *dashed]}) == 3
    parts = {line.label: line.y for line in marks(error_panel, Line)}
    np.testing.assert_allclose(parts["squared bias"] + parts["variance / N"], parts["sum"], rtol=1e-12)
    np.testing.assert_array_equal(parts["sum"], error)
    assert marks(error_panel, Rule)[0].value == 0.75
    word, least = marks(error_panel, Text)
    assert least.x == LAMBDAS[error.argmin()] and least.y > error.min() and least.text == "least"
    assert word.text == "your lambda" and word.x < 0.75 and word.anchor == "end"
    assert critic_panel.x.ticks[0] == (0, "start") and "good, poor page" in critic_panel.x.label
    exact, said = marks(critic_panel, Bars)
    v = mdp.values(AGENT, LOGITS, 0.9).v
    for i, (t, s) in enumerate(PLACES):
        assert exact.heights[i] == pytest.approx(v[t, s], abs=1e-15)
        assert said.heights[i] == pytest.approx(v[t, s] + 0.4 * t / 3, abs=1e-15)
    assert f"squared bias {bias[30]:.6f}, variance {variance[30] / 50:.6f}" in drawn.caption
    assert f"Best lambda {LAMBDAS[error.argmin()]:.3f}: {error.min():.6f}" in drawn.caption


def test_the_places_are_those_that_can_be_reached():
    visits = mdp.occupancy(AGENT, LOGITS)[:4]
    assert set(PLACES) == {(t, s) for t, s in np.argwhere((visits > 0) & LIVE).tolist()}


def test_every_end_of_every_control_makes_a_picture():
    for size, lam, gamma, n, kind in itertools.product((0, 1), (0, 1), (0.5, 1), (1, 1000), KINDS):
        drawn = picture(size, kind, lam, gamma, n)
        assert drawn.caption.count("\n") == 2
        for panel in drawn.panels:
            for mark in marks(panel, (Line, Points)):
                low = -np.inf if panel.y.low is None else panel.y.low
                assert np.isfinite(mark.y).all() and mark.y.min() >= low - 1e-12
                assert mark.y.max() <= panel.y.high + 1e-12 and mark.x.max() <= panel.x.high + 1e-12
        for mark in marks(drawn.panels[2], Bars):
            assert (
                mark.heights.min() >= drawn.panels[2].y.low and mark.heights.max() <= drawn.panels[2].y.high
            )


def test_the_axes_stand_still_while_lambda_moves():
    ends = {
        tuple((p.y.low, p.y.high, p.x.high) for p in picture(0.3, "late", lam, 1.0, 10).panels)
        for lam in LAMBDAS
    }
    assert len(ends) == 1


def test_the_explorer_moves_and_comes_back():
    lab = sliders.critic_lab()
    assert made_by is sliders.critic_lab
    first = lab.text
    lab.move(size=0.5, kind="random", lam=0.2, gamma=0.9, trajectories="1")
    assert lab.picture.title.startswith(
        "GAE with a critic that is wrong (random, 0.5), lambda 0.2, gamma 0.9"
    )
    lab.reset()
    assert lab.text == first


def test_what_notebook_05_says_can_be_found_in_the_lab():
    lab = sliders.critic_lab()
    found = {}
    for n in COUNTS:
        lab.move(trajectories=str(n))
        found[n] = float(lab.picture.caption.split("Best lambda ")[1][:5])
    assert list(found.values()) == sorted(found.values())
    assert (found[1], found[10], found[100], found[1000]) == (0.0, 0.425, 0.925, 1.0)
    lab.reset()
    lab.move(size=0.0)
    assert (
        "least bias at every lambda alike" in lab.picture.caption
        and trade(0.0, "too high", 1.0)[0].max() < 1e-30
    )
    for n in COUNTS:
        lab.move(trajectories=str(n))
        assert "Best lambda 0.000" in lab.picture.caption
    lab.reset()
    lab.move(kind="random", size=0.5, trajectories="1")
    assert "Least noise at lambda 0.825" in lab.picture.caption
    biases = [trade(0.3, "too high", round(gamma, 3))[0][30] for gamma in np.arange(1.0, 0.49, -0.025)]
    assert int(np.argmin(biases)) == 4 and biases[4] < biases[0] / 100  # gamma 0.9
    low = [trade(0.3, "too low", round(gamma, 3))[0][30] for gamma in np.arange(1.0, 0.49, -0.025)]
    assert np.all(np.diff(low) > 0)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"size": 1.5}, "Slider.value is 1.5"),
        ({"lam": -0.1}, "Slider.value is -0.1"),
        ({"gamma": 0.2}, "Slider.value is 0.2"),
        ({"kind": "lazy"}, "Choice.value is 'lazy'"),
        ({"trajectories": "3"}, "Choice.value is '3'"),
    ],
)
def test_a_bad_start_is_refused(change, words):
    with pytest.raises(ValueError, match=words):
        sliders.critic_lab(**change)


@pytest.mark.parametrize(
    "change, words",
    [({"size": 2}, "size"), ({"lam": 2}, "lam"), ({"gamma": 0.1}, "gamma"), ({"trajectories": 0}, "trajectories"),
     ({"kind": "lazy"}, "kind is 'lazy'")],
)  # fmt: skip
def test_a_bad_picture_is_refused(change, words):
    with pytest.raises(ValueError, match=words):
        picture(**({"size": 0.3, "kind": "late", "lam": 0.5, "gamma": 1.0, "trajectories": 10} | change))
