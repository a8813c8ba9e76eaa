"""What a loss is, found out from its slopes alone: level of the ratio, what holds it, denominator."""

import math
from typing import NamedTuple

import torch

from pglab.museum.exhibit import close
from pglab.museum.probing import slopes

FAR = 15.0  # a log-ratio at which every bound has been passed; libraries cut log-ratios at 20
HALVINGS = 60
NEAR = 1e-4  # an edge is found less exactly than a slope


class Portrait(NamedTuple):
    """What slopes say of a loss; None where they fit nothing that is known.

    ``ratio``: "token", "sequence_mean", "sequence_product", or "none". ``variant``: "ppo" (a clipped token
    has no slope), "cispo" (its weight is cut), or "none" (nothing holds it). ``low`` and ``high`` are bounds
    of the ratio itself, ``dual`` that of a negative advantage. ``aggregation``: "token_mean",
    "sequence_mean" (``norm`` in the place of the rows, or None), "constant" (``norm`` tokens for each row), "sum"
    (``norm``), or "width" (tokens and padding).
    """

    ratio: str | None
    variant: str | None
    low: float
    high: float
    dual: float
    aggregation: str | None
    norm: float | None


def portray(loss):
    """Finds out what a loss is.

    Args:
      loss: f(logprobs, old_logprobs, advantages, mask) -> one number.

    Returns:
      Portrait.

    Raises:
      ValueError: as ``probing.ask``.
    """
    ratio = _level(loss)
    variant, low, high, dual = _bounds(loss) if ratio != "none" else ("none", 0.0, math.inf, math.inf)
    return Portrait(ratio, variant, low, high, dual, *_denominator(loss, ratio))


LEVELS = {
    "token": (-0.05, -0.1),
    "sequence_mean": (-0.075, -0.075),
    "sequence_product": (-0.15, -0.15),
    "none": (0, 0),
}


def _level(loss):
    """Two tokens that have become a little less likely; with a positive advantage no clip holds them."""
    fresh = slopes(loss, [[0.0, 0.0]], [1.0])[0]
    share = slopes(loss, [[-0.05, -0.1]], [1.0])[0] / fresh
    found = next((name for name, x in LEVELS.items() if close(share, [math.exp(each) for each in x])), None)
    if found == "none" and not close(slopes(loss, [[-5.0, -5.0]], [1.0])[0] / fresh, 1.0):
        return None  # a weight that is cut already where the ratio is 1
    return found


def _bounds(loss):
    """Which kind of constraint; the bounds of the ratio; where the dual clip begins."""

    fresh = {advantage: slopes(loss, [[0.0]], [advantage])[0, 0] for advantage in (1.0, -1.0)}

    def weight(log_ratio, advantage):
        """What a token weighs beside a fresh one, in units of its ratio: 1 if nothing holds it."""
        held = slopes(loss, [[log_ratio]], [advantage])[0, 0]
        return float(held / fresh[advantage]) / math.exp(log_ratio)

    low = math.exp(-_edge(lambda x: weight(-x, -1.0)))
    high = math.exp(_edge(lambda x: weight(x, 1.0)))
    dual = math.exp(_edge(lambda x: weight(x, -1.0)))
    # Slopes far beyond each bound, in units of a fresh token's: 0 where it is clipped.
    above, below = weight(FAR, 1.0) * math.exp(FAR), weight(-FAR, -1.0) * math.exp(-FAR)
    shares = [slope / bound for bound, slope in ((high, above), (low, below)) if bound not in (0, math.inf)]
    if shares and all(abs(share - 1) < NEAR for share in shares):
        return "cispo", below if low else 0.0, above if math.isfinite(high) else math.inf, math.inf
    beyond = math.isfinite(dual) and weight(FAR, -1.0)
    both_ways = fresh[1.0] * fresh[-1.0] < 0
    if any(shares) or beyond or not close(weight(-FAR, 1.0), 1.0) or not both_ways:
        return None, low, high, dual  # what should be pulled back is held, or something in between
    held = low > 0 or math.isfinite(high) or math.isfinite(dual)
    return "ppo" if held else "none", low, high, dual


def _edge(weight):
    """The log-ratio, 0 or more, up to which a token weighs its ratio; infinity if however far."""

    def free(x):
        return close(weight(x), 1.0)

    if not free(1e-5):
        return 0.0
    near, far = 1e-5, FAR
    if free(far):
        return math.inf
    for _ in range(HALVINGS):
        middle = (near + far) / 2
        near, far = (middle, far) if free(middle) else (near, middle)
    return near


def _denominator(loss, ratio):
    """The mode and its norm, from the slopes of fresh tokens in three batches."""

    def of(lengths, width):
        mask = torch.arange(width) < torch.tensor(lengths)[:, None]
        found = -slopes(loss, torch.zeros(mask.shape).tolist(), [1.0] * len(lengths), mask.tolist())
        # With the mean log-ratio a row is one action, and its tokens share its slope.
        return found.sum(1) if ratio == "sequence_mean" else found[:, 0]

    (alone,), (short, long), (padded, _) = of([1], 1), of([1, 3], 3), of([1, 3], 6)
    if not close(of([3, 1], 3), [float(long), float(short)]):
        return None, None  # the order of the rows matters
    shares = [float(x / alone) for x in (short, long, padded)]
    by_row = ratio in ("sequence_mean", "sequence_product")
    for name, wanted in SHARES.items():
        if close(shares, wanted):
            if by_row and name == "constant" and close(alone, 1.0):
                return "sequence_mean", None  # rows are what there is a mean of
            norm = float(1 / alone) if name in ("constant", "sum", "row_sum") else None
            return {"row_sum": "sequence_mean"}.get(name, name), norm
    return None, None


SHARES = {  # a token's slope in a batch of rows of 1 and 3 tokens, and the first one's in a wider batch
    "token_mean": (1 / 4, 1 / 4, 1 / 4),
    "sequence_mean": (1 / 2, 1 / 6, 1 / 2),
    "row_sum": (1, 1 / 3, 1),  # means of rows, divided by a number that is handed in
    "constant": (1 / 2, 1 / 2, 1 / 2),
    "sum": (1, 1, 1),
    "width": (1 / 6, 1 / 6, 1 / 12),
}


def describe(portrait):
    """The portrait in four short lines."""
    ratio = {
        "token": "one for each token",
        "sequence_mean": "one for each answer: exp of the mean log-ratio",
        "sequence_product": "one for each answer: the product over its tokens",
        "none": "none: the old log-probabilities are not used",
        None: "fits no level that is known here",
    }[portrait.ratio]
    low, high = f"{portrait.low:.6g}", f"{portrait.high:.6g}"
    up = f"above {high} where A > 0" * math.isfinite(portrait.high)
    down = f"below {low} where A < 0" * (portrait.low > 0)
    sides = " and ".join(side for side in (up, down) if side)
    held = {
        "ppo": f"no slope {sides}",
        "cispo": f"weights kept within {low} and {high}",
        "none": "nothing",
        None: "fits no clip that is known here",
    }[portrait.variant]
    if math.isfinite(portrait.dual) and portrait.variant == "ppo":
        held += f"; dual clip at {portrait.dual:.6g}"
    norm = f"{portrait.norm:.6g}" if portrait.norm else ""
    divided = {
        "token_mean": "the tokens that count",
        "sequence_mean": f"each row's tokens, then {norm or 'the rows'}",
        "constant": f"the rows, times {norm}",
        "sum": "nothing" if norm == "1" else norm,
        "width": "rows times width, padding too",
        None: "fits no denominator that is known here",
    }[portrait.aggregation]
    return [f"ratio         {ratio}", f"held by       {held}", f"divided by    {divided}"]
