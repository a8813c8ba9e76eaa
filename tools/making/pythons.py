"""Is this Python good enough?"""

import shutil
import sys

OLDEST, NEWEST = (3, 11), (3, 14)  # requires-python says the same; a test holds them together


def refusal(version, word="lab"):
    """Why this version of Python will not do, and what will; None if it will."""
    if OLDEST <= tuple(version[:2]) <= NEWEST:
        return None
    found = [minor for minor in range(NEWEST[1], OLDEST[1] - 1, -1) if shutil.which(f"python3.{minor}")]
    minor, this = (found or [12])[0], ".".join(map(str, version[:3]))
    source = f"You have python3.{minor}" if found else "Get one from https://www.python.org/downloads/"
    return (
        f"This project needs Python 3.{OLDEST[1]} to 3.{NEWEST[1]}; this is Python {this} ({sys.executable}).\n"
        f"{source}; say\n"
        f"    make {word} PYTHON=python3.{minor}\nor, on Windows,\n    py -3.{minor} make.py {word}"
    )
