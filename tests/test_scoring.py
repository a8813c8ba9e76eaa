"""Reading completions behind shared prompts: each row against reading its own text alone; entropies."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from models_by_hand import every_completion, flat_gradient, log_probability, shaken, with_bias
from refusals import check
from test_oracle import altered

from pglab import lm, oracle, sampling

pytestmark = pytest.mark.filterwarnings("error")

MODEL = shaken(2, context=16, width=12, layers=3, heads=3)
TEXTS = ["12+3=", "4", "a:b c", "77*8-(1)=", "00"]
TOKENS = torch.randint(1, 32, (5, 4), generator=torch.Generator().manual_seed(0))
PROMPTS = {"padded": TEXTS, "tokens": TOKENS, "one length": ["1+1=", "2+9=", "07:1"]}
NEAR = {"rtol": 0, "atol": 1e-12}


def as_lists(prompts):
    """The tokens of each prompt, without padding."""
    return prompts.tolist() if isinstance(prompts, torch.Tensor) else [lm.encode(p).tolist() for p in prompts]


def drawn(rows, steps, seed=1):
    return torch.randint(0, 32, (rows, steps), generator=torch.Generator().manual_seed(seed))


def hidden_alone(prompt, row):
    """(T, width): the whole text through the model, nothing beside it."""
    text = torch.tensor([[*prompt, *row]])
    return MODEL.hidden(text)[0, len(prompt) - 1 : len(prompt) + len(row) - 1]


owners_of = st.integers(1, 5).flatmap(
    lambda batch: st.tuples(st.just(batch), st.lists(st.integers(0, batch - 1), min_size=1, max_size=6))
)


# ---- Owners


@pytest.mark.parametrize("kind", ["padded", "tokens"])
@given(owners_of, st.sampled_from([1, 2, 5]))
def test_states_are_those_of_each_text_alone(kind, drawn_owners, steps):
    """Owners in any order, repeated, prompts without rows, one prompt, completions of one token."""
    batch, owners = drawn_owners
    prompts, rows = PROMPTS[kind][:batch], drawn(len(owners), steps)
    found = sampling.states(MODEL, prompts, rows, owners)
    texts = as_lists(prompts)
    wanted = [hidden_alone(texts[i], row) for i, row in zip(owners, rows.tolist(), strict=True)]
    torch.testing.assert_close(found, torch.stack(wanted), **NEAR)
    scored = sampling.score(MODEL, prompts, rows, 0.7, owners)
    every = (MODEL.head(found) / 0.7).log_softmax(-1)
    torch.testing.assert_close(scored, every.gather(-1, rows[..., None])[..., 0], **NEAR)


@pytest.mark.parametrize("kind", PROMPTS)
@pytest.mark.parametrize("temperature", [1.0, 1.7])
def test_the_gradient_is_that_of_each_text_alone(kind, temperature):
    owners = [2, 0, 2, 1, 0, 2]
    rows, weights = drawn(6, 4), torch.randn(6, generator=torch.Generator().manual_seed(3)).double()
    scored = sampling.score(MODEL, PROMPTS[kind], rows, temperature, owners)
    found = flat_gradient((scored.sum(1) * weights).sum(), MODEL)
    texts = as_lists(PROMPTS[kind])
    wanted = sum(
        w.item() * flat_gradient(log_probability(MODEL, texts[i], row, lambda x: x / temperature), MODEL)
        for i, row, w in zip(owners, rows.tolist(), weights, strict=True)
    )
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10)


def test_the_gradient_by_finite_differences():
    rows, owners = drawn(3, 3), [1, 1, 0]
    weights = torch.arange(1.0, 10).view(3, 3).double()

    def value():
        return (sampling.score(MODEL, TEXTS[:2], rows, owners=owners) * weights).sum()

    gradient, place = flat_gradient(value(), MODEL), 0
    rng = np.random.default_rng(0)
    with torch.no_grad():
        for parameter in MODEL.parameters():
            flat = parameter.view(-1)
            for i in rng.choice(len(flat), 2, replace=False):
                before, ends = flat[i].item(), []
                for step in (1e-6, -1e-6):
                    flat[i] = before + step
                    ends.append(value().item())
                flat[i] = before
                assert gradient[place + i] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-6)
            place += len(flat)


def test_a_prompt_without_rows_takes_no_part():
    rows, owners = drawn(4, 3), [3, 1, 1, 3]
    for prompts in (TEXTS, TOKENS):
        some = [prompts[1], prompts[3]] if prompts is TEXTS else prompts[[1, 3]]
        all_of_them = sampling.score(MODEL, prompts, rows, owners=owners)
        alone = sampling.score(MODEL, some, rows, owners=[1, 0, 0, 1])
        torch.testing.assert_close(all_of_them, alone, **NEAR)
        gradients = [flat_gradient(scored.sum(), MODEL) for scored in (all_of_them, alone)]
        np.testing.assert_allclose(*gradients, rtol=0, atol=1e-11)


def test_without_owners_each_prompt_has_as_many_side_by_side():
    rows = drawn(10, 3)
    for prompts in (TEXTS, TOKENS):
        wanted = sampling.score(MODEL, prompts, rows, owners=[0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
        assert sampling.score(MODEL, prompts, rows).equal(wanted)
        one = sampling.states(MODEL, prompts[:1], rows)
        assert one.equal(sampling.states(MODEL, prompts[:1], rows, [0] * 10)) and one.shape == (10, 3, 12)


@pytest.mark.parametrize("prompts", PROMPTS.values(), ids=PROMPTS)
@pytest.mark.parametrize("steps", [1, 4])
def test_each_prompt_is_read_once(prompts, steps, monkeypatch):
    """What the model reads: B prompts, then of the N completions all tokens but the last."""
    read, run = [], MODEL.run
    monkeypatch.setattr(MODEL, "run", lambda tokens, *rest: read.append(tokens.shape) or run(tokens, *rest))
    sampling.score(MODEL, prompts, drawn(7, steps), owners=[0, 1, 1, 1, 2, 2, 0])
    longest = max(map(len, as_lists(prompts)))
    assert read == [(len(prompts), longest)] + ([(7, steps - 1)] if steps > 1 else [])


def test_kinds_of_owners():
    rows = drawn(3, 2)
    wanted = sampling.score(MODEL, TEXTS, rows, owners=[4, 0, 0])
    for owners in ((4, 0, 0), np.array([4, 0, 0]), torch.tensor([4, 0, 0]), torch.tensor([4, 0, 0]).int()):
        assert sampling.score(MODEL, TEXTS, rows.int(), owners=owners).equal(wanted)
    frozen = np.array([4, 0, 0])
    frozen.flags.writeable = False
    assert sampling.score(MODEL, TEXTS, rows, owners=frozen).equal(wanted)


def test_a_full_context():
    """The last token is never read: P + T may be one more than the context."""
    for prompts, steps in ((TEXTS[3:4], 8), (TOKENS, 13)):
        rows = drawn(2, steps)
        found = sampling.states(MODEL, prompts, rows, [0, 0])
        prompt = as_lists(prompts)[0]
        wanted = [hidden_alone(prompt, row[:-1]) for row in rows.tolist()]
        torch.testing.assert_close(found[:, :-1], torch.stack(wanted), **NEAR)
    check(lambda: sampling.states(MODEL, TOKENS, drawn(2, 14), [0, 0]), "prompts of 4 tokens and max_new_tok")


def test_a_token_says_nothing_about_those_before_it():
    rows, owners = drawn(4, 5), [2, 2, 0, 1]
    states = sampling.states(MODEL, TEXTS, rows, owners)
    for t in range(5):
        other = torch.cat([rows[:, :t], drawn(4, 5 - t, seed=9)], 1)
        again = sampling.states(MODEL, TEXTS, other, owners)
        assert again[:, : t + 1].equal(states[:, : t + 1])


# ---- Bad owners

ROWS = drawn(3, 2)
WANTED = "it must be 3 whole numbers from 0 to 4, the prompt of each completion."
OWNERS = {
    "too few": ([0, 1], "owners has shape (2,), type torch.int64; " + WANTED),
    "a column": ([[0], [1], [2]], "owners has shape (3, 1), type torch.int64; " + WANTED),
    "one number": (1, "owners has shape (), type torch.int64; " + WANTED),
    "a prompt too many": ([0, 1, 5], "owners has shape (3,), type torch.int64; " + WANTED),
    "below 0": (torch.tensor([0, 1, -1]), "owners has shape (3,), type torch.int64; " + WANTED),
    "halves": ([0.0, 1.0, 0.5], "owners has shape (3,), type torch.float64; " + WANTED),
    "a mask": (torch.tensor([True, False, True]), "owners has shape (3,), type torch.bool; " + WANTED),
    "words": (["a", "b", "c"], "owners is ['a', 'b', 'c']; " + WANTED),
    "ragged": ([[0], [1, 2], []], "owners is a ragged list; " + WANTED),
    "a range of nothing": ([], "owners has shape (0,), type torch.float64; " + WANTED),
}


@pytest.mark.parametrize("name", OWNERS)
def test_bad_owners_are_refused(name):
    owners, message = OWNERS[name]
    check(lambda: sampling.states(MODEL, TEXTS, ROWS, owners), message)
    check(lambda: sampling.score(MODEL, TEXTS, ROWS, owners=owners), message)


def test_what_states_refuses_beside():
    for number in (3, 7, 11):
        message = f"{number} completions for 5 prompts; each must have as many."
        check(lambda number=number: sampling.states(MODEL, TEXTS, drawn(number, 2)), message)
    check(lambda: sampling.states(MODEL, TEXTS, ROWS.double(), [0] * 3), "samples_tokens is torch.float64")
    check(lambda: sampling.states(MODEL, TEXTS, ROWS + 32, [0] * 3), "tokens holds whole numbers from 3")
    for temperature in (0, -1.0):
        message = f"temperature is {temperature}; it must be above 0."
        check(lambda t=temperature: sampling.score(MODEL, TEXTS, ROWS, t, [0] * 3), message)


# ---- Entropies


def entropy(p):
    return -math.fsum(x * math.log(x) for x in p if x > 0)


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize(
    "settings", [(1.0, None, None), (0.6, None, None), (1.0, 3, None), (1.3, None, 0.8), (0.7, 4, 0.9), (0, None, None)]
)  # fmt: skip
@pytest.mark.parametrize("prompts", [TEXTS, TOKENS], ids=["padded", "tokens"])
def test_entropies_are_those_of_the_policy_that_was_sampled_from(prompts, settings, cache):
    model = with_bias(shaken(2, context=16), 1.5, *[0.0] * 30, -math.inf)  # the last token cannot occur
    temperature, top_k, top_p = settings
    generator = torch.Generator().manual_seed(5)
    samples = sampling.sample(
        model, prompts, 3, 5, temperature, generator, top_k=top_k, top_p=top_p, cache=cache
    )
    assert samples.entropies.shape == (15, 5) and samples.entropies.dtype == torch.float64
    assert not samples.entropies.requires_grad and (samples.entropies[~samples.mask] == 0).all()
    texts = as_lists(prompts)
    for i, (row, mask) in enumerate(zip(samples.tokens.tolist(), samples.mask.tolist(), strict=True)):
        for t in range(sum(mask)):
            logits = model(torch.tensor([texts[i // 3] + row[:t]]))[0, -1].detach()
            wanted = entropy(altered(logits, *settings))
            assert samples.entropies[i, t].item() == pytest.approx(wanted, abs=1e-12)
    assert temperature or (samples.entropies == 0).all()
    assert not samples.mask.all() and samples.mask[:, 1].any()


def test_entropies_where_all_ended_early_and_of_a_diverged_model():
    at_once = sampling.sample(with_bias(shaken(2), 1e4, *[0.0] * 31), TOKENS, 2, 4)
    assert at_once.entropies.shape == (10, 4) and (at_once.entropies == 0).all()
    broken = with_bias(shaken(2), 2.0, *[0.0] * 31)
    with torch.no_grad():
        broken.positions.weight[5:] = math.nan  # read from the third new token on
    samples = sampling.sample(broken, TOKENS, 9, 2, generator=torch.Generator().manual_seed(0))
    assert samples.entropies.isfinite().all() and (samples.entropies[~samples.mask] == 0).all()
    check(lambda: sampling.sample(broken, TOKENS, 9, 4), "model gives logits that are NaN")


def test_the_entropies_of_the_tokens_add_up_to_that_of_the_completion():
    """The chain rule, over every completion: E[sum_t H_t] = -sum_y pi(y) log pi(y)."""
    model, prompt = shaken(3, vocabulary=4, layers=1, scale=12), [2, 1]
    rows = every_completion(4, 3, 0)
    tokens = torch.tensor([[*row, *[0] * (3 - len(row))] for row in rows])
    exact = oracle.exact(model, prompt, len, 3)
    chance = {tuple(y[m]): p for y, m, p in zip(exact.tokens, exact.mask, exact.probabilities, strict=True)}
    p = torch.softmax(model.head(sampling.states(model, torch.tensor([prompt]), tokens)), -1).detach()
    along = [sum(entropy(p[i, t].tolist()) for t in range(len(row))) for i, row in enumerate(rows)]
    mean = math.fsum(chance[row] * h for row, h in zip(rows, along, strict=True))
    assert mean == pytest.approx(entropy(chance.values()), rel=1e-12)
    # And the sampler reports the same numbers: each drawn row has the entropies of its path.
    samples = sampling.sample(
        model, torch.tensor([prompt]), 40, 3, generator=torch.Generator().manual_seed(0)
    )
    known = dict(zip(rows, along, strict=True))
    for row, mask, each in zip(samples.tokens, samples.mask, samples.entropies, strict=True):
        assert each.sum().item() == pytest.approx(known[tuple(row[mask].tolist())], abs=1e-12)


def test_samples_may_come_without_entropies():
    tokens = torch.zeros(1, 2, dtype=torch.int64)
    assert sampling.Samples(tokens, tokens.double(), tokens == 0).entropies is None
