"""The table of algorithms: every cell is written from the fields, so that it cannot say what does not run."""

from collections.abc import Iterable
from typing import NamedTuple

from pglab.algorithms.registry import ALGORITHMS, named


class Row(NamedTuple):
    """One algorithm in words, ``r`` being the reward of a completion."""

    name: str
    weight: str  # what multiplies the score of a token
    ratio: str  # of which probabilities the new policy is compared with the old; "none" asks no old policy
    constraint: str  # bounds of that ratio, KL, bound of the critic's step; "none" without any
    denominator: str  # what the sum over tokens, A x ratio x score, is divided by
    cost: str  # completions a prompt needs, models beside the policy, rounds of sampling


def table(names=None):
    """Algorithms side by side.

    Args:
      names: names of ``ALGORITHMS`` or ``LIBRARIES``, or what they stand for; None for the registry.

    Returns:
      A list of Row. Two rows that differ in no cell but the name take the same step on every batch.

    Raises:
      ValueError: an unknown name, or one name in place of a list.
    """
    if isinstance(names, str):
        raise ValueError(f"names is {names!r}; it must be a list of names, such as [{names!r}].")
    if names is not None and not isinstance(names, Iterable):
        raise ValueError(f"names is {names!r}; it must be a list of names, such as ['grpo', 'rloo'].")
    return [row(named(each)) for each in (ALGORITHMS if names is None else names)]


def row(algorithm):
    """The Row of an Algorithm."""
    cells = (_weight, _ratio, _constraint, _denominator, _cost)
    return Row(algorithm.name, *(cell(algorithm) for cell in cells))


def _weight(a):
    words = _WEIGHTS[a.weight](a)
    if a.whiten:
        where = "tokens" if a.weight == "critic" else "completions"
        words += f", whitened over the batch's {where}" + (" (population variance)" if a.ddof == 0 else "")
    if a.overlong is not None:
        soft, hard = map(_number, a.overlong)
        words += f"; r falls by up to 1 from {soft} to {hard} tokens too many"
    return words


def _less(baseline):
    if baseline == 0:
        return "r"
    return f"r - {_number(baseline)}" if baseline > 0 else f"r + {_number(-baseline)}"


_WEIGHTS = {
    "constant": lambda a: _less(a.baseline),
    "batch_mean": lambda a: "r - mean",
    "leave_one_out": lambda a: "r - mean of the others",
    "grpo": lambda a: f"(r - mean) / {_scale('std' if a.ddof else 'population std', a.eps)}",
    "max_rl": lambda a: "(r - mean) / mean",
    "leave_one_out_std": lambda a: f"(r - mean of the others) / {_scale('std of the others', a.eps)}",
    "critic": lambda a: f"GAE of a critic, lambda {_number(a.lam)}",
}


def _scale(words, eps):
    if eps:
        return f"({words} + {_tiny(eps)})"
    return f"({words})" if " " in words else words


def _ratio(a):
    return {
        "none": "none",
        "token": "token",
        "sequence_mean": "completion, to the power 1/length",
        "sequence_product": "completion",
    }[a.ratio]


def _constraint(a):
    words = []
    if bounds := _bounds(a):
        words.append(f"weight of the score {bounds}" if a.variant == "cispo" else f"ratio {bounds}")
    if a.dual_clip is not None:
        words.append(f"at most {_number(a.dual_clip)} under a negative weight")
    if a.kl:
        words.append(f"{_number(a.kl)} x KL ({a.kl_kind}) in the {a.kl_where}")
    if a.weight == "critic" and a.value_clip is not None:
        words.append(f"value within {_number(a.value_clip)} of the old")
    return "; ".join(words) or "none"


def _bounds(a):
    """The bounds of the ratio in words; what lies at or below 0 bounds nothing."""
    low, high = a.clip or (None, None)
    low = None if low is None or low >= 1 else _number(1 - low)
    high = None if high is None else _number(1 + high)
    if low and high:
        return f"in [{low}, {high}]"
    return f"at least {low}" if low else f"at most {high}" if high else ""


def _denominator(a):
    if a.ratio == "sequence_mean":  # the score of a mean log-ratio is divided by the completion's tokens
        whole = _of_the_sum(a)
        return "its completion's tokens" + (f", then {whole}" if whole != "1" else "")
    return _of_the_sum(a)


def _of_the_sum(a):
    """What stands below the sum in the code, of token losses or of row losses."""
    rows = "completions" if a.norm is None else _number(a.norm)
    if a.aggregation == "constant":
        each = "longest allowed" if a.norm is None else _number(a.norm)
        return "completions" if each == "1" else f"completions x {each}"
    if a.aggregation == "sum":
        return "1" if a.norm is None else rows
    if not a.by_token:
        return rows
    if a.aggregation == "sequence_mean":
        return f"its completion's tokens, then {rows}"
    return "tokens of the batch" if a.norm is None else rows


def _cost(a):
    least = a.smallest_group
    words = [f"at least {least} completion{'s' * (least > 1)} a prompt"]
    if a.kl:
        words.append("holds a reference")
    if a.weight == "critic":
        words.append(f"trains a critic ({_number(a.value_weight)} x its loss)")
    if a.rounds > 1:
        words.append(f"up to {a.rounds} rounds of sampling")
    return ", ".join(words)


def _number(value):
    """Such as 0.8 for 1 - 0.2."""
    return f"{value:.12g}"


def _tiny(value):
    """Such as 1e-4."""
    if value >= 0.01:
        return _number(value)
    digits, _, power = f"{value:.11e}".partition("e")
    return f"{digits.rstrip('0').rstrip('.')}e{int(power)}"
