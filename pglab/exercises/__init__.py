"""Checks that recognise the usual mistakes and answer with the thought that leads out of them.

    from pglab.exercises import check
    check("1a", my_function)

prints one line, the same on every machine, and never raises.
"""

from pglab.exercises import (
    nb00,
    nb01,
    nb02,
    nb03,
    nb04,
    nb05,
    nb06,
    nb07,
    nb08,
    nb09,
    nb09_tokens,
    nb10,
    nb11,
)
from pglab.exercises.checking import all_exercises, check
from pglab.exercises.report import show_progress as progress

__all__ = [
    "all_exercises",
    "check",
    "nb00",
    "nb01",
    "nb02",
    "nb03",
    "nb04",
    "nb05",
    "nb06",
    "nb07",
    "nb08",
    "nb09",
    "nb09_tokens",
    "nb10",
    "nb11",
    "progress",
]
