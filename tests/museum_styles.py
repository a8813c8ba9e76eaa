"""One and the same loss as different hands write it; nothing is shared with ``pglab``.

``STYLES`` has each with the options of ``losses.policy_loss`` that it amounts to, and with the exhibits that it
falls for although it is right otherwise.
"""

import math

import torch


def trl_like(logprobs, old_logprobs, advantages, mask, low=0.2, high=0.28, delta=None, mode="bnpo"):
    ratio = torch.exp(logprobs - old_logprobs)
    held = torch.clamp(ratio, 1 - low, 1 + high)
    if delta is not None:
        ratio = torch.clamp(ratio, max=delta)
    advantages = advantages.detach().unsqueeze(1)
    each = -torch.min(ratio * advantages, held * advantages)
    counts = mask.to(each.dtype)
    if mode == "grpo":
        return ((each * counts).sum(-1) / counts.sum(-1).clamp(min=1.0)).mean()
    if mode == "dr_grpo":
        return (each * counts).sum() / (each.size(0) * 16)
    return (each * counts).sum() / counts.sum().clamp(min=1.0)


def verl_like(logprobs, old_logprobs, advantages, mask):
    """Log-ratios cut at 20, the smaller loss of a dual clip, a thousandth of a millionth in the denominator."""
    advantages = advantages.detach()[:, None].expand_as(logprobs)
    ratio = torch.clamp(logprobs - old_logprobs, min=-20.0, max=20.0).exp()
    free, held = -advantages * ratio, -advantages * torch.clamp(ratio, 1 - 0.2, 1 + 0.2)
    larger = torch.maximum(free, held)
    each = torch.where(advantages < 0, torch.min(-advantages * 3.0, larger), larger)
    return torch.where(mask, each, 0.0).sum() / (mask.sum() + 1e-8)


def in_loops(logprobs, old_logprobs, advantages, mask):
    """One ratio for each answer, rows averaged; a batch without tokens gives 0."""
    total, rows = (logprobs * 0.0).nan_to_num().sum(), 0
    for i in range(len(mask)):
        kept = [t for t in range(mask.shape[1]) if mask[i, t]]
        if kept:
            ratio = (sum(logprobs[i, t] - old_logprobs[i, t] for t in kept) / len(kept)).exp()
            weight = advantages[i].item()
            out = (ratio > 1.0004 and weight > 0) or (ratio < 0.9997 and weight < 0)
            edge = 1.0004 if weight > 0 else 0.9997
            total, rows = total - (edge if out else ratio) * weight, rows + 1
    return total / max(rows, 1)


def selected(logprobs, old_logprobs, advantages, mask):
    """No padding anywhere: the tokens that count in one long line. CISPO, with an upper bound alone."""
    weights = advantages.detach().repeat_interleave(mask.sum(1))
    new, old = logprobs[mask], old_logprobs[mask]
    ratio = (new - old).detach().exp().clamp(max=1.28)
    return -(ratio * weights * new).sum() / max(len(new), 1)


def whole_answers(logprobs, old_logprobs, advantages, mask):
    """RLOO with one ratio for the probability of an answer, without a clip."""
    ratio = torch.prod(torch.where(mask, logprobs - old_logprobs, 0.0).exp(), dim=1)
    kept = mask.any(1)
    return -(ratio * advantages.detach())[kept].sum() / kept.sum().clamp(min=1)


def in_float32(logprobs, old_logprobs, advantages, mask):
    new, old, weights = logprobs.float(), old_logprobs.float(), advantages.detach().float()[:, None]
    ratio = torch.where(mask, new - old, torch.zeros_like(new)).exp()
    gains = torch.minimum(ratio * weights, ratio.clamp(0.8, 1.2) * weights)
    return -torch.where(mask, gains, torch.zeros_like(gains)).sum() / mask.sum().clamp(min=1)


class Module(torch.nn.Module):
    """A loss with an inside; the result has an axis."""

    def __init__(self):
        super().__init__()
        self.bound = math.log(1.5)

    def forward(self, logprobs, old_logprobs, advantages, mask):
        log_ratio = (logprobs - old_logprobs).masked_fill(~mask, 0.0)
        stopped = (log_ratio > self.bound) & (advantages.detach()[:, None] > 0)
        ratio = torch.where(stopped, 1.5, log_ratio.masked_fill(stopped, 0.0).exp())
        return -(advantages.detach() @ ratio.masked_fill(~mask, 0.0)).sum().reshape(1)


def trl(**options):
    return lambda *batch: trl_like(*batch, **options)


TOKEN = {"ratio": "token", "aggregation": "token_mean", "clip": (0.2, 0.2)}
STYLES = {
    "trl bnpo": (trl(), TOKEN | {"clip": (0.2, 0.28)}, ["multiplied_mask"]),
    "trl grpo": (
        trl(mode="grpo", delta=1.4),
        TOKEN | {"aggregation": "sequence_mean", "clip": (0.2, 0.28), "dual_clip": 1.4, "empty_rows": "count"}, ["multiplied_mask"],
    ),
    "trl dr_grpo": (
        trl(mode="dr_grpo"), TOKEN | {"aggregation": "constant", "clip": (0.2, 0.28), "norm": 16.0, "empty_rows": "count"},
        ["multiplied_mask"],
    ),
    "verl": (verl_like, TOKEN | {"dual_clip": 3.0}, []),
    "loops": (
        in_loops, {"ratio": "sequence_mean", "aggregation": "sequence_mean", "clip": (0.0003, 0.0004)}, [],
    ),
    "selected": (selected, TOKEN | {"clip": (None, 0.28), "variant": "cispo"}, []),
    "whole answers": (
        whole_answers, {"ratio": "sequence_product", "aggregation": "sequence_mean", "clip": None},
        ["summed_ratio"],
    ),
    "float32": (in_float32, TOKEN, []),
    "module": (Module(), TOKEN | {"aggregation": "sum", "clip": (None, 0.5)}, ["budget_only"]),
}  # fmt: skip
