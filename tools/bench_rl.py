"""What learning from rewards costs: seconds and samples to a pass rate, and the shares of the peak.

One torch thread, default settings, five seeds. Fresh prompts are scored beside the clock: only the
steps themselves are counted.
"""

import statistics

import numpy as np
import torch
from bench_lm import against_the_peak, forward_work, matrix_work
from timing import seconds

from pglab import sampling, training
from pglab.training import evaluation, rollouts, update

SEEDS = range(5)
FRESH = 1_024
# Task: pass@1 to reach, seconds allowed, samples allowed, steps between two looks.
GOALS = {
    "addition": (0.90, 1.5, 15_000, 1),
    "running_sum": (0.90, 1.0, None, 1),
    "countdown": (0.85, 60.0, None, 10),
}


def right(trainer, prompts):
    """(prompts,) shares of right answers among four completions each; their mean is known to about 0.006."""
    tokens = trainer.settings.longest(trainer.task)
    generator = torch.Generator().manual_seed(0)
    verdicts, _ = evaluation.drawn(trainer.policy, trainer.task, prompts, 4, generator, tokens)
    return verdicts.mean(1)


def race(task, seed, goal, every, limit):
    """Seconds, samples and pass@1 when the goal is reached, or where the run ends without it.

    The last number is the pass@1 on those prompts that no step has drawn: of Countdown, which has few,
    training has seen some of any fresh ones.
    """
    trainer = training.Trainer(training.plan(task, seed=seed))
    prompts = trainer.task.prompts(FRESH, np.random.default_rng(12_345))
    rates, seen = np.zeros(FRESH), set()
    for row in trainer:
        seen.update(trainer.rollouts.texts)
        if row["step"] % every == every - 1:
            rates = right(trainer, prompts)
        if rates.mean() >= goal or row["seconds"] > limit:
            break
    new = rates[[prompt not in seen for prompt in prompts]]
    return row["seconds"], row["samples"], rates.mean(), new.mean()


def bench_race(tasks=tuple(GOALS)):
    """From the checkpoint to the goal, five seeds."""
    torch.set_num_threads(1)
    for task in tasks:
        goal, allowed, samples_allowed, every = GOALS[task]
        race(task, 0, 2.0, 10**9, 0.1)  # warm caches; nothing of it is kept
        ended = [race(task, seed, goal, every, 2 * allowed) for seed in SEEDS]
        times, samples, rates, new = zip(*ended, strict=True)
        took, drawn = statistics.median(times), statistics.median(samples)
        met = took <= allowed and min(rates) >= goal and drawn <= (samples_allowed or drawn)
        aim = f"{allowed:g} s" + (f", {samples_allowed:,} samples" if samples_allowed else "")
        each = ", ".join(f"{time:.2f} s" for time in times)
        yield (
            f"{task} to pass@1 {goal:.2f}",
            took,
            f"{drawn:,.0f} samples; seeds: {each}; aim: {aim}, {'met' if met else 'MISSED'}; prompts that no "
            f"step has drawn: {statistics.median(new):.3f}",
        )


def learner_work(model, parts):
    """Operations of the matrix products of a gradient: forward, and twice that backward."""
    read = sum(part.prompts.numel() + len(part.rows) * (part.width - 1) for part in parts)
    asked = sum(len(part.rows) * part.width for part in parts)
    return 3 * forward_work(model, read, asked)


def bench_shares():
    """Of the float32 peak, in one step at default settings."""
    torch.set_num_threads(1)
    for name in GOALS:
        trainer = training.Trainer(training.plan(name))
        model, settings, task = trainer.policy, trainer.settings, trainer.task
        batch = rollouts.collect(model, task, settings, 0)
        one = update.Update(model, None, trainer.optimisers[0], settings, batch)

        sizes = settings.prompts, settings.group_size, task.prompt_length, settings.longest(task)

        def draw(model=model, settings=settings, task=task, prompts=batch.prompts):
            sampling.sample(model, prompts, settings.group_size, settings.longest(task))

        took, share = against_the_peak(draw, matrix_work(model, *sizes), 15)
        yield f"{name}: sampler, one step", took, f"{share:.0%} of the peak"
        work = learner_work(model, one.parts)
        took, share = against_the_peak(lambda one=one: one.gradient(0, {}), work, 15)
        rows = sum(len(part.rows) for part in one.parts)
        note = f"{share:.0%} of the peak, {rows} of {batch.rewards.size} rows read"
        yield f"{name}: learner, one gradient", took, note
        verify = seconds(lambda b=batch, t=task: [t.verify(b.texts[0], a) for a in b.answers], 9)
        yield f"{name}: verifier, one step", verify, f"{batch.rewards.size} completions"
