"""Faults that a claim of notebook 09 must notice."""

from cells import Fault

FAULTS = [
    Fault(
        "pglab.losses",
        "above = (advantages > 0) & (seen > math.log(high))",
        "above = seen > math.log(high)",
        "Z7",
        "clipped from above where the advantage is negative",
    ),
    Fault(
        "pglab._masked",
        "return centred(values, mask) * number / where(number > 1, number - 1, 1.0)",
        "return centred(values, mask) * where(number > 1, number - 1, 1.0) / number",
        "Z7",
        "the correction (G - 1)/G upside down",
    ),
    Fault(
        "pglab.groups.estimates",
        "weight = counts * _advantage_table(values, counts, advantage, size) / size  # (M, K)",
        "weight = counts * _advantage_table(values, counts, advantage, size) / (size - 1)  # (M, K)",
        "Z1",
        "a mean over G - 1",
    ),
    Fault(
        "pglab.groups.scale",
        "deviation = np.sqrt(right * (size - right) / (size * (size - int(ddof))))",
        "deviation = np.sqrt(right * (size - right) / size**2)",
        "Z1",
        "ddof read and never used",
    ),
    Fault(
        "pglab._masked",
        "return where(mask & ~all_equal(values, mask), values - mean(values, mask), 0.0)",
        "return where(mask, values - mean(values, mask), 0.0)",
        "Z10",
        "equal rewards not found by comparing: rounding divided by eps",
    ),
    Fault(
        "pglab.mdp.lengths",
        "return (n < more) * on - n * stop",
        "return on - n * stop",
        "Z2",
        "the end at the longest length scored as a choice",
    ),
    Fault(
        "pglab.losses",
        'if empty_rows == "exclude" else max(len(mask), 1)',
        'if empty_rows == "count" else max(len(mask), 1)',
        "Z5",
        "empty rows counted where they are to be left out",
    ),
    Fault(
        "pglab.steps",
        "pull = np.where(held(ratio, weights, low, high), 0.0, weights * ratio)",
        "pull = weights * ratio",
        "Z3",
        "the clip forgotten",
    ),
    Fault(
        "pglab.losses",
        "return -seen.exp().clamp(low, high) * advantages * logprobs",
        "return -log_ratio.exp().clamp(low, high) * advantages * logprobs",
        "Z4",
        "CISPO's weight not detached",
    ),
    Fault(
        "pglab.algorithms.algorithm",
        'return "sum", rows * (self.norm or mask.shape[1])',
        'return "sum", rows * mask.shape[1]',
        "Z6",
        "the width of the batch for the token budget that was given",
    ),
    Fault(
        "pglab.advantages",
        "scale = xp.hypot(scale, xp.full_like(scale, eps**0.5))",
        "scale = scale + eps",
        "Z6",
        "eps added outside the root",
    ),
]
