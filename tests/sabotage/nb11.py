"""Faults that a claim of notebook 11 must notice."""

from cells import Fault

# It starts two workers, and nothing later needs it.
LEAVE_OUT = ("free.bind(",)

FAULTS = [
    Fault(
        "pglab.scaling.decoder",
        "attention = d * (q + 2 * kv) + q * d",
        "attention = d * (q + 2 * kv)",
        "P1",
        "the attention's output matrix not counted",
    ),
    Fault(
        "pglab.scaling.memory",
        "return 2 * decoder.layers * decoder.kv_heads * decoder.head_size * size * tokens",
        "return decoder.layers * decoder.kv_heads * decoder.head_size * size * tokens",
        "P1",
        "keys counted, and values not",
    ),
    Fault(
        "pglab.scaling.memory",
        'if role == "trained" or item == "weights":',
        "if True:",
        "P1",
        "gradients and moments of frozen models counted",
    ),
    Fault(
        "pglab.scaling.seconds",
        "return Step(drawn[0], once * reference, 3.0 * once * epochs, *drawn[1:])",
        "return Step(drawn[0], once * reference, once * epochs, *drawn[1:])",
        "P3",
        "the backward pass takes no time",
    ),
    Fault(
        "pglab.scaling.seconds",
        "return waves * answer_length * max(memory, work) + first",
        "return waves * answer_length * min(memory, work) + first",
        "P3",
        "the faster of reading and computing decides",
    ),
    Fault(
        "pglab.offpolicy.answers",
        "0.0, log_pi - log_mu)",
        "0.0, log_mu - log_pi)",
        "P2",
        "the importance weight upside down",
    ),
    Fault(
        "pglab.offpolicy.moments",
        'return np.minimum(full, cap) if mode == "truncate"',
        'return np.maximum(full, cap) if mode == "truncate"',
        "P2",
        "max for min in the cap",
    ),
    Fault(
        "pglab.offpolicy.moments",
        "parts.sum(axis=1, keepdims=True), ratio.shape)",
        "parts.mean(axis=1, keepdims=True), ratio.shape)",
        "P2",
        "a mean for the product of a sequence's ratios",
    ),
    Fault(
        "pglab.offpolicy.caps",
        "variance = np.maximum(square - own, 0.0)",
        "variance = square",
        "P2",
        "the second moment for the variance",
    ),
    Fault(
        "pglab.losses",
        "return losses.sum() / (norm or mask.sum().clamp(min=1))",
        "return losses.sum() / mask.sum().clamp(min=1)",
        "P4",
        "each worker divides by its own tokens",
    ),
    Fault(
        "pglab.sampling.draw",
        "noise = noise[:, first : first + batch]",
        "noise = noise[:, :batch]",
        "P4",
        "every worker draws with the first one's noise",
    ),
]
