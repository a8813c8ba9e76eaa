"""The machinery of the checks: a register, three possible answers, and comparing numbers."""

import re
from dataclasses import dataclass

import numpy as np

from pglab import _checks, progress

_REGISTER = {}


@dataclass(frozen=True)
class Exercise:
    """One exercise: its name ("1a"), what it asks, how hard, how long, and its check.

    ``judge(answer)`` returns None for a right answer, or the hint for a wrong one.
    """

    name: str
    title: str
    difficulty: str
    minutes: int
    judge: object


class NotDone(Exception):
    """The reader has not written anything yet; the message, if any, says where to write."""


class Misfit(Exception):
    """The answer is not of the kind that is asked for; the message says what would be."""


def hinted(answer, raised, word, hint):
    """The reader's function, with a hint where it raises an error of this kind that speaks of this word."""
    if not callable(answer):
        return answer

    def f(*arguments):
        try:
            return answer(*arguments)
        except raised as error:
            if word in str(error):
                raise Misfit(hint) from error
            raise

    return f


def exercise(name, title, difficulty, minutes):
    """Decorator that enters a check into the register.

    Raises:
      ValueError: a name that is taken, or not a number and a letter.
    """
    if not re.fullmatch(r"\d+[a-z]", name):
        raise ValueError(
            f"exercise {name!r} must be called by the notebook's number and a letter, such as '1a'."
        )

    def register(judge):
        if name in _REGISTER:
            raise ValueError(f"exercise {name!r} exists already; give this one another name.")
        _REGISTER[name] = Exercise(name, title, difficulty, minutes, judge)
        return judge

    return register


def all_exercises():
    """Every exercise, in the order of the notebooks."""
    return [_REGISTER[name] for name in sorted(_REGISTER, key=_place)]


def _place(name):
    """ "10b" comes after "9c": notebook number first, then the letter."""
    number, letter = re.fullmatch(r"(\d+)([a-z])", name).groups()
    return int(number), letter


def check(name, answer=None):
    """Judge an answer and print one line: right, not done yet, or a hint.

    Args:
      name: the exercise, such as "1a".
      answer: what the exercise asks for, a function or a value.

    Raises:
      ValueError: a name that no exercise has. A wrong or broken answer raises nothing.
    """
    if name not in _REGISTER:
        raise ValueError(
            f"no exercise is called {name!r}; the names are {', '.join(sorted(_REGISTER, key=_place))}."
        )
    verdict, done = _verdict(_REGISTER[name], answer)
    print(f"Exercise {name}: {verdict}")
    if done:
        progress.note_done(name)


def _verdict(exercise_, answer):
    try:
        with np.errstate(all="ignore"):
            if answer is None or answer is Ellipsis:
                raise NotDone
            hint = exercise_.judge(answer)
    except NotDone as empty:
        how = str(empty) or "Put your answer in place of the ... (a function needs a return)."
        return f"not done yet. {how}", False
    except Misfit as error:
        return f"not right yet. {error}", False
    except (Exception, SystemExit) as error:  # a reader's mistake is answered, never raised
        said = _checks.brief(str(error))  # another library's may fill a page
        return f"not right yet. Your code raised {type(error).__name__}{': ' if said else ''}{said}", False
    return ("right. Well done.", True) if hint is None else (f"not right yet. {hint}", False)


def called(function, *arguments):
    """What the reader's function returns, as float64; copies go in, so nothing of ours is changed."""
    if not callable(function):
        kind = type(function).__name__
        raise Misfit(
            f"A function is asked for, and this is of type {kind}. Give its name, without calling it."
        )
    value = function(*(np.array(argument, dtype=float) for argument in arguments))
    if value is None or value is Ellipsis:
        raise NotDone
    if np.iscomplexobj(value):
        raise Misfit("The result is made of complex numbers; real numbers are asked for.")
    return np.asarray(value, dtype=np.float64)


def same(value, wanted, tolerance=1e-6):
    """Equal in shape and to the tolerance."""
    wanted = np.asarray(wanted, dtype=np.float64)
    return value.shape == wanted.shape and bool(np.allclose(value, wanted, rtol=tolerance, atol=tolerance))


def judge_function(function, cases, right, mistakes):
    """Compare a reader's function with the right one, and if it differs find out how.

    Args:
      function: the reader's.
      cases: list of argument tuples.
      right: the right function.
      mistakes: list of (wrong function, hint). The first that explains every case gives the hint.

    Returns:
      None, or the hint.

    Raises:
      NotDone: the function returns nothing.
    """
    answers = [called(function, *case) for case in cases]
    if all(same(answer, right(*case)) for answer, case in zip(answers, cases, strict=True)):
        return None
    for wrong, hint in mistakes:
        if all(same(answer, wrong(*case)) for answer, case in zip(answers, cases, strict=True)):
            return hint
    return _first_difference(answers, cases, right)


def _first_difference(answers, cases, right):
    for answer, case in zip(answers, cases, strict=True):
        wanted = np.asarray(right(*case), dtype=np.float64)
        if answer.shape != wanted.shape:
            return f"The result has shape {answer.shape}; it should have shape {wanted.shape}."
        if not same(answer, wanted):
            given = ", ".join(_words(argument) for argument in case)
            digits = 4 if _words(answer) != _words(wanted) else 8  # nearly right: show where it differs
            return (
                f"For the input {given} it gives {_words(answer, digits)}; right is {_words(wanted, digits)}."
            )
    raise AssertionError("unreachable: some case differs")


def _words(values, digits=4):
    values = np.asarray(values, dtype=float)
    if values.ndim > 1:
        rows = [_words(row, digits) for row in values[:5]]
        more = [f"... {len(values)} rows"] if len(values) > 5 else []
        return "[" + ", ".join(rows + more) + "]"
    # Rounding to nine decimals first hides what is noise: it would differ between machines.
    row = [f"{value:z.{digits}g}" for value in np.round(values, 9).ravel()]
    if len(row) > 6:
        row = [*row[:5], f"... {len(row)} numbers"]
    return row[0] if values.ndim == 0 else "[" + ", ".join(row) + "]"
