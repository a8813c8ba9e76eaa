"""Which loss of pglab a reader's loss is: tried on random batches, kind by kind."""

import math

import torch

from pglab import losses
from pglab.museum.exhibit import TOLERANCE, close

BATCHES = 12  # random ones, of each kind
DIGITS = 6  # of bounds and norms: as many as a loss that is computed in float32 has

# Kinds of batches, the plainest first: what is new in each is what a loss that fails there does otherwise.
KINDS = {
    "fresh rows of one length": dict(apart=0.0),
    "fresh rows of different lengths": dict(apart=0.0, ragged=True),
    "rows of an older policy": dict(ragged=True),
    "rows of a much older policy": dict(ragged=True, apart=1.5),
    "large advantages": dict(ragged=True, large=10.0),
    "a row without tokens": dict(ragged=True, empty=True),
}


def matched(loss, portrait):
    """The call of ``losses.policy_loss`` that gives a loss's values and slopes.

    Args:
      loss: f(logprobs, old_logprobs, advantages, mask) -> one number.
      portrait: Portrait.

    Returns:
      the call in words and None, where it agrees on random batches of all ``KINDS``; otherwise None, and the
      first kind on which no call agrees: of all calls that the portrait allows the one that goes farthest.

    Raises:
      nothing: a loss that raises on a batch does not agree there.
    """
    farthest = -1
    for options in candidates(portrait):
        agrees = [same(loss, options, **kind) for kind in KINDS.values()]
        if all(agrees):
            return call(options), None
        farthest = max(farthest, agrees.index(False))
    return None, None if farthest < 0 else list(KINDS)[farthest]


def candidates(portrait):
    """Options of ``losses.policy_loss`` that have this portrait; without a clip two variants have the same slopes."""
    options = settings(portrait)
    if options is None:
        return
    for variant in ("ppo", "cispo") if portrait.variant == "none" else (portrait.variant,):
        for rows in ("exclude", "count"):
            found = options | ({} if variant == "ppo" else {"variant": variant})
            yield found | ({} if rows == "exclude" else {"empty_rows": rows})


def settings(portrait):
    """Options of ``losses.policy_loss`` for a portrait; None where there are none."""
    if None in (portrait.ratio, portrait.variant, portrait.aggregation) or portrait.aggregation == "width":
        return None
    found = {"ratio": portrait.ratio, "aggregation": portrait.aggregation}
    if portrait.ratio == "none":  # the ratio of a policy to itself is 1
        found = {"old_logprobs": None, "aggregation": portrait.aggregation}
    low = None if portrait.low == 0 else round(1 - portrait.low, DIGITS)
    high = None if math.isinf(portrait.high) else round(portrait.high - 1, DIGITS)
    found["clip"] = None if low is None and high is None else (low, high)
    if math.isfinite(portrait.dual):
        found["dual_clip"] = round(portrait.dual, DIGITS)
    if portrait.norm is not None and (portrait.aggregation != "sum" or not close(portrait.norm, 1.0)):
        found["norm"] = round(portrait.norm, DIGITS)
    return found


def call(options):
    """The options as one would write them."""
    return f"losses.policy_loss({', '.join(f'{name}={value!r}' for name, value in options.items())})"


def same(loss, options, **kind):
    """Whether values and slopes agree on random batches of a kind."""
    noise = torch.Generator().manual_seed(0)
    try:
        for _ in range(BATCHES):
            batch = drawn(noise, **kind)
            value, slope = _both(loss, *batch)
            wanted, wanted_slope = _both(_ours(options), *batch)
            scale = wanted.abs() + wanted_slope.abs().sum()  # a norm may make all of it small
            off = (value - wanted).abs() + (slope - wanted_slope).abs().sum()
            if not off <= TOLERANCE * scale:  # not closer: a loss may be computed in float32
                return False
    except (Exception, SystemExit):  # what it raises on is no loss of ours
        return False
    return True


def drawn(noise, apart=0.4, ragged=False, large=1.0, empty=False):
    """A batch of four rows of up to five tokens.

    ``apart`` is the deviation of the log-ratios; advantages lie within plus and minus ``large``.
    """
    lengths = torch.randint(1, 6, (4, 1), generator=noise) if ragged else torch.full((4, 1), 5)
    if empty:
        lengths[int(torch.randint(4, (1,), generator=noise))] = 0
    old = -torch.rand(4, 5, generator=noise, dtype=torch.float64) - 12.5  # new is below 0 too
    new = old + apart * torch.randn(4, 5, generator=noise, dtype=torch.float64)
    weights = large * (2 * torch.rand(4, generator=noise, dtype=torch.float64) - 1)
    return new, old, weights, torch.arange(5) < lengths


def _ours(options):
    if "old_logprobs" not in options:
        return lambda new, old, weights, mask: losses.policy_loss(new, old, weights, mask, **options)
    rest = {name: value for name, value in options.items() if name != "old_logprobs"}
    return lambda new, old, weights, mask: losses.policy_loss(new, None, weights, mask, **rest)


def _both(loss, new, old, weights, mask):
    new = new.clone().requires_grad_()
    value = loss(new, old.clone(), weights.clone(), mask.clone()).sum()  # it may change what it is given
    return value.detach(), torch.autograd.grad(value, new)[0]
