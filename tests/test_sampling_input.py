"""Bad input to the sampler: refused by one clear sentence, nothing cut, stretched or rounded."""

import math

import pytest
import torch
from models_by_hand import shaken
from refusals import check

from pglab import lm, sampling

MODEL = shaken(dtype=torch.float32, context=10)
TWO = torch.tensor([[1, 2, 3], [4, 5, 6]])


def sample(prompts=TWO, *arguments, **options):
    return lambda: sampling.sample(MODEL, prompts, *arguments, **{"max_new_tokens": 3, **options})


CALLS = {
    "group of 0": (sample(group_size=0), "group_size is 0"),
    "group of 1.5": (sample(group_size=1.5), "group_size is 1.5"),
    "group of None": (sample(group_size=None), "group_size is None"),
    "no new tokens": (sample(max_new_tokens=0), "max_new_tokens is 0"),
    "half a new token": (sample(max_new_tokens=2.5), "max_new_tokens is 2.5"),
    "too many new tokens": (sample(max_new_tokens=9), "prompts of 3 tokens and max_new_tokens 9 need a context of 11"),
    "a long prompt": (sample(["1" * 11]), "prompts of 11 tokens and max_new_tokens 3 need"),
    "negative temperature": (sample(temperature=-1), "temperature is -1"),
    "NaN temperature": (sample(temperature=math.nan), "temperature is nan"),
    "temperature of None": (sample(temperature=None), "temperature is None"),
    "top_k 0": (sample(top_k=0), "top_k is 0"),
    "top_k 1.5": (sample(top_k=1.5), "top_k is 1.5"),
    "top_p 0": (sample(top_p=0), "top_p is 0"),
    "top_p 1.1": (sample(top_p=1.1), "top_p is 1.1"),
    "top_p NaN": (sample(top_p=math.nan), "top_p is nan"),
    "top_p, greedy": (sample(temperature=0, top_p=-3), "top_p is -3"),
    "top_k, greedy": (sample(temperature=0, top_k=-3), "top_k is -3"),
    "one str": (sample("1+1="), "texts is one str"),
    "a number": (sample(5), "texts is one int"),
    "nothing": (sample(None), "texts is one NoneType"),
    "no texts": (sample([]), "texts must hold at least one"),
    "an empty text": (sample(["1", ""]), "texts must hold at least one text, and none that is empty"),
    "an unknown character": (sample(["1", "z"]), "text holds 'z'"),
    "lists of tokens": (sample([[1, 2]]), "text is a list"),
    "float tokens": (sample(TWO.float()), "prompts is torch.float32"),
    "booleans": (sample(TWO > 2), "prompts is torch.bool"),
    "one row": (sample(TWO[0]), "prompts is torch.int64 of shape (3,)"),
    "three axes": (sample(TWO[None]), "prompts is torch.int64 of shape (1, 2, 3)"),
    "no prompts": (sample(TWO[:0]), "prompts is torch.int64 of shape (0, 3)"),
    "prompts of 0 tokens": (sample(TWO[:, :0]), "prompts is torch.int64 of shape (2, 0)"),
    "tokens too large": (sample(TWO + 30), "tokens holds whole numbers from 31 to 36; they must be from 0 to 31"),
    "tokens too small": (sample(TWO - 2), "tokens holds whole numbers from -1 to 4"),
    "too large, no cache": (sample(TWO + 30, cache=False), "tokens holds whole numbers from 31"),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_sample_refuses(name):
    check(*CALLS[name])


def score(prompts=TWO, tokens=TWO, *arguments):
    return lambda: sampling.score(MODEL, prompts, tokens, *arguments)


SCORES = {
    "three for two": (score(tokens=TWO[[0, 1, 1]]), "3 completions for 2 prompts"),
    "one for two": (score(tokens=TWO[:1]), "1 completions for 2 prompts"),
    "none": (score(tokens=TWO[:0]), "samples_tokens is torch.int64 of shape (0, 3)"),
    "of 0 tokens": (score(tokens=TWO[:, :0]), "samples_tokens is torch.int64 of shape (2, 0)"),
    "one row": (score(tokens=TWO[0]), "samples_tokens is torch.int64 of shape (3,)"),
    "float": (score(tokens=TWO.float()), "samples_tokens is torch.float32"),
    "a list": (score(tokens=[[1, 2]]), "samples_tokens is list"),
    "padding of -100": (score(tokens=TWO.where(TWO < 5, -100)), "tokens holds"),
    "the last too large": (score(tokens=TWO.where(TWO < 6, 32)), "tokens holds 32"),
    "too long": (score(tokens=TWO.repeat(1, 3)), "prompts of 3 tokens and max_new_tokens 9 need"),
    "temperature 0": (score(TWO, TWO, 0), "temperature is 0"),
    "temperature NaN": (score(TWO, TWO, math.nan), "temperature is nan"),
    "prompts of floats": (score(TWO.double()), "prompts is torch.float64"),
    "prompts out of range": (score(TWO + 30), "tokens holds whole numbers from 31 to 36"),
    "one str": (score("123"), "texts is one str"),
}  # fmt: skip


@pytest.mark.parametrize("name", SCORES)
def test_score_refuses(name):
    check(*SCORES[name])


@pytest.mark.parametrize(
    "logits, message",
    [(torch.tensor(1.0), "logits has shape ()"), (torch.ones(2, 0), "logits has shape (2, 0)"),
     ("abc", "logits is 'abc'"), (torch.ones(3, dtype=torch.complex64), "logits is a complex tensor")],
)  # fmt: skip
def test_sampling_logits_refuses(logits, message):
    check(lambda: sampling.sampling_logits(logits), message)


def test_what_is_taken():
    assert sampling.sampling_logits([1, 2], top_k=1).tolist() == [-math.inf, 2]  # lists and whole numbers
    single = sampling.sample(MODEL, TWO.int(), 2.0, 3.0)  # int32, and 2.0 counts as 2
    assert single.tokens.shape == (4, 3)
    assert sampling.score(MODEL, TWO.int(), single.tokens.int()).shape == (4, 3)
    assert sampling.sample(MODEL, ("1", "23"), 1, 2).tokens.shape == (2, 2)
    small = shaken(vocabulary=5)
    check(lambda: sampling.sample(small, ["19="]), "prompts of 3 tokens")
    check(lambda: sampling.sample(small, ["19="], 1, 2), "tokens holds whole numbers from 2 to 17")


def test_a_diverged_model_is_refused_and_gives_no_completion_that_looks_right():
    broken = shaken(dtype=torch.float32)
    with torch.no_grad():
        broken.norm.weight.fill_(math.nan)
    check(lambda: sampling.sample(broken, TWO, 2, 3), "model gives logits that are NaN")
    assert sampling.score(broken, TWO, sampling.sample(MODEL, TWO, 2, 3).tokens).isnan().all()


def test_nothing_is_changed():
    prompts, before = TWO.clone(), [p.clone() for p in MODEL.parameters()]
    MODEL.train()
    sampling.sample(MODEL, prompts, 2, 3)
    assert prompts.equal(TWO) and MODEL.training and lm.END == 0
    assert all(p.equal(q) and p.grad is None for p, q in zip(MODEL.parameters(), before, strict=True))
