"""Advantages and what they are given: kinds of arrays, extreme units, gradients, bad input refused."""

import inspect
from functools import partial

import numpy as np
import pytest
import torch
from refusals import check
from test_advantages import EVERY, WHITEN, close

from pglab import advantages

pytestmark = pytest.mark.filterwarnings("error")

# ---- Kinds of arrays

TENSORS = [torch.float64, torch.float32, torch.bfloat16, torch.float16]


@pytest.mark.parametrize("name", EVERY)
def test_what_comes_in_comes_out(name):
    wanted = EVERY[name](np.array([1.0, 0.0, 0.0, 1.0]))
    for kind in (np.float64, np.float32, np.float16):  # half precision comes out in float32
        array = np.array([1, 0, 0, 1], kind)
        array.flags.writeable = False
        result = EVERY[name](array, mask=[1, 1, 1, 1])
        assert type(result) is np.ndarray and not np.shares_memory(result, array)
        assert result.dtype == (np.float32 if kind is np.float16 else kind)
        np.testing.assert_allclose(result, wanted, rtol=1e-6)
    for kind in TENSORS:
        result = EVERY[name](torch.tensor([1, 0, 0, 1], dtype=kind), mask=np.array([1, 1, 1, 1]))
        assert isinstance(result, torch.Tensor) and not result.requires_grad
        assert result.dtype == (kind if kind is torch.float64 else torch.float32)
        np.testing.assert_allclose(result.double().numpy(), wanted, rtol=1e-6)
    for whole in ([1, 0, 0, 1], (True, False, False, True), np.array([1, 0, 0, 1], np.uint8)):
        assert EVERY[name](whole).dtype == np.float64 and (EVERY[name](whole) == wanted).all()
    for whole in (torch.tensor([1, 0, 0, 1]), torch.tensor([True, False, False, True])):
        assert EVERY[name](whole).dtype == torch.float64
        close(EVERY[name](whole), wanted)


@pytest.mark.parametrize("name", EVERY)
def test_a_tensor_stays_on_its_device(name):
    rewards, mask = torch.tensor([1.0, 0.0, 0.5]), [True, True, False]
    wanted = EVERY[name](rewards, mask=mask)
    with torch.device("meta"):  # whatever is made without a device is now made elsewhere
        assert EVERY[name](rewards, mask=mask).equal(wanted)


@pytest.mark.parametrize("name", EVERY)
def test_nothing_detaches_and_nan_under_the_mask_stays_there(name):
    rows = [[0.3, 0.9, np.nan, 0.1], [0.7, 0.7, np.inf, 0.7], [0.2, np.nan, np.nan, np.nan], [np.nan] * 4]
    rewards = torch.tensor(rows, dtype=torch.float64, requires_grad=True)
    mask = torch.isfinite(rewards)
    result = EVERY[name](rewards, mask=mask)
    (result * torch.arange(1.0, 17.0).reshape(4, 4)).sum().backward()
    assert torch.isfinite(result).all() and torch.isfinite(rewards.grad).all()
    assert (rewards.grad[~mask] == 0).all() and (rewards.grad[0, mask[0]] != 0).all()


@pytest.mark.parametrize("name", EVERY)
def test_gradients_agree_with_finite_differences(name):
    rewards = torch.tensor([[0.3, 0.9, 0.4, 0.1], [0.5, 0.2, 0.8, 0.7]], dtype=torch.float64)
    mask = torch.tensor([[True, True, False, True], [True] * 4])
    assert torch.autograd.gradcheck(lambda r: EVERY[name](r, mask=mask), rewards.requires_grad_())


@pytest.mark.parametrize("unit", [1e-30, 1e-20, 1e20, 1e30])
def test_float32_rewards_in_an_extreme_unit(unit):
    """Their squares overflow or vanish; the standard deviation must not."""
    rewards = np.array([1.0, 0.0, 0.0, 1.0], np.float32) * np.float32(unit)
    for name in ("grpo, eps 0", "leave_one_out_std, eps 0", "whiten, eps 0"):
        close(EVERY[name](rewards), EVERY[name]([1.0, 0.0, 0.0, 1.0]), np.float32)


def test_half_precision_neither_overflows_nor_rounds_the_count():
    rewards = torch.zeros(1, 70_000, dtype=torch.float16)
    rewards[0, ::2] = 300.0
    for name in ("batch_mean", "grpo, eps 0", "whiten, eps 0"):
        result = EVERY[name](rewards)
        assert torch.isfinite(result).all() and abs(result.sum()) < 1 and (result[0, ::2] > 0).all()


@pytest.mark.parametrize("name", EVERY)
def test_a_group_of_equals_has_a_finite_gradient(name):
    rewards = torch.full((2, 3), 0.5, dtype=torch.float64, requires_grad=True)
    EVERY[name](rewards).sum().backward()
    assert torch.isfinite(rewards.grad).all()


# ---- Bad input

ROWS = [[1.0, 0.0, 1.0], [0.0, 0.5, 1.0]]
BAD_REWARDS = {
    "NaN": ([[1.0, np.nan]], "holds NaN or infinity"),
    "infinity": (torch.tensor([1.0, -torch.inf]), "holds NaN or infinity"),
    "a scalar": (3.0, "has shape ()"),
    "a tensor of no axes": (torch.tensor(3.0), "has shape ()"),
    "empty groups": (np.zeros((3, 0)), "has shape (3, 0)"),
    "words": (["a", "b"], "is ['a', 'b']"),
    "None": ([None, 1.0], "is [None, 1.0]"),
    "ragged lists": ([[1.0], [1.0, 2.0]], "is a ragged list"),
    "complex numbers": ([1j, 0], "is [1j, 0]"),
    "a complex tensor": (torch.tensor([1j, 0]), "is a complex tensor"),
}
BAD_MASKS = {
    "one group": ([True, True, False], "mask has shape (3,); it must be booleans of shape (2, 3)"),
    "one column": ([[True], [True]], "mask has shape (2, 1)"),  # NumPy would broadcast both
    "two": ([[2, 1, 1], [1, 1, 1]], "mask holds something other than 0 and 1"),
    "weights": ([[0.0, 1.0, 1.0], [1, 1, 1]], "mask is of a floating-point type"),
    "NaN": (np.where(np.eye(2, 3) > 0, np.nan, 1), "mask is of a floating-point type"),
    "words": (["yes", "no"], "mask is ['yes', 'no']"),
}
BAD_OPTIONS = [
    (
        partial(advantages.constant, baseline=[0.5, 0.5, 0.5]),
        "baseline has shape (3,); it must be one finite",
    ),
    (partial(advantages.constant, baseline=np.nan), "baseline is nan; it must be one finite number"),
    (partial(advantages.grpo, eps=-1e-4), "eps is -0.0001; it must be one finite number, at least 0"),
    (partial(advantages.leave_one_out_std, eps=-1), "eps is -1.0; it must be one finite number, at least 0"),
    (partial(advantages.whiten, eps=-1), "eps is -1.0; it must be one finite number, at least 0"),
    (partial(advantages.grpo, ddof=2), "ddof is 2; it must be 0 (population) or 1 (sample)"),
    (partial(advantages.whiten, ddof=0.5), "ddof is 0.5; it must be 0 (population) or 1 (sample)"),
    (partial(advantages.whiten, ddof=[0, 1]), "ddof has shape (2,); it must be one finite number"),
    (lambda rewards: advantages.max_rl([rewards[0], [0, -1, 3]]), "rewards holds a negative number; max_rl"),
]


def refuses(call, message, wanted=""):
    text = check(call, message)
    assert wanted in text, text
    assert "must" in text or "needs" in text, text


@pytest.mark.parametrize("name", EVERY)
def test_bad_rewards_and_masks_are_refused(name):
    argument = "advantages" if name in WHITEN else "rewards"
    for rewards, message in BAD_REWARDS.values():
        wanted = "it must be numbers of shape (..., G), G at least"
        refuses(lambda rewards=rewards: EVERY[name](rewards), f"{argument} {message}", wanted)
    for mask, message in BAD_MASKS.values():
        refuses(lambda mask=mask: EVERY[name](ROWS, mask=mask), message)
        refuses(lambda mask=mask: EVERY[name](torch.tensor(ROWS), mask=mask), message)


@pytest.mark.parametrize("function, message", BAD_OPTIONS, ids=[message[:24] for _, message in BAD_OPTIONS])
def test_bad_options_are_refused(function, message):
    refuses(lambda: function(ROWS), message)


def test_every_public_function_is_tested():
    public = {f for name, f in inspect.getmembers(advantages, inspect.isfunction) if not name.startswith("_")}
    assert public == {getattr(f, "func", f) for f in EVERY.values()}
