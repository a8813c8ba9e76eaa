"""Exercises of notebook 00: three warm-ups that also show how exercises work."""

import numpy as np

from pglab import bandit
from pglab.exercises.checking import exercise, judge_function

LOGITS = np.array(bandit.EXAMPLE_LOGITS)
WANTED = 0.6306  # its largest probability at temperature 0.6


@exercise("0a", "The mean reward of a policy", "easy", 3)
def _expected_reward(answer):
    cases = [([0.5, 0.5], [1.0, 0.0]), ([0.9, 0.1], [0.0, 2.0]), ([0.2, 0.3, 0.5], [1.0, -1.0, 4.0])]
    return judge_function(
        answer,
        cases,
        right=lambda p, r: np.dot(p, r),
        mistakes=[
            (
                lambda p, r: np.mean(r),
                "This is the plain mean of the rewards. An answer that is given more often should count more.",
            ),
            (
                lambda p, r: np.sum(r),
                "This adds the rewards up. Each should be weighted with its probability.",
            ),
            (
                lambda p, r: np.multiply(p, r),
                "These are the terms, one for each action. The mean reward is their sum, one number.",
            ),
            (
                lambda p, r: np.mean(np.multiply(p, r)),
                "Weighting with p is already an average; dividing by the number of actions does it twice.",
            ),
        ],
    )


@exercise("0b", "The log-probability of a whole answer", "easy", 4)
def _sequence_logprob(answer):
    long = np.full(2000, 0.5)  # the probability of a long answer is too small for a float
    cases = [([0.5, 0.25, 0.8],), ([0.9],), ([0.1, 0.2, 1e-9, 0.4],), (long,)]
    return judge_function(
        answer,
        cases,
        right=lambda p: np.log(p).sum(),
        mistakes=[
            (
                lambda p: np.log(p).mean(),
                "This is the mean over tokens. The answer's probability is a product over tokens; "
                "what does the logarithm turn a product into?",
            ),
            (lambda p: np.prod(p), "This is the probability. Take its logarithm."),
            (
                lambda p: np.log(np.prod(p)),
                "Right for short answers. Over 2,000 tokens the product is 0 in a float, and its logarithm -inf. "
                "Take logarithms first.",
            ),
            (
                lambda p: np.log2(p).sum(),
                "This is in bits. The field's log-probabilities use the natural logarithm.",
            ),
            (lambda p: np.log10(p).sum(), "The field's log-probabilities use the natural logarithm, np.log."),
            (
                lambda p: np.log(np.sum(p)),
                "Probabilities of successive tokens are multiplied, not added, before the logarithm.",
            ),
            (
                lambda p: -np.log(p).sum(),
                "The sign is turned round: this is the loss, not the log-probability.",
            ),
            (
                lambda p: np.log(p),
                "These are the tokens' log-probabilities. The answer has one: add them up.",
            ),
        ],
    )


@exercise("0c", "A temperature read off a slider", "easy", 3)
def _temperature(answer):
    value = float(answer)
    if not np.isfinite(value) or value <= 0:
        return "A temperature is a positive number. Read it off the slider."
    if abs(value - 0.6) < 0.02:
        return None
    if abs(value - 0.63) < 0.005:
        return "That is the probability asked for. Which temperature gives it?"
    if abs(value - 1 / 0.6) < 0.1:
        return "This is close to the inverse. The slider divides the logits by the temperature."
    top = bandit.softmax(LOGITS / value).max()
    direction = "lower" if top < WANTED else "higher"
    return f"There the most likely answer has probability {top:.2f}. Try a {direction} temperature."
