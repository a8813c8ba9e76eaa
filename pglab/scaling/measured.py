"""The small model's bill by torch's own accounting, and where its seconds go."""

import time
from typing import NamedTuple

import numpy as np
import torch

from pglab import _checks, _files, lm, sampling
from pglab.sampling.draw import _Cached
from pglab.scaling.decoder import Decoder
from pglab.scaling.memory import cache, score_activations, score_peak
from pglab.training import PostTraining, Trainer
from pglab.training.update import Update

TIMES = lm.DATA / "measured" / "times.json"


class Measured(NamedTuple):
    """Bytes of one item of a training step in float32."""

    item: str
    predicted: float
    measured: int


def measure(settings, model=None):
    """The memory of one step of training, predicted and measured.

    Weights, gradients and moments are the storages of torch's tensors; activations those that autograd asks to
    keep (torch.autograd.graph.saved_tensors_hooks), each storage once and without the weights; the cache the
    storages of the sampler's keys and values. What a KL in the loss keeps for itself is not predicted: at most a few
    per cent.

    Args:
      settings: training.PostTraining without a critic, one micro-batch.
      model: lm.SmallLM; None for the checkpoint.

    Returns:
      a list of Measured: weights, gradients, moments, activations, cache.

    Raises:
      ValueError: a critic or several micro-batches; as ``Trainer``.
    """
    run, update, part = prepared(settings, model)
    kept = saved(run.policy, lambda: update.loss(part, 0)[0])
    update.gradient(0, {})
    run.optimisers[0].step()
    policy, decoder = list(run.policy.parameters()), Decoder.of(run.policy)
    moments = [
        t for state in run.optimisers[0].state.values() for n, t in state.items() if n.startswith("exp_avg")
    ]
    length, longest = run.rollouts.prompts.shape[1], settings.longest(run.task)
    predicted = score_activations(decoder, len(part.prompts), length, len(part.rows), part.width)
    rows = settings.prompts * settings.group_size
    return [
        Measured("weights", 4 * decoder.parameters, storages(policy)),
        Measured("gradients", 4 * decoder.parameters, storages([p.grad for p in policy])),
        Measured("moments", 8 * decoder.parameters, storages(moments)),
        Measured("activations", sum(predicted.values()), kept),
        Measured(
            "cache", cache(decoder, settings.prompts * length + rows * longest, 4), cached(run, settings)
        ),
    ]


def measure_peak(settings, model=None):
    """The most that one gradient takes beside the weights: predicted, and as torch.profiler sees it on a CPU.

    Args:
      settings, model: as ``measure``.

    Returns:
      Measured.

    Raises:
      ValueError: as ``measure``; a model that is not on the CPU.
    """
    run, update, part = prepared(settings, model)
    if run.policy.device.type != "cpu":
        raise ValueError(f"the model is on {run.policy.device}; it must be on the CPU, to be measured here.")
    length = run.rollouts.prompts.shape[1]
    predicted = score_peak(Decoder.of(run.policy), len(part.prompts), length, len(part.rows), part.width)
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True
    ) as seen:
        update.gradient(0, {})
    events = seen.profiler.kineto_results.events()
    held = np.cumsum([event.nbytes() for event in events if event.name() == "[memory]"])
    return Measured("peak", predicted, int(held.max()))


def prepared(settings, model):
    """A run that has drawn, its update, and the one micro-batch of that."""
    _checks.kind("settings", settings, PostTraining, "a PostTraining, such as training.plan('addition')")
    if settings.algorithm.weight == "critic" or settings.micro_batches > 1:
        raise ValueError("settings must be without a critic and with micro_batches=1, to be measured here.")
    run = Trainer(settings, model=model)
    run.rollouts = run.collect()
    update = Update(run.policy, None, run.optimisers[0], settings, run.rollouts)
    (part,) = update.parts
    if not len(part.rows):
        raise ValueError("no group has rewards that differ, so nothing would be read; take another seed.")
    return run, update, part


def storages(tensors):
    """Bytes of the memory behind some tensors, each piece once."""
    return sum({t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors}.values())


def saved(model, forward):
    """Bytes that autograd keeps of a forward pass, without the weights."""
    weights = {p.untyped_storage().data_ptr() for p in model.parameters()}
    kept = {}

    def keep(tensor):
        kept[tensor.untyped_storage().data_ptr()] = tensor  # held, so that no other takes its place
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        loss = forward()
    del loss
    return storages(tensor for place, tensor in kept.items() if place not in weights)


@torch.no_grad()
def cached(run, settings):
    """Bytes of the sampler's keys and values at the last token."""
    longest, prompts = settings.longest(run.task), run.rollouts.prompts
    reader = _Cached(run.policy, prompts, None, settings.group_size, longest)
    reader.first()
    return storages(t for layer in reader.layers for t in (*layer.prompt, layer.own))


# ---- Seconds


def times(settings, steps=12, warm=3):
    """Median seconds of the parts of a step of training.

    Args:
      settings: training.PostTraining.
      steps, warm: how many are timed, and how many before.

    Returns:
      {"generation": seconds, "verifying": seconds, "training": seconds}.
    """
    run, found = Trainer(settings), []
    for step in range(warm + steps):
        prompts = run.task.prompts(settings.prompts, np.random.default_rng(step))
        noise, longest = torch.Generator().manual_seed(step), settings.longest(run.task)
        began = time.perf_counter()
        drawn = sampling.sample(run.policy, prompts, settings.group_size, longest, generator=noise)
        drew = time.perf_counter()
        answers = drawn.texts()
        for i, answer in enumerate(answers):
            run.task.verify(prompts[i // settings.group_size], answer)
        verified = time.perf_counter()
        run.rollouts = run.collect()
        update = Update(run.policy, run.value, run.optimisers[0], settings, run.rollouts)
        ready = time.perf_counter()
        update.run()
        run.step += 1
        found.append((drew - began, verified - drew, time.perf_counter() - ready))
    medians = np.median(found[warm:], axis=0).tolist()
    return dict(zip(("generation", "verifying", "training"), medians, strict=True))


def measured_times():
    """The recorded seconds: ``data/measured/times.json``, made by tools/times.py.

    Returns:
      a dictionary: "rows", a list with task, group_size, epochs, prompts, answer (tokens at most), "generation",
      "verifying", "training" (seconds); "shapes", as ``time_shape`` gives them; "recorded", for both of them
      device, threads, torch and date.

    Raises:
      ValueError: the file is missing or damaged.
    """
    return _files.read_committed(TIMES, "rows", "shapes", "recorded")
