"""Length bias, exact: answers that are right or wrong by chance, and a policy that chooses only how long.

A prompt is answered G times. Whether an answer is right is settled by a coin the policy cannot touch. What the
policy chooses is the length: from the shortest on, it stops after each token with probability s = sigmoid(z),
up to the longest. It knows which kind it writes, so z has two entries, one for right answers and one for wrong.

    P(L = n) = (1 - s)^(n - shortest) s,  and without the last factor at the longest
    score(n) = d log P(L = n) / dz = [n < longest] (1 - s) - (n - shortest) s

No choice changes the reward, so the true gradient is exactly zero: whatever moves z is the denominator's doing.

Source: the bias of 1/|o|: Liu et al. 2025 (Dr. GRPO), section 3.1; this small model made for the course.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pglab import _checks, groups

SHORTEST, LONGEST, STOP = 2, 6, 0.3  # at the start: 3.77 tokens on average
RATE, STEPS = 50.0, 200
DENOMINATORS = ("token_mean", "sequence_mean", "constant", "sum")
MOST = 2000  # tokens of a batch, for the exact mean of 1 / total
KINDS = ("right", "wrong")


def distribution(logits, shortest=SHORTEST, longest=LONGEST):
    """Probability of each length.

        P(L = n) = (1 - s)^(n - shortest) s,     s = sigmoid(z);  at the longest without the factor s

    Args:
      logits: (...) z, the logit of stopping; one for each kind of answer, say.
      shortest: tokens before the first chance to stop, at least 1.
      longest: tokens after which an answer ends by itself, more than the shortest.

    Returns:
      (..., N) float64, for the N = longest - shortest + 1 lengths in increasing order.

    Raises:
      ValueError: logits that are not finite numbers; lengths that are not whole, or in the wrong order.

    Source: the geometric distribution, cut off; Feller 1968, section VI.8.
    """
    z, more = _checked(logits, shortest, longest)
    return _chances(z, more)


def mean_length(logits, shortest=SHORTEST, longest=LONGEST):
    """Mean number of tokens.

        E[L] = sum_n n P(L = n)

    Args, Raises:
      as ``distribution``.

    Returns:
      (...) float64, in tokens; a float where logits is one number.

    Source: Feller 1968, section IX.2.
    """
    z, more = _checked(logits, shortest, longest)
    mean = shortest + _chances(z, more) @ np.arange(more + 1)
    return float(mean) if mean.ndim == 0 else mean


def scores(logits, shortest=SHORTEST, longest=LONGEST):
    """The score of each length, all tokens of the answer together.

        d log P(L = n) / dz = [n < longest] (1 - s) - (n - shortest) s

    Args, Raises:
      as ``distribution``.

    Returns:
      (..., N) float64; its mean under ``distribution`` is 0.

    Source: Williams 1992, section 4 (Bernoulli units), summed over the tokens.
    """
    z, more = _checked(logits, shortest, longest)
    return _scores(z, more)


def expected_gradient(
    logits, chance_right, size, weight, denominator, shortest=SHORTEST, longest=LONGEST, prompts=1
):  # fmt: skip
    """The mean of the sampled gradient over all batches, exact. The true gradient is (0, 0).

        g_hat = sum_i A_i score(L_i) / D,     A = weight(rewards of the group),  i = 1 .. B = P G

        "sequence_mean"  D = B L_i               each answer divided by its own length, then the mean
        "token_mean"     D = L_1 + ... + L_B     the tokens of the batch
        "constant"       D = B longest
        "sum"            D = 1

    A looks at rewards, not at lengths. So with a D that no length enters, the mean is E[sum A] E[score] / D = 0.
    For the token mean, 1/n = integral of x^(n-1) from 0 to 1, and the mean of x^(total) is a product over
    the answers: a polynomial in x, which Gauss's rule integrates without error.

    Args:
      logits: (2,) z of right answers, z of wrong ones.
      chance_right: probability that an answer is right, from 0 to 1.
      size: G, answers in the group.
      weight: function of (M, G) rewards that returns (M, G) advantages, such as ``advantages.dr_grpo``;
        equal rewards of a group must get equal advantages.
      denominator: one of ``DENOMINATORS``.
      shortest, longest: as in ``distribution``.
      prompts: P, groups in the batch, all of this kind; matters for "token_mean", and as a factor for "sum".

    Returns:
      (2,) float64, with respect to the two logits.

    Raises:
      ValueError: as ``distribution``; logits of another shape, an unknown denominator, a weight that returns
        another shape or numbers that are not finite, a batch of more than 2000 tokens for "token_mean".

    Source: denominators as in ``losses.aggregate``.
    """
    z, more = _checked(logits, shortest, longest, kinds=True)
    return _Pull(chance_right, size, weight, denominator, shortest, more, prompts)(z)


class Climb(NamedTuple):
    """What became of the policy; row t after t steps."""

    logits: np.ndarray  # (T + 1, 2) right, wrong
    lengths: np.ndarray  # (T + 1, 2) mean tokens of right answers, of wrong ones


def climb(
    chance_right, size, weight, denominator, steps=STEPS, rate=RATE, stop=STOP, shortest=SHORTEST,
    longest=LONGEST, prompts=1,
):  # fmt: skip
    """Steps along ``expected_gradient``, from one stop probability for both kinds.

        z <- z + rate E[g_hat]

    Nothing is sampled: what moves, moves for every seed. The rate is large because the gradient is small: with
    half of 8 answers right, advantages of Dr. GRPO and "sequence_mean" it begins at 0.0185 for each logit.
    There 200 steps lead from 3.77 tokens to 2.00 (right) and 5.99 (wrong), at every whole rate from 28 to 73.

    Args:
      chance_right, size, weight, denominator, shortest, longest, prompts: as in ``expected_gradient``.
      steps: how many.
      rate: factor of the gradient.
      stop: probability of stopping at the start, strictly between 0 and 1.

    Returns:
      Climb.

    Raises:
      ValueError: as ``expected_gradient``; steps that are not whole, a rate that is not a number, a stop
        outside 0 to 1.

    Source: gradient ascent on what a batch of infinitely many groups would show.
    """
    steps, rate = _checks.whole("steps", steps, low=0), _checks.number("rate", rate)
    stop = _checks.number("stop", stop, 0, 1)
    if stop in (0, 1):
        raise ValueError(f"stop is {stop}; it must lie strictly between 0 and 1.")
    z, more = _checked([np.log(stop / (1 - stop))] * 2, shortest, longest)
    pull, logits = _Pull(chance_right, size, weight, denominator, shortest, more, prompts), [z]
    for _ in range(steps):
        logits.append(logits[-1] + rate * pull(logits[-1]))
    logits = np.array(logits)
    return Climb(logits, mean_length(logits, shortest, longest))


class _Pull:
    """The expected gradient as a function of the logits; what does not depend on them is done once."""

    def __init__(self, chance_right, size, weight, denominator, shortest, more, prompts):
        _checks.one_of("denominator", denominator, DENOMINATORS, repr)
        size, prompts = _checks.whole("size", size, low=1), _checks.whole("prompts", prompts, low=1)
        q = _checks.number("chance_right", chance_right, 0, 1)
        self.more, self.length, self.q = more, shortest + np.arange(more + 1), q
        right, wrong = _advantages(weight, size)  # (G + 1,) by the number K of right answers
        k = np.arange(size + 1)
        chance = groups.multinomial([q, 1 - q], np.column_stack([k, size - k]))  # (G + 1,)
        # What the K right answers weigh together, and the G - K wrong ones; with their chance, in all groups.
        self.totals = prompts * np.array([chance * k * right, chance * (size - k) * wrong])  # (2, G + 1)
        answers, longest = prompts * size, shortest + more
        fixed = {"sequence_mean": answers * self.length, "constant": answers * longest, "sum": 1}
        self.divisor = fixed.get(denominator)
        if self.divisor is None:
            self._prepare_integral(size, answers, longest)

    def _prepare_integral(self, size, answers, longest):
        if answers * longest > MOST:
            raise ValueError(
                f"a batch of {answers} answers of up to {longest} tokens is too large; for 'token_mean' it must "
                f"have at most {MOST} tokens."
            )
        x, weights = _gauss((answers * longest + 1) // 2)  # exact: the degree is answers * longest - 1
        self.weights, self.powers = weights / x, x ** self.length[:, None]  # (X,), (N, X)
        # Among its G - 1 neighbours a right answer has K - 1 right ones, a wrong one K: j of them from here on.
        self.neighbours = np.arange(size)
        self.by_neighbours = np.column_stack([self.totals[0, 1:], self.totals[1, :-1]])  # (G, 2)
        self.elsewhere = answers - size  # in other groups: right or wrong by coins of their own

    def __call__(self, z):
        chance = _chances(z, self.more)  # (2, N)
        pushed = chance * _scores(z, self.more)
        if self.divisor is not None:
            return self.totals.sum(axis=1) * (pushed / self.divisor).sum(axis=1)
        right, wrong = chance @ self.powers  # (X,) each: mean of x^L of a right answer, of a wrong one
        j = self.neighbours
        beside = (right[:, None] ** j * wrong[:, None] ** j[::-1]) @ self.by_neighbours  # (X, 2)
        elsewhere = (self.q * right + (1 - self.q) * wrong) ** self.elsewhere  # (X,)
        return (pushed @ self.powers * beside.T * elsewhere) @ self.weights


@lru_cache(maxsize=16)
def _gauss(nodes):
    """Places and weights of Gauss's rule on 0 to 1; exact for polynomials of degree 2 nodes - 1."""
    x, weights = np.polynomial.legendre.leggauss(nodes)
    return (x + 1) / 2, weights / 2


def _advantages(weight, size):
    """(G + 1,) the advantage of a right answer, and that of a wrong one, by the number of right answers."""
    if not callable(weight):
        raise ValueError(f"weight is {weight!r}; it must be a function of rewards of shape (M, G).")
    rewards = (np.arange(size) < np.arange(size + 1)[:, None]).astype(np.float64)  # row K: K right ones first
    wanted = f"finite numbers of shape {rewards.shape}"
    table = _checks.floats("weight(rewards)", weight(rewards.copy()), wanted)
    if table.shape != rewards.shape or not np.isfinite(table).all():
        raise ValueError(f"weight(rewards) has shape {table.shape}, or NaN or infinity; it must be {wanted}.")
    each = np.where(rewards > 0, table[:, :1], table[:, -1:])
    if abs(table - each).max() > 1e-9 * max(1.0, abs(table).max()):
        raise ValueError(
            "weight gives equal rewards of one group different numbers; it must look at nothing but the rewards."
        )
    return table[:, 0], table[:, -1]


def _checked(logits, shortest, longest, kinds=False):
    """The logits as an array, and how many tokens an answer may have beyond the shortest."""
    wanted = "finite numbers" + ", shape (2,): for right answers, for wrong ones" * kinds
    z = _checks.floats("logits", logits, wanted)
    if not np.isfinite(z).all() or (kinds and z.shape != (2,)):
        raise ValueError(f"logits is {z.tolist()}; it must be {wanted}.")
    shortest, longest = _checks.whole("shortest", shortest, low=1), _checks.whole("longest", longest)
    if longest <= shortest:
        raise ValueError(f"longest is {longest}, shortest {shortest}; longest must be the larger of the two.")
    return z, longest - shortest


def _chances(z, more):
    """(..., more + 1)"""
    log_stop, log_on = -np.logaddexp(0, -z)[..., None], -np.logaddexp(0, z)[..., None]
    n = np.arange(more + 1)
    return np.exp(n * log_on + (n < more) * log_stop)


def _scores(z, more):
    """(..., more + 1)"""
    stop, on = np.exp(-np.logaddexp(0, -z))[..., None], np.exp(-np.logaddexp(0, z))[..., None]
    n = np.arange(more + 1)
    return (n < more) * on - n * stop
