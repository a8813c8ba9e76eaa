"""The museum as a tool: it finds out what a loss is, names its mistake, and gives no false alarm."""

import itertools
import math

import museum_styles as styles
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pglab import losses, museum
from pglab.museum import portrait as portraits
from pglab.museum.examination import CHOICES, report
from pglab.museum.loss_exhibits import LOSSES
from pglab.museum.matching import settings as call_of


def policy(**options):
    return lambda *batch: losses.policy_loss(*batch, **options)


def call(options):
    """How an examination writes a call."""
    return f"losses.policy_loss({', '.join(f'{name}={value!r}' for name, value in options.items())})"


# ---- Every legitimate setting of pglab

RATIOS = ("token", "sequence_mean", "sequence_product")
SUMS = (
    ("token_mean", None), ("token_mean", 7.0), ("sequence_mean", None), ("sequence_mean", 3.0),
    ("constant", 7.0), ("constant", 1.0), ("sum", None), ("sum", 3.0),
)  # fmt: skip
CLIPS = ((0.2, 0.28), None, (None, 0.28), (0.2, None), (0.0, 0.0), (0.5, 1.0), (3e-4, 4e-4))
KINDS = (("ppo", None), ("ppo", 3.0), ("ppo", 1.4), ("cispo", None))


def synonyms(ratio, aggregation, norm, clip, variant, dual_clip):
    """The same loss in the words of a portrait: (options that must be found, aggregation, norm)."""
    rows = ratio != "token"
    if rows and aggregation == "token_mean":
        aggregation = "sequence_mean"  # the mean over rows
    if norm and (aggregation == "token_mean" or (rows and aggregation == "sequence_mean")):
        aggregation = "sum"
    if aggregation == "sum":
        norm = norm or 1.0
    if rows and aggregation == "constant" and norm == 1:
        aggregation, norm = "sequence_mean", None
    found = {"ratio": ratio, "aggregation": aggregation, "clip": clip}
    if dual_clip:
        found["dual_clip"] = dual_clip
    if norm and (aggregation, norm) != ("sum", 1):
        found["norm"] = norm
    if variant == "cispo":
        found["variant"] = variant
    return found, aggregation, norm


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("aggregation, norm", SUMS)
def test_no_setting_of_the_house_is_a_false_alarm(ratio, aggregation, norm):
    """Each ratio meets each clip of each kind, and each sum; not all three of all: minutes."""
    first = SUMS.index((aggregation, norm)) % len(CLIPS)
    for (variant, dual), clip in list(itertools.product(KINDS, CLIPS))[first :: len(CLIPS)]:
        if variant == "cispo" and clip in ((0.0, 0.0), (3e-4, 4e-4)):
            continue  # every weight is 1: the ratio does nothing
        options = {"ratio": ratio, "aggregation": aggregation, "norm": norm}
        options |= {"clip": clip, "variant": variant, "dual_clip": dual}
        found, kind, size = synonyms(**options)
        examination = museum.examine(policy(**options))
        portrait, told = examination.portrait, (options, examination)
        assert examination.equal == call(found), told
        held = "none" if clip is None and dual is None else variant
        assert (portrait.ratio, portrait.variant, portrait.aggregation) == (ratio, held, kind), told
        low, high = clip or (None, None)
        wanted = (1 - (low or 0) if low is not None else 0.0, math.inf if high is None else 1 + high)
        assert (portrait.low, portrait.high) == pytest.approx(wanted, rel=3e-6), told
        assert portrait.dual == pytest.approx(dual or math.inf, rel=3e-6), told
        assert portrait.norm == (None if size is None else pytest.approx(size, rel=1e-9)), told
        choices = {"summed_ratio"} if ratio == "sequence_product" else set()
        if kind == "sum" or (kind == "sequence_mean" and size):
            choices.add("budget_only")
        assert set(examination.falls_for) == choices and examination.fine, told
        assert {each.verdict for each in examination.results} <= {"ok", "falls"}, told


def test_counting_empty_rows_is_no_mistake():
    for options in ({"aggregation": "sequence_mean"}, {"aggregation": "constant", "norm": 7.0}):
        examination = museum.examine(policy(**options, empty_rows="count"))
        assert examination.fine and examination.falls_for == []
        kind = options.pop("aggregation")
        found = {"ratio": "token", "aggregation": kind, "clip": (0.2, 0.2)} | options
        assert examination.equal == call(found | {"empty_rows": "count"})


@settings(max_examples=15)
@given(
    low=st.floats(0.001, 0.95), high=st.floats(0.001, 5), dual=st.one_of(st.none(), st.floats(1.01, 50)),
    norm=st.floats(0.5, 5000), ratio=st.sampled_from(RATIOS),
)  # fmt: skip
def test_any_bounds_and_any_norm_are_found(low, high, dual, norm, ratio):
    loss = policy(clip=(low, high), dual_clip=dual, ratio=ratio, aggregation="constant", norm=norm)
    examination = museum.examine(loss)
    found = examination.portrait
    assert (found.ratio, found.variant) == (ratio, "ppo") and examination.fine
    assert (found.low, found.high) == pytest.approx((1 - low, 1 + high), rel=3e-6)
    assert found.dual == pytest.approx(dual or math.inf, rel=3e-6)
    if not (ratio != "token" and abs(norm - 1) < 1e-5):
        assert (found.aggregation, found.norm) == ("constant", pytest.approx(norm))


# ---- Other hands


@pytest.mark.parametrize("name", styles.STYLES)
def test_a_loss_is_known_in_whatever_style_it_is_written(name):
    loss, options, falls = styles.STYLES[name]
    examination = museum.examine(loss)
    assert examination.equal == call(dict(sorted(options.items(), key=lambda item: ORDER.index(item[0]))))
    assert examination.falls_for == falls
    assert examination.fine == (set(falls) <= set(CHOICES))


ORDER = ("ratio", "aggregation", "clip", "dual_clip", "norm", "variant", "empty_rows")


def test_what_is_like_nothing_here_is_not_named():
    for loss in (
        lambda new, old, a, mask: -(new * a.detach()[:, None]).where(mask, 0.0).mean(),  # no ratio
        lambda *batch: losses.policy_loss(*batch) * (1 + 1e-4),
        lambda *batch: losses.policy_loss(*batch) + 0.001,
        lambda new, old, a, mask: losses.policy_loss(2 * new, 2 * old, a, mask),
        lambda new, old, a, mask: losses.policy_loss(new, old, a.sign() * a**2, mask),
        lambda *batch: losses.policy_loss(*batch) + 0.01 * (~batch[3]).sum(),  # of what is masked
        lambda new, old, *rest: losses.policy_loss(new, old, *rest) + (new - old)[rest[1]].detach().sum(),
        right_value_and_wrong_slopes,
    ):
        assert museum.examine(loss).equal is None


def right_value_and_wrong_slopes(new, old, advantages, mask):
    """For advantages beyond 2.5 alone, which no portrait looks at."""
    extra = 0.01 * (new * (advantages.detach().abs() > 2.5)[:, None]).where(mask, 0.0).sum()
    return losses.policy_loss(new, old, advantages, mask) + extra - extra.detach()


@pytest.mark.parametrize("error", [RuntimeError, SystemExit])
def test_a_loss_that_raises_on_random_batches_is_not_named(error):
    def loss(*batch):
        if batch[0].shape == (4, 5):
            raise error
        return losses.policy_loss(*batch)

    examination = museum.examine(loss)
    assert examination.equal is None and not examination.fine and examination.falls_for == []
    assert examination.parts_on == "fresh rows of one length"
    assert "this is no loss that is known here" in report(examination, "loss")


def test_not_every_portrait_has_a_call():
    for name in ("padded_mean", "low_cap", "larger_of_two"):
        assert call_of(portraits.portray(museum.case(name).broken)) is None
    assert call_of(portraits.portray(losses.policy_loss)) == styles.TOKEN
    without = call_of(portraits.portray(museum.case("fresh_ratio").broken))
    assert without == {"old_logprobs": None, "aggregation": "token_mean", "clip": None}


@pytest.mark.parametrize(
    "sign, edge, found",
    [(1, 1.2, (0.0, 1.2, math.inf)), (-1, 3.0, (0.0, math.inf, 3.0)), (-1, -0.8, (0.8, math.inf, math.inf))],
)
def test_a_clip_that_leaks_is_no_clip_that_is_known(sign, edge, found):
    """Beyond its bound a token keeps a tenth of its slope: ratios above ``edge``, or below minus ``edge``."""

    def loss(logprobs, old_logprobs, advantages, mask):
        weight = advantages.detach()[:, None]
        ratio = (logprobs - old_logprobs).where(mask, 0.0).exp()
        outside = ratio > edge if edge > 0 else ratio < -edge
        leak = torch.where(outside & (sign * weight > 0), 0.1, 1.0)
        gain = (leak * ratio + (1 - leak) * ratio.detach()) * weight
        return -gain.where(mask, 0.0).sum() / mask.sum().clamp(min=1)

    examination = museum.examine(loss)
    portrait = examination.portrait
    assert portrait.variant is None and examination.equal is None
    assert (portrait.low, portrait.high, portrait.dual) == pytest.approx(found, rel=3e-6)


def test_a_small_loss_is_compared_by_its_own_size():
    """With a norm of a million every loss is near 0, and so near every other."""
    tiny = {"aggregation": "sum", "norm": 1e8}
    assert "'cispo'" in museum.examine(policy(**tiny, clip=None, variant="cispo")).equal
    assert "variant" not in museum.examine(policy(**tiny, clip=None)).equal


# ---- The mistakes


@pytest.mark.parametrize("exhibit", LOSSES, ids=[each.name for each in LOSSES])
def test_a_broken_loss_is_named(exhibit):
    examination = museum.examine(exhibit.broken)
    assert examination.falls_for[0] == exhibit.name
    named = {each.exhibit.name: each for each in examination.results}[exhibit.name]
    assert named.verdict == "falls" and named.words.startswith("gives ") and "; right is " in named.words
    assert examination.fine == (exhibit.name in CHOICES) == named.can_be_meant


def test_most_broken_losses_fall_for_their_own_exhibit_alone():
    """Those that do not leave the mask out of everything: more than one test looks there."""
    more = {e.name: museum.examine(e.broken).falls_for[1:] for e in LOSSES}
    assert {name: others for name, others in more.items() if others} == {
        "everything_counts": ["multiplied_mask", "one_for_nothing", "padded_mean"]
    }


def test_a_fifth_of_every_weight_is_not_taken_for_a_loss_without_ratio():
    portrait = museum.examine(museum.case("low_cap").broken).portrait
    assert (portrait.ratio, portrait.variant) == (None, None)
    plain = museum.examine(museum.case("fresh_ratio").broken).portrait
    assert (plain.ratio, plain.variant, plain.low, plain.high, plain.dual) == (
        "none", "none", 0.0, math.inf, math.inf,
    )  # fmt: skip


def test_two_mistakes_at_once_are_both_named():
    def loss(logprobs, old_logprobs, advantages, mask):
        ratio = (logprobs - old_logprobs).exp()
        weight = advantages[:, None]
        return -(torch.min(ratio * weight, ratio.clamp(0.8, 1.2) * weight) * mask).sum() / mask.sum()

    assert museum.examine(loss).falls_for == ["multiplied_mask", "plain_division", "live_advantages"]
    assert not museum.examine(loss).fine


def test_a_choice_excuses_its_own_mistake_only():
    """Half the slope of stale tokens is neither right nor the mistake that may be meant."""

    def loss(logprobs, old_logprobs, advantages, mask):
        return losses.policy_loss(logprobs, (old_logprobs + logprobs.detach()) / 2, advantages, mask)

    examination = museum.examine(loss)
    told = {each.exhibit.name: each.verdict for each in examination.results}
    assert told["fresh_ratio"] == told["summed_ratio"] == "differs" and not examination.fine
    assert "may be meant" not in report(examination, "loss") and "no mistake if" not in report(
        examination, "loss"
    )


def test_a_test_that_raises_is_a_result_like_others():
    for error in (RuntimeError("no\ntoken."), SystemExit(4)):

        def loss(*batch, error=error):
            if not batch[3].any():
                raise error
            return losses.policy_loss(*batch)

        examination = museum.examine(loss)
        (result,) = [each for each in examination.results if each.verdict != "ok"]
        assert (result.exhibit.name, result.verdict) == ("plain_division", "raises")
        assert result.words in ("RuntimeError: no token", "SystemExit: 4")
        assert not examination.fine and examination.falls_for == [] and examination.equal
