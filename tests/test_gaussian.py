"""Quadrature under a normal distribution, against closed forms and against sampling."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pglab import bandit, gaussian

means = st.floats(-3, 3)
scales = st.floats(0, 3)


@given(means, scales)
def test_moments_of_a_normal(mean, scale):
    size = (abs(mean) + scale + 1) ** 4
    assert gaussian.expect(lambda x: x**0, mean, scale) == pytest.approx(1, abs=1e-12)
    assert gaussian.expect(lambda x: x, mean, scale) == pytest.approx(mean, abs=1e-12 * size)
    assert gaussian.expect(lambda x: x**2, mean, scale) == pytest.approx(mean**2 + scale**2, abs=1e-12 * size)
    fourth = mean**4 + 6 * mean**2 * scale**2 + 3 * scale**4
    assert gaussian.expect(lambda x: x**4, mean, scale) == pytest.approx(fourth, abs=1e-12 * size)


@given(means, st.floats(0.1, 1.5), st.floats(0.1, 2))
def test_waves(mean, scale, k):
    wanted = np.exp(-((k * scale) ** 2) / 2) * np.sin(k * mean)
    assert gaussian.expect(lambda x: np.sin(k * x), mean, scale) == pytest.approx(wanted, abs=1e-12)


@given(means, st.floats(0.05, 3))
def test_both_gradients_of_a_square_are_unbiased_with_the_known_variances(mu, sigma):
    path, path_variance = gaussian.moments(lambda x: 2 * x, mu, sigma)
    score, score_variance = gaussian.moments(lambda x: x**2 * (x - mu) / sigma**2, mu, sigma)
    size = (1 + abs(mu) + sigma) ** 4 / sigma**2
    assert path == pytest.approx(2 * mu, abs=1e-12 * size) == score
    assert path_variance == pytest.approx(4 * sigma**2, abs=1e-12 * size)
    known = mu**4 / sigma**2 + 14 * mu**2 + 15 * sigma**2
    assert score_variance == pytest.approx(known, rel=1e-9, abs=1e-12 * size)


def test_moments_agree_with_sampling_within_four_standard_errors():
    def estimate(x):
        return np.sin(4 * x) * x

    x = np.random.default_rng(0).normal(size=400_000)
    mean, variance = gaussian.moments(estimate, 0, 1)
    values = estimate(x)
    squares = (values - mean) ** 2
    assert abs(values.mean() - mean) < 4 * values.std() / np.sqrt(x.size)
    assert abs(squares.mean() - variance) < 4 * squares.std() / np.sqrt(x.size)


def test_few_points_see_little_and_the_usual_are_a_hundred():
    assert gaussian.moments(lambda x: x**4, 0, 1, points=2) == pytest.approx((1, 0))  # at -1 and at 1 alone
    seen = []
    gaussian.moments(lambda x: seen.append(x.size) or x, 0, 1)
    gaussian.expect(lambda x: seen.append(x.size) or x, 0, 1)
    assert set(seen) == {100}


def test_a_function_may_return_numbers_of_any_kind():
    assert gaussian.expect(lambda x: [Fraction(1, 3)] * x.size, 0, 1) == pytest.approx(1 / 3)


BAD = [
    (dict(scale=-1), r"scale is -1.0; it must be one finite number, at least 0"),
    (dict(scale=np.nan), "scale is nan"),
    (dict(mean=np.inf), "mean is inf"),
    (dict(mean=[0.0, 1.0]), r"mean has shape \(2,\); it must be one finite number"),
    (dict(mean="0"), "mean is '0'; it must be one finite number"),
    (dict(points=0), "points is 0.0; it must be one finite number from 1 to 180"),
    (dict(points=2.5), "points is 2.5; it must be a whole number"),
    (dict(f=2), "f is 2; it must be a function"),
    (dict(f=lambda x: 1.0), r"f returned shape \(\); it must return one number for each of 100"),
    (dict(f=lambda x: x * np.nan), "f returned"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
def test_bad_input(change, message):
    arguments = dict(f=lambda x: x, mean=0.0, scale=1.0, points=100) | change
    with pytest.raises(ValueError, match=message):
        gaussian.expect(**arguments)


# --- finite differences, the independent check used everywhere ----------------------------------


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=6))
def test_finite_differences_of_a_quadratic_are_exact(point):
    point = np.array(point)
    matrix = np.random.default_rng(point.size).normal(size=(point.size, point.size))
    got = bandit.finite_differences(lambda z: z @ matrix @ z, point)
    assert np.allclose(got, (matrix + matrix.T) @ point, atol=1e-8)


@pytest.mark.parametrize(("logits", "step", "message"), [
    ([[1.0]], 1e-5, r"logits has shape \(1, 1\)"),
    ([np.nan], 1e-5, r"logits\[0\] is nan"),
    ([-np.inf, 0.0], 1e-5, r"logits\[0\] is -inf"),
    ([1.0], 0, "step is 0.0; it must be a positive number"),
    ([1.0], -1, "step is -1.0"),
    ([1.0], "small", "step is 'small'"),
])  # fmt: skip
def test_bad_input_to_finite_differences(logits, step, message):
    with pytest.raises(ValueError, match=message):
        bandit.finite_differences(lambda z: z.sum(), logits, step)
