"""A policy that samples some steps behind the one that learns; and what length does to weights."""

from typing import NamedTuple

import numpy as np

from pglab import _checks, bandit
from pglab.offpolicy.answers import along_tokens
from pglab.offpolicy.moments import moments


def ascent(logits, rewards, steps, rate):
    """The logits along exact gradient steps on the chance of a token to be paid.

        z <- z + rate grad J(z)

    Args:
      logits: (A,) where to start.
      rewards: (A,).
      steps: how many.
      rate: step size.

    Returns:
      (steps + 1, A) float64, the start first.

    Raises:
      ValueError: as ``bandit.exact_gradient``; steps that are not whole or negative, a rate that is no number.

    Source: Sutton and Barto (2nd ed.), section 2.8.
    """
    rate, path = _checks.number("rate", rate), [_checks.vector("logits", logits)]
    for _ in range(_checks.whole("steps", steps, low=0)):
        path.append(path[-1] + rate * bandit.exact_gradient(path[-1], rewards))
    return np.array(path)


def stale(path, behind, rewards, length=1, pay="all", temperature=1.0):
    """The answers of the last policy of a path, drawn by one some steps before it, perhaps hotter or colder.

        mu = softmax(z of k steps ago / temperature)

    Args:
      path: (steps + 1, A) logits, as ``ascent`` gives.
      behind: how many steps, from 0 to steps.
      rewards, length, pay: as in ``along_tokens``.
      temperature: at which mu samples, larger than 0; that of the policy that is trained is 1.

    Returns:
      Answers.

    Raises:
      ValueError: as ``along_tokens``; more steps behind than the path has, a temperature that is not positive.

    Source: made for this course.
    """
    path = _checks.floats("path", path, "logits of shape (steps + 1, A)")
    behind = _checks.whole("behind", behind, low=0)
    if path.ndim != 2 or behind >= len(path):
        raise ValueError(
            f"path has shape {path.shape}, behind is {behind}; it must be (steps + 1, A), with as many steps."
        )
    if _checks.number("temperature", temperature) <= 0:
        raise ValueError(f"temperature is {temperature}; it must be larger than 0.")
    return along_tokens(path[-1], path[len(path) - 1 - behind] / temperature, rewards, length, pay)


def ratio_square(logits, behaviour_logits):
    """The mean square of one token's ratio: what each further token multiplies that of a sequence by.

        E_mu[rho^2] = sum_a pi(a)^2 / mu(a),     E_mu[w^2] = (E_mu[rho^2])^T for T tokens alike

    Args:
      logits: (A,) of pi.
      behaviour_logits: (A,) of mu.

    Returns:
      float, at least 1; infinity where pi draws what mu never does.

    Raises:
      ValueError: as ``bandit.log_softmax``, logits of another length.

    Source: Owen 2013, section 9.3 (1 plus the chi-square distance).
    """
    z = _checks.vector("logits", logits, allow_minus_inf=True)
    other = _checks.vector("behaviour_logits", behaviour_logits, size=z.size, allow_minus_inf=True)
    log_pi, log_mu = bandit.log_softmax(z), bandit.log_softmax(other)
    drawn = log_pi > -np.inf
    return float(np.exp(2 * log_pi[drawn] - log_mu[drawn]).sum())


class Growth(NamedTuple):
    """What happens as answers get longer; L lengths."""

    lengths: np.ndarray  # (L,)
    square: np.ndarray  # (L,) E w^2 of an answer's weight
    share: np.ndarray  # (L,) effective sample size of sequence weights, as a share of the samples
    bias: np.ndarray  # (L,) length of the bias of token weights, as a share of the gradient's length
    sequence: np.ndarray  # (L,) standard deviation with sequence weights, one answer, as a share of the same
    token: np.ndarray  # (L,) the same with token weights


def growth(logits, behaviour_logits, rewards, lengths, pay="all", baseline=0.0):
    """Token weights and sequence weights against the length of the answer, without a cap, exact.

    Args:
      logits, behaviour_logits, rewards, pay: as in ``along_tokens``.
      lengths: (L,) whole numbers, at least 1.
      baseline: as in ``moments``.

    Returns:
      Growth.

    Raises:
      ValueError: as ``along_tokens`` and ``moments``; a gradient of 0, to which nothing can be compared.

    Source: made for this course.
    """
    lengths, rows = _checks.vector("lengths", lengths), []
    square = ratio_square(logits, behaviour_logits)
    for length in lengths.tolist():
        answers = along_tokens(logits, behaviour_logits, rewards, length, pay)
        size = np.linalg.norm(answers.gradient)
        if size == 0:
            raise ValueError("the gradient is 0; rewards must differ, or no bias can be compared with it.")
        by_token = moments(answers, "token", baseline=baseline)
        whole = moments(answers, "sequence", baseline=baseline)
        bias = np.linalg.norm(by_token.bias) / size
        rows.append(
            (square**length, whole.share, bias, whole.variance**0.5 / size, by_token.variance**0.5 / size)
        )
    return Growth(lengths.astype(int), *np.array(rows).T)
