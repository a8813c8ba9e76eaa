"""Every estimator on random batches: order, padding, what stands under the mask, rows, units, kinds of arrays."""

import inspect

import numpy as np
import pytest
import torch
from estimators_sampled import EXACT_HERE, ROOMS, SAMPLED, batches, columns, each_row, with_junk
from hypothesis import assume, given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.filterwarnings("error")
JUNK = st.sampled_from([np.nan, np.inf, -np.inf, 1e300, -5.0])
FEW = settings(max_examples=20)
every = pytest.mark.parametrize("name", SAMPLED)


def found(name, batch):
    return np.asarray(SAMPLED[name].call(batch))


def close(value, wanted):
    np.testing.assert_allclose(value, wanted, rtol=1e-11, atol=1e-13)


def public(module):
    """The functions that a room offers under its own name."""
    own = inspect.getmembers(module, lambda f: inspect.isfunction(f) and f.__module__ == module.__name__)
    return {f"{module.__name__.removeprefix('pglab.')}.{name}" for name, _ in own if name[0] != "_"}


def test_every_public_estimator_has_an_entry():
    offered = set().union(*map(public, ROOMS)) - set(EXACT_HERE)
    assert {name.split()[0] for name in SAMPLED} == offered


@pytest.mark.parametrize("field", ["shift", "scale", "order"])
def test_a_property_is_left_out_only_with_a_reason(field):
    for name, entry in SAMPLED.items():
        value = getattr(entry, field)
        assert not isinstance(value, str) or len(value.split()) > 2 or value in ("follows", "ignores"), name


@every
@FEW
@given(st.data())
def test_what_the_mask_leaves_out_changes_not_a_bit(name, data):
    batch = data.draw(batches(name))
    result = found(name, batch)
    assert np.array_equal(found(name, with_junk(batch, data.draw(JUNK))), result)
    if SAMPLED[name].gives == "entries":
        assert (result[~batch["mask"]] == 0).all()
    assert np.isfinite(result).all() and result.dtype == np.float64


@every
@FEW
@given(st.data())
def test_what_the_mask_leaves_out_might_as_well_not_be_there(name, data):
    batch, entry = data.draw(batches(name, rows=1)), SAMPLED[name]
    kept = batch["mask"][0]
    assume(kept.sum() >= entry.least)
    result = found(name, batch)
    close(
        found(name, columns(batch, lambda x: x[:, kept])),
        result[:, kept] if entry.gives == "entries" else result,
    )


@every
@FEW
@given(st.data(), st.integers(1, 3), JUNK)
def test_padding_changes_nothing(name, data, more, junk):
    batch = data.draw(batches(name))
    width = batch["mask"].shape[1]
    wider = columns(batch, lambda x: np.pad(x, ((0, 0), (0, more))))
    result = found(name, with_junk(wider, junk))
    close(result[:, :width] if SAMPLED[name].gives == "entries" else result, found(name, batch))


@every
@FEW
@given(st.data())
def test_tensors_give_what_arrays_give(name, data):
    batch = data.draw(batches(name))
    tensors = {field: torch.tensor(x) for field, x in batch.items()}
    close(found(name, tensors), found(name, batch))


@every
@FEW
@given(st.data())
def test_the_order_of_a_row(name, data):
    entry = SAMPLED[name]
    if entry.order not in ("follows", "ignores"):
        assert "order" in entry.order
        return
    batch = data.draw(batches(name))
    order = data.draw(st.permutations(range(batch["mask"].shape[1])))
    result = found(name, batch)
    close(
        found(name, columns(batch, lambda x: x[:, order])),
        result[:, order] if entry.order == "follows" and entry.gives == "entries" else result,
    )


@every
@FEW
@given(st.data())
def test_the_order_of_rows(name, data):
    batch = data.draw(batches(name))
    order = data.draw(st.permutations(range(len(batch["mask"]))))
    result = found(name, batch)
    close(
        found(name, each_row(batch, lambda x: x[order])),
        result if SAMPLED[name].gives == "number" else result[order],
    )


@every
@FEW
@given(st.data())
def test_the_shape_of_the_batch_changes_not_a_bit(name, data):
    """A row alone, and under one more leading axis, has the very result that it has in its batch."""
    batch, entry = data.draw(batches(name)), SAMPLED[name]
    result = found(name, batch)
    if entry.rows == "apart":
        for i in range(len(result)):
            assert np.array_equal(found(name, each_row(batch, lambda x: x[i : i + 1]))[0], result[i])  # noqa: B023
    if not name.startswith("losses"):  # those take (B, T) alone
        assert np.array_equal(found(name, each_row(batch, lambda x: x[None]))[0], result)


@every
@FEW
@given(st.data(), st.integers(-8, 8))
def test_a_shift(name, data, eighths):
    entry = SAMPLED[name]
    if isinstance(entry.shift, str):
        return
    batch, c = data.draw(batches(name)), eighths / 8
    change, after = entry.shift
    close(found(name, change(batch, c)), after(found(name, batch), c, batch))


@every
@FEW
@given(st.data(), st.sampled_from([0.25, 0.5, 2.0, 8.0]))
def test_another_unit(name, data, k):
    """Powers of two, so that nothing rounds."""
    entry = SAMPLED[name]
    if isinstance(entry.scale, str):
        return
    names, degree = entry.scale
    batch = data.draw(batches(name))
    scaled = batch | {field: batch[field] * k for field in names}
    assert np.array_equal(found(name, scaled), found(name, batch) * k**degree)
