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


def boolean(name, mask, like):
    """``mask`` as booleans, of the same kind and shape as ``like``; None means that all count.

    Raises:
      ValueError: another shape (nothing is broadcast), entries other than False, True, 0 and 1.
    """
    xp = namespace(like)
    if mask is None:
        return xp.ones_like(like, dtype=bool if xp is np else xp.bool)
    wanted = f"booleans of shape {tuple(like.shape)}, True where an entry counts"
    mask = floating(name, mask, wanted)
    if tuple(mask.shape) != tuple(like.shape):
        raise ValueError(f"{name} has shape {tuple(mask.shape)}; it must be {wanted}.")
    if not bool(((mask == 0) | (mask == 1)).all()):
        raise ValueError(f"{name} holds something other than 0 and 1; it must be {wanted}.")
    counts = mask == 1
    if xp is not np:  # the mask may be a NumPy array, or lie on another device
        return xp.as_tensor(counts, device=like.device)
    return counts if namespace(mask) is np else counts.cpu().numpy()
