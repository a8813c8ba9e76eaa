"""What the rooms of pglab offer, found by looking."""

import importlib
import inspect
import pkgutil

import pglab


def public():
    """{"room.name": function or class} of all rooms: what ``__all__`` names, else all that has no underscore.

    A module that a room offers is a door too, such as museum.faults; what it has from elsewhere is not.
    """
    found = {}
    for info in pkgutil.iter_modules(pglab.__path__):
        if not info.name.startswith("_"):
            room = importlib.import_module(f"pglab.{info.name}")
            offered = {name: getattr(room, name) for name in getattr(room, "__all__", vars(room))}
            found |= {f"{info.name}.{name}": thing for name, thing in own(room, offered)}
            for inner in filter(inspect.ismodule, offered.values()):
                if inner.__name__.startswith(f"{room.__name__}."):
                    label = inner.__name__.removeprefix("pglab.")
                    found |= {f"{label}.{name}": thing for name, thing in own(inner, vars(inner))}
    return found


def own(module, things):
    """Those of some functions and classes that a module has made, sorted by name."""
    for name, thing in sorted(things.items()):
        made = getattr(thing, "__module__", None) or ""
        if callable(thing) and not name.startswith("_") and made.startswith(module.__name__):
            yield name, thing


def parameters(thing):
    """Names and kinds of what a function takes; nothing where Python cannot say."""
    try:
        return dict(inspect.signature(thing).parameters)
    except (TypeError, ValueError):
        return {}
