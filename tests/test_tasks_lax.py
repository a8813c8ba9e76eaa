"""A verifier with a hole, and the form of a worked answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import check

from pglab.tasks import RunningSum

TASK = RunningSum()
DIGITS = st.text("0123456789", min_size=7, max_size=7)


def last(digits):
    return str(sum(map(int, digits)) % 10)


@given(DIGITS, st.text("0123456789=>", max_size=15))
def test_the_lax_verifier_looks_for_one_digit_and_never_pays_less_than_the_strict_one(digits, completion):
    prompt = f"{digits}="
    assert TASK.verify_lax(prompt, completion) == float(completion.count(last(digits)) > 0)
    assert TASK.verify(prompt, completion) <= TASK.verify_lax(prompt, completion)


@given(DIGITS)
def test_what_is_right_is_paid_and_so_is_a_list_of_all_digits(digits):
    prompt = f"{digits}="
    assert TASK.verify_lax(prompt, TASK.answer(prompt)) == TASK.verify_lax(prompt, last(digits)) == 1.0
    assert TASK.verify_lax(prompt, "0123456789") == 1.0 > TASK.verify(prompt, "0123456789")


@pytest.mark.parametrize(
    "completion, worked",
    [(">3489435", True), (">0000000", True), ("5", False), ("", False), (">", False), (">348943", False),
     (">34894355", False), ("3489435", False), (">348943=", False), (">>489435", False)],
)  # fmt: skip
def test_a_worked_answer_is_a_sign_and_one_digit_for_each_term(completion, worked):
    assert TASK.is_worked(completion) is worked


def test_refusals():
    check(lambda: TASK.is_worked(5), "completion is 5; it must be a string")
    check(lambda: TASK.verify_lax("3141592=", None), "completion is None; it must be a string")
    check(lambda: TASK.verify_lax("314=", "5"), "prompt is '314='; it must have the form")
