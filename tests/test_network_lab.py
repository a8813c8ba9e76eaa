"""Notebook 07's explorer: its numbers by counting every group of completions of a tiny network."""

import importlib
from itertools import product

import numpy as np
import pytest
import torch

from pglab import advantages, oracle, sliders
from pglab.figures import COLOURS, NAMES, Line, Picture, Points, describe

network_lab = importlib.import_module("pglab.sliders.network_lab")  # the function has the same name
WEIGHTS = ("none", "constant", "value", "optimal", "batch_mean", "leave_one_out", "grpo")


def reward(y):
    return float(y in ((1, 0), (2, 2), (0,)))


def make(seed, scale):
    model = oracle.network(seed, vocabulary=3, context=4, width=4, heads=1)
    with torch.no_grad():
        model.tokens.weight *= scale
    return oracle.exact(model, [1, 2], reward, 2)


@pytest.fixture(scope="module")
def policies():
    return {"one": make(0, 20.0), "another": make(1, 60.0)}


@pytest.fixture
def lab(policies):
    return sliders.network_lab(policies)


def by_groups(exact, temperature, weight, size, b):
    """Mean and variance of the estimate: all ordered groups of completions, scores written out."""
    scores, r = exact.scores(), exact.rewards
    logits = exact.logits.numpy() / temperature
    every = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    steps = range(exact.tokens.shape[1])
    logq = [
        sum(every[exact.tree.path[i], t, y] for t, y in zip(steps, row, strict=True) if exact.mask[i, t])
        for i, row in enumerate(exact.tokens)
    ]
    q, squared = np.exp(logq), (scores**2).sum(1)
    baseline = {"none": 0.0, "constant": b, "value": q @ r, "optimal": q @ (r * squared) / (q @ squared)}
    mean, second = np.zeros(scores.shape[1]), 0.0
    for group in product(range(len(q)), repeat=size):
        rewards = r[list(group)]
        if weight in baseline:
            A = rewards - baseline[weight]
        elif weight == "grpo":
            spread = np.std(rewards, ddof=1)
            A = (rewards - rewards.mean()) / (spread + 1e-4) if spread > 0 else 0 * rewards
        else:
            A = (rewards - rewards.mean()) * (size / (size - 1) if weight == "leave_one_out" else 1.0)
        estimate, chance = A @ scores[list(group)] / size, q[list(group)].prod()
        mean, second = mean + chance * estimate, second + chance * estimate @ estimate
    return mean, second - mean @ mean


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize(("size", "temperature"), [(2, 1.0), (3, 0.6), (4, 1.7)])
def test_bias_and_variance_of_every_weight_against_all_groups(policies, weight, size, temperature):
    for exact in policies.values():
        mean, variance = by_groups(exact, temperature, weight, size, 0.7)
        seen = network_lab.Network(exact).at(temperature)
        bias = mean - exact.gradient
        found = seen.error(weight, size, 0.7)
        np.testing.assert_allclose(found, (bias @ bias, variance), rtol=1e-8, atol=1e-11)
        unbiased = temperature == 1 and weight not in ("batch_mean", "grpo")
        assert (found[0] == 0) == unbiased
        cosine = mean @ exact.gradient / np.linalg.norm(mean) / np.linalg.norm(exact.gradient)
        assert abs(seen.cosine(weight, size, 0.7) - cosine) < 1e-9


def test_the_picture_shows_these_numbers(policies, lab):
    lab.move(policy="another", temperature=0.6, weight="GRPO", size=3, baseline=-0.5)
    mean, variance = by_groups(policies["another"], 0.6, "grpo", 3, -0.5)
    bias = mean - policies["another"].gradient
    atlas, curve = lab.picture.panels
    (point,) = (mark for mark in atlas.marks if isinstance(mark, Points) and mark.labels == (NAMES["grpo"],))
    np.testing.assert_allclose([point.x[0], point.y[0]], [bias @ bias, variance], rtol=1e-8)
    (larger,) = (mark for mark in atlas.marks if isinstance(mark, Points) and not mark.labels)
    assert larger.radius > point.radius and atlas.marks.index(larger) < atlas.marks.index(point)
    assert (larger.x[0], larger.y[0], larger.colour) == (point.x[0], point.y[0], COLOURS["grpo"])
    line = next(mark for mark in curve.marks if isinstance(mark, Line) and mark.label == NAMES["grpo"])
    np.testing.assert_allclose(line.y[list(line.x).index(3)], variance, rtol=1e-8)
    assert not line.dashed and line.width > 2
    assert f"variance {variance:.4g}" in lab.picture.caption and f"{bias @ bias:.4g}" in lab.picture.caption
    lab.move(measure="squared error")
    dot = lab.picture.panels[1].marks[-1]
    np.testing.assert_allclose([dot.x[0], dot.y[0]], [3, bias @ bias + variance], rtol=1e-8)
    none = by_groups(policies["another"], 0.6, "none", 3, -0.5)
    error = bias @ bias + variance, np.sum((none[0] - policies["another"].gradient) ** 2) + none[1]
    second, third = lab.picture.caption.splitlines()[1:]
    assert second.endswith(f"squared error {error[0]:.4g}.")
    assert third == f"Squared error against no baseline: {error[0] / error[1]:.3g} times."


def test_every_weight_is_a_point_of_the_atlas(lab):
    words = {
        mark.labels[0] for mark in lab.picture.panels[0].marks if isinstance(mark, Points) and mark.labels
    }
    assert words == {NAMES[name] for name in WEIGHTS}


def test_at_temperature_one_only_two_weights_are_biased_and_at_others_all_are(policies):
    network = network_lab.Network(policies["one"])
    for temperature in (0.5, 0.9, 1.0, 1.1, 2.0):
        biased = [name for name in WEIGHTS if network.at(temperature).error(name, 4, 0.3)[0] > 0]
        assert biased == (["batch_mean", "grpo"] if temperature == 1 else list(WEIGHTS))


def test_the_tables_of_all_temperatures_are_made_once(policies, monkeypatch):
    made, table = [], type(policies["one"]).table
    monkeypatch.setattr(type(policies["one"]), "table", lambda self, q=None: made.append(1) or table(self, q))
    lab = sliders.network_lab(policies)
    assert len(made) == 16  # the stops from 0.5 to 2
    lab.move(temperature=0.5, size=64, weight="GRPO", baseline=2.0, measure="squared error")
    lab.move(temperature=1.9)
    assert len(made) == 16
    lab.move(policy="another")
    assert len(made) == 32


ENDS = {"temperature": (0.5, 2.0), "size": (2, 64), "baseline": (-1.0, 2.0)}


@pytest.mark.parametrize("policy", ["one", "another"])
@pytest.mark.parametrize("weight", WEIGHTS)
def test_all_corners_have_a_picture_with_three_lines_of_words(lab, policy, weight):
    for corner in product(*ENDS.values()):
        for measure in ("variance", "squared error"):
            values = dict(zip(ENDS, corner, strict=True))
            lab.move(policy=policy, weight=NAMES[weight], measure=measure, **values)
            assert isinstance(lab.picture, Picture) and lab.picture.caption.count("\n") == 2
            assert "nan" not in describe(lab.picture)
            for panel in lab.picture.panels:  # all curves inside their panel
                lines = [mark for mark in panel.marks if isinstance(mark, Line) and panel.y.log]
                assert all(panel.y.low <= mark.y.min() <= mark.y.max() <= panel.y.high for mark in lines)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"policies": {}}, "two or more"),
        ({"policies": None}, "two or more"),
        ({"policy": "third"}, "Choice.value"),
        ({"weight": "rloo"}, "weight"),
        ({"size": 1}, "Slider.value"),
        ({"size": 65}, "Slider.value"),
        ({"baseline": 2.5}, "Slider.value"),
        ({"temperature": 0.2}, "Slider.value"),
    ],
)
def test_a_bad_start_raises(policies, change, words):
    with pytest.raises(ValueError, match=words):
        sliders.network_lab(**{"policies": policies, **change})


@pytest.mark.parametrize("bad", [lambda y: float(len(y)), lambda y: 1.0, lambda y: 0.0])
def test_rewards_must_be_zero_and_one_and_both_occur(policies, bad):
    exact = oracle.exact(oracle.network(0, vocabulary=3, context=4, width=4, heads=1), [1], bad, 2)
    with pytest.raises(ValueError, match="other than 0 and 1, or always the same"):
        sliders.network_lab({**policies, "bad": exact})


def test_an_unknown_weight_or_measure_raises(policies):
    seen = network_lab.Network(policies["one"]).at(1.0)
    with pytest.raises(ValueError, match="weight"):
        network_lab.picture(seen, "one", "rloo", 4, 0.0, 1.0)
    with pytest.raises(ValueError, match="measure"):
        network_lab.picture(seen, "one", "none", 4, 0.0, 1.0, "bias")


def test_the_grouped_weights_are_those_of_the_package():
    assert network_lab.GROUPED["leave_one_out"] is advantages.leave_one_out
