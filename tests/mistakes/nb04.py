"""Usual wrong answers to the exercises of notebook 04, each with a piece of the hint it must get."""

import numpy as np


def loop(r, gamma):
    """Reward-to-go, in the plainest way."""
    return np.array([sum(gamma ** (k - t) * r[k] for k in range(t, len(r))) for t in range(len(r))])


def by_a_queue(r, gamma):
    """From the end, appended and never turned round."""
    found, following = [], 0.0
    for reward in r[::-1]:
        following = reward + gamma * following
        found.append(following)
    return found


def looking_back(r, gamma):
    found, before = [], 0.0
    for reward in r:
        before = reward + gamma * before
        found.append(before)
    return found


def one_late(r, gamma):
    return [*loop(r, gamma)[1:], 0.0]


def right_payments():
    return {"quieter": [[0, 1], [0, 1]], "noisier": [[-1, -1], [0.75, 1]], "same": [[-1, -1], [0, 1]]}


def spoilt(**changed):
    return right_payments() | changed


def var(chance, x):
    return sum(c * ((row - chance @ x) ** 2).sum() for c, row in zip(chance, x, strict=True))


def paths(T, p):
    """(chance, actions) of every sequence of T tokens, one by one."""
    for number in range(2**T):
        a = np.array([(number >> t) & 1 for t in range(T)])
        yield np.prod([p if x else 1 - p for x in a]), a


def forms(rewards, p, score_p=None):
    """Chances, estimates of the sequence form, estimates of reward-to-go."""
    every = [
        (c, (rewards @ a) * (a - (p if score_p is None else score_p)), a) for c, a in paths(len(rewards), p)
    ]
    chance, full = np.array([c for c, _, _ in every]), np.array([f for _, f, _ in every])
    to_go = np.array(
        [loop(rewards * a, 1.0) * (a - (p if score_p is None else score_p)) for _, _, a in every]
    )
    return chance, full, to_go


def price(rewards, p):
    chance, full, to_go = forms(rewards, p)
    return var(chance, full) - var(chance, to_go)


def difference_alone(rewards, p):
    chance, full, to_go = forms(rewards, p)
    return var(chance, full - to_go)


def covariance_once(rewards, p):
    chance, full, to_go = forms(rewards, p)
    x = full - to_go
    return var(chance, x) + chance @ (x * to_go).sum(axis=1)


def not_weighted(rewards, p):
    chance, full, to_go = forms(rewards, p)
    even = np.full(len(chance), 1 / len(chance))
    return var(even, full) - var(even, to_go)


def with_forms(change):
    """Difference of two variances, after ``change(a, rewards, p)`` gave scores, full and later payments."""

    def answer(rewards, p):
        rows = [(c, *change(a, rewards, p)) for c, a in paths(len(rewards), p)]
        chance = np.array([c for c, _, _ in rows])
        return var(chance, np.array([x for _, x, _ in rows])) - var(chance, np.array([y for _, _, y in rows]))

    return answer


def strictly_later(a, rewards, p):
    r = rewards * a
    return r.sum() * (a - p), (loop(r, 1.0) - r) * (a - p)


def paid_anyway(a, rewards, p):
    return rewards.sum() * (a - p), loop(rewards, 1.0) * (a - p)


def half_in_the_score(a, rewards, p):
    return (rewards @ a) * (a - 0.5), loop(rewards * a, 1.0) * (a - 0.5)


def added_up(a, rewards, p):
    full, to_go = (rewards @ a) * (a - p), loop(rewards * a, 1.0) * (a - p)
    return np.array([full.sum()]), np.array([to_go.sum()])


def own_removed_too(rewards, p):
    total = 0.0
    for c, a in paths(len(rewards), p):
        removed, rest = np.cumsum(rewards * a) * (a - p), loop(rewards * a, 1.0) * (a - p)
        total += c * (removed**2 + 2 * removed * rest).sum()
    return total


MISTAKES = [
    ("4a", lambda r, gamma: [gamma**t * x for t, x in enumerate(r)], "nothing is added up"),
    ("4a", lambda r, gamma: np.full(len(r), loop(r, gamma)[0]), "return of the whole trajectory"),
    ("4a", lambda r, gamma: np.cumsum(r[::-1])[::-1], "as if gamma were 1"),
    ("4a", lambda r, gamma: loop(r, gamma) * gamma ** np.arange(len(r)), "from the start of the trajectory"),
    ("4a", looking_back, "looks back"),
    ("4a", by_a_queue, "The first step's comes first"),
    ("4a", lambda r, gamma: loop(r, gamma) - r, "own reward is missing"),
    ("4a", one_late, "one step late"),
    ("4a", lambda r, gamma: gamma * loop(r, gamma), "once too often"),
    ("4a", lambda r, gamma: 2 * loop(r, gamma), "right is [1.75, 1.5, 1]"),
    ("4a", lambda r, gamma: loop(r, gamma)[0], "has shape ()"),
    ("4b", spoilt(quieter=[[-1, -1], [0.75, 1]]), "'quieter': with these payments reward-to-go is noisier"),
    ("4b", spoilt(noisier=[[1, 1], [0.75, 1]]), "with which sign"),
    ("4b", spoilt(same=[[-1, -1], [0.75, 1]]), "what must the mean of step 1 be"),
    ("4b", spoilt(quieter=[[-1, -1], [0, 1]]), "has the same variance"),
    ("4b", spoilt(same=[[0, 0], [0, 1]]), "step 0 pays nothing"),
    ("4b", spoilt(same=[[0, 1]]), "two rows of two"),
    ("4b", spoilt(noisier=[[0, np.nan], [0, 1]]), "finite"),
    ("4b", spoilt(noisier="minus"), "give four numbers"),
    ("4b", spoilt(noisier=[[-1e9, 0], [1e9, 0]]), "below a million"),
    ("4b", [[0, 1], [0, 1]], "dictionary"),
    ("4b", spoilt(same=..., quieter=[[-1, -1], [0.75, 1]]), "'quieter': with these payments reward-to-go is noisier"),
    ("4b", spoilt(same=[[-1, -1], [0, 0.99999]]), "it has 0.18749875, the full return 0.18750125"),
    ("4c", lambda r, p: -price(r, p), "sign is turned round"),
    ("4c", difference_alone, "where is the covariance"),
    ("4c", covariance_once, "the product occurs twice"),
    ("4c", lambda r, p: var(*forms(r, p)[:2]), "variance of the sequence form"),
    ("4c", lambda r, p: var(*forms(r, p)[:2]) / var(*forms(r, p)[::2]), "a ratio"),
    ("4c", lambda r, p: price(r, 0.5), "whatever p is"),
    ("4c", not_weighted, "1 - p for a wrong one"),
    ("4c", with_forms(strictly_later), "own reward is counted as past"),
    ("4c", own_removed_too, "as well as in the rest"),
    ("4c", with_forms(paid_anyway), "only where the action is 1"),
    ("4c", with_forms(half_in_the_score), "the scores have 1/2"),
    ("4c", with_forms(added_up), "a sum over tokens"),
    ("4c", lambda r, p: 2 * price(r, p), "right is"),
]  # fmt: skip
