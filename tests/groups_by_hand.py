"""Groups by every tuple of samples, one after the other; and the advantages that are tried on them."""

import itertools
import math
from functools import partial

import numpy as np
from hypothesis import strategies as st

from pglab import advantages, bandit

LOGITS, REWARDS = np.array(bandit.EXAMPLE_LOGITS), np.array(bandit.EXAMPLE_REWARDS)
DISTINCT = np.array([3.0, -1.0, 0.5, 2.0])
QUARTERS = st.integers(0, 12).map(lambda n: n / 4)  # a coarse grid: ties, and no almost-ties
LOGIT = st.one_of(st.floats(-3, 3), st.floats(-30, 30), st.just(-np.inf))


def whiten_each(rewards):
    """Whitening looks at all it gets, so here it gets one group at a time."""
    return np.stack([advantages.whiten(row) for row in rewards])


ADVANTAGES = {
    "constant": advantages.constant,
    "constant, b = 0.4": partial(advantages.constant, baseline=0.4),
    "batch_mean": advantages.batch_mean,
    "dr_grpo": advantages.dr_grpo,
    "leave_one_out": advantages.leave_one_out,
    "grpo": advantages.grpo,
    "grpo, eps 0": partial(advantages.grpo, eps=0),
    "grpo, eps 0, ddof 0": partial(advantages.grpo, eps=0, ddof=0),
    "grpo, eps 1, ddof 0": partial(advantages.grpo, eps=1, ddof=0),
    "max_rl": advantages.max_rl,
    "leave_one_out_std": advantages.leave_one_out_std,
    "leave_one_out_std, eps 0": partial(advantages.leave_one_out_std, eps=0),
    "whiten": whiten_each,
}
PAIRS = {name for name in ADVANTAGES if name.startswith(("leave", "grpo"))}  # they need two samples
CENTRED = [name for name in ADVANTAGES if not name.startswith(("constant", "max_rl"))]


@st.composite
def problems(draw, sizes=(1, 4)):
    """(logits, rewards, size): few enough for every tuple to be written down."""
    actions = draw(st.integers(1, 4))
    logits = draw(st.lists(LOGIT, min_size=actions, max_size=actions).filter(lambda z: max(z) > -np.inf))
    rewards = draw(st.lists(QUARTERS, min_size=actions, max_size=actions))
    return np.array(logits), np.array(rewards), draw(st.integers(*sizes))


def every_tuple(probabilities, size):
    """(A^G, G) all groups, order counted, and the probability of each."""
    tuples = np.array(list(itertools.product(range(len(probabilities)), repeat=size)))
    return tuples, np.array([math.prod(probabilities[a] for a in group) for group in tuples])


def by_tuples(logits, rewards, advantage, size):
    """Mean and covariance of the estimate, as on paper: no sorting, no multisets, no total covariance."""
    p = np.exp(logits) / np.exp(logits).sum()
    tuples, chances = every_tuple(p, size)
    weights, scores = advantage(rewards[tuples]), (np.eye(p.size) - p)[tuples]
    estimates = (weights[:, :, None] * scores).sum(axis=1) / size
    mean = chances @ estimates
    return mean, sum(c * np.outer(e - mean, e - mean) for c, e in zip(chances, estimates, strict=True))
