"""What an experiment is: variants, each with every seed, and the columns that are kept of them."""

from dataclasses import dataclass, replace

from pglab import tasks
from pglab.museum import faults
from pglab.training import PostTraining, Trainer
from pglab.training.stale import StaleTrainer

# Every column that can be measured; "..._error" stands beside a mean over prompts.
COLUMNS = {
    "samples": "completions drawn for training so far",
    "pass_at_1": "share of right completions, a mean over fresh prompts",
    "pass_at_1_error": "its standard error over prompts",
    "pass_at_64": "chance that one of 64 completions is right, unbiased, a mean over fresh prompts",
    "pass_at_64_error": "its standard error over prompts",
    "drawn": "share of the fresh prompts that some step of the run draws too",
    "pass_at_1_new": "share of right completions of those fresh prompts that no step of the run draws",
    "pass_at_1_new_error": "its standard error over prompts",
    "pass_at_64_new": "chance that one of 64 completions is right, of those that no step of the run draws",
    "pass_at_64_new_error": "its standard error over prompts",
    "entropy": "of the next token, nats, a mean over the tokens of fresh completions",
    "length": "tokens of a fresh completion, the end token too",
    "zero_std": "share of groups of group_size whose rewards are all alike, on fresh prompts, unbiased",
    "worked": "share of fresh completions that have the form of a worked answer",
    "steps_right": "share of right digits, place by place, as the process reward counts them; fresh",
    "paid": "mean reward of fresh completions, as this variant pays",
    "paid_error": "its standard error over prompts",
}
# What training itself reports, a mean over the steps since the point before.
SEEN = {
    "reward": "mean reward of the completions that were drawn for the step",
    "right": "share of these that are right, whatever they are paid",
    "length": "their tokens, the end token too",
    "finished": "share of them that have an end token",
    "entropy": "of the next token, nats, a mean over their tokens",
    "zero_std": "share of groups whose rewards are all alike",
    "advantage_mean": "of the completions, or of the tokens where each has its own",
    "advantage_std": "standard deviation of the same",
    "grad_norm": "length of the gradient before it is shortened",
    "grad_noise": "trace of the covariance of the gradient, from its micro-batches; null without a gradient",
    "clip_fraction": "share of tokens that the clip holds, in the last update on the batch",
    "kl": "how far the last update on the batch finds the policy from the old one, k3, nats a token",
    "kl_ref": "how far the policy is from the model before training, k3, nats a token",
    "drawn_a_step": "completions drawn for one step",
    "share": "effective sample size of the completions, by pi over mu of each, over their number",
}


@dataclass(frozen=True)
class Variant:
    """One of the things that are compared.

    Args:
      words: what it is.
      settings: PostTraining; its seed does not count.
      points: numbers of samples at which the policy is evaluated, increasing; the last ends the run.
      reward: name of a method of the task that pays; "" for the reward of the settings.
      more: what a reader may want to sort by, a dictionary.
      fault: a name of ``faults.FAULTS``, or "healthy"; "" for an ordinary run.
      healed: whether the twin of that fault is run.
      blind: whether the recording keeps silent about the fault.
      stale: (how many steps behind the policy is that draws, correction, cap), as of ``StaleTrainer``, or ().
    """

    words: str
    settings: PostTraining
    points: tuple
    reward: str = ""
    more: dict | None = None
    fault: str = ""
    healed: bool = False
    blind: bool = False
    stale: tuple = ()

    def with_seed(self, seed):
        """Its settings with this seed."""
        return replace(self.settings, seed=seed)

    def function(self):
        """The method that pays, or None."""
        return getattr(tasks.named(self.settings.task), self.reward) if self.reward else None

    def trainer(self, seed, device):
        """The run of a seed, at its start."""
        if self.fault:
            return faults.trainer(self.fault, self.with_seed(seed), device, healthy=self.healed)
        if self.stale:
            behind, correction, cap = self.stale
            return StaleTrainer(self.with_seed(seed), device, behind=behind, correction=correction, cap=cap)
        return Trainer(self.with_seed(seed), device, reward=self.function())

    def about(self):
        """What the recording says of it, beside its settings."""
        sick = {"fault": self.fault, "healthy": self.healed} if self.fault and not self.blind else {}
        return (
            {"words": self.words}
            | ({"reward": self.reward} if self.reward else {})
            | sick
            | dict(zip(("behind", "correction", "cap"), self.stale, strict=False))
            | (self.more or {})
        )


@dataclass(frozen=True)
class Experiment:
    """Some variants, each with every seed.

    Args:
      words: what is done.
      variants: {name: Variant}.
      seeds: whole numbers.
      measured: columns of the evaluation, of ``COLUMNS``.
      seen: columns that the training itself reports.
      prompts, samples: of each evaluation.
      keep: completions that are kept of the first, a middle and the last evaluation, one for each of
        the first prompts.
    """

    words: str
    variants: dict
    seeds: tuple = (0, 1, 2, 3, 4)
    measured: tuple = ("pass_at_1", "pass_at_1_error", "entropy")
    seen: tuple = ()
    prompts: int = 512
    samples: int = 8
    keep: int = 0

    def columns(self):
        """The columns of its recording, each with what it says."""
        words = f"; {self.prompts} fresh prompts x {self.samples} completions, at the training's temperature"
        first = {"samples": COLUMNS["samples"] + words * bool(self.measured)}
        seen = {name: f"{SEEN[name]}, a mean over the steps since the point before" for name in self.seen}
        return first | {name: COLUMNS[name] for name in self.measured} | seen


def points(settings, number):
    """So many equal distances from 0 to all samples of a run, each a whole number of steps."""
    each, steps = settings.prompts * settings.group_size, settings.steps
    return tuple(round(steps * i / number) * each for i in range(number + 1))


def every_step(settings):
    """The samples behind each step of a run: so each point is one row of the panel."""
    return points(settings, settings.steps)[1:]
