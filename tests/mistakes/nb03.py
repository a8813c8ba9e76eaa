"""Usual wrong answers to the exercises of notebook 03, each with a piece of the hint it must get."""

import numpy as np

from pglab import bandit


def coin(q):
    """Two answers, the first right with probability q."""
    return [np.log(q), np.log(1 - q)], [1.0, 0.0]


def right_pairs():
    """A solution of 3b, to be spoilt at one place."""
    return {
        "none": [coin(0.9), coin(0.95)],
        "constant": [coin(0.05), coin(0.95)],
        "value": [(np.zeros(4), [1.0, 0.0, 0.0, 0.0]), (np.zeros(4), [1.0, 1.0, 1.0, 0.0])],
    }


def spoilt(**changed):
    return right_pairs() | changed


def mass(z):
    return bandit.softmax(z) * (bandit.score_matrix(z) ** 2).sum(axis=1)


def each(z, r, of):
    return [of(a, b) for a, b in zip(z, r, strict=True)]


def root_length(z, r):
    masses = [bandit.softmax(a) * np.linalg.norm(bandit.score_matrix(a), axis=1) for a in z]
    return sum(m @ b for m, b in zip(masses, r, strict=True)) / sum(m.sum() for m in masses)


def nearly_right(z, r):
    """What a search on a coarse grid finds."""
    masses = [mass(a) for a in z]
    return round(sum(m @ b for m, b in zip(masses, r, strict=True)) / sum(m.sum() for m in masses), 3)


MISTAKES = [
    ("3a", lambda r: r - r.mean(), "own reward is still in the mean"),
    ("3a", lambda r: r - (r.sum() - r) / len(r), "How many others"),
    ("3a", lambda r: r - (r.sum() - r), "sum of the others"),
    ("3a", lambda r: (r.sum() - r) / (len(r) - 1), "baseline alone"),
    ("3a", lambda r: (r.sum() - r) / (len(r) - 1) - r, "sign"),
    ("3a", lambda r: (r - r.mean()) * (len(r) - 1) / len(r), "upside down"),
    ("3a", lambda r: r - r.sum() / (len(r) - 1), "still holds the own reward"),
    ("3a", lambda r: r, "Nothing is subtracted"),
    ("3a", lambda r: (r - r.mean()) / r.std(ddof=1), "as GRPO does"),
    ("3a", lambda r: (r - r.mean()) / r.std(), "as GRPO does"),
    ("3a", lambda r: (r - r.mean()) / (r.std(ddof=1) + 1e-4), "as GRPO does"),
    ("3a", lambda r: 2 * r, "right is"),
    ("3a", lambda r: r.mean(), "has shape ()"),
    ("3b", spoilt(value=[coin(0.05), coin(0.95)]), "'value': the least variance here is that of constant"),
    ("3b", spoilt(none=[coin(0.05), coin(0.95)]), "what does that say about q"),
    ("3b", spoilt(constant=[coin(0.9), coin(0.95)]), "on the wrong side"),
    ("3b", spoilt(constant=[coin(0.5), coin(0.5)]), "same value have it as their mean"),
    ("3b", spoilt(none=[coin(0.9)]), "number of prompts is 1"),
    ("3b", spoilt(none=3), "give two prompts"),
    ("3b", spoilt(none=[([1000.0, 0.0], [1.0, 0.0])] * 2), "hardly any noise"),
    ("3b", spoilt(none=[([0.0], [1.0]), coin(0.9)]), "two to six answers"),
    ("3b", spoilt(none=[([0.0, 1.0], [1.0, 0.0, 0.0]), coin(0.9)]), "as many rewards"),
    ("3b", spoilt(none=[([0.0, np.nan], [1.0, 0.0]), coin(0.9)]), "must be finite"),
    ("3b", spoilt(none=[([0.9, 0.1], [1.0, 0.0]), coin(0.9)]), "look like probabilities"),
    ("3b", [coin(0.9), coin(0.95)], "dictionary"),
    ("3c", lambda z, r: np.mean(each(z, r, bandit.optimal_baseline)), "should count for less"),
    ("3c", lambda z, r: np.sum(each(z, r, bandit.optimal_baseline)), "all of them at once"),
    ("3c", lambda z, r: np.mean(each(z, r, bandit.expected_reward)), "squared length"),
    ("3c", lambda z, r: r.mean(), "counts the same"),
    ("3c", lambda z, r: bandit.optimal_baseline(z.ravel(), r.ravel()), "one big prompt"),
    ("3c", root_length, "not squared"),
    ("3c", nearly_right, "right is 0.91505"),
    ("3c", lambda z, r: 0.0, "[[0.4, -0.2, 1.1, 0], [2, 0, 0, -1]]"),
    ("3c", lambda z, r: np.mean(each(z, r, lambda a, b: mass(a) @ b)), "above the fraction line"),
    ("3c", lambda z, r: each(z, r, bandit.optimal_baseline), "One number for all"),
    (
        "3c",
        lambda z, r: (
            sum(each(z, r, lambda a, b: (bandit.score_matrix(a) ** 2).sum(axis=1) @ b))
            / sum(each(z, r, lambda a, b: (bandit.score_matrix(a) ** 2).sum()))
        ),
        "probabilities are missing",
    ),
]
