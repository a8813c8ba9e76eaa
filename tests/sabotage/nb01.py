"""Faults that a claim of notebook 01 must notice."""

from cells import Fault

FAULTS = [
    Fault(
        "pglab.bandit",
        "for n in nudges]) / (2 * step)",
        "for n in nudges]) / step",
        "S1",
        "central differences over one step instead of two",
    ),
    Fault(
        "pglab.bandit",
        "value(logits + n) - value(logits - n)",
        "value(logits + n) - value(logits)",
        "S1",
        "a one-sided difference over two steps",
    ),
    Fault(
        "pglab.bandit",
        "return p * (weights - p @ weights)",
        "return p * (weights - weights.mean())",
        "S2",
        "the plain mean over actions for the mean under the policy",
    ),
    Fault(
        "pglab.bandit",
        "return p * (weights - p @ weights)",
        "return p * weights",
        "S2",
        "the softmax has no normalisation to push against",
    ),
    Fault(
        "pglab.bandit",
        "return p * (weights - p @ weights)",
        "return p * (p @ weights - weights)",
        "S2",
        "downhill: the sign of the gradient",
    ),
    Fault(
        "pglab.bandit",
        "return np.eye(p.size) - p  #",
        "return np.eye(p.size) - p[:, None]  #",
        "S3",
        "rows and columns of the scores swapped by broadcasting",
    ),
    Fault(
        "pglab.gaussian",
        "values = np.asarray(f(mean + scale * nodes), dtype=float)",
        "values = np.asarray(f(mean + scale**2 * nodes), dtype=float)",
        "S5",
        "the variance taken for the standard deviation",
    ),
    Fault(
        "pglab.gaussian",
        "np.polynomial.hermite_e.hermegauss",
        "np.polynomial.hermite.hermgauss",
        "S5",
        "the physicists' Hermite polynomials for the probabilists'",
    ),
    Fault(
        "pglab.bandit",
        "return shifted - np.log(np.exp(shifted).sum())",
        "return logits - np.log(np.exp(shifted).sum())",
        "S8",
        "the maximum taken off in the sum alone",
    ),
]
