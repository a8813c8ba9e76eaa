"""The explorer of notebook 02 against other routes: every tuple of answers, and sampled batches."""

import importlib
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pglab import bandit
from pglab.figures import Bars, Line, Points, Rule, describe
from pglab.sliders import noisy_step

drawing = importlib.import_module(
    "pglab.sliders.noisy_step"
)  # the file; the package has a function of this name
LOGITS, REWARDS = np.array(bandit.EXAMPLE_LOGITS), np.array(bandit.EXAMPLE_REWARDS)
STOP = st.integers(-30, 30).map(lambda k: k / 10)


def by_tuples(logits, rewards, baseline, samples, step_size):
    """{expected reward after the step: chance}, going through all A^N ordered batches one by one."""
    p, score = bandit.softmax(logits), bandit.score_matrix(logits)
    for batch in product(range(len(p)), repeat=samples):
        step = sum((rewards[a] - baseline) * score[a] for a in batch) / samples
        yield np.prod(p[list(batch)]), bandit.expected_reward(logits + step_size * step, rewards)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(STOP, min_size=3, max_size=4),
    st.lists(STOP, min_size=4, max_size=4),
    st.integers(1, 4),
    st.integers(-10, 20),
    st.integers(0, 200),
)
def test_outcomes_are_those_of_all_ordered_batches(logits, rewards, samples, tenths, step_tenths):
    rewards, baseline, eta = np.array(rewards[: len(logits)]), tenths / 10, step_tenths / 10
    chances, after = drawing.outcomes(logits, rewards, baseline, samples, [0.0, eta])
    pairs = np.array(list(by_tuples(np.array(logits), rewards, baseline, samples, eta)))
    assert np.isclose(chances.sum(), 1) and np.isclose(pairs[:, 0].sum(), 1)
    np.testing.assert_allclose(after[0], bandit.expected_reward(logits, rewards), atol=1e-12)
    for power in (1, 2, 3):  # the whole distribution, not its mean alone
        wanted = pairs[:, 0] @ pairs[:, 1] ** power
        np.testing.assert_allclose(after[1] ** power @ chances, wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("samples", "baseline", "eta"), [(16, -1.0, 8.0), (8, 0.4, 3.0), (3, 0.0, 0.5)])
def test_outcomes_agree_with_sampled_batches(samples, baseline, eta):
    logits = drawing.train(LOGITS, REWARDS, 10)
    p, score = bandit.softmax(logits), bandit.score_matrix(logits)
    batches = np.random.default_rng(7).choice(4, size=(20_000, samples), p=p)
    steps = ((REWARDS - baseline)[:, None] * score)[batches].mean(axis=1)
    z = logits + eta * steps
    sampled = (np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)) @ REWARDS
    chances, after = drawing.outcomes(logits, REWARDS, baseline, samples, [0.0, eta])
    error = sampled.std() / np.sqrt(sampled.size)
    assert abs(sampled.mean() - after[1] @ chances) < 4 * error
    lower, exact = (sampled < p @ REWARDS - 1e-12).mean(), chances[after[1] < after[0] - 1e-12].sum()
    assert abs(lower - exact) <= 4 * np.sqrt(max(exact * (1 - exact), 1e-6) / sampled.size)


def test_a_gigantic_step_copies_its_one_sample():
    chances, after = drawing.outcomes(LOGITS, REWARDS, -1.0, 1, [1e4])  # and nothing overflows
    np.testing.assert_allclose(after[0], REWARDS[::-1], atol=1e-12)  # multisets come last action first
    np.testing.assert_allclose(chances, bandit.softmax(LOGITS)[::-1])


def test_training_takes_exact_steps():
    logits = drawing.train(LOGITS, REWARDS, 0)
    np.testing.assert_array_equal(logits, LOGITS)
    for _ in range(3):
        logits = logits + bandit.exact_gradient(logits, REWARDS)
    np.testing.assert_allclose(drawing.train(LOGITS, REWARDS, 3.0), logits, atol=1e-15)


def marks(panel, kind):
    return [mark for mark in panel.marks if isinstance(mark, kind)]


@pytest.mark.parametrize("samples", [1, 2, 4])
@pytest.mark.parametrize("baseline", [-1.0, 0.0, 0.4])
def test_the_picture_shows_these_numbers(samples, baseline):
    logits, eta = drawing.train(LOGITS, REWARDS, 10), 3.5
    picture = drawing.picture(logits, REWARDS, eta, samples, baseline)
    gain, spread = picture.panels
    j = bandit.expected_reward(logits, REWARDS)
    pairs = np.array(list(by_tuples(logits, REWARDS, baseline, samples, eta)))
    lines = {line.label: line for line in marks(gain, Line)}
    assert set(lines) == {"exact gradient", f"b = {baseline:zg}", *(["b = 0"] if baseline else [])}
    at = int(np.flatnonzero(drawing.STEP_SIZES == eta)[0])
    np.testing.assert_allclose(lines[f"b = {baseline:zg}"].y[at], pairs[:, 0] @ pairs[:, 1] - j, atol=1e-12)
    exact = logits + eta * bandit.exact_gradient(logits, REWARDS)
    np.testing.assert_allclose(
        lines["exact gradient"].y[at], bandit.expected_reward(exact, REWARDS) - j, atol=1e-12
    )
    if baseline:
        bare = np.array(list(by_tuples(logits, REWARDS, 0.0, samples, eta)))
        np.testing.assert_allclose(lines["b = 0"].y[at], bare[:, 0] @ bare[:, 1] - j, atol=1e-12)
    assert marks(gain, Rule)[0].value == eta and marks(spread, Rule)[0].value == j
    (bars,) = marks(spread, Bars)
    wanted, _ = np.histogram(pairs[:, 1] - 1e-9, np.linspace(0, 1, 21), weights=pairs[:, 0])
    np.testing.assert_allclose(bars.heights, wanted, atol=1e-12)
    first, second, third = picture.caption.split("\n")
    assert f"J = {j:.4f} before" in first and f"{pairs[:, 0] @ pairs[:, 1]:.4f} expected" in first
    assert f"lowers J: {pairs[pairs[:, 1] < j - 1e-12, 0].sum():.4f}." in second
    curve = lines[f"b = {baseline:zg}"].y
    dots = marks(gain, Points)
    if curve.argmax() == curve.size - 1:
        assert not dots and "No best step size" in third
    else:
        assert dots[0].x[0] == drawing.STEP_SIZES[curve.argmax()] and f"{dots[0].x[0]:.2f}" in third


@given(st.integers(0, 80), st.integers(1, 5), st.integers(-10, 20), st.integers(0, 30))
@settings(max_examples=30, deadline=None)
def test_every_curve_fits_into_its_panel(quarters, samples, tenths, trained):
    logits = drawing.train(LOGITS, REWARDS, trained)
    gain, spread = drawing.picture(logits, REWARDS, quarters / 4, samples, tenths / 10).panels
    for line in marks(gain, Line):
        assert line.y.max() <= gain.y.high and line.y.min() >= gain.y.low
    assert np.isclose(marks(spread, Bars)[0].heights.sum(), 1)


def test_the_explorer_starts_where_it_is_told_and_moves():
    live = noisy_step(step_size=2.0, samples=3, baseline=0.5, trained=4)
    assert live.values == {"step_size": 2.0, "samples": 3.0, "baseline": 0.5, "trained": 4.0}
    live.move(samples=2, trained=0, baseline=-0.5)
    assert live.text == describe(drawing.picture(LOGITS, REWARDS, 2.0, 2, -0.5))
    other = noisy_step([0.0, 1.0, 0.0], [2.0, -1.0, 0.5], samples=2)
    logits = drawing.train(np.array([0.0, 1.0, 0.0]), np.array([2.0, -1.0, 0.5]), 10)
    assert other.text == describe(drawing.picture(logits, np.array([2.0, -1.0, 0.5]), 4.0, 2, -1.0))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"step_size": 21}, "Slider.value is 21.0"),
        ({"samples": 0}, "Slider.value is 0.0"),
        ({"samples": 17}, "Slider.value is 17.0"),
        ({"baseline": -1.5}, "Slider.value is -1.5"),
        ({"trained": 31}, "Slider.value is 31.0"),
        ({"rewards": [1, 0]}, "rewards has 2 entries"),
        ({"rewards": [1, 1, 1, 1]}, "rewards are all 1"),
        ({"logits": [0, np.nan, 0, 0]}, "logits"),
    ],
)
def test_a_bad_start_is_refused(change, words):
    with pytest.raises(ValueError, match=words):
        noisy_step(**change)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: drawing.outcomes(LOGITS, REWARDS, np.nan, 2, [1.0]), "baseline is nan"),
        (lambda: drawing.outcomes(LOGITS, REWARDS, [0.0, 1.0], 2, [1.0]), "baseline has shape"),
        (lambda: drawing.outcomes(LOGITS, REWARDS, 0.0, 0, [1.0]), "size is 0"),
        (lambda: drawing.outcomes(LOGITS, REWARDS, 0.0, 1.5, [1.0]), "size is 1.5"),
        (lambda: drawing.outcomes(LOGITS, REWARDS, 0.0, 2, 1.0), "step_sizes has shape"),
        (lambda: drawing.outcomes(LOGITS, REWARDS, 0.0, 2, [np.inf]), "step_sizes"),
        (lambda: drawing.outcomes(LOGITS, REWARDS[:3], 0.0, 2, [1.0]), "rewards has 3 entries"),
        (lambda: drawing.train(LOGITS, REWARDS, -1), "steps is -1"),
        (lambda: drawing.train(LOGITS, REWARDS, 0.5), "steps is 0.5"),
        (lambda: drawing.picture(LOGITS, REWARDS, 20.5, 2, 0.0), "step_size is 20.5"),
        (lambda: drawing.picture(LOGITS, [2, 2, 2, 2], 1.0, 2, 0.0), "rewards are all 2"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


# ---- What notebook 02 says can be found


def at(**moved):
    values = {"step_size": 4.0, "samples": 4, "baseline": -1.0, "trained": 10} | moved
    logits = drawing.train(LOGITS, REWARDS, values.pop("trained"))
    return drawing.picture(logits, REWARDS, **values)


def dot(**moved):
    found = marks(at(**moved).panels[0], Points)
    return float(found[0].x[0]) if found else None


def test_question_1_the_dot_moves_and_three_samples_have_none():
    assert [dot(samples=n) for n in (1, 2, 4, 8)] == [1.5, 3.5, 5.25, 10.5] and dot(samples=3) is None
    for samples in (2, 3, 4):  # does one wrong answer ever win, however long the step?
        logits = drawing.train(LOGITS, REWARDS, 10)
        _, after = drawing.outcomes(logits, REWARDS, -1.0, samples, [1e4])
        counts = drawing.groups.multisets(4, samples)
        wins = after[0][counts @ (1 - REWARDS) == 1] < 0.5
        assert wins.any() == (samples != 3)


def test_question_2_a_poor_policy():
    assert dot(trained=0) is None and dot(trained=0, samples=1) == 1.5


def test_question_3_one_sample_and_a_gigantic_step():
    picture = at(samples=1, step_size=20.0)
    heights = marks(picture.panels[1], Bars)[0].heights
    assert np.round(heights[[0, -1]], 2).tolist() == [0.13, 0.87] and np.isclose(heights[[0, -1]].sum(), 1)
    assert "J = 0.8653 before the step; 0.8653 expected" in picture.caption


def test_question_4_a_right_answer_that_lowers_the_expected_reward():
    logits = drawing.train(LOGITS, REWARDS, 10)
    chances, after = drawing.outcomes(logits, REWARDS, 0.0, 1, [0.0, 0.5, 1.0, 20.0])
    lower = after < after[0] - 1e-12
    counts = drawing.groups.multisets(4, 1)
    assert counts[lower[1]].tolist() == [[0, 0, 0, 1]] and not lower[2:].any()  # "four", and no one at 1
    assert round(chances[lower[1]].sum(), 2) == 0.23
