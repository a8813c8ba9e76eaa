"""Exercises of notebook 01, the exact bandit."""

import numpy as np

from pglab import bandit
from pglab.exercises.checking import NotDone, exercise, judge_function

CASES = [
    (np.array(bandit.EXAMPLE_LOGITS), np.array(bandit.EXAMPLE_REWARDS)),
    (np.array([0.0, 0.5]), np.array([2.0, -1.0])),
    (np.array([-1.0, 0.3, 0.8]), np.array([0.5, 3.0, 1.0])),
]


def _change(logits, rewards):
    """First-order change of each probability along the exact gradient: the softmax Jacobian times it."""
    p, gradient = bandit.softmax(logits), bandit.exact_gradient(logits, rewards)
    return p * (gradient - p @ gradient)


@exercise("1a", "The gradient from the scores", "easy", 8)
def _gradient(answer):
    return judge_function(
        answer,
        CASES,
        right=bandit.exact_gradient,
        mistakes=[
            (
                lambda logits, r: r @ bandit.score_matrix(logits),
                "Every action counts the same here. An expectation weights each action with its probability.",
            ),
            (
                lambda logits, r: r @ bandit.score_matrix(logits) / len(r),
                "This is the plain mean over actions. The policy does not choose them equally often.",
            ),
            (
                lambda logits, r: bandit.softmax(logits) * r,
                "The scores are missing: each term is probability times reward times a whole row of scores.",
            ),
            (
                lambda logits, r: -bandit.exact_gradient(logits, r),
                "The sign is turned round. We climb J; a minus belongs to a loss, not to the gradient of J.",
            ),
            (
                lambda logits, r: np.zeros(len(r)),
                "All zeros. Either the rewards are missing (the expected score is zero), or the sum runs along each "
                "row of scores, whose entries add up to 0. Sum over actions, that is over rows.",
            ),
            (
                lambda logits, r: bandit.score_matrix(logits) @ (bandit.softmax(logits) * r),
                "Rows and columns are swapped: row a of the score matrix belongs to action a, "
                "so the sum runs over rows.",
            ),
        ],
    )


@exercise("1b", "A worse-than-average answer that becomes more likely", "medium", 10)
def _counterexample(answer):
    try:
        logits, rewards = answer
    except (TypeError, ValueError):
        return "Give two things: logits and rewards."
    if logits is None or logits is Ellipsis or rewards is None or rewards is Ellipsis:
        raise NotDone
    logits, rewards = np.asarray(logits, dtype=float), np.asarray(rewards, dtype=float)
    if logits.shape != (4,) or rewards.shape != (4,):
        return (
            f"The shapes are {logits.shape} for the logits and {rewards.shape} for the rewards; four of each."
        )
    if np.ptp(rewards) == 0:
        return "No answer earns less than J here. Give the answers different rewards."
    if bandit.softmax(logits).max() > 1 - 1e-9:
        return "Nothing moves at all: one answer is certain already. Bring the logits closer together."
    if np.allclose([rewards[0], rewards[1]], [rewards[3], rewards[2]]):
        return "These rewards have the pattern of the text. Find others, so that the effect is seen to be a general one."
    change = _change(logits, rewards)
    below = rewards < bandit.expected_reward(logits, rewards) - 1e-9
    if (below & (change > 1e-12)).any():
        return None
    return (
        "Every answer below J becomes less likely. Per unit of step size the change is p[a] * (g[a] - sum_b p[b] g[b]): "
        "you need a g[a] that is less negative than the average one. Which logit makes g[a] small?"
    )


def _right_bonus(logits, rewards, beta):
    """Gradient of sum_a pi(a) (R(a) - beta pi(a)): the weight R - 2 beta pi carries both parts."""
    return bandit.exact_gradient(logits, rewards - 2 * beta * bandit.softmax(logits))


@exercise("1c", "A bonus that depends on the policy", "hard", 15)
def _policy_dependent(answer):
    cases = [(logits, rewards, beta) for logits, rewards in CASES for beta in (0.5, 2.0)]
    return judge_function(
        answer,
        cases,
        right=_right_bonus,
        mistakes=[
            (
                lambda logits, r, beta: bandit.exact_gradient(logits, r - beta * bandit.softmax(logits)),
                "This is the score part alone. f itself moves with the logits: the product rule has a second part, E[grad f]. "
                "If you have written one and it is zero: what is grad pi(a)?",
            ),
            (
                lambda logits, r, beta: bandit.exact_gradient(logits, r),
                "This is the gradient of J alone: the penalty has left no trace, or your two parts cancel.",
            ),
            (
                lambda logits, r, beta: bandit.exact_gradient(logits, -beta * bandit.softmax(logits)),
                "This keeps only the part through f. The score still has to be weighted with f, rewards included.",
            ),
            (
                lambda logits, r, beta: bandit.exact_gradient(logits, r + 2 * beta * bandit.softmax(logits)),
                "The sign of the penalty is turned round: as it stands, likely answers are rewarded for being likely.",
            ),
            (
                lambda logits, r, beta: bandit.exact_gradient(logits, r - 3 * beta * bandit.softmax(logits)),
                "The part through f is counted twice.",
            ),
            (
                lambda logits, r, beta: -_right_bonus(logits, r, beta),
                "The sign of the whole is turned round. We climb; a minus belongs to a loss.",
            ),
            (
                lambda logits, r, beta: bandit.exact_gradient(logits, r - 2 * bandit.softmax(logits)),
                "beta is missing.",
            ),
        ],
    )
