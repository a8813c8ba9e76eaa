"""``on_batch`` with numbers of one's own: what is taken, and that all else ends in one clear sentence."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import check

from pglab.algorithms import ALGORITHMS, LIBRARIES, Batch, named, on_batch, shared_batch

pytestmark = pytest.mark.filterwarnings("error")

BATCH = shared_batch()
EVERY = [*ALGORITHMS, *LIBRARIES]


def same(found, wanted, **near):
    for ours, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(ours, theirs.to(ours), **(near or {"rtol": 0, "atol": 0}))


# ---- What is taken


@pytest.mark.parametrize("name", EVERY)
def test_arrays_and_lists_are_taken_as_tensors_are(name):
    wanted = on_batch(name, BATCH)
    arrays = Batch(*(column.numpy() for column in BATCH))
    same(on_batch(name, arrays), wanted)
    assert on_batch(name, arrays).gradient.dtype == torch.float32
    backwards = Batch(*(column[::-1].copy()[::-1] for column in arrays))  # a view with a negative stride
    same(on_batch(name, backwards), wanted)
    same(on_batch(name, Batch(*(c if c is BATCH.logprobs else c.tolist() for c in BATCH))), wanted)
    lists = on_batch(name, Batch(*(column.tolist() for column in BATCH)))
    assert lists.gradient.dtype == torch.float64
    same(lists, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["vanilla", "grpo", "ppo", "dapo", "TRL RLOO"])
def test_a_verdict_is_a_reward(name):
    right = BATCH.rewards > 0.5
    wanted = on_batch(name, BATCH._replace(rewards=right.float()))
    for verdicts in (right, right.int(), right.numpy(), right.tolist(), right.int().tolist()):
        found = on_batch(name, BATCH._replace(rewards=verdicts))
        same(found, wanted)
        assert {part.dtype for part in found} == {torch.float32}


@pytest.mark.parametrize("name", EVERY)
def test_what_is_not_needed_may_be_left_out(name):
    algorithm = ALGORITHMS[name] if name in ALGORITHMS else LIBRARIES[name].algorithm
    spare = {"ref_logprobs": None} if not algorithm.kl else {}
    spare |= {"values": None} if algorithm.weight != "critic" else {}
    same(on_batch(name, BATCH._replace(**spare)), on_batch(name, BATCH))
    on_policy = on_batch(name, BATCH._replace(old_logprobs=BATCH.logprobs))
    same(on_batch(name, BATCH._replace(old_logprobs=None)), on_policy)


def test_a_mask_of_zeros_and_ones_and_a_policy_with_gradients():
    wanted = on_batch("grpo", BATCH)
    for mask in (BATCH.mask.int(), BATCH.mask.numpy().astype(int), BATCH.mask.int().tolist()):
        same(on_batch("grpo", BATCH._replace(mask=mask)), wanted)
    logprobs = BATCH.logprobs.clone().requires_grad_()
    found = on_batch(
        "grpo", BATCH._replace(logprobs=logprobs, rewards=BATCH.rewards.clone().requires_grad_())
    )
    same(found, wanted)
    assert logprobs.grad is None and not any(part.requires_grad for part in found)


def test_what_stands_where_there_is_no_token_is_not_read():
    spoiled = {
        name: torch.where(BATCH.mask, getattr(BATCH, name), value)
        for name, value in (("logprobs", math.nan), ("old_logprobs", 5.0), ("ref_logprobs", -math.inf))
    }
    for name in ("grpo", "ppo", "TRL RLOO", "NeMo-RL", "gspo"):
        same(on_batch(name, BATCH._replace(**spoiled)), on_batch(name, BATCH))


def test_rounding_above_0_is_no_error():
    near = BATCH._replace(logprobs=torch.where(BATCH.mask, 5e-6, 0.0), old_logprobs=None)
    assert on_batch("grpo", near).gradient.isfinite().all()


def test_a_library_is_an_algorithm():
    for name, library in LIBRARIES.items():
        for given_as in (name, library):
            same(on_batch(given_as, BATCH), on_batch(library.algorithm, BATCH))


# ---- What is refused

FLAT, ROWS = BATCH.rewards.reshape(-1), torch.zeros(16, 8)
SHAPE = "it must be numbers of shape (P, G), a row for each prompt, P G = 16, the rows of logprobs."
LIKE = "it must be numbers of shape (16, 8), as logprobs."
MASK = "it must be booleans of shape (16, 8), True"
LOG = "where the mask is True; it must be the logarithm of a probability, finite and at most 0."


def with_one(column, value):
    changed = getattr(BATCH, column).clone()
    changed[2, 1] = value
    return {column: changed}


REFUSED = {
    "one reward a row": ({"rewards": FLAT}, f"rewards has shape (16,); {SHAPE}"),
    "a prompt too few": ({"rewards": BATCH.rewards[:3]}, f"rewards has shape (3, 4); {SHAPE}"),
    "an axis too many": ({"rewards": BATCH.rewards[None]}, f"rewards has shape (1, 4, 4); {SHAPE}"),
    "no rewards": ({"rewards": None}, f"rewards is None; {SHAPE}"),
    "a reward of None": ({"rewards": [[None, 1.0]] * 8}, "rewards is [[None, 1.0], [None, 1.0],"),
    "rewards in words": ({"rewards": "good"}, f"rewards is 'good'; {SHAPE}"),
    "an infinite reward": (with_one("rewards", math.inf), "rewards holds infinity; it must be finite numbers of"),
    "no policy": ({"logprobs": None}, "logprobs is None; it must be log-probabilities of shape (N, T)"),
    "one policy row": ({"logprobs": ROWS[0]}, "logprobs has shape (8,); it must be log-probabilities of shape"),
    "no tokens": ({"logprobs": ROWS[:, :0]}, "logprobs has shape (16, 0); it must be log-probabilities of"),
    "complex": ({"logprobs": ROWS + 0j}, "logprobs is a complex tensor; it must be log-probabilities"),
    "a positive policy": (with_one("logprobs", 0.25), f"logprobs[2, 1] is 0.25, {LOG}"),
    "a policy a little above 0": (with_one("logprobs", 1e-4), f"logprobs[2, 1] is 0.0001, {LOG}"),
    "a policy of NaN": (with_one("logprobs", math.nan), f"logprobs[2, 1] is nan, {LOG}"),
    "an impossible token": (with_one("old_logprobs", -math.inf), f"old_logprobs[2, 1] is -inf, {LOG}"),
    "a positive old policy": (with_one("old_logprobs", 2), f"old_logprobs[2, 1] is 2, {LOG}"),
    "a positive reference": (with_one("ref_logprobs", 2), f"ref_logprobs[2, 1] is 2, {LOG}"),
    "an impossible reference": (with_one("ref_logprobs", -math.inf), f"ref_logprobs[2, 1] is -inf, {LOG}"),
    "a narrow old policy": ({"old_logprobs": ROWS[:, :4]}, f"old_logprobs has shape (16, 4); {LIKE}"),
    "a flat reference": ({"ref_logprobs": FLAT}, f"ref_logprobs has shape (16,); {LIKE}"),
    "flat values": ({"values": FLAT}, f"values has shape (16,); {LIKE}"),
    "values in words": ({"values": "high"}, f"values is 'high'; {LIKE}"),
    "two precisions": ({"old_logprobs": BATCH.old_logprobs.double()}, "old_logprobs is of type torch.float64, "),
    "no mask": ({"mask": None}, f"mask is None; {MASK}"),
    "weights for a mask": ({"mask": BATCH.mask.float()}, f"mask is of a floating-point type; {MASK}"),
    "lengths for a mask": ({"mask": BATCH.mask.sum(1)}, f"mask has shape (16,); {MASK}"),
    "a mask of twos": ({"mask": 2 * BATCH.mask.int()}, f"mask holds something other than 0 and 1; {MASK}"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_other_numbers_are_refused(name):
    changes, message = REFUSED[name]
    for algorithm in ("grpo", "ppo", "NeMo-RL", "TRL RLOO"):
        check(lambda algorithm=algorithm: on_batch(algorithm, BATCH._replace(**changes)), message)


def test_what_is_needed_must_be_there():
    words = "is None; it must be numbers of shape (16, 8)"
    for name in ("ppo", "verl"):
        check(
            lambda n=name: on_batch(n, BATCH._replace(values=None)), f"values {words}: {name} has a critic."
        )
    check(
        lambda: on_batch("TRL RLOO", BATCH._replace(ref_logprobs=None)),
        f"ref_logprobs {words}: TRL RLOO has a KL of 0.05 in its reward.",
    )
    check(
        lambda: on_batch("NeMo-RL", BATCH._replace(ref_logprobs=None)),
        f"ref_logprobs {words}: NeMo-RL has a KL of 0.01 in its loss.",
    )


COLUMNS = st.sampled_from(Batch._fields)
ODD = st.sampled_from([
    None, 3, -1.5, "x", b"x", [], [[]], [1, [2]], {}, object(), np.nan, np.zeros((16, 8)), np.zeros((8, 16)),
    np.array([[None]]), ROWS, ROWS.half(), ROWS.double(), ROWS.int(), ROWS + 0j, ROWS[0], ROWS[:0], ROWS[None],
    ROWS - math.inf, ROWS * math.nan, ROWS + 1e38, [[1] * 4] * 4, [[True] * 2] * 8, "logprobs",
])  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(EVERY), st.dictionaries(COLUMNS, ODD, min_size=1, max_size=2))
def test_whatever_comes_in_a_finite_outcome_comes_out_or_one_sentence(name, changes):
    try:
        found = on_batch(name, BATCH._replace(**changes))
    except ValueError as error:
        assert str(error).endswith(".") and len(str(error)) < 600
        return
    assert all(part.isfinite().all() for part in found)


# ---- What overflows


def test_a_ratio_that_overflows_is_said():
    far = BATCH._replace(old_logprobs=torch.where(BATCH.mask, BATCH.logprobs - 200, 0.0))
    check(
        lambda: on_batch("grpo", far),
        "grpo gives a loss of inf; it must be finite. The largest log-ratio of a token is 200, the largest reward "
        "1, the largest advantage 1.4997, and float32 ends at 3.4e+38: exp(log-ratio) overflows where no clip",
    )
    check(lambda: on_batch("TRL RLOO", far), "TRL RLOO gives a loss of inf; it must be finite. The largest log-ratio of a "
          "completion is 1200, ")  # fmt: skip
    for name in ("cispo", "verl", "vanilla"):  # clip, dual clip, no ratio
        assert on_batch(name, far).gradient.isfinite().all()


def test_rewards_that_overflow_are_said():
    dear = BATCH._replace(rewards=BATCH.rewards * 1e38)
    says = "the largest reward 1e+38, the largest advantage"
    for name, what in (
        ("vanilla", "a loss of -inf"),
        ("batch_mean", "a loss of -inf"),
        ("ppo", "an advantage of "),
    ):
        with pytest.raises(
            ValueError, match=f"^{name} gives {what}.* must be finite.*{says.replace('+', '.')}"
        ):
            on_batch(name, dear)
    torch.testing.assert_close(
        on_batch("grpo", dear).gradient, on_batch("grpo", BATCH).gradient, rtol=2e-3, atol=0
    )
    wide = Batch(*(c if c.dtype == torch.bool else c.double() for c in dear))
    assert on_batch("vanilla", wide).loss.isfinite()


def test_a_kl_that_overflows_is_said():
    far = BATCH._replace(ref_logprobs=torch.where(BATCH.mask, BATCH.logprobs - 1e20, 0.0))
    with pytest.raises(ValueError, match="^NeMo-RL gives a loss of inf; .* So can its KL.$"):
        on_batch("NeMo-RL", far)


def test_a_gradient_that_overflows_under_a_finite_loss_is_said():
    """The loss is divided by a tiny number at the end, its gradient at the beginning."""
    tiny = named("reinforce", aggregation="sum", norm=1e-39)
    one = Batch([[1e-4]], torch.tensor([[-1.0]]), None, None, [[True]], None)
    assert tiny.loss(one.logprobs, None, [1e-4], torch.tensor([[True]])).isfinite()
    check(lambda: on_batch(tiny, one), "reinforce gives a gradient of -inf; it must be finite. The largest")
