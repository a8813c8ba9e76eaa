"""Packages of others that may be missing or half installed: one sentence in place of their traceback."""

import importlib

COURSE = "`make lab` installs the course's packages (on Windows: `py make.py lab`)"


def bring(name, *wanted, way_out=COURSE):
    """A module, or some things in it.

    Args:
      name: of the module.
      wanted: names in it.
      way_out: what installs it, as the beginning of a sentence.

    Returns:
      the module; a list of the things, if some are wanted.

    Raises:
      ImportError: it is missing, or raises whatever it does while it is imported; the message says what to do.
    """
    try:
        module = importlib.import_module(name)
        return [getattr(module, each) for each in wanted] if wanted else module
    except Exception as error:  # half installed, a package may raise anything
        raise ImportError(f"{trouble(name, error)} {way_out}{'' if gone(name, error) else AFRESH}.") from None


AFRESH = "; if it believes that all is there, `make clean` before it begins anew"


def gone(name, error):
    """Whether a package is missing as a whole."""
    return isinstance(error, ModuleNotFoundError) and error.name == name.partition(".")[0]


def trouble(name, error):
    """What is wrong with a package, a sentence."""
    if gone(name, error):
        return f"{error.name} is missing."
    said = str(error).strip().partition("\n")[0]
    return f"{name} is here and cannot be loaded ({type(error).__name__}{': ' if said else ''}{said})."
