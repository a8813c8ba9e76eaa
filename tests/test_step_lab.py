"""The explorer of notebook 06 against plain loops, the exact rooms, and PPO's loss in torch."""

import importlib

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pglab import bandit, constraints, kl, losses
from pglab.figures import COLOURS, Bars, Line, Points, Rule, describe
from pglab.sliders import step_lab

drawing = importlib.import_module(
    "pglab.sliders.step_lab"
)  # the file; the package has a function of this name
LOGITS, REWARDS = np.array(bandit.EXAMPLE_LOGITS), np.array(bandit.EXAMPLE_REWARDS)
BATCH = {"fair": [0, 2, 2, 3], "poor": [1, 2, 2, 2]}
START = {
    "distance": 2.0, "clip": 0.2, "beta": 0.0, "baseline": -1.0, "draw": "poor", "direction": "plain"
}  # fmt: skip


def at(logits=LOGITS, rewards=REWARDS, **moved):
    return drawing.picture(logits, rewards, **(START | moved))


def marks(panel, kind):
    return [mark for mark in panel.marks if isinstance(mark, kind)]


def lines_of(picture):
    return {line.label or "minus KL": line for line in marks(picture.panels[1], Line)}


def step_of(draw, baseline, direction):
    """The unit step, from sums over samples one by one."""
    p, score = bandit.softmax(LOGITS), bandit.score_matrix(LOGITS)
    if draw == "all":
        g = sum(p[a] * (REWARDS[a] - baseline) * score[a] for a in range(4))
    else:
        g = sum((REWARDS[a] - baseline) * score[a] for a in BATCH[draw]) / 4
    if direction == "natural":  # the shortest x with F x = g
        g = np.linalg.lstsq(np.diag(p) - np.outer(p, p), g, rcond=1e-12)[0]
    return g / np.linalg.norm(g)


@pytest.mark.parametrize("direction", drawing.DIRECTIONS)
@pytest.mark.parametrize("draw", drawing.DRAWS)
@pytest.mark.parametrize("baseline", [-1.0, 0.4, 2.0])
def test_the_walk_is_that_of_plain_loops(draw, baseline, direction):
    path, step = (f(*a) for f, a in (
        (drawing.walk, (LOGITS, REWARDS, baseline, draw, direction)), (step_of, (draw, baseline, direction)),
    ))  # fmt: skip
    np.testing.assert_allclose(path.direction, step, atol=1e-10)
    j = bandit.expected_reward(LOGITS, REWARDS)
    for i in (0, 7, 60, 120):
        z = LOGITS + drawing.DISTANCES[i] * step
        np.testing.assert_allclose(path.ratios[i], constraints.ratios(z, LOGITS), rtol=1e-9)
        np.testing.assert_allclose(path.gain[i], bandit.expected_reward(z, REWARDS) - j, atol=1e-10)
        np.testing.assert_allclose(path.kl[i], kl.divergence(LOGITS, z), atol=1e-10)


@pytest.mark.parametrize("draw", BATCH)
@pytest.mark.parametrize("clip", [None, 0.05, 0.3])
def test_the_batch_climbs_the_loss_that_training_descends(draw, clip):
    path = drawing.walk(LOGITS, REWARDS, -0.5, draw, "plain")
    got, old = drawing.objective(path, clip), torch.tensor(bandit.log_softmax(LOGITS))[BATCH[draw]][:, None]
    weights = torch.tensor(REWARDS[BATCH[draw]] + 0.5)
    pair = None if clip is None else (clip, clip)
    for i in (0, 10, 50, 120):
        z = LOGITS + drawing.DISTANCES[i] * path.direction
        new = torch.tensor(bandit.log_softmax(z))[BATCH[draw]][:, None]
        loss = losses.policy_loss(new, old, weights, torch.ones(4, 1, dtype=torch.bool), clip=pair)
        np.testing.assert_allclose(got[i], -loss.item() - weights.mean().item(), atol=1e-12)


def test_with_all_answers_the_surrogate_is_the_objective():
    for baseline in (-1.0, 0.3):
        path = drawing.walk(LOGITS, REWARDS, baseline, "all", "natural")
        np.testing.assert_allclose(drawing.objective(path), path.gain, atol=1e-12)
        for i in (30, 120):
            z = LOGITS + drawing.DISTANCES[i] * path.direction
            wanted = constraints.surrogate(z, LOGITS, path.weights, (0.2, 0.2))
            start = bandit.softmax(LOGITS) @ path.weights
            np.testing.assert_allclose(drawing.objective(path, 0.2)[i], wanted - start, atol=1e-12)


def test_a_batch_without_a_gradient_stays():
    path = drawing.walk(LOGITS, np.ones(4), 1.0, "fair", "plain")
    assert not path.direction.any() and not path.gain.any() and np.all(path.ratios == 1)
    assert "KL(old, new) = 0.0000" in at(rewards=np.ones(4), baseline=1.0).caption


@pytest.mark.parametrize("draw", drawing.DRAWS)
@pytest.mark.parametrize(("clip", "beta"), [(0.2, 0.0), (0.1, 0.5)])
def test_the_picture_shows_these_numbers(draw, clip, beta):
    picture = at(draw=draw, clip=clip, beta=beta, baseline=0.3, distance=1.5)
    left, right = picture.panels
    path, i = drawing.walk(LOGITS, REWARDS, 0.3, draw, "plain"), 30
    ratio = path.ratios[i]
    np.testing.assert_allclose(marks(left, Bars)[0].heights, ratio, rtol=1e-12)
    assert [rule.value for rule in marks(left, Rule)] == [1 - clip, 1 + clip]
    lines = lines_of(picture)
    assert set(lines) == {"J, the truth", "the batch", "clipped", *(["minus KL"] if beta else [])}
    climbed = drawing.objective(path, clip) - beta * path.kl
    np.testing.assert_allclose(lines["J, the truth"].y, path.gain, atol=1e-12)
    np.testing.assert_allclose(lines["the batch"].y, drawing.objective(path), atol=1e-12)
    (dot,) = marks(right, Points)
    assert dot.x[0] == drawing.DISTANCES[climbed.argmax()] and dot.y[0] == climbed.max()
    if beta:
        seen = ~np.isnan(lines["minus KL"].y)
        np.testing.assert_allclose(lines["minus KL"].y[seen], climbed[seen], atol=1e-12)
        assert seen[: climbed.argmax() + 1].all()
    first, _, third = picture.caption.split("\n")
    worth = 16 / (bandit.softmax(LOGITS) @ ratio**2)
    assert (
        f"{path.kl[i]:.4f} nats" in first
        and f"about {worth:.1f}." in first
        and f"{path.gain[i]:z.4f}." in first
    )
    assert third.endswith(f"{path.gain[climbed.argmax()]:z.4f}.")


def test_colours_and_caption_say_who_is_pulled():
    bars = marks(at().panels[0], Bars)[
        0
    ]  # weights are positive; "22" is above the clip, "4" and "four" not drawn
    quiet, up, down = COLOURS["before"], COLOURS["up"], COLOURS["down"]
    assert bars.colours == (quiet, up, quiet, quiet)
    assert 'Ratio outside the clip: "4", "22", "four". Stopped by it: "22".' in at().caption
    assert marks(at(distance=0.1, baseline=0.4).panels[0], Bars)[0].colours == (quiet, down, down, quiet)
    for draw in drawing.DRAWS:  # stopped is what has no gradient in PPO's surrogate
        for distance in (0.5, 2.0, 6.0):
            here = drawing.walk(LOGITS, REWARDS, 0.4, draw, "plain", [distance])
            z = LOGITS + distance * here.direction
            for a in np.flatnonzero(here.shares):
                alone = constraints.surrogate_gradient(
                    z, LOGITS, here.weights * (np.arange(4) == a), (0.2, 0.2)
                )
                assert drawing._held(here, 0.2)[a] == (not alone.any())


@given(
    st.integers(0, 60), st.integers(1, 20), st.integers(0, 40), st.integers(-10, 20),
    st.sampled_from(tuple(drawing.DRAWS)), st.sampled_from(drawing.DIRECTIONS),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_everything_fits_into_its_panel(tenths, twentieths, price, b, draw, direction):
    picture = at(
        distance=tenths / 10,
        clip=twentieths / 20,
        beta=price / 20,
        baseline=b / 10,
        draw=draw,
        direction=direction,
    )
    left, right = picture.panels
    assert marks(left, Bars)[0].heights.max() <= left.y.high and picture.caption.count("\n") == 2
    for line in (*marks(right, Line), *marks(right, Points)):
        y = line.y[~np.isnan(line.y)]
        assert y.size and y.max() <= right.y.high and y.min() >= right.y.low


def test_the_explorer_starts_where_it_is_told_and_moves():
    live = step_lab(distance=1.0, clip=0.3, beta=0.5, baseline=0.2, draw="fair", direction="natural")
    moved = {"distance": 1.0, "clip": 0.3, "beta": 0.5, "baseline": 0.2, "draw": "fair"}
    assert live.text == describe(at(**moved, direction="natural"))
    live.move(distance=6.0, direction="plain", draw="all", clip=1.0, beta=2.0, baseline=2.0)
    assert live.text == describe(
        at(distance=6.0, draw="all", clip=1.0, beta=2.0, baseline=2.0, direction="plain")
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"distance": 6.5}, "Slider.value is 6.5"),
        ({"clip": 0.0}, "Slider.value is 0.0"),
        ({"beta": -0.1}, "Slider.value is -0.1"),
        ({"baseline": 2.5}, "Slider.value is 2.5"),
        ({"draw": "mine"}, "Choice.value is 'mine'"),
        ({"direction": "up"}, "Choice.value is 'up'"),
        ({"rewards": [1, 0]}, "rewards has 2 entries"),
        ({"logits": [0, np.nan, 0, 0]}, "logits"),
    ],
)
def test_a_bad_start_is_refused(change, words):
    with pytest.raises(ValueError, match=words):
        step_lab(**change)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: drawing.walk(LOGITS, REWARDS, 0.0, "mine", "plain"), "draw is 'mine'"),
        (lambda: drawing.walk(LOGITS, REWARDS, 0.0, "all", "up"), "direction 'up'"),
        (lambda: drawing.walk(LOGITS, REWARDS[:3], 0.0, "all", "plain"), "rewards has 3 entries"),
        (lambda: drawing.walk(LOGITS, REWARDS, np.nan, "all", "plain"), "baseline is nan"),
        (lambda: at(distance=7.0), "distance is 7.0"),
        (lambda: at(clip=-0.1), "clip is -0.1"),
        (lambda: at(beta=-0.1), "beta is -0.1"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


# ---- What notebook 06 says can be found


def test_question_1_and_2():
    third = at().caption.split("\n")[2]
    assert "distance 0.50" in third and "-0.1197" in third
    path = drawing.walk(LOGITS, REWARDS, -1.0, "poor", "plain")
    peak = path.ratios[:, 1].argmax()
    assert drawing.DISTANCES[peak] == 0.5 and path.ratios[peak, 1] < 1.2  # "5" is never stopped
    assert np.all((path.ratios[1:, 1] < 1) == (drawing.DISTANCES[1:] > 0.99)) and np.all(path.gain[1:] < 0)
    assert "distance 0.50" in at(clip=0.05).caption and "distance 0.10" in at(clip=0.05, beta=1.0).caption
    assert "changes there by -" in at(clip=0.05, beta=1.0).caption


def test_question_3_and_4():
    assert at(baseline=0.4).caption.endswith("0.2367.")
    path = drawing.walk(LOGITS, REWARDS, 0.4, "all", "plain")
    np.testing.assert_allclose(drawing.objective(path), path.gain, atol=1e-12)
    quiet = COLOURS["before"]
    assert marks(at(baseline=0.4, draw="all").panels[0], Bars)[0].colours == (quiet,) * 4


@pytest.mark.parametrize(("baseline", "rise"), [(0.4, 0.12), (-1.0, -0.12)])
def test_a_climb_in_small_steps_turns_and_ends_elsewhere(baseline, rise):
    z, share, w = LOGITS, np.array([0, 1, 3, 0]) / 4, REWARDS - baseline
    for _ in range(5000):
        ratio = constraints.ratios(z, LOGITS)
        held = ((w > 0) & (ratio > 1.2)) | ((w < 0) & (ratio < 0.8))
        z = z + 0.01 * np.where(held, 0, share * w * ratio) @ bandit.score_matrix(z)
    j = bandit.expected_reward(LOGITS, REWARDS)
    assert bandit.expected_reward(z, REWARDS) - j == pytest.approx(rise, abs=0.005)
    wanted = 1.2 if baseline < 0 else 0.8  # both wrong answers end at the border
    np.testing.assert_allclose(constraints.ratios(z, LOGITS)[1:3], wanted, atol=0.005)
