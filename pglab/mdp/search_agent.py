"""The running example of notebooks 04 and 05: a model that may search before it answers."""

import numpy as np

from pglab import _checks
from pglab.mdp.model import TabularMDP

STATES = ("question", "good page", "poor page", "right", "wrong")
ACTIONS = ("search", "answer")

# One logit for each state and action. The last two states are the end: no action is taken there.
LOGITS = ((0.6, 0.0), (-0.5, 0.3), (0.2, 0.0), (0.0, 0.0), (0.0, 0.0))

RIGHT_FROM = (0.3, 0.9, 0.2)  # chance that an answer is right: from memory, a good page, a poor page
GOOD_FROM = (0.6, 0.8, 0.5)  # chance that a search ends at a good page


def search_agent(horizon=3, cost=0.05):
    """A model that answers a question now, or searches first; what the search finds is not its choice.

        question, good page, poor page   --search-->   good page or poor page,   reward -cost
        question, good page, poor page   --answer-->   right (reward 1) or wrong (reward 0), the end

    Who has not answered after ``horizon`` steps gets nothing more.

    Args:
      horizon: most steps in an episode, at least 1.
      cost: what one search costs, in the unit of the reward for a right answer.

    Returns:
      TabularMDP of the five ``STATES`` and two ``ACTIONS``; ``LOGITS`` is a policy for it.

    Raises:
      ValueError: a horizon below 1, a cost that is not a finite number.

    Source: made for this course.
    """
    cost = _checks.number("cost", cost)
    transition, reward = np.zeros((5, 2, 5)), np.zeros((5, 2, 5))
    for state, (right, good) in enumerate(zip(RIGHT_FROM, GOOD_FROM, strict=True)):
        transition[state, 0, [1, 2]] = good, 1 - good
        transition[state, 1, [3, 4]] = right, 1 - right
        reward[state, 0] = -cost
        reward[state, 1, 3] = 1.0
    return TabularMDP([1, 0, 0, 0, 0], transition, reward, horizon, terminal=[0, 0, 0, 1, 1])


def two_steps(own_logits=False):
    """A process of two steps at most, and a shy policy for it, which seldom answers.

        not yet   --go on-->    not yet, reward 0
        not yet   --answer-->   over, reward 1

    Args:
      own_logits: False, one state for both steps, so that they share their logits; True, a state of
        its own for each step.

    Returns:
      TabularMDP and the logits of the policy: go on has logit 1, answer -1.

    Raises:
      nothing.

    Source: made for this course.
    """
    states = 3 if own_logits else 2  # the last one is the end
    transition = np.zeros((states, 2, states))
    for state in range(states - 1):
        transition[state, 0, state + 1 if own_logits else state] = 1.0
        transition[state, 1, states - 1] = 1.0
    logits = np.array([[1.0, -1.0]] * (states - 1) + [[0.0, 0.0]])
    start, terminal = np.eye(states)[0], np.arange(states) == states - 1
    return TabularMDP(start, transition, [[0.0, 1.0]] * states, 2, terminal), logits
