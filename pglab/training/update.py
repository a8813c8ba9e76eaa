"""One update: the gradient of an algorithm's loss on a batch of rollouts, and what is seen on the way."""

import math
from typing import NamedTuple

import numpy as np
import torch

from pglab import diagnostics, logprobs, sampling
from pglab.training import rollouts as rollout
from pglab.training.workers import ALONE


class Part(NamedTuple):
    """The rows that one micro-batch reads: n of the N of the batch."""

    rows: torch.Tensor  # (n,) numbers of the rows
    counts: torch.Tensor  # (n,) how often each came: alike completions of a prompt are read once
    prompts: torch.Tensor  # (b, P) those prompts alone that have such rows
    owners: torch.Tensor  # (n,) which of these
    width: int  # tokens of the longest of these completions


def split(rollouts, settings, weights, workers=ALONE):
    """Which rows this worker reads, and which of them together.

    Prompts are dealt out whole, so that a group stays in one micro-batch. In a loss without KL and critic a row
    whose every advantage is 0 adds exactly nothing to the gradient: it is not read. And rows of a prompt that
    are alike, with the same advantages, are read once and count as often as they came: such a loss is
    proportional to the advantage, so that c times the advantage is c rows.

    Args:
      rollouts: Rollouts.
      settings: PostTraining.
      weights: (N, T) advantages; None with a critic.
      workers: who shares the batch; each has as many micro-batches.

    Returns:
      a list of Part, one for each micro-batch; a micro-batch without rows has n = 0.

    Source: Yu et al. 2025 (DAPO), section 3.2 (such groups carry no gradient).
    """
    mask, owners = rollouts.samples.mask.cpu(), rollouts.owners
    counts = torch.ones(len(owners), dtype=torch.int64)
    if weights is not None and settings.algorithm.skips:
        counts = _multiplicity(owners, rollouts.samples.tokens.cpu(), weights.cpu(), mask)
    parts, many = [], workers.count * settings.micro_batches
    for prompts in np.array_split(np.arange(len(rollouts.texts)), many)[workers.part(many)]:
        rows = ((counts > 0) & torch.isin(owners, torch.from_numpy(prompts))).nonzero()[:, 0]
        here, which = owners[rows].unique(return_inverse=True)
        width = int(mask[rows].sum(1).max()) if len(rows) else 0
        device = rollouts.prompts.device
        columns = (
            rows.to(device),
            counts[rows].to(device),
            rollouts.prompts[here.to(device)],
            which.to(device),
        )
        parts.append(Part(*columns, width))
    return parts


def _multiplicity(owners, tokens, weights, mask):
    """(N,) how many rows each row stands for: all those like it at the first of them, 0 at the others.

    0 also where every advantage is 0. Behind the end nothing counts, and nothing is compared.
    """
    weights = weights.where(mask, 0.0)
    key = torch.cat([owners[:, None].double(), tokens.where(mask, -1).double(), weights.double()], 1)
    kinds, kind, many = key.unique(dim=0, return_inverse=True, return_counts=True)
    rows = torch.arange(len(owners))
    first = rows.new_full((len(kinds),), len(rows)).scatter_reduce(0, kind, rows, "amin")
    return many[kind] * (rows == first[kind]) * (weights != 0).any(1)


class Update:
    """The updates on one batch: ``settings.epochs`` steps of the optimiser.

    Args:
      model: lm.SmallLM.
      value: a torch.nn.Linear from the model's width to 1, the critic's head; None without a critic.
      optimiser: of both.
      settings: PostTraining.
      rollouts: Rollouts.
      workers: who shares the work; all of them make the same updates.
    """

    def __init__(self, model, value, optimiser, settings, rollouts, workers=ALONE):
        self.workers = workers
        self.model, self.value, self.optimiser, self.settings = model, value, optimiser, settings
        self.rollouts, self.algorithm = rollouts, settings.algorithm
        self.parameters = [p for group in optimiser.param_groups for p in group["params"]]
        self.old = torch.zeros_like(rollouts.samples.logprobs)  # (N, T) before the first step
        self.targets = self.old_values = None
        self.weights = self.weigh() if value is None else self.judge()
        self.parts = split(rollouts, settings, self.weights, workers)
        self.whole = self.algorithm.denominator(rollouts.samples.mask)

    def weigh(self):
        """(N, T) advantages without a critic."""
        return rollout.weights(self.algorithm, self.rollouts)

    @torch.no_grad()
    def judge(self):
        """(N, T) advantages from the critic, which sees every beginning of every answer."""
        samples = self.rollouts.samples
        scored = torch.from_numpy(self.rollouts.mask).reshape(-1, 1).to(samples.mask.device)
        self.judged = samples.mask & scored  # (N, T) tokens that the critic learns from
        if not self.rollouts.texts:
            return torch.zeros_like(samples.logprobs)
        states = self.states(self.rollouts.prompts, samples.tokens, self.rollouts.owners)
        values = self.values(states).where(samples.mask, 0.0).double().cpu().numpy()
        rewards, mask = rollout.token_rewards(self.algorithm, self.rollouts), self.judged.cpu().numpy()
        found, targets = self.algorithm.from_critic(rewards, values, mask)
        self.targets = torch.tensor(targets).to(samples.logprobs)
        self.old_values = torch.tensor(values).to(samples.logprobs)
        return torch.tensor(found).to(samples.logprobs)

    def run(self):
        """All steps on this batch.

        Returns:
          a dictionary: "grad_norm" and "grad_noise" of the first step's gradient; of the last,
          "clip_fraction", over all tokens, and "kl", how far the policy has moved, a mean over the
          tokens that were read.
        """
        seen = {"grad_norm": 0.0, "grad_noise": math.nan, "clip_fraction": 0.0, "kl": 0.0}
        if not any(self.workers.gathered(any(len(part.rows) for part in self.parts))):
            return seen  # nothing to learn from: nothing moves, the optimiser's momentum neither
        for epoch in range(self.settings.epochs):
            gradients = self.gradient(epoch, seen)
            norm = torch.nn.utils.clip_grad_norm_(self.parameters, self.settings.grad_clip or math.inf)
            norm = float(norm)
            if not math.isfinite(norm):
                raise ValueError(
                    f"the gradient is {norm}; it must be finite. A smaller learning_rate, or rewards of "
                    "moderate size, may help."
                )
            if epoch == 0:
                seen["grad_norm"] = norm
                if gradients is not None:
                    seen["grad_noise"] = diagnostics.gradient_noise(gradients)[1]
            self.optimiser.step()
        return seen

    def gradient(self, epoch, seen):
        """Leaves the gradient of the whole batch in the parameters; returns (M, D) of its parts, M > 1."""
        self.optimiser.zero_grad(set_to_none=True)
        before, each, total = None, [], np.zeros(3)
        with self.workers.apart():
            for part in self.parts:
                if len(part.rows):
                    loss, found = self.loss(part, epoch)
                    loss.backward()
                    total += found
                if len(self.parts) > 1:
                    now = self.flat()
                    each.append(now if before is None else now - before)
                    before = now
        self.workers.add_up()
        tokens = max(int(self.rollouts.samples.mask.sum()), 1)
        clipped, distance, read = sum(self.workers.gathered(total)).tolist()
        seen["clip_fraction"], seen["kl"] = clipped / tokens, distance / max(read, 1)
        return self.parts_of_all(each) if each else None

    def parts_of_all(self, each):
        """(M, D) gradients of the micro-batches of all workers."""
        mine = torch.stack(each)
        if self.workers.count == 1:
            return mine
        return torch.cat([part.to(mine.device) for part in self.workers.gathered(mine.cpu())])

    def flat(self):
        """(D,) the gradient so far."""
        parts = [torch.zeros_like(p) if p.grad is None else p.grad for p in self.parameters]
        return torch.cat([part.flatten() for part in parts]).clone()

    def loss(self, part, epoch):
        """The part's share of the loss, and what ``seen`` says of it."""
        samples, rows, width = self.rollouts.samples, part.rows, part.width
        tokens, mask = samples.tokens[rows, :width], samples.mask[rows, :width]
        weights = self.weights[rows, :width] * part.counts[:, None]
        states = self.states(part.prompts, tokens, part.owners)  # (n, width, d)
        logits = self.model.head(states)
        if self.settings.temperature != 1:
            logits = logits / self.settings.temperature
        new = logprobs.gather(logits, tokens)
        if not bool(new[mask].isfinite().all()):
            raise ValueError(
                "the policy's log-probabilities are no longer finite: the last update went too far. Take a smaller "
                f"learning_rate (it is {self.settings.learning_rate:g}), or a smaller kl if there is one."
            )
        old = self.before(new.detach(), part, epoch)
        seen = (0, 0.0, 0)
        if old is not None:
            columns = (new.detach(), old, weights, mask)
            seen = self.seen(*(column.repeat_interleave(part.counts, 0) for column in columns))
        loss = self.policy_loss(new, old, weights, mask, part)
        if self.value is not None:
            loss = loss + self.algorithm.value_weight * self.value_loss(states, rows)
        return loss, seen

    def states(self, prompts, tokens, owners):
        """(n, T, d) what the head reads before each token."""
        return sampling.states(self.model, prompts, tokens, owners)

    def values(self, states):
        """(n, T) what the critic says there."""
        return self.value(states)[..., 0]

    def before(self, new, part, epoch):
        """(n, width) log-probabilities before the first update; None at the first, where they are ``new``."""
        if epoch:
            return self.old[part.rows, : part.width]
        self.old[part.rows, : part.width] = new
        return None

    def policy_loss(self, new, old, weights, mask, part):
        """The part's share of the algorithm's loss."""
        ref = self.rollouts.ref_logprobs
        ref = ref[part.rows, : part.width] if ref is not None else None
        return self.algorithm.loss(new, old, weights, mask, ref, self.whole)

    def seen(self, new, old, weights, mask):
        """Tokens that the clip holds, the sum over tokens of an estimate of KL(old || new), and their number."""
        difference = torch.where(mask, new - old, 0.0)
        distance = float((difference.exp() - 1 - difference).sum())
        number = int(mask.sum())
        if self.algorithm.variant != "ppo":  # CISPO cuts weights, and takes no token's gradient away
            return 0, distance, number
        if not self.algorithm.by_token:  # one ratio for all tokens of a row
            row = difference.sum(1, keepdim=True)
            if self.algorithm.ratio == "sequence_mean":
                row = row / mask.sum(1, keepdim=True).clamp(min=1)
            new = old + row
        share = diagnostics.clip_fraction(new, old, weights, mask, self.algorithm.clip)
        return share * number, distance, number

    def value_loss(self, states, rows):
        """Half the squared error of the critic, a mean over the tokens of all completions that could be scored.

        With ``value_clip`` c the larger of two errors counts: that of the value, and that of the value
        kept within c of what it was before the update.
        """
        width = states.shape[1]
        values, targets = self.values(states), self.targets[rows, :width]
        error = (values - targets) ** 2
        if self.algorithm.value_clip is not None:
            old, c = self.old_values[rows, :width], self.algorithm.value_clip
            error = torch.maximum(error, (old + (values - old).clamp(-c, c) - targets) ** 2)
        judged = self.judged[rows, :width]
        return 0.5 * error.where(judged, 0.0).sum() / self.judged.sum().clamp(min=1)
