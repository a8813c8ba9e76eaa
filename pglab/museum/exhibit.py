"""What an exhibit is, and what can be done with one: judge a reader's oracle test, open the case."""

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pglab import _checks

KINDS = ("loss", "sequence loss", "parts", "weights", "returns", "tokens", "kl", "measures")
TOLERANCE = 1e-6  # relative to numbers of size 1: a fault of the museum is larger by far


@dataclass(frozen=True)
class Exhibit:
    """One published mistake: a function that is wrong, one that is right, and a number that tells them apart.

    Args:
      name: a word to ask for it by.
      title: what was found, as the report's reader would say it; names no cause.
      kind: one of ``KINDS``, what the function computes.
      contract: what the function takes and returns, and what it promises.
      broken: the function that is wrong.
      fixed: one that keeps the promise, by a room of ``pglab``.
      probe: function of the function -> a few numbers, from a small input: the oracle test's inside.
      right: these numbers, exact.
      wrong: what the broken function gives there.
      hint: where a test has to look.
      fix: what has to change, in a sentence.
      symptom: what one would see of it in training.
      threads: addresses of the public reports; () for a mistake that has none of its own.
      also: other numbers that the same mistake gives in another shape.
    """

    name: str
    title: str
    kind: str
    contract: str
    broken: Callable
    fixed: Callable
    probe: Callable
    right: tuple
    wrong: tuple
    hint: str
    fix: str
    symptom: str
    threads: tuple = ()
    also: tuple = ()

    def __post_init__(self):
        _checks.one_of("kind", self.kind, KINDS)

    def gives(self, function):
        """What a function gives on the small input of this exhibit.

        Args:
          function: one that takes what the contract says.

        Returns:
          (n,) float64, as ``right`` and ``wrong``.

        Raises:
          ValueError: another number of results than the contract promises; and whatever it raises itself.
        """
        found = np.array(_flat(self.probe(function)))
        if found.shape != np.shape(self.right):
            raise ValueError(f"the function gives {found.size} numbers; it must give {len(self.right)}.")
        return found

    def passes(self, function):
        """The oracle test: whether a function gives the right numbers."""
        return self.compare(self.gives(function)) == "ok"

    def falls(self, function):
        """Whether a function makes this very mistake: it gives the wrong numbers, digit for digit."""
        return self.compare(self.gives(function)) == "falls"

    def compare(self, gives):
        """What these numbers are: "ok", "falls" (this very mistake, in one of its shapes), or "differs"."""
        if close(gives, self.right):
            return "ok"
        return "falls" if any(close(gives, wrong) for wrong in (self.wrong, *self.also)) else "differs"

    def judge(self, test, label=None):
        """Tries a reader's oracle test on the right function and on the broken one; prints one line.

        Args:
          test: function of a function -> True where that keeps the promise of the contract. It may use
            ``assert`` as well.
          label: what the line calls the case; None takes the name, which gives something away.

        Returns:
          nothing: a wrong or broken test raises nothing either.
        """
        print(f"Case {label or self.name}: {verdict(self, test)}")

    def reveal(self):
        """Opens the case: prints what the broken function gives, its source, the test, the fix, the symptom."""
        print(self.words())

    def words(self):
        """What ``reveal`` prints: no line depends on the machine."""
        lines = [
            f"{self.name}: {self.title}",
            f"It gives {shown(self.gives(self.broken))}; right is {shown(self.right)}.",
            "",
            *source(self.broken).splitlines(),
            "",
            "The oracle test looks at this:",
            "",
            *source(self.probe).splitlines(),
            "",
            *_filled("The fix: ", self.fix),
            *_filled("The symptom: ", self.symptom),
            *(f"The report: {thread}" for thread in self.threads),
        ]
        return "\n".join(lines)


def _flat(value):
    """A list of floats from numbers, arrays, tensors of any precision, and lists of these."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, (list, tuple)):
        return [number for each in value for number in _flat(each)]
    return [float(value)]


def close(found, wanted):
    """Equal to the tolerance, number by number; NaN equals NaN."""
    return bool(np.allclose(found, wanted, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True))


def verdict(exhibit, test):
    """What ``judge`` prints behind the name."""
    if test is None or test is Ellipsis:
        return "not done yet. Write a function of the suspect that returns True if it is right."
    if not callable(test):
        return f"not right yet. A function is asked for, and this is of type {type(test).__name__}."
    on_right, why = _tried(test, exhibit.fixed)
    if on_right is None:
        return f"not done yet. Your test returned nothing for a right function{why}: return True or False."
    if not on_right and why:
        return f"not right yet. Your test raises on a function that is right{why}. Does the input fit the contract?"
    if not on_right:
        return "not right yet. Your test fails on a function that is right. Which number did you expect?"
    on_broken, why = _tried(test, exhibit.broken)
    if why:
        return (
            f"not right yet. On the suspect your test raises{why}: a crash is no proof. Take an input that both "
            "can read, and compare what comes out."
        )
    if on_broken is None:
        return "not right yet. Your test returns nothing for the suspect: return True or False."
    if on_broken:
        return f"not right yet. Your test passes on the suspect too. {exhibit.hint}"
    return "caught. Your test passes on a right function and fails on the suspect: open the case."


def _tried(test, function):
    """True, False or None, and what was raised. A test that raises on a function has failed it."""
    try:
        result = test(function)
        return (None if result is None or result is Ellipsis else bool(np.all(_flat(result)))), ""
    except (Exception, SystemExit) as error:  # a reader's mistake is answered, never raised
        return False, "" if isinstance(error, AssertionError) else f" ({raised(error)})"


def raised(error):
    """Kind and message of an error, in one line of at most 200 characters, without a full stop."""
    words = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".:")
    return words if len(words) <= 200 else words[:197] + "..."


def source(function):
    """The source of a function of the museum, without its docstring's indentation troubles."""
    return textwrap.dedent(inspect.getsource(function)).rstrip()


def _filled(head, text):
    return textwrap.wrap(head + text, 96, subsequent_indent="  ")


def shown(numbers):
    """Numbers with six significant digits, no negative zero."""
    texts = [f"{x + 0.0:.6g}" for x in np.round(np.array(numbers, dtype=float), 12)]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
