"""Exercises of notebook 01, the exact bandit."""

import numpy as np

from pglab import bandit
from pglab.exercises.checking import NotDone, exercise, judge_function

CASES = [
    (np.array([0.4, -0.2, 1.1, 0.0]), np.array([1.0, 0.0, 0.0, 1.0])),
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
                "All zeros: that is the expected score, the lemma of this notebook. The rewards are missing.",
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
    change, rewards = _change(logits, rewards), np.asarray(rewards, dtype=float)
    if rewards.size != 4:
        return f"These are {rewards.size} answers; the exercise asks for four."
    if rewards.tolist() == [1, 0, 0, 1]:
        return (
            "These are the rewards of the text. Find others, so that the effect is seen to be a general one."
        )
    below = rewards < bandit.expected_reward(logits, rewards) - 1e-9
    if not below.any():
        return "No answer earns less than J here. Give the answers different rewards."
    rising = change > 1e-12
    if (below & rising).any():
        return None
    if rising.sum() == 0:
        return "Nothing moves at all. Is one answer certain already?"
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
                "This forgets that f itself moves with the logits. The product rule has a second part, E[grad f].",
            ),
            (
                lambda logits, r, beta: bandit.exact_gradient(logits, r),
                "This is the gradient of J alone; the penalty has left no trace.",
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
        ],
    )
