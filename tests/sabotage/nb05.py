"""Faults that a claim of notebook 05 must notice."""

from cells import Fault

FAULTS = [
    Fault(
        "pglab.mdp.values",
        "paid + gamma * mdp.transition @ v[t + 1])",
        "paid + gamma * mdp.transition @ v[t])",
        "V1",
        "the value of this step for that of the next",
    ),
    Fault(
        "pglab.returns",
        "return _where(mask, rewards + gamma * following - values, 0.0)",
        "return _where(mask, rewards + gamma * values - following, 0.0)",
        "V2",
        "V of this state and of the next swapped in the TD error",
    ),
    Fault(
        "pglab.returns",
        "return _where(mask, rewards + gamma * following - values, 0.0)",
        "return _where(mask, rewards + following - values, 0.0)",
        "V3",
        "gamma forgotten in the TD error",
    ),
    Fault(
        "pglab.returns",
        "return _decayed_sum(delta, float(gamma) * lam, _arrays",
        "return _decayed_sum(delta, lam, _arrays",
        "V3",
        "GAE decays by lambda alone",
    ),
    Fault(
        "pglab.returns",
        "for _ in range(min(n, rewards.shape[-1])):",
        "for _ in range(min(n - 1, rewards.shape[-1])):",
        "V3",
        "an n-step return of n - 1 steps",
    ),
    Fault(
        "pglab.returns",
        "following, column = [], last_value",
        "following, column = [], 0.0 * last_value",
        "V3",
        "truncation taken for termination: no value after the last step",
    ),
    Fault(
        "pglab.returns",
        "column = _where(mask[..., t], values[..., t], column)",
        "column = values[..., t]",
        "V3",
        "the critic's word on a tool's tokens read as the next value",
    ),
    Fault(
        "pglab.mdp.critics",
        "variance = paths.probability @ ((single - mean) ** 2).sum(axis=2)",
        "variance = paths.probability @ (single**2).sum(axis=2)",
        "V4",
        "the second moment for the variance",
    ),
    Fault(
        "pglab.mdp.critics",
        "weight[:, t] = later = delta[:, t, None] + gamma * lams * later",
        "weight[:, t] = later = delta[:, t, None] + lams * later",
        "V4",
        "GAE of many lambdas decays by lambda alone",
    ),
    Fault(
        "pglab.mdp.batches",
        " / len(drawn)",
        "",
        "V6",
        "a sum over the batch for its mean",
    ),
]
