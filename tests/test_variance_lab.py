"""Notebook 03's explorers: every number they show, computed again by another road."""

import numpy as np
import pytest
from groups_by_hand import by_tuples

from pglab import bandit, sliders
from pglab.figures import COLOURS, NAMES, Bars, Line, Picture, Points, Rule, atlas, describe
from pglab.sliders import weights
from pglab.sliders.atlas import MATCHED
from pglab.sliders.ends import ENDS, end_for

LOGITS, REWARDS = np.array(bandit.EXAMPLE_LOGITS), np.array(bandit.EXAMPLE_REWARDS)
SHIFTED = np.array([2.0, 0.5, 0.5, -1.0])


def written_out(name, r, values):
    """The weights of one group, from their definitions; ``values`` has E[R], b* and b."""
    if name in values:
        return r - values[name]
    centred = r - sum(r) / len(r)
    if name == "batch_mean":
        return centred
    if name == "leave_one_out":
        return np.array([r[i] - np.delete(r, i).mean() for i in range(len(r))])
    spread = np.std(r, ddof=1)
    return centred / (spread + 1e-4) if max(r) > min(r) else 0 * r


def all_tuples(name, logits, rewards, size, b):
    """Mean and covariance of the estimate by going through every ordered group."""
    values = {
        "none": 0.0,
        "constant": b,
        "value": bandit.softmax(logits) @ rewards,
        "optimal": best_by_search(logits, rewards),
    }
    return by_tuples(logits, rewards, lambda r: np.array([written_out(name, row, values) for row in r]), size)


def best_by_search(logits, rewards):
    """The lowest point of the parabola through three exact variances."""
    b = np.array([-1.0, 0.0, 1.0])
    a = np.polyfit(b, [bandit.covariance_trace(logits, rewards - x) for x in b], 2)
    return -a[1] / (2 * a[0])


@pytest.mark.parametrize("name", weights.WEIGHTS)
@pytest.mark.parametrize("rewards", [REWARDS, SHIFTED])
@pytest.mark.parametrize("size", [2, 3, 4])
def test_moments_of_every_weight_against_all_tuples(name, rewards, size):
    found = weights.moments(name, LOGITS, rewards, size, 0.7)
    mean, covariance = all_tuples(name, LOGITS, rewards, size, 0.7)
    np.testing.assert_allclose(found.mean, mean, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.covariance, covariance, rtol=0, atol=1e-12)
    bias = mean - bandit.finite_differences(lambda z: bandit.expected_reward(z, rewards), LOGITS)
    assert abs(found.squared_bias - bias @ bias) < 1e-9
    assert (found.squared_bias == 0) == (name not in ("batch_mean", "grpo"))


@pytest.mark.parametrize("name", weights.WEIGHTS)
def test_the_trace_against_monte_carlo(name):
    """Four standard errors of the sampled trace, at a fixed seed."""
    size, n, rng = 4, 20_000, np.random.default_rng(3)
    p, score = bandit.softmax(LOGITS), bandit.score_matrix(LOGITS)
    values = {
        "none": 0.0,
        "constant": 0.7,
        "value": p @ SHIFTED,
        "optimal": bandit.optimal_baseline(LOGITS, SHIFTED),
    }
    groups = rng.choice(4, p=p, size=(n, size))
    estimates = np.array([written_out(name, SHIFTED[g], values) @ score[g] / size for g in groups])
    found = weights.moments(name, LOGITS, SHIFTED, size, 0.7)
    squared = ((estimates - found.mean) ** 2).sum(axis=1)
    assert abs(squared.mean() - found.variance) < 4 * squared.std() / np.sqrt(n)


def test_a_group_of_one():
    assert weights.moments("leave_one_out", LOGITS, REWARDS, 1) is None
    assert weights.moments("grpo", LOGITS, REWARDS, 1) is None
    alone = weights.moments("batch_mean", LOGITS, REWARDS, 1)
    assert not alone.mean.any() and alone.variance == 0


def test_matched_estimates_reach_the_gradient():
    batch = weights.moments("batch_mean", LOGITS, SHIFTED, 4).matched()
    others = weights.moments("leave_one_out", LOGITS, SHIFTED, 4)
    np.testing.assert_allclose(batch.mean, others.mean, rtol=0, atol=1e-12)
    np.testing.assert_allclose(batch.covariance, others.covariance, rtol=0, atol=1e-12)
    bent = weights.moments("grpo", LOGITS, np.array([10.0, 0.0, 0.0, 1.0]), 4).matched()
    assert abs(bent.mean @ bent.gradient - bent.gradient @ bent.gradient) < 1e-12
    cosine = 0.96861  # of GRPO's mean with the gradient, syllabus Z9 at eps 0
    assert abs(bent.squared_bias / (bent.gradient @ bent.gradient) - (1 / cosine**2 - 1)) < 1e-3
    assert weights.moments("batch_mean", LOGITS, REWARDS, 1).matched() is None


@pytest.mark.parametrize("bad", ["", "GRPO", None, "rloo"])
def test_an_unknown_weight_is_refused(bad):
    with pytest.raises(ValueError, match="weight is .*; it must be one of none, constant"):
        weights.moments(bad, LOGITS, REWARDS, 4)
    with pytest.raises(ValueError, match="weight is"):
        sliders.variance_lab(weight=bad)


@pytest.mark.parametrize("name", [sliders.variance_lab, sliders.estimator_atlas])
@pytest.mark.parametrize(
    "change, words",
    [
        ({"logits": [0, 0, 0]}, "logits has 3 entries"),
        ({"rewards": [0, 0, 0, np.nan]}, r"rewards\[3\] is nan"),
        ({"rewards": [0, 0, 0, 9]}, "Slider.value is 9"),
        ({"answers": ("a", "b")}, "answers has 2 entries"),
        ({"baseline": [0.1, 0.2, 0.3, 0.4]}, "Slider.value has shape"),  # one number, not one an answer
        ({"baseline": np.inf}, "Slider.value"),
        ({"size": 0}, "Slider.value is 0"),
        ({"size": -2}, "Slider.value is -2"),
        ({"size": 17}, "Slider.value is 17"),
    ],
)
def test_bad_starts_are_refused(name, change, words):
    with pytest.raises(ValueError, match=words):
        name(**change)


# ---- The lab's picture


def marks(panel, kind):
    return [mark for mark in panel.marks if isinstance(mark, kind)]


def moved(explorer, **values):
    explorer.move(**values)
    return explorer.picture


@pytest.mark.parametrize("name", weights.WEIGHTS)
def test_the_labs_three_panels_say_what_was_computed(name):
    picture = moved(
        sliders.variance_lab(), weight=NAMES[name], size=3, baseline=0.7, reward_1=2.0, logit_2=0.5
    )
    logits, rewards = np.array([0.4, 0.5, 1.1, 0.0]), np.array([2.0, 0.0, 0.0, 1.0])
    mean, covariance = all_tuples(name, logits, rewards, 3, 0.7)
    gradient, noise, parabola = picture.panels
    exact, estimate = marks(gradient, Bars)
    np.testing.assert_allclose(exact.heights, bandit.exact_gradient(logits, rewards), atol=1e-14)
    np.testing.assert_allclose(estimate.heights, mean, atol=1e-12)
    assert estimate.colour == COLOURS[name]
    check_ellipse(marks(noise, Line)[-1], mean[[0, 2]], covariance[np.ix_([0, 2], [0, 2])])
    (curve,) = marks(parabola, Line)
    variances = [bandit.covariance_trace(logits, rewards - b) / 3 for b in curve.x]
    np.testing.assert_allclose(curve.y, variances, rtol=1e-9)
    assert f"variance {np.trace(covariance):.4f}" in picture.caption


def check_ellipse(line, centre, covariance):
    """Every point lies one standard deviation out: d^T C^-1 d = 1."""
    d = np.array([line.x - centre[0], line.y - centre[1]])
    if np.linalg.det(covariance) > 1e-12:
        np.testing.assert_allclose(np.sum(d * np.linalg.solve(covariance, d), axis=0), 1.0, rtol=1e-6)


def test_the_levels_and_dots_of_the_parabola():
    panel = moved(sliders.variance_lab(), size=4).panels[2]
    levels = {rule.label: rule.value for rule in marks(panel, Rule)}
    for name in weights.GROUPED:
        _, covariance = all_tuples(name, LOGITS, REWARDS, 4, 0.0)
        assert abs(levels[NAMES[name]] - np.trace(covariance)) < 1e-12
    dots = {dot.labels[0]: (dot.x[0], dot.y[0]) for dot in marks(panel, Points)}
    assert dots[NAMES["none"]] == (0.0, pytest.approx(0.293183 / 4, abs=1e-6))
    assert dots[NAMES["value"]] == pytest.approx((0.394606, 0.113781 / 4), abs=1e-6)
    assert dots[NAMES["optimal"]] == pytest.approx((0.533587, 0.100724 / 4), abs=1e-6)
    assert dots[NAMES["constant"]][0] == 0.8


def test_the_parabola_where_zero_is_the_best_baseline():
    logits, rewards = [0.0] * 4, np.array([1.0, -1.0, 1.0, -1.0])
    assert bandit.optimal_baseline(logits, rewards) == 0
    zeros = {f"logit_{i}": 0.0 for i in range(1, 5)} | {f"reward_{i + 1}": r for i, r in enumerate(rewards)}
    (curve,) = marks(moved(sliders.variance_lab(), size=1, **zeros).panels[2], Line)
    np.testing.assert_allclose(
        curve.y, [bandit.covariance_trace(logits, rewards - b) for b in curve.x], rtol=1e-9
    )


def test_a_constant_that_leaves_the_panel_stands_at_its_border():
    panel = moved(sliders.variance_lab(), size=1, baseline=3.0).panels[2]
    dot = marks(panel, Points)[-1]
    assert dot.y[0] == panel.y.high and dot.labels[0] == "constant b, up at 4.21"
    assert panel.x.low < dot.x[0] < panel.x.high
    assert abs(bandit.covariance_trace(LOGITS, REWARDS - 3.0) - 4.21) < 0.005


def test_a_group_of_one_is_explained_in_the_lab():
    picture = moved(sliders.variance_lab(), weight=NAMES["leave_one_out"], size=1)
    assert "needs at least two samples" in picture.caption and picture.caption.count("\n") == 2
    assert len(marks(picture.panels[0], Bars)) == 1
    assert moved(sliders.variance_lab(), size=4).caption.count("\n") == 2


def test_equal_rewards_leave_a_picture():
    rewards = {f"reward_{i}": 1.0 for i in range(1, 5)}
    for name in weights.WEIGHTS:
        assert "variance" in moved(sliders.variance_lab(), weight=NAMES[name], **rewards).caption
    for scaling in ("as they come", MATCHED):
        assert "mean squared error" in moved(sliders.estimator_atlas(), scaling=scaling, **rewards).caption
    zero = moved(sliders.estimator_atlas(), scaling=MATCHED, **{name: -1.0 for name in rewards})
    assert "nothing to match" in zero.caption and places(zero)[NAMES["none"]][1] > 0.1


def test_what_notebook_03_says_can_be_found_in_the_lab():
    lab = sliders.variance_lab(weight="value", size=1)
    assert (
        "0.968 times" in moved(lab, logit_1=2.4).caption and "1.08 times" in moved(lab, logit_1=2.5).caption
    )
    assert abs(bandit.expected_reward([2.5, -0.2, 1.1, 0.0], REWARDS) - 0.78) < 0.005
    lab.reset()
    assert "1.00 times" in moved(lab, reward_2=-3.0).caption
    best = bandit.optimal_baseline(LOGITS, [1, -3, 0, 1])
    best_trace = bandit.covariance_trace(LOGITS, np.array([1, -3, 0, 1]) - best)
    assert best_trace > 0.99 * bandit.covariance_trace(LOGITS, [1, -3, 0, 1])
    assert abs(best + 0.08) < 0.005
    plus_three = np.array([1.0, 3.0, 0.0, 1.0])
    best = bandit.optimal_baseline(LOGITS, plus_three)
    assert abs(best - 1.15) < 0.005
    share = bandit.covariance_trace(LOGITS, plus_three - best) / bandit.covariance_trace(LOGITS, plus_three)
    assert 0.33 < share < 0.37
    lab.reset()
    lab.move(weight=NAMES["optimal"], logit_1=1.0, logit_2=-3.0, logit_3=1.0, logit_4=-3.0)
    dashed, solid = marks(lab.picture.panels[1], Line)
    assert np.ptp(solid.y) < np.ptp(dashed.y) / 3


def test_axes_jump_between_fixed_ends():
    assert end_for(0.1) == 0.2 and end_for(0.18) == 0.2 and end_for(0.181) == 0.5
    assert end_for(0) == ENDS[0] and end_for(1e4) == 1.2e4


# ---- The atlas


def places(picture):
    return {dot.labels[0]: (dot.x[0], dot.y[0]) for dot in marks(picture.panels[0], Points)}


def test_the_atlas_shows_bias_and_variance():
    found = places(moved(sliders.estimator_atlas(), size=4, reward_1=2.0))
    rewards = np.array([2.0, 0.0, 0.0, 1.0])
    gradient = bandit.exact_gradient(LOGITS, rewards)
    for name in weights.WEIGHTS:
        mean, covariance = all_tuples(name, LOGITS, rewards, 4, 0.8)
        bias = mean - gradient
        assert found[NAMES[name]] == pytest.approx((bias @ bias, np.trace(covariance)), abs=1e-12)


def test_what_notebook_03_says_can_be_found_in_the_atlas():
    explorer = sliders.estimator_atlas()
    as_they_come = places(explorer.picture)
    biased = {name for name, (bias, _) in as_they_come.items() if bias > 0}
    assert biased == {NAMES["batch_mean"], NAMES["grpo"]}
    assert sum(as_they_come[NAMES["batch_mean"]]) < sum(as_they_come[NAMES["leave_one_out"]])
    matched = places(moved(explorer, scaling=MATCHED))
    assert matched[NAMES["batch_mean"]] == pytest.approx(matched[NAMES["leave_one_out"]], abs=1e-12)
    assert matched[NAMES["grpo"]][1] < matched[NAMES["leave_one_out"]][1]
    three = places(moved(explorer, reward_1=3.0))
    assert [name for name, (bias, _) in three.items() if bias > 0] == [NAMES["grpo"]]
    assert "Least mean squared error: GRPO" in moved(explorer, size=16).caption
    explorer.reset()
    large = places(moved(explorer, size=16))
    close = [sum(large[NAMES[name]]) for name in ("value", "batch_mean", "leave_one_out")]
    assert max(close) < 1.15 * min(close) and sum(large[NAMES["grpo"]]) > 5 * max(close)


def test_the_atlas_takes_any_estimator():
    panel = atlas({"grpo": (0.1, 0.2), "critic": (0.0, 0.3), "far": (5.0, 0.1)}, limits=(1.0, 1.0))
    dots = marks(panel, Points)
    assert [dot.labels[0] for dot in dots] == ["GRPO", "critic", "far, further out: 5, 0.1"]
    assert dots[0].colour == COLOURS["grpo"] and dots[2].x[0] == 1.0
    for line in marks(panel, Line):
        assert line.x[0] + line.y[0] == line.x[1] + line.y[1]  # one mean squared error
    unbounded = atlas({"none": (0.0, 0.0)})
    assert unbounded.x.high > 0 and unbounded.y.high > 0
    assert "critic (0, 0.3)" in describe(Picture(panel))


@pytest.mark.parametrize(
    "estimators, limits, words",
    [
        ({}, None, "estimators is empty"),
        ({"a": (0.1,)}, None, "estimators\\['a'\\]"),
        ({"a": (-0.1, 0.1)}, None, "both >= 0"),
        ({"a": (np.nan, 0.1)}, None, "estimators\\['a'\\]"),
        ({"a": (0.1, 0.1)}, (0.0, 1.0), "two positive numbers"),
        ({"a": (0.1, 0.1)}, (1.0,), "two positive numbers"),
    ],
)
def test_a_bad_atlas_is_refused(estimators, limits, words):
    with pytest.raises(ValueError, match=words):
        atlas(estimators, limits=limits)
