"""Statistics along the last axis, of those entries that a mask counts in.

NumPy arrays and torch tensors alike; ``values`` and ``mask`` have one shape, and no entry that the
mask leaves out reaches a result or a gradient. Results have length 1 on the last axis, so that
they can be subtracted at once, unless the docstring says (..., n).
"""

from pglab._arrays import boolean, namespace


def where(condition, yes, no):
    """``yes`` where the condition holds, ``no`` elsewhere."""
    return namespace(condition).where(condition, yes, no)


def scored(name, rewards, mask, wanted):
    """Rewards with 0 where the mask is False, and the mask as booleans.

    Raises:
      ValueError: a mask of another shape or type; NaN or infinity where it is True.
    """
    mask = boolean("mask", mask, rewards)
    rewards = where(mask, rewards, 0.0)  # selected before any sum: NaN times 0 would still be NaN
    if not bool(namespace(rewards).isfinite(rewards).all()):
        raise ValueError(
            f"{name} holds NaN or infinity; it must be {wanted}, all finite. "
            "Give mask=False for a completion that could not be scored."
        )
    return rewards, mask


def count(values, mask):
    """How many count, in the precision of the values."""
    return mask.sum(axis=-1, keepdims=True, dtype=values.dtype)


def mean(values, mask):
    """The mean of those that count; 0 where none does."""
    number = count(values, mask)
    return where(mask, values, 0.0).sum(axis=-1, keepdims=True) / where(number > 0, number, 1.0)


def all_equal(values, mask):
    """Whether those that count are all the same number; so they are where one or none counts."""
    xp = namespace(values)
    largest = xp.amax(where(mask, values, -xp.inf), axis=-1, keepdims=True)
    smallest = xp.amin(where(mask, values, xp.inf), axis=-1, keepdims=True)
    return largest <= smallest


def centred(values, mask):
    """(..., n) differences from the mean: exactly 0 among equals, and where the mask is False."""
    return where(mask & ~all_equal(values, mask), values - mean(values, mask), 0.0)


def deviation(differences, mask, ddof):
    """Standard deviation of what ``centred`` gives, with n - ddof in the denominator; 0 among equals."""
    xp = namespace(differences)
    # In units of the largest, so that no square overflows or vanishes.
    largest = xp.amax(abs(differences), axis=-1, keepdims=True)
    unit = where(largest > 0, largest, 1.0)
    degrees = count(differences, mask) - ddof
    squares = ((differences / unit) ** 2).sum(axis=-1, keepdims=True)
    squares = squares / where(degrees > 0, degrees, 1.0)
    # The slope of a root at 0 is infinite: 1 stands there while the root is taken.
    return where(squares > 0, unit * where(squares > 0, squares, 1.0) ** 0.5, 0.0)


def against_others(values, mask):
    """(..., n) differences from the mean of the others; 0 where there are none."""
    number = count(values, mask)
    return centred(values, mask) * number / where(number > 1, number - 1, 1.0)


def deviation_of_others(values, mask):
    """(..., n) sample standard deviation of the others; 0 where they are all equal."""
    xp, size = namespace(values), values.shape[-1]
    place = xp.arange(size, device=values.device)
    others = mask[..., None, :] & (place[:, None] != place)  # (..., n, n): row i without i itself
    rows = xp.broadcast_to(values[..., None, :], others.shape)
    return deviation(centred(rows, others), others, ddof=1)[..., 0]
