"""One batch, two libraries: TRL's loss and gradient beside ours.

TRL draws the completions, has them verified, and makes advantages, loss and gradient of them, by the methods its
own training calls. We are handed nothing but its tokens, and go through the methods that our training calls.
"""

import tempfile
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import torch

from pglab import _checks, lm, sampling, tasks
from pglab.lm.export import export, gpt2
from pglab.peers.extra import bring
from pglab.peers.hand_over import dataset, reward, trl_settings
from pglab.training import plans
from pglab.training.rollouts import Rollouts
from pglab.training.trainer import copy_of
from pglab.training.update import Update


class Parity(NamedTuple):
    """What two libraries make of one batch."""

    difference: float  # |ours - theirs| / |theirs|, gradients of all weights that both have
    worst: float  # the largest such quotient of one tensor
    loss_difference: float  # |ours - theirs|, of the losses
    gradient_norm: float  # |theirs|
    advantages: float  # the largest |ours - theirs|
    ratios: tuple  # the smallest and the largest ratio of a token
    lengths: tuple  # tokens of the shortest and of the longest completion
    silent: int  # groups whose rewards are all equal
    tokens: int  # in all completions
    bias_norm: float  # the gradient of GPT-2's biases, which a SmallLM does not have


def parity(settings, moved=0.0, seed=0, model=None, **changes):
    """TRL's gradient and ours on one batch.

    Args:
      settings: training.PostTraining that ``trl_settings`` can hand over. With ``epochs`` above 1 the second
        update is compared, the first otherwise.
      moved: how far the weights are moved between the draw and the update, the deviation of normal noise
        added to each. With ``epochs`` above 1 the ratios are then not 1. The model before training, which a KL
        is measured to, stays where it was.
      seed: of the prompts, of TRL's completions and of the noise.
      model: lm.SmallLM; None for the checkpoint of the settings. It stays as it is.
      changes: keywords of GRPOConfig in place of those of ``trl_settings``: a setting that is off.

    Returns:
      Parity.

    Raises:
      ImportError: the extra is not installed, or half.
      ValueError: as ``trl_settings``; several micro-batches; a batch in which no group has rewards that differ.

    Source: TRL 1.16.0, grpo_trainer.py: _generate_and_score_completions and _compute_loss.
    """
    trl_settings(settings)  # refuses what cannot be handed over, before anything is made
    if settings.micro_batches > 1:
        raise ValueError(
            f"micro_batches is {settings.micro_batches}; it must be 1: the batch is compared as a whole."
        )
    task = tasks.named(settings.task)
    start = lm.load(plans.start_of(settings), "cpu") if model is None else model
    with trainer(settings, task, start, seed, **changes) as theirs:
        torch.manual_seed(_checks.whole("seed", seed, low=0))
        asked = [row["prompt"] for row in theirs.train_dataset][: settings.prompts]
        pairs = [{"prompt": prompt} for prompt in asked for _ in range(settings.group_size)]
        theirs.model.train()
        theirs.current_gradient_accumulation_steps = 1
        drawn = theirs._generate_and_score_completions(pairs)
        ours = copy_of(start)
        ours.requires_grad_(True)
        batch = _rollouts(ours, start, task, settings, asked, drawn)
        update = Update(ours, None, torch.optim.Adam(ours.parameters()), settings, batch)
        if not len(update.parts[0].rows):
            raise ValueError("no group has rewards that differ, so both gradients are 0; take another seed.")
        if settings.epochs > 1:
            update.gradient(0, {})  # remembers what the policy said before it moved
        _move(ours, theirs.model, moved, seed)
        losses = _Losses(update)
        update.gradient(min(settings.epochs - 1, 1), {})
        theirs.model.zero_grad()
        loss = theirs._compute_loss(theirs.model, drawn)
        loss.backward()
        return _compared(ours, theirs.model, losses.total, float(loss.detach()), update, drawn)


@contextmanager
def trainer(settings, task, model, seed=0, **changes):
    """TRL's GRPOTrainer for a run of ours, on the CPU, in a folder that vanishes; for use with ``with``.

    Args:
      settings, task: of the run.
      model: lm.SmallLM, which stays as it is.
      seed: of the prompts.
      changes: keywords of GRPOConfig.
    """
    (AutoTokenizer,) = bring("transformers", "AutoTokenizer")
    GRPOConfig, GRPOTrainer = bring("trl", "GRPOConfig", "GRPOTrainer")
    with tempfile.TemporaryDirectory() as folder:
        export(model, folder)
        options = trl_settings(settings) | QUIET | changes
        tokenizer = AutoTokenizer.from_pretrained(folder)
        yield GRPOTrainer(
            folder,
            reward_funcs=reward(task),
            args=GRPOConfig(folder, model_init_kwargs={"dtype": "float32"}, **options),
            train_dataset=dataset(task, 4 * settings.prompts, seed),
            processing_class=tokenizer,
        )


QUIET = {
    "use_cpu": True,
    "report_to": "none",
    "save_strategy": "no",
    "disable_tqdm": True,
    "logging_strategy": "no",
}


def _rollouts(model, reference, task, settings, asked, drawn):
    """TRL's completions as a batch of ours: only the tokens and the mask are theirs."""
    longest = settings.longest(task)
    pad = (0, longest - drawn["completion_ids"].shape[1])
    tokens = torch.nn.functional.pad(drawn["completion_ids"], pad)
    mask = torch.nn.functional.pad(drawn["completion_mask"].bool(), pad)
    prompts = lm.encode_all(asked)[0]
    with torch.no_grad():
        said = sampling.score(model, prompts, tokens, settings.temperature).where(mask, 0.0)
        ref = sampling.score(reference, prompts, tokens, settings.temperature).where(mask, 0.0)
    samples = sampling.Samples(tokens, said, mask, torch.zeros_like(said))
    answers, group = samples.texts(), settings.group_size
    right = [task.verify(asked[i // group], answer) for i, answer in enumerate(answers)]
    right = np.reshape(right, (len(asked), group))
    ref = ref if settings.algorithm.kl else None
    scored = np.ones(right.shape, bool)
    return Rollouts(asked, prompts, samples, answers, right, right.copy(), None, scored, ref, right.size)


@torch.no_grad()
def _move(ours, theirs, moved, seed):
    """The same noise on both models' weights."""
    generator = torch.Generator().manual_seed(seed)
    for parameter in ours.parameters():
        parameter += moved * torch.randn(parameter.shape, generator=generator)
    named = dict(theirs.named_parameters())
    for name, value in gpt2(ours).items():
        named[name].copy_(value)


class _Losses:
    """Adds up the losses of an update's parts."""

    def __init__(self, update):
        self.total, self.of = 0.0, update.loss
        update.loss = self

    def __call__(self, part, epoch):
        loss, seen = self.of(part, epoch)
        self.total += float(loss.detach())
        return loss, seen


def _compared(ours, theirs, our_loss, their_loss, update, drawn):
    """Both gradients under GPT-2's names."""
    mine = copy_of(ours)
    with torch.no_grad():
        for place, parameter in zip(mine.parameters(), ours.parameters(), strict=True):
            place.copy_(parameter.grad)
    pairs = [(theirs.get_parameter(name).grad, value, name) for name, value in gpt2(mine).items()]
    shared = [(other, value) for other, value, name in pairs if not name.endswith("bias")]
    biases = [other for other, _, name in pairs if name.endswith("bias") and other is not None]
    norm = torch.stack([other.norm() for other, _ in shared]).norm()
    gap = torch.stack([(value - other).norm() for other, value in shared]).norm()
    mask, width = update.rollouts.samples.mask, drawn["advantages"].shape
    ratio = _ratios(update, ours)[mask]
    lengths = mask.sum(1)
    return Parity(
        difference=float(gap / norm),
        worst=max(float((value - other).norm() / other.norm()) for other, value in shared),
        loss_difference=abs(our_loss - their_loss),
        gradient_norm=float(norm),
        advantages=float((update.weights[:, 0].reshape(width) - drawn["advantages"]).abs().max()),
        ratios=(float(ratio.min()), float(ratio.max())),
        lengths=(int(lengths.min()), int(lengths.max())),
        silent=int((np.ptp(update.rollouts.rewards, axis=1) == 0).sum()),
        tokens=int(mask.sum()),
        bias_norm=float(torch.stack([other.norm() for other in biases]).norm()) if biases else 0.0,
    )


@torch.no_grad()
def _ratios(update, model):
    """(N, T) pi / pi_old of every token, 1 on the first update."""
    rollouts, settings = update.rollouts, update.settings
    if settings.epochs == 1:
        return torch.ones_like(rollouts.samples.logprobs)
    new = sampling.score(model, rollouts.prompts, rollouts.samples.tokens, settings.temperature)
    return (new - rollouts.samples.logprobs).exp()
