"""How a reader's own loss is called: by the names of its parameters, or by their places."""

import inspect

from pglab.museum.probing import NoLoss

ROLES = ("logprobs", "old_logprobs", "advantages", "mask")


def read(loss):
    """A loss that can be called as f(logprobs, old_logprobs, advantages, mask).

    Parameters whose names say which is which (something with "old" or "behav", "adv", "mask", and one with
    "log" or "new") are given by name; otherwise the first four are taken in the order above.

    Args:
      loss: a function.

    Returns:
      the function, and how the loss is called, in words.

    Raises:
      NoLoss: what is no function; a class.
    """
    if inspect.isclass(loss):
        raise NoLoss(
            f"the loss is a class, {loss.__name__}; it must be a function. An instance that can be called will do: "
            f"my_loss = {loss.__name__}(...)."
        )
    if not callable(loss):
        raise NoLoss(f"the loss is of type {type(loss).__name__}; it must be a function.")
    names = _by_name(loss)
    if names is None:
        return loss, f"loss({', '.join(ROLES)})"

    def called(*batch):
        return loss(**dict(zip(names, batch, strict=True)))

    return called, f"loss({', '.join(f'{name}={role}' for name, role in zip(names, ROLES, strict=True))})"


def _by_name(loss):
    """The parameters for the four roles, or None where the names do not say, or the places do."""
    try:
        parameters = inspect.signature(loss).parameters.values()
    except (TypeError, ValueError):  # written in C
        return None
    found = {}
    for each in parameters:
        role = _role(each.name.lower())
        named = each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
        if role is None and each.default is each.empty and named:
            return None  # something else is asked for
        if role is not None and (role in found or not named):
            return None
        if role is not None:
            found[role] = each
    if set(found) != set(ROLES):
        return None
    names = [found[role].name for role in ROLES]
    in_places = [each.name for each in parameters][:4] == names
    only_by_name = any(found[role].kind is inspect.Parameter.KEYWORD_ONLY for role in ROLES)
    return None if in_places and not only_by_name else names


def _role(name):
    if "mask" in name:
        return "mask"
    if "adv" in name:
        return "advantages"
    if "old" in name or "behav" in name:
        return "old_logprobs"
    return "logprobs" if "log" in name or "new" in name else None
