"""Updates in which exactly one thing is wrong; ``faults`` says of each what, and where it shows."""

from dataclasses import replace

import numpy as np
import torch
from torch.nn.functional import pad

from pglab import lm, logprobs, losses, sampling
from pglab.training.update import Update, split


class FromSampler(Update):
    """Nothing is wrong: the old log-probabilities are the sampler's, as some libraries keep them.

    Where sampler and learner agree every ratio of the first update is 1, but for rounding.
    """

    def before(self, new, part, epoch):
        return self.rollouts.samples.logprobs[part.rows, : part.width]


class Beginnings(Update):
    """Nothing is wrong: a critic without a network, read off the group.

        A_t = r - b_t,     b_t = mean reward of the group's others that begin with the same y_1 .. y_{t-1}

    Where none of them does, b_t is the mean of all others. Other completions are independent of this
    one, and the choice among them knows nothing of y_t: b_t is a baseline.
    """

    late = 0  # tokens that the choice has seen too many

    def weigh(self):
        samples, rewards = self.rollouts.samples, self.rollouts.rewards  # (B, G)
        tokens = samples.tokens.cpu().numpy().reshape(*rewards.shape, -1)  # (B, G, T)
        others = ~np.eye(rewards.shape[1], dtype=bool)
        beginning = np.broadcast_to(others, (*rewards.shape, rewards.shape[1]))  # (B, G, G)
        of_all, found = among(beginning, rewards, 0.0), np.empty(tokens.shape)
        for t in range(tokens.shape[2] + self.late):
            if t:
                beginning = beginning & (tokens[:, :, None, t - 1] == tokens[:, None, :, t - 1])
            if t >= self.late:
                found[:, :, t - self.late] = rewards - among(beginning, rewards, of_all)
        return torch.tensor(found.reshape(samples.logprobs.shape)).to(samples.logprobs)


def among(chosen, rewards, otherwise):
    """(B, G) mean reward of those that are chosen, (B, G, G) booleans; ``otherwise`` where none is."""
    number, total = chosen.sum(2), (chosen * rewards[:, None, :]).sum(2)
    return np.where(number, total / np.maximum(number, 1), otherwise)


# ---- One thing wrong in each


class LateBeginnings(Beginnings):
    """Others that begin with y_1 .. y_t: the baseline has seen the token that it judges."""

    late = 1


class LateCritic(Update):
    """The value of a token is read one place late: it has seen that token, and at the end the whole answer."""

    def states(self, prompts, tokens, owners):
        whole = sampling.states(self.model, prompts, pad(tokens, (0, 1)), owners)  # (n, T + 1, d)
        self.late = whole[:, 1:]
        return whole[:, :-1]

    def values(self, states):
        return super().values(self.late)


class AttachedValue(Update):
    """The value in A = target - V carries a gradient in the policy's loss -r A: it pushes every V down."""

    def policy_loss(self, new, old, weights, mask, part):
        tokens = self.rollouts.samples.tokens[part.rows, : part.width]
        values = self.values(self.states(part.prompts, tokens, part.owners))
        ratio = 1 if old is None else (new.detach() - old).where(mask, 0.0).exp()
        leak = losses.aggregate(ratio * (values - values.detach()), mask, *self.whole)
        return super().policy_loss(new, old, weights, mask, part) + leak


class AttachedKL(Update):
    """The k1 in the reward carries a gradient in the loss -A log pi: the mean step gains beta grad H.

    For leave-one-out weights, a sum over each completion's tokens and one update on each batch.
    """

    def __init__(self, *args):
        super().__init__(*args)
        self.parts = split(
            self.rollouts, self.settings, None, self.workers
        )  # a weight of 0 has a gradient too

    def policy_loss(self, new, old, weights, mask, part):
        total = new.where(mask, 0.0).sum(1).reshape(-1, self.settings.group_size)  # log pi of completions
        cost = self.algorithm.kl * total
        others = (cost.sum(1, keepdim=True) - cost) / (cost.shape[1] - 1)
        weight = others - cost
        leak = -((weight - weight.detach()) * total.detach()).reshape(-1, 1)
        leak = losses.aggregate(leak, mask.any(1, keepdim=True), *self.whole)
        return super().policy_loss(new, old, weights, mask, part) + leak


class NoShift(FromSampler):
    """Each token is scored by the logits that have read it."""

    def states(self, prompts, tokens, owners):
        return sampling.states(self.model, prompts, pad(tokens, (0, 1)), owners)[:, 1:]


class ScoredAtOne(FromSampler):
    """The learner forgets the temperature that the completions were drawn at."""

    def __init__(self, model, value, optimiser, settings, *rest):
        super().__init__(model, value, optimiser, replace(settings, temperature=1.0), *rest)


class PromptIn(Update):
    """The prompt's tokens stand in the loss and in its denominator, as if the policy had chosen them.

    For one update on each batch: every ratio is 1.
    """

    def __init__(self, *args):
        super().__init__(*args)
        before = self.rollouts.prompts.shape[1] - 1  # the first token has nothing before it
        self.whole = self.algorithm.denominator(pad(self.rollouts.samples.mask, (before, 0), value=True))

    def policy_loss(self, new, old, weights, mask, part):
        logits = self.model(part.prompts) / self.settings.temperature
        said = logprobs.token_logprobs(logits, part.prompts)[part.owners]  # (n, P - 1)
        weights = torch.cat([weights[:, :1].expand(said.shape), weights], 1)
        mask = pad(mask, (said.shape[1], 0), value=True)
        return self.algorithm.loss(torch.cat([said, new], 1), None, weights, mask, None, self.whole)


class StopOut(Update):
    """The mask is made by value and leaves out the end token, and with it the choice to stop."""

    def __init__(self, *args):
        super().__init__(*args)
        samples = self.rollouts.samples
        self.chosen = samples.mask & (samples.tokens != lm.END)
        self.whole = self.algorithm.denominator(self.chosen)

    def policy_loss(self, new, old, weights, mask, part):
        return super().policy_loss(new, old, weights, self.chosen[part.rows, : part.width], part)


class WrongBrackets(Update):
    """r - mean / std, in place of (r - mean) / std."""

    def weigh(self):
        rewards = self.rollouts.rewards
        spread = rewards.std(1, ddof=1, keepdims=True) + self.algorithm.eps
        return one_for_each(rewards - rewards.mean(1, keepdims=True) / spread, self.rollouts)


class TinyEps(Update):
    """(r - mean) / (std + 1e-9) in float32: where all rewards of a group are equal, rounding becomes a weight."""

    def weigh(self):
        rewards = torch.tensor(self.rollouts.rewards, dtype=torch.float32)
        mean = sum(rewards.unbind(1))[:, None] / rewards.shape[1]  # one after the other, on every processor
        found = (rewards - mean) / (rewards.std(1, keepdim=True) + 1e-9)
        return one_for_each(found.numpy(), self.rollouts)


def one_for_each(found, rollouts):
    """(B, G) numbers -> (N, T) weights, the same for every token of a completion."""
    like = rollouts.samples.logprobs
    return torch.tensor(found.reshape(-1, 1)).to(like).expand(like.shape)


def transposed(rollouts):
    """Rewards that come back number by number, (G, B), and are read prompt by prompt, (B, G)."""
    rewards = rollouts.rewards
    return rollouts._replace(rewards=np.ascontiguousarray(rewards.reshape(rewards.shape[::-1]).T))
