"""Usual wrong answers to the exercises of notebook 11, each with a piece of the hint it must get."""

import math


def advantages(paid, values, lam, gamma=1.0):
    """GAE from the last token to the first, in plain loops."""
    found, later, after = [], 0.0, 0.0
    for r, v in zip(reversed(paid), reversed([*values]), strict=True):
        later = r + gamma * after - v + gamma * lam * later
        found.append(later)
        after = v
    return found[::-1]


def charged(kl, beta, reward, sign=-1.0):
    paid = [sign * beta * k for k in kl]
    paid[-1] += reward
    return paid


def to_go(paid):
    return [sum(paid[t:]) for t in range(len(paid))]


def slower(d, w, n, key=max):
    times = {k: key(d / k, w / (n - k)) for k in range(1, int(n))}
    return min(times, key=times.get)


MISTAKES = [
    ("11a", lambda P, A: 16e-9 * (A + P), "as if it were trained"),
    ("11a", lambda P, A: A * 16 / 10**9, "must lie somewhere"),
    ("11a", lambda P, A: (P + A) / 5e8, "What else does a parameter that learns need"),
    ("11a", lambda P, A: 2 * P + (2 + 2 + 4 + 8) * A, "These are bytes"),
    ("11a", lambda P, A: (P * 2 + A * 16) / 1024**3, "GiB"),
    ("11b", lambda n: float(sum(n)), "takes their mean"),
    ("11b", lambda n: [float(k) for k in n], "mean of means"),
    ("11b", lambda n: sum(n) * len(n), "wrong side of the line"),
    ("11c", lambda p, m, r, c: sum(a * b for a, b in zip(p, r, strict=True)), "without a cap"),
    (
        "11c",
        lambda p, m, r, c: sum(min(a / b, c) * x for a, b, x in zip(p, m, r, strict=True)),
        "How often does each",
    ),
    (
        "11c",
        lambda p, m, r, c: sum(b * (a / b if a / b <= c else 0) * x for a, b, x in zip(p, m, r, strict=True)),
        "(a mask)",
    ),
    (
        "11c",
        lambda p, m, r, c: sum(b * min(b / a, c) * x for a, b, x in zip(p, m, r, strict=True)),
        "upside down",
    ),
    ("11d", lambda d, w, n: math.floor(n * d / (d + w) + 0.5), "with 21"),
    ("11d", lambda d, w, n: n - slower(d, w, n), "How many draw"),
    ("11d", lambda d, w, n: slower(d, w, n, lambda a, b: a + b), "side by side"),
    ("11e", lambda kl, b, R, v, lam: advantages([R - b * k for k in kl], v, lam), "It comes once"),
    ("11e", lambda kl, b, R, v, lam: advantages(charged(kl, b, R, 1), v, lam), "which sign"),
    (
        "11e",
        lambda kl, b, R, v, lam: advantages([0] * (len(kl) - 1) + [R - b * sum(kl)], v, lam),
        "with the last token. Each token pays",
    ),
    ("11e", lambda kl, b, R, v, lam: to_go(charged(kl, b, R)), "what the critic expected"),
    (
        "11e",
        lambda kl, b, R, v, lam: [x - y for x, y in zip(to_go(charged(kl, b, R)), v, strict=True)],
        "lambda = 1",
    ),
]
