"""What lies under a mask: junk of any kind, empty rows, empty batches. Not a bit may change."""

import losses_by_hand as hand
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pglab import losses

pytestmark = pytest.mark.filterwarnings("error")


def value_and_gradient(function, values, *arguments, **options):
    values = torch.tensor(values, requires_grad=True)
    result = function(values, *arguments, **options)
    result.backward()
    return result.item(), values.grad.numpy()


def same_bits(first, second):
    (value, gradient), (other, other_gradient) = first, second
    return value == other and gradient.tobytes() == other_gradient.tobytes()


# ---- Junk


@given(st.data())
def test_junk_under_the_mask_changes_not_a_bit_of_the_loss(data):
    logprobs, old, advantages, mask = data.draw(hand.batches())
    options = data.draw(hand.options(advantages))
    clean = value_and_gradient(losses.policy_loss, logprobs, old, advantages, mask, **options)
    junk = [data.draw(hand.JUNK) for _ in range(3)]
    arrays = [hand.with_junk(a, mask, j) for a, j in zip((logprobs, old, advantages), junk, strict=True)]
    dirty = value_and_gradient(losses.policy_loss, *arrays, mask, **options)
    assert same_bits(dirty, clean)
    assert np.isfinite(dirty[0]) and np.isfinite(dirty[1]).all() and (dirty[1][~mask] == 0).all()
    if options["variant"] == "ppo":  # the detached log-probabilities stand for the same junk
        on_policy = value_and_gradient(losses.policy_loss, logprobs, None, advantages, mask, **options)
        dirty = value_and_gradient(losses.policy_loss, arrays[0], None, arrays[2], mask, **options)
        assert same_bits(dirty, on_policy)


@given(hand.batches(), hand.JUNK, st.sampled_from(hand.MODES))
def test_junk_under_the_mask_changes_not_a_bit_of_a_sum(batch, junk, mode):
    values, _, _, mask = batch
    clean = value_and_gradient(losses.aggregate, values, mask, mode, 4)
    dirty = value_and_gradient(losses.aggregate, hand.with_junk(values, mask, junk), mask, mode, 4)
    assert same_bits(dirty, clean) and (dirty[1][~mask] == 0).all()


@given(hand.batches(), hand.JUNK, hand.JUNK, st.sampled_from(["token", "sequence"]))
def test_junk_under_the_mask_changes_not_a_bit_of_a_weight(batch, junk, other, level):
    new, old, _, mask = batch
    dirty = hand.with_junk(new, mask, junk), hand.with_junk(old, mask, other)
    weights = losses.importance_weights(*dirty, mask, level=level)
    assert weights.equal(losses.importance_weights(new, old, mask, level=level))
    assert (weights[~torch.tensor(mask if level == "token" else mask.any(1))] == 0).all()


# ---- Empty rows and empty batches


@given(st.data())
def test_a_row_without_tokens_contributes_nothing(data):
    logprobs, old, advantages, mask = data.draw(hand.batches())
    options = data.draw(hand.options(advantages)) | {"empty_rows": "exclude"}
    plain = value_and_gradient(losses.policy_loss, logprobs, old, advantages, mask, **options)
    longer = [np.concatenate([a, a[:1]]) for a in (logprobs, old, advantages)]
    emptied = np.concatenate([mask, np.zeros_like(mask[:1])])
    value, gradient = value_and_gradient(losses.policy_loss, *longer, emptied, **options)
    assert value == pytest.approx(plain[0], rel=1e-14) and (gradient[-1] == 0).all()
    np.testing.assert_allclose(gradient[:-1], plain[1], rtol=1e-14)
    if options["aggregation"] == "sequence_mean" and not options["norm"] and mask.any(1).all():
        counted = value_and_gradient(
            losses.policy_loss, *longer, emptied, **(options | {"empty_rows": "count"})
        )
        n = len(mask)
        assert counted[0] == pytest.approx(plain[0] * n / (n + 1), rel=1e-14)


@given(st.data())
def test_padding_more_columns_changes_nothing(data):
    """Among them a divisor: no mode may count the width of the batch."""
    logprobs, old, advantages, mask = data.draw(hand.batches())
    options = data.draw(hand.options(advantages))
    plain = value_and_gradient(losses.policy_loss, logprobs, old, advantages, mask, **options)

    def wider(array):
        return np.pad(array, ((0, 0), (0, 3))) if array.ndim == 2 else array

    arrays = map(wider, (logprobs, old, advantages, mask))
    value, gradient = value_and_gradient(losses.policy_loss, *arrays, **options)
    assert value == pytest.approx(plain[0], rel=1e-14, abs=1e-14)
    np.testing.assert_allclose(gradient, wider(plain[1]), rtol=1e-14)


@pytest.mark.parametrize("empty_rows", ["exclude", "count"])
@pytest.mark.parametrize("mode", hand.MODES)
@pytest.mark.parametrize("shape", [(2, 3), (1, 1), (0, 3)])
def test_a_batch_without_tokens_gives_zero(shape, mode, empty_rows):
    nothing, mask = np.full(shape, np.nan), np.zeros(shape, bool)
    norm = 4 if mode == "constant" else None
    for ratio in hand.RATIOS:
        for variant in ("ppo", "cispo"):
            for old in (None, nothing):
                value, gradient = value_and_gradient(
                    losses.policy_loss, nothing, old, nothing[:, 0], mask, ratio=ratio, variant=variant,
                    aggregation=mode, norm=norm, empty_rows=empty_rows,
                )  # fmt: skip
                assert value == 0 and (gradient == 0).all()
    value, gradient = value_and_gradient(losses.aggregate, nothing, mask, mode, norm, empty_rows)
    assert value == 0 and (gradient == 0).all()


def test_weights_of_rows_without_tokens_are_zero():
    mask = [[0, 0], [1, 0]]
    far = [[np.nan, np.inf], [-1.0, np.nan]], [[-np.inf, np.nan], [-1.0, np.nan]]
    assert losses.importance_weights(*far, mask, cap=3).tolist() == [[0, 0], [1, 0]]
    assert losses.importance_weights(*far, mask, cap=3, level="sequence").tolist() == [0, 1]
    assert losses.importance_weights(np.zeros((0, 2)), np.zeros((0, 2)), np.zeros((0, 2), bool)).shape == (
        0,
        2,
    )


# ---- Numbers that are not finite and do count


BAD = {
    "logprobs, NaN": (0, np.nan, "logprobs[1, 0] is nan, where the mask is True; it must be finite."),
    "logprobs, -inf": (
        0,
        -np.inf,
        "logprobs[1, 0] is -inf, where the mask is True; it must be finite. The token",
    ),
    "old, NaN": (1, np.nan, "old_logprobs[1, 0] is nan, where the mask is True; it must be finite."),
    "old, -inf": (
        1,
        -np.inf,
        "old_logprobs[1, 0] is -inf, where the mask is True; it must be finite. The token",
    ),
    "advantages, NaN": (2, np.nan, "advantages[1, 0] is nan, where the mask is True; it must be finite."),
    "advantages, inf": (2, np.inf, "advantages[1, 0] is inf, where the mask is True; it must be finite."),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("ratio", hand.RATIOS)
def test_what_is_not_finite_and_counts_is_refused(name, ratio):
    which, bad, message = BAD[name]
    for columns in (1, 2):
        arrays = [np.zeros((2, 2)) for _ in range(3)]
        arrays[which][1, :columns] = bad
        with pytest.raises(ValueError) as caught:
            losses.policy_loss(*arrays, [[1, 1], [1, columns - 1]], ratio=ratio)
        assert str(caught.value).startswith(message) and str(caught.value).endswith("."), caught.value
    if which == 2:
        with pytest.raises(ValueError, match=r"advantages\[1, 0\] is"):
            losses.policy_loss(*arrays[:2], [0.0, bad], np.ones((2, 2), bool), ratio=ratio)


def test_weights_and_sums_refuse_nan():
    zero, one = np.zeros((1, 2)), np.ones((1, 2), bool)
    for first, second, message in (
        ([[0, np.nan]], zero, r"^logprobs\[0, 1\] is nan, where the mask is True; it must be finite\.$"),
        ([[0, np.inf]], zero, r"^logprobs\[0, 1\] is inf"),
        (zero, [[0, np.nan]], r"^behaviour_logprobs\[0, 1\] is nan"),
        (zero, [[0, -np.inf]], r"^behaviour_logprobs\[0, 1\] is -inf, .*sampled there has probability 0\.$"),
    ):
        for level in ("token", "sequence"):
            with pytest.raises(ValueError, match=message):
                losses.importance_weights(first, second, one, level=level)
    with pytest.raises(ValueError, match="^token_losses holds NaN where the mask is True"):
        losses.aggregate([[0, np.nan]], one)
    assert losses.aggregate([[0, np.inf]], one).item() == np.inf  # a loss that overflowed is a number
