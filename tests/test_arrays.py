"""NumPy arrays and torch tensors alike: each keeps its kind, and a mask is never broadcast."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
import torch

from pglab import _arrays

WANTED = "numbers of shape (n,)"


def test_the_module_that_fits():
    assert _arrays.namespace(torch.zeros(2)) is torch
    for value in (np.zeros(2), [1.0], 3.0, "word", None):
        assert _arrays.namespace(value) is np


def test_torch_is_not_imported_for_an_array():
    code = "import sys, pglab._arrays as a; print(a.floating('x', [1], '').dtype, 'torch' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout.split() == ["float64", "False"]


def test_half_precision_becomes_float32():
    assert _arrays.floating("x", np.ones(2, np.float16), WANTED).dtype == np.float32
    for kind in (torch.float16, torch.bfloat16):
        assert _arrays.floating("x", torch.ones(2, dtype=kind), WANTED).dtype == torch.float32


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_floating_arrays_stay_as_they_are(kind):
    array = np.ones(2, kind)
    assert _arrays.floating("x", array, WANTED) is array  # no copy


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_floating_tensors_stay_as_they_are(kind):
    tensor = torch.ones(2, dtype=kind, requires_grad=True)
    assert _arrays.floating("x", tensor, WANTED) is tensor


@pytest.mark.parametrize("value", [[1, 0], (True, False), np.array([1, 0], np.int8), np.array([True, False])])
def test_whole_numbers_become_float64(value):
    array = _arrays.floating("x", value, WANTED)
    assert array.dtype == np.float64 and array.tolist() == [1.0, 0.0]
    tensor = _arrays.floating("x", torch.tensor(value), WANTED)
    assert tensor.dtype == torch.float64 and tensor.tolist() == [1.0, 0.0]


def test_large_integers_do_not_wrap_around():
    # 100 + 100 leaves an int8; as float64 it does not.
    assert _arrays.floating("x", np.array([100, 100], np.int8), WANTED).sum() == 200
    assert _arrays.floating("x", torch.tensor([100, 100], dtype=torch.int8), WANTED).sum() == 200


@pytest.mark.parametrize(
    "value, message",
    [
        (torch.tensor([1j]), "x is a complex tensor; it must be numbers of shape (n,)."),
        ([[1], [1, 2]], "x is a ragged list; it must be numbers of shape (n,)."),
        ([1j], "x is [1j]; it must be numbers of shape (n,)."),
        (["1", "2"], "x is ['1', '2']; it must be numbers of shape (n,)."),
        (None, "x is None; it must be numbers of shape (n,)."),
        ([10**30, 1], f"x is [{10**30}, 1]; it must be numbers of shape (n,)."),
    ],
)
def test_what_is_not_made_of_real_numbers_is_refused(value, message):
    with pytest.raises(ValueError) as caught:
        _arrays.floating("x", value, WANTED)
    assert str(caught.value) == message


def test_a_list_of_tensors_that_require_grad_is_refused_in_words():
    with pytest.raises(ValueError, match=r"x cannot be read by NumPy \(.*grad.*\); it must be numbers"):
        _arrays.floating("x", [torch.ones((), requires_grad=True)] * 2, WANTED)


def test_a_long_value_is_shortened_in_the_message():
    with pytest.raises(ValueError) as caught:
        _arrays.floating("x", ["word"] * 10_000, WANTED)
    assert len(str(caught.value)) < 200


LIKE = {"array": np.array([0.5, 0.5, np.nan]), "tensor": torch.tensor([0.5, 0.5, torch.nan])}
MASKS = [
    [True, False, True],
    (1, 0, 1),
    np.array([1, 0, 1], np.int8),
    np.array([True, False, True]),
    torch.tensor([True, False, True]),
    torch.tensor([1, 0, 1]),
    torch.tensor([1, 0, 1], dtype=torch.uint8),
]


@pytest.mark.parametrize("like", LIKE.values(), ids=LIKE)
@pytest.mark.parametrize("mask", MASKS, ids=repr)
def test_a_mask_becomes_booleans_of_the_same_kind(mask, like):
    result = _arrays.boolean("mask", mask, like)
    assert type(result) is type(like) and result.dtype in (np.bool_, torch.bool)
    assert result.tolist() == [True, False, True]


@pytest.mark.parametrize("like", LIKE.values(), ids=LIKE)
def test_no_mask_means_that_all_count(like):
    result = _arrays.boolean("mask", None, like)
    assert type(result) is type(like) and result.dtype in (np.bool_, torch.bool)
    assert result.tolist() == [True, True, True]


SHAPE = "it must be booleans of shape (3,), True where an entry counts."


@pytest.mark.parametrize("like", LIKE.values(), ids=LIKE)
@pytest.mark.parametrize(
    "mask, message",
    [
        (True, f"mask has shape (); {SHAPE}"),  # NumPy would broadcast these four
        ([True], f"mask has shape (1,); {SHAPE}"),
        ([[True, True, True]], f"mask has shape (1, 3); {SHAPE}"),
        (torch.ones(2, 3, dtype=bool), f"mask has shape (2, 3); {SHAPE}"),
        ([1, 2, 1], f"mask holds something other than 0 and 1; {SHAPE}"),
        ([1.0, 0.0, 1.0], f"mask is of a floating-point type; {SHAPE}"),
        (torch.ones(3), f"mask is of a floating-point type; {SHAPE}"),
        (torch.tensor([1, -1, 0]), f"mask holds something other than 0 and 1; {SHAPE}"),
        ([1, np.nan, 1], f"mask is of a floating-point type; {SHAPE}"),
        (["a", "b", "c"], f"mask is ['a', 'b', 'c']; {SHAPE}"),
        (torch.tensor([1j, 0, 0]), f"mask is a complex tensor; {SHAPE}"),
    ],
)
def test_words_about_masks(mask, message, like):
    with pytest.raises(ValueError) as caught:
        _arrays.boolean("mask", mask, like)
    assert str(caught.value) == message


# ---- One array beside another


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [3, 3.0, np.float64(3), np.array(3.0), [3, 3], (3.0, 3.0), [True, False]])
def test_numbers_and_lists_take_the_precision_of_their_neighbour(value, dtype):
    beside = np.ones(2, dtype)
    result = _arrays.like("x", value, beside, WANTED)
    assert result.dtype == dtype and result.tolist() == np.asarray(value, dtype).tolist()
    tensor = _arrays.like("x", value, torch.tensor(beside), WANTED)
    assert tensor.dtype == torch.tensor(beside).dtype and tensor.tolist() == result.tolist()
    scalar = _arrays.like("x", torch.tensor(3), torch.tensor(beside), WANTED)
    assert scalar.dtype == torch.tensor(beside).dtype and scalar.item() == 3


def test_arrays_beside_arrays_and_tensors_beside_tensors_keep_theirs():
    for theirs, ours in itertools.product([np.float32, np.float64], repeat=2):
        assert _arrays.like("x", np.ones(2, ours), np.ones(2, theirs), WANTED).dtype == ours
    single, double = torch.ones(2, requires_grad=True), torch.ones(2, dtype=torch.float64)
    assert _arrays.like("x", single, double, WANTED) is single
    assert _arrays.like("x", double, single, WANTED) is double
    assert _arrays.like("x", torch.ones(2, dtype=torch.float16), double, WANTED).dtype == torch.float32
    assert _arrays.like("x", np.ones(2, np.float16), np.ones(2), WANTED).dtype == np.float32


@pytest.mark.filterwarnings("error")
def test_an_array_that_torch_cannot_read_itself():
    backwards, readonly = np.arange(3.0)[::-1], np.array([2.0, 1.0, 0.0])
    readonly.flags.writeable = False
    for array in (backwards, readonly, np.array([2.0, 1.0, 0.0])):
        tensor = _arrays.like("x", array, torch.ones(3, dtype=torch.float64), WANTED)
        assert tensor.tolist() == [2, 1, 0]
        tensor[:] = 7
        assert array.tolist() == [2, 1, 0]  # nothing is shared
    assert _arrays.like("x", backwards, torch.ones(3), WANTED).dtype == torch.float32


def test_it_goes_to_the_device_of_its_neighbour():
    beside = torch.ones(2, device="meta")
    for value in (torch.ones(2), np.ones(2), 1.0, torch.tensor(1.0)):
        assert _arrays.like("x", value, beside, WANTED).device == beside.device


@pytest.mark.parametrize("value", [torch.ones(2), torch.tensor(1.0), torch.ones(2, requires_grad=True)])
def test_a_tensor_beside_an_array_is_refused(value):
    with pytest.raises(ValueError) as caught:
        _arrays.like("x", value, np.ones(2), WANTED)
    assert str(caught.value) == f"x is a tensor beside a NumPy array; hand in both as one kind, {WANTED}."


@pytest.mark.parametrize("beside", LIKE.values(), ids=LIKE)
def test_what_is_no_number_is_refused_beside_either(beside):
    for value in (["a"], None, [[1], [1, 2]], [1j]):
        with pytest.raises(ValueError, match=r"^x is .* it must be numbers of shape \(n,\)\.$"):
            _arrays.like("x", value, beside, WANTED)
