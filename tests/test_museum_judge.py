"""A reader's own oracle test is answered in one line, whatever it does."""

import museum_blind as blind
import numpy as np
import pytest
import torch

from pglab import museum
from pglab.museum import exhibit as exhibits

EVERY = list(museum.EXHIBITS.values())
one_by_one = pytest.mark.parametrize("exhibit", EVERY, ids=[each.name for each in EVERY])
CAUGHT = "caught. Your test passes on a right function and fails on the suspect: open the case."
CASE = museum.case("mean_of_means")
PARTS = [[4.0], [1.0, 1.0, 1.0]]


def answer(capsys, test, case=CASE):
    assert case.judge(test) is None
    said = capsys.readouterr()
    head = f"Case {case.name}: "
    assert said.out.startswith(head) and said.out.count("\n") == 1 and said.err == ""
    return said.out[len(head) : -1]


@one_by_one
def test_an_exhibit_s_own_oracle_test_catches_it(exhibit, capsys):
    assert answer(capsys, exhibit.passes, exhibit) == CAUGHT


@one_by_one
def test_a_careless_test_gets_the_hint(exhibit, capsys):
    inputs = blind.INPUTS[exhibit.name]
    wanted = blind.outcome(exhibit.fixed, inputs, exhibit.kind)

    def careless(function):
        return np.allclose(blind.outcome(function, inputs, exhibit.kind), wanted)

    told = f"not right yet. Your test passes on the suspect too. {exhibit.hint}"
    assert answer(capsys, careless, exhibit) == told
    assert answer(capsys, lambda f: True, exhibit) == told


@pytest.mark.parametrize("stub", [None, ...])
def test_a_stub_is_not_done_yet(capsys, stub):
    words = "not done yet. Write a function of the suspect that returns True if it is right."
    assert answer(capsys, stub) == words


@pytest.mark.parametrize("value, kind", [(True, "bool"), (1.75, "float"), ("test", "str"), ([], "list")])
def test_what_is_no_function_is_named(capsys, value, kind):
    assert (
        answer(capsys, value)
        == f"not right yet. A function is asked for, and this is of type {kind}."
    )  # fmt: skip


@pytest.mark.parametrize("nothing", [None, ...])
def test_a_test_that_returns_nothing_is_not_done_yet(capsys, nothing):
    words = "not done yet. Your test returned nothing for a right function: return True or False."
    assert answer(capsys, lambda f: nothing) == words
    said = answer(capsys, lambda f: True if f(PARTS) == 1.75 else nothing)
    assert said == "not right yet. Your test returns nothing for the suspect: return True or False."


def test_a_test_that_refuses_the_right_function_is_told_so(capsys):
    words = "not right yet. Your test fails on a function that is right. Which number did you expect?"
    assert answer(capsys, lambda f: f(PARTS) == 2.5) == words
    assert answer(capsys, lambda f: False) == words
    assert answer(capsys, lambda f: f(PARTS) == 1.8) == words


def test_what_a_test_raises_on_the_right_function_is_repeated(capsys):
    for raised, words in (
        (ZeroDivisionError("division by zero"), "ZeroDivisionError: division by zero"),
        (RuntimeError("shapes:\n  (2,)\n  (3,)."), "RuntimeError: shapes: (2,) (3,)"),
        (SystemExit(3), "SystemExit: 3"),
        (KeyError(), "KeyError"),
    ):
        said = answer(capsys, lambda f, raised=raised: raises(raised))
        wanted = f"Your test raises on a function that is right ({words}). Does the input fit the contract?"
        assert said == f"not right yet. {wanted}"
    assert "(TypeError: " in answer(capsys, lambda: True) and "argument" in answer(capsys, lambda: True)
    long = answer(capsys, lambda f: raises(ValueError("word " * 500)))
    assert len(long) < 330 and "...). Does" in long


def raises(error):
    raise error


def test_a_test_may_be_written_with_assert(capsys):
    def test(f):
        np.testing.assert_allclose(f(PARTS), 1.75)
        return True

    assert answer(capsys, test) == CAUGHT

    def wrong(f):
        assert f(PARTS) == 2.5, "as I thought"
        return True

    assert answer(capsys, wrong).startswith("not right yet. Your test fails on a function that is right. W")


def test_a_crash_on_the_suspect_is_no_proof(capsys):
    for error, words in ((ValueError("NaN"), "ValueError: NaN"), (SystemExit(1), "SystemExit: 1")):
        said = answer(capsys, lambda f, error=error: True if f(PARTS) == 1.75 else raises(error))
        assert said.startswith(
            f"not right yet. On the suspect your test raises ({words}): a crash is no proof."
        )
    failed = AssertionError()
    assert answer(capsys, lambda f: True if f(PARTS) == 1.75 else raises(failed)) == CAUGHT
    one = museum.case(
        "missing_brackets"
    )  # the right one takes one group without its axis, the suspect does not
    said = answer(capsys, lambda f: f(np.array([1.0, 1.0, 0.0])) is not None, one)
    assert said.startswith("not right yet. On the suspect your test raises (")


@pytest.mark.parametrize(
    "wrap",
    [
        np.array, np.bool_, torch.tensor, lambda x: [x], lambda x: (True, [x]), int, float,
        lambda x: np.array([[True], [x]]), lambda x: torch.tensor([True, x]),
        lambda x: torch.tensor(float(x), requires_grad=True),
    ],
)  # fmt: skip
def test_all_of_an_array_must_be_true(capsys, wrap):
    assert answer(capsys, lambda f: wrap(float(f(PARTS)) == 1.75)) == CAUGHT
    assert "fails on a function that is right" in answer(capsys, lambda f: wrap(float(f(PARTS)) == 2.5))


def test_a_result_that_says_neither_is_no_pass(capsys):
    for result in ("yes", {"right": True}, object(), NotImplemented):
        assert "raises on a function that is right (" in answer(capsys, lambda f, result=result: result)


def test_ctrl_c_is_not_swallowed():
    with pytest.raises(KeyboardInterrupt):
        CASE.judge(lambda f: raises(KeyboardInterrupt()))


def test_one_test_leaves_nothing_behind_for_the_next(capsys):
    """It may change all that it hands in and all that it gets."""

    def careless(f):
        parts = [list(part) for part in PARTS]
        result = f(parts)
        parts.clear()
        return result == 1.75

    def rough(f):
        rewards = np.array([1.0, 2.0, 3.0])
        result = f(rewards, 0.5)
        rewards[:] = np.nan
        fine = bool(result[0] == 2.75)
        result[:] = np.nan
        return fine

    late = museum.case("one_step_late")
    for _ in range(2):
        assert answer(capsys, careless) == CAUGHT and answer(capsys, rough, late) == CAUGHT
    assert all(each.passes(each.fixed) and each.falls(each.broken) for each in EVERY)
    with pytest.raises(AttributeError):
        late.right = (0, 0, 0)


def test_an_error_is_told_in_one_short_line():
    assert exhibits.raised(ValueError("a\n b.")) == "ValueError: a b"
    assert exhibits.raised(ValueError()) == "ValueError"
    assert exhibits.raised(ValueError("x" * 188)) == "ValueError: " + "x" * 188
    assert exhibits.raised(ValueError("x" * 189)) == "ValueError: " + "x" * 185 + "..."
