"""Rollouts: prompts, completions, verdicts and advantages of one step."""

import math
from typing import NamedTuple

import numpy as np
import torch

from pglab import _checks, algorithms, lm, returns, sampling
from pglab.diagnostics import zero_std_groups
from pglab.training.workers import ALONE

PROMPTS_STREAM, NOISE_STREAM = 5, 6  # what one seed means here, apart from what it means elsewhere


class Rollouts(NamedTuple):
    """B prompts with G completions each: N = B G rows of T tokens, row i G + j number j of prompt i."""

    texts: list  # B prompts
    prompts: torch.Tensor  # (B, P) tokens
    samples: sampling.Samples  # N completions
    answers: list  # N completions as texts
    right: np.ndarray  # (B, G) what the task's own verifier says: 1 or 0
    rewards: np.ndarray  # (B, G) what is paid; NaN where the mask is False
    token_rewards: np.ndarray | None  # (N, T) the same, token by token, where rewards are paid so
    mask: np.ndarray  # (B, G) False where a completion could not be scored
    ref_logprobs: torch.Tensor | None  # (N, T) under the model before training, where a KL is asked for
    drawn: int  # completions drawn to get these
    every: "Rollouts | None" = None  # all of these, where dynamic sampling may have left some out

    @property
    def owners(self):
        """(N,) the prompt of each completion."""
        return torch.arange(len(self.texts)).repeat_interleave(self.rewards.shape[1])


def collect(model, task, settings, step, reward=None, reference=None, workers=ALONE):
    """Draws the completions of one step and has them verified.

    What is drawn depends on the seed, the step and the weights only: a run that goes on after an
    interrupt needs to remember no generator. Several workers draw a part of the prompts each, and all of
    them know all completions in the end: the same that one worker alone would have drawn.

    Args:
      model: lm.SmallLM.
      task: tasks.Task.
      settings: PostTraining.
      step: counted from 0.
      reward: function (prompt, completion) -> number, or None for a completion that cannot be scored;
        or None for the reward that the settings name.
      reference: the model before training, for a KL.
      workers: who shares the work.

    Returns:
      Rollouts.

    Raises:
      ValueError: a reward that is no finite number; prompts of a length that is not the task's.

    Source: Yu et al. 2025 (DAPO), section 3.2 (dynamic sampling, where the algorithm has rounds).
    """
    parts, every, drawn, found = [], [], 0, 0
    rounds, wanted = settings.algorithm.rounds, settings.prompts
    for number in range(rounds):
        part = _one_round(model, task, settings, (step, number), reward, reference, workers)
        drawn += part.rewards.size
        keep = ~np.asarray(zero_std_groups(part.rewards, part.mask)) if rounds > 1 else np.ones(wanted, bool)
        keep[np.flatnonzero(keep)[max(wanted - found, 0) :]] = False  # enough is enough
        found += int(keep.sum())
        parts.append(_only(part, keep))
        every.append(part)
        if found == wanted:
            break
    kept = _joined(parts, drawn)
    return kept._replace(every=_joined(every, drawn)) if rounds > 1 else kept


def asked(task, settings, step, number=0):
    """The prompts of a step (and of its round, in dynamic sampling): they depend on nothing else."""
    return task.prompts(
        settings.prompts, np.random.default_rng([settings.seed, PROMPTS_STREAM, step, number])
    )


def _one_round(model, task, settings, key, reward, reference, workers):
    """All completions of one round; each worker draws those of its own prompts."""
    texts = asked(task, settings, *key)
    lengths = sorted({len(text) for text in texts})
    if lengths != [task.prompt_length]:
        raise ValueError(
            f"{settings.task} gives prompts of {' and '.join(map(str, lengths))} characters; all must have "
            f"{task.prompt_length}, its prompt_length: a batch is not padded."
        )
    mine = workers.part(len(texts))
    part = _drawn(model, task, settings, key, (texts[mine], mine.start, len(texts)), reward, reference)
    found = _shared(part, workers, model.device)
    if not found.mask.any():
        raise ValueError(
            f"reward returned None for all {found.mask.size} completions of a batch; at least one must have a number, "
            "or there is nothing to learn from. Perhaps the function forgets to return its result."
        )
    return found


def _shared(part, workers, device):
    """What all workers have drawn, in the order of the prompts; told from processor to processor."""
    if workers.count == 1:
        return part
    parts = [_moved(each, device) for each in workers.gathered(_moved(part, "cpu"))]
    return _joined(parts, sum(each.drawn for each in parts))


def _moved(part, device):
    """The same on another device."""
    ref = None if part.ref_logprobs is None else part.ref_logprobs.to(device)
    samples = sampling.Samples(*(column.to(device) for column in part.samples))
    return part._replace(prompts=part.prompts.to(device), samples=samples, ref_logprobs=ref)


def _drawn(model, task, settings, key, share, reward, reference):
    """The completions of a share of the prompts: (those texts, number of the first, how many prompts in all)."""
    texts, *among = share
    prompts = lm.encode_all(texts)[0].to(model.device)
    stream = int(np.random.default_rng([settings.seed, NOISE_STREAM, *key]).integers(2**62))
    samples = sampling.sample(
        model, prompts, settings.group_size, settings.longest(task), settings.temperature,
        torch.Generator(model.device).manual_seed(stream), among=among,
    )  # fmt: skip
    answers, group = samples.texts(), settings.group_size
    pairs = [(text, answers[i * group + j]) for i, text in enumerate(texts) for j in range(group)]
    right = np.array([task.verify(*pair) for pair in pairs])
    paid, mask, by_token = _paid(task, settings, reward, pairs, right, samples)
    ref = None
    if reference is not None:
        with torch.no_grad():
            ref = sampling.score(reference, prompts, samples.tokens, settings.temperature)
        ref = ref.where(samples.mask, 0.0)
    shape = (len(texts), group)
    paid, mask, right = (column.reshape(shape) for column in (paid, mask, right))
    return Rollouts(texts, prompts, samples, answers, right, paid, by_token, mask, ref, paid.size)


def _paid(task, settings, reward, pairs, right, samples):
    """(N,) rewards, (N,) which could be scored, (N, T) rewards of tokens or None."""
    by_token = None
    if reward is not None:
        given = [_asked(reward, *pair) for pair in pairs]
        mask = np.array([value is not None for value in given])
        paid = np.array(
            [math.nan if v is None else _number(v, *p) for v, p in zip(given, pairs, strict=True)]
        )
    elif settings.reward == "outcome":
        paid, mask = right.copy(), np.ones(len(pairs), bool)
    else:
        by_token = np.zeros(samples.mask.shape)
        for row, pair in zip(by_token, pairs, strict=True):
            steps = task.step_rewards(*pair)
            row[: len(steps)] = steps
        paid, mask = by_token.sum(1).round(12), np.ones(len(pairs), bool)
        by_token = by_token if settings.reward == "steps" else None
    extra = settings.algorithm.penalties(samples.mask.sum(1).cpu().numpy(), task.answer_length + 1)
    if by_token is not None:
        by_token[np.arange(len(by_token)), samples.mask.sum(1).cpu().numpy() - 1] += extra
    return paid + extra, mask, by_token


def _asked(reward, prompt, completion):
    """What a reader's own function says; its errors come with what it was asked."""
    try:
        return reward(prompt, completion)
    except Exception as error:
        raise ValueError(
            f"the reward function failed with {type(error).__name__}: {error}. That was for prompt {prompt!r} and "
            f"completion {completion!r}; it is called as reward(prompt, completion)."
        ) from error


def _number(value, prompt, completion):
    """A reward that a reader's own function gave."""
    try:
        return _checks.number("reward", value)
    except ValueError as error:
        raise ValueError(
            f"{error} That was for prompt {prompt!r} and completion {completion!r}. Return None for a "
            "completion that cannot be scored."
        ) from None


def _only(part, keep):
    """Those prompts alone."""
    if keep.all():
        return part
    rows = np.repeat(keep, part.rewards.shape[1])
    some = torch.from_numpy(rows).to(part.prompts.device)
    return Rollouts(
        [text for text, kept in zip(part.texts, keep, strict=True) if kept],
        part.prompts[torch.from_numpy(keep).to(part.prompts.device)],
        sampling.Samples(*(column[some] for column in part.samples)),
        [answer for answer, kept in zip(part.answers, rows, strict=True) if kept],
        part.right[keep],
        part.rewards[keep],
        None if part.token_rewards is None else part.token_rewards[rows],
        part.mask[keep],
        None if part.ref_logprobs is None else part.ref_logprobs[some],
        part.drawn,
    )


def _joined(parts, drawn):
    if len(parts) == 1:
        return parts[0]._replace(drawn=drawn)
    columns = list(zip(*parts, strict=True))
    texts, answers = sum(columns[0], []), sum(columns[3], [])
    samples = sampling.Samples(*(torch.cat(column) for column in zip(*columns[2], strict=True)))
    right, rewards, mask = (np.concatenate(columns[i]) for i in (4, 5, 7))
    token_rewards = None if columns[6][0] is None else np.concatenate(columns[6])
    ref = None if columns[8][0] is None else torch.cat(columns[8])
    return Rollouts(
        texts, torch.cat(columns[1]), samples, answers, right, rewards, token_rewards, mask, ref, drawn
    )


def weights(algorithm, rollouts):
    """The advantages of a step, for an algorithm without a critic.

    Args:
      algorithm: algorithms.Algorithm.
      rollouts: Rollouts.

    Returns:
      (N, T) on the rollouts' device, in the precision of the log-probabilities: the same number for
        every token of a completion; with rewards of tokens, that of the reward to go, compared at each
        place with the rest of the group.

    Source: Sutton et al. 1999 (policy gradient theorem) for rewards of tokens.
    """
    logprobs = rollouts.samples.logprobs
    if rollouts.token_rewards is None:
        found = algorithm.advantages(charged(algorithm, rollouts), rollouts.mask).reshape(-1, 1)
        found = np.broadcast_to(found, logprobs.shape)
    else:
        group = rollouts.rewards.shape[1]
        to_go = returns.reward_to_go(token_rewards(algorithm, rollouts))  # (N, T)
        places = to_go.reshape(-1, group, to_go.shape[1]).swapaxes(1, 2)  # (B, T, G)
        found = algorithm.advantages(places).swapaxes(1, 2).reshape(to_go.shape)
    return torch.tensor(found).to(logprobs)


def charged(algorithm, rollouts):
    """(B, G) rewards, less what a KL in the reward costs."""
    return rollouts.rewards - _costs(algorithm, rollouts).sum(1).reshape(rollouts.rewards.shape)


def token_rewards(algorithm, rollouts):
    """(N, T) rewards of tokens: where one is paid for all, with the last; less what a KL costs."""
    rewards = rollouts.token_rewards
    if rewards is None:
        rewards = algorithms.at_the_end(rollouts.rewards.reshape(-1), rollouts.samples.mask.cpu().numpy())
    return rewards - _costs(algorithm, rollouts)


def _costs(algorithm, rollouts):
    """(N, T) NumPy, what a KL in the reward takes off each token."""
    samples = rollouts.samples
    return algorithm.costs(samples.logprobs, rollouts.ref_logprobs, samples.mask).numpy()
