"""Rewards of single tokens, by Python's integers: right digits of a sum, right running sums."""

from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
import refusals
import tasks_by_hand as by_hand
from hypothesis import given
from hypothesis import strategies as st

from pglab import tasks

pytestmark = pytest.mark.filterwarnings("error")
ADDITIONS = [tasks.Addition(), tasks.Addition(1), tasks.Addition(6), tasks.Addition(25)]
SUMS = [tasks.RunningSum(), tasks.RunningSum(1), tasks.RunningSum(6), tasks.RunningSum(30)]
DIGITS = "0123456789"
OTHER_DIGITS = {ord("0") + i: 0x660 + i for i in range(10)}


def all_digits(text):
    return bool(text) and all(character in DIGITS for character in text)


def parts(task, prompt, completion):
    """Every token's reward as a fraction."""
    if isinstance(task, tasks.Addition):
        total, true = sum(by_hand.numerals(prompt)), []
        for _ in range(task.digits + 1):
            true.append(total % 10)
            total //= 10
        written = completion
        head = []
    else:
        true = [s % 10 for s in accumulate(map(int, prompt[:-1]))]
        written = completion[1:] if completion.startswith(">") else ""
        head = [Fraction(0)]
    if not all_digits(written) or len(written) != len(true):
        return head + [Fraction(0)] * len(true)
    return head + [Fraction(int(w) == t, len(true)) for w, t in zip(written, true, strict=True)]


def check(task, prompt, completion):
    found = task.step_rewards(prompt, completion)
    wanted = parts(task, prompt, completion)
    assert [type(x) for x in found] == [float] * task.answer_length
    assert found == [float(x) for x in wanted], (prompt, completion)
    if isinstance(task, tasks.RunningSum):
        share = task.verify_steps(prompt, completion)
        assert type(share) is float and share == float(sum(wanted))
    return float(sum(wanted))


@pytest.mark.parametrize("task", [*ADDITIONS, *SUMS], ids=repr)
@given(st.integers(0, 2**32), st.data())
def test_step_rewards_by_hand(task, seed, data):
    """The right answer, with digits changed, with an edit, of the corpus, and of any text."""
    rng = np.random.default_rng(seed)
    prompt = task.prompts(1, rng)[0]
    answer = task.answer(prompt)
    assert check(task, prompt, answer) == 1
    changed = list(answer)
    for place in data.draw(st.sets(st.integers(0, len(answer) - 1), max_size=len(answer))):
        changed[place] = str(rng.integers(10))
    check(task, prompt, "".join(changed))
    check(task, prompt, by_hand.edit(answer, data.draw(st.randoms(use_true_random=False))))
    check(task, prompt, data.draw(st.text(max_size=task.answer_length + 2)))
    check(task, prompt, data.draw(st.text(DIGITS, max_size=task.answer_length + 2)))
    check(task, prompt, ">" + data.draw(st.text(DIGITS, max_size=task.answer_length + 2)))
    for asked, completion in task.corpus(3, rng):
        check(task, asked, completion)


@pytest.mark.parametrize("task", ADDITIONS, ids=repr)
def test_an_addition_is_right_where_its_steps_sum_to_1(task):
    rng = np.random.default_rng(1)
    seen = set()
    pairs = task.corpus(300, rng)
    for prompt, completion in pairs + [(prompt, task.answer(prompt)) for prompt, _ in pairs[:9]]:
        total = sum(task.step_rewards(prompt, completion))
        assert (abs(total - 1) < 1e-12) == task.verify(prompt, completion)
        seen.add(task.verify(prompt, completion))
    assert seen == {0, 1}


@pytest.mark.parametrize("task", SUMS, ids=repr)
def test_a_running_sum_may_be_right_by_luck(task):
    """Two slips that undo each other: the outcome is right, the steps between are not. And a direct answer."""
    prompt = task.prompts(1, np.random.default_rng(1))[0]
    answer = task.answer(prompt)
    assert task.verify(prompt, answer[-1]) == 1 and task.verify_steps(prompt, answer[-1]) == 0
    assert task.step_rewards(prompt, answer[-1]) == [0] * (task.terms + 1)
    for wrong in range(task.terms):
        first = str((int(answer[1]) + 1) % 10)
        lucky = ">" + first * min(wrong, task.terms - 1) + answer[1 + min(wrong, task.terms - 1) :]
        assert task.verify(prompt, lucky) == 1
        check(task, prompt, lucky)


def test_some_rewards_in_full():
    task = tasks.Addition()  # 437 + 285 = 722
    assert task.step_rewards("437+285=", "2270") == [0.25] * 4
    assert task.step_rewards("437+285=", "2160") == [0.25, 0, 0, 0.25]  # both carries dropped: 2, 1, 6
    for wrong in ("", "227", "22700", "2270 ", ">227", "22a0", "2270".translate(OTHER_DIGITS)):
        assert task.step_rewards("437+285=", wrong) == [0.0] * 4
    task = tasks.RunningSum()  # 3, 4, 8, 9, 4, 3, 5
    assert task.step_rewards("3141592=", ">3489435") == [0.0] + [1 / 7] * 7
    # A slip costs every later sum, until another undoes it.
    assert task.step_rewards("3141592=", ">3499435") == [0, 1 / 7, 1 / 7, 0, *[1 / 7] * 4]
    assert task.step_rewards("3141592=", ">3490546") == [0, 1 / 7, 1 / 7, 0, 0, 0, 0, 0]
    assert task.verify_steps("3141592=", ">3490546") == 2 / 7
    for wrong in ("", "5", ">", ">348943", ">34894355", "3489435", ">3489435 ", ">>348943", ">348943a"):
        assert task.step_rewards("3141592=", wrong) == [0.0] * 8 and task.verify_steps("3141592=", wrong) == 0
    assert task.step_rewards("3141592=", ">3489435".translate(OTHER_DIGITS)) == [0.0] * 8


def test_verify_steps_gives_whole_parts():
    """Sums of sevenths and thirtieths in floats would miss 1."""
    for task in SUMS:
        prompt, zero = "0" * task.terms + "=", "0" * task.terms
        for right in range(task.terms + 1):
            completion = ">" + zero[:right] + "1" * (task.terms - right)
            assert task.verify_steps(prompt, completion) == right / task.terms


@pytest.mark.parametrize("task", [*ADDITIONS[:2], *SUMS[:2]], ids=repr)
def test_hostile_completions_earn_nothing_step_by_step(task):
    prompt = task.prompts(1, np.random.default_rng(3))[0]
    for text in by_hand.hostile(task.answer(prompt)):
        if len(text) != task.answer_length:
            assert task.step_rewards(prompt, text) == [0.0] * task.answer_length
        else:
            check(task, prompt, text)


@pytest.mark.parametrize("task", [ADDITIONS[0], SUMS[0]], ids=repr)
def test_bad_input_is_refused(task):
    form = {"Addition": "444+222=", "RunningSum": "3141592="}[type(task).__name__]
    calls = [task.step_rewards] + ([task.verify_steps] if isinstance(task, tasks.RunningSum) else [])
    for call in calls:
        for wrong in ("5+5", form + "\n", form.translate(OTHER_DIGITS), None, 5):
            message = f"prompt is {wrong!r}; it must have the form {form!r}."
            refusals.check(lambda call=call, wrong=wrong: call(wrong, "5"), message)
        for wrong in (None, 5, b"5", ["5"]):
            message = f"completion is {wrong!r}; it must be a string."
            refusals.check(lambda call=call, wrong=wrong: call(form, wrong), message)


def test_countdown_has_no_steps():
    for name in ("countdown", "countdown_solver"):
        assert not hasattr(tasks.named(name), "step_rewards")
