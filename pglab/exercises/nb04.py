"""Exercises of notebook 04, trajectories."""

from itertools import product

import numpy as np

from pglab import returns
from pglab.exercises.checking import Misfit, NotDone, exercise, judge_function

TRAJECTORIES = [
    (np.array([1.0, 1.0, 1.0]), 0.5),
    (np.array([1.0, 2.0, 3.0]), 0.5),
    (np.array([0.0, 0.3, 0.0, 0.7]), 0.9),
    (np.array([2.0, -1.0]), 1.0),
]


def _powers(r, gamma):
    return gamma ** np.arange(r.size)


@exercise("4a", "Reward-to-go, by hand", "easy", 8)
def _reward_to_go(answer):
    return judge_function(
        answer,
        TRAJECTORIES,
        right=returns.reward_to_go,
        mistakes=[
            (
                lambda r, gamma: r * _powers(r, gamma),
                "Each reward is discounted, but nothing is added up: the first step never hears of the later rewards.",
            ),
            (
                lambda r, gamma: np.full(r.size, returns.discounted_return(r, gamma)),
                "Every step gets the return of the whole trajectory. What was earned before a step does not belong to it.",
            ),
            (
                lambda r, gamma: returns.reward_to_go(r),
                "The rewards are added up as if gamma were 1. How much does the next step's reward count?",
            ),
            (
                lambda r, gamma: returns.reward_to_go(r, gamma, discount_from_start=True),
                "This is discounted from the start of the trajectory. In the usual form a step's own reward counts in full.",
            ),
            (
                lambda r, gamma: returns.reward_to_go(r[::-1], gamma)[::-1],
                "This looks back instead of ahead: the last step has collected everything, the first only its own.",
            ),
            (
                lambda r, gamma: returns.reward_to_go(r, gamma)[::-1],
                "The numbers stand in the order in which a loop from the end finds them. The first step's comes first.",
            ),
            (
                lambda r, gamma: returns.reward_to_go(r, gamma) - r,
                "The step's own reward is missing: the sum starts at t itself.",
            ),
            (
                lambda r, gamma: returns.reward_to_go(np.append(r, 0.0), gamma)[1:],
                "This is one step late: each step has the sum that belongs to the next one.",
            ),
            (
                lambda r, gamma: gamma * returns.reward_to_go(r, gamma),
                "Everything is discounted once too often: a step's own reward counts in full.",
            ),
        ],
    )


VERDICTS = {
    "quieter": "The term that is dropped should add noise: let both steps pay something positive on average.",
    "noisier": "The past should be a good baseline for step 1. Which fixed number, with which sign, comes close to what "
    "step 1 pays?",
    "same": "Variance of the dropped term and twice its covariance must cancel. Let step 0 pay a fixed negative number; "
    "what must the mean of step 1 be?",
}


def two_variances(payments):
    """Variance of the full return's and of reward-to-go's estimate, over the four trajectories."""
    r0, r1 = payments
    full, to_go = [], []
    for a0, a1 in product((0, 1), repeat=2):
        s = np.array([a0 - 0.5, a1 - 0.5])
        full.append((r0[a0] + r1[a1]) * s)
        to_go.append(np.array([r0[a0] + r1[a1], r1[a1]]) * s)
    return [float(((x - np.mean(x, axis=0)) ** 2).sum(axis=1).mean()) for x in (full, to_go)]


@exercise("4b", "When the past is a good baseline", "medium", 12)
def _three_verdicts(answer):
    if not isinstance(answer, dict) or set(answer) != set(VERDICTS):
        return "Give a dictionary with the three entries 'quieter', 'noisier' and 'same'."
    done = {verdict: pair for verdict, pair in answer.items() if pair is not None and pair is not Ellipsis}
    for verdict, payments in done.items():
        if hint := _wrong_payments(verdict, payments):
            return f"{verdict!r}: {hint}"
    if still := [repr(verdict) for verdict in VERDICTS if verdict not in done]:
        raise NotDone(f"Put four numbers in place of the ... of {', '.join(still)}.")
    return None


def _wrong_payments(verdict, payments):
    try:
        payments = np.asarray(payments, dtype=float)
    except (TypeError, ValueError):
        return "give four numbers, [[r0 if wrong, r0 if right], [r1 if wrong, r1 if right]]."
    if payments.shape != (2, 2):
        return f"give four numbers as two rows of two; here the shape is {payments.shape}."
    if not np.isfinite(payments).all():
        return "the payments must be finite numbers."
    if np.abs(payments[0]).max() < 1e-3:
        return "step 0 pays nothing, so nothing is dropped. Let it pay something."
    if np.abs(payments).max() > 1e6:
        return "these payments are so large that rounding decides. Stay below a million."
    full, to_go = two_variances(payments)
    close = abs(full - to_go) <= 1e-6 * max(full, to_go)
    found = "same" if close else "quieter" if to_go < full else "noisier"
    if found == verdict:
        return None
    words = "has the same variance" if close else f"is {found}"
    digits = next(
        (d for d in (4, 8, 12) if f"{to_go:.{d}g}" != f"{full:.{d}g}"), 4
    )  # nearly the same: show where
    numbers = f"it has {to_go:.{digits}g}, the full return {full:.{digits}g}"
    return f"with these payments reward-to-go {words} ({numbers}). {VERDICTS[verdict]}"


def _forms(rewards, p, fair_score=False, always_paid=False):
    """Chances, estimates of the sequence form and of reward-to-go, own parts; over all 2^T sequences."""
    a = np.array(list(product((0.0, 1.0), repeat=rewards.size)))
    chance = np.where(a == 1, p, 1 - p).prod(axis=1)
    r, s = (0 * a if always_paid else a - 1) * rewards + rewards, a - (0.5 if fair_score else p)
    return chance, r.sum(axis=1, keepdims=True) * s, returns.reward_to_go(r) * s, r * s


def _variance(chance, x):
    return float(chance @ ((x - chance @ x) ** 2).sum(axis=1))


def _moments(rewards, p):
    """Variance of the sequence form, of reward-to-go, of their difference."""
    chance, full, to_go, _ = _forms(rewards, p)
    return [_variance(chance, x) for x in (full, to_go, full - to_go)]


def _difference(rewards, p, **changed):
    chance, full, to_go, _ = _forms(rewards, p, **changed)
    return _variance(chance, full) - _variance(chance, to_go)


def _own_is_past(rewards, p):
    """The own reward counts as past: the rest is what comes strictly later."""
    chance, full, to_go, own = _forms(rewards, p)
    return _variance(chance, full) - _variance(chance, to_go - own)


def _own_is_past_too(rewards, p):
    """The own reward is in both parts of the square."""
    chance, full, to_go, own = _forms(rewards, p)
    removed = full - to_go + own
    return float(chance @ (removed**2 + 2 * removed * to_go).sum(axis=1))


def _one_logit(rewards, p):
    chance, full, to_go, _ = _forms(rewards, p)
    full, to_go = (x.sum(axis=1, keepdims=True) for x in (full, to_go))
    return _variance(chance, full) - _variance(chance, to_go)


PAYMENTS = [
    (np.array([0.3, 0.7]), 0.5),
    (np.array([1.0, -0.5, 2.0]), 0.8),
    (np.array([0.0, 0.3, 0.0, 0.7]), 0.25),
]


@exercise("4c", "The price of the sequence form", "hard", 15)
def _price(answer):
    if not callable(answer):
        raise Misfit("A function of the rewards and of p is asked for. Give its name, without calling it.")
    return judge_function(
        answer,
        PAYMENTS,
        right=lambda r, p: _moments(r, p)[0] - _moments(r, p)[1],
        mistakes=[
            (
                lambda r, p: _moments(r, p)[1] - _moments(r, p)[0],
                "The sign is turned round: the sequence form comes first, reward-to-go is subtracted from it.",
            ),
            (
                lambda r, p: _moments(r, p)[2],
                "This is the variance of what was paid too much, alone. It moves together with the rest: where is the "
                "covariance?",
            ),
            (
                lambda r, p: (_moments(r, p)[0] - _moments(r, p)[1] + _moments(r, p)[2]) / 2,
                "The covariance is counted once. In the square of a sum the product occurs twice.",
            ),
            (
                lambda r, p: _moments(r, p)[0],
                "This is the variance of the sequence form. How much more is that than reward-to-go's?",
            ),
            (
                lambda r, p: _moments(r, p)[0] / _moments(r, p)[1],
                "This is a ratio. Asked is a difference.",
            ),
            (
                lambda r, p: _moments(r, 0.5)[0] - _moments(r, 0.5)[1],
                "This takes fair tokens, whatever p is. Is p used in the chances *and* in the scores?",
            ),
            (
                lambda r, p: _difference(r, p, fair_score=True),
                "The chances have p, the scores have 1/2. What is the score of a token that is right with probability p?",
            ),
            (
                lambda r, p: _difference(r, p, always_paid=True),
                "Every token is paid, right or wrong. A reward is earned only where the action is 1.",
            ),
            (
                _own_is_past,
                "A step's own reward is counted as past. Reward-to-go starts at the step itself.",
            ),
            (
                _own_is_past_too,
                "A step's own reward is in what was removed as well as in the rest. Removed is only what was earned "
                "*before* the step.",
            ),
            (
                _one_logit,
                "Here one logit serves all tokens, so their parts are added up first. Each token has its own: the "
                "variance is a sum over tokens.",
            ),
            (
                _unweighted,
                "All trajectories count the same here. Weight each with its chance, p for a right token and 1 - p for a "
                "wrong one.",
            ),
        ],
    )


def _unweighted(rewards, p):
    _, full, to_go, _ = _forms(rewards, p)
    return full.var(axis=0).sum() - to_go.var(axis=0).sum()
