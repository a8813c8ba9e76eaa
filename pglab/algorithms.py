"""The registry: each algorithm is a frozen configuration, and the configuration is what runs.

Two branches meet in a policy gradient: a weight on every token's score (who is compared with whom), and
a constraint on the step (ratio, clip, KL). A third choice, easily missed, is the denominator. ``Algorithm``
spells them out; ``advantages`` and ``loss`` are all that a training loop needs of it.
"""

from dataclasses import asdict, dataclass, replace

import numpy as np
import torch

from pglab import _checks, advantages, kl, losses
from pglab.tasks.length import overlong_penalty

WEIGHTS = ("constant", "batch_mean", "leave_one_out", "grpo", "max_rl", "leave_one_out_std", "critic")
PLACES = ("loss", "reward")


@dataclass(frozen=True)
class Algorithm:
    """One policy-gradient algorithm.

    Args:
      name: the field's word for it.
      source: where it was defined, with the section.
      weight: what multiplies a completion's score: a function of ``advantages`` ("constant",
        "batch_mean", "leave_one_out", "grpo", "max_rl", "leave_one_out_std"), or "critic": a learned
        value of every beginning of an answer, and GAE.
      baseline: b of "constant". Rewards {1, 2} in place of {0, 1} are b = -1; {-1, 0} are b = 1.
      eps, ddof: of "grpo" and "leave_one_out_std".
      whiten: whether the advantages of a batch are brought to mean 0 and variance 1, over its tokens
        with a critic, over its completions otherwise.
      ratio, variant, clip, dual_clip, aggregation, norm: of ``losses.policy_loss``. norm None means, for
        "constant", the width of the batch: the longest completion that is allowed.
      kl: beta, how much a KL to the model before training costs, at least 0.
      kl_kind: "k1", "k2" or "k3".
      kl_where: "loss" adds beta times the estimate of every token to the loss, and differentiates it;
        "reward" takes beta times its sum off the completion's reward, as a number. With a critic each
        token pays its own part.
      lam: lambda of GAE; the discount is 1.
      value_weight: what the critic's squared error weighs in the loss.
      value_clip: how far a value may move from that before the update, or None.
      rounds: prompts are drawn up to so many times, until there are enough groups whose rewards
        differ (dynamic sampling); 1 takes every group as it comes.
      overlong: (soft, hard), tokens beyond the longest right answer from which a completion pays, and
        from which it pays 1: see ``tasks.overlong_penalty``; None for no penalty.

    Raises:
      ValueError: unknown names, numbers outside their ends.
    """

    name: str
    source: str
    weight: str = "leave_one_out"
    baseline: float = 0.0
    eps: float = 1e-4
    ddof: int = 1
    whiten: bool = False
    ratio: str = "token"
    variant: str = "ppo"
    clip: tuple | None = (0.2, 0.2)
    dual_clip: float | None = None
    aggregation: str = "constant"
    norm: float | None = None
    kl: float = 0.0
    kl_kind: str = "k3"
    kl_where: str = "loss"
    lam: float = 1.0
    value_weight: float = 0.5
    value_clip: float | None = None
    rounds: int = 1
    overlong: tuple | None = None

    def __post_init__(self):
        for name, options in (
            ("weight", WEIGHTS), ("ratio", losses.RATIOS), ("variant", ("ppo", "cispo")),
            ("aggregation", losses.MODES), ("kl_kind", kl.KINDS), ("kl_where", PLACES), ("ddof", (0, 1)),
        ):  # fmt: skip
            _checks.one_of(name, getattr(self, name), options)
        _checks.number("baseline", self.baseline)
        for name in ("eps", "kl", "value_weight"):
            _checks.number(name, getattr(self, name), low=0)
        _checks.number("lam", self.lam, low=0, high=1)
        _checks.whole("rounds", self.rounds, low=1)
        for name in ("clip", "overlong"):  # JSON gives lists back
            pair = getattr(self, name)
            object.__setattr__(self, name, None if pair is None else tuple(pair))
        # A loss of nothing runs all checks of clip, dual_clip and norm.
        self.loss(*[torch.zeros(0, 1)] * 2, torch.zeros(0), torch.zeros(0, 1, dtype=torch.bool))

    @property
    def smallest_group(self):
        """How many completions a prompt needs: two where they are compared with each other."""
        return 1 if self.weight in ("constant", "critic") else 2

    @property
    def skips(self):
        """Whether a completion of advantage 0 adds nothing to the gradient, and need not be read."""
        return not (self.weight == "critic" or (self.kl and self.kl_where == "loss"))

    def as_dict(self):
        """A dictionary for JSON."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}

    def advantages(self, rewards, mask=None):
        """What multiplies the scores.

        Args:
          rewards: (..., G) rewards, groups on the last axis.
          mask: (..., G) booleans, False where a completion could not be scored; None if all were.

        Returns:
          (..., G) advantages.

        Raises:
          ValueError: as the function of ``advantages``; a critic, whose advantages need its values.

        Source: that of the algorithm.
        """
        options = {"eps": self.eps, "ddof": self.ddof} if self.weight == "grpo" else {}
        if self.weight == "leave_one_out_std":
            options = {"eps": self.eps}
        if self.weight == "constant":
            options = {"baseline": self.baseline}
        if self.weight == "critic":
            raise ValueError(
                f"{self.name} has a critic; its advantages are returns.gae of the critic's values."
            )
        found = getattr(advantages, self.weight)(rewards, mask=mask, **options)
        return advantages.whiten(found, mask=mask) if self.whiten else found

    def denominator(self, mask):
        """How to add up parts of a batch to the loss of the whole: mode and norm of ``losses.aggregate``.

            "token_mean"     N tokens            "constant"    R * norm, as a sum
            "sequence_mean"  R rows              "sum"         1

        R counts the rows that have tokens, N the tokens of all rows. With a sequence ratio a row has
        one loss, and the mean over tokens is one over rows. A norm of the algorithm's own stands in
        their place.

        Args:
          mask: (B, T) booleans of the whole batch, T the longest completion that is allowed.

        Returns:
          mode and norm, the latter a positive number.

        Source: as ``losses.aggregate``.
        """
        rows = max(int(mask.any(1).sum()), 1)
        if self.aggregation == "constant":
            return "sum", rows * (self.norm or mask.shape[1])
        if self.aggregation == "sum":
            return "sum", self.norm or 1
        by_row = self.aggregation == "sequence_mean" or self.ratio != "token"
        return self.aggregation, self.norm or (rows if by_row else max(int(mask.sum()), 1))

    def loss(self, logprobs, old_logprobs, advantages, mask, ref_logprobs=None, whole=None):
        """A loss whose gradient is the algorithm's step; its value means nothing.

            losses.policy_loss(...)  +  kl * aggregate(k(logprobs, ref_logprobs)),   the latter for kl_where "loss"

        Args:
          logprobs: (B, T) log-probabilities of the tokens, with gradients.
          old_logprobs: (B, T) before the first update on this batch; None where it is the first, so
            that every ratio is exactly 1.
          advantages: (B,) or (B, T).
          mask: (B, T) booleans.
          ref_logprobs: (B, T) under the model before training; needed for a KL in the loss.
          whole: what ``denominator`` gives for the whole batch, where this is a part of it.

        Returns:
          The loss, without axes.

        Raises:
          ValueError: as ``losses.policy_loss`` and ``kl.estimate``; no ref_logprobs for a KL in the loss.

        Source: that of the algorithm.
        """
        mode, norm = self.denominator(mask) if whole is None else whole
        names = ("clip", "dual_clip", "ratio", "variant")
        options = {name: getattr(self, name) for name in names}
        loss = losses.policy_loss(
            logprobs, old_logprobs, advantages, mask, aggregation=mode, norm=norm, **options
        )
        if self.kl and self.kl_where == "loss" and len(mask):
            if ref_logprobs is None:
                raise ValueError(f"ref_logprobs is None; {self.name} has a KL of {self.kl} in its loss.")
            each = kl.estimate(logprobs, ref_logprobs, self.kl_kind, mask)
            # A KL is counted token by token, also where the ratio is one number a row.
            loss = loss + self.kl * losses.aggregate(each, mask, mode, norm)
        return loss

    def penalties(self, lengths, enough):
        """What is added to the rewards of completions that are too long.

        Args:
          lengths: (N,) tokens of each completion.
          enough: tokens of the longest right answer.

        Returns:
          (N,) NumPy array, from -1 to 0, in the unit of the rewards.

        Source: Yu et al. 2025 (DAPO), section 3.4.
        """
        if self.overlong is None:
            return np.zeros(len(lengths))
        soft, hard = (enough + more for more in self.overlong)
        return overlong_penalty(np.asarray(lengths), soft, hard)


def named(algorithm, **changes):
    """An algorithm of the registry, or one like it.

    Args:
      algorithm: a name of ``ALGORITHMS``, or an Algorithm.
      changes: what is different, such as kl=0.1.

    Returns:
      Algorithm.

    Raises:
      ValueError: an unknown name, changes that ``Algorithm`` refuses.
    """
    if not isinstance(algorithm, Algorithm):
        algorithm = ALGORITHMS[_checks.one_of("algorithm", algorithm, list(ALGORITHMS))]
    return replace(algorithm, **changes)


# One completion is one sum over its tokens, as in the gradient of the expected reward.
PLAIN = dict(clip=(0.2, 0.2), aggregation="constant", norm=1)

ALGORITHMS = {
    each.name: each
    for each in (
        Algorithm("reinforce", "Williams 1992, section 4", weight="constant", **PLAIN),
        Algorithm("batch_mean", "Sutton and Barto (2nd ed.), section 13.4", weight="batch_mean", **PLAIN),
        Algorithm(
            "rloo",
            "Ahmadian et al. 2024, section 2; TRL 1.16, rloo_trainer.py (one ratio for a completion)",
            weight="leave_one_out",
            ratio="sequence_product",
            aggregation="sequence_mean",
        ),
        Algorithm(
            "grpo",
            "Shao et al. 2024, section 4.1.1, equation 3; no KL, as by default in TRL 1.16",
            weight="grpo",
            aggregation="sequence_mean",
        ),
        Algorithm("dr_grpo", "Liu et al. 2025, section 3", weight="batch_mean", aggregation="constant"),
        Algorithm(
            "ppo",
            "Schulman et al. 2017, equation 7; whitened advantages as in verl 0.10, core_algos.py",
            weight="critic",
            whiten=True,
            aggregation="token_mean",
            value_clip=0.2,
        ),
        Algorithm(
            "dapo",
            "Yu et al. 2025, section 3, equation 8",
            weight="grpo",
            clip=(0.2, 0.28),
            aggregation="token_mean",
            rounds=3,
            overlong=(0, 4),
        ),
        Algorithm(
            "gspo",
            "Zheng et al. 2025, equations 5 and 7; bounds of section 5",
            weight="grpo",
            ratio="sequence_mean",
            clip=(3e-4, 4e-4),
            aggregation="sequence_mean",
        ),
        Algorithm(
            "cispo",
            "MiniMax 2025 (M1), section 3.1",
            weight="grpo",
            variant="cispo",
            clip=(None, 0.28),
            aggregation="token_mean",
        ),
        Algorithm("max_rl", "Tajwar et al. 2026", weight="max_rl", aggregation="constant"),
    )
}
