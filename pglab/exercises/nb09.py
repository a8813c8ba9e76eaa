"""Exercises of notebook 09, The variants, one term each."""

import numpy as np

from pglab import groups
from pglab.exercises.checking import Misfit, NotDone, exercise, judge_function

# --- 9a -----------------------------------------------------------------------------------------

ANSWERED = [
    (np.array([1.0, 0.0, 0.0, 1.0]), np.array([3.0, 6.0, 2.0, 4.0]), 8.0),
    (np.array([0.5, 2.0, -1.0]), np.array([1.0, 5.0, 5.0]), 6.0),
]


@exercise("9a", "From GRPO to Dr. GRPO", "easy", 6)
def _factors(answer):
    def centred(r):
        return r - r.mean()

    def divided(r):
        return centred(r) / (r.std(ddof=1) + 1e-4)

    return judge_function(
        answer,
        ANSWERED,
        right=lambda r, n, longest: centred(r) / (r.size * longest),
        mistakes=[
            (
                lambda r, n, longest: divided(r) / n / r.size,
                "This is GRPO itself. Two of its terms change: which?",
            ),
            (
                lambda r, n, longest: centred(r) / n / r.size,
                "The weight is Dr. GRPO's. The denominator is still GRPO's: a long answer's tokens weigh less here.",
            ),
            (
                lambda r, n, longest: divided(r) / longest / r.size,
                "The denominator is Dr. GRPO's. The weight is still in deviations of the group.",
            ),
            (
                lambda r, n, longest: centred(r) / longest,
                "A sum over the answers. The mean is asked for: how many are there?",
            ),
            (
                lambda r, n, longest: centred(r) / r.size,
                "Each answer is a sum over its tokens here. Dr. GRPO divides by a constant for each row: which one?",
            ),
            (
                lambda r, n, longest: centred(r) / n.sum(),
                "The tokens of the whole group stand below the line: DAPO's mean over tokens. It knows how long the "
                "answers are; Dr. GRPO's constant does not.",
            ),
            (
                lambda r, n, longest: centred(r) / (r.size * n.max()),
                "The longest answer *of this group* is the padded width: another batch, another number. The longest "
                "that is allowed is a constant.",
            ),
            (
                lambda r, n, longest: centred(r) / ((r.size - 1) * longest),
                "Divided by G - 1: that is leave-one-out, RLOO's weight.",
            ),
            (
                lambda r, n, longest: -centred(r) / (r.size * longest),
                "Right answers are pushed down: the sign.",
            ),
            (lambda r, n, longest: r / (r.size * longest), "The bare reward. What is it compared with?"),
        ],
    )


# --- 9b -----------------------------------------------------------------------------------------

WORKERS = [
    (np.array([4.0, 1.0]), np.array([1.0, 3.0])),
    (np.array([0.5, -2.0, 3.0]), np.array([10.0, 2.0, 0.0])),
    (np.array([1.5, 2.0]), np.array([4.0, 4.0])),
]


@exercise("9b", "Workers", "easy", 5)
def _workers(answer):
    return judge_function(
        answer,
        WORKERS,
        right=lambda m, n: (m * n).sum() / n.sum(),
        mistakes=[
            (
                lambda m, n: m.mean(),
                "A mean of means: a worker with one token counts for as much as one with a hundred.",
            ),
            (lambda m, n: (m * n).sum(), "This is the sum of all losses. How many tokens is it a sum of?"),
            (
                lambda m, n: m.sum() / n.sum(),
                "The means are added as if they were sums. What is a worker's sum?",
            ),
            (
                lambda m, n: (m * n).sum() / n.size,
                "The sum is right. It is divided by the number of workers, and wants the number of tokens.",
            ),
            (
                lambda m, n: (m * n).mean() / n.sum(),
                "The sum is divided twice: by the workers, and by the tokens.",
            ),
            (lambda m, n: m * n / n.sum(), "These are the parts. They are to be added up."),
            (lambda m, n: m.sum(), "A sum of means weighs no worker by its tokens."),
        ],
    )


# --- 9c -----------------------------------------------------------------------------------------

RATES = [(0.3946, 8), (0.9, 4), (0.5, 2)]


@exercise("9c", "Paid −1 or 1", "medium", 12)
def _scale(answer):
    def c(p, G, ddof=1, eps=0.0):
        return groups.grpo_scale(float(p), int(G), eps=eps, ddof=ddof)

    return judge_function(
        _whole(answer),
        RATES,
        right=lambda p, G: c(p, G) / 2,
        mistakes=[
            (
                c,
                "This is the factor for rewards of 0 and 1. GRPO's weights stay the same, that is right. And the true "
                "gradient, which stands below the line?",
            ),
            (
                lambda p, G: 2 * c(p, G),
                "Twice that for 0 and 1. What doubles: the weights, which are divided by the deviation, or the gradient "
                "they are compared with?",
            ),
            (
                lambda p, G: c(p, G) / 4,
                "Too small by 2. The deviation doubles, and so does the difference above it.",
            ),
            (lambda p, G: c(p, G, eps=1e-4) / 2, "Nearly. With eps = 0: the default of grpo_scale is 1e-4."),
            (
                lambda p, G: c(p, G, ddof=0) / 2,
                "The population's deviation (ddof 0). The sample's is asked for.",
            ),
            (
                lambda p, G: c(p, G) * p * (1 - p) / 2,
                "That is how much the right answers weigh, in half units. The factor is relative to the true gradient.",
            ),
            (
                lambda p, G: c(p, G) * p * (1 - p),
                "That is how much the right answers weigh together. The factor is relative to the true gradient.",
            ),
            (
                lambda p, G: 1 / (2 * np.sqrt(p * (1 - p))),
                "The limit of large groups. In a group of G the deviation is another one each time, and may be 0.",
            ),
            (
                lambda p, G: c((p + 1) / 2, G) / 2,
                "The pass rate is p, whatever is paid. It is the rewards that move, not the chances.",
            ),
        ],
    )


def _whole(answer):
    """The reader's function, with a hint where a group size is not whole."""
    if not callable(answer):
        return answer

    def f(p, G):
        try:
            return answer(float(p), int(G))
        except TypeError as error:
            if "integer" in str(error):
                raise Misfit("Some function here wants a whole number for G: int(G).") from error
            raise

    return f


# --- 9d -----------------------------------------------------------------------------------------

TOKENS = [(1.5, 1.0), (0.5, 1.0), (1.1, 0.5), (0.5, -2.0), (1.5, -1.0), (4.0, -0.5), (4.0, 2.0), (0.9, -1.0)]


@exercise("9d", "One token, by hand", "medium", 10)
def _token(answer):
    def keeps(r, A, dual=3.0):
        return not ((A > 0 and r > 1.2) or (A < 0 and (r < 0.8 or r > dual)))

    def least(r, A):
        return min(r * A, float(np.clip(r, 0.8, 1.2)) * A)

    return judge_function(
        answer,
        TOKENS,
        right=lambda r, A: r * A * keeps(r, A),
        mistakes=[
            (
                lambda r, A: r * A * keeps(r, A, np.inf),
                "All but one thing: a token with a negative weight may be pushed down at most threefold.",
            ),
            (
                lambda r, A: max(least(r, A), 3 * A) if A < 0 else least(r, A),
                "These are the *values* of the surrogate. Where it is held at a bound it is a constant: what is the "
                "gradient of a constant?",
            ),
            (
                least,
                "These are values of the surrogate, without the 3. Where it is held at a bound it is a constant: what "
                "is the gradient of a constant?",
            ),
            (
                lambda r, A: float(np.clip(r, 0.8, 1.2)) * A,
                "A ratio held within its bounds still pushes: that is CISPO's idea. PPO's min makes a constant of it.",
            ),
            (
                lambda r, A: r * A * (0.8 <= r <= 1.2),
                "Whatever leaves the bounds is silent here. PPO silences only what has moved in the direction it is "
                "pushed: with A > 0 above 1.2, with A < 0 below 0.8.",
            ),
            (
                lambda r, A: A * keeps(r, A),
                "Who is kept is right. What is kept is the ratio times the weight: the gradient of the ratio is the "
                "ratio times the score.",
            ),
            (
                lambda r, A: -r * A * keeps(r, A),
                "The gradient of the *loss*. What multiplies the score in the step has the other sign.",
            ),
            (
                lambda r, A: r * A * (not ((A < 0 and r > 1.2) or (A > 0 and r < 0.8))),
                "Turned round: this keeps what has gone far enough, and drops what has gone the wrong way.",
            ),
            (
                lambda r, A: r * A * (keeps(r, A) and r <= 3),
                "The 3 holds under a negative weight alone. (With A > 0 the bound of 1.2 comes first.)",
            ),
            (
                lambda r, A: 3 * A if A < 0 and r > 3 else r * A * keeps(r, A),
                "At a ratio above 3 the loss is held at 3 |A|, a constant. Its gradient is not 3 A.",
            ),
            (lambda r, A: r * A, "No clip at all. Which two tokens does PPO's min silence?"),
        ],
    )


# --- 9e -----------------------------------------------------------------------------------------


@exercise("9e", "Opposite ways", "hard", 15)
def _opposite(answer):
    ratios, weights = _pair(answer)
    if ratios.shape != weights.shape:
        return f"There are {ratios.size} ratios and {weights.size} weights. Each token has one of both."
    if (ratios <= 0).any():
        return "A ratio of two probabilities is larger than 0."
    if abs(weights.sum()) > 1e-9 * max(1.0, abs(weights).max()):
        return f"The weights sum to {weights.sum():z.4g}. As those of a group they must sum to zero."
    above, below = (weights > 0) & (ratios > 1.2), (weights < 0) & (ratios < 0.8)
    ppo = float((ratios * weights)[~(above | below)].sum())
    cispo = float((np.minimum(ratios, 1.28) * weights).sum())
    if ppo < 0 < cispo:
        return None
    said = f"PPO's sum is {ppo:z.4f}, CISPO's {cispo:z.4f}. "
    if cispo < 0 < ppo:
        return said + "The right way about is PPO's below 0 and CISPO's above. Which tokens does PPO silence?"
    if not (above | below).any():
        return (
            said
            + "No token is silenced: PPO keeps them all. Which token has to leave the bounds, and on which side?"
        )
    if not above.any():
        return (
            said
            + "PPO silences a token that pushes *down*. Which one would have to be silent for its sum to be negative?"
        )
    if ppo < 0:
        return (
            said
            + "PPO's sign is there. For CISPO what pushes up must weigh more: it is held at 1.28. And what pushes down?"
        )
    return said + "A token that pushes up is silent. What is left for PPO to hear?"


def _pair(answer):
    """Two vectors of numbers, or the reason why not."""
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        raise Misfit("Two lists are asked for: (ratios, weights).")
    if any(each is None or each is Ellipsis for each in answer):
        raise NotDone("Put two lists in place of the ... .")
    try:
        found = [np.asarray(each, dtype=float) for each in answer]
    except (TypeError, ValueError) as error:
        raise Misfit("Ratios and weights must be lists of numbers.") from error
    if any(each.ndim != 1 or each.size == 0 or not np.isfinite(each).all() for each in found):
        raise Misfit("Ratios and weights must be lists of numbers, one for each token.")
    return found
