"""Usual wrong answers to the exercises of notebook 00, each with a piece of the hint it must get."""

import numpy as np

MISTAKES = [
    ("0a", lambda p, r: np.mean(r), "plain mean"),
    ("0a", lambda p, r: np.sum(r), "adds the rewards up"),
    ("0a", lambda p, r: p * r, "one for each action"),
    ("0a", lambda p, r: (p * r).mean(), "does it twice"),
    ("0b", lambda p: np.log(p).mean(), "mean over tokens"),
    ("0b", lambda p: np.prod(p), "Take its logarithm"),
    ("0b", lambda p: np.log(p.sum()), "multiplied, not added"),
    ("0b", lambda p: np.log(np.prod(p)), "logarithms first"),
    ("0b", lambda p: np.log(p + 1e-8).sum(), "right is"),
    ("0b", lambda p: np.log2(p).sum(), "bits"),
    ("0b", lambda p: np.log10(p).sum(), "natural logarithm"),
    ("0c", 0.63, "probability asked for"),
    ("0c", 0.65, "lower temperature"),
    ("0b", lambda p: -np.log(p).sum(), "sign"),
    ("0b", lambda p: np.log(p), "add them up"),
    ("0c", 1 / 0.6, "inverse"),
    ("0c", 1.0, "lower temperature"),
    ("0c", 0.3, "higher temperature"),
    ("0c", -1, "positive number"),
]
