"""Usual wrong answers to every exercise: (exercise, answer, words that its hint must hold)."""

from mistakes import nb00, nb01, nb02, nb03, nb04, nb05, nb06, nb07, nb08, nb09, nb10, nb11

MISTAKES = [
    *nb00.MISTAKES,
    *nb01.MISTAKES,
    *nb02.MISTAKES,
    *nb03.MISTAKES,
    *nb04.MISTAKES,
    *nb05.MISTAKES,
    *nb06.MISTAKES,
    *nb07.MISTAKES,
    *nb08.MISTAKES,
    *nb09.MISTAKES,
    *nb10.MISTAKES,
    *nb11.MISTAKES,
]
