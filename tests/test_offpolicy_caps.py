"""Caps: curves point by point, the best one against a fine grid; policies some steps behind; length."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pglab import bandit, mdp, offpolicy

pytestmark = pytest.mark.filterwarnings("error")
LOGITS, REWARDS = bandit.EXAMPLE_LOGITS, bandit.EXAMPLE_REWARDS
numbers = st.floats(-1.5, 1.5)
four = st.lists(numbers, min_size=4, max_size=4)
PATH = offpolicy.ascent(LOGITS, REWARDS, 24, 1.0)
PAID = [[0.0, 1.0], [0.5, 0.0], [0.0, 0.2], [1.0, 0.3]]


@given(
    four,
    four,
    st.sampled_from(offpolicy.LEVELS),
    st.sampled_from(offpolicy.MODES),
    st.integers(1, 99),
    numbers,
)
def test_a_curve_is_its_moments(z, other, level, mode, samples, baseline):
    answers, caps = offpolicy.one_decision(z, other, [1.0, 0.0, 0.3, -1.0]), [0.3, 1.0, 2.5]
    size = np.linalg.norm(answers.gradient)
    if size < 1e-3:
        return
    found = offpolicy.curve(answers, caps, samples, level, mode, baseline)
    for k, cap in enumerate(caps):
        one = offpolicy.moments(answers, level, cap, mode, baseline)
        assert found.bias[k] == pytest.approx(np.linalg.norm(one.bias), abs=1e-12)
        assert found.deviation[k] == pytest.approx((one.variance / samples) ** 0.5, abs=1e-9)
        assert found.rmse[k] == pytest.approx(one.mse(samples) ** 0.5, abs=1e-9)
        # The best length of a step, by trying many.
        scales = np.append(0.0, np.geomspace(1e-3, 1e3, 20_001))
        tried = [
            (scales * one.mean[:, None] - answers.gradient[:, None]).T,
            scales**2 * one.variance / samples,
        ]
        assert found.astray[k] == pytest.approx(
            min((tried[0] ** 2).sum(1) + tried[1]) ** 0.5 / size, abs=1e-3
        )


@pytest.mark.parametrize("aim", offpolicy.AIMS)
@pytest.mark.parametrize("mode", offpolicy.MODES)
@settings(max_examples=25)
@given(
    four,
    four,
    st.sampled_from([4, 64, 1000]),
    st.sampled_from([0.0, 0.4]),
    st.sampled_from(["token", "sequence"]),
)
def test_the_best_cap_against_a_fine_grid(aim, mode, z, other, samples, baseline, level):
    answers = offpolicy.along_tokens(z, other, REWARDS, 2)
    best = offpolicy.best_cap(answers, samples, level, mode, baseline, aim)
    size = np.linalg.norm(answers.gradient)
    caps = np.append(
        np.geomspace(1e-3, 1e3, 4001), offpolicy.weights(answers, level)[answers.times > 0].max()
    )
    found = offpolicy.curve(answers, caps, samples, level, mode, baseline)
    column, nothing = (found.rmse, size) if aim == "error" else (found.astray, 1.0)
    assert best.error <= min(column.min(), nothing) * (1 + 1e-9)
    if mode == "truncate":  # the grid is fine enough to come near
        assert best.error == pytest.approx(min(column.min(), nothing), rel=1e-3)
    if best.cap == np.inf:
        assert best.error == pytest.approx(column[-2])
    elif best.cap:
        here = offpolicy.curve(answers, [best.cap], samples, level, mode, baseline)
        assert best.error == pytest.approx((here.rmse if aim == "error" else here.astray)[0])


def test_where_no_cap_is_best_and_where_no_step_is():
    answers = offpolicy.one_decision(LOGITS, np.zeros(4), REWARDS)
    size = np.linalg.norm(answers.gradient)
    for samples, options in ((4, {"mode": "mask"}), (64, {"mode": "mask"}), (4, {"aim": "direction"})):
        best = offpolicy.best_cap(answers, samples, **options)
        found = offpolicy.curve(answers, [1e9], samples)
        assert best == (np.inf, pytest.approx((found.astray if "aim" in options else found.rmse)[0]))
    assert offpolicy.best_cap(answers, 1, mode="mask") == (0.0, pytest.approx(size))
    wrong = offpolicy.one_decision([0.0, 0.0], [0.0, 0.0], [1.0, 0.0])._replace(
        gradient=np.array([-1.0, 1.0])
    )
    assert offpolicy.best_cap(wrong, 9, aim="direction").error == 1  # no length of such a step does any good


def test_without_options_a_curve_has_no_baseline():
    answers = offpolicy.one_decision(LOGITS, np.zeros(4), REWARDS)
    for one, other in zip(
        offpolicy.curve(answers, [1.0], 4), offpolicy.curve(answers, [1.0], 4, baseline=0.0), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    whole, token = offpolicy.moments(answers), offpolicy.moments(answers, baseline=0.0)
    assert whole.variance == token.variance
    grown = [offpolicy.growth(LOGITS, np.zeros(4), REWARDS, [2], **o) for o in ({}, {"baseline": 0.0})]
    assert grown[0].token == grown[1].token


def test_many_samples_want_hardly_a_cap_and_few_want_a_shorter_step():
    """Just below the largest weight the bias grows with the square of what is cut, the variance falls with it."""
    answers = offpolicy.one_decision(PATH[-1], PATH[16], REWARDS)
    every = offpolicy.weights(answers)
    caps = [offpolicy.best_cap(answers, n).cap for n in (10**3, 10**5, 10**9)]
    assert every.max() - 0.01 < caps[0] < caps[1] < caps[2] < every.max()
    for n in (10**3, 10**5, 10**9):
        whole = offpolicy.moments(answers).mse(n) ** 0.5
        assert 0 < whole - offpolicy.best_cap(answers, n).error < 2e-4 * whole
    few = offpolicy.best_cap(answers, 4)
    assert few.cap < every.min()  # all weights alike: nothing is corrected
    shorter = few.cap * offpolicy.moments(answers, "none").mean
    assert np.linalg.norm(shorter - answers.gradient) < few.error
    assert offpolicy.best_cap(answers, 4, aim="direction").cap > every.min()


@pytest.mark.parametrize("samples", [64, 256, 1024, 4096])
def test_where_the_sampler_is_some_steps_behind_a_cap_of_two_helps_nowhere(samples):
    """The large weights are those of right answers, which the steps have made likelier: a cap cuts these."""
    for behind, length in itertools.product((4, 8, 12, 16), (1, 2, 4)):
        answers = offpolicy.stale(PATH, behind, REWARDS, length)
        baseline = float(answers.chance @ answers.rewards)
        found = offpolicy.curve(answers, [2.0, 1e9], samples, baseline=baseline)
        assert found.rmse[0] > found.rmse[1] * (1 - 1e-9)


def test_where_the_sampler_is_colder_a_cap_helps():
    answers = offpolicy.stale(PATH, 0, REWARDS, 8, temperature=0.7)
    baseline = float(answers.chance @ answers.rewards)
    best = offpolicy.best_cap(answers, 1024, baseline=baseline)
    whole = offpolicy.moments(answers, baseline=baseline).mse(1024) ** 0.5
    assert 4 < best.cap < 7 and best.error < 0.7 * whole


def test_the_path_and_who_is_behind():
    z = np.array(LOGITS)
    for step in range(3):
        np.testing.assert_allclose(offpolicy.ascent(LOGITS, REWARDS, 3, 0.5)[step], z)
        z = z + 0.5 * bandit.exact_gradient(z, REWARDS)
    answers = offpolicy.stale(PATH, 5, REWARDS, temperature=0.8)
    wanted = np.log(bandit.softmax(PATH[-1]) / bandit.softmax(PATH[19] / 0.8))
    np.testing.assert_allclose(answers.log_ratio.sum(0), wanted)  # each row holds one token
    now = offpolicy.stale(PATH, 0, REWARDS, 3)
    assert (now.log_ratio == 0).all() and offpolicy.moments(now, "none").share == 1


def test_further_behind_is_further_off():
    for rate in (0.25, 1.0):
        path = offpolicy.ascent(LOGITS, REWARDS, 16, rate)
        every = [offpolicy.stale(path, k, REWARDS, 4) for k in (0, 1, 2, 4, 8, 16)]
        sizes = [np.linalg.norm(offpolicy.moments(a, "token").bias) for a in every]
        shares = [offpolicy.moments(a).share for a in every]
        assert sizes == sorted(sizes) and shares == sorted(shares, reverse=True)


@given(four, four, st.integers(1, 5))
def test_the_mean_square_of_the_weight_grows_by_one_factor_a_token(z, other, length):
    answers = offpolicy.along_tokens(z, other, REWARDS, length)
    square = answers.chance @ offpolicy.weights(answers).max(1) ** 2
    factor = offpolicy.ratio_square(z, other)
    pi, mu = bandit.softmax(z), bandit.softmax(other)
    assert (
        factor == pytest.approx(sum(p * p / q for p, q in zip(pi, mu, strict=True))) and factor >= 1 - 1e-12
    )
    assert square == pytest.approx(factor**length)
    assert offpolicy.moments(answers).share == pytest.approx(factor**-length)


def test_growth_is_the_moments_at_each_length():
    found = offpolicy.growth(PATH[-1], PATH[8], REWARDS, [1, 2, 5], baseline=0.3)
    for k, length in enumerate((1, 2, 5)):
        answers = offpolicy.along_tokens(PATH[-1], PATH[8], REWARDS, length)
        size = np.linalg.norm(answers.gradient)
        token, whole = (offpolicy.moments(answers, level, baseline=0.3) for level in ("token", "sequence"))
        assert found.bias[k] == pytest.approx(np.linalg.norm(token.bias) / size, abs=1e-12)
        assert found.token[k] == pytest.approx(token.variance**0.5 / size)
        assert found.sequence[k] == pytest.approx(whole.variance**0.5 / size)
        assert found.square[k] * found.share[k] == pytest.approx(1)
    assert found.lengths.tolist() == [1, 2, 5] and found.lengths.dtype.kind == "i"
    assert math.isinf(offpolicy.ratio_square([0.0, 1.0], [0.0, -np.inf]))
    assert offpolicy.ratio_square([0.0, -np.inf], [0.0, 0.0]) == pytest.approx(2)


def test_options_reach_the_answers():
    shared = offpolicy.growth(PATH[-1], PATH[8], REWARDS, [3], "share")
    answers = offpolicy.along_tokens(PATH[-1], PATH[8], REWARDS, 3, "share")
    size = np.linalg.norm(answers.gradient)
    assert shared.sequence[0] == pytest.approx(offpolicy.moments(answers).variance ** 0.5 / size)
    assert shared.token[0] == pytest.approx(offpolicy.moments(answers, "token").variance ** 0.5 / size)
    stale = offpolicy.stale(PATH, 16, REWARDS, 3, "share")
    np.testing.assert_array_equal(stale.rewards, answers.rewards)
    assert offpolicy.ascent(LOGITS, REWARDS, 0, 1.0).tolist() == [list(LOGITS)]
    assert offpolicy.ratio_square([0.0, -np.inf], [0.0, -np.inf]) == 1
    one = offpolicy.moments(answers)
    assert one.effective(1) == one.share and one.effective(10) == pytest.approx(10 * one.share)


def test_a_long_table_is_cut_into_blocks(monkeypatch):
    answers = offpolicy.trajectories(mdp.token_tree(PAID), np.ones((8, 2)), np.zeros((8, 2)) + [[0, 0.7]])
    caps = np.linspace(0.2, 3, 17)
    whole = offpolicy.curve(answers, caps, 9, "prefix")
    monkeypatch.setattr("pglab.offpolicy.caps.MOST", 50)
    for left, right in zip(whole, offpolicy.curve(answers, caps, 9, "prefix"), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-14)
