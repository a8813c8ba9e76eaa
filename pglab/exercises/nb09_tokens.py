"""Exercises 9d and 9e of notebook 09: which tokens a clip silences."""

import numpy as np

from pglab.exercises.checking import Misfit, NotDone, exercise, judge_function

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
                lambda r, A: r * A * (not ((A < 0 and r > 1.2) or (A > 0 and (r < 0.8 or r > 3)))),
                "The two sides are swapped. A token with a positive weight is pushed up: at which bound has it risen "
                "enough? And one that is pushed down?",
            ),
            (
                lambda r, A: r * A * (not ((A > 0 and r > 1.2) or (A < 0 and r > 3))),
                "A negative weight has two bounds here. Above 3 it is silent; and when it has fallen far enough?",
            ),
            (
                lambda r, A: r * A * (not ((A > 0 and r > 1.2) or (A < 0 and (r < 0.8 or r > 1.2)))),
                "A token that is pushed down and stands above 1.2 has not fallen yet. It is held only above 3.",
            ),
            (
                lambda r, A: 1.2 * A if A < 0 and r > 1.2 else r * A * keeps(r, A),
                "Under a negative weight 1.2 is no bound: the token is to fall, and has not. Which one is?",
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
        swapped = bool((weights > 0).all() and abs(ratios.sum()) < 1e-9)
        return "A ratio of two probabilities is larger than 0." + " The ratios come first." * swapped
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
