"""Faults that a claim of notebook 06 must notice."""

from cells import Fault

FAULTS = [
    Fault(
        "pglab.constraints",
        "return np.exp(new - old)",
        "return np.exp(old - new)",
        "C1",
        "the ratio upside down",
    ),
    Fault(
        "pglab.constraints",
        "return ((weights > 0) & (ratio > 1 + high)) | ((weights < 0) & (ratio < 1 - low))",
        "return (ratio > 1 + high) | (ratio < 1 - low)",
        "C2",
        "the clip does not look at the sign: it holds back what went wrong too",
    ),
    Fault(
        "pglab.losses",
        "above = (advantages > 0) & (seen > math.log(high))",
        "above = seen > math.log(high)",
        "C2",
        "clipped from above where the advantage is negative",
    ),
    Fault(
        "pglab.losses",
        "beyond = (advantages < 0) & (seen > math.log(most))",
        "beyond = seen > math.log(most)",
        "C2",
        "dual clip for positive advantages too",
    ),
    Fault(
        "pglab.losses",
        "each = _ppo(log_ratio, advantages, low, high, dual_clip or math.inf)",
        "each = _ppo(log_ratio, advantages, low, high, math.inf)",
        "C2",
        "the dual clip is read and never passed on",
    ),
    Fault(
        "pglab.kl",
        "return _ESTIMATES[kind](logprobs - ref)",
        "return _ESTIMATES[kind](ref - logprobs)",
        "C3",
        "policy and reference swapped in k1 and k3",
    ),
    Fault(
        "pglab.kl",
        "weighted = pi * (k(logp - ref) + slope)",
        "weighted = pi * slope",
        "C4",
        "the sampling term of the KL's gradient dropped",
    ),
    Fault(
        "pglab.constraints",
        "step = np.sqrt(2 / gain) * np.sqrt(max_kl) * direction",
        "step = np.sqrt(1 / gain) * np.sqrt(max_kl) * direction",
        "C5",
        "the factor 2 of the trust region forgotten",
    ),
    Fault(
        "pglab.constraints",
        "direction[possible] = gradient / p - (gradient / p).mean()",
        "direction[possible] = gradient / p",
        "C5",
        "the natural gradient moves along what changes no probability",
    ),
    Fault(
        "pglab.returns",
        "return _decayed_sum(delta, float(gamma) * lam, _arrays",
        "return _decayed_sum(delta, 1.0, _arrays",
        "C7",
        "GAE without lambda",
    ),
    Fault(
        "pglab.steps",
        "direction = direction - beta * _kl_gradient",
        "direction = direction + beta * _kl_gradient",
        "C6",
        "the sign of the KL penalty",
    ),
]
