"""Faults that a claim of notebook 10 must notice."""

from cells import Fault

# It trains, and nothing later needs it.
LEAVE_OUT = ('faults.trainer("stop_token_out"',)

FAULTS = [
    Fault(
        "pglab.training.trainer",
        "seen.std(correction=0)",
        "seen.std()",
        "D1",
        "the sample's deviation on the panel for that of the whole batch",
    ),
    Fault(
        "pglab.training.trainer",
        "diagnostics.zero_std_fraction(rollouts.rewards, rollouts.mask)",
        "float((rollouts.rewards == 0).all(1).mean())",
        "D1",
        "only groups that are wrong throughout called silent",
    ),
    Fault(
        "pglab.diagnostics",
        "float((apart**2).sum()) * number / (number - 1)",
        "float((apart**2).sum()) / (number - 1)",
        "D1",
        "gradient noise of a micro-batch for that of the batch",
    ),
    Fault(
        "pglab.diagnostics",
        "clipped = (up > 0) & (log_ratio > high) | (up < 0) & (log_ratio < low)",
        "clipped = (log_ratio > high) | (log_ratio < low)",
        "D1",
        "the clip fraction does not look at the sign",
    ),
    Fault(
        "pglab.training.update",
        "each.append(now if before is None else now - before)",
        "each.append(now)",
        "D1",
        "gradients of micro-batches not told apart from their running sum",
    ),
    Fault(
        "pglab.kl",
        "_arrays.namespace(far).expm1(-far) + far)",
        "_arrays.namespace(far).expm1(far) - far)",
        "D0",
        "policy and reference swapped in k3",
    ),
    Fault(
        "pglab.losses",
        "return losses.sum() / (norm or mask.sum().clamp(min=1))",
        "return losses.sum() / (norm or mask.numel())",
        "D0",
        "a token mean over padding too",
    ),
    Fault(
        "pglab.logprobs",
        "return gather(logits[..., :-1, :], tokens[..., 1:])",
        "return gather(logits[..., 1:, :], tokens[..., 1:])",
        "D2",
        "each token scored from logits that have read it",
    ),
    Fault(
        "pglab.logprobs",
        "return earlier == 0",
        "return tokens != end_token",
        "D3",
        "the mask made from a token's value: the end token dropped",
    ),
    Fault(
        "pglab.returns",
        "total = _where(mask[..., t], numbers[..., t] + decay * total, total)",
        "total = numbers[..., t] + decay * total",
        "D3",
        "GAE decays over a tool's tokens",
    ),
    Fault(
        "pglab.museum.diagnosis",
        'return "shift_off_by_one" if panel["kl"][0] > 1 else "temperature_mismatch"',
        'return "shift_off_by_one"',
        "D4",
        "every mismatch of sampler and trainer called a shift",
    ),
]
