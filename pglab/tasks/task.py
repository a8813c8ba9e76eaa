"""What every task has: prompts, a corpus, an answer and a verifier."""

import re

import numpy as np

from pglab import _checks


class Task:
    """A prompt asks, a completion answers, a verifier gives the reward: 1 or 0.

    All prompts of a task have one length, so that a batch of them needs no padding.

    Attributes:
      characters: str, every character that its prompts and completions can hold.
      prompt_length: characters of a prompt.
      answer_length: characters of the longest completion of the corpus, without the end token.
      stages: how many corpora there are to learn from, one after the other.
    """

    stages = 1

    def prompts(self, n, rng):
        """Draws prompts, each independent of the others.

        Args:
          n: how many, 0 or more.
          rng: a ``numpy.random.Generator``.

        Returns:
          A list of n strings of ``prompt_length`` characters.

        Raises:
          ValueError: n that is no whole number of at least 0; rng that is no Generator.
        """
        return self._prompts(*_draws(n, rng))

    def corpus(self, n, rng, stage=None):
        """Draws pairs to learn from before any reward is seen. Some completions are wrong on purpose.

        Args:
          n: how many pairs, 0 or more.
          rng: a ``numpy.random.Generator``.
          stage: which corpus, from 0 to ``stages`` - 1; None for the last.

        Returns:
          A list of n pairs (prompt, completion) of strings.

        Raises:
          ValueError: as ``prompts``; a stage that does not exist.
        """
        n, rng = _draws(n, rng)
        last = self.stages - 1
        stage = last if stage is None else _checks.whole("stage", stage, low=0)
        if stage > last:
            raise ValueError(f"stage is {stage}; it must be a whole number from 0 to {last}.")
        return self._corpus(n, rng, stage)

    def answer(self, prompt):
        """One right completion; always the same one.

        Args:
          prompt: str.

        Returns:
          A string that ``verify`` gives 1.

        Raises:
          ValueError: a prompt of another form, or one that has no answer.
        """
        return self._answer(*self._read(prompt))

    def verify(self, prompt, completion):
        """The reward of a completion: whether all of it, to the last character, is a right answer.

        Any string gets a verdict, however long or odd.

        Args:
          prompt: str.
          completion: str, the text before the end token.

        Returns:
          1.0 or 0.0.

        Raises:
          ValueError: a prompt of another form; a completion that is no string.
        """
        return float(self._right(as_text(completion), *self._read(prompt)))

    def describe(self):
        """What is asked and what the corpus gets wrong, in one line."""
        raise NotImplementedError

    def _read(self, prompt):
        """The groups of ``_form``, all digits, in a prompt that has this form from end to end."""
        # [0-9] and fullmatch: \d also takes the digits of other scripts, and $ a final newline.
        match = re.fullmatch(self._form, prompt) if isinstance(prompt, str) else None
        if match is None:
            raise ValueError(f"prompt is {_checks.shown(prompt)}; it must have the form {self._example!r}.")
        return match.groups()


def _draws(n, rng):
    n = _checks.whole("n", n, low=0)
    if not isinstance(rng, np.random.Generator):
        raise ValueError(f"rng is {_checks.shown(rng)}; it must be a numpy.random.Generator.")
    return n, rng


def as_text(completion):
    if not isinstance(completion, str):
        raise ValueError(f"completion is {_checks.shown(completion)}; it must be a string.")
    return completion


def settle(task, **checked):
    """Stores checked settings in a frozen dataclass, as plain numbers."""
    for name, value in checked.items():
        object.__setattr__(task, name, value)


def strings(digits):
    """(n, L) digits from 0 to 9 -> a list of n strings of L characters."""
    codes = np.ascontiguousarray(digits, dtype=np.uint32) + ord("0")
    return codes.view(f"U{codes.shape[1]}")[:, 0].tolist() if len(codes) else []
