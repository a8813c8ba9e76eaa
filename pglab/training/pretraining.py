"""Pretraining: a model learns to continue prompts as a corpus does, and becomes a checkpoint."""

from datetime import date
from typing import NamedTuple

import torch

from pglab import _checks, lm, tasks
from pglab.lm.devices import words
from pglab.training import state as states
from pglab.training.evaluation import PROMPTS, Scores, evaluate
from pglab.training.run import RECENT, Run
from pglab.training.settings import Pretraining, command
from pglab.training.unfinished import Interrupted, held, places, with_threads

__all__ = ["Interrupted", "Pretrained", "pretrain", "rounded"]


class Pretrained(NamedTuple):
    """What ``pretrain`` gives."""

    model: lm.SmallLM  # as loaded from the file: numbers rounded to float16, computing in float32
    card: dict  # where it comes from, and its scores
    scores: Scores
    losses: list  # of every step, in nats per token


def pretrain(settings, path=None, device="auto", progress=True, state=None, *, threads=1, prompts=PROMPTS):
    """Trains a model on the corpus of a task, evaluates it, and writes it with its card.

        loss = - mean over the tokens of completions, end token included, of log pi(y_t | prompt, y_<t)

    Prompts are read and not learned: their digits are random, and a loss on them would teach noise.
    An unfinished run of the same settings is gone on with, and ends in the same weights, bit for bit
    on one machine, as one that was never stopped.

    Args:
      settings: Pretraining.
      path: of the weights, ending in .safetensors; None writes nothing and keeps no unfinished run.
      device: as ``lm.choose_device``.
      progress: whether a bar is shown.
      state: where the unfinished run is kept; None for a place beside the weights or, for data/, in
        the project's folder .pglab.
      threads: of torch on the CPU, for this call. More than one are hardly faster at this size, and
        many times slower where another program wants the cores.
      prompts: of the evaluation; see ``evaluate``.

    Returns:
      Pretrained.

    Raises:
      ValueError: an unknown or missing device, a path with another ending, an unfinished run of
        other settings.
      OSError: the weights cannot be written. The folder is tried before training starts; if the disk
        fills up later, the last good state is kept.
      Interrupted: Ctrl-C. The same call goes on.

    Source: Radford et al. 2018 (GPT), equation 1; that only completions count: TRL 1.16,
    trainer/sft_trainer.py (completion_only_loss).
    """
    _checks.kind("settings", settings, Pretraining, "a Pretraining, such as preset('addition')")
    prompts = _checks.whole("prompts", prompts, low=2)  # what would spoil the end is said at the start
    device = lm.choose_device(device)
    path, kept = places(path, state)
    with with_threads(_checks.whole("threads", threads, low=1)):
        run = Run(settings, device, kept, progress)
        with held(run):
            run.finish()
            result = _finished(run, path, prompts)
    if kept is not None:
        states.forget(kept)
    return result


def _finished(run, path, prompts):
    """Evaluates and writes the model, as the file will hold it."""
    model = rounded(run.model)
    scores = evaluate(model, tasks.named(run.settings.task), prompts, seed=run.settings.seed)
    card = about(run, scores, path)
    if path is not None:
        card = lm.save(model, path, card, dtype=torch.float16)
    return Pretrained(model, card, scores, run.rows)


@torch.no_grad()
def rounded(model):
    """The model, in place, with its numbers rounded to float16, as a checkpoint holds them."""
    for parameter in model.parameters():
        parameter.copy_(parameter.half())
    return model


def about(run, scores, path):
    """The card: everything needed to judge the weights and to make them again."""
    settings, recent = run.settings, run.rows[-RECENT:]
    return {
        "task": settings.task,
        "words": tasks.named(settings.task).describe(),
        "corpus_seed": settings.seed,
        "settings": settings.as_dict(),
        "device": words(run.device),
        "threads": torch.get_num_threads(),
        "torch": str(torch.__version__),
        "seconds": round(run.seconds, 1),
        "date": date.today().isoformat(),
        "loss": round(sum(recent) / len(recent), 4),
        **{name: round(value, 5) for name, value in scores._asdict().items()},
        "command": command(settings, path, run.device.type, torch.get_num_threads()),
    }
