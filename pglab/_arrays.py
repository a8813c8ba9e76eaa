"""NumPy arrays and torch tensors alike: what the estimator rooms need to serve both.

Torch is never imported here. Whoever passes a tensor has imported it already.
"""

import sys

import numpy as np

from pglab import _checks


def namespace(value):
    """The module whose functions fit ``value``: torch for a tensor, otherwise NumPy."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and isinstance(value, torch.Tensor) else np


def floating(name, value, wanted):
    """``value`` as a floating-point array of its own kind: float32 stays so, integers become float64.

    A tensor stays a tensor on its device. Half precision becomes float32: sums and squares of it
    would overflow.

    Raises:
      ValueError: anything that is not made of real numbers.
    """
    xp = namespace(value)
    if xp is not np:
        if value.is_complex():
            raise ValueError(f"{name} is a complex tensor; it must be {wanted}.")
        if value.is_floating_point():
            return value if value.element_size() >= 4 else value.float()
        return value.double()
    array = _checks.real(name, value, wanted)
    if array.dtype.kind == "f":
        return array if array.itemsize >= 4 else array.astype(np.float32)
    return array.astype(np.float64)


def like(name, value, other, wanted):
    """``value`` as a floating-point array of the kind of ``other``, and on its device.

    Numbers, lists, and NumPy arrays beside a tensor take the precision of ``other``; other arrays
    keep their own. A tensor beside a NumPy array is refused: which of the two the result should be
    is not ours to guess.

    Raises:
      ValueError: anything that is not made of real numbers; a tensor where ``other`` is none.
    """
    xp = namespace(other)
    if xp is np and namespace(value) is not np:
        raise ValueError(f"{name} is a tensor beside a NumPy array; hand in both as one kind, {wanted}.")
    array = floating(name, value, wanted)
    if namespace(array) is not np:
        return array.to(other.device, array.dtype if array.ndim else other.dtype)
    if xp is not np:  # a copy: torch reads no array that is read-only or runs backwards
        return xp.as_tensor(array.copy(), dtype=other.dtype, device=other.device)
    return array if isinstance(value, np.ndarray) and value.ndim else array.astype(other.dtype)


def boolean(name, mask, like):
    """``mask`` as booleans, of the same kind and shape as ``like``; None means that all count.

    Raises:
      ValueError: another shape (nothing is broadcast), another type than booleans or whole numbers,
        entries other than False, True, 0 and 1.
    """
    xp = namespace(like)
    if mask is None:
        return xp.ones_like(like, dtype=xp.bool)
    wanted = f"booleans of shape {tuple(like.shape)}, True where an entry counts"
    if _has_fractions(name, mask, wanted):
        raise ValueError(f"{name} is of a floating-point type; it must be {wanted}.")
    mask = floating(name, mask, wanted)
    if tuple(mask.shape) != tuple(like.shape):
        raise ValueError(f"{name} has shape {tuple(mask.shape)}; it must be {wanted}.")
    if not bool(((mask == 0) | (mask == 1)).all()):
        raise ValueError(f"{name} holds something other than 0 and 1; it must be {wanted}.")
    counts = mask == 1
    if xp is not np:  # the mask may be a NumPy array, or lie on another device
        return xp.as_tensor(counts, device=like.device)
    return counts if namespace(mask) is np else counts.cpu().numpy()


def _has_fractions(name, value, wanted):
    """Whether the type of an array is a floating-point one: such a mask may be weights in the wrong place."""
    if namespace(value) is not np:
        return value.is_floating_point()
    return _checks.real(name, value, wanted).dtype.kind == "f"
