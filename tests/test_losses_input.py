"""Losses and what they are given: kinds of arrays, constants, half precision, bad input refused."""

import inspect
from functools import partial

import losses_by_hand as hand
import numpy as np
import pytest
import refusals
import torch

from pglab import losses

pytestmark = pytest.mark.filterwarnings("error")

ZEROS, ONES = np.zeros((2, 3)), np.ones((2, 3), bool)
LOGPROBS = np.array([[-1.0, -0.5, -2.0], [-0.25, -3.0, -1.5]])
OLD = LOGPROBS - [[0.125, 0.5, -0.5], [-0.25, 1.0, 0.25]]
MASK = np.array([[True, True, True], [True, False, False]])
EVERY = {
    "policy_loss": lambda lp, old, mask: losses.policy_loss(lp, old, [1.0, -2.0], mask),
    "policy_loss, tokens": lambda lp, old, mask: losses.policy_loss(lp, old, old, mask, dual_clip=1.5),
    "policy_loss, gspo": lambda lp, old, mask: losses.policy_loss(lp, old, [1, -2], mask, ratio="sequence_mean"),
    "policy_loss, cispo": lambda lp, old, mask: losses.policy_loss(lp, old, [1, -2], mask, variant="cispo"),
    "aggregate": lambda lp, old, mask: losses.aggregate(lp, mask, "sequence_mean"),
    "importance_weights": lambda lp, old, mask: losses.importance_weights(lp, old, mask, cap=1.2),
    "importance_weights, rows": lambda lp, old, mask: losses.importance_weights(lp, old, mask, level="sequence"),
}  # fmt: skip

# ---- Kinds of arrays


@pytest.mark.parametrize("name", EVERY)
def test_kinds_of_arrays(name):
    wanted = EVERY[name](LOGPROBS, OLD, MASK)
    assert wanted.dtype == torch.float64
    frozen = LOGPROBS.copy()
    frozen.flags.writeable = False
    for kind in (np.ndarray.tolist, torch.tensor):
        assert EVERY[name](kind(LOGPROBS), kind(OLD), kind(MASK)).equal(wanted)
        assert EVERY[name](frozen, kind(OLD), kind(MASK.astype(int))).equal(wanted)
    for kind in (torch.float32, torch.bfloat16, torch.float16):  # the numbers above are exact in each
        result = EVERY[name](torch.tensor(LOGPROBS, dtype=kind), torch.tensor(OLD, dtype=kind), MASK)
        assert result.dtype == torch.float32
        np.testing.assert_allclose(result, wanted, rtol=1e-6)
    whole = torch.tensor([[1, 2, 0], [0, 1, 3]])
    assert EVERY[name](whole, whole, MASK).dtype == torch.float64


@pytest.mark.parametrize("name", EVERY)
def test_a_tensor_stays_on_its_device(name):
    logprobs, old = torch.tensor(LOGPROBS), torch.tensor(OLD)
    wanted = EVERY[name](logprobs, old, torch.tensor(MASK))
    with torch.device("meta"):  # whatever is made without a device is now made elsewhere
        assert EVERY[name](logprobs, old, MASK).equal(wanted)


@pytest.mark.parametrize("ratio", hand.RATIOS)
@pytest.mark.parametrize("variant", ["ppo", "cispo"])
def test_old_logprobs_and_advantages_are_constants(ratio, variant):
    old, advantages = torch.tensor(OLD, requires_grad=True), torch.tensor([1.0, -1.0], requires_grad=True)
    logprobs = torch.tensor(LOGPROBS, requires_grad=True)
    losses.policy_loss(logprobs, old, advantages, MASK, ratio=ratio, variant=variant).backward()
    assert old.grad is None and advantages.grad is None and (logprobs.grad[MASK] != 0).any()
    assert not losses.importance_weights(logprobs, old, MASK).requires_grad


def test_a_large_batch_in_float32_loses_no_token():
    logprobs = torch.full((4, 50_000), -0.5)
    loss = losses.policy_loss(logprobs, logprobs, torch.full((4,), -3.0), torch.ones(4, 50_000, dtype=bool))
    assert loss.item() == pytest.approx(3, rel=1e-6)


def test_half_precision_beside_float32_is_refused():
    half, single = torch.tensor([[-3.1415927]], dtype=torch.bfloat16), torch.tensor([[-3.1415927]])
    for new, old in ((half, single), (single, half), (single.double(), single)):
        with pytest.raises(ValueError, match="^old_logprobs is of type .*must be of one precision"):
            losses.policy_loss(new, old, [1.0], [[1]])
    assert losses.importance_weights(half, single, [[1]]).item() == pytest.approx(1.00097, abs=1e-5)


# ---- Bad input

loss = partial(losses.policy_loss, LOGPROBS, OLD, [1.0, -1.0], MASK)
weights = partial(losses.importance_weights, LOGPROBS, OLD, MASK)
REFUSED = {
    "a vector of log-probabilities": (
        lambda: losses.policy_loss(LOGPROBS[0], OLD[0], [1.0], MASK[0]),
        "logprobs has shape (3,); it must be numbers of shape (B, T), one row for each completion",
    ),
    "no columns": (
        lambda: losses.policy_loss(ZEROS[:, :0], None, [1, 1], ZEROS[:, :0]),
        "logprobs has shape (2, 0); it must be numbers of shape (B, T), one row for each completion, T at least",
    ),
    "old ones for one row": (
        lambda: losses.policy_loss(LOGPROBS, OLD[:1], [1, 1], MASK),
        "old_logprobs has shape (1, 3); it must be numbers of shape (2, 3), as logprobs.",
    ),
    "old ones for the sequence": (
        lambda: losses.policy_loss(LOGPROBS, OLD.sum(1), [1, 1], MASK),
        "old_logprobs has shape (2,); it must be numbers of shape (2, 3), as logprobs.",
    ),
    "advantages as a column": (
        lambda: losses.policy_loss(LOGPROBS, OLD, [[1], [1]], MASK),
        "advantages has shape (2, 1); it must be numbers of shape (2, 3) or (2,).",
    ),
    "one advantage": (
        lambda: losses.policy_loss(LOGPROBS, OLD, 1.0, MASK),
        "advantages has shape (); it must be numbers of shape (2, 3) or (2,).",
    ),
    "an advantage for each column": (
        lambda: losses.policy_loss(LOGPROBS, OLD, [1, 1, 1], MASK),
        "advantages has shape (3,); it must be numbers of shape (2, 3) or (2,).",
    ),
    "a mask for one row": (
        lambda: losses.policy_loss(LOGPROBS, OLD, [1, 1], MASK[0]),
        "mask has shape (3,); it must be booleans of shape (2, 3)",
    ),
    "a mask of halves": (
        lambda: losses.policy_loss(LOGPROBS, OLD, [1, 1], MASK * 2),
        "mask holds something other than 0 and 1; it must be booleans of shape (2, 3)",
    ),
    "words for old ones": (
        lambda: losses.policy_loss(LOGPROBS, ["a"], [1, 1], MASK),
        "old_logprobs is ['a']; it must be numbers of shape (2, 3), as logprobs.",
    ),
    "words for weights": (
        lambda: losses.importance_weights([["a"]], OLD, MASK),
        "logprobs is [['a']]; it must be numbers of shape (B, T)",
    ),
    "a mask of weights for one row": (
        lambda: losses.importance_weights(LOGPROBS, OLD, MASK[0]),
        "mask has shape (3,); it must be booleans of shape (2, 3)",
    ),
    "words": (
        lambda: losses.policy_loss([["a"]], None, [1], [[1]]),
        "logprobs is [['a']]; it must be numbers of shape (B, T)",
    ),
    "an advantage for each token and one ratio for the row": (
        lambda: losses.policy_loss(LOGPROBS, OLD, LOGPROBS, MASK, ratio="sequence_mean"),
        "advantages differ within a row; with a sequence ratio they must be equal there.",
    ),
    "one number as clip": (lambda: loss(clip=0.2), "clip is 0.2; it must be (low, high), or None."),
    "three numbers as clip": (lambda: loss(clip=(1, 2, 3)), "clip is (1, 2, 3); it must be (low, high), or None."),
    "a negative lower clip": (lambda: loss(clip=(-0.2, 0.2)), "clip[0] is -0.2; it must be one finite number, at"),
    "a negative upper clip": (lambda: loss(clip=(0.2, -0.2)), "clip[1] is -0.2; it must be one finite number, at"),
    "a dual clip of 1": (lambda: loss(dual_clip=1), "dual_clip is 1.0; it must be larger than 1, or None."),
    "a dual clip for cispo": (
        lambda: loss(dual_clip=3, variant="cispo"),
        "dual_clip is 3.0; it must be None where variant is not 'ppo'.",
    ),
    "an unknown ratio": (
        lambda: loss(ratio="sequence"),
        "ratio is 'sequence'; it must be one of 'token', 'sequence_mean', 'sequence_product'.",
    ),
    "an unknown variant": (lambda: loss(variant="gspo"), "variant is 'gspo'; it must be one of 'ppo', 'cispo'."),
    "an unknown aggregation": (
        lambda: loss(aggregation="mean"),
        "aggregation mode is 'mean'; it must be one of 'token_mean', 'sequence_mean', 'constant', 'sum'.",
    ),
    "unknown rows": (lambda: loss(empty_rows=True), "empty_rows is True; it must be one of 'exclude', 'count'."),
    "no norm": (
        lambda: loss(aggregation="constant"),
        "norm is None; it must be a positive number of tokens, for mode 'constant'.",
    ),
    "a norm of 0": (lambda: loss(norm=0), "norm is 0.0; it must be larger than 0, or None."),
    "a norm for each row": (lambda: loss(norm=[1, 4]), "norm has shape (2,); it must be one finite number."),
    "infinity as norm": (lambda: loss(norm=torch.tensor(torch.inf)), "norm is inf; it must be one finite number."),
    "a vector of losses": (
        lambda: losses.aggregate([1.0, 2.0], [1, 1]),
        "token_losses has shape (2,); it must be numbers of shape (B, T), one row for each completion",
    ),
    "a mask of another shape": (lambda: losses.aggregate(ONES, ONES[:1]), "mask has shape (1, 3); it must be"),
    "behaviour of another shape": (
        lambda: losses.importance_weights(LOGPROBS, OLD[:, :1], MASK),
        "behaviour_logprobs has shape (2, 1); it must be numbers of shape (2, 3), as logprobs.",
    ),
    "a cap of 0": (lambda: weights(cap=0), "cap is 0.0; it must be larger than 0, or None."),
    "mode mask without a cap": (
        lambda: weights(mode="mask"),
        "cap is None; it must be a positive number, for mode 'mask'.",
    ),
    "an unknown level": (lambda: weights(level="row"), "level is 'row'; it must be one of 'token', 'sequence'."),
    "an unknown mode": (lambda: weights(mode="clip"), "mode is 'clip'; it must be one of 'truncate', 'mask'."),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused(name):
    refusals.check(*REFUSED[name])


def test_a_norm_may_be_a_tensor_and_advantages_may_repeat():
    assert loss(norm=torch.tensor(4)).equal(loss()) and loss(norm=np.int64(4)).equal(loss())
    rows = partial(losses.policy_loss, LOGPROBS, OLD, ratio="sequence_product", mask=MASK)
    junk = np.where(MASK, [[1.0] * 3, [-1.0] * 3], 7.0)  # equal where the mask is True is enough
    assert rows(advantages=junk).equal(rows(advantages=[1.0, -1.0]))


def test_a_square_batch_takes_advantages_by_row():
    square = np.zeros((3, 3))
    gradient = torch.autograd.functional.jacobian(
        lambda lp: losses.policy_loss(lp, None, [1.0, 2.0, 4.0], square == 0, aggregation="sum"),
        torch.tensor(square),
    )
    assert gradient.tolist() == [[-1.0] * 3, [-2.0] * 3, [-4.0] * 3]


def test_every_public_function_is_tested():
    public = [n for n, f in inspect.getmembers(losses, inspect.isfunction) if f.__module__ == "pglab.losses"]
    assert {n for n in public if n[0] != "_"} == {name.partition(",")[0] for name in EVERY}
