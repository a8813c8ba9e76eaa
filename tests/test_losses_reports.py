"""Public bug reports about losses, masks and log-probabilities: the right number comes out, not the wrong one.

Each entry has the report, what is computed here, the right value, and the value of the fault.
"""

import math

import numpy as np
import pytest
import torch

from pglab import diagnostics, logprobs, losses

TRL = "https://github.com/huggingface/trl/"
VERL = "https://github.com/verl-project/verl/"


def policy_loss(log_ratio, advantages, mask=None, **options):
    """The loss at given log-ratios, every token counted unless a mask is given."""
    log_ratio = np.array(log_ratio, float)
    mask = np.ones_like(log_ratio, bool) if mask is None else mask
    return losses.policy_loss(log_ratio, np.zeros_like(log_ratio), advantages, mask, **options)


def slope(log_ratio, advantages, **options):
    log_ratio = torch.tensor(log_ratio, dtype=torch.float64, requires_grad=True)
    mask = torch.ones_like(log_ratio, dtype=bool)
    losses.policy_loss(log_ratio, torch.zeros_like(log_ratio), advantages, mask, **options).backward()
    return log_ratio.grad.tolist()


def rows_of_lengths(*lengths):
    return np.arange(max(lengths)) < np.array(lengths)[:, None]


def two_logits(*log_probabilities):
    """Logits of two tokens, the first of which has the given log-probability."""
    return [[x, math.log(-math.expm1(x))] for x in log_probabilities]


def on_policy_loss_of_two_rows():
    mask = rows_of_lengths(1, 3)
    return [
        float(policy_loss(mask * 0, [1, -1], mask, aggregation=mode))
        for mode in ("sequence_mean", "token_mean")
    ]


def accumulated():
    window = 1 + 3  # tokens of both micro-batches
    parts = ([[4.0]], [[1.0, 1.0, 1.0]])
    return sum(losses.aggregate(part, np.ones_like(part, bool), norm=window) for part in parts)


def informative_token():
    """Groups of equal rewards leave the mask, so they leave the denominator as well."""
    keep = ~diagnostics.zero_std_groups([[1, 0], [1, 1]])
    mask = rows_of_lengths(2, 2, 8, 8) & np.repeat(keep, 2)[:, None]
    return losses.aggregate(np.eye(4, 8), mask)  # one token of each row has the loss 1


def poisoned_padding():
    return losses.policy_loss([[-1, np.nan]], [[-1.1, np.nan]], [1], [[1, 0]])


def stop_token_is_scored():
    mask = logprobs.completion_mask([0, 1, 2, 2], end_token=2)
    return torch.where(mask, torch.tensor([0.5, 0.25, 0.8, 0.1], dtype=torch.float64).log(), 0.0).sum()


def ratios_of_the_same_tokens():
    scored = [-1.0, -2.0, -3.0]
    tokens = [[1, 0, 0, 0]]  # a prompt of one token; the last logits predict what was never sampled
    trained = logprobs.token_logprobs([[*two_logits(*scored), [0.0, 0.0]]], tokens)
    return losses.importance_weights(trained, [scored], np.ones((1, 3), bool))[0, :2]


def ratio_in_half_precision():
    logits = torch.tensor([two_logits(-3.1415927, -0.7)], dtype=torch.bfloat16)
    new, old = (logprobs.gather(x, [[0, 0]]) for x in (logits, logits.float()))
    return -losses.policy_loss(new, old, [1.0], [[1, 0]])


def longer_row_of_logits():
    logits = two_logits(-9.0, -9.0, -9.0, -1.0, -2.0)
    with pytest.raises(ValueError, match="one token for each row of the logits"):
        logprobs.gather(logits, [0, 0])
    return logprobs.gather(logits[-2:], [0, 0]).sum()


def entropy_of_predicting_positions():
    """Logits (s, 0, .., 0) with given entropies, s found by halving; 3 tokens of prompt, 3 of completion."""
    rows = []
    for wanted in (2.0, 2.2, 1.8, 1.5, 1.0, 1.3):
        low, high = 0.0, 20.0
        for _ in range(60):
            middle = (low + high) / 2
            above = diagnostics.entropy([middle] + [0.0] * 15) > wanted
            low, high = (middle, high) if above else (low, middle)
        rows.append([low] + [0.0] * 15)
    trained = np.array([False] * 3 + [True] * 3)
    return diagnostics.entropy(rows[:-1], trained[1:])


REPORTS = {
    "B01": (TRL + "issues/2995", on_policy_loss_of_two_rows, [0, 0.5], [0, 0]),
    "B03": (VERL + "pull/906", accumulated, 1.75, 2.5),
    "B04": (VERL + "issues/3741", lambda: losses.aggregate([[6], [4]], [[1], [1]], "constant", 4), 1.25, 2.5),
    "B05": (
        TRL + "pull/6439",
        lambda: losses.aggregate(np.ones((2, 8)), rows_of_lengths(2, 8) & [[True], [False]]),
        1.0,
        0.2,
    ),
    "B07": (
        "https://github.com/akaszubski/autonomous-dev/issues/413",
        lambda: losses.aggregate([[6, 0, 0], [1, 1, 1]], rows_of_lengths(1, 3), "token_mean"),
        2.25,
        4.5,
    ),
    "B08": (
        TRL + "issues/3823",
        lambda: policy_loss([[math.log(1.1)] * 3] * 2, [1, -1], rows_of_lengths(1, 3), ratio="sequence_mean"),
        0,
        0.55,
    ),
    "B09": (TRL + "pull/6365", lambda: informative_token() / 2, 0.25, 0.05),
    "B20": (TRL + "pull/7068", lambda: diagnostics.zero_std_fraction([[1, 1], [0, 1]]), 0.5, 0),
    "B22": ("https://github.com/OpenRLHF/OpenRLHF/pull/1240", poisoned_padding, -math.exp(0.1), math.nan),
    "B23": (
        "https://github.com/NVIDIA-NeMo/RL/issues/158",
        lambda: losses.aggregate([[3, 4]], [[0, 0]]),
        0,
        math.nan,
    ),
    "B28": (TRL + "pull/4970", lambda: logprobs.completion_mask([5, 2, 2, 2], 2), [1, 1, 0, 0], [1, 0, 0, 0]),
    "B29": ("https://github.com/unslothai/unsloth-zoo/pull/832", stop_token_is_scored, -2.302585093, -2.07944),
    "B32": ("https://github.com/callsys/GMPO/issues/4", lambda: policy_loss([[0.9]], [-1]), 2.459603111, 1.2214),
    "B33": (
        TRL + "pull/6095",
        lambda: policy_loss([[0, 0]], [-1], [[0, 0]], ratio="sequence_mean", empty_rows="count"),
        0,
        1,
    ),
    "B34": (
        "https://github.com/PrimeIntellect-ai/prime-rl/pull/1525",
        ratios_of_the_same_tokens,
        [1, 1],
        [math.e, math.e],
    ),
    "B35": (
        TRL + "issues/4159",
        lambda: logprobs.gather(np.array([2.0, 0.0, -1.0]) / 0.5, 0),
        -math.log(1 + math.exp(-4) + math.exp(-6)),
        -0.339692,
    ),
    "B36": ("https://github.com/OpenRLHF/OpenRLHF/pull/634", ratio_in_half_precision, 1, 1.00097),
    "B37": ("https://github.com/opendilab/LightRFT/pull/53", longer_row_of_logits, -3, -18),
    "B38": (
        "https://github.com/meta-pytorch/torchforge/pull/571",
        lambda: losses.importance_weights([[-1]], [[-2]], [[1]]),
        [[math.e]],
        [[1]],
    ),
    "B39": (
        "https://github.com/rasbt/reasoning-from-scratch/issues/243",
        lambda: slope([[0.1] * 3], [1], aggregation="sum"),
        [[-math.exp(0.1)] * 3],
        [[0] * 3],
    ),
    "B41": ("https://github.com/thu-ml/tianshou/issues/433", lambda: -policy_loss([[0]], [1], dual_clip=3), 1, 3),
    "B42": (
        "https://github.com/THUDM/slime/pull/2247",
        lambda: policy_loss([[math.log(5)]], [-1], dual_clip=3),
        3,
        5,
    ),
    "B44": (
        "https://github.com/NovaSky-AI/SkyRL/pull/1928",
        lambda: slope([[0.0]], [1], variant="cispo"),
        [[-1]],
        [[-0.2]],
    ),
    "B47": (TRL + "pull/5620", entropy_of_predicting_positions, 1.4333333333, 1.63333),
    "B55": ("https://github.com/natolambert/rlhf-book/issues/125", lambda: policy_loss([[0]], [2]), -2, 2),
    "B64": (VERL + "pull/7240", lambda: diagnostics.pass_at_k(4, 1, 4), 1, 0.683594),
}  # fmt: skip


@pytest.mark.parametrize("report", REPORTS)
def test_report(report):
    url, compute, right, wrong = REPORTS[report]
    value = np.asarray(compute(), float)
    assert url.startswith("https://github.com/")
    np.testing.assert_allclose(value, right, rtol=1e-6, atol=1e-9)  # shapes too
    assert value.shape == np.shape(right) and not np.allclose(value, wrong, atol=1e-4)


def test_more_tries_than_completions_are_refused():
    """B63, https://github.com/openai/human-eval/pull/68: the shortcut gave 1 although nothing was right."""
    with pytest.raises(ValueError, match="k is 5; it must be at most n"):
        diagnostics.pass_at_k(2, 0, 5)
