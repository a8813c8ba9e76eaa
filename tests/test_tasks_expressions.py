"""The parser of arithmetic against Python's own, and the conventions it holds."""

import random
from fractions import Fraction

import numpy as np
import pytest
import refusals
import tasks_by_hand as by_hand
from hypothesis import given, settings
from hypothesis import strategies as st

from pglab import tasks

pytestmark = pytest.mark.filterwarnings("error")
check = tasks.check_expression

numerals = st.integers(0, 120).map(str)
expressions = st.recursive(
    numerals,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/"), inner).map("".join), inner.map("({})".format)
    ),
    max_leaves=12,
)
near_misses = st.tuples(expressions, st.randoms(use_true_random=False)).map(lambda pair: by_hand.edit(*pair))


@settings(max_examples=600, deadline=None)
@given(st.one_of(expressions, near_misses, st.text("0129+-*/() ", max_size=12)))
def test_the_same_verdict_as_python(text):
    found = by_hand.evaluate(text)
    assert check(text) == (found is not None)
    if found is None:
        assert not check(text, target=0) and not check(text, [])
        return
    value, numbers = found[0], list(found[1].elements())
    assert check(text, numbers, value) and check(text, numbers) and check(text, target=value)
    assert check(text, tuple(reversed(numbers)), value) and check(text, np.array(numbers), value)
    assert not check(text, target=value + 1) and not check(text, target=value + Fraction(1, 10**9))
    assert not check(text, [*numbers, numbers[0]], value) and not check(text, numbers[1:], value)
    assert not check(text, [numbers[0] + 1, *numbers[1:]], value)


def test_a_hundred_thousand_short_texts():
    draw = random.Random(5)
    accepted = 0
    for _ in range(100_000):
        text = "".join(draw.choices("1203+-*/() ", k=draw.randrange(1, 9)))
        verdict = check(text)
        assert verdict == (by_hand.evaluate(text) is not None), text
        accepted += verdict
    assert accepted > 3000


@pytest.mark.parametrize(
    "text, value",
    [
        ("8-3-2", 3),
        ("8-(3-2)", 7),
        ("8/4/2", 1),
        ("8/4*2", 4),
        ("8/(4*2)", 1),
        ("2+3*4", 14),
        ("2*3+4*5", 26),
        ("1/3*3", 1),
        ("7/2", Fraction(7, 2)),
        ("4 *  (6 - 1)", 20),
        ("0", 0),
        ("0/5", 0),
        ("3-5", -2),
        ("((((7))))", 7),
        ("(1+2)*(3+4)", 21),
        ("1-(2-(3-(4-5)))", 3),
    ],
)
def test_values_by_hand(text, value):
    assert check(text, target=value) is True
    assert check(text, target=value + 1) is False
    assert check(text, target=np.int64(value) if value == int(value) else value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "()",
        "+",
        "1+",
        "*1",
        "-1",
        "+1",
        "1--1",
        "2*-1",
        "(1",
        "1)",
        ")1(",
        "1)+(2",
        "(1)(2)",
        "2(3)",
        "1 ",
        " 1",
    ]
    + [
        "1\n",
        "1\t+ 2",
        "1 2",
        "1 + 2 ",
        "2* *3",
        "7/ /2",
        "1\u2009+2",
        "01",
        "00",
        "1+02",
        "1.0",
        ".5",
        "1e2",
        "1_0",
        "0x1",
        "2**3",
        "7//2",
        "1,2",
        "1=1",
        "٣",
        "１",
    ]
    + ["²", "1/0", "1/(2-2)", "0/0", "(1/0)*0", "1+2#", "(1+2]", "True", "a", "1\0", "1;2", "(,)", "1/(1/0)"],
)
def test_what_is_no_expression(text):
    assert check(text) is False and by_hand.evaluate(text) is None


def test_numbers_are_counted_not_listed():
    assert not check("81*1", [1, 81, 1, 1], 81) and check("81*1*1*1", [1, 81, 1, 1], 81)
    assert (
        not check("1+1+1", [1, 1], 3) and not check("12+12", [4, 6], 24) and not check("12+3", [1, 2, 3], 15)
    )
    assert (
        check("5", [5], 5) and not check("5", [], 5) and not check("5", [-5]) and not check("5", [10**5000])
    )
    assert not check("5", target=10**5000)


def test_the_limit_of_length():
    assert tasks.LONGEST == 256
    for longest in ("(" * 127 + "12" + ")" * 127, "9" * 256, "1+" * 127 + "12"):
        assert (
            len(longest) == 256
            and check(longest)
            and not check(f"1+{longest}"[:257])
            and not check("1" + longest)
        )
    assert check("9*" * 127 + "99", target=9**127 * 99) and not check("9*" * 127 + "999")
    assert not check("7/" * 126 + "(0)") and check("1/" * 127 + "77", target=Fraction(1, 77))


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((5,), "text is 5; it must be a string."),
        ((None,), "text is None; it must be a string."),
        ((b"5",), "text is b'5'; it must be a string."),
        (("5", 5), "numbers is 5; it must be a list, tuple or one-dimensional array of whole numbers."),
        (("5", "5"), "numbers is '5'; it must be a list"),
        (("5", {5}), "numbers is {5}; it must be a list"),
        (("5", ["5"]), "numbers is ['5']; it must be"),
        (("5", [5.0]), "numbers is [5.0]; it must be"),
        (("1", [True]), "numbers is [True]; it must be"),
        (("1", np.array([1.0])), "numbers is array([1.]); it must be"),
        (("1", np.array([True])), "numbers is array([ True]); it must be"),
        (("1", np.array([[1]])), "numbers is array([[1]]); it must be"),
        (("1", np.array(1)), "numbers is array(1); it must be"),
        (("5", [5], 5.0), "target is 5.0; it must be a whole number or a Fraction."),
        (("1", [1], True), "target is True; it must be"),
        (("1", [1], np.True_), "target is "),
        (("5", None, "5"), "target is '5'; it must be"),
        (("nonsense", [None]), "numbers is [None]; it must be"),  # refused whatever the text
        (("nonsense", None, [1]), "target is [1]; it must be"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    refusals.check(lambda: check(*arguments), message)
