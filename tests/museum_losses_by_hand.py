"""The losses of the museum once more, right and wrong, in plain floats and loops.

Nothing is shared with ``pglab``. A loss is a function of rows of log-ratios (log pi - log pi_old, a list for
each completion), of the same rows once more for what counts as a constant, of advantages and of masks; slopes
are differences.
"""

import math

STEP = 1e-6


def clipped(ratio, advantage):
    return min(ratio * advantage, min(max(ratio, 0.8), 1.2) * advantage)


def token_mean(rows, held, advantages, mask, gain=clipped, count=None):
    """Minus the mean of the gains of all tokens that count."""
    gains = [
        gain(math.exp(x), a)
        for row, a, kept in zip(rows, advantages, mask, strict=True)
        for x, m in zip(row, kept, strict=True)
        if m
    ]
    count = len(gains) if count is None else count
    return -sum(gains) / count if count else 0.0


def row_mean(rows, held, advantages, mask, level=lambda xs: sum(xs) / len(xs)):
    gains = [
        clipped(math.exp(level(xs)), a)
        for xs, a in zip(counted(rows, mask), advantages, strict=True)
        if xs
    ]  # fmt: skip
    return -sum(gains) / len(gains)


def counted(rows, mask):
    return [[x for x, m in zip(row, kept, strict=True) if m] for row, kept in zip(rows, mask, strict=True)]


def objective(*batch):
    return -token_mean(*batch)


def larger_of_two(*batch):
    return token_mean(*batch, gain=lambda r, a: max(r * a, min(max(r, 0.8), 1.2) * a))


def clipped_only(*batch):
    return token_mean(*batch, gain=lambda r, a: min(max(r, 0.8), 1.2) * a)


def floor_for_all(*batch):
    return token_mean(*batch, gain=lambda r, a: max(clipped(r, a), 3 * a))


def summed_ratio(*batch):
    return row_mean(*batch, level=sum)


def fresh_ratio(rows, held, *rest):
    apart = [[x - h for x, h in zip(*pair, strict=True)] for pair in zip(rows, held, strict=True)]
    return token_mean(apart, None, *rest)


def one_for_nothing(rows, held, advantages, mask):
    gains = [
        clipped(math.exp(sum(xs) / max(len(xs), 1)), a)
        for xs, a in zip(counted(rows, mask), advantages, strict=True)
    ]
    return -sum(gains) / len(gains)


def padded_mean(rows, *rest):
    return token_mean(rows, *rest, count=sum(len(row) for row in rows))


def everything_counts(rows, held, advantages, mask):
    return token_mean(rows, held, advantages, [[True] * len(row) for row in mask])


def across(rows, held, advantages, mask):
    """The advantage of the *column*: for batches as wide as high."""
    gains = [clipped(math.exp(row[t]), advantages[t]) for row in rows for t in range(len(row))]
    return -sum(gains) / len(gains)


def budget_only(*batch):
    return token_mean(*batch, count=4)


def low_cap(rows, held, advantages, mask):
    pairs = [
        min(math.exp(h), 0.2) * a * x
        for row, kept, a in zip(rows, held, advantages, strict=True)
        for x, h in zip(row, kept, strict=True)
    ]
    return -sum(pairs) / len(pairs)


def once_per_token(rows, held, advantages, mask):
    gains, tokens = 0.0, 0
    for xs, a in zip(counted(rows, mask), advantages, strict=True):
        for _ in xs:
            gains += clipped(math.exp(sum(xs) / len(xs)), a)
            tokens += 1
    return -gains / tokens


def slope(loss, rows, advantages, mask=None, at=(0, 0)):
    mask = mask or [[True] * len(row) for row in rows]

    def moved(by):
        new = [list(row) for row in rows]
        new[at[0]][at[1]] += by
        return loss(new, rows, advantages, mask)

    return (moved(STEP) - moved(-STEP)) / (2 * STEP)


def of_one(loss, log_ratio, advantage):
    """The slope of a single token, in units of that of a fresh one."""
    return slope(loss, [[log_ratio]], [advantage]) / abs(slope(loss, [[0.0]], [-1.0]))


def corners(loss):
    return [
        of_one(loss, math.log(r), a) / (-a * r) for r, a in ((0.5, 1.0), (2.0, 1.0), (0.5, -1.0), (2.0, -1.0))
    ]


def three_alike(loss):
    return [
        slope(loss, [[-0.05] * 3], [1.0], at=(0, t)) / slope(loss, [[0.0] * 3], [1.0], at=(0, t))
        for t in range(3)
    ]


def beside_nothing(loss):
    rows, mask = [[0.0] * 3] * 2, [[True] * 3, [False] * 3]
    difference = loss(rows, rows, [1.0, -1.0], mask) - loss(rows, rows, [1.0, 5.0], mask)
    return [difference / abs(slope(loss, [[0.0]], [-1.0]))]


def in_a_wide_batch(loss):
    wide = slope(loss, [[0.0] * 8], [-1.0], [[True] * 2 + [False] * 6])
    return [wide / slope(loss, [[0.0] * 2], [-1.0])]


def masked_beside_kept(loss):
    first, second = (slope(loss, [[0.0, 0.0]], [-1.0], [[False, True]], (0, t)) for t in (0, 1))
    return [first / second]


def square(loss):
    fresh = [[0.0, 0.0], [0.0, 0.0]]
    return [
        slope(loss, fresh, [1.0, -1.0], at=(i, t)) / slope(loss, fresh, [-1.0, -1.0], at=(i, t))
        for i in (0, 1) for t in (0, 1)
    ]  # fmt: skip


def twice(loss):
    return [slope(loss, [[0.0] * 2] * 2, [-1.0] * 2) / slope(loss, [[0.0] * 2], [-1.0])]


def two_lengths(loss):
    rows = [[math.log(1.1)] * 3] * 2
    return [loss(rows, rows, [1.0, -1.0], [[True, False, False], [True] * 3])]


def of_the_advantage():
    """The gain of a fresh token is A: so is its slope, 1, and a constant has none."""
    return [1 if clipped(1.0, -1.0 + STEP) != clipped(1.0, -1.0 - STEP) else 0]
