"""Bad input to the oracle: refused by one clear sentence, nothing rounded, stretched or left out."""

import math

import numpy as np
import pytest
import torch
from models_by_hand import OneLayer, TwoLogits, shaken
from refusals import check
from torch import nn

from pglab import advantages, groups, oracle

MODEL = shaken(vocabulary=3, context=5)
KNOWN = oracle.exact(OneLayer(), [0, 1], len, 2, 2)  # 7 completions, 172 parameters


def exact(model=MODEL, prompt=(1, 2), reward=len, steps=2, end=0):
    return lambda: oracle.exact(model, prompt, reward, steps, end)


class Ahead(OneLayer):
    """Looks at the whole text."""

    def forward(self, tokens):
        return super().forward(tokens) + super().forward(tokens.flip(1))


def with_dropout():
    return nn.Sequential(nn.Embedding(3, 8), nn.Dropout(0.5), nn.Linear(8, 3, bias=False)).double()


def with_nan():
    model = OneLayer()
    with torch.no_grad():
        model.head[0, 0] = math.nan
    return model


REFUSED = {
    "a function": (exact(lambda tokens: tokens), "model is a function; it must be a torch module"),
    "half precision": (exact(shaken(vocabulary=3, dtype=torch.float16)), "model has numbers in torch.float16 on cpu"),
    "bfloat16": (exact(shaken(vocabulary=3, dtype=torch.bfloat16)), "model has numbers in torch.bfloat16 on cpu"),
    "not on the CPU": (exact(shaken(vocabulary=3).to("meta")), "model has numbers in torch.float64 on meta"),
    "looks ahead": (exact(Ahead(), steps=3, end=2), "model gives completions that have the probability"),
    "dropout": (exact(with_dropout(), steps=3), "model gives completions that have the probability"),
    "NaN": (exact(with_nan(), end=2), "model gives completions that have the probability nan"),
    "no prompt": (exact(prompt=[]), "prompt is empty"),
    "a prompt of text": (exact(prompt="12"), "prompt is '12'"),
    "fractions": (exact(prompt=[1, 1.5]), "prompt is [1.0, 1.5]; it must be tokens"),
    "NaN in the prompt": (exact(prompt=[1, math.nan]), "prompt[1] is nan"),
    "several prompts": (exact(prompt=[[1, 2], [1, 1]]), "prompt has shape (2, 2)"),
    "token too large": (exact(prompt=[1, 3]), "tokens holds whole numbers from 1 to 3"),
    "token too small": (exact(prompt=[1, -1]), "tokens holds whole numbers from -1 to 1"),
    "too large for another module": (exact(OneLayer(), [0, 3]), "prompt is [0, 3], which the model cannot read"),
    "a prompt too long": (exact(prompt=[1] * 6), "tokens has shape (1, 6)"),
    "too long together": (exact(prompt=[1] * 4, steps=3), "tokens has shape (4, 6)"),
    "no steps": (exact(steps=0), "max_new_tokens is 0"),
    "half a step": (exact(steps=1.5), "max_new_tokens is 1.5"),
    "end token outside": (exact(end=3), "end_token is 3; it must be below vocabulary, which is 3"),
    "end token below": (exact(end=-1), "end_token is -1"),
    "end token None": (exact(end=None), "end_token is None"),
    "reward of no function": (exact(reward=[1, 2]), "reward is [1, 2]; it must be a function"),
    "reward None": (exact(reward=lambda y: None), "reward(completion) is "),
    "reward NaN": (exact(reward=lambda y: math.nan if len(y) > 1 else 0), "reward(completion)[1] is nan"),
    "reward infinite": (exact(reward=lambda y: math.inf), "reward(completion)[0] is inf"),
    "reward a word": (exact(reward=str), "reward(completion) is "),
    "reward a list": (exact(reward=lambda y: [1.0]), "reward(completion) has shape"),
    "rewards of many shapes": (exact(reward=list), "reward(completion) is a ragged list"),
    "one token": (lambda: oracle.completions(1, 2), "vocabulary is 1"),
    "vocabulary of 2.5": (lambda: oracle.completions(2.5, 2), "vocabulary is 2.5"),
    "too many": (lambda: oracle.completions(32, 5), "vocabulary 32 and max_new_tokens 5 make too many completions"),
    "far too many": (lambda: oracle.completions(10**9, 10**9), "vocabulary 1000000000 and max_new_tokens 1000000000"),
    "a long tree": (lambda: oracle.completions(2, 65), "vocabulary 2 and max_new_tokens 65 make too many"),
    "weights too short": (lambda: KNOWN.weighted_score([1, 2]), "weights has 2 entries; it must have 7, one a completion"),
    "one weight": (lambda: KNOWN.weighted_score(1.0), "weights has shape ()"),
    "NaN weight": (lambda: KNOWN.weighted_score([math.nan] * 7), "weights[0] is nan"),
    "row outside": (lambda: KNOWN.scores([0, 7]), "rows is [0.0, 7.0]; it must be whole numbers from 0 to 6"),
    "row below": (lambda: KNOWN.scores(-1), "rows is [-1.0]"),
    "half a row": (lambda: KNOWN.scores(0.5), "rows is [0.5]"),
    "direction": (lambda: KNOWN.scores_along([1, 2]), "direction has 2 entries; it must have 172, one a parameter"),
    "direction of a table": (lambda: KNOWN.variance_along([1, 2], advantages.batch_mean, 2), "direction has 2 entries"),
    "temperature": (lambda: KNOWN.sampled_with(-1), "temperature is -1"),
    "top_p": (lambda: KNOWN.sampled_with(top_p=0), "top_p is 0"),
    "top_k": (lambda: KNOWN.sampled_with(top_k=0), "top_k is 0"),
    "probabilities": (lambda: KNOWN.table([0.5, 0.5]), "probabilities has 2 entries; it must have 7"),
    "probabilities of 2": (lambda: KNOWN.table(np.full(7, 2 / 7)), "probabilities sum to 2"),
    "negative probabilities": (lambda: KNOWN.table([2, -1, 0, 0, 0, 0, 0]), "probabilities sum to 1, the least is -1"),
    "group of one": (lambda: KNOWN.moments(advantages.leave_one_out, 1), "rewards"),
    "group of none": (lambda: KNOWN.moments(advantages.batch_mean, 0), "size is 0"),
    "group of 1.5": (lambda: KNOWN.moments(advantages.batch_mean, 1.5), "size is 1.5"),
    "advantage": (lambda: KNOWN.moments(1.0, 2), "advantage is 1.0; it must be a function"),
    "advantage NaN": (lambda: KNOWN.moments(lambda r: r * math.nan, 2), "advantage(rewards) holds NaN"),
    "advantage by place": (lambda: KNOWN.moments(lambda r: r * [1, 2], 2), "advantage gives equal rewards of one group"),
    "equal values": (lambda: groups.weight_moments([0, 0], [0.5, 0.5], np.array, 2), "values must be different rewards"),
    "falling values": (lambda: groups.weight_moments([1, 0], [0.5, 0.5], np.array, 2), "values must be different"),
    "chances": (lambda: groups.weight_moments([0, 1], [0.5, 0.6], np.array, 2), "probabilities sum to 1.1"),
    "one chance": (lambda: groups.weight_moments([0, 1], [1.0], np.array, 2), "chance has 1 entries"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    check(*REFUSED[name])


def test_what_is_taken():
    assert KNOWN.scores(np.int64(3)).shape == (1, 172) and KNOWN.scores([3.0, 1.0]).shape == (2, 172)
    for prompt in (np.array([1, 2]), torch.tensor([1, 2]), (1.0, 2.0)):
        assert exact(prompt=prompt)().J == exact()().J
    assert exact(reward=lambda y: y[-1] == 0)().J == pytest.approx(
        exact(reward=lambda y: float(y[-1] == 0))().J
    )
    assert oracle.exact(TwoLogits([0.0] * 9), [0], len, 9, 1).J == pytest.approx(
        2 - 2**-8
    )  # 1 + 1/2 + ... + 1/256
    assert oracle.exact(with_dropout().eval(), [1], len, 3).probabilities.sum() == pytest.approx(1)


def test_nothing_is_left_behind_in_the_model():
    model = shaken(vocabulary=3)
    before = [p.clone() for p in model.parameters()]
    oracle.exact(model, [1], len, 3).moments(advantages.batch_mean, 3)
    assert all(p.equal(q) and p.grad is None for p, q in zip(model.parameters(), before, strict=True))
    assert not any(layer._forward_hooks for layer in model.modules())
    with torch.no_grad():  # it asks for gradients itself
        exact = oracle.exact(model, [1], len, 3)
        assert exact.gradient.any() and exact.squares.any() and exact.scores_along(exact.gradient).any()


def test_a_model_that_is_changed_in_between_is_noticed():
    model = shaken(vocabulary=3)
    exact = oracle.exact(model, [1], len, 3)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        assert exact.gradient is None
