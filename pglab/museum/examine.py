"""The museum as a tool: which exhibits does a reader's own loss fall for?"""

import math
from typing import NamedTuple

import torch

from pglab import losses
from pglab.museum.exhibit import TOLERANCE, Exhibit, close, raised, same_mistake, shown
from pglab.museum.loss_exhibits import LOSSES
from pglab.museum.portrait import Portrait, describe, portray
from pglab.museum.probing import NoLoss, unit

BATCHES = 50  # random ones, for the comparison with the loss that the portrait describes
DIGITS = 6  # of bounds and norms: as many as a loss that is computed in float32 has

# What may be meant so, and what it is then.
CHOICES = {
    "summed_ratio": "no mistake if one ratio for the whole answer is what you want, as in RLOO",
    "fresh_ratio": "no mistake if each batch is used for one update only, and sampled by this very policy",
    "budget_only": "no mistake if you want a plain sum and divide elsewhere",
}


class Result(NamedTuple):
    """What one oracle test says: "ok", "falls" (its very mistake), "differs" (another one), or "raises"."""

    exhibit: Exhibit
    verdict: str
    words: str

    @property
    def can_be_meant(self):
        """Whether it is an exhibit's very mistake, and one that is no mistake if it is meant."""
        return self.verdict == "falls" and self.exhibit.name in CHOICES


class Examination(NamedTuple):
    """All that was found out; ``equal`` says which loss of pglab this is, or is None."""

    portrait: Portrait
    results: list
    equal: str | None

    @property
    def falls_for(self):
        """Names of the exhibits whose mistake was found, those first that explain the others."""
        return [each.exhibit.name for each in self.results if each.verdict == "falls"]

    @property
    def fine(self):
        """Whether every oracle test passed, or failed by a choice that can be meant."""
        return all(each.verdict == "ok" or each.can_be_meant for each in self.results)


def examine(loss):
    """Runs the oracle tests of all exhibits on a loss.

    Args:
      loss: f(logprobs, old_logprobs, advantages, mask) -> one number, a torch tensor: (B, T), (B, T),
        (B,) and (B, T) booleans; float64 is handed in.

    Returns:
      Examination.

    Raises:
      ValueError: a loss that cannot be called so, that returns no single number, or that has no gradient or
        NaN for one.

    Source: made for this course; each exhibit names its report.
    """
    try:
        if unit(loss).isnan():
            raise NoLoss("the slope of the loss is NaN for a single token, with ratio 1 and advantage -1.")
        portrait = portray(loss)
    except NoLoss:
        raise
    except (Exception, SystemExit) as error:  # the reader's own function may raise anything
        raise ValueError(
            f"the loss raised {raised(error)}. It is called as "
            "loss(logprobs, old_logprobs, advantages, mask), with (B, T), (B, T), (B,) and (B, T) booleans."
        ) from error
    results = [_result(exhibit, loss) for exhibit in LOSSES if _asked(exhibit, portrait)]
    return Examination(portrait, results, _equal(loss, portrait))


def _asked(exhibit, portrait):
    """Not every question is for every loss: without a clip nothing can be clipped on the wrong side."""
    most = min(portrait.high, portrait.dual) if portrait.variant == "ppo" else math.inf
    if exhibit.kind == "sequence loss":  # it looks at a ratio of 1.1, and GSPO's own bounds are narrower
        return portrait.ratio == "sequence_mean" and most > 1.1
    if exhibit.name in ("larger_of_two", "clipped_only"):  # they look at ratios of 0.5 and 2
        held = portrait.low > 0.501 and portrait.high < 1.999 and portrait.dual > 2.001
        return portrait.variant is None or (portrait.variant == "ppo" and held)
    if exhibit.name in ("fresh_ratio", "low_cap") and portrait.variant == "cispo" and portrait.low > 0:
        return False  # they look at low ratios, which such a loss cuts
    if exhibit.name in ("summed_ratio", "low_cap"):
        return portrait.ratio != "none"
    return True


def _result(exhibit, loss):
    try:
        gives = exhibit.gives(loss)
    except (Exception, SystemExit) as error:
        return Result(exhibit, "raises", raised(error))
    if close(gives, exhibit.right):
        return Result(exhibit, "ok", "")
    verdict = "falls" if same_mistake(exhibit, gives) else "differs"
    return Result(exhibit, verdict, f"gives {shown(gives)}; right is {shown(exhibit.right)}")


def _equal(loss, portrait):
    """The call of ``losses.policy_loss`` that gives the same numbers on random batches; None if none does."""
    options = settings(portrait)
    if options is None:
        return None
    variants = ("ppo", "cispo") if portrait.variant == "none" else (portrait.variant,)
    for variant in variants:  # without a clip they have the same slopes
        call = options | ({"variant": variant} if variant != "ppo" else {})
        if _same(loss, lambda *batch, call=call: losses.policy_loss(*batch, **call)):
            return f"losses.policy_loss({', '.join(f'{name}={value!r}' for name, value in call.items())})"
    return None


def _same(loss, other):
    """Whether values and slopes agree on random batches."""
    noise = torch.Generator().manual_seed(0)
    try:
        for _ in range(BATCHES):
            batch = _random(noise)
            value, slope = _both(loss, *batch)
            wanted, wanted_slope = _both(other, *batch)
            scale = wanted.abs() + wanted_slope.abs().sum()  # a norm may make all of it small
            off = (value - wanted).abs() + (slope - wanted_slope).abs().sum()
            if not off <= TOLERANCE * scale:  # not closer: a loss may be computed in float32
                return False
    except (Exception, SystemExit):  # what it raises on is no loss of ours
        return False
    return True


def settings(portrait):
    """Options of ``losses.policy_loss`` for a portrait; None where there are none."""
    if None in (portrait.ratio, portrait.variant, portrait.aggregation) or portrait.aggregation == "width":
        return None
    if portrait.ratio == "none":
        return None
    found = {"ratio": portrait.ratio, "aggregation": portrait.aggregation}
    low = None if portrait.low == 0 else round(1 - portrait.low, DIGITS)
    high = None if math.isinf(portrait.high) else round(portrait.high - 1, DIGITS)
    found["clip"] = None if low is None and high is None else (low, high)
    if math.isfinite(portrait.dual):
        found["dual_clip"] = round(portrait.dual, DIGITS)
    if portrait.norm is not None and (portrait.aggregation != "sum" or not close(portrait.norm, 1.0)):
        found["norm"] = round(portrait.norm, DIGITS)
    return found


def _random(noise):
    """A batch of four ragged rows, off-policy, none of them empty."""
    lengths = torch.randint(1, 6, (4, 1), generator=noise)
    mask = torch.arange(5) < lengths
    old = -torch.rand(4, 5, generator=noise, dtype=torch.float64) - 2.5  # new is below 0 too
    new = old + 0.4 * torch.randn(4, 5, generator=noise, dtype=torch.float64)
    return new, old, torch.randn(4, generator=noise, dtype=torch.float64), mask


def _both(loss, new, old, weights, mask):
    new = new.clone().requires_grad_()
    value = loss(new, old.clone(), weights.clone(), mask.clone()).sum()  # it may change what it is given
    return value.detach(), torch.autograd.grad(value, new)[0]


def report(examination, name):
    """The examination in words.

    Args:
      examination: Examination.
      name: of the loss.

    Returns:
      str of some lines.
    """
    lines = [f"{name}, read as loss(logprobs, old_logprobs, advantages, mask)", ""]
    lines += [f"  {line}" for line in describe(examination.portrait)]
    if examination.equal:
        lines += [
            "",
            f"On {BATCHES} random batches its value and its slopes are those of",
            f"  {examination.equal}",
        ]
    lines += ["", "Oracle tests"]
    for each in examination.results:
        mark = {"ok": "ok", "falls": "FALLS", "differs": "differs", "raises": "raises"}[each.verdict]
        lines.append(f"  {mark:8} {each.exhibit.name:18} {each.words}".rstrip())
        if each.can_be_meant:
            lines.append(f"  {'':27} ({CHOICES[each.exhibit.name]})")
    return "\n".join([*lines, "", _closing(examination)])


def _closing(examination):
    number, falls = len(examination.results), examination.falls_for
    failed = [each for each in examination.results if each.verdict != "ok"]
    if not failed:
        return f"All {number} oracle tests pass."
    if examination.fine:
        return f"{number - len(failed)} of {number} oracle tests pass; {' and '.join(falls)} may be meant so."
    if falls:
        return (
            f"It falls for {len(falls)} of {number} exhibits: {', '.join(falls)}.\n"
            f"python -m pglab.museum --show {falls[0]}   opens the case."
        )
    return (
        f"{len(failed)} of {number} oracle tests fail, and none of the mistakes here explains it digit for digit. "
        f"Begin with {failed[0].exhibit.name}."
    )
