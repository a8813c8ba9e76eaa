"""What a long completion pays: the soft overlong punishment."""

import numpy as np

from pglab import _checks


def overlong_penalty(length, soft, hard):
    """A penalty for completions that come close to the limit, added to their reward (DAPO).

        penalty = 0                                up to ``soft`` tokens
                  (soft - length) / (hard - soft)  between
                  -1                               from ``hard`` tokens on

    Args:
      length: the number of tokens of a completion, or an array of such numbers.
      soft: the length up to which nothing is taken off; L_max - L_cache in the paper.
      hard: the length from which the whole point is taken off; L_max in the paper.

    Returns:
      The penalty, from -1 to 0, in the unit of the rewards: a number, or an array like ``length``.

    Raises:
      ValueError: a negative or infinite length, or soft and hard that are not 0 <= soft < hard.

    Source: Yu et al. 2025 (DAPO), section 3.4, soft overlong punishment.
    """
    soft = _checks.number("soft", soft, low=0)
    hard = _checks.number("hard", hard)
    if hard <= soft:
        raise ValueError(f"hard is {hard}; it must be larger than soft, which is {soft}.")
    wanted = "a number of tokens, 0 or more, or an array of such numbers"
    length = _checks.floats("length", length, wanted)
    wrong = ~((length >= 0) & np.isfinite(length))
    if wrong.any():
        raise ValueError(f"length holds {length[wrong][0]}; it must be {wanted}.")
    penalty = np.clip((soft - length) / (hard - soft), -1.0, 0.0)
    return penalty if penalty.ndim else float(penalty)
