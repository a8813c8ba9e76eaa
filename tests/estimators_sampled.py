"""Every estimator that takes samples, with what it does to order, rows, units and shifts: a table for tests.

A batch is a dict: arrays of shape (R, n), one row a group or a trajectory or a completion; ``last`` and
``weight`` have shape (R,). ``mask`` is always there. A sentence stands where a property does not apply.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from hypothesis import strategies as st

from pglab import advantages, kl, losses, returns

ROOMS = (advantages, returns, kl, losses)
EXACT_HERE = ("kl.divergence", "kl.gradient")  # they take logits, no samples: see estimators_exact
GAMMA = 0.75

# What is drawn, in eighths: sums of it are exact, so rounding never hides a difference.
GRIDS = {
    "rewards": (0, 8), "values": (-8, 8), "last": (-8, 8), "weight": (-8, 8), "losses": (-16, 16),
    "logprobs": (-24, -1), "old": (-24, -1),
}  # fmt: skip
ROWS = ("last", "weight")  # one number for each row


class Sampled(NamedTuple):
    """One estimator with its options."""

    call: Callable  # of a batch
    inputs: str  # what the batch holds beside the mask
    gives: str  # "entries" (R, n), "rows" (R,) or "number" ()
    order: str  # "follows": a row's entries reordered, so is the result; "ignores"; or why neither
    shift: tuple | str  # (change of the batch by c, what becomes of the result), or why not
    scale: tuple | str  # (names that are multiplied by k, power of k in the result), or why not
    rows: str = "apart"  # each row by itself; "together": they share a statistic
    least: int = 1  # entries of a row that it takes


def same(result, c, batch):
    return result


def moves(result, c, batch):
    """By c, where something counts."""
    return np.where(batch["mask"], result + c, 0.0)


def moved(*names):
    return lambda batch, c: batch | {name: batch[name] + c for name in names}


REWARDS = moved("rewards")
PAIR = moved("logprobs", "old"), same  # only the difference of log-probabilities matters
NATS = "log-probabilities have no unit"


def advantage(function, shift, degree, **rest):
    call = lambda x: function(x["rewards"], mask=x["mask"])  # noqa: E731
    scale = degree if isinstance(degree, str) else (("rewards",), degree)
    return Sampled(call, "rewards", "entries", "follows", shift, scale, **rest)


SAME, EPS = (REWARDS, same), "eps has the unit of the rewards"
LOO_STD = "divided where the others differ, else not"
SAMPLED = {
    "advantages.constant": advantage(advantages.constant, (REWARDS, moves), 1),
    "advantages.constant b": advantage(
        partial(advantages.constant, baseline=0.5), (REWARDS, moves), "b is not scaled along"
    ),
    "advantages.batch_mean": advantage(advantages.batch_mean, SAME, 1),
    "advantages.dr_grpo": advantage(advantages.dr_grpo, SAME, 1),
    "advantages.leave_one_out": advantage(advantages.leave_one_out, SAME, 1, least=2),
    "advantages.grpo": advantage(advantages.grpo, SAME, EPS, least=2),
    "advantages.grpo eps 0": advantage(partial(advantages.grpo, eps=0), SAME, 0, least=2),
    "advantages.max_rl": advantage(advantages.max_rl, "relative to the mean, which a shift moves", 0),
    "advantages.leave_one_out_std": advantage(advantages.leave_one_out_std, SAME, LOO_STD, least=2),
    "advantages.whiten": advantage(advantages.whiten, SAME, EPS, rows="together"),
    "advantages.whiten eps 0": advantage(partial(advantages.whiten, eps=0), SAME, 0, rows="together"),
}


# ---- Returns. A critic that is c too high everywhere, beside rewards that pay c (1 - gamma) more, is as right as before.

TIME = "steps stand in their order"
CRITIC = lambda x, c: moved("values", "last")(x | {"rewards": x["rewards"] + c * (1 - GAMMA)}, c)  # noqa: E731
ALL = ("rewards", "values", "last")


def paid(call, gives):
    shift = "each step's own discount; the unit says it all"
    return Sampled(call, "rewards", gives, TIME, shift, (("rewards",), 1))


def judged(call, after=same):
    return Sampled(call, "rewards values last", "entries", TIME, (CRITIC, after), (ALL, 1))


SAMPLED |= {
    "returns.discounted_return": paid(
        lambda x: returns.discounted_return(x["rewards"], GAMMA, x["mask"]), "rows"
    ),
    "returns.reward_to_go": paid(lambda x: returns.reward_to_go(x["rewards"], GAMMA, x["mask"]), "entries"),
    "returns.reward_to_go from start": paid(
        lambda x: returns.reward_to_go(x["rewards"], GAMMA, x["mask"], True), "entries"
    ),
    "returns.td_errors": judged(
        lambda x: returns.td_errors(x["rewards"], x["values"], GAMMA, x["last"], x["mask"])
    ),
    "returns.n_step": judged(
        lambda x: returns.n_step(x["rewards"], x["values"], GAMMA, 2, x["last"], x["mask"]), moves
    ),
    "returns.gae": judged(lambda x: returns.gae(x["rewards"], x["values"], GAMMA, 0.5, x["last"], x["mask"])),
}

# ---- KL and losses


def divergence(kind):
    return Sampled(
        lambda x: kl.estimate(x["logprobs"], x["old"], kind, x["mask"]),
        "logprobs old", "entries", "follows", PAIR, NATS,
    )  # fmt: skip


def slope(x, **options):
    """The gradient of a policy loss: its value means nothing."""
    logprobs = torch.as_tensor(np.asarray(x["logprobs"])).clone().requires_grad_()
    losses.policy_loss(logprobs, x["old"], x["weight"], x["mask"], **options).backward()
    return logprobs.grad.numpy()


def pushed(rows="apart", **options):
    options = {"aggregation": "sum"} | options
    call = partial(slope, **options)

    return Sampled(call, "logprobs old weight", "entries", "follows", PAIR, (("weight",), 1), rows)


def summed(after, **options):
    return Sampled(
        lambda x: losses.aggregate(x["losses"], x["mask"], **options),
        "losses", "number", "ignores", (moved("losses"), after), (("losses",), 1), "together",
    )  # fmt: skip


def by_share(result, c, batch):
    """A mean moves by c, if anything counts."""
    return result + c * bool(batch["mask"].any())


def by_count(result, c, batch):
    return result + c * int(batch["mask"].sum())


def weights(level, cap=None, mode="truncate"):
    return Sampled(
        lambda x: losses.importance_weights(x["logprobs"], x["old"], x["mask"], cap, level, mode),
        "logprobs old", "entries" if level == "token" else "rows",
        "follows" if level == "token" else "ignores", PAIR, NATS,
    )  # fmt: skip


SAMPLED |= {f"kl.estimate {kind}": divergence(kind) for kind in kl.KINDS}
SAMPLED |= {
    "losses.policy_loss ppo": pushed(),
    "losses.policy_loss ppo dual": pushed(dual_clip=1.5),
    "losses.policy_loss no clip": pushed(clip=None),
    "losses.policy_loss cispo": pushed(variant="cispo"),
    "losses.policy_loss gspo": pushed(ratio="sequence_mean"),
    "losses.policy_loss rloo": pushed(ratio="sequence_product", clip=None),
    "losses.policy_loss token_mean": pushed("together", aggregation="token_mean"),
    "losses.policy_loss sequence_mean": pushed("together", aggregation="sequence_mean"),
    "losses.policy_loss constant": pushed("together", aggregation="constant", norm=4),
    "losses.aggregate token_mean": summed(by_share),
    "losses.aggregate sequence_mean": summed(by_share, mode="sequence_mean"),
    "losses.aggregate sum": summed(by_count, mode="sum"),
    "losses.aggregate constant": summed(
        lambda y, c, x: y + c * x["mask"].sum() / (4 * max(1, x["mask"].any(1).sum())),
        mode="constant",
        norm=4,
    ),
    "losses.importance_weights token": weights("token"),
    "losses.importance_weights token cap": weights("token", 1.5),
    "losses.importance_weights sequence": weights("sequence"),
    "losses.importance_weights sequence mask": weights("sequence", 1.5, "mask"),
}


@st.composite
def batches(draw, name, rows=None):
    """A batch for one estimator: 1 to 3 rows of up to 5 entries, a third of them masked."""
    entry = SAMPLED[name]
    shape = rows or draw(st.integers(1, 3)), draw(st.integers(entry.least, 5))

    def array(entries, shape):
        n = int(np.prod(shape))
        return np.array(draw(st.lists(entries, min_size=n, max_size=n))).reshape(shape)

    batch = {"mask": array(st.sampled_from([True, True, False]), shape)}
    for field in entry.inputs.split():
        grid = st.integers(*GRIDS[field])
        batch[field] = array(grid, shape[:1] if field in ROWS else shape) / 8
    return batch


def columns(batch, change):
    """The batch with a change of its last axis: in what has one number for each entry."""
    return {name: x if name in ROWS else change(x) for name, x in batch.items()}


def each_row(batch, change):
    return {name: change(x) for name, x in batch.items()}


def with_junk(batch, junk):
    """Junk wherever the mask is False, in every array of entries."""
    kept = batch["mask"]
    return {n: x if n in ROWS or n == "mask" else np.where(kept, x, junk) for n, x in batch.items()}
