"""Fields of an algorithm as words of the command line:  --set clip=0.2,0.28  --set clip=none."""

from dataclasses import fields
from typing import get_args

from pglab import _checks, algorithms

FIELDS = {field.name: field.type for field in fields(algorithms.Algorithm)}
WANTED = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    tuple: "two numbers with a comma, such as 0.2,0.28, and none for a side that is open",
}


def chosen(words):
    """{field: value}, from words such as "clip=0.2,0.28"; of two for one field the later counts."""
    found = {}
    for word in words:
        field, sign, text = word.partition("=")
        field = field.strip().replace("-", "_")
        if not sign:
            raise ValueError(f"--set is {word!r}; it must be FIELD=VALUE, such as --set clip=0.2,0.28.")
        if field not in FIELDS:
            near = _checks.nearest(field.lower(), FIELDS)
            meant = f"Did you mean {near}? " if near else ""
            raise ValueError(
                f"--set is {word!r}; there is no such field. {meant}There are {', '.join(FIELDS)}."
            )
        found[field] = value_of(field, text.strip())
    return found


def value_of(field, text):
    """A text as the type of the field asks."""
    kinds = get_args(FIELDS[field]) or (FIELDS[field],)  # such as (float, NoneType)
    if type(None) in kinds and text.lower() == "none":
        return None
    try:
        if kinds[0] is tuple:
            low, high = text.strip("()[]").split(",")
            return tuple(None if end.strip().lower() == "none" else float(end) for end in (low, high))
        return {"true": True, "false": False}[text.lower()] if kinds[0] is bool else kinds[0](text)
    except (ValueError, KeyError):
        wanted = WANTED[kinds[0]] + ("; or none" if type(None) in kinds else "")
        raise ValueError(f"--set {field} is {text!r}; it must be {wanted}.") from None


def shown(value):
    """A field's value as ``value_of`` reads it."""
    if isinstance(value, tuple):
        return ",".join(map(shown, value))
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)
