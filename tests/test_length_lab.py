"""The explorer of length bias against a climb in plain loops."""

import importlib
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pglab import advantages, bandit
from pglab.figures import Bars, Line, Points, Rule, describe
from pglab.figures.layout import scene
from pglab.mdp import lengths
from pglab.sliders import length_lab

drawing = importlib.import_module("pglab.sliders.length_lab")  # the package has a function of this name
START = {
    "denominator": "sequence_mean", "weight": "dr_grpo", "size": 8, "chance_right": 0.5, "steps": 200, "longest": 6
}  # fmt: skip


def at(**moved):
    return drawing.picture(**(START | moved))


def marks(panel, kind):
    return [mark for mark in panel.marks if isinstance(mark, kind)]


def path_start():
    return [math.log(0.3 / 0.7)] * 2


def climbed(sign, pull, steps, longest):
    """The probabilities of the lengths after ascent on E[score / L], as a bandit whose actions are lengths."""
    z, taken = math.log(0.3 / 0.7), np.arange(2, longest + 1)
    path = []
    for _ in range(steps + 1):
        stop = 1 / (1 + math.exp(-z))
        p = np.array([(1 - stop) ** (n - 2) * (stop if n < longest else 1) for n in taken])
        path.append(p)
        up, down = (
            [
                math.log((1 - s) ** (n - 2) * (s if n < longest else 1))
                for n in taken
                for s in [1 / (1 + math.exp(-z - h))]
            ]
            for h in (1e-6, -1e-6)
        )
        z += sign * 50 * pull * float(p / taken @ (np.subtract(up, down) / 2e-6))
    return np.array(path)


@pytest.mark.parametrize(("size", "chance_right", "longest"), [(8, 0.5, 6), (4, 0.2, 9)])
def test_the_picture_is_a_climb_in_plain_loops(size, chance_right, longest):
    # E[1/G sum of the A of right answers] is q (1 - q) (G - 1)/G, and minus that for wrong ones.
    pull = chance_right * (1 - chance_right) * (size - 1) / size
    left, right = at(size=size, chance_right=chance_right, longest=longest, steps=30).panels
    taken = np.arange(2, longest + 1)
    lines, dots, bars = marks(left, Line), marks(left, Points), marks(right, Bars)
    assert [line.label for line in lines] == ["right", "wrong"]
    assert [bar.label for bar in bars] == ["start", "right", "wrong"]
    for k, sign in enumerate((1, -1)):
        path = climbed(sign, pull, 30, longest)
        np.testing.assert_allclose(lines[k].y[:30], path[1:] @ taken, rtol=1e-6)
        np.testing.assert_allclose(bars[k + 1].heights, path[30], rtol=1e-4, atol=1e-9)
        np.testing.assert_allclose(bars[0].heights, path[0], rtol=1e-12)
        assert dots[k].x[0] == 30 and dots[k].y[0] == lines[k].y[29] and lines[k].x[29] == 30
    assert marks(left, Rule)[0].value == pytest.approx(bars[0].heights @ taken)


def test_the_story_at_the_start():
    lab = length_lab()
    assert lab.text == describe(at())
    assert "right answers 2.00 tokens, wrong ones 5.99 (start 3.77)" in lab.picture.caption
    assert "at the start: right answers +0.0185, wrong ones -0.0185." in lab.picture.caption
    lab.move(chance_right=0.1)  # the few together are pushed as hard as the many together
    few, many = lengths.expected_gradient(path_start(), 0.1, 8, advantages.dr_grpo, "sequence_mean")
    assert few == pytest.approx(-many) and f"right answers {few:+.4f}" in lab.picture.caption
    lab.move(chance_right=0.5)
    for words in ("constant", "sum"):
        lab.move(denominator=words)
        assert "right answers 3.77 tokens, wrong ones 3.77" in lab.picture.caption
        assert "zero, as it should be" in lab.picture.caption
    lab.move(denominator="token mean")
    assert "right answers 2.06 tokens, wrong ones 5.95" in lab.picture.caption


def test_the_weights_are_those_of_their_names():
    for name in drawing.WEIGHTS:
        rewards = np.array([[1, 0, 0, 1.0]])
        same = drawing.WEIGHTS[name](rewards) == getattr(advantages, name)(rewards)
        assert same.all()
    slow, fast = at(steps=1), at(steps=1, weight="grpo")
    assert marks(fast.panels[0], Line)[1].y[0] > marks(slow.panels[0], Line)[1].y[0]


@given(
    st.sampled_from(list(drawing.DENOMINATORS)), st.sampled_from(list(drawing.WEIGHTS)), st.integers(2, 16),
    st.integers(1, 19), st.integers(1, 400), st.integers(3, 16),
)  # fmt: skip
@settings(max_examples=25, deadline=None)
def test_everything_fits_into_its_panel(denominator, weight, size, twentieths, steps, longest):
    picture = at(
        denominator=denominator,
        weight=weight,
        size=size,
        chance_right=twentieths / 20,
        steps=steps,
        longest=longest,
    )
    left, right = picture.panels
    for line in marks(left, Line):
        assert 2 - 1e-9 <= line.y.min() and line.y.max() <= longest + 1e-9 < left.y.high
    for bar in marks(right, Bars):
        assert bar.heights.sum() == pytest.approx(1) and bar.heights.max() <= 1
    assert scene(picture).height == scene(at()).height  # no caption is broken into more lines


def test_every_corner_is_a_picture_and_neighbours_differ():
    corners = itertools.product(
        drawing.DENOMINATORS, drawing.WEIGHTS, (2, 16), (0.05, 0.95), (1, 400), (3, 16)
    )
    texts = [describe(at(**dict(zip(START, corner, strict=True)))) for corner in corners]
    assert len(set(texts)) == len(texts)


def test_bandit_of_lengths_agrees_that_the_true_gradient_is_zero():
    p = lengths.distribution(0.4)
    assert abs(bandit.exact_gradient(np.log(p), np.ones(5))).max() < 1e-15


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"denominator": "rows"}, "denominator is 'rows'"),
        ({"weight": "none"}, "weight is 'none'"),
        ({"size": 1}, "Slider.value is 1"),
        ({"chance_right": 0.0}, "Slider.value is 0.0"),
        ({"steps": 0}, "Slider.value is 0"),
        ({"steps": 401}, "Slider.value is 401"),
        ({"longest": 2}, "Slider.value is 2"),
    ],
)
def test_a_bad_start_is_refused(change, words):
    with pytest.raises(ValueError, match=words):
        length_lab(**change)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"denominator": "rows"}, "denominator is 'rows'"),
        ({"weight": "none"}, "weight is 'none'"),
        ({"steps": 401}, "steps is 401"),
        ({"steps": 1.5}, "steps is 1.5"),
        ({"longest": 2}, "longest is 2"),
        ({"chance_right": 2}, "chance_right is 2"),
    ],
)
def test_bad_input_is_named(change, words):
    with pytest.raises(ValueError, match=words):
        at(**change)


def test_before_the_first_step_nothing_has_moved():
    picture = at(steps=0)
    heights = [bar.heights for bar in marks(picture.panels[1], Bars)]
    np.testing.assert_allclose(heights[1:], [heights[0]] * 2)
    assert not marks(picture.panels[0], Points) and picture.panels[1].title == "Lengths after 0 steps"
