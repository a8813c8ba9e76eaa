"""The loss of every algorithm against its paper's formula by hand; its parts; its denominators.

``algorithms_by_hand`` has the formulas; test_algorithms_scores.py says what the gradients mean.
"""

import math

import algorithms_by_hand as hand
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pglab import returns
from pglab.algorithms import ALGORITHMS, Algorithm, named

pytestmark = pytest.mark.filterwarnings("error")

NEAR = {"rtol": 0, "atol": 1e-13}
GROUPED = [name for name in ALGORITHMS if name != "ppo"]


def differentiated(function, logprobs):
    """Value and gradient."""
    logprobs = logprobs.clone().requires_grad_()
    loss = function(logprobs)
    assert loss.shape == () and loss.dtype == torch.float64
    loss.backward()
    return loss.detach(), logprobs.grad


def batch_of(data, algorithm):
    """Advantages of rows, and of tokens where the algorithm can have them."""
    by_token = algorithm.ratio in ("none", "token") and data.draw(st.booleans())
    return data.draw(hand.batches("tokens" if by_token else "rows"))


# ---- Losses


@pytest.mark.parametrize("name", ALGORITHMS)
@given(data=st.data())
def test_the_loss_is_that_of_the_paper(name, data):
    algorithm = ALGORITHMS[name]
    logprobs, old, weights, mask = batch_of(data, algorithm)
    wanted = differentiated(lambda new: hand.loss(name, new, old, weights, mask), logprobs)
    found = differentiated(lambda new: algorithm.loss(new, old, weights, mask), logprobs)
    torch.testing.assert_close(found, wanted, **NEAR)
    first = differentiated(lambda new: algorithm.loss(new, None, weights, mask), logprobs)
    wanted = differentiated(lambda new: hand.loss(name, new, logprobs, weights, mask), logprobs)
    torch.testing.assert_close(first, wanted, **NEAR)
    assert (found[1][~mask] == 0).all() and (first[1][~mask] == 0).all()


def test_a_critic_leaves_the_loss_as_it_is():
    """Advantages of the tokens from GAE: the loss takes them as they come."""
    algorithm = named("ppo", lam=0.5)
    rewards, values = np.array([[0.0, 0.0, 1.0]]), np.array([[0.25, 0.5, 0.75]])
    found = returns.gae(rewards, values, 1.0, algorithm.lam)
    new = torch.tensor([[-1.0, -0.5, -0.25]], dtype=torch.float64)
    gradient = differentiated(lambda x: algorithm.loss(x, None, found, torch.ones(1, 3) == 1), new)[1]
    np.testing.assert_allclose(gradient, -found / 3, rtol=0, atol=1e-15)


@pytest.mark.parametrize("kind", ["k1", "k2", "k3"])
@pytest.mark.parametrize("name", ALGORITHMS)
@given(data=st.data(), beta=st.sampled_from([0.25, 2.0]))
def test_a_kl_in_the_loss_is_added_token_by_token_or_row_by_row(name, kind, data, beta):
    """By the denominator of the loss: a mean over rows of token means, over all tokens, or R times norm."""
    algorithm = named(name, kl=beta, kl_kind=kind)
    logprobs, old, weights, mask = batch_of(data, algorithm)
    ref = logprobs.roll(1, 0) - 0.125

    def wanted(new):
        rows = [
            [hand.divergence(kind, new[i, t], ref[i, t]) for t in row.nonzero()[:, 0]]
            for i, row in enumerate(mask)
        ]
        rows = [row for row in rows if row]
        plain, number = named(name).loss(new, old, weights, mask), len(rows)
        if not rows:
            return plain
        if algorithm.ratio == "sequence_product":  # a row has one ratio, and one KL
            return plain + beta * sum(map(sum, rows)) / number
        if algorithm.aggregation == "sequence_mean":
            return plain + beta * sum(sum(row) / len(row) for row in rows) / number
        norms = {"token_mean": sum(map(len, rows)), "constant": number * (algorithm.norm or mask.shape[1])}
        return plain + beta * sum(map(sum, rows)) / norms[algorithm.aggregation]

    found = differentiated(lambda new: algorithm.loss(new, old, weights, mask, ref), logprobs)
    torch.testing.assert_close(found, differentiated(wanted, logprobs), rtol=1e-13, atol=1e-13)
    assert not algorithm.skips and (found[1][~mask] == 0).all()


@pytest.mark.parametrize("name", ALGORITHMS)
@given(data=st.data())
def test_a_kl_in_the_reward_leaves_the_loss_alone(name, data):
    algorithm = named(name, kl=0.5, kl_where="reward")
    logprobs, old, weights, mask = batch_of(data, algorithm)
    ref = data.draw(st.sampled_from([None, logprobs - 1]))
    found = differentiated(lambda new: algorithm.loss(new, old, weights, mask, ref), logprobs)
    wanted = differentiated(lambda new: named(name).loss(new, old, weights, mask), logprobs)
    torch.testing.assert_close(found, wanted, rtol=0, atol=0)
    assert algorithm.skips == (name != "ppo")


@given(data=st.data(), algorithm=st.one_of(st.sampled_from(list(ALGORITHMS.values())), hand.any_algorithm()))
def test_parts_add_up_to_the_whole(data, algorithm):
    """Rows dealt into parts in any order, each part cut to its own longest completion."""
    logprobs, old, weights, mask = batch_of(data, algorithm)
    ref = logprobs - 0.25
    wanted = differentiated(lambda new: algorithm.loss(new, old, weights, mask, ref), logprobs)
    whole = algorithm.denominator(mask)
    again = differentiated(lambda new: algorithm.loss(new, old, weights, mask, ref, whole), logprobs)
    torch.testing.assert_close(again, wanted, rtol=1e-14, atol=1e-14)
    number = data.draw(st.integers(1, 4))
    dealt = np.random.default_rng(data.draw(st.integers(0, 99))).integers(0, number, len(mask))

    def in_parts(new):
        total = new.sum() * 0
        for part in range(number):
            rows = torch.from_numpy(np.flatnonzero(dealt == part))
            width = max(int(mask[rows].any(0).nonzero().max()) + 1 if mask[rows].any() else 0, 1)
            columns = [column[rows, :width] for column in (new, old, mask, ref)]
            given = weights[rows] if weights.ndim == 1 else weights[rows, :width]
            total = total + algorithm.loss(columns[0], columns[1], given, *columns[2:], whole)
        return total

    torch.testing.assert_close(differentiated(in_parts, logprobs), wanted, rtol=1e-12, atol=1e-12)


@given(data=st.data(), algorithm=st.one_of(st.sampled_from(list(ALGORITHMS.values())), hand.any_algorithm()))
def test_rows_of_advantage_zero_may_be_left_out_where_the_algorithm_says_so(data, algorithm):
    logprobs, old, weights, mask = batch_of(data, algorithm)
    ref, whole = logprobs - 0.25, algorithm.denominator(mask)
    used = weights != 0 if weights.ndim == 1 else (weights != 0).any(1)
    wanted = differentiated(lambda new: algorithm.loss(new, old, weights, mask, ref, whole), logprobs)
    columns = [column[used] for column in (old, weights, mask, ref)]
    found = differentiated(lambda new: algorithm.loss(new[used], *columns, whole), logprobs)
    if algorithm.skips or algorithm.kl == 0:
        torch.testing.assert_close(found[1], wanted[1], rtol=0, atol=1e-14)
    elif mask[~used].any() and algorithm.kl_kind == "k1":  # its slope is 1 everywhere
        assert (found[1] - wanted[1]).abs().max() > 1e-3


def test_a_token_of_advantage_zero_is_moved_by_a_kl_alone():
    zero, mask = torch.tensor([[-0.5]], dtype=torch.float64), torch.tensor([[True]])
    for name in GROUPED:
        plain = differentiated(lambda new, name=name: named(name).loss(new, zero, torch.zeros(1), mask), zero)
        assert plain == (0, 0) and named(name).skips
        pulled = differentiated(
            lambda new, name=name: named(name, kl=0.5).loss(new, zero, torch.zeros(1), mask, zero - 1), zero
        )
        assert pulled[1].item() == pytest.approx(0.5 * (1 - math.exp(-1)), rel=1e-14)


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("shape", [(0, 3), (2, 3), (1, 1)])
def test_a_batch_without_tokens_gives_zero(name, shape):
    nothing = torch.full(shape, math.nan, dtype=torch.float64)
    mask = torch.zeros(shape, dtype=torch.bool)
    for algorithm in (named(name), named(name, kl=1.0)):
        for old in (None, nothing):
            found = differentiated(
                lambda new, a=algorithm, old=old: a.loss(new, old, nothing[:, 0], mask, nothing), nothing
            )
            assert found[0] == 0 and (found[1] == 0).all()
        assert algorithm.denominator(mask)[1] > 0


# ---- Denominators


def test_denominators_by_hand():
    """Rows of 1, 4 and 0 tokens, four allowed: N = 5, R = 2."""
    mask = torch.tensor([[1, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0]]) == 1
    for aggregation, norm, ratio, wanted in [
        ("token_mean", None, "token", ("token_mean", 5)),
        ("token_mean", 7, "token", ("token_mean", 7)),
        ("token_mean", None, "none", ("token_mean", 5)),
        ("token_mean", None, "sequence_mean", ("token_mean", 2)),
        ("token_mean", None, "sequence_product", ("token_mean", 2)),
        ("sequence_mean", None, "token", ("sequence_mean", 2)),
        ("sequence_mean", None, "sequence_mean", ("sequence_mean", 2)),
        ("sequence_mean", 7, "token", ("sequence_mean", 7)),
        ("constant", None, "token", ("sum", 8)),
        ("constant", 10, "token", ("sum", 20)),
        ("constant", 0.5, "sequence_mean", ("sum", 1)),
        ("sum", None, "token", ("sum", 1)),
        ("sum", 3, "token", ("sum", 3)),
    ]:
        algorithm = Algorithm("mine", "here", aggregation=aggregation, norm=norm, ratio=ratio, clip=None)
        assert algorithm.denominator(mask) == wanted, (aggregation, norm, ratio)
    empty = torch.zeros(2, 4, dtype=torch.bool)
    for name, wanted in {"grpo": 1, "dapo": 1, "rloo": 1, "dr_grpo": 4, "reinforce": 1}.items():
        assert named(name).denominator(empty)[1] == wanted


def test_with_a_sequence_ratio_and_a_mean_over_tokens_the_kl_is_a_mean_over_rows():
    mask = torch.tensor([[True, True, True], [True, False, False]])
    logprobs = torch.tensor([[-1.0, -2.0, -1.5], [-0.5, 9.0, 9.0]], dtype=torch.float64)
    d = torch.tensor([[0.1, -0.2, 0.4], [0.8, 5.0, 5.0]], dtype=torch.float64)
    for ratio, rows in (("sequence_mean", [0.1, 0.8]), ("sequence_product", [0.3, 0.8])):
        one = named("gspo", ratio=ratio, aggregation="token_mean", kl=2.0, kl_kind="k1")
        found = one.loss(logprobs, None, torch.zeros(2), mask, logprobs - d)
        assert float(found) == pytest.approx(2.0 * sum(rows) / 2, abs=1e-12)


def test_without_a_ratio_every_batch_is_taken_as_fresh():
    """Whatever sampled: the gradient is that of A log pi, tokens may have advantages of their own, and a KL too."""
    mask = torch.tensor([[True, True, True], [True, False, False]])
    logprobs = torch.tensor([[-1.0, -2.0, -1.5], [-0.5, 9.0, 9.0]], dtype=torch.float64)
    weights = torch.tensor([[1.0, -2.0, 0.5], [3.0, 9.0, 9.0]], dtype=torch.float64)
    algorithm = named("vanilla", aggregation="token_mean", kl=2.0, kl_kind="k1")
    for old in (None, logprobs, logprobs - 3):
        found = differentiated(
            lambda new, old=old: algorithm.loss(new, old, weights, mask, logprobs - 1), logprobs
        )
        torch.testing.assert_close(found[1], (2.0 - weights).where(mask, 0.0) / 4, rtol=0, atol=1e-15)


def test_another_aggregation_does_not_inherit_a_norm():
    assert named("reinforce").norm == 1 and named("reinforce", aggregation="sequence_mean").norm is None
    assert named("reinforce", aggregation="sum", norm=4).norm == 4
