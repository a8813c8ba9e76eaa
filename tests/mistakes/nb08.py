"""Usual wrong answers to the exercises of notebook 08, each with a piece of the hint it must get."""

import math

import numpy as np


def by_group(f):
    """A function of one group, for a batch of them."""
    return lambda rewards: np.array([[f(r, [*row]) for r in row] for row in rewards], dtype=float)


def mean(xs):
    return sum(xs) / len(xs)


def deviation(xs, less=1):
    return math.sqrt(sum((x - mean(xs)) ** 2 for x in xs) / (len(xs) - less))


def others(r, row):
    return r - (sum(row) - r) / (len(row) - 1)


def questions(f, join=mean):
    """A function of one question's rate, put together over the questions."""
    return lambda rates, G: join([f(p, int(G)) for p in rates])


def tries(f, join=mean):
    return lambda n, c, k: join([f(int(n), int(x), int(k)) for x in c])


def drawn(n, c, k):
    """The chance that k of n hold none of the c, one after the other."""
    chance = 1.0
    for i in range(k):
        chance *= max(n - c - i, 0) / (n - i)
    return chance


MISTAKES = [
    ("8a", by_group(lambda r, row: (r - mean(row)) / (deviation(row, 0) + 1e-4)), "NumPy's own choice"),
    ("8a", lambda R: (R - R.mean(1, keepdims=True)) / R.std(1, ddof=1, keepdims=True), "0/0"),
    ("8a", by_group(lambda r, row: r - mean(row)), "Dr. GRPO"),
    ("8a", by_group(others), "RLOO"),
    ("8a", lambda R: (R - R.mean()) / (R.std(ddof=1) + 1e-4), "whole batch"),
    ("8a", lambda R: (R.T - R.mean(1)).T / (R.std(ddof=1) + 1e-4), "takes both from the group"),
    ("8a", lambda R: (R - R.mean(0)) / (R.std(0, ddof=1) + 1e-4), "down the columns"),
    ("8a", by_group(lambda r, row: r / (deviation(row) + 1e-4)), "not centred"),
    ("8a", by_group(lambda r, row: (r - mean(row)) / (deviation(row) ** 2 + 1e-4)), "variance"),
    (
        "8a",
        by_group(lambda r, row: (r - mean(row)) / math.sqrt(deviation(row) ** 2 + 1e-4)),
        "under the root",
    ),
    (
        "8a",
        by_group(lambda r, row: (r - mean(row)) / deviation(row) if max(row) > min(row) else 0),
        "missing from",
    ),
    ("8a", by_group(lambda r, row: r - mean(row) / (deviation(row) + 1e-4)), "brackets"),
    ("8a", lambda R: (R - R.mean(1)) / (R.std(1, ddof=1) + 1e-4), "keep its axis"),
    ("8a", by_group(lambda r, row: (mean(row) - r) / (deviation(row) + 1e-4)), "sign is turned round"),
    ("8a", by_group(lambda r, row: mean(row) - r), "sign is turned round"),
    ("8a", lambda R: R, "right is"),
    ("8b", lambda rates, G: mean(rates) ** G + (1 - mean(rates)) ** G, "mean came first"),
    ("8b", questions(lambda p, G: p**G + (1 - p) ** G, np.array), "chance of each question"),
    ("8b", questions(lambda p, G: p**G + (1 - p) ** G, sum), "how many questions"),
    ("8b", questions(lambda p, G: p**G), "all right"),
    ("8b", questions(lambda p, G: (1 - p) ** G), "all wrong"),
    ("8b", questions(lambda p, G: 1 - p**G - (1 - p) ** G), "turned round"),
    ("8b", questions(lambda p, G: (p * (1 - p)) ** G), "exclude each other"),
    ("8b", questions(lambda p, G: p ** (G - 1) + (1 - p) ** (G - 1)), "first answer"),
    ("8b", questions(lambda p, G: 2 * p**G), "one half"),
    ("8b", questions(lambda p, G: float(p in (0, 1))), "always"),
    ("8b", questions(lambda p, G: p**G + (1 - p) ** G - (p * (1 - p)) ** G), "product is taken off"),
    ("8b", questions(lambda p, G: p * G), "product of G"),
    ("8b", questions(lambda p, G: p * G + (1 - p) ** G), "a power"),
    ("8b", questions(lambda p, G: p * G + (1 - p) * G), "product of G"),
    ("8b", questions(lambda p, G: p), "right is"),
    ("8c", tries(lambda n, c, k: 1 - (1 - c / n) ** k), "naive"),
    ("8c", tries(lambda n, c, k: 1 - drawn(n, c, k), np.array), "each question's"),
    ("8c", tries(drawn), "all k are wrong"),
    ("8c", tries(lambda n, c, k: drawn(n, n - c, k)), "all k are *right*"),
    ("8c", tries(lambda n, c, k: c / n), "pass@1"),
    ("8c", lambda n, c, k: 1 - (1 - mean(c) / n) ** k, "average question"),
    ("8c", lambda n, c, k: 1 - math.comb(int(n - mean(c)), int(k)) / math.comb(int(n), int(k)), "mean of c"),
    ("8c", tries(lambda n, c, k: min(1, k * c / n)), "not k times"),
    ("8c", tries(lambda n, c, k: 1 - drawn(n, n - c, k)), "*right* ones"),
    ("8c", tries(lambda n, c, k: float(c >= 1)), "pass@n"),
    ("8c", tries(lambda n, c, k: 1 - drawn(n, c, k), sum), "sum over the questions"),
    ("8c", lambda n, c, k: mean([1 - math.comb(n - x, k) / math.comb(n, k) for x in c]), "whole numbers"),
    ("8c", tries(lambda n, c, k: k), "right is"),
    ("8d", lambda prompt: f"{int(prompt[:3]) + int(prompt[4:7]):04d}"[::-1], "right answer"),
    ("8d", lambda prompt: f"{int(prompt[:3]) + int(prompt[4:7]):04d}"[::-1] + "0", "goes on"),
    ("8d", lambda prompt: "0", "does not start with them"),
    ("8d", lambda prompt: str((int(prompt[2]) + int(prompt[6])) % 10), "added up"),
    ("8d", lambda prompt: f"{int(prompt[:3]) + int(prompt[4:7]):04d}"[:0:-1], "added up"),
    ("8d", lambda prompt: " ", "space"),
    ("8d", lambda prompt: "\n", "line break"),
    ("8d", lambda prompt: "0123456789", "every"),
    ("8d", lambda prompt: 2270, "int"),
]
