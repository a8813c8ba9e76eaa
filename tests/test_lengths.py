"""Length bias: the mean gradient against every group written down, against sampling, and the story it tells."""

import itertools
import math
from functools import partial

import numpy as np
import pytest
import refusals
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pglab import advantages, losses
from pglab.mdp import lengths

LOGITS = np.array([-0.4, 0.9])
WEIGHTS = {
    "none": advantages.constant,
    "dr_grpo": advantages.dr_grpo,
    "leave_one_out": advantages.leave_one_out,
    "grpo": advantages.grpo,
}
START = [math.log(0.3 / 0.7)] * 2


def chance(z, n, shortest, longest):
    """Of one length: go on, go on, ..., stop."""
    stop = 1 / (1 + math.exp(-z))
    return (1 - stop) ** (n - shortest) * (stop if n < longest else 1)


def score(z, n, shortest, longest):
    """Token by token: a token that went on has the score -s, the one that stopped 1 - s."""
    stop = 1 / (1 + math.exp(-z))
    return sum((1 - stop) if t == n else -stop for t in range(shortest, min(n, longest - 1) + 1))


def divided(rewards, weights, taken, longest, denominator):
    """(2,) what one batch of groups gives the two logits, divided by ``losses.aggregate``; rewards (P, G)."""
    width, flat = longest, [n for group in taken for n in group]
    mask = torch.arange(width) < torch.tensor(flat)[:, None]
    norm = longest if denominator == "constant" else None
    each = torch.tensor(weights.ravel())[:, None].expand(mask.shape).clone().requires_grad_()
    losses.aggregate(each, mask, denominator, norm).backward()
    return each.grad[:, 0].numpy().reshape(rewards.shape)  # one token's share of the update, by answer


def by_enumeration(logits, q, size, weight, denominator, shortest, longest, prompts=1):
    """Every kind and every length of every answer of the batch."""
    answers, total = prompts * size, np.zeros(2)
    options = [(kind, n) for kind in (0, 1) for n in range(shortest, longest + 1)]
    for batch in itertools.product(options, repeat=answers):
        odds = math.prod((1 - q if k else q) * chance(logits[k], n, shortest, longest) for k, n in batch)
        rewards = np.array([1.0 - k for k, _ in batch]).reshape(prompts, size)
        taken = np.array([n for _, n in batch]).reshape(prompts, size)
        share = divided(rewards, weight(rewards), taken, longest, denominator).ravel()
        a = weight(rewards).ravel()
        for (k, n), part, advantage in zip(batch, share, a, strict=True):
            total[k] += odds * part * advantage * score(logits[k], n, shortest, longest)
    return total


@given(st.floats(-5, 5), st.integers(1, 4), st.integers(1, 6))
def test_lengths_and_their_scores(z, shortest, more):
    longest = shortest + more
    all_lengths = range(shortest, longest + 1)
    p, s = (f(z, shortest, longest) for f in (lengths.distribution, lengths.scores))
    np.testing.assert_allclose(p, [chance(z, n, shortest, longest) for n in all_lengths], rtol=1e-11)
    np.testing.assert_allclose(s, [score(z, n, shortest, longest) for n in all_lengths], atol=1e-12)
    assert p.sum() == pytest.approx(1) and p @ s == pytest.approx(0, abs=1e-13)
    assert lengths.mean_length(z, shortest, longest) == pytest.approx(p @ list(all_lengths))
    h = 1e-5
    up, down = (np.log(lengths.distribution(z + d, shortest, longest)) for d in (h, -h))
    np.testing.assert_allclose(s, (up - down) / (2 * h), rtol=1e-6, atol=1e-8)


def test_many_logits_at_once_and_far_ones():
    z = np.array([[0.0, 1.0, -2.0], [800.0, -800.0, 3.0]])
    p, mean = lengths.distribution(z), lengths.mean_length(z)
    assert p.shape == (2, 3, 5) and mean.shape == (2, 3) and isinstance(lengths.mean_length(0.0), float)
    assert mean[1, 0] == 2 and mean[1, 1] == 6 and np.isfinite(lengths.scores(z)).all()
    np.testing.assert_allclose(p[0, 1], lengths.distribution(1.0), rtol=1e-15)


@pytest.mark.parametrize("denominator", lengths.DENOMINATORS)
@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize(("size", "shortest", "longest"), [(2, 1, 4), (3, 2, 4)])
def test_the_mean_gradient_counts_every_group(denominator, name, size, shortest, longest):
    for q in (0.3, 1.0):
        problem = (LOGITS, q, size, WEIGHTS[name], denominator, shortest, longest)
        np.testing.assert_allclose(lengths.expected_gradient(*problem), by_enumeration(*problem), atol=1e-13)


@pytest.mark.parametrize("denominator", lengths.DENOMINATORS)
@pytest.mark.parametrize("name", ["none", "grpo"])
def test_a_batch_of_two_prompts_counts_every_batch(denominator, name):
    problem = (LOGITS, 0.3, 2, WEIGHTS[name], denominator, 1, 3, 2)
    np.testing.assert_allclose(lengths.expected_gradient(*problem), by_enumeration(*problem), atol=1e-13)


def test_a_group_of_one():
    problem = (LOGITS, 0.3, 1, advantages.constant, "token_mean", 2, 5)
    np.testing.assert_allclose(lengths.expected_gradient(*problem), by_enumeration(*problem), atol=1e-14)


@pytest.mark.parametrize("denominator", lengths.DENOMINATORS)
@pytest.mark.parametrize("prompts", [1, 3])
def test_sampled_groups_agree(denominator, prompts):
    rng, n, size, q = np.random.default_rng(0), 100_000, 8, 0.4
    right = rng.random((n, prompts, size)) < q
    uniform = rng.random(right.shape)
    z = np.where(right, LOGITS[0], LOGITS[1])
    stop = 1 / (1 + np.exp(-z))
    on = np.floor(np.log(uniform) / np.log(1 - stop)).astype(int)  # tokens beyond the shortest, uncut
    taken = 2 + np.minimum(on, 4)
    scored = (taken < 6) * (1 - stop) - (taken - 2) * stop
    divisor = {
        "sequence_mean": prompts * size * taken,
        "token_mean": taken.sum((1, 2), keepdims=True),
        "constant": prompts * size * 6,
        "sum": 1,
    }[denominator]
    each = advantages.grpo(right) * scored / divisor
    estimates = np.stack([(each * right).sum((1, 2)), (each * ~right).sum((1, 2))], axis=1)  # (n, 2)
    error = estimates.std(axis=0) / math.sqrt(n)
    exact = lengths.expected_gradient(LOGITS, q, size, advantages.grpo, denominator, prompts=prompts)
    assert (abs(estimates.mean(axis=0) - exact) < 4 * error).all()


# ---- The story


def test_a_constant_leaves_the_length_alone_and_one_over_length_does_not():
    climb = partial(lengths.climb, 0.5, 8, advantages.dr_grpo)
    gradient = partial(lengths.expected_gradient, START, 0.5, 8, advantages.dr_grpo)
    for denominator in ("constant", "sum"):
        assert np.linalg.norm(gradient(denominator)) < 1e-15
        np.testing.assert_allclose(climb(denominator).lengths, 3.7731, rtol=0, atol=1e-12)
    path = climb("sequence_mean").lengths
    assert [f"{x:.2f}" for x in path[0]] == ["3.77", "3.77"]
    assert [f"{x:.2f}" for x in path[-1]] == ["2.00", "5.99"]
    assert (np.diff(path[:, 0]) < 0).all() and (np.diff(path[:, 1]) > 0).all()
    np.testing.assert_allclose(gradient("sequence_mean"), [0.018493, -0.018493], atol=5e-7)


def test_for_which_rates_the_two_digits_hold():
    def ends(weight, rate):
        last = lengths.climb(0.5, 8, weight, "sequence_mean", rate=rate).lengths[-1]
        return [f"{x:.2f}" for x in last]

    for weight, low, high in ((advantages.dr_grpo, 28, 73), (advantages.grpo, 15, 37)):
        assert ends(weight, low) == ends(weight, high) == ["2.00", "5.99"]
        assert ["2.00", "5.99"] not in (ends(weight, low - 1), ends(weight, high + 1))


def test_the_token_mean_leans_the_same_way_and_less_the_larger_the_batch():
    pull = [
        lengths.expected_gradient(START, 0.5, 8, advantages.dr_grpo, "token_mean", prompts=n)
        for n in (1, 2, 4, 8, 16)
    ]
    assert all(right > 0 > wrong for right, wrong in pull)
    ratios = np.diff(np.log2([right for right, _ in pull]))
    np.testing.assert_allclose(ratios, -1, atol=0.03)  # halved with every doubling
    sequence = lengths.expected_gradient(START, 0.5, 8, advantages.dr_grpo, "sequence_mean")
    assert 8 < sequence[0] / pull[0][0] < 9


@settings(max_examples=20, deadline=None)
@given(
    st.sampled_from(lengths.DENOMINATORS), st.sampled_from(list(WEIGHTS)), st.floats(0, 1), st.integers(2, 6),
    st.floats(0.05, 0.95),
)  # fmt: skip
def test_a_climb_is_its_steps(denominator, name, q, size, stop):
    path = lengths.climb(q, size, WEIGHTS[name], denominator, steps=5, rate=3.0, stop=stop, longest=9)
    z = np.full(2, math.log(stop / (1 - stop)))
    for logits, mean in zip(path.logits, path.lengths, strict=True):
        np.testing.assert_allclose(logits, z, atol=1e-12)
        np.testing.assert_allclose(mean, [lengths.mean_length(x, longest=9) for x in z], atol=1e-12)
        z = z + 3.0 * lengths.expected_gradient(z, q, size, WEIGHTS[name], denominator, longest=9)
    assert len(path.logits) == 6


def gradient(logits=START, q=0.5, size=4, weight=advantages.dr_grpo, denominator="sum", **more):
    return lambda: lengths.expected_gradient(logits, q, size, weight, denominator, **more)


BAD = [
    (gradient([0.0]), "logits is [0.0]; it must be finite numbers, shape (2,)"),
    (gradient([0.0, np.inf]), "logits is [0.0, inf]"),
    (gradient(q=1.2), "chance_right is 1.2"),
    (gradient(q=-0.2), "chance_right is -0.2; it must be one finite number from 0 to 1"),
    (gradient("z"), "logits is 'z'; it must be finite numbers, shape (2,)"),
    (partial(lengths.distribution, "z"), "logits is 'z'; it must be finite numbers."),
    (gradient(longest="far"), "longest is 'far'; it must be a whole number."),
    (gradient(weight=lambda r: "w"), "weight(rewards) is 'w'; it must be finite numbers of shape (5, 4)."),
    (
        gradient(weight=lambda r: 0.1 * r + 1.5e-9 * (np.arange(4) > 0)),
        "weight gives equal rewards of one group",
    ),
    (gradient(size=0), "size is 0"),
    (gradient(prompts=0), "prompts is 0"),
    (gradient(size=1, weight=advantages.grpo), "rewards has shape (2, 1)"),
    (gradient(weight=3), "weight is 3; it must be a function"),
    (gradient(weight=lambda r: r[:, :1]), "weight(rewards) has shape (5, 1)"),
    (gradient(weight=lambda r: r * np.nan), "weight(rewards) has shape (5, 4), or NaN"),
    (gradient(weight=lambda r: r * np.arange(4)), "weight gives equal rewards of one group different"),
    (gradient(denominator="rows"), "denominator is 'rows'; it must be one of 'token_mean'"),
    (gradient(size=400, denominator="token_mean"), "a batch of 400 answers of up to 6 tokens is too large"),
    (gradient(shortest=0), "shortest is 0"),
    (gradient(shortest=6), "longest is 6, shortest 6; longest must"),
    (partial(lengths.distribution, [[0.0, np.nan]]), "logits is [[0.0, nan]]"),
    (partial(lengths.climb, 0.5, 4, advantages.grpo, "sum", steps=-1), "steps is -1"),
    (partial(lengths.climb, 0.5, 4, advantages.grpo, "sum", rate=np.nan), "rate is nan"),
    (partial(lengths.climb, 0.5, 4, advantages.grpo, "sum", stop=1), "stop is 1.0; it must lie strictly"),
    (partial(lengths.climb, 0.5, 4, advantages.grpo, "sum", stop=0), "stop is 0.0; it must lie strictly"),
    (
        partial(lengths.climb, 0.5, 4, advantages.grpo, "sum", stop=-0.5),
        "stop is -0.5; it must be one finite number",
    ),
    (
        partial(lengths.climb, 0.5, 4, advantages.grpo, "sum", stop=1.5),
        "stop is 1.5; it must be one finite number",
    ),
    (
        partial(lengths.climb, 0.5, 4, advantages.grpo, "sum", stop="x"),
        "stop is 'x'; it must be one finite number",
    ),
    (
        partial(lengths.climb, 0.5, 4, advantages.grpo, "sum", steps=-1),
        "steps is -1; it must be a whole number, at",
    ),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_input_is_refused(call, message):
    refusals.check(call, message)


def test_no_step_and_one_number():
    path = lengths.climb(0.5, 2, advantages.dr_grpo, "sum", steps=0)
    assert path.logits.shape == path.lengths.shape == (1, 2)
    assert type(lengths.mean_length(0.3)) is float and lengths.mean_length([0.3, 0.4]).shape == (2,)


def test_what_rounding_does_to_large_weights_is_no_look_at_the_places():
    shaky = gradient(weight=lambda r: 1e6 * r + 1e-5 * np.arange(4))
    np.testing.assert_allclose(shaky(), gradient(weight=lambda r: 1e6 * r)(), rtol=1e-9, atol=1e-4)


def test_two_thousand_tokens_are_the_most():
    assert np.isfinite(gradient(size=10, longest=200, denominator="token_mean")()).all()
    refusals.check(
        gradient(size=10, longest=201, denominator="token_mean"), "a batch of 10 answers of up to 201"
    )
