"""Losses against the same in plain floats; clips one by one; micro-batches; importance weights."""

import math
from fractions import Fraction

import losses_by_hand as hand
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pglab import losses

pytestmark = pytest.mark.filterwarnings("error")


def value_and_gradient(logprobs, *arguments, **options):
    logprobs = torch.tensor(logprobs, dtype=torch.float64, requires_grad=True)
    loss = losses.policy_loss(logprobs, *arguments, **options)
    loss.backward()
    return loss.item(), logprobs.grad.numpy()


def one_token(log_ratio, advantage, **options):
    """Loss and derivative of a single token."""
    value, gradient = value_and_gradient([[log_ratio]], [[0.0]], [advantage], [[True]], **options)
    return value, gradient.item()


# ---- Values and gradients by hand


@given(st.data())
def test_policy_loss_by_hand(data):
    logprobs, old, advantages, mask = data.draw(hand.batches())
    options = data.draw(hand.options(advantages))
    value, gradient = value_and_gradient(logprobs, old, advantages, mask, **options)
    lists = [array.tolist() for array in (logprobs, old, advantages, mask)]
    assert value == pytest.approx(hand.policy_loss(*lists, **options), rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(gradient, hand.gradient(*lists, **options), rtol=1e-6, atol=1e-6)


QUADRANTS = [{}, {"clip": (0.2, 0.6)}, {"clip": None}, {"dual_clip": 1.5}, {"clip": None, "dual_clip": 1.5},
             {"clip": (None, 0.2)}, {"clip": (0.2, None)}, {"variant": "cispo"}]  # fmt: skip


@pytest.mark.parametrize("ratio", hand.RATIOS)
@pytest.mark.parametrize("options", QUADRANTS, ids=str)
def test_policy_loss_by_hand_in_every_quadrant(options, ratio):
    """Random examples are often plain: here signs and sizes of advantages meet ratios on all sides of the bounds."""
    rng = np.random.default_rng(0)
    for _ in range(15):
        logprobs, old = -rng.integers(1, 25, (3, 4)) / 8, rng.integers(-10, 11, (3, 4)) / 8
        advantages, mask = rng.choice([-1.0, -0.5, -0.125, 0.0, 0.125, 0.5, 1.0], 3), rng.random((3, 4)) < 0.7
        lists = [array.tolist() for array in (logprobs, logprobs - old, advantages, mask)]
        value, gradient = value_and_gradient(*lists, ratio=ratio, **options)
        assert value == pytest.approx(hand.policy_loss(*lists, ratio=ratio, **options), rel=1e-12, abs=1e-12)
        np.testing.assert_allclose(
            gradient, hand.gradient(*lists, ratio=ratio, **options), rtol=1e-6, atol=1e-6
        )


@given(hand.batches(), st.sampled_from(hand.MODES), st.sampled_from([None, 3, 0.5]), st.booleans())
def test_aggregate_by_hand(batch, mode, norm, count):
    values, _, _, mask = batch
    norm = norm or (4 if mode == "constant" else None)
    options = {"mode": mode, "norm": norm, "empty_rows": "count" if count else "exclude"}
    tensor = torch.tensor(values, requires_grad=True)
    result = losses.aggregate(tensor, torch.tensor(mask), **options)
    result.backward()
    exact = {**options, "norm": norm and Fraction(norm)}
    rows = [[Fraction(x) for x in row[m]] for row, m in zip(values, mask, strict=True)]
    assert result.item() == pytest.approx(float(hand.aggregate(rows, **exact)), rel=1e-14, abs=1e-14)
    for i, t in np.ndindex(*mask.shape):  # the weight of a token: its loss 1, all others 0
        unit = np.zeros(mask.shape)
        unit[i, t] = 1
        rows = [[Fraction(x) for x in row[m]] for row, m in zip(unit, mask, strict=True)]
        assert tensor.grad[i, t].item() == pytest.approx(float(hand.aggregate(rows, **exact)), rel=1e-14)


def test_the_four_denominators():
    rows, mask = [[1, 9, 9, 9], [2, 3, 4, 5], [7, 7, 7, 7]], [[1, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0]]
    wanted = {
        ("token_mean", None): (15 / 5, 15 / 5),
        ("token_mean", 10): (15 / 10, 15 / 10),
        ("sequence_mean", None): (4.5 / 2, 4.5 / 3),
        ("sequence_mean", 10): (4.5 / 10, 4.5 / 10),
        ("constant", 4): (15 / (2 * 4), 15 / (3 * 4)),
        ("sum", None): (15, 15),
        ("sum", 8): (15 / 8, 15 / 8),
    }
    for (mode, norm), (excluding, counting) in wanted.items():
        assert losses.aggregate(rows, mask, mode, norm).item() == excluding
        assert losses.aggregate(rows, mask, mode, norm, empty_rows="count").item() == counting


# ---- The ratio


@given(hand.batches(), st.sampled_from(hand.RATIOS), st.sampled_from(hand.MODES))
def test_on_policy_the_clip_does_nothing(batch, ratio, mode):
    """At ratio 1 both variants have one gradient, and None stands for the same log-probabilities."""
    logprobs, _, advantages, mask = batch
    advantages = advantages if advantages.ndim == 1 else advantages[:, 0]
    options = {"ratio": ratio, "aggregation": mode, "norm": 4.0}
    value, wanted = value_and_gradient(logprobs, logprobs, advantages, mask, clip=None, **options)
    for variant in ("ppo", "cispo"):
        for old in (None, logprobs):
            result = value_and_gradient(logprobs, old, advantages, mask, variant=variant, **options)
            assert (result[1] == wanted).all() and (variant == "cispo" or result[0] == value)
    if ratio == "sequence_product" and mode == "sum":  # then the level does not matter to the gradient
        token = value_and_gradient(logprobs, None, advantages, mask, aggregation="sum", norm=4.0)[1]
        np.testing.assert_array_equal(wanted, token)
        np.testing.assert_array_equal(token, -advantages[:, None] * mask / 4)


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16, torch.float16])
def test_the_detached_ratio_is_exactly_one(kind):
    logprobs = -torch.rand(3, 50, generator=torch.Generator().manual_seed(0)).mul(20).to(kind)
    logprobs.requires_grad_()
    for ratio in hand.RATIOS:
        loss = losses.policy_loss(
            logprobs, None, [1.0, 2.0, -4.0], torch.ones(3, 50, dtype=bool), ratio=ratio
        )
        assert loss.dtype == torch.float32 and loss.item() == pytest.approx(1 / 3, rel=1e-6)
        same = losses.policy_loss(
            logprobs, logprobs.detach(), [1.0, 2.0, -4.0], torch.ones(3, 50, dtype=bool), ratio=ratio
        )
        assert loss.equal(same)


def test_a_sequence_counts_once_whatever_its_length():
    """Two rows of different lengths: the loss of the long one is not counted once for each token."""
    logprobs, mask = [[0.1, 0, 0], [0.1, 0, 0]], [[1, 0, 0], [1, 1, 1]]
    for mode in ("token_mean", "sequence_mean"):
        options = {"ratio": "sequence_product", "aggregation": mode}
        value, gradient = value_and_gradient(logprobs, np.zeros((2, 3)), [1.0, -1.0], mask, **options)
        assert value == 0
        half = math.exp(0.1) / 2
        np.testing.assert_allclose(gradient, [[-half, 0, 0], [half, half, half]])


# ---- The clips, one by one: log-ratio, advantage, options, loss, derivative

R = math.exp
UP, DOWN = math.log(2.0), math.log(0.5)
CLIPS = {
    "inside, up": (0.1, 1, {}, -R(0.1), -R(0.1)),
    "inside, down": (0.1, -1, {}, R(0.1), R(0.1)),
    "too high, up": (0.3, 1, {}, -1.2, 0),
    "too high, down: free": (0.3, -1, {}, R(0.3), R(0.3)),
    "too low, up: free": (-0.4, 1, {}, -R(-0.4), -R(-0.4)),
    "too low, down": (-0.4, -1, {}, 0.8, 0),
    "higher clip": (0.25, 1, {"clip": (0.2, 0.3)}, -R(0.25), -R(0.25)),
    "higher clip, too high": (0.3, 1, {"clip": (0.2, 0.3)}, -1.3, 0),
    "no upper bound": (0.3, 1, {"clip": (0.2, None)}, -R(0.3), -R(0.3)),
    "no lower bound": (-0.4, -1, {"clip": (None, 0.2)}, R(-0.4), R(-0.4)),
    "a low lower bound": (-2.0, -1, {"clip": (0.75, 0.2)}, 0.25, 0),
    "a lower bound below 0": (-9.0, -1, {"clip": (1.5, 0.2)}, R(-9), R(-9)),
    "a lower bound at 0": (-9.0, -1, {"clip": (1, 0.2)}, R(-9), R(-9)),
    "no room above": (1e-9, 1, {"clip": (0, 0)}, -1, 0),
    "no clip": (2.0, 1, {"clip": None}, -R(2), -R(2)),
    "at the upper bound": (UP, 1, {"clip": (0.5, 1)}, -2, -2),
    "at the lower bound": (DOWN, -1, {"clip": (0.5, 1)}, 0.5, 0.5),
    "dual, below": (1.0, -1, {"dual_clip": 3}, R(1), R(1)),
    "dual, beyond": (1.2, -2.5, {"dual_clip": 3}, 7.5, 0),
    "dual, too low": (-0.4, -1, {"dual_clip": 3}, 0.8, 0),
    "dual, at 2": (UP, -1, {"dual_clip": 2}, 2, 2),
    "dual, up, ratio 1": (0.0, 1, {"dual_clip": 3}, -1, -1),
    "dual, up, too high": (1.2, 1, {"dual_clip": 3}, -1.2, 0),
    "dual, up, too high, no clip": (1.2, 1, {"dual_clip": 3, "clip": None}, -R(1.2), -R(1.2)),
    "dual, no clip": (1.2, -1, {"dual_clip": 3, "clip": None}, 3, 0),
    "zero": (0.3, 0, {}, 0, 0),
    "cispo, inside": (0.1, 1, {"variant": "cispo"}, -R(0.1) * 0.1, -R(0.1)),
    "cispo, too high": (0.3, 1, {"variant": "cispo"}, -1.2 * 0.3, -1.2),
    "cispo, too high, down": (0.3, -1, {"variant": "cispo"}, 1.2 * 0.3, 1.2),
    "cispo, too low": (-0.4, 1, {"variant": "cispo"}, 0.8 * 0.4, -0.8),
    "cispo, no lower bound": (-0.4, 1, {"variant": "cispo", "clip": (None, 0.2)}, R(-0.4) * 0.4, -R(-0.4)),
    # far out: exponents that overflow
    "50, down": (50.0, -1, {}, R(50), R(50)),
    "700, down": (700.0, -1, {}, R(700), R(700)),
    "1000, down": (1000.0, -1, {}, math.inf, math.inf),
    "1000, down, dual": (1000.0, -1, {"dual_clip": 3}, 3, 0),
    "1000, up": (1000.0, 1, {}, -1.2, 0),
    "1000, zero": (1000.0, 0, {}, 0, 0),
    "1000, zero, no clip": (1000.0, 0, {"clip": None}, 0, 0),
    "1000, cispo": (1000.0, 1, {"variant": "cispo"}, -1200, -1.2),
    "1000, cispo, zero, no clip": (1000.0, 0, {"variant": "cispo", "clip": None}, 0, 0),
    "-1000, up": (-1000.0, 1, {}, 0, 0),
    "-1000, down": (-1000.0, -1, {}, 0.8, 0),
}  # fmt: skip


@pytest.mark.parametrize("name", CLIPS)
@pytest.mark.parametrize("ratio", hand.RATIOS)
def test_clip(name, ratio):
    log_ratio, advantage, options, value, derivative = CLIPS[name]
    assert one_token(log_ratio, advantage, ratio=ratio, **options) == pytest.approx((value, derivative))


@given(hand.batches(), st.sampled_from([1.5, 3.0]))
def test_the_dual_clip_never_touches_a_positive_advantage(batch, most):
    logprobs, old, advantages, mask = batch
    plain = value_and_gradient(logprobs, old, abs(advantages), mask)
    dual = value_and_gradient(logprobs, old, abs(advantages), mask, dual_clip=most)
    assert plain[0] == dual[0] and (plain[1] == dual[1]).all()
    worst = losses.policy_loss(logprobs, old, -abs(advantages), mask, dual_clip=most)
    bound = losses.policy_loss(logprobs, None, -abs(advantages), mask) * most
    assert worst <= bound + 1e-12


# ---- Micro-batches


@given(st.data())
def test_micro_batches_add_up(data):
    logprobs, old, advantages, mask = data.draw(hand.batches())
    options = data.draw(hand.options(advantages))
    full = value_and_gradient(logprobs, old, advantages, mask, **options)
    sequence, mode = options["ratio"] != "token", options["aggregation"]
    rows = len(mask) if options["empty_rows"] == "count" else int(mask.any(1).sum())
    if mode == "constant":
        options |= {"aggregation": "sum", "norm": max(rows, 1) * options["norm"]}
    elif options["norm"] is None and mode == "token_mean":
        options["norm"] = max(int(mask.any(1).sum() if sequence else mask.sum()), 1)
    elif options["norm"] is None and mode == "sequence_mean":
        options["norm"] = max(rows, 1)
    cut = data.draw(st.integers(0, len(mask)))
    parts = [
        value_and_gradient(logprobs[part], old[part], advantages[part], mask[part], **options)
        for part in (slice(cut), slice(cut, None))
    ]
    assert full[0] == pytest.approx(parts[0][0] + parts[1][0], rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(full[1], np.concatenate([parts[0][1], parts[1][1]]), rtol=1e-12, atol=1e-12)


# ---- Importance weights


@given(hand.batches(), st.sampled_from([None, 0.5, 2.0]), st.sampled_from(["truncate", "mask"]))
def test_importance_weights_by_hand(batch, cap, mode):
    logprobs, behaviour, _, mask = batch
    if cap is None and mode == "mask":
        return

    def capped(weight):
        return weight if cap is None or weight <= cap else {"truncate": cap, "mask": 0.0}[mode]

    differences = (logprobs - behaviour).tolist()
    pairs = [list(zip(d, m, strict=True)) for d, m in zip(differences, mask.tolist(), strict=True)]
    tokens = [[capped(math.exp(d)) if m else 0.0 for d, m in row] for row in pairs]
    rows = [capped(math.exp(sum(d for d, m in row if m))) if any(m for _, m in row) else 0.0 for row in pairs]
    arguments = torch.tensor(logprobs, requires_grad=True), behaviour, mask, cap
    for level, wanted in (("token", tokens), ("sequence", rows)):
        weights = losses.importance_weights(*arguments, level=level, mode=mode)
        assert not weights.requires_grad
        np.testing.assert_allclose(weights, wanted, rtol=1e-12)


@pytest.mark.parametrize(
    "level, uncapped, truncated, masked",
    [
        ("token", [[math.inf, 0], [R(600), R(600)]], [[2, 0], [2, 2]], [[0, 0], [0, 0]]),
        ("sequence", [1, math.inf], [1, 2], [1, 0]),
    ],
)
def test_importance_weights_far_out(level, uncapped, truncated, masked):
    far = [[1000.0, -1000.0], [600.0, 600.0]], np.zeros((2, 2)), np.ones((2, 2), bool)
    np.testing.assert_allclose(losses.importance_weights(*far, level=level), uncapped)
    assert losses.importance_weights(*far, cap=2, level=level).tolist() == truncated
    assert losses.importance_weights(*far, cap=2, level=level, mode="mask").tolist() == masked


def test_importance_weights_at_the_edges():
    assert losses.importance_weights([[0.0]], [[0.0]], [[1]], cap=1, mode="mask").tolist() == [[1]]
    for level, wanted in (("token", [[0, 1]]), ("sequence", [0])):  # what cannot occur has weight 0
        weights = losses.importance_weights([[-math.inf, -1.0]], [[-1.0, -1.0]], [[1, 1]], level=level)
        assert weights.tolist() == wanted
