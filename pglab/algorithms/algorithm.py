"""One algorithm: a weight, a constraint and a denominator, in the open."""

from dataclasses import asdict, dataclass

import numpy as np
import torch

from pglab import _checks, advantages, kl, losses, returns
from pglab.tasks.length import overlong_penalty
from pglab.tasks.task import settle

WEIGHTS = ("constant", "batch_mean", "leave_one_out", "grpo", "max_rl", "leave_one_out_std", "critic")
PLACES = ("loss", "reward")
RATIOS = ("none", *losses.RATIOS)


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
      eps: of "grpo" and "leave_one_out_std".
      ddof: of "grpo" and of ``whiten``.
      whiten: whether the advantages of a batch are brought to mean 0 and variance 1, over its tokens
        with a critic, over its completions otherwise.
      ratio: of ``losses.policy_loss``; or "none", which asks for no clip: the score as it is, also where
        the batch is older than the policy.
      variant, clip, dual_clip, aggregation, norm: of ``losses.policy_loss``. norm None means, for
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
      ValueError: unknown names, numbers outside their ends, a critic with one ratio for a completion.
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
        for name in ("name", "source"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name).strip():
                raise ValueError(f"{name} is {getattr(self, name)!r}; it must be text, and not empty.")
        for name, options in (
            ("weight", WEIGHTS), ("ratio", RATIOS), ("variant", ("ppo", "cispo")),
            ("aggregation", losses.MODES), ("kl_kind", kl.KINDS), ("kl_where", PLACES), ("ddof", (0, 1)),
            ("whiten", (False, True)),
        ):  # fmt: skip
            _checks.one_of(name, getattr(self, name), options)
        pairs = {name: getattr(self, name) for name in ("clip", "overlong")}
        settle(
            self,
            baseline=_checks.number("baseline", self.baseline),
            lam=_checks.number("lam", self.lam, low=0, high=1),
            rounds=_checks.whole("rounds", self.rounds, low=1),
            **{"ddof": int(self.ddof), "whiten": bool(self.whiten)},  # 1 is True, and True is 1
            **{n: _checks.number(n, getattr(self, n), low=0) for n in ("eps", "kl", "value_weight")},
            **{n: tuple(pair) if isinstance(pair, list) else pair for n, pair in pairs.items()},  # from JSON
        )
        for name in ("norm", "value_clip"):  # a norm of 0 would be taken for None
            if getattr(self, name) is not None and _checks.number(name, getattr(self, name)) <= 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be larger than 0, or None.")
        if self.overlong is not None and (not isinstance(self.overlong, tuple) or len(self.overlong) != 2):
            raise ValueError(f"overlong is {self.overlong!r}; it must be (soft, hard), or None.")
        if self.ratio == "none" and (self.clip, self.dual_clip, self.variant) != (None, None, "ppo"):
            raise ValueError(
                f"ratio is 'none', with clip {self.clip}, dual_clip {self.dual_clip} and variant {self.variant}; "
                "it must be without: clip=None, dual_clip=None, variant='ppo'."
            )
        if self.weight == "critic" and not self.by_token:
            raise ValueError(
                f"ratio is {self.ratio!r}; it must be 'token' or 'none' with a critic, which judges every token."
            )
        # What is left is checked by a penalty of nothing, and by a loss of nothing.
        self.penalties([], 0)
        self.loss(*[torch.zeros(0, 1)] * 2, torch.zeros(0), torch.zeros(0, 1, dtype=torch.bool))

    @property
    def smallest_group(self):
        """How many completions a prompt needs: two where they are compared with each other."""
        return 1 if self.weight in ("constant", "critic") else 2

    @property
    def skips(self):
        """Whether a completion of advantage 0 adds nothing to the gradient, and need not be read."""
        return not (self.weight == "critic" or (self.kl and self.kl_where == "loss"))

    @property
    def by_token(self):
        """Whether every token has a ratio of its own, or none, so that tokens may have different advantages."""
        return self.ratio in ("none", "token")

    @property
    def charges(self):
        """Whether a KL is taken off the rewards."""
        return self.kl > 0 and self.kl_where == "reward"

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
        return self.whitened(found, mask)

    def from_critic(self, rewards, values, mask):
        """What multiplies the scores of tokens, where a critic judges.

        Args:
          rewards: (N, T) rewards of tokens.
          values: (N, T) the critic's value of the beginning before each token.
          mask: (N, T) booleans, False where nothing is judged.

        Returns:
          (N, T) advantages, GAE with ``lam`` and, where the algorithm asks for it, whitened; and (N, T)
          what the critic is to learn, GAE plus values.

        Raises:
          ValueError: as ``returns.gae``.

        Source: as ``returns.gae``.
        """
        found = returns.gae(rewards, values, 1.0, self.lam, mask=mask)
        return self.whitened(found, mask), found + values

    def whitened(self, found, mask=None):
        """Advantages as they are, or whitened over all that the mask counts."""
        return advantages.whiten(found, ddof=self.ddof, mask=mask) if self.whiten else found

    def costs(self, logprobs, ref_logprobs, mask):
        """What a KL in the reward takes off, token by token.

        Args:
          logprobs: (N, T) under the policy that sampled.
          ref_logprobs: (N, T) under the model before training; not read where nothing is charged.
          mask: (N, T) booleans.

        Returns:
          (N, T) float64 on the CPU, in the unit of the rewards; 0 where the mask is False.

        Raises:
          ValueError: as ``kl.estimate``.

        Source: that of the algorithm.
        """
        if not self.charges:
            return torch.zeros(logprobs.shape, dtype=torch.float64)
        each = kl.estimate(logprobs.detach(), ref_logprobs, self.kl_kind, mask)
        return self.kl * each.cpu().double()  # not every device has float64

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
        by_row = self.aggregation == "sequence_mean" or not self.by_token
        return self.aggregation, self.norm or (rows if by_row else max(int(mask.sum()), 1))

    def loss(self, logprobs, old_logprobs, advantages, mask, ref_logprobs=None, whole=None):
        """A loss whose gradient is the algorithm's step; its value means nothing.

            losses.policy_loss(...)  +  kl * aggregate(k(logprobs, ref_logprobs)),   the latter for kl_where "loss"

        With a sequence ratio the KL of a row is one number too, the mean or the sum over its tokens.

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
        options = {name: getattr(self, name) for name in ("clip", "dual_clip", "ratio", "variant")}
        if self.ratio == "none":  # what the old policy said is not asked
            old_logprobs, options["ratio"] = None, "token"
        loss = losses.policy_loss(
            logprobs, old_logprobs, advantages, mask, aggregation=mode, norm=norm, **options
        )
        if self.kl and self.kl_where == "loss" and len(mask):
            if ref_logprobs is None:
                raise ValueError(f"ref_logprobs is None; {self.name} has a KL of {self.kl} in its loss.")
            each = kl.estimate(logprobs, ref_logprobs, self.kl_kind, mask)
            each, mask = self._by_row(each, mask)
            loss = loss + self.kl * losses.aggregate(each, mask, mode, norm)
        return loss

    def _by_row(self, each, mask):
        """With a sequence ratio a row has one KL, as it has one loss: the mean or the sum of its tokens'."""
        if self.by_token:
            return each, mask
        rows = mask.any(1, keepdim=True)
        each = each.where(mask, 0.0).sum(1, keepdim=True)
        if self.ratio == "sequence_mean":
            each = each / mask.sum(1, keepdim=True).clamp(min=1)
        return each, rows

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
        soft, hard = (enough + _checks.number(f"overlong[{i}]", n) for i, n in enumerate(self.overlong))
        return overlong_penalty(np.asarray(lengths), soft, hard)
