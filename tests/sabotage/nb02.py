"""Faults that a claim of notebook 02 must notice."""

from cells import Fault

FAULTS = [
    Fault(
        "pglab.bandit",
        "return np.eye(p.size) - p  #",
        "return p - np.eye(p.size)  #",
        "R1",
        "the sign of the score",
    ),
    Fault(
        "pglab.bandit",
        "return weights[:, None] * score_matrix(logits) - mean",
        "return weights[:, None] * score_matrix(logits)",
        "R1",
        "the second moment for the variance",
    ),
    Fault(
        "pglab.bandit",
        "return float(softmax(logits) @ (deviations**2).sum(axis=1))",
        "return float((deviations**2).sum(axis=1).mean())",
        "R1",
        "a plain mean over actions, not weighted by the policy",
    ),
    Fault(
        "pglab.groups.estimates",
        "advantage, size) / size  # (M, K)",
        "advantage, size)  # (M, K)",
        "R2",
        "a sum over the batch for its mean",
    ),
    Fault(
        "pglab.groups.estimates",
        "return mean @ centre, centre.T @ covariance @ centre + within",
        "return mean @ centre, centre.T @ covariance @ centre",
        "R2",
        "the variance within a reward value forgotten",
    ),
    Fault(
        "pglab.groups.listing",
        "logs = log_factorial[size] - log_factorial[counts].sum(axis=1) + counts @ log_p",
        "logs = counts @ log_p",
        "R2",
        "the multinomial coefficient forgotten: orders of a batch not counted",
    ),
    Fault(
        "pglab.bandit",
        "return float(0.0 - (p *",
        "return float(0.0 + (p *",
        "R4",
        "the sign of the entropy",
    ),
]
