"""The museum as a tool: which exhibits does a reader's own loss fall for?"""

import math
from typing import NamedTuple

import numpy as np

from pglab.museum.exhibit import Exhibit, close, raised, shown
from pglab.museum.loss_exhibits import LOSSES
from pglab.museum.matching import matched
from pglab.museum.portrait import Portrait, describe, portray
from pglab.museum.probing import NoLoss, ask, unit
from pglab.museum.reading import read

ROUGHLY = 2e-2  # relative, what half precision leaves

# What may be meant so, and what it is then.
CHOICES = {
    "summed_ratio": "no mistake if one ratio for the whole answer is what you want, as in RLOO",
    "fresh_ratio": "no mistake if each batch is used for one update only, and sampled by this very policy",
    "budget_only": "no mistake if you want a plain sum and divide elsewhere",
    "live_advantages": "no mistake if your advantages never carry a gradient; a detach costs nothing",
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
    """All that was found out.

    ``called`` says how the loss was called. ``equal`` is the call of ``losses.policy_loss`` that gives the same
    values and slopes, or None; then ``parts_on`` is the first kind of batch on which it is none that is known.
    """

    called: str
    portrait: Portrait
    results: list
    equal: str | None
    parts_on: str | None

    @property
    def falls_for(self):
        """Names of the exhibits whose mistake was found, those first that explain the others."""
        return [each.exhibit.name for each in self.results if each.verdict == "falls"]

    @property
    def fine(self):
        """Whether every oracle test passed, or failed by a choice that can be meant, and the loss is a known one."""
        return self.equal is not None and all(
            each.verdict == "ok" or each.can_be_meant for each in self.results
        )


def examine(loss):
    """Runs the oracle tests of all exhibits on a loss.

    Args:
      loss: a function of logprobs, old_logprobs, advantages and mask, in this order or by names that say which
        is which -> one number, a torch tensor. (B, T), (B, T), (B,) and (B, T) booleans are handed in, float64.

    Returns:
      Examination.

    Raises:
      ValueError: a loss that cannot be called so, that returns no single number, that has no gradient or
        NaN for one, that gives different numbers for one input.

    Source: made for this course; each exhibit names its report.
    """
    loss, called = read(loss)
    try:
        _try_out(loss)
        portrait = portray(loss)
    except NoLoss:
        raise
    except (Exception, SystemExit) as error:  # the reader's own function may raise anything
        raise ValueError(
            f"the loss raised {raised(error)}. It is called as {called}, with (B, T), (B, T), (B,) and (B, T) "
            "booleans. Something else can be wrapped: lambda new, old, adv, mask: my_loss(...)."
        ) from error
    results = [_result(exhibit, loss) for exhibit in LOSSES if _asked(exhibit, portrait)]
    return Examination(called, portrait, results, *matched(loss, portrait))


def _try_out(loss):
    """Refuses what cannot be examined: no slope, NaN, chance."""
    if unit(loss).isnan():
        raise NoLoss(
            "the slope of the loss is NaN for a single token, with ratio 1 and advantage -1. A loss that "
            "normalises the advantages itself cannot be examined: do that outside."
        )
    batch = [[0.1, -0.2], [0.3, 0.0]], [1.0, -1.0]
    free = ((-0.1, 1.0), (0.1, -1.0))  # a log-ratio and an advantage with which nothing should hold a token
    if not any(ask(loss, [[x] * 3], [a])[1].any() for x, a in free):
        raise NoLoss(
            "the loss has no slope for tokens that nothing should hold: something is detached, or in no_grad."
        )
    if not any(ask(loss, [[x]], [a])[1].any() for x, a in free):
        raise NoLoss(
            "a row of three tokens has a slope, and a row of one has none: the first or the last token is left "
            "out, or the mask lies one place off."
        )
    first, second = (ask(loss, *batch) for _ in range(2))
    if not all(close(a, b) for a, b in zip(first, second, strict=True)):
        raise NoLoss(
            "two calls on one input give different numbers; a loss must not draw anything by chance."
        )


def _asked(exhibit, portrait):
    """Not every question is for every loss: without a clip nothing can be clipped on the wrong side."""
    most = min(portrait.high, portrait.dual) if portrait.variant == "ppo" else math.inf
    if exhibit.kind == "sequence loss":  # it looks at a ratio of 1.1, and GSPO's own bounds are narrower
        return portrait.ratio == "sequence_mean" and most > 1.1
    if exhibit.name in ("larger_of_two", "clipped_only"):  # they look at ratios of 0.5 and 2
        held = portrait.low > 0.501 and portrait.high < 1.999 and portrait.dual > 2.001
        return portrait.variant is None or (portrait.variant == "ppo" and held)
    if exhibit.name == "floor_for_all" and portrait.ratio == "none":
        return False
    low_ratios = ("fresh_ratio", "low_cap", "floor_for_all")
    if exhibit.name in low_ratios and portrait.variant == "cispo" and portrait.low > 0:
        return False  # they look at low ratios, which such a loss cuts
    if exhibit.name in ("summed_ratio", "low_cap"):
        return portrait.ratio != "none"
    return True


def _result(exhibit, loss):
    try:
        gives = exhibit.gives(loss)
    except (Exception, SystemExit) as error:
        return Result(exhibit, "raises", raised(error))
    verdict = exhibit.compare(gives)
    if verdict == "ok":
        return Result(exhibit, verdict, "")
    roughly = np.allclose(gives, exhibit.right, rtol=ROUGHLY, atol=ROUGHLY)
    words = f"gives {shown(gives)}; right is {shown(exhibit.right)}"
    return Result(exhibit, verdict, words + " (half precision?)" * (verdict == "differs" and roughly))


def report(examination, name):
    """The examination in words.

    Args:
      examination: Examination.
      name: of the loss.

    Returns:
      str of some lines.
    """
    lines = [f"{name}, called as {examination.called}", ""]
    lines += [f"  {line}" for line in describe(examination.portrait)]
    if examination.equal:
        lines += ["", "On random batches of every kind its values and slopes are those of"]
        lines += [f"  {examination.equal}"]
    elif examination.parts_on:
        lines += ["", "The loss that these lines describe gives other values or slopes on"]
        lines += [f"  {examination.parts_on}"]
    lines += ["", "Oracle tests"]
    for each in examination.results:
        mark = "FALLS" if each.verdict == "falls" else each.verdict
        lines.append(f"  {mark:8} {each.exhibit.name:18} {each.words}".rstrip())
        if each.can_be_meant:
            lines.append(f"  {'':27} ({CHOICES[each.exhibit.name]})")
    return "\n".join([*lines, "", _closing(examination)])


def _closing(examination):
    number, falls = len(examination.results), examination.falls_for
    failed = [each for each in examination.results if each.verdict != "ok"]
    meant = all(each.can_be_meant for each in failed)
    passed = (
        f"{number - len(failed)} of {number} oracle tests pass"
        if failed
        else f"All {number} oracle tests pass"
    )
    if meant and falls:
        passed += f"; {' and '.join(falls)} may be meant so"
    if examination.fine:
        return passed + "."
    if meant:
        return (
            f"{passed}. But this is no loss that is known here: another algorithm, or a mistake that no exhibit "
            "shows. Look at the lines above that fit nothing, and at the batches on which it parts."
        )
    if falls:
        return (
            f"It falls for {len(falls)} of {number} exhibits: {', '.join(falls)}.\n"
            f"python -m pglab.museum --show {falls[0]}   opens the case."
        )
    return (
        f"{len(failed)} of {number} oracle tests fail, and none of the mistakes here explains it digit for digit. "
        f"Begin with {failed[0].exhibit.name}."
    )
