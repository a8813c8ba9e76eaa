"""The checks of arguments: what passes, and in which words the rest is refused."""

import numpy as np
import pytest
import refusals
import torch

from pglab import _checks


@pytest.mark.parametrize(
    "value", [[1, 2], (True, 2), np.array([1, 2], np.int8), np.array([1, 2], np.float32), range(1, 3)]
)
def test_numbers_become_float64(value):
    array = _checks.vector("x", value)
    assert array.dtype == np.float64 and array.tolist() == [1.0, 2.0]


def test_the_result_is_a_copy():
    value = np.array([1.0, 2.0])
    _checks.vector("x", value)[:] = 0
    assert value.tolist() == [1.0, 2.0]


def test_minus_infinity_only_where_it_is_allowed():
    assert _checks.vector("x", [0.0, -np.inf], allow_minus_inf=True)[1] == -np.inf
    with pytest.raises(ValueError, match=r"x\[1\] is -inf"):
        _checks.vector("x", [0.0, -np.inf])
    with pytest.raises(ValueError, match=r"x\[0\] is inf"):
        _checks.vector("x", [np.inf, -np.inf], allow_minus_inf=True)


@pytest.mark.parametrize(
    "value, options, message",
    [
        ([[1.0]], {}, "x has shape (1, 1); it must be a vector of finite numbers, shape (n,)."),
        ([[1.0]], {"size": 3}, "x has shape (1, 1); it must be a vector of finite numbers, shape (3,)."),
        ([], {}, "x is empty; it must be a vector of finite numbers, shape (n,), with at least one entry."),
        ([1.0], {"size": 3}, "x has 1 entries; it must have 3, one for each action."),
        ([0.0, np.nan], {}, "x[1] is nan; it must be a vector of finite numbers, shape (n,)."),
        ("word", {}, "x is 'word'; it must be a vector of finite numbers, shape (n,)."),
        ([None], {}, "x is [None]; it must be a vector of finite numbers, shape (n,)."),
        ([[1], [1, 2]], {}, "x is a ragged list; it must be a vector of finite numbers, shape (n,)."),
    ],
)
def test_words_about_vectors(value, options, message):
    with pytest.raises(ValueError) as caught:
        _checks.vector("x", value, **options)
    assert str(caught.value) == message


def test_a_long_value_is_shortened_in_the_message():
    with pytest.raises(ValueError) as caught:
        _checks.vector("x", ["word"] * 10_000)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("value", [3, 3.0, True + 2, np.float32(3), np.array(3)])
def test_one_number(value):
    number = _checks.number("x", value)
    assert type(number) is float and number == 3.0


def test_both_ends_belong_to_the_range():
    assert _checks.number("x", 0, low=0, high=1) == 0.0
    assert _checks.number("x", 1, low=0, high=1) == 1.0


@pytest.mark.parametrize(
    "value, options, message",
    [
        (2, {"low": 0, "high": 1}, "x is 2.0; it must be one finite number from 0 to 1."),
        (-1, {"low": 0, "high": 1}, "x is -1.0; it must be one finite number from 0 to 1."),
        (-1, {"low": 0}, "x is -1.0; it must be one finite number, at least 0."),
        (2, {"high": 1}, "x is 2.0; it must be one finite number, at most 1."),
        (np.nan, {"low": 0, "high": 1}, "x is nan; it must be one finite number from 0 to 1."),
        (np.inf, {}, "x is inf; it must be one finite number."),
        (-np.inf, {"high": 1}, "x is -inf; it must be one finite number, at most 1."),
        ([1.0], {}, "x has shape (1,); it must be one finite number."),
        ("3", {}, "x is '3'; it must be one finite number."),
        (None, {}, "x is None; it must be one finite number."),
        (1j, {}, "x is 1j; it must be one finite number."),
    ],
)
def test_words_about_numbers(value, options, message):
    with pytest.raises(ValueError) as caught:
        _checks.number("x", value, **options)
    assert str(caught.value) == message


@pytest.mark.parametrize("value", [4, 4.0, True + 3, np.float32(4), np.array(4), np.int8(4), torch.tensor(4)])
def test_one_whole_number(value):
    whole = _checks.whole("x", value, low=4)
    assert type(whole) is int and whole == 4


def test_without_a_lower_end_every_whole_number_passes():
    assert [_checks.whole("x", n) for n in (-3, 0, -0.0, 2.0**60)] == [-3, 0, 0, 2**60]


@pytest.mark.parametrize(
    "value, options, message",
    [
        (2.5, {}, "x is 2.5; it must be a whole number."),
        (0, {"low": 1}, "x is 0; it must be a whole number, at least 1."),
        (0.5, {"low": 0}, "x is 0.5; it must be a whole number, at least 0."),
        (np.nan, {}, "x is nan; it must be a whole number."),
        (np.inf, {"low": 1}, "x is inf; it must be a whole number, at least 1."),
        (-np.inf, {}, "x is -inf; it must be a whole number."),
        ([1], {}, "x has shape (1,); it must be a whole number."),
        ("3", {"low": 1}, "x is '3'; it must be a whole number, at least 1."),
        (None, {}, "x is None; it must be a whole number."),
    ],
)
def test_words_about_whole_numbers(value, options, message):
    with pytest.raises(ValueError) as caught:
        _checks.whole("x", value, **options)
    assert str(caught.value) == message


def test_one_of():
    assert _checks.one_of("kind", "a", ("a", "b")) == "a"
    for show, words in ((str, "a, b"), (repr, "'a', 'b'")):
        with pytest.raises(ValueError) as caught:
            _checks.one_of("kind", "c", ("a", "b"), show)
        assert str(caught.value) == f"kind is 'c'; it must be one of {words}."


def test_a_value_on_one_short_line():
    assert _checks.brief("a\n  b\tc") == "a b c"
    assert _checks.brief("x" * 200) == "x" * 200 and _checks.brief("x" * 201) == "x" * 197 + "..."
    assert _checks.brief("one two three four", 15) == "one two..."  # between words, and never longer
    assert _checks.brief("one two three", 13) == "one two three"
    assert (
        _checks.shown("a word") == "'a word'" and _checks.shown(list(range(9))) == "[0, 1, 2, 3, 4, 5, ...]"
    )
    assert len(_checks.shown("x" * 99)) == 80 and _checks.shown("x" * 78) == repr("x" * 78)
    assert _checks.shown("one two three", 10) == "'one..."


def test_one_kind_of_thing():
    assert (
        _checks.kind("x", (1,), (list, tuple), "a list") == (1,)
        and _checks.kind("x", 1, int, "a number") == 1
    )
    assert _checks.table_of("x", {"a": 1}, "name to number") == {"a": 1}
    refusals.check(lambda: _checks.kind("x", {}, (list, tuple), "a list"), "x is {}; it must be a list.")
    refusals.check(
        lambda: _checks.table_of("x", [1], "name to number"), "x is [1]; it must be a dictionary, name to"
    )


def test_the_nearest_spelling():
    options = ["sequence_mean", "token_mean", "token_means", "sum"]
    assert _checks.nearest("token_meen", options) == "token_mean"
    assert _checks.nearest("sequence mean", options) == "sequence_mean"
    assert _checks.nearest("xyz", options) is None


@pytest.mark.parametrize(
    "p, yes", [([0.5, 0.5], 1), ([1, 0], 1), ([1.5, -0.5], 0), ([0.5, 0.6], 0), ([np.nan, 1], 0)]
)
def test_probabilities_are_recognised(p, yes):
    assert _checks.is_distribution(np.array(p)) == yes
