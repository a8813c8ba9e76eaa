"""Usual wrong answers to the exercises of notebook 06, each with a piece of the hint it must get."""

import numpy as np


def loop(f):
    """A function of one sample's ratio and advantage, and of eps, for all samples."""
    return lambda ratio, A, eps: np.array([f(r, a, eps) for r, a in zip(ratio, A, strict=True)])


def inside(r, eps):
    return min(max(r, 1 - eps), 1 + eps)


def k3(x):
    return np.expm1(x) - x


def step(power=0.5, factor=2.0, sign=1.0):
    def f(g, F, delta):
        direction = np.linalg.inv(F) @ g
        return sign * (factor * delta / (direction @ F @ direction)) ** power * direction

    return f


def diagonal(size):
    """F without its other entries; left as it is where ``size`` is 0."""

    def f(g, F, delta):
        x = np.array([gi / F[i, i] for i, gi in enumerate(g)])
        return x if size(x, g, F) == 0 else x * (2 * delta / size(x, g, F)) ** 0.5

    return f


MISTAKES = [
    ("6a", loop(lambda r, a, e: max(r * a, inside(r, e) * a)), "pessimist"),
    ("6a", loop(lambda r, a, e: inside(r, e) * a), "clipped term alone"),
    ("6a", loop(lambda r, a, e: min(r, inside(r, e)) * a), "multiply first"),
    ("6a", loop(lambda r, a, e: min(r, 1 + e) * a), "multiply first"),
    ("6a", loop(lambda r, a, e: min(r * a, inside(r * a, e))), "clips the product"),
    ("6a", loop(lambda r, a, e: r * a), "Nothing is clipped"),
    ("6a", loop(lambda r, a, e: -min(r * a, inside(r, e) * a)), "belongs to a loss"),
    ("6a", loop(lambda r, a, e: min(r * a, min(max(r, -e), e) * a)), "around 0"),
    ("6a", loop(lambda r, a, e: min(r * a, (1 + e) * a) if a > 0 else r * a), "Only the upper border"),
    ("6a", lambda r, a, e: 2 * r * a, "right is"),
    ("6a", lambda r, a, e: np.minimum(r * a, np.clip(r, 1 - e, 1 + e) * a).mean(), "one number"),
    ("6b", lambda logp, ref: k3(logp - ref), "swapped"),
    ("6b", lambda logp, ref: np.exp(ref - logp) + logp - ref, "gives 1"),
    ("6b", lambda logp, ref: np.exp(ref - logp) - 1, "ratios have mean 1"),
    ("6b", lambda logp, ref: np.exp(ref - logp) - 1 - (logp - ref), "fall below 0"),
    ("6b", lambda logp, ref: np.exp(logp - ref) - 1 + (logp - ref), "exponential has the wrong sign"),
    ("6b", lambda logp, ref: abs(logp - ref), "size of d"),
    ("6b", lambda logp, ref: logp - ref, "k1"),
    ("6b", lambda logp, ref: (logp - ref) ** 2 / 2, "k2"),
    ("6b", lambda logp, ref: k3(ref - logp).mean(), "one number"),
    ("6b", lambda logp, ref: ref - logp, "right is"),
    ("6c", lambda new, old: (new - old).sum() ** 2 / ((new - old) ** 2).sum(), "log-ratios"),
    ("6c", lambda new, old: np.exp(old - new).sum() ** 2 / np.exp(2 * (old - new)).sum(), "upside down"),
    ("6c", lambda new, old: np.exp(2 * (new - old)).sum() / np.exp(new - old).sum() ** 2, "fraction is upside down"),
    ("6c", lambda new, old: float(len(new)), "number of answers"),
    ("6c", lambda new, old: len(new) / (1 + np.var(np.exp(new - old))), "for granted"),
    ("6c", lambda new, old: len(new) / (1 + np.std(np.exp(new - old), ddof=1) ** 2), "for granted"),
    ("6c", lambda new, old: len(new) ** 2 / np.exp(2 * (new - old)).sum(), "for granted"),
    ("6c", lambda new, old: np.exp(new).sum() ** 2 / np.exp(2 * new).sum(), "policy that sampled"),
    ("6c", lambda new, old: np.exp(old).sum() ** 2 / np.exp(2 * old).sum(), "old probabilities alone"),
    ("6c", lambda new, old: 1.0, "add first"),
    ("6c", lambda new, old: np.exp(new - old).mean() ** 2 / np.exp(2 * (new - old)).mean(), "share of the batch"),
    ("6c", lambda new, old: 1 / np.exp(2 * (new - old)).sum(), "sum to 1"),
    ("6c", lambda new, old: np.exp(new - old).sum() / np.exp(2 * (new - old)).sum(), "not squared"),
    ("6c", lambda new, old: np.exp(new - old).sum(), "sum of the ratios"),
    ("6d", step(power=1.0), "root is missing"),
    ("6d", step(factor=1.0), "factor 2 is missing"),
    ("6d", step(factor=4.0), "wrong side"),
    ("6d", step(sign=-1.0), "downhill"),
    ("6d", lambda g, F, delta: F @ g * (2 * delta / (g @ F @ g)) ** 0.5, "inverse is asked for"),
    ("6d", lambda g, F, delta: g * (2 * delta / (g @ F @ g)) ** 0.5, "buys most"),
    ("6d", lambda g, F, delta: g * (2 * delta) ** 0.5 / np.linalg.norm(g), "in logits"),
    ("6d", lambda g, F, delta: np.linalg.solve(F, g), "as long as delta"),
    ("6d", lambda g, F, delta: F.dot(g), "inverse is asked for"),
    ("6d", diagonal(lambda x, g, F: 0.0), "diagonal of F"),
    ("6d", diagonal(lambda x, g, F: x @ F @ x), "diagonal of F"),
    ("6d", diagonal(lambda x, g, F: x @ g), "diagonal of F"),
    ("6d", lambda g, F, delta: np.linalg.inv(F) @ g * (2 * delta / (g @ F @ g)) ** 0.5, "becomes of one F"),
    ("6d", lambda g, F, delta: (2 * delta / (g @ np.linalg.solve(F, g))) ** 0.5, "factor in front"),
]  # fmt: skip
