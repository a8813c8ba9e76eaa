"""Log-probabilities against the formula by hand; the shift; where a completion ends; bad input."""

import inspect
import math

import numpy as np
import pytest
import refusals
import torch
from hypothesis import given
from hypothesis import strategies as st

from pglab import bandit, logprobs

pytestmark = pytest.mark.filterwarnings("error")


def by_hand(row, token):
    """log softmax in plain floats; the row holds no number that overflows."""
    return row[token] - math.log(math.fsum(math.exp(x) for x in row))


@st.composite
def batches(draw):
    """(logits, tokens) with up to two leading axes."""
    shape, size = tuple(draw(st.lists(st.integers(1, 4), max_size=2))), draw(st.integers(1, 5))
    n = math.prod(shape)
    logits = draw(st.lists(st.floats(-20, 20), min_size=n * size, max_size=n * size))
    tokens = draw(st.lists(st.integers(0, size - 1), min_size=n, max_size=n))
    return np.reshape(logits, (*shape, size)), np.reshape(tokens, shape).astype(int)


# ---- Values and gradients


@given(batches())
def test_gather_by_hand(batch):
    logits, tokens = batch
    rows = zip(logits.reshape(-1, logits.shape[-1]).tolist(), tokens.ravel().tolist(), strict=True)
    wanted = np.reshape([by_hand(row, token) for row, token in rows], tokens.shape)
    for kind in (np.asarray, torch.tensor, np.ndarray.tolist):
        np.testing.assert_allclose(logprobs.gather(kind(logits), kind(tokens)), wanted, atol=1e-12)
    single = logprobs.gather(torch.tensor(logits, dtype=torch.float32), torch.tensor(tokens))
    assert single.dtype == torch.float32
    np.testing.assert_allclose(single, wanted, atol=1e-5)


def test_the_gradient_is_the_score():
    logits = torch.tensor([0.4, -0.2, 1.1, 0.0], dtype=torch.float64, requires_grad=True)
    for token, score in enumerate(bandit.score_matrix([0.4, -0.2, 1.1, 0.0])):
        (gradient,) = torch.autograd.grad(logprobs.gather(logits, token), logits)
        np.testing.assert_allclose(gradient, score, atol=1e-15)


@given(batches())
def test_the_shift_is_made_once(batch):
    logits, tokens = batch
    if tokens.ndim == 0:
        return
    result = logprobs.token_logprobs(logits, tokens)
    assert result.shape == (*tokens.shape[:-1], tokens.shape[-1] - 1)
    for place in np.ndindex(result.shape):
        *row, t = place
        wanted = by_hand(logits[(*row, t)].tolist(), tokens[(*row, t + 1)])
        assert float(result[place]) == pytest.approx(wanted, abs=1e-12)


def test_the_future_stays_out():
    """Neither the logits after the last token nor the first token take part."""
    logits, tokens = torch.randn(2, 4, 3, generator=torch.Generator().manual_seed(0)), [[0, 1, 2, 0]] * 2
    other = logits.clone()
    other[:, -1] = torch.nan
    assert logprobs.token_logprobs(other, [[2, 1, 2, 0]] * 2).equal(logprobs.token_logprobs(logits, tokens))


def test_extreme_logits():
    logits = torch.tensor([[1e4, 9999.0, 0.0], [-1e30, 0.0, -torch.inf]], requires_grad=True)
    result = logprobs.gather(logits, [1, 1])
    result.sum().backward()
    np.testing.assert_allclose(result.tolist(), [-math.log1p(math.e), 0.0], rtol=1e-6)
    assert torch.isfinite(logits.grad).all()
    assert logprobs.gather(logits, [2, 2]).tolist() == [-10000.3134765625, -math.inf]
    assert logprobs.gather([[0.0, 0.0, -np.inf]], [2]).tolist() == [-math.inf]
    wide = torch.zeros(1, 200_000, dtype=torch.float64)
    wide[0, -1] = 5.0  # more tokens than 16 bits count
    wanted = 5 - math.log(199_999 + math.exp(5))
    assert logprobs.gather(wide, [199_999]).item() == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_half_precision_is_computed_in_float32(kind):
    logits = torch.tensor([[2.0, 0.5, -1.25, 3.0]], dtype=kind, requires_grad=True)
    result = logprobs.gather(logits, torch.tensor([2]))
    assert result.dtype == torch.float32 and result.equal(logprobs.gather(logits.float(), [2]))
    assert result.to(kind).float() != result  # in half precision the number would be another
    result.sum().backward()
    assert logits.grad.dtype == kind


# ---- Where a completion ends


def mask_by_hand(tokens, end):
    return [end not in tokens[:t] for t in range(len(tokens))]


@given(st.lists(st.lists(st.integers(0, 2), min_size=5, max_size=5), min_size=1, max_size=3))
def test_completion_mask_by_hand(rows):
    wanted = [mask_by_hand(row, 2) for row in rows]
    mask = logprobs.completion_mask(torch.tensor(rows), 2)
    assert mask.dtype == torch.bool and mask.tolist() == wanted
    assert logprobs.completion_mask(rows, end_token=2).tolist() == wanted
    assert logprobs.completion_mask(np.array(rows, np.uint8), np.int64(2))[0].tolist() == wanted[0]


def test_the_ends_of_completions():
    assert logprobs.completion_mask([[2, 2, 2], [1, 0, 1]], 2).tolist() == [[True, False, False], [True] * 3]
    assert logprobs.completion_mask(torch.zeros(2, 0, dtype=torch.long), 2).shape == (2, 0)
    one = [True, True, False]  # and whatever axes stand before the last
    assert logprobs.completion_mask([5, 2, 9], 2).tolist() == one
    assert logprobs.completion_mask([[[5, 2, 9]], [[5, 2, 9]]], 2).tolist() == [[one], [one]]


# ---- Kinds of arrays, bad input


def test_what_comes_in_comes_out():
    for kind in (torch.float64, torch.float32):
        assert logprobs.gather(torch.zeros(2, 3, dtype=kind), [0, 1]).dtype == kind
    for whole in ([[0, 0, 0], [1, 2, 3]], torch.tensor([[0, 0, 0], [1, 2, 3]])):
        assert logprobs.gather(whole, [0, 1]).dtype == torch.float64
    frozen = np.zeros((2, 3))
    frozen.flags.writeable = False
    assert logprobs.gather(frozen, np.array([0, 1], np.uint16)).shape == (2,)
    logits, tokens = torch.randn(2, 4, 3), torch.tensor([[0, 1, 2, 0], [2, 2, 1, 0]])
    wanted = logprobs.token_logprobs(logits, tokens)
    with torch.device("meta"):  # whatever is made without a device is now made elsewhere
        assert logprobs.token_logprobs(logits, tokens).equal(wanted)
        assert logprobs.token_logprobs(logits, tokens.tolist()).equal(wanted)


LOGITS = np.zeros((2, 4, 3))
TOKENS = np.zeros((2, 4), int)
REFUSED = {
    "one row of logits too many": (
        lambda: logprobs.gather(np.zeros((5, 3)), [0, 1, 2, 0]),
        "tokens has shape (4,); it must be (5,), one token for each row of the logits (5, 3).",
    ),
    "one column, to be broadcast": (
        lambda: logprobs.gather(LOGITS, np.zeros((2, 1), int)),
        "tokens has shape (2, 1); it must be (2, 4)",
    ),
    "a token too large": (
        lambda: logprobs.gather(LOGITS, TOKENS + 3),
        "tokens holds 3; it must be whole numbers from 0 to 2, under padding too.",
    ),
    "a small type of integer": (
        lambda: logprobs.gather(np.zeros((1, 300)), torch.tensor([-1], dtype=torch.int8)),
        "tokens holds -1; it must be whole numbers from 0 to 299",
    ),
    "padding of -100": (
        lambda: logprobs.token_logprobs(LOGITS, [[0, 1, 2, 0], [0, 1, 2, -100]]),
        "tokens holds -100; it must be whole numbers from 0 to 2",
    ),
    "floats": (lambda: logprobs.gather(LOGITS, TOKENS * 1.0), "tokens is of type torch.float64; it must be"),
    "a mask": (lambda: logprobs.gather(LOGITS, TOKENS > 0), "tokens is of type torch.bool; it must be whole"),
    "words": (lambda: logprobs.gather(LOGITS, ["a"]), "tokens is ['a']; it must be whole numbers"),
    "complex logits": (lambda: logprobs.gather([1j], 0), "logits is [1j]; it must be logits of shape (..., V)"),
    "no vocabulary": (lambda: logprobs.gather(np.zeros((2, 0)), [0, 0]), "logits has shape (2, 0); it must be"),
    "one number": (lambda: logprobs.gather(1.0, 0), "logits has shape (); it must be logits of shape (..., V)"),
    "logits longer than the tokens": (
        lambda: logprobs.token_logprobs(LOGITS, TOKENS[:, 1:]),
        "logits has shape (2, 4, 3); it must be (B, L, V) with (B, L) = (2, 3), the shape of tokens.",
    ),
    "no position": (
        lambda: logprobs.token_logprobs(LOGITS[:, :0], TOKENS[:, :0]),
        "tokens has shape (2, 0); it must be (B, L), L at least 1.",
    ),
    "one token": (lambda: logprobs.token_logprobs([0.0, 1.0], 1), "tokens has shape (); it must be (B, L)"),
    "no completion": (lambda: logprobs.completion_mask(3, 2), "tokens has shape (); it must be completions"),
    "a mask for completions": (lambda: logprobs.completion_mask([True], 1), "tokens is of type torch.bool"),
    "a fraction as end token": (
        lambda: logprobs.completion_mask([1], 0.5),
        "end_token is 0.5; it must be a whole number.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused(name):
    refusals.check(*REFUSED[name])


def test_every_public_function_is_tested():
    public = [
        n for n, f in inspect.getmembers(logprobs, inspect.isfunction) if f.__module__ == "pglab.logprobs"
    ]
    assert {n for n in public if n[0] != "_"} == {"gather", "token_logprobs", "completion_mask"}
