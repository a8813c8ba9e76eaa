"""Faults that a claim of notebook 03 must notice."""

from cells import Fault

FAULTS = [
    Fault(
        "pglab.bandit",
        "excess = (rewards - mean) @ mass",
        "excess = rewards @ mass",
        "B3",
        "the mean reward counted twice in the optimal baseline",
    ),
    Fault(
        "pglab.bandit",
        "squared = score_matrix(logits) ** 2  #",
        "squared = abs(score_matrix(logits))  #",
        "B3",
        "lengths for squared lengths in the optimal baseline",
    ),
    Fault(
        "pglab._masked",
        "return centred(values, mask) * number / where(number > 1, number - 1, 1.0)",
        "return centred(values, mask)",
        "B6",
        "leave-one-out that leaves nothing out",
    ),
    Fault(
        "pglab._masked",
        "return centred(values, mask) * number / where(number > 1, number - 1, 1.0)",
        "return centred(values, mask) * where(number > 1, number - 1, 1.0) / number",
        "B6",
        "the correction (G - 1)/G upside down",
    ),
    Fault(
        "pglab._masked",
        "axis=-1, keepdims=True) / where(number > 0, number, 1.0)",
        "axis=-1, keepdims=True) / where(number > 1, number - 1, 1.0)",
        "B6",
        "a mean over G - 1",
    ),
    Fault(
        "pglab.groups.estimates",
        "return float((4 * (size - 2) * zeta_1 + 2 * zeta_2) / (size * (size - 1)))",
        "return float((4 * (size - 2) * zeta_1 + 2 * zeta_2) / size**2)",
        "B7",
        "G^2 pairs instead of G (G - 1)",
    ),
    Fault(
        "pglab.groups.estimates",
        "zeta_2 = p @ centred**2 - gradient @ gradient",
        "zeta_2 = p @ centred**2",
        "B7",
        "the squared mean not taken off the variance of a pair",
    ),
    Fault(
        "pglab.advantages",
        "return _where(mask, rewards - baseline, 0.0)",
        "return _where(mask, rewards + baseline, 0.0)",
        "B12",
        "the baseline added",
    ),
    Fault(
        "pglab.groups.listing",
        "total = chances[number] * value + (0.0 if total is None else total)",
        "total = value / possible.size + (0.0 if total is None else total)",
        "B14",
        "all multisets taken for equally likely",
    ),
]
