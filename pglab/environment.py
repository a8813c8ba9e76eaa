"""What notebook 00 says about your set-up: is everything there?"""

import importlib
import sys
from importlib import metadata

from pglab import _packages

PYTHON = (3, 11), (3, 15)  # from the first up to, not including, the second; pyproject.toml says the same


def problems():
    """What is missing, too old or half installed, a sentence each; an empty list if nothing is."""
    found = []
    if not PYTHON[0] <= sys.version_info[:2] < PYTHON[1]:
        version = ".".join(map(str, sys.version_info[:2]))
        found.append(f"Python {version} runs this notebook; it needs 3.11 to 3.14.")
    try:
        needs = metadata.requires("pglab")
    except metadata.PackageNotFoundError:
        return found + ["pglab is not installed in this kernel."]
    if not needs:
        return found + ["pglab is half installed in this kernel."]
    return found + [sentence for need in needs if (sentence := _problem(need))]


def _problem(need):
    try:
        (Requirement,) = _packages.bring("packaging.requirements", "Requirement")
    except ImportError as error:
        return str(error)
    need = Requirement(need)
    if need.marker and not need.marker.evaluate({"extra": ""}):
        return ""  # only the tests need it
    try:
        version = metadata.version(need.name)
    except metadata.PackageNotFoundError:
        return f"{need.name} is missing."
    if not version:  # pip was stopped in the middle
        return f"{need.name} is half installed."
    if not need.specifier.contains(version.partition("+")[0], prereleases=True):
        return f"{need.name} {version} is here; this course needs {need.name}{need.specifier}."
    return _trouble(need.name)


def _trouble(name):
    """What is wrong with a package of the right version, a sentence; "" if it can be loaded."""
    if name == "jupyterlab":  # it runs beside this kernel, not in it
        return ""
    try:
        importlib.import_module(name)
    except Exception as error:  # half installed, a package may raise anything
        return _packages.trouble(name, error)
    return ""


def check():
    """Print what was found, what is missing, and how to mend it."""
    found = problems()
    if not found:
        print("Python: found.\nEvery package of the course: found.\nYou are ready to go.")
        return
    print("\n".join(found))
    print(
        "To mend it: open a terminal in the project's folder and run `make lab`\n"
        "(on Windows: `py make.py lab`), then open this notebook in the JupyterLab that starts.\n"
        "If that finds nothing to do, run `make clean` before it: it removes the packages, nothing of yours."
    )
