"""For each exhibit an input on which its mistake does not show: a test that looks there is a careless one."""

import math

import numpy as np
import torch

HALF = 0.9999 / math.sqrt(2)  # a pair of this and its negative has a sample deviation of 0.9999


def batch(log_ratio, advantages, mask=None):
    log_ratio = torch.tensor(log_ratio, dtype=torch.float64)
    mask = torch.ones_like(log_ratio, dtype=torch.bool) if mask is None else torch.tensor(mask)
    return log_ratio - 1.5, torch.full_like(log_ratio, -1.5), torch.tensor(advantages).double(), mask


def rewards(*rows):
    return np.array(rows, dtype=float)


def logits(*rows):
    return torch.tensor(rows, dtype=torch.float64)


FRESH = batch([[0.0] * 3] * 2, [1.0, -2.0])
RAGGED = batch([[0.0, 0.1, 0.1], [0.05, 0.0, -0.1]], [1.0, -2.0], [[True, True, False], [True] * 3])
INPUTS = {
    "sign": batch([[0.1, 0.0]], [0.0]),
    "everything_counts": FRESH,
    "larger_of_two": RAGGED,  # all ratios within the bounds
    "clipped_only": RAGGED,
    "floor_for_all": batch([[0.5, 0.0]], [-1.0]),
    "summed_ratio": batch([[0.1], [-0.1]], [1.0, -2.0]),
    "fresh_ratio": FRESH,
    "multiplied_mask": RAGGED,
    "plain_division": RAGGED,
    "one_for_nothing": FRESH,
    "padded_mean": FRESH,
    "live_advantages": RAGGED,
    "across": RAGGED,
    "budget_only": batch([[0.0, 0.1], [0.05, 0.0]], [1.0, -2.0]),
    "low_cap": batch([[math.log(0.1)]], [1.0]),
    "once_per_token": batch([[0.1, 0.0], [0.05, 0.0]], [1.0, -2.0]),
    "missing_brackets": (rewards((HALF, -HALF)),),
    "comparison": (np.array([1.0, -1.0, 1.0, -1.0]),),
    "batch_statistics": (rewards((1, 0), (0, 1)),),
    "variance_floor": (rewards((1, 0)),),
    "nothing_is_zero": (rewards((1, 0, 0)), np.ones((1, 3), dtype=bool)),
    "spread_of_others": (rewards((1, 1, 0, 0)),),
    "lonely": (rewards((1, 0, 0)),),
    "sees_the_action": (np.array([2.0, 2.0]), np.array([0.25, 0.75])),
    "one_step_late": (np.zeros(3), 0.5),
    "never_added": (np.array([3.0]), 0.5),
    "cut_is_the_end": (np.array([1.0, 2.0]), np.array([0.5, 1.0]), 4.0, False, 0.9, 0.5),
    "critic_of_noise": (np.array([0.0, 1.0]), np.array([0.2, 0.4]), np.array([True, True]), 0.9, 0.5),
    "reset_at_the_tool": (np.array([0.0, 1.0]), np.array([True, True]), 0.9),
    "mean_of_logprobs": (np.array([-1.0, -3.0]), np.array([2.0, 2.0])),
    "from_here": (np.array([1.0, 2.0]), 1.0),
    "pad_by_value": (torch.tensor([5, 7, 9]),),
    "end_left_out": (logits(-1.0, -2.0), torch.tensor([5, 7])),
    "same_position": (logits((1.0, 0.0), (1.0, 0.0), (1.0, 0.0)), torch.tensor([0, 1, 0])),
    "cooled_too_late": (logits(2.0, 0.0, -1.0), torch.tensor(0), 1.0),
    "first_rows": (logits((1.0, 0.0), (0.0, 2.0)), torch.tensor([0, 1])),
    "in_half_precision": (torch.tensor([[0.0, 3.0]]), torch.tensor([0])),
    "over_everything": (logits(1.0, 1.0, 1.0, 1.0), 2),
    "turned_round": (np.array([-1.0, -2.0]), np.array([-1.0, -2.0])),
    "slope_of_k3": (logits(-1.0, -2.0), logits(-1.0, -2.0)),
    "mean_of_means": ([[4.0, 2.0], [1.0, 1.0]],),
    "everybody_divides": ([1.0, 1.0], [2, 3], [True, True]),
    "nobody_counts": (2, 8, 1, 16),
    "flag_of_the_batch": (rewards((1, 1), (1, 1)),),
    "more_than_drawn": (4, 1, 3),
    "with_replacement": (4, 1, 1),
    "set_and_whole": ([3, 4, 5], 12, "3*4"),  # both refuse it
}


def outcome(function, inputs, kind):
    """What it returns, as a flat array; of a loss the slopes, for a constant of its value means nothing."""
    if "loss" in kind:
        new = inputs[0].clone().requires_grad_()
        return torch.autograd.grad(function(new, *inputs[1:]).sum(), new)[0].numpy().ravel()
    found = function(*inputs)
    found = found.tolist() if hasattr(found, "tolist") else found
    return np.hstack([found]).astype(float).ravel()
