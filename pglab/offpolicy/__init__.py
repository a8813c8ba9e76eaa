"""Completions drawn by another policy than the one that learns: importance weights, caps, stale policies,
all exact.

mu is the policy that samples, the *behaviour*; pi is the one that is trained. They differ where an engine
rounds, samples at another temperature, or is some updates behind.

    rho_t = pi(y_t) / mu(y_t)              the ratio of one token
    w = prod_t rho_t                       the ratio of the whole answer
    g_hat = sum_t w_t (R - b) grad log pi(y_t)         one answer, drawn from mu

    level        w_t                        what its mean is, without a cap
    "none"       1                          not the gradient
    "token"      rho_t                      beginnings and continuations stay those of mu
    "prefix"     rho_1 ... rho_t            continuations stay those of mu
    "sequence"   rho_1 ... rho_T            the gradient, wherever mu can draw what pi can

All answers are listed, so nothing here is sampled.

Sources: Owen 2013, Monte Carlo theory, chapter 9; Precup, Sutton and Singh 2000; Ionides 2008.
"""

from pglab.offpolicy.answers import PAYS, Answers, along_tokens, listed, one_decision, trajectories
from pglab.offpolicy.caps import AIMS, Best, Curve, best_cap, curve
from pglab.offpolicy.moments import LEVELS, MODES, Moments, moments, weights
from pglab.offpolicy.stale import Growth, ascent, growth, ratio_square, stale

__all__ = [
    "AIMS",
    "LEVELS",
    "MODES",
    "PAYS",
    "Answers",
    "Best",
    "Curve",
    "Growth",
    "Moments",
    "along_tokens",
    "ascent",
    "best_cap",
    "curve",
    "growth",
    "listed",
    "moments",
    "one_decision",
    "ratio_square",
    "stale",
    "trajectories",
    "weights",
]
