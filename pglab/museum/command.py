"""The command line:  python -m pglab.museum my_module:my_loss."""

import contextlib
import importlib.util
import io
import sys
from pathlib import Path

from pglab import _checks
from pglab._commands import Parser
from pglab.museum import EXHIBITS, TOUR, case
from pglab.museum.examination import examine, report
from pglab.museum.exhibit import raised, shown

PROG = "python -m pglab.museum"


def main(arguments=None):
    """Runs the oracle tests on a reader's function, or shows the exhibits.

    Args:
      arguments: a list of words; None takes those of the command line.

    Returns:
      The exit code: 0 if nothing was found; 1 if a test failed, or the loss is none that is known; 2 for a bad choice; 130 after Ctrl-C.
    """
    options = parser().parse_args(arguments)
    try:
        if options.list:
            return listed()
        if options.show:
            print(asked(options.show).words())
            return 0
        if options.function is None:
            raise ValueError(f"which function? Such as {PROG} my_module:my_loss, or --list for the exhibits.")
        function = found(options.function)
        if options.exhibit:
            return one(asked(options.exhibit), function, options.function)
        with quietly():
            examination = examine(function)
        print(report(examination, options.function))
        return 0 if examination.fine else 1
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        return 130


def quietly():
    """What the reader's function prints is not shown: it is called some hundred times."""
    return contextlib.redirect_stdout(io.StringIO())


def parser():
    """What the command line understands."""
    top = Parser(
        prog=PROG,
        description="Run the museum's oracle tests on your own loss, and see which exhibits it falls for.",
        epilog="Exit code 0: all oracle tests pass (or fail by a choice that can be meant). 1: a mistake. 2: a bad choice.",
    )
    top.add_argument(
        "function",
        nargs="?",
        metavar="MODULE:FUNCTION",
        help="such as my_module:my_loss or my_file.py:my_loss",
    )
    top.add_argument(
        "--exhibit",
        metavar="NAME",
        help="the oracle test of this exhibit alone, for functions that are no losses too",
    )
    top.add_argument(
        "--show", metavar="NAME", help="open the case of an exhibit: its code, the fix, the symptom"
    )
    top.add_argument("--list", action="store_true", help="all exhibits, with what their functions take")
    return top


def found(name):
    """The function that ``MODULE:FUNCTION`` names.

    Args:
      name: a module as it would be imported from the current folder, or a file, a colon, and a name in it.

    Returns:
      The function.

    Raises:
      ValueError: no colon, no such module or function, an error while the module is imported.
    """
    module, colon, attribute = name.rpartition(":")
    if not colon or not module or not attribute:
        raise ValueError(f"the function is {name!r}; it must be MODULE:FUNCTION, such as my_module:my_loss.")
    path = Path(module)
    if path.suffix == ".py":
        if not path.is_file():
            raise ValueError(f"there is no file {module}.")
        sys.path.insert(0, str(path.resolve().parent))
    else:
        sys.path.insert(0, str(Path.cwd()))
    try:
        value = executed(path) if path.suffix == ".py" else importlib.import_module(module)
    except (Exception, SystemExit) as error:  # the reader's module may raise anything
        raise ValueError(f"{module} could not be imported ({raised(error)}).") from error
    for part in attribute.split("."):
        if not hasattr(value, part):
            raise ValueError(f"{module} has no {attribute}.")
        value = getattr(value, part)
    if not callable(value):
        raise ValueError(f"{name} is of type {type(value).__name__}; it must be a function.")
    return value


def executed(path):
    """The module of a file, whatever it is called: random.py is the reader's, not Python's."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)  # dataclasses look there
    spec.loader.exec_module(module)
    return module


def asked(name):
    """The exhibit of a name, or of a case's number.

    Raises:
      ValueError: no such exhibit; it says which has a name like that.
    """
    if name.isdecimal():
        return case(int(name))
    if name in EXHIBITS:
        return case(name)
    near = _checks.nearest(name, EXHIBITS)
    guess = f" Did you mean {near}?" if near else ""
    raise ValueError(f"there is no exhibit {name!r}.{guess} {PROG} --list shows all.")


def one(exhibit, function, name):
    """The oracle test of one exhibit; returns the exit code."""
    try:
        with quietly():
            gives = exhibit.gives(function)
    except (Exception, SystemExit) as error:
        print(f"{name} raised {raised(error)}.\nIts contract: {exhibit.contract}")
        return 1
    verdict = exhibit.compare(gives)
    if verdict == "ok":
        print(f"{name} passes the oracle test of {exhibit.name}: {shown(gives)}.")
        return 0
    mistake = "the very mistake of this exhibit" if verdict == "falls" else "not right, by another mistake"
    print(
        f"{name} gives {shown(gives)}; right is {shown(exhibit.right)}: {mistake}.\nIts contract: {exhibit.contract}"
    )
    return 1


def listed():
    """Prints all exhibits, by what their functions compute."""
    kind = None
    for exhibit in EXHIBITS.values():
        if exhibit.kind != kind:
            kind = exhibit.kind
            print(f"\n{kind}" if kind else "")
        number = f" ({TOUR.index(exhibit.name) + 1})" if exhibit.name in TOUR else ""
        print(f"  {exhibit.name:20} {exhibit.title}{number}")
    print(f"\nIn brackets: the number of the case in notebook 10.\n{PROG} --show NAME opens a case.")
    return 0
