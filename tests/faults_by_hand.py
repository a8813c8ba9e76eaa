"""A sick run of the museum and its twin on one batch in float64, beside the formulas in plain loops."""

import copy
from dataclasses import replace

import torch
import training_by_hand as by_hand

from pglab.museum import faults


class Pair:
    """The updates of a sick run and of its twin, on one batch in float64."""

    def __init__(self, name, reward=by_hand.paid, **changes):
        self.fault, self.model = faults.FAULTS[name], by_hand.model(context=24)
        small = dict(seed=1, prompts=3, group_size=3, steps=2, epochs=1, micro_batches=1, grad_clip=0)
        settings = replace(self.fault.settings, **small | changes)
        self.settings = replace(settings, task="addition", reward="outcome")
        self.trainers = {
            healthy: faults.trainer(
                self.fault, self.settings, model=copy.deepcopy(self.model), healthy=healthy,
                reward=reward, task=by_hand.Liked(),
            )
            for healthy in (False, True)
        }  # fmt: skip
        self.updates, self.gradients = {}, {}
        for healthy, run in self.trainers.items():
            if run.value is not None:  # a critic that says something
                with torch.no_grad():
                    run.value.weight.copy_(torch.linspace(-1, 1, run.value.weight.numel())[None] / 9)
            run.rollouts = run.collect()
            made = run.updates(run.policy, run.value, run.optimisers[0], run.settings, run.rollouts)
            self.seen = {}
            made.gradient(0, self.seen)
            self.updates[healthy], self.gradients[healthy] = made, by_hand.left(run)
        self.sick, self.twin = self.trainers[False], self.trainers[True]
        self.rollouts, self.value = self.twin.rollouts, self.twin.value
        self.lengths = self.rollouts.samples.mask.sum(1).tolist()

    def right(self):
        """The gradient of the algorithm's loss, in plain loops."""
        reference = self.twin.reference and copy.deepcopy(self.model)
        step = Step(self.twin, self.model, self.value, reference)
        return step.gradient(self.model, self.value)

    def read(self, temperature=None):
        return by_hand.read(self.model, self.rollouts, temperature or self.settings.temperature, self.value)

    def gradient(self, loss):
        parameters = by_hand.all_parameters(self.model, self.value)
        for parameter in parameters:
            parameter.grad = None
        loss.backward()
        return by_hand.flat(parameters)


class Step(by_hand.Step):
    """The museum's algorithms have no names of the registry: leave-one-out sums, and PPO without whitening."""

    def __init__(self, trainer, model, value, reference):
        algorithm = trainer.settings.algorithm
        super().__init__(trainer, model, value, reference)
        if algorithm.weight == "critic" and not algorithm.whiten:
            self.unwhitened()

    def unwhitened(self):
        for i, targets in zip(self.scored, self.targets, strict=True):
            self.weights[i] = [t - v for t, v in zip(targets, self.before[i], strict=True)]


def summed(pair, weights):
    """Minus the sum over tokens of weight times log pi, a mean over completions."""
    new, _ = pair.read()
    total = 0.0
    for row, given in zip(new, weights, strict=True):
        total = total - (row * torch.tensor(given, dtype=row.dtype)).sum()
    return total / len(new)


def close(found, wanted):
    scale = float(wanted.abs().max())
    return scale > 1e-3 and torch.allclose(found, wanted, rtol=0, atol=1e-10 * max(scale, 1))
