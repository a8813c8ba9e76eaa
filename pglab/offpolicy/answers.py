"""Every answer that the behaviour policy can give, and what both policies say of its tokens."""

import math
from typing import NamedTuple

import numpy as np

from pglab import _checks, bandit, groups, mdp
from pglab.mdp.model import policy

PAYS = ("all", "share")
MOST = 20_000  # kinds of answers in one list


class Answers(NamedTuple):
    """N answers, or kinds of answers, with K columns of tokens and n parameters.

    In a list of trajectories a column is a place, and holds one token or none. Where the order of the
    tokens does not matter a column is a token of the vocabulary, and ``times`` says how often it occurs.
    """

    chance: np.ndarray  # (N,) probability under mu; they sum to 1, none is 0
    rewards: np.ndarray  # (N,)
    log_ratio: np.ndarray  # (N, K) log pi - log mu of one such token, in nats; 0 where there is none
    times: np.ndarray  # (N, K) how many such tokens
    scores: np.ndarray  # (N, K, n) grad log pi of one such token
    products: (
        np.ndarray
    )  # (N, K, K): |sum_k w_k times_k score_k|^2 = w products w, for weights w of the columns
    gradient: np.ndarray  # (n,) grad J, of the policy that is trained
    ordered: bool  # whether columns are places, in their order


def one_decision(logits, behaviour_logits, rewards):
    """A bandit: one token, so that a token's ratio is that of the answer.

    Args:
      logits: (A,) of pi, which is trained; ``-inf`` for an impossible action.
      behaviour_logits: (A,) of mu, which samples. ``-inf`` where mu never goes: no weight brings that back.
      rewards: (A,).

    Returns:
      Answers, N = A less what mu never draws, K = 1, n = A.

    Raises:
      ValueError: logits that are no vector of A numbers, or all -inf; rewards that are not A finite numbers.

    Source: Owen 2013, section 9.1.
    """
    z, other, rewards = _three(logits, behaviour_logits, rewards)
    log_pi, log_mu, scores = bandit.log_softmax(z), bandit.log_softmax(other), bandit.score_matrix(z)
    ratio = _ratio(log_pi, log_mu)[:, None]
    gradient = bandit.exact_gradient(z, rewards)
    return _listed(np.exp(log_mu), rewards, ratio, np.ones((z.size, 1)), scores[:, None, :], gradient)


def along_tokens(logits, behaviour_logits, rewards, length, pay="all"):
    """An answer of T tokens, each drawn by itself from one softmax, so that only their numbers matter.

        "all"     R = prod_t r(y_t)               for rewards of 0 and 1: right where every token is
        "share"   R = 1/T sum_t r(y_t)            each token pays for itself

    Each token has A logits of its own, with equal numbers. All T parts of a mean gradient are then alike, and
    one is kept: n = A, times the root of T, so that its length is that of the whole gradient.

    Args:
      logits, behaviour_logits, rewards: (A,) as in ``one_decision``, of each token.
      length: T, tokens of an answer, at least 1.
      pay: one of ``PAYS``.

    Returns:
      Answers, N multisets of T tokens, K = n = A.

    Raises:
      ValueError: as ``one_decision``; an unknown pay; more than 20,000 kinds of answers.

    Source: made for this course; the multisets are those of ``groups``.
    """
    z, other, rewards = _three(logits, behaviour_logits, rewards)
    length, pay = _checks.whole("length", length, low=1), _checks.one_of("pay", pay, PAYS, repr)
    _refuse_too_many(z.size, length)
    counts = groups.multisets(z.size, length)  # (N, A)
    mu, pi, scores = bandit.softmax(other), bandit.softmax(z), bandit.score_matrix(z)
    ratio = _ratio(bandit.log_softmax(z), bandit.log_softmax(other))
    if pay == "all":
        paid = np.prod(rewards**counts, axis=1)
        each = bandit.exact_gradient(z, rewards) * (pi @ rewards) ** (length - 1)
    else:
        paid = counts @ rewards / length
        each = bandit.exact_gradient(z, rewards) / length
    shape = *counts.shape, z.size
    products = np.zeros(shape)  # tokens have parameters of their own: no product between two of them
    products[:, range(z.size), range(z.size)] = counts * (scores**2).sum(axis=1)
    kept = groups.multinomial(mu, counts)
    return _listed(
        kept, paid, np.broadcast_to(ratio, counts.shape), counts, np.broadcast_to(scores / length**0.5, shape),
        each * length**0.5, products, ordered=False,
    )  # fmt: skip


def trajectories(process, logits, behaviour_logits):
    """Answers of several tokens, each in a state with a softmax of its own: trajectories of a process.

    Args:
      process: mdp.TabularMDP.
      logits: (S, A) of pi.
      behaviour_logits: (S, A) of mu.

    Returns:
      Answers, N trajectories that mu can take, K = T places, n = S A; the reward is the sum along the way.

    Raises:
      ValueError: as ``mdp.trajectories``.

    Source: Precup, Sutton and Singh 2000, section 2.
    """
    pi, mu = policy(process, logits), policy(process, behaviour_logits)
    paths, drawn = mdp.trajectories(process, logits), mdp.trajectories(process, behaviour_logits)
    now, steps = paths.states[:, :-1], paths.actions
    with np.errstate(divide="ignore"):
        ratio = _ratio(np.log(pi), np.log(mu))[now, steps]
    rewards = paths.rewards.sum(axis=1)
    scores = paths.scores.reshape(*steps.shape, -1)
    gradient = (paths.probability * rewards) @ scores.sum(axis=1)
    return _listed(drawn.probability, rewards, ratio, paths.mask, scores, gradient)


def listed(chance, rewards, log_ratio, mask, scores, gradient):
    """Answers from columns of your own, such as those of a network whose completions are all known.

    Args:
      chance: (N,) probability of each answer under mu.
      rewards: (N,).
      log_ratio: (N, T) log pi - log mu of each token, in nats; -inf where pi never goes. Not read where
        the mask is False, nor in an answer that mu never draws.
      mask: (N, T) booleans, True where there is a token.
      scores: (N, T, n) grad log pi of each token.
      gradient: (n,) of J, under pi.

    Returns:
      Answers.

    Raises:
      ValueError: shapes that differ, chances that are no distribution, numbers that are not finite, answers
        without a token.

    Source: none.
    """
    chance, rewards = _checks.vector("chance", chance), _checks.vector("rewards", rewards)
    gradient = _checks.vector("gradient", gradient)
    scores = _checks.floats("scores", scores, "numbers of shape (N, T, n)")
    shape = scores.shape[:2]
    log_ratio = _checks.floats("log_ratio", log_ratio, f"numbers of shape {shape}")
    mask = _checks.floats("mask", mask, f"booleans of shape {shape}")
    fits = chance.shape == rewards.shape == shape[:1] and log_ratio.shape == mask.shape == shape
    if not fits or scores.shape != (*shape, gradient.size):
        raise ValueError(
            f"chance, rewards, log_ratio, mask, scores and gradient have shapes {chance.shape}, {rewards.shape}, "
            f"{log_ratio.shape}, {mask.shape}, {scores.shape} and {gradient.shape}; they must be (N,), (N,), (N, T), "
            "(N, T), (N, T, n) and (n,)."
        )
    if not np.isin(mask, (0, 1)).all() or not _checks.is_distribution(chance):
        raise ValueError(
            f"chance sums to {chance.sum():.6g}, its least entry is {chance.min():.6g}; it must be >= 0 and sum to 1, "
            "and the mask booleans."
        )
    read = (mask == 1) & (chance > 0)[:, None]
    if not read[chance > 0].any(axis=1).all():
        raise ValueError("mask leaves an answer that mu draws without a token; each must have one or more.")
    if not (log_ratio[read] < np.inf).all() or not np.isfinite(scores[read]).all():
        raise ValueError(
            "log_ratio or scores holds NaN or infinity where there is a token that mu draws; they must be finite "
            "there, or a log_ratio of -inf."
        )
    return _listed(chance, rewards, log_ratio, mask, scores, gradient)


def _listed(chance, rewards, ratio, times, scores, gradient, products=None, ordered=True):
    """Answers without those that mu never draws."""
    drawn = chance > 0
    chance, rewards, ratio, scores = (column[drawn] for column in (chance, rewards, ratio, scores))
    times = np.asarray(times, dtype=np.float64)[drawn]
    ratio = np.where(times > 0, ratio, 0.0)
    scores = np.where(times[..., None] > 0, scores, 0.0)
    if products is None:
        products = scores @ scores.swapaxes(1, 2)
    else:
        products = products[drawn]
    return Answers(chance, rewards, ratio, times, scores, products, gradient, ordered)


def _refuse_too_many(actions, length):
    kinds = math.comb(length + actions - 1, length)
    if kinds > MOST:
        raise ValueError(
            f"length is {length}, for {actions} tokens: {kinds:.3g} kinds of answers; there may be {MOST:,}."
        )


def _ratio(log_pi, log_mu):
    """log pi - log mu; infinite where only mu is 0, and 0 where both are."""
    with np.errstate(invalid="ignore"):
        return np.where((log_pi == -np.inf) & (log_mu == -np.inf), 0.0, log_pi - log_mu)


def _three(logits, behaviour_logits, rewards):
    z = _checks.vector("logits", logits, allow_minus_inf=True)
    other = _checks.vector("behaviour_logits", behaviour_logits, size=z.size, allow_minus_inf=True)
    return z, other, _checks.vector("rewards", rewards, size=z.size)
