"""Predictions: the reader commits to a guess, then sees the answer beside it.

    from pglab.predictions import predict
    predict("1.3")

as the first line of the cell that computes the answer covers what the cell shows until a guess is
made. Without a running kernel nothing is covered.
"""

from pglab.predictions import nb00, nb01, nb02, nb03, nb04, nb05, nb06, nb07, nb08, nb09, nb10, nb11
from pglab.predictions.box import predict
from pglab.predictions.register import all_predictions, find

__all__ = [
    "all_predictions",
    "find",
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
    "nb10",
    "nb11",
    "predict",
]
