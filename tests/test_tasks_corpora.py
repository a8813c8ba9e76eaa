"""What the corpora get wrong, counted from the texts alone, and how often."""

import itertools
from collections import Counter
from functools import cache

import numpy as np
import pytest
import refusals
import tasks_by_hand as by_hand

from pglab import tasks

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def near(count, n, probability):
    """Whether a count of n independent events lies within four standard errors."""
    return abs(count - n * probability) <= 4 * np.sqrt(n * probability * (1 - probability))


def uniform(counts, kinds):
    """Whether each of the kinds came about equally often (five standard errors, for many kinds)."""
    n = sum(counts.values())
    worst = max(abs(counts[kind] - n / len(kinds)) for kind in kinds)
    return set(counts) <= set(kinds) and worst <= 5 * np.sqrt(n / len(kinds))


# ---- Addition


def carries(prompt, completion):
    """For each column: was a carry due from it, and was it added in the next one?"""
    first, second = prompt[:-1].split("+")
    written, came, history = list(map(int, completion)), 0, []
    for t in range(len(first)):
        a, b = int(first[-1 - t]), int(second[-1 - t])
        assert written[t] == (a + b + came) % 10
        due = a + b + came >= 10
        below = int(first[-2 - t]) + int(second[-2 - t]) if t + 1 < len(first) else 0
        came = (written[t + 1] - below) % 10
        history.append((due, came))
    return history


@pytest.mark.parametrize("digits, dropped", [(3, 0.7), (1, 0.2), (20, 0.5)])
def test_addition_drops_that_share_of_the_carries(rng, digits, dropped):
    task = tasks.Addition(digits, dropped)
    pairs = task.corpus(20_000 // digits, rng)
    steps = [carries(*pair) for pair in pairs]
    assert all(came in (0, 1) and came <= due for step in steps for due, came in step)
    for t in {0, digits // 2, digits - 1}:  # the last carry too
        due = sum(step[t][0] for step in steps)
        assert near(due - sum(step[t][1] for step in steps), due, dropped)
    if digits > 1:  # and each is dropped independently of the one before
        pairs_due = [step[:2] for step in steps if step[0][0] and step[1][0]]
        both = sum(not came and not then for (_, came), (_, then) in pairs_due)
        assert near(both, len(pairs_due), dropped**2)
    right = [all(due == came for due, came in step) for step in steps]
    assert [by_hand.right(task, *pair) for pair in pairs] == right


def test_addition_without_and_with_every_slip(rng):
    assert all(by_hand.right(tasks.Addition(3, 0), *pair) for pair in tasks.Addition(3, 0).corpus(3000, rng))
    for prompt, completion in tasks.Addition(3, 1).corpus(3000, rng):
        first, second = prompt[:-1].split("+")
        columns = zip(first[::-1], second[::-1], strict=True)
        assert completion == "".join(str((int(a) + int(b)) % 10) for a, b in columns) + "0"


def test_the_digits_of_addition_are_uniform(rng):
    prompts = tasks.Addition().prompts(20_000, rng)
    for place in (0, 2, 4, 6):
        assert uniform(Counter(prompt[place] for prompt in prompts), "0123456789")
    assert tasks.Addition().answer("437+285=") == "2270" and tasks.Addition().answer("999+999=") == "8991"
    assert tasks.Addition().answer("000+000=") == "0000" and tasks.Addition(1).answer("9+9=") == "81"


# ---- Running sums


def test_the_first_stage_of_running_sums_is_worked_and_right(rng):
    for prompt, completion in tasks.RunningSum().corpus(3000, rng, stage=0):
        digits = list(map(int, prompt[:-1]))
        sums = [total % 10 for total in itertools.accumulate(digits)]
        assert completion == ">" + "".join(map(str, sums)) == tasks.RunningSum().answer(prompt)


@pytest.mark.parametrize("terms, worked, slip", [(7, 0.3, 0.1), (2, 0.8, 0.5), (4, 1, 1), (4, 0, 1)])
def test_the_second_stage_of_running_sums(rng, terms, worked, slip):
    pairs = tasks.RunningSum(terms, worked, slip).corpus(20_000, rng)
    errors = []
    for prompt, completion in pairs:
        digits = list(map(int, prompt[:-1]))
        if completion[0] == ">":
            sums = list(map(int, completion[1:]))
            before = [0, *sums]
            errors.append([(s - b - d) % 10 for s, b, d in zip(sums, before, digits, strict=False)])
            assert len(sums) == terms
        else:
            assert completion == str(sum(digits) % 10)
    assert near(len(errors), len(pairs), worked)
    for t in range(terms if errors else 0):
        slips = Counter(row[t] for row in errors)
        assert near(len(errors) - slips.pop(0, 0), len(errors), slip)
        assert uniform(slips, range(1, 10))
    if slip < 1 and worked:  # the steps slip independently
        both = sum(bool(row[0] and row[1]) for row in errors)
        assert near(both, len(errors), slip**2)


def test_rewards_for_running_sums():
    task = tasks.RunningSum()
    assert task.answer("3141592=") == ">3489435"
    for completion, outcome, process in [
        (">3489435", 1, 1),
        ("5", 1, 0),
        (">0000005", 1, 1 / 7),  # only the last counts for the outcome
        (">3489434", 0, 6 / 7),
        (">3480545", 1, 4 / 7),
        (">348943", 0, 0),  # not whole
        (">34894355", 0, 0),
        (">5", 0, 0),
        ("3489435", 0, 0),
        ("4", 0, 0),
        ("55", 0, 0),
        ("05", 0, 0),
    ]:
        assert task.verify("3141592=", completion) == outcome, completion
        found = task.verify_steps("3141592=", completion)
        assert type(found) is float and found == pytest.approx(process), completion


def test_running_sums_of_one_digit():
    task = tasks.RunningSum(1)
    rewards = [task.verify("8=", completion) for completion in ("8", ">8", ">", "", ">88", "88")]
    assert rewards == [1, 1, 0, 0, 0, 0]


# ---- Countdown


@cache
def expressions(numbers):
    """Every text of the corpus over these numbers, from templates, with its value by Python's parser."""
    texts = set()
    for order in itertools.permutations(numbers):
        for one, two in itertools.product("+-*/", repeat=2):
            a, b, c = order
            texts.add(f"({a}{one}{b}){two}{c}")
            texts.add(f"{a}{one}({b}{two}{c})")
    return {text: by_hand.evaluate(text) for text in texts}


def tree(text):
    """The tree of an expression: two ways to write it differ only in parentheses that change nothing."""
    return by_hand.ast.dump(by_hand.ast.parse(text))


def asked(prompt):
    *numbers, target = map(int, prompt[:-1].replace(":", ",").split(","))
    return tuple(sorted(numbers)), target


def test_every_answer_of_the_solver_is_right(rng):
    task = tasks.named("countdown_solver")
    pairs = task.corpus(5000, rng)
    assert all(by_hand.right(task, *pair) and task.verify(*pair) == 1 for pair in pairs)
    for largest in (1, 99):
        odd = tasks.Countdown(3, largest, 0)
        assert all(by_hand.right(odd, *pair) for pair in odd.corpus(200, rng))


@pytest.mark.parametrize("share", [0.65, 1.0])
def test_the_share_of_random_expressions(rng, share):
    """Random ones are right only by chance; the chance is counted for each prompt."""
    task = tasks.Countdown(3, 6, share)
    pairs = task.corpus(20_000, rng)
    mean = variance = 0.0
    for prompt, _ in pairs:
        numbers, target = asked(prompt)
        found = [value is not None and value[0] == target for value in expressions(numbers).values()]
        chance = 1 - share + share * sum(found) / len(found)
        mean, variance = mean + chance, variance + chance * (1 - chance)
    right = sum(by_hand.right(task, *pair) for pair in pairs)
    assert abs(right - mean) <= 4 * np.sqrt(variance)
    for prompt, completion in pairs[:2000]:  # always the right numbers, each once
        value = by_hand.evaluate(completion)
        used = tuple(sorted(value[1].elements())) if value else tuple(sorted(by_hand.numerals(completion)))
        assert used == asked(prompt)[0]


def test_random_expressions_are_uniform_over_trees(rng):
    """All 192 for three different numbers, 96 if two are alike, written with no needless parentheses."""
    for numbers, size in (((2, 3, 5), 192), ((2, 2, 3), 96), ((4, 4, 4), 32)):
        assert len({tree(text) for text in expressions(numbers)}) == size
    counts = Counter()
    for prompt, completion in tasks.Countdown(3, 5, 1.0).corpus(60_000, rng):
        if asked(prompt)[0] == (2, 3, 5):
            counts[completion] += 1
            for i in (i for i, character in enumerate(completion) if character == "("):
                bare = completion[:i] + completion[i + 1 :].replace(")", "", 1)
                assert tree(bare) != tree(completion)
    trees = Counter()
    for text, count in counts.items():
        trees[tree(text)] += count
    assert len(counts) == len(trees) and uniform(trees, {tree(text) for text in expressions((2, 3, 5))})


def test_targets_come_from_a_uniform_draw(rng):
    prompts = tasks.Countdown(3, 3).prompts(50_000, rng)
    hands = Counter(asked(prompt)[0] for prompt in prompts)
    assert near(hands[1, 2, 3], len(prompts), 6 / 27) and near(hands[3, 3, 3], len(prompts), 1 / 27)
    targets = Counter(asked(prompt)[1] for prompt in prompts if asked(prompt)[0] == (1, 2, 3))
    values = [value[0] for value in expressions((1, 2, 3)).values() if value]
    ways = Counter(int(v) for v in values if v.denominator == 1 and 1 <= v <= 99)
    assert set(targets) == set(ways)
    for target, count in ways.items():
        assert near(targets[target], hands[1, 2, 3], count / ways.total())


def test_prompts_of_countdown_with_an_answer_or_none():
    task = tasks.Countdown()
    assert task.answer("12,12,12:02=") == "(12+12)/12"
    assert task.verify("12,12,12:02=", "12/12+12/12") == 0 and task.verify("12,12,12:02=", "(12+12)/12") == 1
    assert task.answer("11,07,08:26=") == "7+8+11"  # a shortest one
    assert task.verify("01,03,03:01=", "1/3*3") == 1 and task.verify("07,02,01:03=", "7/2*1") == 0
    for prompt in ("05,05,01:23=", "00,00,00:01="):
        refusals.check(lambda p=prompt: task.answer(p), "prompt asks for ")
        assert task.verify(prompt, "5*5-1") == 0
