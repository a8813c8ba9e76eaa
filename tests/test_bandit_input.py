"""The bandit refuses bad input in one sentence."""

import inspect

import numpy as np
import pytest
import torch
from bandit_by_hand import LOGITS, REWARDS, WITH_LOGITS, WITH_REWARDS, WITH_WEIGHTS

from pglab import bandit

RAGGED = [[1.0, 2.0], [3.0]]
BAD = {  # what comes in: what the message must say came in
    "a matrix": (np.zeros((2, 2)), "shape (2, 2)"),
    "a row of a matrix": (np.zeros((1, 4)), "shape (1, 4)"),
    "a scalar": (3.0, "shape ()"),
    "nothing": ([], "empty"),
    "NaN": ([0.0, np.nan, 1.0, 2.0], "[1] is nan"),
    "infinity": ([0.0, 1.0, np.inf, 2.0], "[2] is inf"),
    "a word": ("abcd", "'abcd'"),
    "words": (["a", "b", "c", "d"], "['a', 'b', 'c', 'd']"),
    "numbers as words": (["1", "2", "3", "4"], "['1', '2', '3', '4']"),
    "complex numbers": ([1j, 0.0, 0.0, 0.0], "1j"),
    "None": (None, "None"),
    "None among numbers": ([None, 1.0, 2.0, 3.0], "None"),
    "a ragged list": (RAGGED, "ragged"),
    "a tensor that requires grad": (torch.zeros(4, requires_grad=True), "requires grad"),
    "a tensor of bfloat16": (torch.zeros(4, dtype=torch.bfloat16), "BFloat16"),
}
BAD_LOGITS = BAD | {"all impossible": ([-np.inf] * 4, "all -inf")}
BAD_WEIGHTS = BAD | {
    "minus infinity": ([0.0, -np.inf, 1.0, 2.0], "[1] is -inf"),
    "too few": ([1.0, 2.0, 3.0], "3 entries; it must have 4"),
    "one for all": ([1.0], "1 entries; it must have 4"),  # NumPy would broadcast it
    "too many": ([1.0] * 5, "5 entries; it must have 4"),
}
TABLE = [
    *[(f, 0, "logits", BAD_LOGITS) for f in WITH_LOGITS + WITH_REWARDS + WITH_WEIGHTS],
    *[(f, 1, "rewards", BAD_WEIGHTS) for f in WITH_REWARDS],
    *[(f, 1, "weights", BAD_WEIGHTS) for f in WITH_WEIGHTS],
]
ROWS = [
    pytest.param(function, place, name, *bad, id=f"{function.__name__}-{name}-{what}")
    for function, place, name, bads in TABLE
    for what, bad in bads.items()
]


def refuses(call, name, got):
    """A ValueError that names the argument, says what it got, and what it wants."""
    with pytest.raises(ValueError) as caught:
        call()
    message = str(caught.value)
    assert message.startswith(name), message
    assert got in message, message
    assert "must" in message and message.endswith("."), message


@pytest.mark.parametrize("function, place, name, value, got", ROWS)
def test_bad_input_is_refused(function, place, name, value, got):
    arguments = [LOGITS] if function in WITH_LOGITS else [LOGITS, REWARDS]
    arguments[place] = value
    refuses(lambda: function(*arguments), name, got)


@pytest.mark.parametrize("value, got", [*BAD.values(), ([0.0, -np.inf], "[1] is -inf")], ids=str)
def test_finite_differences_refuses_bad_logits(value, got):
    refuses(lambda: bandit.finite_differences(np.sum, value), "logits", got)


@pytest.mark.parametrize(
    "step, got", [(0, "0"), (-1e-5, "-1e-05"), (np.nan, "nan"), ("x", "'x'"), ([1.0], "(1,)")]
)
def test_finite_differences_refuses_bad_steps(step, got):
    refuses(lambda: bandit.finite_differences(np.sum, LOGITS, step), "step", got)


@pytest.mark.parametrize(
    "objective, got",
    [
        (3.0, "3.0"),
        (None, "None"),
        (lambda z: z, "shape (4,)"),
        (lambda z: np.nan, "nan"),
        (lambda z: None, "None"),
        (lambda z: "J", "'J'"),
    ],
)
def test_finite_differences_refuses_bad_objectives(objective, got):
    refuses(lambda: bandit.finite_differences(objective, LOGITS), "objective", got)


def test_every_public_function_is_tested_with_bad_input():
    functions = {
        f for name, f in inspect.getmembers(bandit, inspect.isfunction)
        if f.__module__ == "pglab.bandit" and not name.startswith("_")
    }  # fmt: skip
    assert functions == {*WITH_LOGITS, *WITH_REWARDS, *WITH_WEIGHTS, bandit.finite_differences}
