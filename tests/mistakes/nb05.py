"""Usual wrong answers to the exercises of notebook 05, each with a piece of the hint it must get."""

import numpy as np


def gae(
    rewards, values, gamma, lam, last, *, decay=None, own=False, discount=None, forward=False, target=False,
    start=0.0, minus=1.0,
):  # fmt: skip
    """GAE by a plain loop, to be spoilt at one place."""
    n = len(rewards)
    decay = gamma * lam if decay is None else decay
    discount = gamma if discount is None else discount
    A, row = start, np.zeros(n)
    for t in range(n) if forward else range(n - 1, -1, -1):
        after = values[t] if own else (values[t + 1] if t + 1 < n else last)
        A = rewards[t] + discount * after - minus * values[t] + decay * A
        row[t] = A
    return row + values if target else row


RIGHT = ["over", "cut off", "over", "goes on", "cut off"]


def words(place, word):
    return [*RIGHT[: place - 1], word, *RIGHT[place:]]


MISTAKES = [
    ("5a", lambda r, v, g, lam, last: gae(r, v, g, lam, 0.0), "there is an argument"),
    ("5a", lambda r, v, g, lam, last: gae(r, v, g, lam, last, decay=lam), "lambda alone"),
    ("5a", lambda r, v, g, lam, last: gae(r, v, g, lam, last, decay=g), "gamma alone"),
    ("5a", lambda r, v, g, lam, last: gae(r, v, g, lam, last, forward=True), "runs forwards"),
    ("5a", lambda r, v, g, lam, last: gae(r, v, g, lam, last, own=True), "twice"),
    ("5a", lambda r, v, g, lam, last: gae(r, v, g, lam, last, discount=1.0), "not discounted"),
    ("5a", lambda r, v, g, lam, last: gae(r, v, g, lam, last, target=True), "plus the value"),
    ("5a", lambda r, v, g, lam, last: gae(r, v, g, lam, last, decay=0.0), "own surprise"),
    ("5a", lambda r, v, g, lam, last: -gae(r, v, g, lam, last), "sign"),
    ("5a", lambda r, v, g, lam, last: gae(r, v, g, lam, last, decay=lam, discount=1.0), "gamma is nowhere"),
    ("5a", lambda r, v, g, lam, last: gae(r, v, g, lam, last, start=last), "starts at `last_value`"),
    ("5a", lambda r, v, g, lam, last: gae(r, v, g, lam, last, minus=0.0), "is missing in the TD error"),
    ("5a", lambda r, v, g, lam, last: gae(r, v, g, lam, last)[0], "has shape ()"),
    ("5a", lambda r, v, g, lam, last: gae(r, v, g, lam, last)[::-1], "right is"),
    ("5b", words(1, "cut off"), "Situation 1"),
    ("5b", words(1, "goes on"), "any further step"),
    ("5b", words(2, "over"), "really 0"),
    ("5b", words(2, "goes on"), "stand for the rest"),
    ("5b", words(3, "cut off"), "The rule says it"),
    ("5b", words(3, "goes on"), "allowed a further token"),
    ("5b", words(4, "over"), "The tool failed"),
    ("5b", words(4, "cut off"), "Who writes the next token"),
    ("5b", words(5, "over"), "knows nothing of the machine"),
    ("5b", words(5, "goes on"), "no further step"),
    ("5b", ["cut off"] * 5, "The same word"),
    ("5b", words(3, "terminated"), "must be one of 'over'"),
    ("5b", words(3, 0), "must be one of 'over'"),
    ("5b", RIGHT[:4], "list of 5 words"),
    ("5b", np.array(words(2, "over")), "really 0"),
    ("5b", words(1, " Goes on "), "any further step"),
    ("5c", lambda low, high: (high[1] - low[1]) / (low[0] - high[0]), "not squared"),
    ("5c", lambda low, high: (low[0] ** 2 - high[0] ** 2) / (high[1] - low[1]), "upside down"),
    ("5c", lambda low, high: ((high[1] - low[1]) / (low[0] ** 2 - high[0] ** 2)) ** 0.5, "standard error"),
    ("5c", lambda low, high: (high[0] - low[0]) / (low[1] ** 2 - high[1] ** 2), "are swapped"),
    ("5c", lambda low, high: (low[1] - high[1]) / (low[0] ** 2 - high[0] ** 2), "sign"),
    ("5c", lambda low, high: (high[1] - low[1]) / low[0] ** 2, "is missing"),
    ("5c", lambda low, high: (high[1] - low[1]) / (low[0] - high[0]) ** 2, "as a whole"),
    ("5c", lambda low, high: np.ceil((high[1] - low[1]) / (low[0] ** 2 - high[0] ** 2)), "Rounded up"),
    ("5c", lambda low, high: (high[1] ** 2 - low[1] ** 2) / (low[0] ** 2 - high[0] ** 2), "squared already"),
    ("5c", lambda low, high: ((high[1] - low[1]) / (low[0] ** 2 - high[0] ** 2)) ** 2, "its root"),
    ("5c", lambda low, high: 10.0, "right is"),
]
