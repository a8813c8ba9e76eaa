"""How the museum calls a reader's loss, and on which batches it says that the loss parts from all it knows."""

import pytest
import torch
from refusals import check

from pglab import losses, museum
from pglab.museum import matching, reading
from pglab.museum.examination import report

PLACES = "loss(logprobs, old_logprobs, advantages, mask)"


def loss(new, old, advantages, mask):
    return losses.policy_loss(new, old, advantages, mask)


# ---- By name, or by place


def verl(old_log_prob, log_prob, advantages, response_mask, cliprange=0.2):
    return loss(log_prob, old_log_prob, advantages, response_mask)


def by_names_alone(*, action_mask, adv, log_probs, behaviour_logprobs, beta=0.0):
    return loss(log_probs, behaviour_logprobs, adv, action_mask)


def in_places(log_probs, old_log_probs, advantages, mask, reduction="mean"):
    return loss(log_probs, old_log_probs, advantages, mask)


def says_nothing(a, b, c, d):
    return loss(a, b, c, d)


def two_masks(logp, old_logp, adv, prompt_mask, mask=None):
    return loss(logp, old_logp, adv, prompt_mask)


def whatever(*batch):
    return loss(*batch)


@pytest.mark.parametrize(
    "function, called",
    [
        (verl, "loss(log_prob=logprobs, old_log_prob=old_logprobs, advantages=advantages, response_mask=mask)"),
        (
            by_names_alone,
            "loss(log_probs=logprobs, behaviour_logprobs=old_logprobs, adv=advantages, action_mask=mask)",
        ),
        (in_places, PLACES),
        (says_nothing, PLACES),
        (two_masks, PLACES),
        (whatever, PLACES),
        (torch.nn.Identity(), PLACES),
    ],
)  # fmt: skip
def test_names_that_say_which_is_which_are_used(function, called):
    assert reading.read(function)[1] == called
    if not isinstance(function, torch.nn.Module):
        examination = museum.examine(function)
        assert examination.fine and examination.falls_for == [] and examination.called == called
        assert report(examination, "mine").startswith(f"mine, called as {called}\n")


def test_a_parameter_of_another_kind_is_not_guessed():
    def five(old_logprobs, logprobs, advantages, mask, ref_logits):
        return loss(logprobs, old_logprobs, advantages, mask)

    check(lambda: museum.examine(five), "the loss raised TypeError: ")


# ---- What is no loss of the house


def other_rows(new, old, advantages, mask):
    return loss(new, old.flip(0), advantages, mask)


def by_the_first_row(new, old, advantages, mask):
    return losses.policy_loss(new, old, advantages, mask, aggregation="sum") / mask[0].sum().clamp(min=1)


def by_the_longest(new, old, advantages, mask):
    norm = mask.any(1).sum().clamp(min=1) * mask.sum(1).max().clamp(min=1)
    return losses.policy_loss(new, old, advantages, mask, aggregation="sum") / norm


def cut_advantages(new, old, advantages, mask):
    return loss(new, old, advantages.detach().clamp(-2, 2), mask)


def nan_for_nothing(new, old, advantages, mask):
    each = [loss(n[None], o[None], a[None], m[None]) * (1 if m.any() else float("nan"))
            for n, o, a, m in zip(new, old, advantages, mask, strict=True)]  # fmt: skip
    return torch.stack(each).mean()


@pytest.mark.parametrize(
    "function, kind",
    [
        (other_rows, "fresh rows of one length"),
        (by_the_first_row, None),
        (by_the_longest, None),
        (cut_advantages, "large advantages"),
        (nan_for_nothing, "a row without tokens"),
    ],
)
def test_a_loss_that_is_like_none_here_is_not_fine(function, kind):
    examination = museum.examine(function)
    assert examination.equal is None and not examination.fine and examination.parts_on == kind
    text = report(examination, "mine")
    assert ("gives other values or slopes on\n  " in text) == (kind is not None)
    assert (kind or "fits no denominator") in text


def test_passing_every_test_is_not_enough():
    text = report(museum.examine(cut_advantages), "mine")
    assert "All 15 oracle tests pass. But this is no loss that is known here" in text


def test_the_kinds_of_batches_differ_in_what_they_say():
    noise = torch.Generator().manual_seed(1)
    drawn = {name: matching.drawn(noise, **kind) for name, kind in matching.KINDS.items()}
    for name, (new, old, weights, mask) in drawn.items():
        assert torch.equal(new, old) == name.startswith("fresh") and (new < 0).all() and (old < 0).all()
        assert bool((mask.sum(1) == 0).any()) == (name == "a row without tokens")
        assert bool((weights.abs() > 1).any()) == (name == "large advantages")
    assert (
        drawn["fresh rows of one length"][3].all() and not drawn["fresh rows of different lengths"][3].all()
    )
    far = drawn["rows of a much older policy"]
    assert (far[0] - far[1]).abs().max() > 1.5


# ---- Mistakes that are not those of an exhibit


def test_nan_from_elsewhere_is_not_taken_for_a_multiplied_mask():
    def late(new, old, advantages, mask):
        return loss(new, old.roll(1, 1), advantages, mask)

    examination = museum.examine(late)
    assert "multiplied_mask" not in examination.falls_for and not examination.fine


def test_two_other_shapes_of_a_multiplied_mask_are_known():
    def plain(new, old, advantages, mask):  # its slope is finite, its value is not
        return -(new * advantages.detach()[:, None] * mask).sum() / mask.sum().clamp(min=1)

    assert "multiplied_mask" in museum.examine(plain).falls_for


def test_half_precision_is_guessed():
    def rough(new, old, advantages, mask):
        ratio = (new - old).where(mask, 0.0).bfloat16().exp().double()
        weight = advantages.detach()[:, None]
        gain = torch.min(ratio * weight, ratio.clamp(0.8, 1.2) * weight)
        return -gain.where(mask, 0.0).sum() / mask.sum().clamp(min=1)

    text = report(museum.examine(rough), "mine")
    assert "(half precision?)" in text and "FALLS" not in text


def test_bounds_taken_for_offsets_are_not_taken_for_a_floor():
    def offsets(new, old, advantages, mask):
        ratio, weight = (new - old).where(mask, 0.0).exp(), advantages.detach()[:, None]
        gain = torch.min(ratio * weight, ratio.clamp(-0.2, 0.2) * weight)
        return -gain.where(mask, 0.0).sum() / mask.sum().clamp(min=1)

    assert museum.examine(offsets).falls_for == [] and not museum.examine(offsets).fine


def test_advantages_without_a_sign_have_no_clip_that_is_known():
    examination = museum.examine(lambda n, o, a, m: loss(n, o, a.detach().abs(), m))
    assert examination.portrait.variant is None and not examination.fine
