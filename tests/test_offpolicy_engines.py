"""Engines in lower precision, and a transformer of which everything is known, drawn from by another one."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from refusals import check

from pglab import lm, offpolicy, oracle, sampling, tasks

PROMPT = [1, 2]


def four(y):
    return float(sum(y) == 4)


@pytest.fixture(scope="module")
def model():
    """A small transformer that has learned something, so that its probabilities differ."""
    torch.manual_seed(0)
    net = oracle.network(1, vocabulary=4, context=6, width=8)
    for weight in net.parameters():
        if weight.ndim == 2:
            weight.data *= 40
    return net


# ---- Rounding


@given(st.lists(st.lists(st.floats(-9, 9, width=32), min_size=3, max_size=3), min_size=1, max_size=4))
def test_int8_by_row(rows):
    layer = torch.nn.Linear(3, len(rows), bias=False)
    layer.weight.data = torch.tensor(rows)
    found = sampling.engine(layer, "int8").weight
    for row, rounded in zip(rows, found.tolist(), strict=True):
        scale = max(abs(x) for x in row) / 127
        for x, y in zip(row, rounded, strict=True):
            assert abs(x - y) <= 0.5001 * scale + 1e-30
            assert abs(x) < 127 * scale or y == pytest.approx(x)  # the largest is one of the whole numbers
            if scale > 1e-30:
                assert abs(y / scale - round(y / scale)) < 1e-3
    assert torch.equal(layer.weight, torch.tensor(rows))  # the model stays as it is


@pytest.mark.parametrize(("precision", "bits"), [("float16", 10), ("bfloat16", 7)])
def test_halves_keep_so_many_bits(precision, bits):
    torch.manual_seed(0)  # a weight below 6e-5, which now and then comes, has fewer bits in float16
    layer = torch.nn.Linear(40, 5, bias=False)
    found = sampling.engine(layer, precision).weight
    assert found.dtype == torch.float32 and not found.requires_grad
    apart = (found - layer.weight).abs() / layer.weight.abs()
    assert 2.0 ** -(bits + 4) < apart.max() <= 2.0 ** -(bits + 1)
    steps = found / 2 ** torch.floor(found.abs().log2()) * 2**bits
    assert torch.equal(steps, steps.round())
    assert sampling.engine(layer, precision, "all").weight.dtype == getattr(torch, precision)


def test_vectors_are_left_alone_by_int8():
    net = lm.SmallLM(8, 8, 8, 1, 2, 0)
    net.norm.weight.data += torch.rand(8)
    found = sampling.engine(net, "int8")
    assert torch.equal(found.norm.weight, net.norm.weight)
    assert not torch.equal(found.embed.weight, net.embed.weight) if hasattr(net, "embed") else True


@pytest.mark.parametrize("precision", sampling.engines.PRECISIONS)
@pytest.mark.parametrize(("name", "task"), [("addition", tasks.Addition()), ("countdown", tasks.Countdown())])
def test_the_small_models_in_low_precision_are_hardly_off(name, task, precision):
    """Measured: the worst token of these, int8 on countdown, is 0.3 nats off; a sequence's weight is near 1."""
    net = lm.load(name)
    asked = task.prompts(64, np.random.default_rng(0))
    found = sampling.mismatch(
        net,
        sampling.engine(net, precision),
        asked,
        4,
        task.answer_length + 1,
        generator=torch.Generator().manual_seed(0),
    )
    assert found.token.abs().mean() < 0.02 and 0 < found.token.abs().max() < 0.5
    assert found.sequence.shape == (256,) and len(found.token) == int(found.mask.sum())
    assert not (found.trained - found.drawn)[~found.mask].any()


def test_the_engine_draws_and_the_model_judges():
    net, other = lm.load("addition"), lm.load("running_sum")
    asked = tasks.Addition().prompts(4, np.random.default_rng(1))
    options = dict(group_size=3, max_new_tokens=5, temperature=1.3, top_p=0.9)
    found = sampling.mismatch(net, other, asked, generator=torch.Generator().manual_seed(1), **options)
    drawn = sampling.sample(other, asked, generator=torch.Generator().manual_seed(1), **options)
    torch.testing.assert_close(found.drawn, drawn.logprobs)
    assert torch.equal(found.mask, drawn.mask)
    wanted = sampling.score(net, asked, drawn.tokens).detach()
    torch.testing.assert_close(found.trained[drawn.mask], wanted[drawn.mask])


def test_a_model_beside_itself_is_not_off_but_for_rounding():
    net = lm.load("addition")
    asked = tasks.Addition().prompts(8, np.random.default_rng(0))
    found = sampling.mismatch(net, net, asked, 4, 6, generator=torch.Generator().manual_seed(0))
    assert found.sequence.abs().max() < 1e-4
    cold = sampling.mismatch(net, net, asked, 4, 6, 0.5, torch.Generator().manual_seed(0))
    assert cold.token.mean() < -0.01  # what is drawn, is drawn more often than at temperature 1


def test_refusals(model):
    check(
        lambda: sampling.engine(model, "int4"), "precision is 'int4'; it must be one of 'float16', 'bfloat16'"
    )
    check(
        lambda: sampling.engine(model, "int8", "all"),
        "way is 'all', for precision 'int8'; it must be 'weights'",
    )
    check(
        lambda: sampling.engine(model, "float16", "some"), "way is 'some'; it must be one of 'weights', 'all'"
    )


# ---- A transformer, by enumeration


def by_hand(model, engine, temperature=1.0):
    """(N,) of mu, pi and rewards, each completion read by itself; and the exact gradient by autograd."""
    rows = []
    for length in (1, 2, 3):
        for y in itertools.product(range(4), repeat=length):
            if 0 in y[:-1] or (length < 3 and y[-1] != 0):
                continue
            text = torch.tensor([[*PROMPT, *y]])
            pi, mu = (m(text).log_softmax(-1)[0, 1:-1] for m in (model, engine))
            mu = (engine(text).double()[0, 1:-1] / temperature).log_softmax(-1)
            rows.append(
                (y, sum(pi[t, a] for t, a in enumerate(y)), sum(mu[t, a] for t, a in enumerate(y)).item())
            )
    return rows


def test_every_completion_with_both_probabilities(model):
    engine = sampling.engine(model, "int8")
    answers = oracle.answers(model, engine, PROMPT, four, 3, temperature=0.8)
    rows = by_hand(model, engine, 0.8)
    assert len(answers.chance) == len(rows) == 1 + 3 + 9 * 4
    assert answers.chance.sum() == pytest.approx(1)
    found = sorted(zip(answers.chance, answers.log_ratio.sum(1), answers.rewards, strict=True))
    wanted = sorted((math.exp(mu), pi.item() - mu, four(y)) for y, pi, mu in rows)
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    objective = sum(pi.exp() * four(y) for y, pi, _ in rows)
    np.testing.assert_allclose(answers.gradient, oracle.gradient_of(objective, model), atol=1e-13)


@pytest.mark.parametrize(("level", "cap"), [("none", None), ("sequence", None), ("sequence", 1.05)])
def test_moments_from_the_squares_of_the_scores(model, level, cap):
    engine = sampling.engine(model, "bfloat16", "all")
    answers = oracle.answers(model, engine, PROMPT, four, 3)
    known = oracle.exact(model, PROMPT, four, 3)
    mu = np.exp(known.logprobs - answers.log_ratio.sum(1))  # the order is that of the enumeration
    np.testing.assert_allclose(answers.chance, mu / mu.sum(), rtol=1e-9)
    w = np.ones(len(mu)) if level == "none" else np.minimum(np.exp(answers.log_ratio.sum(1)), cap or np.inf)
    each = w * (known.rewards - 0.2)
    found = offpolicy.moments(answers, level, cap, baseline=0.2)
    np.testing.assert_allclose(found.mean, known.weighted_score(mu * each), atol=1e-12)
    assert found.variance == pytest.approx(mu @ (each**2 * known.squares) - found.mean @ found.mean)


def test_whole_weights_are_exact_and_the_level_of_tokens_is_not(model):
    for engine, options in ((sampling.engine(model, "int8"), {}), (model, {"temperature": 0.7})):
        answers = oracle.answers(model, engine, PROMPT, four, 3, **options)
        off = {level: np.linalg.norm(offpolicy.moments(answers, level).bias) for level in offpolicy.LEVELS}
        assert off["sequence"] < 1e-12 and off["none"] > 1e-6 and off["token"] > 1e-7
    short = oracle.answers(model, model, PROMPT, four, 3, top_p=0.6)
    assert len(short.chance) < 40 and np.linalg.norm(offpolicy.moments(short).bias) > 1e-3


def test_too_large_a_table_is_refused():
    net = oracle.network(0, vocabulary=8, context=8, width=16)
    check(lambda: oracle.answers(net, net, PROMPT, four, 6), "137,257 completions make a table of")
