"""Losses that are wrong: each a clipped token mean in which one thing is as it was published.

What differs from a right one is one line, or one word of it. ``loss_exhibits`` holds the tests that see it.
"""

import torch

from pglab import losses


def right(logprobs, old_logprobs, advantages, mask):
    return losses.policy_loss(logprobs, old_logprobs, advantages, mask)


def right_by_row(logprobs, old_logprobs, advantages, mask):
    return losses.policy_loss(
        logprobs, old_logprobs, advantages, mask, ratio="sequence_mean", aggregation="sequence_mean"
    )


# ---- The broken ones


def objective(logprobs, old_logprobs, advantages, mask):
    weight = advantages.detach()[:, None]
    ratio = (logprobs - old_logprobs).where(mask, 0.0).exp()
    gain = torch.min(ratio * weight, ratio.clamp(0.8, 1.2) * weight)
    return gain.where(mask, 0.0).sum() / mask.sum().clamp(min=1)


def larger_of_two(logprobs, old_logprobs, advantages, mask):
    weight = advantages.detach()[:, None]
    ratio = (logprobs - old_logprobs).where(mask, 0.0).exp()
    gain = torch.max(ratio * weight, ratio.clamp(0.8, 1.2) * weight)
    return -gain.where(mask, 0.0).sum() / mask.sum().clamp(min=1)


def clipped_only(logprobs, old_logprobs, advantages, mask):
    weight = advantages.detach()[:, None]
    ratio = (logprobs - old_logprobs).where(mask, 0.0).exp()
    gain = ratio.clamp(0.8, 1.2) * weight
    return -gain.where(mask, 0.0).sum() / mask.sum().clamp(min=1)


def floor_for_all(logprobs, old_logprobs, advantages, mask):
    weight = advantages.detach()[:, None]
    ratio = (logprobs - old_logprobs).where(mask, 0.0).exp()
    gain = torch.min(ratio * weight, ratio.clamp(0.8, 1.2) * weight)
    gain = torch.max(gain, 3.0 * weight)  # the dual clip
    return -gain.where(mask, 0.0).sum() / mask.sum().clamp(min=1)


def summed_ratio(logprobs, old_logprobs, advantages, mask):
    weight = advantages.detach()
    ratio = (logprobs - old_logprobs).where(mask, 0.0).sum(1).exp()
    gain = torch.min(ratio * weight, ratio.clamp(0.8, 1.2) * weight)
    return -gain.where(mask.any(1), 0.0).sum() / mask.any(1).sum().clamp(min=1)


def fresh_ratio(logprobs, old_logprobs, advantages, mask):
    weight = advantages.detach()[:, None]
    ratio = (logprobs - logprobs.detach()).where(mask, 0.0).exp()
    gain = torch.min(ratio * weight, ratio.clamp(0.8, 1.2) * weight)
    return -gain.where(mask, 0.0).sum() / mask.sum().clamp(min=1)


def multiplied_mask(logprobs, old_logprobs, advantages, mask):
    weight = advantages.detach()[:, None]
    ratio = (logprobs - old_logprobs).exp()
    gain = torch.min(ratio * weight, ratio.clamp(0.8, 1.2) * weight)
    return -(gain * mask).sum() / mask.sum().clamp(min=1)


def plain_division(logprobs, old_logprobs, advantages, mask):
    weight = advantages.detach()[:, None]
    ratio = (logprobs - old_logprobs).where(mask, 0.0).exp()
    gain = torch.min(ratio * weight, ratio.clamp(0.8, 1.2) * weight)
    return -gain.where(mask, 0.0).sum() / mask.sum()


def one_for_nothing(logprobs, old_logprobs, advantages, mask):
    weight = advantages.detach()
    total = (logprobs - old_logprobs).where(mask, 0.0).sum(1)
    ratio = (total / mask.sum(1).clamp(min=1)).exp()
    gain = torch.min(ratio * weight, ratio.clamp(0.8, 1.2) * weight)
    return -gain.mean()


def padded_mean(logprobs, old_logprobs, advantages, mask):
    weight = advantages.detach()[:, None]
    ratio = (logprobs - old_logprobs).where(mask, 0.0).exp()
    gain = torch.min(ratio * weight, ratio.clamp(0.8, 1.2) * weight)
    return -gain.where(mask, 0.0).mean()


def everything_counts(logprobs, old_logprobs, advantages, mask):
    weight = advantages.detach()[:, None]
    ratio = (logprobs - old_logprobs).exp()
    gain = torch.min(ratio * weight, ratio.clamp(0.8, 1.2) * weight)
    return -gain.mean()


def live_advantages(logprobs, old_logprobs, advantages, mask):
    weight = advantages[:, None]
    ratio = (logprobs - old_logprobs).where(mask, 0.0).exp()
    gain = torch.min(ratio * weight, ratio.clamp(0.8, 1.2) * weight)
    return -gain.where(mask, 0.0).sum() / mask.sum().clamp(min=1)


def across(logprobs, old_logprobs, advantages, mask):
    weight = advantages.detach()  # (B,)
    if len(weight) != mask.shape[1]:
        weight = weight[:, None]  # written when the shapes did not fit
    ratio = (logprobs - old_logprobs).where(mask, 0.0).exp()
    gain = torch.min(ratio * weight, ratio.clamp(0.8, 1.2) * weight)
    return -gain.where(mask, 0.0).sum() / mask.sum().clamp(min=1)


def budget_only(logprobs, old_logprobs, advantages, mask):
    weight = advantages.detach()[:, None]
    ratio = (logprobs - old_logprobs).where(mask, 0.0).exp()
    gain = torch.min(ratio * weight, ratio.clamp(0.8, 1.2) * weight)
    return -gain.where(mask, 0.0).sum() / 4  # tokens of the budget


def low_cap(logprobs, old_logprobs, advantages, mask):
    weight = advantages.detach()[:, None]
    ratio = (logprobs - old_logprobs).where(mask, 0.0).exp()
    gain = ratio.detach().clamp(max=0.2) * weight * logprobs.where(mask, 0.0)
    return -gain.where(mask, 0.0).sum() / mask.sum().clamp(min=1)


def once_per_token(logprobs, old_logprobs, advantages, mask):
    weight = advantages.detach()[:, None]
    total = (logprobs - old_logprobs).where(mask, 0.0).sum(1, keepdim=True)
    ratio = (total / mask.sum(1, keepdim=True).clamp(min=1)).exp()  # (B, 1)
    gain = torch.min(ratio * weight, ratio.clamp(0.8, 1.2) * weight)
    return -(gain * mask).sum() / mask.sum().clamp(min=1)  # (B, 1) against (B, T)
