"""Usual wrong answers to the exercises of notebook 07, each with a piece of the hint it must get."""

import numpy as np


def rows(f):
    """A function of one completion and the end token, for a batch of them."""
    return lambda tokens, end: np.array([f([int(t) for t in row], int(end)) for row in tokens], dtype=float)


def until(row, end, inclusive):
    stop = row.index(end) if end in row else len(row)
    return [float(i <= stop if inclusive else i < stop) for i in range(len(row))]


def softmax(z):
    return np.exp(z) / np.exp(z).sum()


def pairs(indices, change=lambda x: x):
    """Log-probabilities of tokens y[j] under rows i, for the pairs (i, j) of a text of L tokens."""

    def f(logits, tokens):
        y = tokens.astype(int)
        return np.array([change(np.log(softmax(logits[i])[y[j]])) for i, j in indices(len(y))])

    return f


def right(L):
    return [(i, i + 1) for i in range(L - 1)]


def weight(f):
    """A function of the probabilities of each chosen token, under the policy and under the sampler."""

    def g(logits, tokens, T):
        y = tokens.astype(int)
        p = np.array([softmax(row)[t] for row, t in zip(logits, y, strict=True)])
        q = np.array([softmax(row / T)[t] for row, t in zip(logits, y, strict=True)])
        return f(p, q, T)

    return g


MISTAKES = [
    ("7a", rows(lambda row, end: [float(t != end) for t in row]), "looks at values"),
    ("7a", rows(lambda row, end: until(row, end, False)), "choice to stop"),
    ("7a", rows(lambda row, end: [max(a, float(t == end)) for a, t in zip(until(row, end, True), row, strict=True)]),
     "equals the end token"),
    ("7a", lambda tokens, end: np.ones_like(tokens), "Everything takes part"),
    ("7a", rows(lambda row, end: [1 - a for a in until(row, end, True)]), "Turned round"),
    ("7a", lambda tokens, end: np.array([sum(until([*row], end, True)) for row in tokens]), "lengths"),
    ("7a", rows(lambda row, end: until(row[::-1], end, True)[::-1]), "from the right end"),
    ("7a", lambda tokens, end: np.array([until([*c], end, True) for c in tokens.T]).T, "down the batch"),
    ("7a", lambda tokens, end: tokens * 0, "right is"),
    ("7a", rows(lambda row, end: [float(i <= int(np.argmax(np.array(row) == end))) for i in range(len(row))]), "argmax answers 0"),
    ("7a", lambda tokens, end: np.array([[float(i <= [*row].index(end)) for i in range(len(row))] for row in tokens]),
     "no end token"),
    ("7a", rows(lambda row, end: [float(row[: i + 1].count(end) < 2) for i in range(len(row))]), "includes the place itself"),
    ("7b", pairs(lambda L: [(i, i) for i in range(L)]), "No shift"),
    ("7b", pairs(lambda L: [(i, i) for i in range(1, L)]), "their own row"),
    ("7b", pairs(lambda L: [(i, i) for i in range(L - 1)]), "Whom does it speak about"),
    ("7b", pairs(lambda L: [(i, i + 2) for i in range(L - 2)]), "Shifted twice"),
    ("7b", pairs(lambda L: [(i + 1, i) for i in range(L - 1)]), "wrong way round"),
    ("7b", pairs(lambda L: [(i - 1, i) for i in range(L)]), "instead of rolling"),
    ("7b", pairs(right, np.exp), "These are probabilities"),
    ("7b", pairs(right, lambda x: -x), "sign is turned round"),
    ("7b", lambda logits, tokens: pairs(right)(logits, tokens).sum(), "whole text"),
    ("7b", lambda logits, tokens: logits[:-1][range(len(tokens) - 1), tokens[1:].astype(int)], "These are logits"),
    ("7b", lambda logits, tokens: np.log(np.exp(logits) / np.exp(logits).sum(0))[range(len(tokens) - 1), tokens[1:].astype(int)],
     "along the text"),
    ("7b", lambda logits, tokens: tokens[1:], "right is"),
    ("7b", lambda logits, tokens: np.log(softmax(logits))[range(len(tokens) - 1), tokens[1:].astype(int)], "One sum for the whole"),
    ("7b", lambda logits, tokens: np.log(softmax(logits))[np.arange(len(tokens) - 1), tokens[1:]], "whole number"),
    ("7b", lambda logits, tokens: (logits - np.log(np.exp(logits).sum(axis=1)))[0, tokens[1:].astype(int)], "keep its axis"),
    ("7c", weight(lambda p, q, T: q.prod() / p.prod()), "upside down"),
    ("7c", weight(lambda p, q, T: p / q), "ratios of the tokens"),
    ("7c", weight(lambda p, q, T: (p / q).prod() ** (1 / len(p))), "geometric mean"),
    ("7c", weight(lambda p, q, T: (p / q).mean()), "mean of token ratios"),
    ("7c", weight(lambda p, q, T: sum(p / q)), "are added"),
    ("7c", weight(lambda p, q, T: p[-1] / q[-1]), "last token's ratio"),
    ("7c", weight(lambda p, q, T: np.log(p).sum() - np.log(q).sum()), "logarithm of the weight"),
    ("7c", weight(lambda p, q, T: (p / p ** (1 / T)).prod()), "powers of"),
    ("7c", weight(lambda p, q, T: p.prod()), "policy's probability"),
    ("7c", weight(lambda p, q, T: 1 / q.prod()), "stands above it"),
    ("7c", weight(lambda p, q, T: min(1.0, (p / q).prod())), "cut off at 1"),
    ("7c", weight(lambda p, q, T: min(max((p / q).prod(), 0.8), 1.2)), "is clipped"),
    ("7c", lambda logits, tokens, T: weight(lambda p, q, T: (p / q).prod())(logits[:-1], tokens[1:], T), "Shifted once more"),
    ("7c", lambda logits, tokens, T: np.exp(sum(z[int(t)] - z[int(t)] / T for z, t in zip(logits, tokens, strict=True))),
     "chosen logits"),
    ("7c", lambda logits, tokens, T: np.prod([softmax(z)[int(t)] / softmax(z * T)[int(t)] for z, t in zip(logits, tokens, strict=True)]),
     "multiplied by T"),
    ("7c", weight(lambda p, q, T: 1.0), "right is"),
]  # fmt: skip
