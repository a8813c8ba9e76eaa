"""Checks of arguments, shared by every room: bad input ends here, in one clear sentence.

Each check returns the argument as float64, or raises a ``ValueError`` that names the argument,
says what came in, and says what would be right.
"""

import difflib
import reprlib

import numpy as np

_REPR = reprlib.Repr()  # of a long list only the first entries; strings whole, ``brief`` cuts them
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = 10_000


def shown(value, most=80):
    """A value as Python writes it, on one line and no longer than that; cut between words."""
    return brief(_REPR.repr(value), most)


def brief(text, most=200):
    """A text on one line of at most so many letters; cut between words where it has words."""
    text = " ".join(text.split())
    if len(text) <= most:
        return text
    head = text[: most - 3]
    return f"{head.rpartition(' ')[0] or head}..."


def real(name, value, wanted):
    """``value`` as a NumPy array of real numbers (or booleans), of whatever precision; else refused."""
    try:
        array = np.asarray(value)
    except ValueError as error:  # ragged nested lists
        raise ValueError(f"{name} is a ragged list; it must be {wanted}.") from error
    except (TypeError, RuntimeError) as error:  # a tensor on a GPU, or one that requires grad
        raise ValueError(f"{name} cannot be read by NumPy ({error}); it must be {wanted}.") from error
    if array.dtype.kind not in "buif":
        raise ValueError(f"{name} is {shown(value)}; it must be {wanted}.")
    return array


def floats(name, value, wanted):
    """``value`` as a new float64 array; integers and booleans are promoted, anything else is refused."""
    return real(name, value, wanted).astype(np.float64)


def vector(name, value, size=None, allow_minus_inf=False):
    """A one-dimensional, non-empty array of finite numbers (``-inf`` too, if allowed)."""
    length = "n" if size is None else size
    wanted = f"a vector of finite numbers, shape ({length},)"
    array = floats(name, value, wanted)
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}; it must be {wanted}.")
    if array.size == 0:
        raise ValueError(f"{name} is empty; it must be {wanted}, with at least one entry.")
    if size is not None and array.size != size:
        raise ValueError(f"{name} has {array.size} entries; it must have {size}, one for each action.")
    bad = ~np.isfinite(array)
    if allow_minus_inf:
        bad &= array != -np.inf
    if bad.any():
        first = int(np.argmax(bad))
        raise ValueError(f"{name}[{first}] is {array[first]}; it must be {wanted}.")
    return array


def _single(name, value, wanted):
    array = floats(name, value, wanted)
    if array.ndim != 0:
        raise ValueError(f"{name} has shape {array.shape}; it must be {wanted}.")
    return float(array)


def number(name, value, low=None, high=None):
    """One finite number, inside ``[low, high]`` where these are given."""
    wanted = "one finite number"
    if low is not None and high is not None:
        wanted += f" from {low} to {high}"
    elif low is not None:
        wanted += f", at least {low}"
    elif high is not None:
        wanted += f", at most {high}"
    result = _single(name, value, wanted)
    outside = (low is not None and result < low) or (high is not None and result > high)
    if not np.isfinite(result) or outside:
        raise ValueError(f"{name} is {result}; it must be {wanted}.")
    return result


def whole(name, value, low=None):
    """One whole number, at least ``low`` where that is given; 4.0 counts as 4."""
    wanted = "a whole number" + ("" if low is None else f", at least {low}")
    result = _single(name, value, wanted)
    if result % 1 != 0 or (low is not None and result < low):  # inf % 1 and nan % 1 are nan
        raise ValueError(f"{name} is {shown(value)}; it must be {wanted}.")
    return int(result)


def kind(name, value, kinds, wanted):
    """``value``, if it is of this type, or one of some types; else refused."""
    if not isinstance(value, kinds):
        raise ValueError(f"{name} is {shown(value)}; it must be {wanted}.")
    return value


def table_of(name, value, wanted):
    """``value``, if it is a dictionary; else refused."""
    return kind(name, value, dict, f"a dictionary, {wanted}")


def nearest(word, options):
    """The option that is spelled most like a word, to be asked back; None if none is like it."""
    return next(iter(difflib.get_close_matches(word, options, n=1)), None)


def one_of(name, value, options, show=str):
    """``value``, if it is one of the options; else refused. ``show`` turns an option into words."""
    if value not in options:
        raise ValueError(f"{name} is {value!r}; it must be one of {', '.join(map(show, options))}.")
    return value


def is_distribution(p):
    """Whether the numbers of an array are probabilities: none negative, with the sum 1."""
    return not (p < 0).any() and abs(p.sum() - 1) <= 1e-9
