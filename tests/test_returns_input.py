"""Returns and what they are given: kinds of arrays, gradients, bad input refused."""

import inspect

import numpy as np
import pytest
import torch
from refusals import check

from pglab import returns

pytestmark = pytest.mark.filterwarnings("error")

EVERY = {
    "discounted_return": lambda r, v, last=0.0, mask=None: returns.discounted_return(r, 0.9, mask),
    "reward_to_go": lambda r, v, last=0.0, mask=None: returns.reward_to_go(r, 0.9, mask),
    "reward_to_go, from start": lambda r, v, last=0.0, mask=None: returns.reward_to_go(r, 0.9, mask, True),
    "td_errors": lambda r, v, last=0.0, mask=None: returns.td_errors(r, v, 0.9, last, mask),
    "n_step": lambda r, v, last=0.0, mask=None: returns.n_step(r, v, 0.9, 2, last, mask),
    "gae": lambda r, v, last=0.0, mask=None: returns.gae(r, v, 0.9, 0.8, last, mask),
}
WITH_VALUES = ["td_errors", "n_step", "gae"]
R, V, MASK = [1.0, 0.0, 2.0, 1.0], [0.5, 1.0, 1.5, 0.25], [True, True, False, True]

# ---- Kinds of arrays


@pytest.mark.parametrize("name", EVERY)
def test_what_comes_in_comes_out(name):
    wanted = EVERY[name](np.array(R), np.array(V), 4.0)
    for kind in (np.float64, np.float32, np.float16):
        rewards, values = np.array(R, kind), np.array(V, kind)
        for array in (rewards, values):
            array.flags.writeable = False
        for v in (values, V):  # a list, and last_value, take the precision of the rewards
            for last in (4.0, 4, np.float64(4), np.array(4.0)):
                result = EVERY[name](rewards, v, last, [1, 1, 1, 1])
                assert result.dtype == (np.float64 if kind is np.float64 else np.float32)
                np.testing.assert_allclose(result, wanted, rtol=1e-6)
    for kind in (torch.float64, torch.float32, torch.bfloat16, torch.float16):
        rewards, values = torch.tensor(R, dtype=kind), torch.tensor(V, dtype=kind)
        backwards = np.array(V[::-1])[::-1]
        readonly = np.array(V)
        readonly.flags.writeable = False
        for v in (values, V, backwards, readonly):
            for last in (4.0, torch.tensor(4), torch.tensor(4.0, dtype=torch.float64), np.float64(4)):
                result = EVERY[name](rewards, v, last, np.array([1, 1, 1, 1]))
                assert isinstance(result, torch.Tensor) and not result.requires_grad
                assert result.dtype == (kind if kind is torch.float64 else torch.float32)
                np.testing.assert_allclose(result.double().numpy(), wanted, rtol=1e-6)
    whole = EVERY[name]([1, 0, 2, 1], [1, 1, 2, 0], 4)
    assert whole.dtype == np.float64
    assert (EVERY[name](np.array([1, 0, 2, 1], np.uint8), [1, 1, 2, 0], 4) == whole).all()
    assert EVERY[name](torch.tensor([1, 0, 2, 1]), [1, 1, 2, 0], 4).dtype == torch.float64


@pytest.mark.parametrize("name", EVERY)
def test_one_last_value_for_each_trajectory_in_either_precision(name):
    rewards, values = np.array([R, R], np.float32), np.array([V, V], np.float32)
    result = EVERY[name](rewards, values, [4.0, 0.0])
    assert result.dtype == np.float32
    for i, last in enumerate((4.0, 0.0)):
        np.testing.assert_array_equal(result[i], EVERY[name](rewards[i], values[i], last))
    tensor = EVERY[name](torch.tensor(rewards), torch.tensor(values), torch.tensor([4.0, 0.0]))
    np.testing.assert_allclose(tensor, result, rtol=1e-6)


@pytest.mark.parametrize("name", EVERY)
def test_a_tensor_stays_on_its_device(name):
    rewards, values = torch.tensor(R), torch.tensor(V)
    wanted = EVERY[name](rewards, values, 4.0, MASK)
    with torch.device("meta"):  # whatever is made without a device is now made elsewhere
        for v in (values, V):
            assert EVERY[name](rewards, v, 4.0, MASK).equal(wanted)


def test_nothing_is_changed_or_shared():
    for rewards, values in (np.array([R]), np.array([V])), (torch.tensor([R]), torch.tensor([V])):
        for function in EVERY.values():
            function(rewards, values)[...] = 7
            assert rewards.tolist() == [R] and values.tolist() == [V]


@pytest.mark.parametrize("name", EVERY)
def test_batches_without_trajectories(name):
    tail = () if name == "discounted_return" else (4,)
    empty = np.zeros((0, 4), np.float32)
    assert EVERY[name](empty, empty).shape == (0, *tail)
    assert EVERY[name](torch.zeros(2, 0, 4), torch.zeros(2, 0, 4)).shape == (2, 0, *tail)


def test_what_is_too_large_stays_where_it_is():
    rewards, values = np.float32([3e38, 1, 1]), np.float32([-3e38, 0, 0])
    for xp in (np.asarray, torch.tensor):
        with np.errstate(over="ignore"):
            result = returns.gae(xp(rewards), xp(values), 0.5, 1.0)
        assert result.tolist() == [np.inf, 1.5, 1.0]


# ---- Gradients


@pytest.mark.parametrize("name", EVERY)
def test_gradients_agree_with_finite_differences(name):
    rewards = torch.tensor([R, R[::-1]], dtype=torch.float64, requires_grad=True)
    values = torch.tensor([V, V[::-1]], dtype=torch.float64, requires_grad=True)
    last = torch.tensor([4.0, -1.0], dtype=torch.float64, requires_grad=True)
    for mask in (None, [MASK, [False, True, False, True]]):
        inputs = (rewards, values, last) if name in WITH_VALUES else (rewards,)
        assert torch.autograd.gradcheck(
            lambda r, v=values, last=last, mask=mask: EVERY[name](r, v, last, mask), inputs
        )


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("gamma", [0.0, 1.0])
def test_nothing_leaks_from_under_the_mask(name, gamma):
    nan = torch.nan
    rows = [[0.3, nan, 0.9], [nan, 0.2, torch.inf], [nan] * 3]
    rewards = torch.tensor(rows, dtype=torch.float64, requires_grad=True)
    values = torch.tensor(rows, dtype=torch.float64, requires_grad=True)
    mask = torch.isfinite(rewards)
    call = {
        "discounted_return": lambda: returns.discounted_return(rewards, gamma, mask),
        "reward_to_go": lambda: returns.reward_to_go(rewards, gamma, mask),
        "reward_to_go, from start": lambda: returns.reward_to_go(rewards, gamma, mask, True),
        "td_errors": lambda: returns.td_errors(rewards, values, gamma, 1.0, mask),
        "n_step": lambda: returns.n_step(rewards, values, gamma, 2, 1.0, mask),
        "gae": lambda: returns.gae(rewards, values, gamma, 0.5, 1.0, mask),
    }[name]
    result = call()
    result.sum().backward()
    for tensor in (rewards, values) if name in WITH_VALUES else (rewards,):
        assert torch.isfinite(tensor.grad).all() and (tensor.grad[~mask] == 0).all()
    assert torch.isfinite(result).all() and rewards.grad[0, 0] == 1


# ---- Bad input

ROWS, CRITIC = [[1.0, 0.0, 1.0], [0.0, 0.5, 1.0]], [[0.5, 0.5, 0.5], [0.1, 0.2, 0.3]]
BAD_NUMBERS = {
    "NaN": ([[1.0, np.nan, 0.0], [0.0] * 3], "holds NaN or infinity where the mask is True"),
    "infinity": ([[1.0, -np.inf, 0.0], [0.0] * 3], "holds NaN or infinity where the mask is True"),
    "words": (["a", "b"], "is ['a', 'b']"),
    "None": (None, "is None"),
    "ragged lists": ([[1.0], [1.0, 2.0]], "is a ragged list"),
    "complex numbers": ([1j, 0], "is [1j, 0]"),
}
BAD_SHAPES = {
    "a scalar": (3.0, "has shape ()"),
    "no steps": (np.zeros((3, 0)), "has shape (3, 0)"),
}
BAD_VALUES = {
    "one more": (np.zeros((2, 4)), "values has shape (2, 4); it must have that of rewards, (2, 3)"),
    "one row": ([0.5, 0.5, 0.5], "values has shape (3,); it must have that of rewards, (2, 3)"),
    "one column": ([[0.5], [0.5]], "values has shape (2, 1); it must have that of rewards"),
    "a number": (0.5, "values has shape (); it must have that of rewards"),
    "a tensor beside a list": (torch.tensor(CRITIC), "values is a tensor beside a NumPy array; hand in both"),
}
BAD_LAST = {
    "one for each step": ([0.0, 0.0, 0.0], "last_value has shape (3,); it must be one finite number, or"),
    "a column": (
        [[0.0], [0.0]],
        "last_value has shape (2, 1); it must be one finite number, or one for each",
    ),
    "NaN": (np.nan, "last_value holds NaN or infinity; it must be one finite number, or one for each"),
    "one is infinite": ([0.0, np.inf], "last_value holds NaN or infinity; it must be"),
    "a word": ("zero", "last_value is 'zero'; it must be"),
    "None": (None, "last_value is None; it must be"),
    "a tensor beside a list": (
        torch.tensor(1.0),
        "last_value is a tensor beside a NumPy array; hand in both",
    ),
}
BAD_MASKS = {
    "one row": ([True, True, False], "mask has shape (3,); it must be booleans of shape (2, 3)"),
    "one column": ([[True], [True]], "mask has shape (2, 1)"),
    "two": ([[2, 1, 1], [1, 1, 1]], "mask holds something other than 0 and 1"),
    "weights": ([[0.0, 1.0, 1.0], [1, 1, 1]], "mask is of a floating-point type"),
    "NaN": (np.where(np.eye(2, 3) > 0, np.nan, 1), "mask is of a floating-point type"),
}


@pytest.mark.parametrize("name", EVERY)
def test_bad_rewards_masks_values_and_last_values_are_refused(name):
    for rewards, message in (BAD_NUMBERS | BAD_SHAPES).values():
        check(lambda rewards=rewards: EVERY[name](rewards, CRITIC), f"rewards {message}")
    for mask, message in BAD_MASKS.values():
        check(lambda mask=mask: EVERY[name](ROWS, CRITIC, mask=mask), message)
        check(lambda mask=mask: EVERY[name](torch.tensor(ROWS), CRITIC, mask=mask), message)
    if name in WITH_VALUES:
        bad = [(values, f"values {message}") for values, message in BAD_NUMBERS.values()]
        for values, message in [*bad, *BAD_VALUES.values()]:
            check(lambda values=values: EVERY[name](ROWS, values), message)
        for last, message in BAD_LAST.values():
            check(lambda last=last: EVERY[name](ROWS, CRITIC, last), message)


def test_sentences_say_what_is_wanted():
    words = "['a']"
    check(
        lambda: returns.gae(["a"], [0.0], 1, 1),
        f"rewards is {words}; it must be numbers of shape (..., T), T",
    )
    check(
        lambda: returns.gae([0.0], ["a"], 1, 1), f"values is {words}; it must be one value for each reward."
    )
    check(
        lambda: returns.gae([0.0], [0.0], 1, 1, ["a"]),
        f"last_value is {words}; it must be one finite number, or",
    )


def test_without_options_nothing_is_discounted_masked_or_still_to_come():
    assert returns.discounted_return(R) == 4 and returns.reward_to_go(R).tolist() == [4, 3, 3, 1]
    for name, f in (("td_errors", returns.td_errors), ("gae", returns.gae), ("n_step", returns.n_step)):
        options = {"gae": (0.8,), "n_step": (2,)}.get(name, ())
        assert f(R, V, 0.9, *options).tolist() == f(R, V, 0.9, *options, 0.0, [True] * 4).tolist()


@pytest.mark.parametrize("bad", [-0.1, 1.1, np.nan, [0.9]])
def test_gamma_and_lambda_outside_0_to_1_are_refused(bad):
    for call in (
        lambda: returns.discounted_return(R, bad),
        lambda: returns.reward_to_go(R, bad),
        lambda: returns.td_errors(R, V, bad),
        lambda: returns.n_step(R, V, bad, 2),
        lambda: returns.gae(R, V, bad, 0.5),
    ):
        check(call, "gamma ")
    check(lambda: returns.gae(R, V, 0.5, bad), "lam ")


@pytest.mark.parametrize("n", [0, -1, 1.5, np.inf, np.nan, [2]])
def test_an_n_that_is_no_positive_whole_number_is_refused(n):
    check(lambda: returns.n_step(R, V, 0.9, n), "n ")


def test_every_public_function_is_tested():
    public = {n for n, _ in inspect.getmembers(returns, inspect.isfunction) if not n.startswith("_")}
    assert public == {name.partition(",")[0] for name in EVERY}
