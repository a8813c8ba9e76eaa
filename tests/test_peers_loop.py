"""TRL's own training loop, in one process and in two: the gradient its optimiser gets, beside ours. Needs ``peers``."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from extras import OFFLINE, peers

peers()

import trl_loop  # noqa: E402

from pglab import lm, sampling, tasks, training  # noqa: E402
from pglab.lm.export import gpt2  # noqa: E402
from pglab.training.rollouts import Rollouts  # noqa: E402

pytestmark = pytest.mark.slow  # two launches of torchrun
SCRIPT = Path(trl_loop.__file__)
TASK = tasks.named(trl_loop.TASK)


def torchrun(number, folder):
    """What each of the processes has seen."""
    start = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(number)]
    where = os.pathsep.join([str(SCRIPT.parents[1]), str(SCRIPT.parent)])
    done = subprocess.run(
        [*start, str(SCRIPT), str(folder)], capture_output=True, text=True, timeout=300, check=False,
        env=os.environ | OFFLINE | {"PYTHONPATH": where, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return [torch.load(folder / f"{i}.pt", weights_only=True) for i in range(number)]


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    return torchrun(1, tmp_path_factory.mktemp("alone"))[0]


@pytest.fixture(scope="module")
def together(tmp_path_factory):
    return torchrun(2, tmp_path_factory.mktemp("together"))


def apart(mine, other):
    """|mine - other| / |other| of gradients by name."""
    assert mine.keys() == other.keys()
    gap = torch.stack([(mine[name] - other[name]).norm() for name in other]).norm()
    return float(gap / torch.stack([value.norm() for value in other.values()]).norm())


class Update(training.Trainer.updates):
    """Keeps the gradient that the optimiser is about to get."""

    def gradient(self, epoch, seen):
        noise = super().gradient(epoch, seen)
        Update.seen = [p.grad.clone() for p in self.parameters]
        return noise


class Given(training.Trainer):
    """Our own loop on completions that are given."""

    updates = Update

    def collect(self):
        seen, size = self.given, self.settings.group_size
        prompts, width = lm.encode_all(seen["texts"])[0], self.settings.longest(TASK)
        tokens = torch.tensor([row + [lm.END] * (width - len(row)) for row in seen["tokens"]])
        mask = torch.arange(width) < torch.tensor([len(row) for row in seen["tokens"]])[:, None]
        said = sampling.score(self.policy, prompts, tokens).detach().where(mask, 0.0)
        samples = sampling.Samples(tokens, said, mask, torch.zeros_like(said))
        answers = samples.texts()
        right = np.array([TASK.verify(seen["texts"][i // size], a) for i, a in enumerate(answers)])
        right = right.reshape(-1, size)
        every = np.ones(right.shape, bool)
        return Rollouts(seen["texts"], prompts, samples, answers, right, right, None, every, None, right.size)


def ours(settings, seen):
    """Our first gradient under GPT-2's names, and the rewards (B, G)."""
    run = Given(settings)
    run.given = seen
    run.advance()
    like = lm.SmallLM(**run.policy.shape)
    with torch.no_grad():
        for place, gradient in zip(like.parameters(), Update.seen, strict=True):
            place.copy_(gradient)
    found = {name: value for name, value in gpt2(like).items() if not name.endswith("bias")}
    return found, run.rollouts.rewards


@pytest.mark.parametrize("case", trl_loop.CASES, ids=str)
def test_two_processes_have_the_gradient_of_one(alone, together, case):
    first, second = (each[case]["gradient"] for each in together)
    assert sorted(together[0][case]["texts"] + together[1][case]["texts"]) == sorted(alone[case]["texts"])
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert apart(first, alone[case]["gradient"]) < 1e-6


@pytest.mark.parametrize("case", trl_loop.CASES, ids=str)
def test_our_loop_has_the_gradient_of_theirs(alone, case):
    """Completions of several lengths; groups whose rewards are all equal, and others."""
    seen = alone[case]
    found, rewards = ours(trl_loop.CASES[case], seen)
    assert len({len(row) for row in seen["tokens"]}) > 2
    assert 2 <= (np.ptp(rewards, axis=1) == 0).sum() <= len(rewards) - 2
    assert apart(found, seen["gradient"]) < 1e-5
