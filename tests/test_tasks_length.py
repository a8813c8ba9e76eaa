"""The penalty for long completions, by hand, and what it is given."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pglab import tasks

pytestmark = pytest.mark.filterwarnings("error")


def by_hand(length, soft, hard):
    if length <= soft:
        return Fraction(0)
    return Fraction(-1) if length >= hard else Fraction(soft - length, hard - soft)


@given(st.integers(0, 60), st.integers(1, 40), st.lists(st.integers(0, 120), max_size=5))
def test_overlong_penalty_by_hand(soft, cache, lengths):
    hard = soft + cache
    wanted = [float(by_hand(n, soft, hard)) for n in lengths]
    penalty = tasks.overlong_penalty(np.array(lengths, int), soft, hard)
    assert penalty.dtype == np.float64 and penalty.tolist() == pytest.approx(wanted, abs=1e-15)
    for length, expected in zip(lengths, wanted, strict=True):
        assert tasks.overlong_penalty(length, soft, hard) == pytest.approx(expected, abs=1e-15)


def test_the_two_ends_and_shapes():
    for length, wanted in ((0, 0.0), (16, 0.0), (20, -1.0), (10**6, -1.0)):
        penalty = tasks.overlong_penalty(length, 16, 20)
        assert type(penalty) is float and str(penalty) == str(wanted)  # not -0.0
    assert tasks.overlong_penalty(np.zeros((0, 3)), 16, 20).shape == (0, 3)
    assert tasks.overlong_penalty([[15, 18], [19, 21]], 16, 20).tolist() == [[0, -0.5], [-0.75, -1]]


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((5, 4, 4), "hard is 4.0; it must be larger than soft, which is 4.0."),
        ((5, 20, 16), "hard is 16.0; it must be larger than soft"),
        ((5, -1, 16), "soft is -1.0; it must be one finite number, at least 0."),
        ((5, 4, np.inf), "hard is inf; it must be one finite number."),
        ((-1, 4, 8), "length holds -1.0; it must be a number of tokens, 0 or more"),
        (([3, np.nan], 4, 8), "length holds nan; it must be a number of tokens"),
        (("five", 4, 8), "length is 'five'; it must be a number of tokens"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    with pytest.raises(ValueError) as caught:
        tasks.overlong_penalty(*arguments)
    assert str(caught.value).startswith(message) and str(caught.value).endswith("."), caught.value
