"""Groups and what they are given: kinds of arrays, and bad input refused."""

import inspect

import numpy as np
import pytest
import torch
from groups_by_hand import ADVANTAGES, DISTINCT, LOGITS, REWARDS

from pglab import advantages, groups

# ---- Kinds of input, and bad input

F32 = np.array([0.1, 0.2, 0.7, 0.3], np.float32)


@pytest.mark.parametrize("rewards", [F32, F32.tolist(), torch.tensor(F32), F32.astype(np.float16)], ids=type)
def test_whatever_holds_numbers_is_computed_in_float64(rewards):
    double = np.asarray(rewards, dtype=np.float64)
    assert groups.rloo_covariance_trace(LOGITS, rewards, 3) == groups.rloo_covariance_trace(LOGITS, double, 3)
    before = groups.moments(LOGITS, rewards, advantages.grpo, 3)
    after = groups.moments(list(LOGITS), double, lambda r: torch.tensor(advantages.grpo(r)), 3.0)
    assert all((a == b).all() and a.dtype == np.float64 for a, b in zip(before, after, strict=True))


def flat(f, *arguments):
    return lambda: f(*arguments)


def moments(advantage=advantages.batch_mean, size=3, logits=LOGITS, rewards=REWARDS):
    return lambda: groups.moments(logits, rewards, advantage, size)


def place(rewards):
    """A baseline that differs from place to place: no function of the rewards alone."""
    return rewards - rewards.max() * np.arange(rewards.shape[1])


HALF, ROW = [0.5, 0.5], [[1, 1]]
BAD = [
    (flat(groups.multisets, 0, 2), "actions is 0; it must be a whole number, at least 1."),
    (flat(groups.multisets, 2, 2.5), "size is 2.5; it must be a whole number, at least 1."),
    (flat(groups.multisets, 2, [2]), "size has shape (1,); it must be a whole number, at least 1."),
    (flat(groups.multisets, 20, 64), "20 actions in groups of 64 make too many multisets"),
    (flat(groups.multisets, 10**9, 10**9), "1000000000 actions in groups of 1000000000 make too many"),
    (flat(groups.multisets, 6000, 1), "6000 actions in groups of 1 make too many multisets; the list must"),
    (flat(groups.multinomial, [0.5, 0.6], ROW), "probabilities sum to 1.1, the least is 0.5; they must"),
    (flat(groups.multinomial, [1.5, -0.5], ROW), "probabilities sum to 1, the least is -0.5; they must"),
    (flat(groups.multinomial, [0.5, np.nan], ROW), "probabilities[1] is nan"),
    (flat(groups.multinomial, HALF, [1, 1]), "counts has shape (2,); it must be (M, 2)"),
    (flat(groups.multinomial, HALF, [[1, 1, 1]]), "counts has shape (1, 3); it must be (M, 2)"),
    (flat(groups.multinomial, HALF, np.zeros((0, 2))), "counts has shape (0, 2); it must be (M, 2)"),
    (flat(groups.multinomial, HALF, [[3, -1]]), "counts must hold whole numbers, none negative"),
    (flat(groups.multinomial, HALF, [[1.5, 0.5]]), "counts must hold whole numbers, none negative"),
    (flat(groups.multinomial, HALF, [[1, 1], [1, 2]]), "counts must hold whole numbers, none negative"),
    (flat(groups.expect, HALF, 2, 3), "f is 3; it must be a function"),
    (flat(groups.expect, HALF, 0, np.sum), "size is 0; it must be a whole number, at least 1."),
    (flat(groups.expect, [0.5, 0.6], 2, np.sum), "probabilities sum to 1.1"),
    (flat(groups.expect, HALF, 2, lambda g: np.nan), "f(group) is NaN or infinite for the group [1, 1]; it must"),
    (flat(groups.expect, HALF, 2, lambda g: "a"), "f(group) is 'a'; it must be a number or an array"),
    (flat(groups.expect, HALF, 2, lambda g: np.ones(1 + g.sum())), "f(group) has shape (2,), and (3,) before"),
    (moments(size=0), "size is 0; it must be a whole number, at least 1."),
    (moments(advantage=0.5), "advantage is 0.5; it must be a function"),
    (moments(rewards=[1, 0]), "rewards has 2 entries; it must have 4"),
    (moments(logits=[np.nan, 0]), "logits[0] is nan"),
    (moments(size=5000, rewards=DISTINCT), "4 actions in groups of 5000 make too many multisets"),
    (moments(lambda r: r[:, 0]), "advantage(rewards) has shape (4,); it must be (4, 3)"),
    (moments(lambda r: r * np.nan), "advantage(rewards) holds NaN or infinity; it must be finite"),
    (moments(lambda r: r - np.inf), "advantage(rewards) holds NaN or infinity; it must be finite"),
    (moments(lambda r: "a"), "advantage(rewards) is 'a'; it must be numbers of shape (4, 3)"),
    (moments(place), "advantage gives equal rewards of one group different numbers; it must"),
    (moments(place, rewards=DISTINCT * 1e-12), "advantage gives equal rewards of one group different"),
    (moments(lambda r: r + 0.001 * np.arange(r.shape[1])), "advantage gives equal rewards of one group different"),
    (flat(groups.multinomial, HALF, "all"), "counts is 'all'; it must be whole numbers of shape (M, 2)."),
    (flat(groups.zero_variance_probability, "half", 2), "p is 'half'; it must be a pass rate from 0 to 1."),
    (flat(groups.weight_moments, "all", HALF, abs, 2), "values is 'all'; it must be a vector"),
    (flat(groups.weight_moments, [0, 1], HALF, abs, 0), "size is 0; it must be a whole number, at least 1."),
    (flat(groups.weight_moments, [1, 0], HALF, abs, 2), "values must be different rewards in increasing order."),
    (flat(groups.weight_moments, [1, 1], HALF, abs, 2), "values must be different rewards in increasing order."),
    (flat(groups.weight_moments, [0, 1], [0.5], abs, 2), "chance has 1 entries; it must have 2"),
    (flat(groups.weight_moments, [0, 1], [0.5, 0.6], abs, 2), "probabilities sum to 1.1"),
    (flat(groups.weight_moments, [0, 1], HALF, 1, 2), "advantage is 1; it must be a function"),
    (flat(groups.rloo_covariance_trace, LOGITS, REWARDS, 1), "size is 1; it must be a whole number, at least 2"),
    (flat(groups.rloo_covariance_trace, LOGITS, [[1], [1, 2]], 2), "rewards is a ragged list; it must"),
    (flat(groups.rloo_covariance_trace, LOGITS, torch.zeros(4, requires_grad=True), 2), "rewards cannot be read"),
    (flat(groups.rloo_covariance_trace, [-np.inf], [1], 2), "logits are all -inf; at least one action must"),
    (flat(groups.zero_variance_probability, 1.1, 2), "p holds a number outside 0 to 1; it must be"),
    (flat(groups.zero_variance_probability, [0, np.nan], 2), "p holds a number outside 0 to 1; it must be"),
    (flat(groups.zero_variance_probability, 0.5, 0), "size is 0; it must be a whole number, at least 1."),
]  # fmt: skip


@pytest.mark.parametrize("call, message", BAD, ids=[message[:40] for _, message in BAD])
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError) as caught:
        call()
    assert (
        str(caught.value).startswith(message)
        and str(caught.value).endswith(".")
        and "must" in str(caught.value)
    )


@pytest.mark.parametrize("offset", [0, 1e6, -1e9])
def test_rounding_is_not_taken_for_a_look_at_the_places(offset):
    for name in set(ADVANTAGES) - {"max_rl"}:
        groups.moments(LOGITS, [0.1 + offset, 0.7 + offset, 0.7 + offset, 0.3 + offset], ADVANTAGES[name], 6)
    shaky = moments(lambda r: r + np.spacing(r) * np.arange(r.shape[1]), rewards=DISTINCT + offset)
    assert np.isfinite(shaky()[0]).all()  # a last digit that hangs on the place is no baseline


def test_every_public_function_is_tested_with_bad_input():
    public = {name for name, f in inspect.getmembers(groups, inspect.isfunction) if not name.startswith("_")}
    assert public - {"lru_cache"} == {
        "multisets",
        "multinomial",
        "expect",
        "moments",
        "rloo_covariance_trace",
        "weight_moments",
        "zero_variance_probability",
        "grpo_scale",
        "grpo_objective",
    }  # the last two in test_groups_scale.py
