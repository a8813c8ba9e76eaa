"""Sequences of tokens as processes: a small tree of answers, and one reward after T tokens."""

import numpy as np

from pglab import _checks
from pglab.mdp.model import TabularMDP

TASKS = ("all right", "one decides")
MOST_TOKENS = 16


def token_tree(paid):
    """A language model of two letters, whose answers have three tokens: the state is what is written so far.

    The seven beginnings are numbered like a family tree: token v leads from beginning i to 2i + 1 + v.

    Args:
      paid: (4, 2) reward at the last token, by the first two tokens and the last.

    Returns:
      TabularMDP of 8 states (the last one: finished) and 2 actions; nothing in it is left to chance.

    Raises:
      ValueError: paid that is not 4 by 2 finite numbers.

    Source: made for this course.
    """
    paid = _checks.floats("paid", paid, "an array of shape (4, 2)")
    if paid.shape != (4, 2) or not np.isfinite(paid).all():
        raise ValueError(f"paid is {paid}; it must be 4 by 2 finite numbers.")
    transition, reward = np.zeros((8, 2, 8)), np.zeros((8, 2))
    for beginning in range(7):
        for token in range(2):
            transition[beginning, token, min(2 * beginning + 1 + token, 7)] = 1.0
    reward[3:7] = paid
    return TabularMDP(np.eye(8)[0], transition, reward, 3, terminal=np.arange(8) == 7)


def token_sequences(length):
    """(2^T, T) every sequence of T tokens, 1 for a right one and 0 for a wrong one; the last varies fastest.

    Args:
      length: T, a whole number, at least 1; the caller sees to it that 2^T rows fit.

    Returns:
      (2^T, T) float64.

    Raises:
      nothing.

    Source: made for this course.
    """
    return (np.arange(2**length)[:, None] >> np.arange(length)[::-1] & 1).astype(np.float64)


def noise_to_signal(task, length, p, one_logit=False):
    """Variance over squared gradient, for one reward after ``length`` tokens, by counting all sequences.

        g_hat = sum_t w_t (a_t - p) e_t,     a_t = 1 with probability p = sigmoid(theta_t), else 0

    Args:
      task: "all right" (reward 1 if every token is right) or "one decides" (if the first one is).
      length: number of tokens T, from 1 to 16.
      p: probability of a right token, strictly between 0 and 1.
      one_logit: True, one theta for all tokens, so that the parts of the steps add up.

    Returns:
      (3,) float64: the weight is the reward; the reward minus its mean; the advantage of each step,
      E[R | a_0 ... a_t] - E[R | a_0 ... a_{t-1}].

    Raises:
      ValueError: another task, a length or a p outside these bounds.

    Source: made for this course.
    """
    _checks.one_of("task", task, TASKS)
    length = _checks.whole("length", length, low=1)
    if length > MOST_TOKENS:
        raise ValueError(f"length is {length}; it must be at most {MOST_TOKENS}.")
    p = _checks.number("p", p, 0, 1)
    if p in (0, 1):
        raise ValueError(f"p is {p}; it must lie strictly between 0 and 1.")
    actions = token_sequences(length)
    chance = np.where(actions == 1, p, 1 - p).prod(axis=1)
    reward = actions.prod(axis=1) if task == "all right" else actions[:, 0]
    known = _known(reward, chance, length)
    weights = reward[:, None], reward[:, None] - known[:, :1], np.diff(known, axis=1)
    return np.array([_ratio(weight * (actions - p), chance, one_logit) for weight in weights])


def _known(reward, chance, length):
    """(N, T + 1): the mean of the reward, once the first t tokens are known; sequences are in order."""
    columns = []
    for t in range(length + 1):
        mass, paid = (x.reshape(2**t, -1).sum(axis=1) for x in (chance, chance * reward))
        columns.append(np.repeat(paid / mass, 2 ** (length - t)))
    return np.column_stack(columns)


def _ratio(estimate, chance, one_logit):
    if one_logit:
        estimate = estimate.sum(axis=1, keepdims=True)
    mean = chance @ estimate
    return chance @ ((estimate - mean) ** 2).sum(axis=1) / (mean @ mean)
