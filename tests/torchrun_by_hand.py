"""What ``test_workers.py`` hands to torchrun: the name of a function below, and a folder for what it found."""

import os
import signal
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
from training_by_hand import brief, unscorable

from pglab import algorithms, tasks, training
from pglab.training import command, post_training, workers
from pglab.training.update import Update

TINY = training.PostTraining("addition", prompts=5, group_size=4, steps=3, learning_rate=0.01, seed=2)
KINDS = {
    "grpo": TINY,
    "token mean, three micro-batches": replace(TINY, algorithm="grpo_token_mean", micro_batches=3, epochs=1),
    "a critic": replace(TINY, algorithm="ppo", warmup=3),
    "dynamic sampling": replace(TINY, algorithm="dapo", room=2),
    "a KL in the reward": replace(TINY, algorithm=algorithms.named("rloo", kl=0.2), temperature=0.8),
    "a KL in the loss": replace(TINY, algorithm=algorithms.named("grpo", kl=0.2)),
    "whitened over the batch": replace(TINY, algorithm=algorithms.named("reinforce", whiten=True)),
}


class Watched(Update):
    """Keeps its first gradient."""

    first = None

    def gradient(self, epoch, seen):
        noise = super().gradient(epoch, seen)
        if Watched.first is None:
            Watched.first = torch.cat([p.grad.flatten() for p in self.parameters])
        return noise


def found(settings, dtype, group):
    """The first gradient, every completion, the panel and the last weights of a run."""
    Watched.first = None
    run = training.Trainer(settings, model=brief().to(dtype), reward=unscorable, workers=group)
    run.updates = Watched
    answers = []
    for _ in run:
        answers.append(run.rollouts.answers)
    weights = torch.cat([p.detach().flatten() for p in run.model.parameters()])
    rows = [{k: v for k, v in row.items() if k not in ("seconds", "grad_noise")} for row in run.rows]
    return {"gradient": Watched.first, "answers": answers, "rows": rows, "weights": weights, "all": run.rows}


def runs(group, folder):
    """Every kind of run, in both precisions; every worker writes down what it has found."""
    every = {
        (kind, str(t)): found(KINDS[kind], t, group) for kind in KINDS for t in (torch.float32, torch.float64)
    }
    torch.save(every, folder / f"{group.number}.pt")


def different(group, folder):
    """One worker's weights change behind the others' back."""
    run = training.Trainer(TINY, model=brief().float(), reward=unscorable, workers=group)
    run.advance()
    group.agree(run.model)
    if group.number == 1:
        with torch.no_grad():
            run.policy.norm.weight[0] += 1e-3
    try:
        group.agree(run.model)
    except ValueError as error:
        (folder / f"{group.number}.txt").write_text(str(error))


def deadly(prompt, completion, calls=[]):  # noqa: B006
    """The second worker is killed in the middle of its fourth step."""
    calls.append(prompt)
    if os.environ["RANK"] == "1" and len(calls) == 3 * 16 * 8 + 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return paid_right(prompt, completion)


def paid_right(prompt, completion):
    return tasks.Addition().verify(prompt, completion)


def failing(prompt, completion, calls=[]):  # noqa: B006
    """The second worker's reward goes wrong in its second step."""
    calls.append(prompt)
    return float("nan") if os.environ["RANK"] == "1" and len(calls) > 16 * 8 else 1.0


if __name__ == "__main__":
    torch.set_num_threads(1)
    name, folder, *words = sys.argv[1:]
    if words:  # the real command, with a reward of this file
        command.post_train = partial(post_training.post_train, reward=globals()[name])
        sys.exit(command.main(words))
    with workers.joined(torch.device("cpu")) as everyone:
        globals()[name](everyone, Path(folder))
