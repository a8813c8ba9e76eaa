"""Exercises of notebook 09, The variants, one term each; 9d and 9e are in ``nb09_tokens``."""

import numpy as np

from pglab import groups
from pglab.exercises.checking import exercise, hinted, judge_function

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
    (np.array([0.5, -2.0, 3.0]), np.array([10.0, 2.0, 5.0])),
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
            (
                lambda m, n: (m / n).sum(),
                "A mean is divided by its tokens already. What takes it back to a sum?",
            ),
            (
                lambda m, n: (m / n).sum() / (1 / n).sum(),
                "Weighed by one over its tokens, the worker with the fewest counts most. Turn the weights round.",
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
                lambda p, G: 1 / np.sqrt(p * (1 - p)),
                "The limit of large groups, for rewards of 0 and 1. In a group of G the deviation is another one each "
                "time. And what doubles with rewards of -1 and 1?",
            ),
            (
                lambda p, G: 0.5,
                "One half is what the unit of the reward does. The deviation makes a factor for 0 and 1, too: c(p, G).",
            ),
            (
                lambda p, G: float(groups.grpo_objective(float(p), int(G), eps=0.0)),
                "That is the objective. The factor is its slope: grpo_scale.",
            ),
            (
                lambda p, G: float(groups.grpo_objective(float(p), int(G), eps=0.0)) / 2,
                "That is the objective. The factor is its slope: grpo_scale.",
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
    hint = "Some function here wants a whole number for G: int(G)."
    return hinted(lambda p, G: answer(float(p), int(G)), TypeError, "integer", hint)
