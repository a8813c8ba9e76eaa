"""A Trainer whose completions were drawn by the policy of some steps before, as where sampling and training overlap."""

from collections import deque

import torch

from pglab import _checks, losses, sampling
from pglab.training.rollouts import collect
from pglab.training.trainer import Trainer, copy_of
from pglab.training.update import Update

CORRECTIONS = ("none", "clip", "token", "sequence")
CAP = 2.0


class StaleTrainer(Trainer):
    """GRPO, or whatever the settings name, on completions of the policy k steps ago.

    The first steps have no policy so old, and take the one before training: it draws the first k + 1 batches.

        "none"       as if the policy itself had drawn them: ratios begin at 1
        "clip"       the ratio of PPO's clip is that to the policy that drew them
        "token"      ratios begin at 1, and each advantage is multiplied by min(pi / mu of its token, cap)
        "sequence"   the same with the ratio of the whole completion

    Args:
      settings: PostTraining, of an algorithm with a ratio and without a critic.
      device: as ``Trainer``.
      behind: k, how many steps, at least 0; with 0 and "none" it is a Trainer.
      correction: one of ``CORRECTIONS``.
      cap: the largest weight, a positive number, or None; for "token" and "sequence".
      options: reward, model and task of ``Trainer``.

    Raises:
      ValueError: as ``Trainer``; an unknown correction, a critic, an algorithm without a ratio.

    Source: Schulman et al. 2017 (PPO) for "clip"; Ionides 2008 for the cap.
    """

    def __init__(self, settings, device="cpu", *, behind=0, correction="none", cap=CAP, **options):
        self.behind = _checks.whole("behind", behind, low=0)
        self.correction = _checks.one_of("correction", correction, CORRECTIONS, repr)
        if cap is not None and _checks.number("cap", cap) <= 0:
            raise ValueError(f"cap is {cap}; it must be larger than 0, or None.")
        self.cap = cap
        for name in ("kept", "workers"):
            if options.get(name) is not None:
                raise ValueError(
                    f"{name} is given; it must be left out: the older policies are kept nowhere."
                )
        super().__init__(settings, device, **options)
        if self.value is not None or settings.algorithm.ratio == "none":
            raise ValueError(
                f"algorithm is {settings.algorithm.name}; it must have a ratio to the policy that drew the "
                "completions, and no critic, such as 'grpo'."
            )
        self.older = deque(maxlen=self.behind + 1)  # the oldest first
        self.share = []  # of each step, of uncut weights of completions

    def advance(self):
        """As ``Trainer.advance``; the policy before the step is kept for those to come."""
        self.older.append(copy_of(self.policy))
        return super().advance()

    def column(self, name):
        """As ``Trainer.column``; and "share", the effective sample size of the completions, over their number."""
        return list(self.share) if name == "share" else super().column(name)

    def collect(self):
        """The completions of this step, drawn by the oldest policy that is kept."""
        drawn_by = self.older[0] if self.behind else self.policy
        return collect(drawn_by, self.task, self.settings, self.step, self.reward, self.reference)

    def updates(self, policy, value, optimiser, settings, rollouts, workers):  # noqa: D102
        update = _Update(policy, value, optimiser, settings, rollouts, workers)
        update.correct(self.correction, self.cap)
        self.share.append(update.share)
        return update


class _Update(Update):
    """An update that knows what the policy that sampled said."""

    correction = "none"

    @torch.no_grad()
    def correct(self, correction, cap):
        """Multiplies the advantages by the weights, where there are any."""
        self.correction, samples = correction, self.rollouts.samples
        now = sampling.score(
            self.model, self.rollouts.prompts, samples.tokens, self.settings.temperature
        )  # (N, T)
        whole = losses.importance_weights(now, samples.logprobs, samples.mask, level="sequence")
        self.share = float(whole.sum() ** 2 / (whole**2).sum() / len(whole))
        if correction in ("token", "sequence"):
            found = losses.importance_weights(now, samples.logprobs, samples.mask, cap, correction)
            self.weights = self.weights * (found if correction == "token" else found[:, None])

    def before(self, new, part, epoch):
        """The log-probabilities that ratios are taken to."""
        if self.correction == "clip":
            return self.rollouts.samples.logprobs[part.rows, : part.width]
        return super().before(new, part, epoch)
