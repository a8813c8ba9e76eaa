"""The explorer of importance weights against plain loops over all strings of tokens."""

import importlib
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pglab import bandit, offpolicy
from pglab.figures import Bars, Line, Points, Rule, describe
from pglab.figures.layout import scene
from pglab.sliders import mismatch_lab

drawing = importlib.import_module("pglab.sliders.mismatch_lab")  # the package has a function of this name
START = {
    "behind": 16, "temperature": 1.0, "length": 4, "pay": "all", "level": "sequence", "cap": 2.0, "mode": "truncate",
    "samples": 256,
}  # fmt: skip


def at(**moved):
    return drawing.picture(**(START | moved))


def marks(panel, kind):
    return [mark for mark in panel.marks if isinstance(mark, kind)]


def policies(behind, temperature):
    """pi and mu, by steps taken one after the other."""
    z, path = list(bandit.EXAMPLE_LOGITS), []
    for _ in range(25):
        path.append(z)
        p = [math.exp(x) for x in z]
        p = [x / sum(p) for x in p]
        right = p[0] + p[3]
        z = [x + q * ((k in (0, 3)) - right) for k, (x, q) in enumerate(zip(z, p, strict=True))]
    found = []
    for logits, t in ((path[24], 1.0), (path[24 - behind], temperature)):
        p = [math.exp(x / t) for x in logits]
        found.append([x / sum(p) for x in p])
    return found


def by_hand(level, cap, mode, behind, temperature, length, samples):
    """Bias, noise and both, in lengths of the gradient, from all 4^T strings, every one paid if all are right."""
    pi, mu = policies(behind, temperature)
    strings = list(itertools.product(range(4), repeat=length))
    reward = [float(all(a in (0, 3) for a in s)) for s in strings]
    chance = np.array([math.prod(mu[a] for a in s) for s in strings])
    baseline, estimates = chance @ reward, []
    for s, r in zip(strings, reward, strict=True):
        ratios = [pi[a] / mu[a] for a in s]
        row = []
        for a, ratio in zip(s, ratios, strict=True):
            w = {"none": 1.0, "token": ratio, "sequence": math.prod(ratios)}[level]
            if level != "none" and cap is not None and w > cap:
                w = cap if mode == "truncate" else 0.0
            row += [w * (r - baseline) * ((b == a) - pi[b]) for b in range(4)]
        estimates.append(row)
    estimates = np.array(estimates)
    mean = chance @ estimates
    right = pi[0] + pi[3]
    each = [right ** (length - 1) * p * ((k in (0, 3)) - right) for k, p in enumerate(pi)]
    size = np.linalg.norm(each * length)
    bias = np.linalg.norm(mean - each * length) / size
    noise = (chance @ ((estimates - mean) ** 2).sum(1) / samples) ** 0.5 / size
    return bias, noise, math.hypot(bias, noise)


@pytest.mark.parametrize("level", drawing.LEVELS)
@pytest.mark.parametrize(("behind", "temperature", "length", "mode", "samples"), [
    (16, 1.0, 4, "truncate", 256), (5, 0.7, 3, "mask", 16), (0, 1.3, 1, "truncate", 64),
])  # fmt: skip
def test_the_picture_is_what_all_strings_say(level, behind, temperature, length, mode, samples):
    setting = dict(behind=behind, temperature=temperature, length=length, mode=mode, samples=samples)
    picture = at(level=level, cap=1.25, **setting)
    lines = {line.label: line for line in marks(picture.panels[0], Line)}
    for k in (0, 20, 48):
        wanted = by_hand(level, float(drawing.CAPS[k]), **setting)
        for name, value in zip(("bias", "noise", "together"), wanted, strict=True):
            assert lines[name].y[k] == pytest.approx(value, abs=1e-9)
    here, without = (by_hand(level, cap, **setting) for cap in (1.25, None))
    words = "Cap 1.25: bias {:.3f}, noise {:.3f}, together {:.3f}; without a cap {:.3f}, {:.3f}, {:.3f}."
    assert picture.caption.split("\n")[1] == words.format(*here, *without)


def test_the_weights_are_spread_as_they_are_drawn():
    pi, mu = policies(16, 1.0)
    for level, length in (("sequence", 3), ("token", 1)):
        heights = np.zeros(21)
        for s in itertools.product(range(4), repeat=length):
            place = math.log2(math.prod(pi[a] / mu[a] for a in s))
            heights[min(max(round((place + 5) / 0.5), 0), 20)] += math.prod(mu[a] for a in s)
        below, above = marks(at(level=level, length=3).panels[1], Bars)
        np.testing.assert_allclose(below.heights + above.heights, heights, atol=1e-12)
        assert below.x.tolist() == [k / 2 - 5 for k in range(21)]
    assert not above.label and not above.heights.any()  # a token's weight is at most 1.5 here
    below, above = marks(at(cap=0.25).panels[1], Bars)
    assert above.label == "above the cap" and above.heights.sum() > 0.7
    none = marks(at(level="none").panels[1], Bars)[0]
    assert none.heights[10] == pytest.approx(1) and not marks(at(level="none").panels[1], Rule)


def test_the_story_at_the_start():
    lab = mismatch_lab()
    assert lab.text == describe(at())
    assert (
        "without a cap 0.000, 0.508, 0.508.\nNo cap of those drawn is better than none."
        in lab.picture.caption
    )
    assert "Cap 2.00: bias 0.537" in lab.picture.caption
    lab.move(level="token")
    assert "bias 0.355" in lab.picture.caption
    lab.move(level="none")
    assert "bias 1.091" in lab.picture.caption and "no weight to cap" in lab.picture.caption
    lab.move(level="sequence", length=8)  # noise grows with length: ignoring is nearer now
    assert "without a cap 0.000, 1.209, 1.209." in lab.picture.caption
    lab.move(behind=0, temperature=0.7, samples="1024", cap=4.0)  # a colder engine: here a cap helps
    assert (
        "together 0.701; without a cap 0.000, 1.090, 1.090.\nTogether least at cap 5.19"
        in lab.picture.caption
    )
    lab.move(pay="each token", level="token")
    assert "without a cap 0.000" in lab.picture.caption


def test_the_dot_is_where_the_curve_is_lowest():
    lines = marks(at(behind=0, temperature=0.7, length=8, samples=1024).panels[0], Line)
    dot = marks(at(behind=0, temperature=0.7, length=8, samples=1024).panels[0], Points)[0]
    assert dot.y[0] == min(lines[2].y) and not marks(at().panels[0], Points)
    assert not marks(at(level="none").panels[0], Points)
    shorter = at(samples=16, level="token", behind=4).caption
    assert "below every weight, so a shorter step." in shorter


@given(
    st.integers(0, 24), st.integers(10, 30), st.integers(1, 12), st.sampled_from(list(drawing.PAYS)),
    st.sampled_from(drawing.LEVELS), st.integers(1, 32), st.sampled_from(list(drawing.MODES)),
    st.sampled_from(drawing.SAMPLES),
)  # fmt: skip
@settings(max_examples=25)
def test_everything_fits_into_its_panel(behind, twentieths, length, pay, level, quarters, mode, samples):
    picture = at(
        behind=behind, temperature=twentieths / 20, length=length, pay=pay, level=level, cap=quarters / 4, mode=mode,
        samples=int(samples),
    )  # fmt: skip
    for line in marks(picture.panels[0], Line):
        assert 0 <= line.y.min() and line.y.max() <= picture.panels[0].y.high
    assert sum(bar.heights.sum() for bar in marks(picture.panels[1], Bars)) == pytest.approx(1)
    assert scene(picture).height == scene(at()).height  # no caption is broken into more lines


def test_every_corner_is_a_picture():
    for corner in itertools.product((0, 24), (0.5, 1.5), (1, 12), drawing.PAYS, drawing.LEVELS, (0.25, 8.0),
                                    drawing.MODES, (16, 4096)):  # fmt: skip
        picture = at(**dict(zip(START, corner, strict=True)))
        assert scene(picture).height == scene(at()).height and "nan" not in describe(picture)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"behind": 25}, "Slider.value is 25"),
        ({"temperature": 0.4}, "Slider.value is 0.4"),
        ({"length": 0}, "Slider.value is 0"),
        ({"cap": 0.0}, "Slider.value is 0"),
        ({"pay": "some"}, "pay is 'some'"),
        ({"mode": "clip"}, "mode is 'clip'"),
        ({"level": "prefix"}, "prefix"),
        ({"samples": 100}, "samples is '100'"),
    ],
)
def test_a_bad_start_is_refused(change, words):
    with pytest.raises(ValueError, match=words):
        mismatch_lab(**change)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"behind": 25}, "behind is 25"),
        ({"cap": 9.0}, "cap is 9.0"),
        ({"level": "prefix"}, "level is 'prefix'"),
        ({"pay": "some"}, "pay is 'some'"),
        ({"samples": 0}, "samples is 0"),
        ({"temperature": 0}, "temperature is 0"),
    ],
)
def test_bad_input_is_named(change, words):
    with pytest.raises(ValueError, match=words):
        at(**change)


def test_what_is_drawn_does_not_depend_on_the_cap_that_is_marked():
    one, other = at(cap=1.0), at(cap=4.0)
    assert (marks(one.panels[0], Line)[0].y == marks(other.panels[0], Line)[0].y).all()
    assert [marks(picture.panels[0], Rule)[0].value for picture in (one, other)] == [1, 4]
    answers = offpolicy.stale(drawing._path(), 16, bandit.EXAMPLE_REWARDS, 4)
    assert len(answers.chance) == 35
