"""Addition, learned from someone who forgets carries."""

from dataclasses import dataclass

import numpy as np

from pglab import _checks
from pglab.tasks.task import Task, as_text, settle, strings


@dataclass(frozen=True)
class Addition(Task):
    """Two numbers are added; the sum is written with its least significant digit first.

        "437+285="  ->  "2270",     since 437 + 285 = 722, reversed and filled with zeros

    The order of the digits is the order of the work: column t needs nothing but the digits a_t and
    b_t and the carry c_t that column t - 1 left.

        written_t = (a_t + b_t + c_t) mod 10
        c_{t+1} = 1 if a_t + b_t + c_t >= 10, else 0;       in the corpus kept only with
                                                            probability 1 - carry_dropped

    The last carry is a digit of its own, so the answer has one digit more than the numbers. A
    dropped carry is gone: later columns are added up from what is left. A model that learns this
    corpus knows addition, and has the habit of forgetting. That is what rewards can mend.

    Args:
      digits: of each number, at least 1; smaller numbers are filled with zeros from the left.
      carry_dropped: probability that the corpus drops a carry, from 0 to 1.

    Raises:
      ValueError: digits below 1, or a probability outside [0, 1].

    Source: written for this course; one rule explains every mistake of the corpus.
    """

    digits: int = 3
    carry_dropped: float = 0.7

    characters = "0123456789+="

    def __post_init__(self):
        settle(
            self,
            digits=_checks.whole("digits", self.digits, low=1),
            carry_dropped=_checks.number("carry_dropped", self.carry_dropped, low=0, high=1),
        )

    @property
    def prompt_length(self):
        """Both numbers, the plus and the equals sign."""
        return 2 * self.digits + 2

    @property
    def answer_length(self):
        """One digit more than each number."""
        return self.digits + 1

    def describe(self):
        """What is asked and what the corpus gets wrong, in one line."""
        return (
            f"Add two numbers of up to {self.digits} digits, least significant digit first. "
            f"The corpus drops each carry with probability {self.carry_dropped:g}."
        )

    def step_rewards(self, prompt, completion):
        """What each token of an answer earns, if every right digit is paid for: a reward for the process.

            r_t = [y_t is the digit of the sum] / L,     L = digits + 1

        Args:
          prompt: str.
          completion: str, the text before the end token.

        Returns:
          A list of L numbers that sum to 1 for a right answer; L zeros for anything but L digits.

        Raises:
          ValueError: as ``verify``.
        """
        written, true = as_text(completion), self._answer(*self._read(prompt))
        whole = len(written) == len(true) and set(written) <= set("0123456789")
        return (
            [(w == t) / len(true) for w, t in zip(written, true, strict=True)] if whole else [0.0] * len(true)
        )

    @property
    def _form(self):
        return f"([0-9]{{{self.digits}}})[+]([0-9]{{{self.digits}}})="

    @property
    def _example(self):
        return "4" * self.digits + "+" + "2" * self.digits + "="

    def _prompts(self, n, rng):
        return self._ask(self._numbers(n, rng))

    def _corpus(self, n, rng, stage):
        numbers = self._numbers(n, rng)
        kept = rng.random((n, self.digits)) >= self.carry_dropped
        written, carry = [], np.zeros(n, dtype=np.int64)
        for t in range(self.digits):
            column = numbers[:, 0, -1 - t] + numbers[:, 1, -1 - t] + carry
            written.append(column % 10)
            carry = (column // 10) * kept[:, t]
        completions = strings(np.stack([*written, carry], axis=1))
        return list(zip(self._ask(numbers), completions, strict=True))

    def _numbers(self, n, rng):
        """(n, 2, digits): the digits of both numbers as they are read, the most significant first."""
        return rng.integers(10, size=(n, 2, self.digits))

    def _ask(self, numbers):
        first, second = strings(numbers[:, 0]), strings(numbers[:, 1])
        return [f"{a}+{b}=" for a, b in zip(first, second, strict=True)]

    def _answer(self, first, second):
        return f"{int(first) + int(second):0{self.answer_length}d}"[::-1]

    def _right(self, completion, first, second):
        return completion == self._answer(first, second)
