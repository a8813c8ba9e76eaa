"""Usual wrong answers to the exercises of notebook 01, each with a piece of the hint it must get."""

import numpy as np

from pglab import bandit


def _terms(logits, r):
    return bandit.softmax(logits) * r


MISTAKES = [
    ("1a", lambda z, r: r @ bandit.score_matrix(z), "counts the same"),
    ("1a", lambda z, r: r @ bandit.score_matrix(z) / len(r), "plain mean over actions"),
    ("1a", _terms, "scores are missing"),
    ("1a", lambda z, r: -bandit.exact_gradient(z, r), "sign"),
    ("1a", lambda z, r: bandit.score_matrix(z) @ _terms(z, r), "swapped"),
    ("1a", lambda z, r: bandit.softmax(z) @ bandit.score_matrix(z), "rewards are missing"),
    ("1a", np.zeros(4), "without calling it"),
    ("1b", ([0.4, -0.2, 1.1, 0.0], [2, 0, 0, 1]), "less negative than the average"),
    ("1b", ([0.4, -1.2, 1.1, 0.0], [1, 0, 0, 1]), "pattern of the text"),
    ("1b", ([0.4, -1.2, 1.1, 0.0], [2 + 1e-12, 1, 1, 2]), "rewards have the pattern of the text"),
    ("1b", ([0.4, -1.2, 1.1], [1, 0, 0]), "four of each"),
    ("1b", ([0.4, -1.2, 1.1, 0.0], [1, 0]), "four of each"),
    ("1b", ([0.0, 1000.0, 1.0, 0.0], [1, 0, 0, 2]), "certain already"),
    ("1b", ([0.0, 0.0, 0.0, 0.0], [1, 1, 1, 1]), "different rewards"),
    ("1b", ([0.0, -np.inf, -np.inf, -np.inf], [1, 0, 0, 0]), "certain already"),
    ("1b", 7, "two things"),
    ("1c", lambda z, r, b: bandit.exact_gradient(z, r - b * bandit.softmax(z)), "second part"),
    ("1c", lambda z, r, b: bandit.exact_gradient(z, r), "left no trace"),
    ("1c", lambda z, r, b: bandit.exact_gradient(z, -b * bandit.softmax(z)), "rewards included"),
    ("1c", lambda z, r, b: bandit.exact_gradient(z, r + 2 * b * bandit.softmax(z)), "sign of the penalty"),
    ("1c", lambda z, r, b: bandit.exact_gradient(z, r - 3 * b * bandit.softmax(z)), "counted twice"),
    ("1c", lambda z, r, b: -bandit.exact_gradient(z, r - 2 * b * bandit.softmax(z)), "sign of the whole"),
    ("1c", lambda z, r, b: bandit.exact_gradient(z, r - 2 * bandit.softmax(z)), "beta is missing"),
]
