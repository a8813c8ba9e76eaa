"""Countdown: reach a target with all of the given numbers."""

import functools
import itertools
from dataclasses import dataclass
from fractions import Fraction

from pglab import _checks
from pglab.tasks.expressions import APPLY, check_expression
from pglab.tasks.task import Task, settle

LEVELS = {"+": 1, "-": 1, "*": 2, "/": 2}
NUMBER = 3  # a number holds together more strongly than any operator


@dataclass(frozen=True)
class Countdown(Task):
    """An expression that uses each number exactly once and has the target as its value.

        "07,03,12:43="  ->  "7+3*12",     also "3*12+7", "7+(12*3)"; ``check_expression`` has the grammar

    Numbers have two digits in the prompt and no leading zeros in the completion. They are drawn from
    1 to ``largest``, each independently. The target is the value of one of their expressions, drawn
    uniformly from those with a whole value from 1 to 99; so every prompt has an answer, mostly many.
    ``answer`` gives one of the shortest.

    An expression of the corpus is a binary tree over the numbers in some order, written with the
    parentheses that its tree needs: 192 of them for three different numbers. The corpus is right
    (a uniform draw from the right expressions) with probability 1 - random_share, and otherwise a
    uniform draw from all expressions, which the target does not touch; few of these are right.

    Args:
      numbers: how many, 2 or 3; four numbers have 7,680 expressions, too many to list here.
      largest: of the numbers, from 1 to 99.
      random_share: probability of a random expression in the corpus, from 0 (a solver) to 1.

    Raises:
      ValueError: one of these outside its range.

    Source: Gandhi et al. 2024 (Stream of Search, arXiv:2404.03683); as a task for RL, Pan et al. 2025
    (TinyZero, examples/data_preprocess/countdown.py). The random expressions are this course's own.
    """

    numbers: int = 3
    largest: int = 12
    random_share: float = 0.65

    characters = "0123456789,:=+-*/()"

    def __post_init__(self):
        settle(
            self,
            numbers=_checks.one_of("numbers", _checks.whole("numbers", self.numbers), (2, 3)),
            largest=_checks.whole("largest", self.largest, low=1),
            random_share=_checks.number("random_share", self.random_share, low=0, high=1),
        )
        if self.largest > 99:
            raise ValueError(f"largest is {self.largest}; it must be a whole number from 1 to 99.")

    @property
    def prompt_length(self):
        """Two digits and a sign for each number and for the target."""
        return 3 * self.numbers + 3

    @property
    def answer_length(self):
        """The numbers, the operators between them, and one pair of parentheses if there are three."""
        return self.numbers * len(str(self.largest)) + (self.numbers - 1) + 2 * (self.numbers - 2)

    def describe(self):
        """What is asked and what the corpus gets wrong, in one line."""
        corpus = (
            f"{self.random_share:.0%} random expressions, the rest right" if self.random_share else "right"
        )
        return (
            f"Reach a target with {self.numbers} numbers from 1 to {self.largest}, each used once. "
            f"The corpus: {corpus}."
        )

    @property
    def _form(self):
        return ",".join(["([0-9]{2})"] * self.numbers) + ":([0-9]{2})="

    @property
    def _example(self):
        return {2: "07,03:21=", 3: "07,03,12:43="}[self.numbers]

    def _prompts(self, n, rng):
        return [prompt for prompt, _, _ in self._draw(n, rng)]

    def _corpus(self, n, rng, stage):
        drawn = self._draw(n, rng)
        random, which = (rng.random(n) < self.random_share).tolist(), rng.random(n).tolist()
        return [
            (prompt, _pick(_hand(numbers)[0], u)[0] if r else right)
            for (prompt, numbers, right), r, u in zip(drawn, random, which, strict=True)
        ]

    def _draw(self, n, rng):
        """n times a prompt, its numbers sorted, and the expression that made the target."""
        drawn = rng.integers(1, self.largest + 1, size=(n, self.numbers)).tolist()
        result = []
        for numbers, u in zip(drawn, rng.random(n).tolist(), strict=True):
            hand = tuple(sorted(numbers))
            text, target = _pick(_hand(hand)[1], u)
            asked = ",".join([f"{number:02d}" for number in numbers])
            result.append((f"{asked}:{int(target):02d}=", hand, text))
        return result

    def _answer(self, *asked):
        *numbers, target = map(int, asked)
        right = [text for text, value in _hand(tuple(sorted(numbers)))[0] if value == target]
        if not right:
            raise ValueError(f"prompt asks for {target} from {numbers}; it must be one that has an answer.")
        return min(right, key=len)

    def _right(self, completion, *asked):
        *numbers, target = map(int, asked)
        return check_expression(completion, numbers, target)


def _pick(options, u):
    """The option that a uniform number from [0, 1) falls on."""
    return options[int(u * len(options))]


@functools.lru_cache(maxsize=1024)  # three numbers up to 12 make 364 sets
def _hand(numbers):
    """All expressions of these sorted numbers with their values, and those of them that make a target."""
    # Equal numbers list every text twice, or six times: a uniform draw stays uniform.
    orders = itertools.permutations(numbers)
    all_of_them = tuple((text, value) for order in orders for text, value, _ in _trees(order))
    # c - (b - a), for a <= b <= c, lies from a to c: no numbers are without a target.
    targets = tuple(
        (text, value)
        for text, value in all_of_them
        if value is not None and value.denominator == 1 and 1 <= value <= 99
    )
    return all_of_them, targets


def _trees(numbers):
    """Every tree over numbers in this order: its text, its value (None: divides by zero), its level."""
    if len(numbers) == 1:
        yield str(numbers[0]), Fraction(numbers[0]), NUMBER
    for split in range(1, len(numbers)):
        pairs = itertools.product(list(_trees(numbers[:split])), list(_trees(numbers[split:])))
        for (left, a, left_level), (right, b, right_level) in pairs:
            for sign, level in LEVELS.items():
                # On the right also around its own level: 5-(3-1), and 5+(3+1) keeps its tree too.
                first = left if left_level >= level else f"({left})"
                second = right if right_level > level else f"({right})"
                yield first + sign + second, _apply(sign, a, b), level


def _apply(sign, a, b):
    if a is None or b is None or (sign == "/" and b == 0):
        return None
    return APPLY[sign](a, b)
