"""What every task keeps: its form, its refusals, and a verdict for any text."""

import dataclasses
import random

import numpy as np
import pytest
import refusals
import tasks_by_hand as by_hand
from hypothesis import given, settings
from hypothesis import strategies as st

from pglab import tasks

pytestmark = pytest.mark.filterwarnings("error")
OTHERS = [
    tasks.Addition(1, 0.0),
    tasks.Addition(25, 1.0),
    tasks.RunningSum(1),
    tasks.RunningSum(3, 1.0, 1.0),
    tasks.Countdown(2, 9),
    tasks.Countdown(3, 99, 1.0),
    tasks.Countdown(3, 1),
]
ALL = [*tasks.TASKS.values(), *OTHERS]
FLAGSHIPS = [tasks.TASKS[name] for name in ("addition", "running_sum", "countdown")]


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def test_the_registry():
    assert list(tasks.TASKS) == ["addition", "running_sum", "countdown", "countdown_solver"]
    assert tasks.named("addition") == tasks.Addition(digits=3, carry_dropped=0.7)
    assert tasks.named("running_sum") == tasks.RunningSum(terms=7, worked=0.3, slip=0.1)
    assert tasks.named("countdown") == tasks.Countdown(numbers=3, largest=12, random_share=0.65)
    assert tasks.named("countdown_solver") == tasks.Countdown(random_share=0)
    for name in ("adition", None, ["addition"]):
        refusals.check(lambda name=name: tasks.named(name), "name is ")
    refusals.check(
        lambda: tasks.named("sum"),
        "name is 'sum'; it must be one of addition, running_sum, countdown, countdown_solver.",
    )


@pytest.mark.parametrize("task", ALL, ids=repr)
def test_forms_and_lengths(task, rng):
    prompts = task.prompts(300, rng)
    pairs = [pair for stage in range(task.stages) for pair in task.corpus(300, rng, stage)]
    assert isinstance(task, tasks.Task) and len(pairs) == 300 * task.stages
    assert {len(prompt) for prompt in prompts + [p for p, _ in pairs]} == {task.prompt_length}
    assert all(0 < len(completion) <= task.answer_length for _, completion in pairs)
    assert {type(text) for pair in pairs for text in pair} == {str}
    used = set("".join(prompts) + "".join(map("".join, pairs)))
    assert used <= set(task.characters) <= set("0123456789+-*/()=,:>")
    assert len(set(task.characters)) == len(task.characters)
    for prompt in prompts:
        answer = task.answer(prompt)
        assert task.verify(prompt, answer) == 1.0 and type(task.verify(prompt, answer)) is float
        assert by_hand.right(task, prompt, answer) and len(answer) <= task.answer_length
    assert task.describe().endswith(".") and "\n" not in task.describe()


def test_lengths_and_characters_are_the_smallest_that_do(rng):
    for task in tasks.TASKS.values():
        pairs = task.corpus(5000, rng, 0)
        assert max(len(completion) for _, completion in pairs) == task.answer_length
        assert set("".join(map("".join, pairs))) == set(task.characters)


@pytest.mark.parametrize("task", tasks.TASKS.values(), ids=tasks.TASKS)
def test_the_seed_decides(task):
    for draw in (task.prompts, task.corpus):
        first, same, other = (draw(50, np.random.default_rng(seed)) for seed in (1, 1, 2))
        assert first == same != other
        assert draw(0, np.random.default_rng(1)) == []
    last = task.corpus(50, np.random.default_rng(1), task.stages - 1)
    assert task.corpus(50, np.random.default_rng(1)) == last
    assert task.corpus(50.0, np.random.default_rng(1)) == last


@pytest.mark.parametrize("task", tasks.TASKS.values(), ids=tasks.TASKS)
def test_bad_arguments_are_refused(task, rng):
    prompt = task.prompts(1, rng)[0]
    for draw in (task.prompts, task.corpus):
        refusals.check(lambda draw=draw: draw(-1, rng), "n is -1; it must be a whole number, at least 0.")
        refusals.check(lambda draw=draw: draw(1.5, rng), "n is 1.5; it must be a whole number")
        for wrong in (0, None, np.random, np.random.RandomState(0)):
            refusals.check(lambda draw=draw, wrong=wrong: draw(1, wrong), "rng is ")
    last = task.stages - 1
    wanted = f"stage is {last + 1}; it must be a whole number from 0 to {last}."
    refusals.check(lambda: task.corpus(1, rng, task.stages), wanted)
    refusals.check(lambda: task.corpus(1, rng, -1), "stage is -1; it must be a whole number, at least 0.")
    for completion in (None, 5, b"5", ["5"]):
        refusals.check(lambda c=completion: task.verify(prompt, c), "completion is ")
    arabic = prompt.translate({ord("0") + i: 0x660 + i for i in range(10)})
    for wrong in (
        "",
        prompt[:-1],
        prompt + "\n",
        " " + prompt,
        prompt + prompt,
        "0" + prompt,
        arabic,
        None,
        5,
    ):
        for call in (task.answer, lambda p: task.verify(p, "5")):
            refusals.check(lambda call=call, wrong=wrong: call(wrong), "prompt is ")


def test_settings_are_checked_and_stored_as_plain_numbers():
    for task in (tasks.Addition(np.int64(3), np.float32(0.5)), tasks.Addition(3.0, 0.5)):
        assert task == tasks.Addition(3, 0.5) and type(task.digits) is int
        assert type(task.carry_dropped) is float and hash(task) == hash(tasks.Addition(3, 0.5))
    with pytest.raises(dataclasses.FrozenInstanceError):
        tasks.Addition().digits = 4
    for call, message in [
        (lambda: tasks.Addition(0), "digits is 0; it must be a whole number, at least 1."),
        (lambda: tasks.Addition(2.5), "digits is 2.5; it must be a whole number"),
        (lambda: tasks.Addition(3, 1.1), "carry_dropped is 1.1; it must be one finite number from 0 to 1."),
        (lambda: tasks.RunningSum(0), "terms is 0; it must be a whole number, at least 1."),
        (lambda: tasks.RunningSum(7, -0.1), "worked is -0.1; it must be one finite number from 0 to 1."),
        (lambda: tasks.RunningSum(7, 0.3, 2), "slip is 2.0; it must be one finite number from 0 to 1."),
        (lambda: tasks.Countdown(4), "numbers is 4; it must be one of 2, 3."),
        (lambda: tasks.Countdown(3, 0), "largest is 0; it must be a whole number, at least 1."),
        (lambda: tasks.Countdown(3, 100), "largest is 100; it must be a whole number from 1 to 99."),
        (lambda: tasks.Countdown(3, 12, np.nan), "random_share is nan; it must be one finite number"),
    ]:
        refusals.check(call, message)


def test_refusals_show_the_form_of_a_prompt():
    for task, form in zip(FLAGSHIPS, ("444+222=", "3141592=", "07,03,12:43="), strict=True):
        refusals.check(
            lambda t=task: t.verify("5+5", "5"), f"prompt is '5+5'; it must have the form '{form}'."
        )
        assert task.verify(form, task.answer(form)) == 1.0
    assert tasks.Countdown(2).answer("07,03:21=") in ("7*3", "3*7")


# ---- Any text gets a verdict, and only right answers get a 1


@pytest.mark.parametrize("task", FLAGSHIPS, ids=repr)
def test_a_hundred_thousand_completions(task, rng):
    """Texts of its own characters, right answers with an edit, and answers to other prompts."""
    draw = random.Random(3)
    prompts = task.prompts(2000, rng)
    accepted, edited = 0, 0
    for i in range(100_000):
        prompt = prompts[i % len(prompts)]
        if i % 3 == 0:
            text = "".join(draw.choices(task.characters, k=draw.randrange(14)))
        else:
            text = by_hand.edit(task.answer(prompts[(i + (i % 3 == 2)) % len(prompts)]), draw)
            edited += text != task.answer(prompt)
        reward = task.verify(prompt, text)
        assert reward == by_hand.right(task, prompt, text), (prompt, text)
        accepted += reward
    assert accepted > 100 and edited > 50_000


@pytest.mark.parametrize("task", FLAGSHIPS, ids=repr)
def test_hostile_completions(task):
    prompt = {0: "437+285=", 1: "3141592=", 2: "07,03,12:43="}[FLAGSHIPS.index(task)]
    answer = task.answer(prompt)
    for text in by_hand.hostile(answer):
        assert task.verify(prompt, text) == 0.0, text[:40]
        assert tasks.check_expression(text) == (by_hand.evaluate(text) is not None), text[:40]
        if isinstance(task, tasks.RunningSum):
            assert task.verify_steps(prompt, text) == 0.0


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=40), st.sampled_from(range(3)))
def test_any_unicode_text(text, which):
    task = FLAGSHIPS[which]
    prompt = ("437+285=", "3141592=", "07,03,12:43=")[which]
    assert task.verify(prompt, text) == by_hand.right(task, prompt, text)
