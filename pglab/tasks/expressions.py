"""A verifier for arithmetic that reads the text by its grammar, and never runs it."""

import operator
import re
from fractions import Fraction
from numbers import Integral, Rational

import numpy as np

from pglab import _checks

LONGEST = 256  # characters of an expression; longer texts are wrong, so no text takes long

_TOKEN = re.compile("0|[1-9][0-9]*|[-+*/()]")
APPLY = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
LEVEL = {"(": 0, ")": 1, "+": 2, "-": 2, "*": 3, "/": 3}


def check_expression(text, numbers=None, target=None):
    """Whether a text is an expression that uses the given numbers and has the given value.

        expression = term, then any number of  ("+" | "-") term
        term       = factor, then any number of  ("*" | "/") factor
        factor     = number | "(" expression ")"
        number     = "0" | a digit from 1 to 9, then any digits from 0 to 9

    The whole text must be one expression. Operators of one level go from left to right. Values are
    exact fractions: 7/2 is not 3, and 1/3*3 is 1. Each of the ``numbers`` must stand in the text
    exactly as often as in the list. Conventions: no sign in front of a number, no leading zeros, no
    digits of other scripts. Parentheses that change nothing are fine, and so are spaces between two
    tokens ("4 * 6"); other white space is not, nor a space at either end.

    False, and soon, for every other text: one that divides by zero, and one of more than
    ``LONGEST`` = 256 characters, which bounds the digits of a number and the depth of parentheses.

    Args:
      text: str.
      numbers: a list, tuple or one-dimensional array of whole numbers; None: any numbers will do.
      target: a whole number or a ``Fraction``; None: any value will do.

    Returns:
      True or False.

    Raises:
      ValueError: a text that is no string; numbers or a target of another kind (True and 3.0 too).

    Source: the rules of Countdown as in Gandhi et al. 2024 (Stream of Search, arXiv:2404.03683) and
    Pan et al. 2025 (TinyZero). The two stacks are Dijkstra's (the shunting-yard algorithm, 1961).
    """
    if not isinstance(text, str):
        raise ValueError(f"text is {_checks.shown(text)}; it must be a string.")
    numbers = None if numbers is None else _whole_numbers(numbers)
    if target is not None and (isinstance(target, bool) or not isinstance(target, Rational)):
        raise ValueError(f"target is {_checks.shown(target)}; it must be a whole number or a Fraction.")
    tokens = _tokens(text)
    value = None if tokens is None else _value(tokens)
    if value is None:
        return False
    used = sorted(int(token) for token in tokens if token not in LEVEL)
    return (numbers is None or used == numbers) and (target is None or value == target)


def _whole_numbers(numbers):
    """The numbers, sorted, as Python's own."""
    wanted = "a list, tuple or one-dimensional array of whole numbers"
    right = isinstance(numbers, (list, tuple)) or (isinstance(numbers, np.ndarray) and numbers.ndim == 1)
    if not right or not all(isinstance(x, Integral) and not isinstance(x, bool) for x in numbers):
        raise ValueError(f"numbers is {_checks.shown(numbers)}; it must be {wanted}.")
    return sorted(int(x) for x in numbers)


def _tokens(text):
    """The text as numbers, operators and parentheses; None if anything else is in it."""
    if len(text) > LONGEST:
        return None
    tokens = _TOKEN.findall(text)
    complete = sum(map(len, tokens)) + text.count(" ") == len(text)
    return tokens if complete and text == text.strip(" ") else None


def _value(tokens):
    """The exact value; None if the tokens are no expression, or divide by zero."""
    values, waiting = [], ["("]  # as if parentheses stood around the whole
    wants_number = True
    for token in [*tokens, ")"]:
        starts = token == "(" or token not in LEVEL
        if not waiting or starts != wants_number:
            return None
        if token == "(":
            waiting.append(token)
        elif starts:
            values.append(Fraction(int(token)))
            wants_number = False
        else:
            while LEVEL[waiting[-1]] >= LEVEL[token]:
                right, left, sign = values.pop(), values.pop(), waiting.pop()
                if sign == "/" and right == 0:
                    return None
                values.append(APPLY[sign](left, right))
            if token == ")":
                waiting.pop()
            else:
                waiting.append(token)
                wants_number = True
    return None if waiting else values[0]
