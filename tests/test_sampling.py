"""Sampling against plain reading: log-probabilities, cache, padding, the end token, seeds."""

import math

import numpy as np
import pytest
import torch
from models_by_hand import shaken, with_bias
from torch.nn import functional

from pglab import lm, logprobs, sampling

pytestmark = pytest.mark.filterwarnings("error")

TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12}
TEXTS = ["12+3=", "4", "a:b c", "77*8-(1)=", "00"]


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def model_of(dtype=torch.float64, bias=1.0, **shape):
    """Ends after a few tokens as often as not."""
    return with_bias(
        shaken(2, dtype=dtype, **{"context": 24, **shape}),
        bias,
        *[0.0] * (lm.SmallLM().shape["vocabulary"] - 1),
    )


def prompts(batch, length=5):
    return torch.randint(1, 32, (batch, length), generator=seeded(batch))


def read_alone(model, prompt, row, temperature=1.0):
    """Log-probabilities of one completion, every beginning read anew; up to its end token."""
    result, text = [], [*prompt]
    for token in row:
        logits = model(torch.tensor([text]))[0, -1] / temperature
        result.append(logits.log_softmax(-1)[token].item())
        text.append(token)
        if token == lm.END:
            break
    return result


def check_rows(model, texts, samples, group, temperature=1.0):
    """Every row of samples against reading it alone; returns how many ended."""
    near = TOLERANCE[model.norm.weight.dtype]
    for i, (tokens, logs, mask) in enumerate(zip(*samples[:3], strict=True)):
        wanted = read_alone(model, texts[i // group], tokens.tolist(), temperature)
        n = len(wanted)
        assert mask.tolist() == [True] * n + [False] * (len(tokens) - n)
        np.testing.assert_allclose(logs[:n].tolist(), wanted, rtol=0, atol=near)
        assert (tokens[n:] == lm.END).all() and (logs[n:] == 0).all()
        assert samples.finished[i] == (tokens[n - 1] == lm.END) and (n == len(tokens) or samples.finished[i])
    return int(samples.finished.sum())


# ---- Log-probabilities


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("batch, group", [(1, 1), (1, 5), (3, 1), (3, 4), (64, 2)])
def test_sampled_log_probabilities_are_those_of_the_model(batch, group, dtype, cache):
    model, texts = model_of(dtype), prompts(batch)
    samples = sampling.sample(model, texts, group, 6, generator=seeded(), cache=cache)
    assert samples.tokens.shape == (batch * group, 6) and samples.tokens.dtype == torch.int64
    assert samples.logprobs.dtype == dtype and not samples.logprobs.requires_grad
    if batch == 64:
        rows = samples.finished.float().mean()
        assert 0.2 < rows < 0.8
        texts, samples = texts[:6], sampling.Samples(*(column[:12] for column in samples))
    check_rows(model, texts.tolist(), samples, group)


@pytest.mark.parametrize("temperature", [1.0, 0.6])
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("batch, group", [(1, 3), (3, 4), (64, 2)])
def test_scoring_in_one_go_gives_the_sampled_log_probabilities(batch, group, dtype, temperature):
    model, texts = model_of(dtype), prompts(batch)
    tokens, logs, mask, _ = samples = sampling.sample(model, texts, group, 7, temperature, seeded(1))
    near = {"rtol": 0, "atol": TOLERANCE[dtype]}
    scored = sampling.score(model, texts, tokens, temperature)
    assert scored.requires_grad and scored.shape == logs.shape
    torch.testing.assert_close(scored.detach().where(mask, 0), logs, **near)
    text = torch.cat([texts.repeat_interleave(group, 0), tokens], 1)
    full = logprobs.token_logprobs(model(text) / temperature, text)[:, texts.shape[1] - 1 :]
    torch.testing.assert_close(full.detach().where(mask, 0), logs, **near)
    assert (logprobs.completion_mask(tokens, lm.END) == mask).all()
    assert (samples.finished == (tokens == lm.END).any(1)).all()


@pytest.mark.parametrize(
    "settings", [{}, {"top_k": 5}, {"top_p": 0.9}, {"temperature": 0.5}, {"temperature": 0}]
)
@pytest.mark.parametrize("texts", [TEXTS, prompts(3)], ids=["padded", "tokens"])
def test_the_cache_changes_nothing(texts, settings):
    model = model_of(layers=3, width=12, heads=3)
    with_cache, without = (
        sampling.sample(model, texts, 4, 8, generator=seeded(4), cache=cache, **settings)
        for cache in (True, False)
    )
    assert with_cache.tokens.equal(without.tokens) and with_cache.mask.equal(without.mask)
    torch.testing.assert_close(with_cache.logprobs, without.logprobs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("settings", [{}, {"temperature": 0.3}, {"top_k": 2}, {"temperature": 0}])
@pytest.mark.parametrize("texts", [TEXTS, ["1+1=", "1+1="], prompts(20)], ids=["padded", "twins", "tokens"])
def test_alike_beginnings_are_read_once_and_ended_ones_not_at_all(texts, settings, monkeypatch):
    model, read = model_of(), []
    run = model.run
    monkeypatch.setattr(model, "run", lambda tokens, *rest: read.append(tokens.shape) or run(tokens, *rest))
    drawn = sampling.sample(model, texts, 9, 8, generator=seeded(2), **settings).tokens.view(len(texts), 9, 8)
    assert read.pop(0)[0] == len(texts)
    for step, shape in enumerate(read, 1):
        begun = {(i, *row[:step].tolist()) for i, group in enumerate(drawn) for row in group}
        going = [key for key in begun if lm.END not in key[1:]]
        assert going and shape == (max(len(going), 4), 1)  # a product of fewer rows has other last digits
    assert len(read) == 7 or all(lm.END in row[: len(read) + 1] for row in drawn.flatten(0, 1))


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_padded_prompts_are_as_if_each_were_alone(dtype, cache):
    model = model_of(dtype, heads=4, layers=1)
    samples = sampling.sample(model, TEXTS, 6, 7, 0.8, seeded(), cache=cache)
    texts = [lm.encode(text).tolist() for text in TEXTS]
    assert 0 < check_rows(model, texts, samples, 6, 0.8) < 30
    scored = sampling.score(model, TEXTS, samples.tokens, 0.8)
    near = {"rtol": 0, "atol": TOLERANCE[dtype]}
    torch.testing.assert_close(scored.detach().where(samples.mask, 0), samples.logprobs, **near)
    for i, text in enumerate(TEXTS):
        alone = sampling.score(model, [text], samples.tokens[6 * i : 6 * i + 6], 0.8)
        torch.testing.assert_close(alone, scored[6 * i : 6 * i + 6], **near)


def test_the_gradient_of_a_padded_batch_is_that_of_its_rows():
    model = model_of()
    tokens = sampling.sample(model, TEXTS, 2, 5, generator=seeded()).tokens

    def gradients(parts):
        model.zero_grad()
        for texts, rows in parts:
            logs, mask = sampling.score(model, texts, rows), logprobs.completion_mask(rows, lm.END)
            (logs * mask * torch.arange(1, 6)).sum().backward()
        return [p.grad.clone() for p in model.parameters()]

    together = gradients([(TEXTS, tokens)])
    alone = gradients([([text], tokens[2 * i : 2 * i + 2]) for i, text in enumerate(TEXTS)])
    torch.testing.assert_close(together, alone, rtol=0, atol=1e-11)


# ---- Where a completion ends


def test_behind_the_end_there_is_nothing_even_where_the_end_could_not_be_drawn():
    """Behind the end a truncated policy may have no room for the end token: log-probability -inf, not ours."""
    model = model_of(bias=0.5)
    for settings in ({"top_k": 2}, {"top_p": 0.4}, {"temperature": 0}):
        samples = sampling.sample(model, prompts(40), 4, 8, generator=seeded(), **settings)
        assert samples.finished.any() and not samples.finished.all()
        assert (samples.logprobs[~samples.mask] == 0).all() and samples.logprobs.isfinite().all()


@pytest.mark.parametrize("cache", [True, False])
def test_models_that_never_end_and_that_end_at_once(cache):
    never = sampling.sample(model_of(bias=-1e4), prompts(3), 2, 6, generator=seeded(), cache=cache)
    assert never.mask.all() and not never.finished.any() and (never.tokens != lm.END).all()
    at_once = sampling.sample(model_of(bias=1e4), prompts(3), 2, 6, generator=seeded(), cache=cache)
    assert (at_once.tokens == lm.END).all() and at_once.finished.all() and at_once.texts() == [""] * 6
    assert at_once.mask.tolist() == [[True] + [False] * 5] * 6
    assert at_once.tokens.shape == at_once.logprobs.shape == (6, 6) and (at_once.logprobs == 0).all()


def test_one_new_token_and_a_full_context():
    model = model_of(context=6)
    one = sampling.sample(model, prompts(2, 6), 3, 1, generator=seeded())  # the last token is never read
    assert one.tokens.shape == (6, 1) and one.mask.all()
    check_rows(model, prompts(2, 6).tolist(), one, 3)
    assert one.finished.tolist() == (one.tokens[:, 0] == lm.END).tolist()
    full = sampling.sample(model_of(bias=-1e4, context=6), prompts(2, 3), 2, 4, generator=seeded())
    assert full.mask.all()
    full = sampling.sample(model_of(bias=-1e4, context=6), ["12", "1"], 2, 5, generator=seeded())
    assert full.mask.all()


def test_what_stands_behind_the_end_token_influences_nothing():
    model = model_of()
    tokens, _, mask, _ = sampling.sample(model, TEXTS, 4, 8, generator=seeded())
    junk = tokens.where(mask, torch.randint(0, 32, tokens.shape, generator=seeded(9)))
    assert (junk != tokens).any()
    scored, again = (sampling.score(model, TEXTS, rows)[mask] for rows in (tokens, junk))
    assert scored.equal(again)
    assert sampling.Samples(junk, scored, logprobs.completion_mask(junk, lm.END)).mask.equal(mask)


def test_texts():
    tokens = torch.stack(
        [functional.pad(lm.encode(text), (0, 4 - len(text))) for text in ["1+1", "", "abcd"]]
    )
    samples = sampling.Samples(tokens, tokens.double(), logprobs.completion_mask(tokens, lm.END))
    assert samples.texts() == ["1+1", "", "abcd"] and samples.finished.tolist() == [True, True, False]


# ---- Greedy, and seeds


@pytest.mark.parametrize("settings", [{"temperature": 0}, {"top_k": 1}, {"top_p": 1e-6}])
def test_greedy_is_the_most_likely_token(settings):
    model = model_of()
    samples = sampling.sample(model, TEXTS, 2, 6, generator=seeded(), **settings)
    for text, rows in zip(TEXTS, samples.tokens.view(len(TEXTS), 2, 6), strict=True):
        read, wanted = lm.encode(text).tolist(), []
        while len(wanted) < 6:
            best = model(torch.tensor([read]))[0, -1].argmax().item() if lm.END not in wanted else lm.END
            read, wanted = [*read, best], [*wanted, best]
        assert rows.tolist() == [wanted, wanted]
    torch.testing.assert_close(samples.logprobs, torch.zeros_like(samples.logprobs), rtol=0, atol=1e-15)


@pytest.mark.parametrize("cache", [True, False])
def test_a_seed_gives_the_same_completions_and_another_gives_others(cache):
    draw = [
        sampling.sample(model_of(), prompts(4), 5, 6, generator=seeded(seed), cache=cache).tokens
        for seed in (3, 3, 8)
    ]
    assert draw[0].equal(draw[1]) and not draw[0].equal(draw[2])
    rows = draw[0].view(4, 5, 6)
    assert all(len({tuple(row.tolist()) for row in group}) > 1 for group in rows)  # a group is no copy
    with torch.random.fork_rng():
        torch.manual_seed(5)
        first = sampling.sample(model_of(), prompts(4), 5, 6).tokens
        torch.manual_seed(5)
        assert first.equal(sampling.sample(model_of(), prompts(4), 5, 6).tokens)


@pytest.mark.parametrize("uniform", [0.0, 1 - 2**-24])
@pytest.mark.parametrize("settings", [{"temperature": 0}, {"top_k": 1}, {}])
def test_the_ends_of_the_noise_draw_nothing_impossible(monkeypatch, uniform, settings):
    """Random numbers in [0, 1) can be 0: log(-log 0) is infinite, and once in millions it would be seen."""
    model = model_of(torch.float32, bias=-math.inf)
    monkeypatch.setattr(
        torch, "rand", lambda shape, **options: torch.full(shape, uniform, dtype=torch.float32)
    )
    samples = sampling.sample(model, prompts(3), 2, 4, **settings)
    assert (samples.tokens != lm.END).all() and samples.logprobs.isfinite().all() and samples.mask.all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_in_half_precision_log_probabilities_are_single(dtype):
    model = model_of(torch.float32).to(dtype)
    model.head._forward_hooks.clear()
    samples = sampling.sample(model, TEXTS, 3, 5, 0.9, seeded())
    scored = sampling.score(model, TEXTS, samples.tokens, 0.9)
    assert samples.logprobs.dtype == scored.dtype == torch.float32
    difference = (scored - samples.logprobs)[samples.mask]
    assert difference.abs().max() < 0.2  # the numbers of the model itself have three digits
