"""The register of predictions: what is asked before an answer is computed, and what turned out."""

import re
from dataclasses import dataclass

_REGISTER = {}
LONGEST_QUESTION, MOST_CHOICES = 110, 6


@dataclass(frozen=True)
class Prediction:
    """One prediction: its name ("1.3": the third of notebook 01), its question, its answer.

    ``choices`` is empty where the reader writes freely; ``right`` is None then, and nobody judges.
    """

    name: str
    question: str
    choices: tuple
    right: str | None
    answer: str


def prediction(name, question, choices=(), right=None, *, answer):
    """Enter a prediction into the register.

    Args:
      name: the notebook's number, a dot, and a number: "1.3".
      question: what is asked, in at most 110 letters.
      choices: two to six short answers; none if the reader writes freely.
      right: the one of them that is true; None without choices.
      answer: what is shown beside the guess, in one or two sentences.

    Raises:
      ValueError: a name that is taken or of another form, a question that is too long or empty,
        one choice or more than six, two alike, a right answer that is no choice, no answer.
    """
    if not re.fullmatch(r"\d+\.\d+", name):
        raise ValueError(f"prediction {name!r} must be called by the notebook's number and its own: '1.3'.")
    if name in _REGISTER:
        raise ValueError(f"prediction {name!r} exists already; give this one another name.")
    if not question or len(question) > LONGEST_QUESTION:
        raise ValueError(f"prediction {name}: the question must have 1 to {LONGEST_QUESTION} letters.")
    choices = tuple(choices)
    if choices and not 2 <= len(set(choices)) == len(choices) <= MOST_CHOICES:
        raise ValueError(f"prediction {name}: choices must be two to {MOST_CHOICES} different answers.")
    if (right in choices) != bool(choices) or (right is not None and not choices):
        raise ValueError(f"prediction {name}: right is {right!r}; it must be one of {choices}, None if none.")
    if not answer:
        raise ValueError(f"prediction {name} has no answer; say in a sentence what turns out.")
    _REGISTER[name] = Prediction(name, question, choices, right, answer)


def all_predictions():
    """Every prediction, in the order of the notebooks."""
    return [_REGISTER[name] for name in sorted(_REGISTER, key=_place)]


def find(name):
    """The prediction of this name.

    Raises:
      ValueError: there is none.
    """
    if name not in _REGISTER:
        known = [p.name for p in all_predictions() if p.name.partition(".")[0] == str(name).partition(".")[0]]
        raise ValueError(f"no prediction is called {name!r}; those of its notebook are {', '.join(known)}.")
    return _REGISTER[name]


def _place(name):
    """ "10.2" comes after "9.11"."""
    return tuple(map(int, name.split(".")))
