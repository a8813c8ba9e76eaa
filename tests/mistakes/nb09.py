"""Usual wrong answers to the exercises of notebook 09, each with a piece of the hint it must get."""

import math


def by_answer(f):
    """A function of (reward, length, all rewards, all lengths, longest), for a whole group."""
    return lambda r, n, longest: [f(x, k, [*r], [*n], longest) for x, k in zip(r, n, strict=True)]


def mean(xs):
    return sum(xs) / len(xs)


def deviation(xs, less=1):
    return math.sqrt(sum((x - mean(xs)) ** 2 for x in xs) / (len(xs) - less))


def scale(p, G, high=1.0, low=0.0, less=1, eps=0.0, true=None):
    """The expected weight of right answers over what they weigh in the true gradient; ``true`` replaces it."""
    G, total = int(G), 0.0
    for k in range(1, G):
        paid = [high] * k + [low] * (G - k)
        chance = math.comb(G, k) * p**k * (1 - p) ** (G - k)
        total += chance * k / G * (high - mean(paid)) / (deviation(paid, less) + eps)
    return total / ((high - low) * p * (1 - p) if true is None else true)


def climbed(p, G, parts=4000):
    """The integral of the scale for rewards of 0 and 1 from 0 to p, by midpoints."""
    width = p / parts
    return sum(scale((k + 0.5) * width, G) for k in range(parts)) * width


def clipped(r, A, value=False, dual=True):
    """PPO's surrogate by cases; ``value`` gives what it is worth in place of its slope."""
    if A > 0:
        return r * A if r <= 1.2 else (1.2 * A if value else 0.0)
    if r < 0.8:
        return 0.8 * A if value else 0.0
    if dual and r > 3:
        return 3 * A if value else 0.0
    return r * A


def by_one_over(means, tokens):
    """A mean with weights 1 / tokens."""
    weights = [1 / n for n in tokens]
    return sum(w * m for w, m in zip(weights, means, strict=True)) / sum(weights)


MISTAKES = [
    (
        "9a",
        by_answer(lambda x, k, r, n, T: (x - mean(r)) / (deviation(r) + 1e-4) / k / len(r)),
        "GRPO itself",
    ),
    ("9a", by_answer(lambda x, k, r, n, T: (x - mean(r)) / k / len(r)), "still GRPO's: a long"),
    (
        "9a",
        by_answer(lambda x, k, r, n, T: (x - mean(r)) / (deviation(r) + 1e-4) / T / len(r)),
        "in deviations",
    ),
    ("9a", by_answer(lambda x, k, r, n, T: (x - mean(r)) / T), "how many are there"),
    ("9a", by_answer(lambda x, k, r, n, T: (x - mean(r)) / len(r)), "which one"),
    ("9a", by_answer(lambda x, k, r, n, T: (x - mean(r)) / sum(n)), "DAPO"),
    ("9a", by_answer(lambda x, k, r, n, T: (x - mean(r)) / len(r) / max(n)), "padded width"),
    ("9a", by_answer(lambda x, k, r, n, T: (x - (sum(r) - x) / (len(r) - 1)) / T / len(r)), "leave-one-out"),
    ("9a", by_answer(lambda x, k, r, n, T: (mean(r) - x) / T / len(r)), "sign"),
    ("9a", by_answer(lambda x, k, r, n, T: x / T / len(r)), "compared with"),
    ("9a", by_answer(lambda x, k, r, n, T: k), "right is"),
    ("9b", lambda m, n: mean([*m]), "mean of means"),
    ("9b", lambda m, n: sum(a * b for a, b in zip(m, n, strict=True)), "sum of all losses"),
    ("9b", lambda m, n: sum(m) / sum(n), "as if they were sums"),
    ("9b", lambda m, n: mean([a * b for a, b in zip(m, n, strict=True)]), "number of workers"),
    ("9b", lambda m, n: mean([a * b for a, b in zip(m, n, strict=True)]) / sum(n), "divided twice"),
    ("9b", lambda m, n: [a * b / sum(n) for a, b in zip(m, n, strict=True)], "added up"),
    ("9b", lambda m, n: sum(m), "weighs no worker"),
    ("9b", lambda m, n: sum(a / b for a, b in zip(m, n, strict=True)), "takes it back"),
    ("9b", lambda m, n: by_one_over(m, n), "Turn the weights round"),
    ("9b", lambda m, n: 7.0, "right is"),
    ("9c", scale, "below the line"),
    ("9c", lambda p, G: scale(p, G, 1, -1), None),
    ("9c", lambda p, G: 2 * scale(p, G), "What doubles"),
    ("9c", lambda p, G: scale(p, G) / 4, "Too small by 2"),
    ("9c", lambda p, G: scale(p, G, eps=1e-4) / 2, "eps = 0"),
    ("9c", lambda p, G: scale(p, G, 1, -1, less=0), "population"),
    ("9c", lambda p, G: scale(p, G, true=1), "weigh together"),
    ("9c", lambda p, G: scale(p, G, true=2), "half units"),
    ("9c", lambda p, G: 0.5 / math.sqrt(p * (1 - p)), "large groups"),
    ("9c", lambda p, G: scale((1 + p) / 2, G) / 2, "whatever is paid"),
    ("9c", lambda p, G: [0] * int(G) and math.comb(G / 1, 2), "int(G)"),
    ("9c", lambda p, G: (p * (1 - p)) ** -0.5, "for rewards of 0 and 1. In a group"),
    ("9c", lambda p, G: 0.5, "unit of the reward"),
    ("9c", lambda p, G: climbed(p, G), "its slope"),
    ("9c", lambda p, G: 0.1, "right is"),
    ("9d", lambda r, A: clipped(r, A, dual=False), "threefold"),
    ("9d", lambda r, A: clipped(r, A, value=True), "*values*"),
    ("9d", lambda r, A: clipped(r, A, value=True, dual=False), "without the 3"),
    ("9d", lambda r, A: A * min(max(r, 0.8), 1.2), "CISPO"),
    ("9d", lambda r, A: A * r if 0.8 <= r <= 1.2 else 0, "Whatever leaves the bounds"),
    ("9d", lambda r, A: clipped(r, A) / r, "ratio times the weight"),
    ("9d", lambda r, A: -clipped(r, A), "*loss*"),
    ("9d", lambda r, A: 0 if (A < 0 and r > 1.2) or (A > 0 and r < 0.8) else A * r, "Turned round"),
    ("9d", lambda r, A: 3 * A if A < 0 and r > 3 else clipped(r, A), "not 3 A"),
    ("9d", lambda r, A: 0 if (A > 0 and not 0.8 <= r <= 3) or (A < 0 and r > 1.2) else r * A, "are swapped"),
    ("9d", lambda r, A: 0 if r > (1.2 if A > 0 else 3) else r * A, "fallen far enough"),
    ("9d", lambda r, A: 0 if r > 1.2 or (A < 0 and r < 0.8) else r * A, "has not fallen yet"),
    ("9d", lambda r, A: 1.2 * A if A < 0 and r > 1.2 else clipped(r, A), "no bound"),
    ("9d", lambda r, A: A * r, "No clip"),
    ("9d", lambda r, A: 2, "right is"),
    ("9e", ([1.0, 1.0], [1.0, -1.0]), "No token is silenced"),
    ("9e", ([1.5, 1.0], [1.0, -2.0]), "sum to zero"),
    ("9e", ([1.0, 0.7], [1.0, -1.0]), "pushes *down*"),
    ("9e", ([1.5, 1.4], [1.0, -1.0]), "held at 1.28"),
    ("9e", ([1.5, 1.0, 0.7], [1.0, 1.0, -2.0]), "left for PPO"),
    ("9e", ([1.5, 1.0], [-1.0, 1.0]), "No token is silenced"),
    ("9e", ([1.5, 1.0], [1.0]), "one of both"),
    ("9e", ([-1.5, 1.0], [1.0, -1.0]), "larger than 0"),
    ("9e", ([1.0, -1.0], [1.5, 1.0]), "ratios come first"),
    ("9e", ([1.5, "a"], [1.0, -1.0]), "lists of numbers"),
    ("9e", [1.5, 1.0], "lists of numbers"),
    ("9e", 3.0, "Two lists"),
]
MISTAKES = [each for each in MISTAKES if each[2] is not None]
