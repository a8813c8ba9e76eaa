"""The loop: draw, verify, weigh, step; one row of the panel each time."""

import math
import time

import torch

from pglab import _checks, diagnostics, kl, lm, tasks
from pglab.training import plans
from pglab.training.rollouts import collect
from pglab.training.unfinished import Unfinished
from pglab.training.update import Update
from pglab.training.workers import ALONE

# The panel, in the order of its columns; every one is a number.
PANEL = (
    "step", "samples", "seconds", "reward", "right", "length", "finished", "entropy", "zero_std",
    "advantage_mean", "advantage_std", "grad_norm", "grad_noise", "clip_fraction", "kl", "kl_ref",
)  # fmt: skip


class Trainer(Unfinished):
    """A policy that learns from its own completions. Iterate over it: each step gives a row of the panel.

        for row in Trainer(plan("addition")):
            print(row["reward"])

    Args:
      settings: PostTraining.
      device: torch.device, or a name as for ``lm.choose_device``.
      kept: path of the unfinished run; None keeps nothing.
      progress: whether ``finish`` shows a bar.
      reward: function (prompt, completion) -> number, or None where it cannot be scored; in place of the
        reward that the settings name.
      model: lm.SmallLM to start from, which is changed; None loads the checkpoint.
      task: tasks.Task in place of the one that the settings name.
      workers: who shares the work, as ``workers.joined`` gives them.

    Raises:
      ValueError: an unknown checkpoint or device; a model whose context is too short; a run of other
        settings under ``kept``.
    """

    updates = Update  # what takes the steps on a batch; ``museum`` has others, each with one fault

    def __init__(
        self, settings, device="cpu", kept=None, progress=False, *, reward=None, model=None, task=None,
        workers=ALONE,
    ):  # fmt: skip
        check(settings, reward, model, task)
        enough(settings, workers)
        super().__init__(settings, lm.choose_device(device), kept, progress, workers)
        self.task, self.reward = tasks.named(settings.task) if task is None else task, reward
        self.policy = lm.load(plans.start_of(settings), self.device) if model is None else model
        plans.reach(self.policy, settings, self.task)
        algorithm = settings.algorithm
        self.value = None
        if algorithm.weight == "critic":
            self.value = torch.nn.Linear(self.policy.shape["width"], 1).to(self.policy.norm.weight)
            torch.nn.init.zeros_(self.value.weight), torch.nn.init.zeros_(self.value.bias)
        parts = {"policy": self.policy} | ({} if self.value is None else {"value": self.value})
        self.model = torch.nn.ModuleDict(parts)
        workers.join(self.model)
        self.reference = copy_of(self.policy) if algorithm.kl else None
        self.optimisers = [torch.optim.Adam(self.model.parameters(), settings.learning_rate, fused=True)]
        self.rollouts = None  # of the last step
        self.go_on()

    @property
    def marks(self):
        """As of any unfinished run; and whose rewards these are, if they are not the task's own."""
        return super().marks | ({} if self.reward is None else {"reward function": named(self.reward)})

    def __iter__(self):
        while self.step < self.settings.total:
            yield self.advance()

    def advance(self):
        """One step.

        Returns:
          The row of the panel, a dictionary with the names of ``PANEL``. What it says of rewards,
          lengths and entropy is about the policy *before* the update.

        Raises:
          ValueError: as ``collect`` and ``Update.run``; the policy may then hold part of a step.
        """
        began, settings = time.perf_counter(), self.settings
        for group in self.optimisers[0].param_groups:
            group["lr"] = settings.rate(self.step)
        self.rollouts = self.collect()
        update = self.updates(
            self.policy, self.value, self.optimisers[0], settings, self.rollouts, self.workers
        )
        seen = update.run()
        self.seconds += time.perf_counter() - began
        before = self.rows[-1]["samples"] if self.rows else 0
        counts = {"step": self.step, "samples": before + self.rollouts.drawn, "seconds": self.seconds}
        row = counts | panel(self.rollouts, update.weights) | seen
        self.rows.append({name: row[name] for name in PANEL})
        self.step += 1
        return self.rows[-1]

    def collect(self):
        """The completions of this step, and what they are paid."""
        return collect(
            self.policy, self.task, self.settings, self.step, self.reward, self.reference, self.workers
        )

    def several(self):
        self.advance()
        return 1

    def postfix(self):
        """The mean reward and length of the last step."""
        row = self.rows[-1]
        return {"reward": f"{row['reward']:.2f}", "length": f"{row['length']:.1f}"}

    def column(self, name):
        """One column of the panel, a list with a number for each step so far; a ValueError for another name."""
        return column(self.rows, name)


def check(settings, reward, model, task):
    """Refuses what is no PostTraining, no function, no SmallLM, no Task."""
    if not isinstance(settings, plans.PostTraining):
        raise ValueError(f"settings is {settings!r}; it must be a PostTraining, such as plan('addition').")
    if reward is not None and not callable(reward):
        raise ValueError(f"reward is {reward!r}; it must be a function of (prompt, completion), or None.")
    if reward is not None and settings.reward != "outcome":
        raise ValueError(
            f"the settings ask for the reward {settings.reward!r}, and a function is given too; give one of the two."
        )
    if model is not None and not isinstance(model, lm.SmallLM):
        raise ValueError(
            f"model is {model!r}; it must be an lm.SmallLM, such as lm.load('addition'), or None."
        )
    if task is not None and not isinstance(task, tasks.Task):
        raise ValueError(f"task is {task!r}; it must be a Task, such as tasks.Addition(), or None.")


def enough(settings, workers):
    """Refuses more workers than prompts."""
    if settings.prompts < workers.count:
        raise ValueError(
            f"prompts is {settings.prompts}; it must be at least {workers.count} for {workers.count} workers: each draws "
            "for prompts of its own."
        )


def column(rows, name):
    """One column of the panel."""
    _checks.one_of("column", name, PANEL)
    return [row[name] for row in rows]


def named(reward):
    """The name of a reader's own function."""
    return f"{getattr(reward, '__module__', '?')}.{getattr(reward, '__qualname__', type(reward).__name__)}"


def copy_of(model):
    """A model with the same weights, which stays as it is."""
    other = lm.SmallLM(**model.shape).to(model.device, model.norm.weight.dtype)
    other.load_state_dict(model.state_dict())
    return other.requires_grad_(False)


def panel(rollouts, weights):
    """What one look at the rollouts says.

    Args:
      rollouts: Rollouts.
      weights: (N, T) advantages.

    Returns:
      a dictionary: means over completions of "reward" (of those that could be scored), "right",
      "length", "finished"; "entropy" over tokens; "zero_std" over groups; "kl_ref" to the model before
      training, a mean over tokens of k3, NaN where nobody asked. All of these count everything that
      was drawn, also what dynamic sampling left out. Mean and deviation of the advantages over the
      completions that were kept (where each token has its own, over tokens), NaN without any.
    """
    seen = weights[rollouts.samples.mask]
    if bool((weights == weights[:, :1]).logical_or(~rollouts.samples.mask).all()):
        seen = weights[:, 0]
    rollouts = rollouts.every or rollouts
    samples, mask = rollouts.samples, rollouts.samples.mask
    tokens = mask.sum()
    kl_ref = math.nan
    if rollouts.ref_logprobs is not None:
        kl_ref = float(kl.estimate(samples.logprobs, rollouts.ref_logprobs, "k3", mask).sum() / tokens)
    return {
        "reward": float(rollouts.rewards[rollouts.mask].mean()) if rollouts.mask.any() else math.nan,
        "right": float(rollouts.right.mean()),
        "length": float(tokens / len(mask)),
        "finished": float(samples.finished.float().mean()),
        "entropy": float(samples.entropies.sum() / tokens),
        "zero_std": diagnostics.zero_std_fraction(rollouts.rewards, rollouts.mask),
        "advantage_mean": float(seen.mean()) if len(seen) else math.nan,
        "advantage_std": float(seen.std(correction=0)) if len(seen) else math.nan,
        "kl_ref": kl_ref,
    }
