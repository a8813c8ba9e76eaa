"""How often each completion is drawn: all of them counted, against exact probabilities by plain loops."""

import math

import numpy as np
import pytest
import torch
from models_by_hand import every_completion, shaken
from test_oracle import SETTINGS, altered

from pglab import oracle, sampling

pytestmark = pytest.mark.filterwarnings("error")

DRAWS = 40_000


def counted(samples):
    rows = [tuple(tokens[mask].tolist()) for tokens, mask in zip(*samples[::2], strict=True)]
    return {row: rows.count(row) for row in set(rows)}


def exact_odds(model, prompt, steps, settings):
    """The probability of every completion; each beginning is read on its own."""
    known = {}

    def after(text):
        if text not in known:
            known[text] = altered(model(torch.tensor([text]))[0, -1].detach(), *settings)
        return known[text]

    return {
        y: math.prod(after((*prompt, *y[:t]))[token] for t, token in enumerate(y))
        for y in every_completion(model.shape["vocabulary"], steps, 0)
    }


def check(counts, odds, draws):
    """No impossible completion, none off by more than 4.5 standard errors, and chi-square as it should be."""
    assert sum(counts.values()) == draws
    assert {y for y, p in odds.items() if p == 0}.isdisjoint(counts)
    possible = {y: p for y, p in odds.items() if p > 0}
    assert sum(possible.values()) == pytest.approx(1) and set(counts) <= set(possible)
    for y, p in possible.items():
        assert abs(counts.get(y, 0) - draws * p) <= 4.5 * math.sqrt(draws * p * (1 - p)) + 1e-3
    often = {y: p for y, p in possible.items() if draws * p >= 5}
    chi_square = sum((counts.get(y, 0) - draws * p) ** 2 / (draws * p) for y, p in often.items())
    freedom = len(often) - 1
    assert chi_square <= freedom + 4 * math.sqrt(2 * freedom)
    return len(often)


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize(
    "settings", [(1.0, None, None), (0.7, None, None), (0.7, 3, None), (0.7, None, 0.8), (0.7, 3, 0.8)]
)
def test_every_completion_is_drawn_as_often_as_it_should(settings, cache):
    model, prompt = shaken(3, vocabulary=4, layers=1, dtype=torch.float32, scale=12), [2, 1]
    temperature, top_k, top_p = settings
    generator = torch.Generator().manual_seed(11)
    draws = DRAWS if cache else DRAWS // 4
    samples = sampling.sample(
        model, torch.tensor([prompt]), draws, 3, temperature, generator, top_k=top_k, top_p=top_p, cache=cache
    )
    odds = exact_odds(model, prompt, 3, settings)
    assert check(counted(samples), odds, draws) >= 8
    ended = sum(p for y, p in odds.items() if 0 in y)
    assert 0.1 < ended < 0.95  # both kinds are among them
    assert samples.finished.float().mean().item() == pytest.approx(ended, abs=4 / math.sqrt(4 * draws))


def test_prompts_of_different_lengths_each_have_their_own_odds():
    model = shaken(3, vocabulary=4, layers=2, dtype=torch.float32, scale=12)
    generator = torch.Generator().manual_seed(3)
    samples = sampling.sample(model, ["0", "1201"], DRAWS // 2, 2, 0.8, generator)
    for i, prompt in enumerate(([1], [2, 3, 1, 2])):
        part = sampling.Samples(*(column[i * DRAWS // 2 : (i + 1) * DRAWS // 2] for column in samples))
        assert check(counted(part), exact_odds(model, prompt, 2, (0.8, None, None)), DRAWS // 2) > 8


@pytest.mark.parametrize("settings", [(1.0, None, None), (0.7, 3, 0.8)])
def test_the_oracle_says_the_same(settings):
    model, prompt = shaken(3, vocabulary=4, layers=1, scale=12), [2, 1]
    exact = oracle.exact(model, prompt, len, 3)
    odds = exact_odds(model, prompt, 3, settings)
    rows = [tuple(tokens[mask].tolist()) for tokens, mask in zip(exact.tokens, exact.mask, strict=True)]
    np.testing.assert_allclose(exact.sampled_with(*settings), [odds[y] for y in rows], rtol=0, atol=1e-12)
    temperature, top_k, top_p = settings
    generator = torch.Generator().manual_seed(1)
    samples = sampling.sample(
        model, torch.tensor([prompt]), 200, 3, temperature, generator, top_k=top_k, top_p=top_p
    )
    for tokens, logs, mask in zip(*samples[:3], strict=True):
        assert logs.sum().exp().item() == pytest.approx(odds[tuple(tokens[mask].tolist())], rel=1e-10)


# ---- One row of logits


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_sampling_logits_by_hand(settings, dtype):
    logits = torch.randn(5, 3, 7, generator=torch.Generator().manual_seed(0), dtype=dtype) * 2
    result = sampling.sampling_logits(logits, *settings)
    assert result.shape == logits.shape and result.dtype == dtype
    wanted = [[altered(row, *settings) for row in rows] for rows in logits]
    np.testing.assert_allclose(result.softmax(-1), wanted, rtol=0, atol=1e-6)


def left(logits, *settings):
    return sampling.sampling_logits(torch.tensor(logits), *settings).isfinite().nonzero()[:, 0].tolist()


def test_what_is_left_at_the_edges():
    quarters = [math.log(x) for x in (0.25, 0.5, 0.125, 0.125)]
    assert left(quarters, 1.0, None, 0.5) == [1]  # exactly enough is enough
    assert left(quarters, 1.0, None, 0.51) == [0, 1]
    assert left(quarters, 1.0, None, 0.8) == [0, 1, 2]  # of equals the first
    assert left(quarters, 1.0, None, 1.0) == left(quarters, 1.0, 4) == left(quarters, 1.0, 99) == [0, 1, 2, 3]
    assert left(quarters, 1.0, 3) == [0, 1, 2, 3]  # equals of the third stay
    assert left(quarters, 1.0, 2, 0.7) == [0, 1]  # 1/2 and 1/4 of 3/4: two thirds are not enough
    assert left(quarters, 1.0, 2, 0.6) == [1]
    assert left(quarters, 0.0) == left([1.0, 5.0, 5.0], 0.0) == [1]
    assert left([0.0, -100.0], 1.0, None, 1.0) == [0, 1]  # 1.0 takes nothing away, however unlikely
    flat = [0.0] * 10
    assert left(flat, 1.0, None, 0.25) == [0, 1, 2] and left(flat, 2.0) == list(range(10))
