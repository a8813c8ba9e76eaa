"""Usual wrong answers to the exercises of notebook 02, each with a piece of the hint it must get."""

import numpy as np

from pglab import bandit, groups


def _weighted(z, w, a):
    """(N, A): weight times score of every sample of a batch."""
    return w[:, None] * bandit.score_matrix(z)[a]


def _loss(sign=-1, mean=True, detach=True, weight=None):
    """The loss of exercise 2b, with the faults that are wished for."""

    def loss(logits, rewards, actions):
        log_pi = logits.log_softmax(0)
        value = (log_pi.exp() * rewards).sum()
        w = (
            rewards[actions] - (value.detach() if detach else value)
            if weight is None
            else weight(rewards[actions])
        )
        return sign * (getattr(w * log_pi[actions], "mean" if mean else "sum")())

    return loss


def _reuse(z, r, eta, size, second=None, truth=None, forward=None):
    """The bias of exercise 2c, with other parts put in."""

    def error(a):
        moved = z + eta * _weighted(z, r[a], a).mean(axis=0) if forward is None else forward
        estimate = _weighted(moved, r[a], a).mean(axis=0) if second is None else second(moved, a)
        return estimate - (bandit.exact_gradient(moved, r) if truth is None else truth(moved))

    return groups.expect(bandit.softmax(z), size, error)


def _with_ratio(z, r):
    return lambda new, a: _weighted(new, r[a] * bandit.softmax(new)[a] / bandit.softmax(z)[a], a).mean(axis=0)


def held_the_wrong_one(z, r, a):
    log_pi = z.log_softmax(0)
    return -((r[a] - (log_pi.exp() * r).sum()) * log_pi[a].detach()).mean()


MISTAKES = [
    ("2a", lambda z, r, a: _weighted(z, r[a], a).sum(axis=0), "grows with the batch"),
    ("2a", lambda z, r, a: _weighted(z, r[a] * bandit.softmax(z)[a], a).mean(axis=0), "count twice"),
    ("2a", lambda z, r, a: _weighted(z, r[a] * bandit.softmax(z)[a], a).sum(axis=0), "count twice"),
    ("2a", lambda z, r, a: bandit.exact_gradient(z, r), "whatever was sampled"),
    ("2a", lambda z, r, a: _weighted(z, r[a], a).sum(axis=0) / max(1, (r[a] != 0).sum()), "counts in the N"),
    ("2a", lambda z, r, a: -_weighted(z, r[a], a).mean(axis=0), "sign"),
    ("2a", lambda z, r, a: bandit.score_matrix(z)[a].mean(axis=0), "rewards are missing"),
    ("2a", lambda z, r, a: _weighted(z, r[a], a), "Average over the rows"),
    ("2a", lambda z, r, a: _weighted(z, r[a], a).mean(), "axis=0"),
    ("2a", lambda z, r, a: (r[a] * bandit.score_matrix(z)[a]).mean(axis=0), "makes it a column"),
    ("2a", lambda z, r, a: (r[:, None] * bandit.score_matrix(z)[a]).mean(axis=0), "Take rewards[actions]"),
    ("2a", lambda z, r, a: _weighted(z, r[a], a).sum(axis=0) / len(z), "number of samples"),
    ("2a", lambda z, r, a: r[a].mean() * bandit.score_matrix(z)[a].mean(axis=0), "two means"),
    ("2a", lambda z, r, a: (r[a][:, None] * np.eye(len(z))[a]).mean(axis=0), "half of the score"),
    ("2a", lambda z, r, a: _weighted(z, r[a] - bandit.softmax(z) @ r, a).mean(axis=0), "notebook 03"),
    ("2a", lambda z, r, a: _weighted(z, r[a], a).mean(axis=0) * 1j, "real numbers"),
    ("2a", np.zeros(4), "without calling it"),
    ("2b", _loss(sign=1), "downhill"),
    ("2b", _loss(mean=False), "size of the batch"),
    ("2b", _loss(detach=False), "Hold it constant"),
    ("2b", _loss(1, False, False), "3 faults are left"),
    ("2b", _loss(-1, False, False), "2 faults are left"),
    ("2b", _loss(weight=lambda r: r), "bare reward"),
    ("2b", _loss(weight=lambda r: r - r.mean()), "mean of the batch"),
    ("2b", _loss(weight=lambda r: 2 * r), "wanted is"),
    ("2b", lambda z, r, a: -(r[a] * z.detach().log_softmax(0)[a]).mean(), "too much is detached"),
    ("2b", lambda z, r, a: -r[a] * z.log_softmax(0)[a], "into one number"),
    ("2b", lambda z, r, a: 1.0, "must be a torch tensor"),
    ("2b", 3.0, "A function is asked for"),
    ("2c", lambda z, r, eta, n: np.zeros(len(z)), "All zeros"),
    ("2c", lambda z, r, eta, n: _reuse(z, r, eta, n, forward=z), "All zeros"),
    (
        "2c",
        lambda z, r, eta, n: _reuse(z, r, eta, n, forward=z + eta * bandit.exact_gradient(z, r)),
        "exact gradient",
    ),
    (
        "2c",
        lambda z, r, eta, n: _reuse(z, r, eta, n, truth=lambda _: bandit.exact_gradient(z, r)),
        "old policy",
    ),
    (
        "2c",
        lambda z, r, eta, n: _reuse(z, r, eta, n, second=lambda _, a: _weighted(z, r[a], a).mean(axis=0)),
        "scores of the old policy",
    ),
    ("2c", lambda z, r, eta, n: _reuse(z, r, eta, n, truth=np.zeros_like), "expected second estimate"),
    ("2c", lambda z, r, eta, n: -_reuse(z, r, eta, n), "sign"),
    ("2c", lambda z, r, eta, n: _reuse(z, r, eta, n, second=_with_ratio(z, r)), "importance ratio"),
    ("2c", lambda z, r, eta, n: _reuse(z, r, eta * n, n), "along its mean"),
    ("2c", lambda z, r, eta, n: _reuse(z, r, -eta, n), "downhill"),
    ("2c", lambda z, r, eta, n: _reuse(z, r, 1.0, n), "eta is missing"),
    ("2a", lambda z, r, a: _weighted(z, r[a] - r[a].mean(), a).mean(axis=0), "notebook 03"),
    ("2a", lambda z, r, a: _weighted(z, r[np.unique(a)], np.unique(a)).mean(axis=0), "counts twice"),
    ("2b", held_the_wrong_one, "wrong factor"),
    (
        "2c",
        lambda z, r, eta, n: _reuse(
            z, r, eta, n, truth=lambda _: bandit.exact_gradient(z + eta * bandit.exact_gradient(z, r), r)
        ),
        "after an exact step",
    ),
]
