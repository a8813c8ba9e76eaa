"""The explorer of notebook 01: one exact step of the bandit."""

import importlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pglab import bandit, sliders
from pglab.figures import describe
from pglab.sliders import one_step

drawing = importlib.import_module(
    "pglab.sliders.one_step"
)  # the file; the package has a function of this name
STOP = st.integers(-30, 30).map(lambda k: round(k / 10, 1))


@given(st.lists(STOP, min_size=4, max_size=4), st.lists(STOP, min_size=4, max_size=4), st.integers(0, 100))
def test_one_step_agrees_with_the_bandit(logits, rewards, tenths):
    picture = drawing.picture(np.array(logits), np.array(rewards), tenths / 10)
    gradient_panel, probability_panel = picture.panels
    gradient = bandit.exact_gradient(logits, rewards)
    stepped = np.array(logits) + tenths / 10 * gradient
    before, after = probability_panel.marks
    np.testing.assert_allclose(gradient_panel.marks[0].heights, gradient, atol=1e-12)
    np.testing.assert_allclose(before.heights, bandit.softmax(logits), atol=1e-12)
    np.testing.assert_allclose(after.heights, bandit.softmax(stepped), atol=1e-12)
    limit = gradient_panel.y.high
    assert gradient_panel.y.low == -limit and limit >= np.abs(gradient).max()
    first, second, third = picture.caption.split("\n")
    j, j_after = bandit.expected_reward(logits, rewards), bandit.expected_reward(stepped, rewards)
    assert f"{j:z.4f} before" in first and f"{j_after:z.4f} after" in first
    change = bandit.softmax(stepped) - bandit.softmax(logits)
    more = [i for i in range(4) if change[i] > 1e-12]
    less = [i for i in range(4) if change[i] < -1e-12]
    assert f"More likely: {names(more)}." in second and f"Less likely: {names(less)}." in second
    assert f"more likely: {names([i for i in more if rewards[i] < j - 1e-12])}." in third
    assert f"less likely: {names([i for i in less if rewards[i] > j + 1e-12])}." in third


def names(numbers):
    return ", ".join(drawing.ANSWERS[i] for i in numbers) or "none"


def test_one_step_starts_with_the_running_example():
    live = one_step()
    gradient = live.picture.panels[0].marks[0].heights
    assert [f"{g:.6f}" for g in gradient] == ["0.143022", "-0.051162", "-0.187730", "0.095870"]
    live.move(logit_2=2.5, reward_3=-1.0, step_size=0.0)
    expected = drawing.picture(np.array([0.4, 2.5, 1.1, 0.0]), np.array([1.0, 0.0, -1.0, 1.0]), 0.0)
    assert live.text == describe(expected)


def test_one_step_starts_where_it_is_told():
    live = one_step([0, 0, 1, 2], np.array([3, 2, 1, 0]), step_size=0.5)
    assert list(live.values.values()) == [0, 0, 1, 2, 3, 2, 1, 0, 0.5]
    for logits in ([0, 0, 0], [0, 0, 0, 9]):
        with pytest.raises(ValueError):
            one_step(logits)


def test_one_step_takes_names_for_the_answers():
    live = one_step(answers=("yes", "no", "maybe", "perhaps"))
    assert "More likely: yes, perhaps." in live.text and "no -0.05116" in live.text
    with pytest.raises(ValueError, match="answers has 2 entries; it must have 4 words"):
        one_step(answers=("yes", "no"))


def test_what_notebook_01_says_can_be_found_with_one_step():
    def caption(**moved):
        live = one_step()
        live.move(**moved)
        return live.picture.caption

    lucky, unlucky = 'yet more likely: "5"', 'yet less likely: "four"'
    assert lucky in caption(logit_2=-0.9) and lucky not in caption(logit_2=-0.8)
    assert unlucky in caption(logit_1=1.4) and unlucky not in caption(logit_1=1.3)
    shifted = caption(**{f"reward_{i}": r + 1 for i, r in enumerate((1.0, 0.0, 0.0, 1.0), 1)})
    assert (
        "J = 1.3946 before the step, 1.5329" in shifted and "J = 0.3946 before the step, 0.5329" in caption()
    )


@given(st.lists(STOP, min_size=4, max_size=4), st.lists(STOP, min_size=4, max_size=4), st.floats(0, 10))
def test_an_exact_step_of_any_size_never_lowers_the_expected_reward(logits, rewards, step_size):
    stepped = np.array(logits) + step_size * bandit.exact_gradient(logits, rewards)
    before, after = bandit.expected_reward(logits, rewards), bandit.expected_reward(stepped, rewards)
    assert after >= before - 1e-12


@pytest.mark.parametrize("temperature", [0.1, 0.6, 1.0, 3.0])
def test_temperature_divides_the_logits(temperature):
    live = sliders.temperature()
    live.move(temperature=temperature)
    (panel,) = live.picture.panels
    p = bandit.softmax(np.array([0.4, -0.2, 1.1, 0.0]) / temperature)
    np.testing.assert_allclose(panel.marks[0].heights, p, atol=1e-12)
    assert f"{p.max():.2f}" in live.picture.caption
