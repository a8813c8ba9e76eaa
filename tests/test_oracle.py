"""The oracle against every completion read on its own, for the small transformer and for other models."""

import math
from copy import deepcopy
from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from models_by_hand import (
    OneLayer,
    TwoLogits,
    every_completion,
    flat_gradient,
    log_probability,
    one_by_one,
    shaken,
)
from torch import nn
from torch.nn import functional

from pglab import lm, oracle

pytestmark = pytest.mark.filterwarnings("error")

SHAPES = {  # vocabulary, steps, layers, heads, end token, prompt
    "two tokens": (2, 4, 1, 1, 0, [1]),
    "ends with 2": (3, 3, 2, 2, 2, [0, 1]),
    "ends with 1": (4, 2, 1, 4, 1, [3, 3, 0]),
    "one step": (5, 1, 2, 1, 0, [2]),
    "many": (4, 3, 2, 2, 0, [1, 2]),
}


def reward(completion):
    """Some number, different for every completion."""
    return math.sin(sum(2.3 * (t + 1) * (y + 1) for t, y in enumerate(completion))) + len(completion) / 3


def listed(exact):
    return [tuple(row[m].tolist()) for row, m in zip(exact.tokens, exact.mask, strict=True)]


@cache
def case(name):
    vocabulary, steps, layers, heads, end, prompt = SHAPES[name]
    model = shaken(3, vocabulary=vocabulary, layers=layers, heads=heads)
    return model, prompt, oracle.exact(model, prompt, reward, steps, end), vocabulary, steps, end


# ---- Everything by reading every completion on its own


@pytest.mark.parametrize("name", SHAPES)
def test_everything_is_as_if_each_completion_had_been_read_alone(name):
    model, prompt, exact, vocabulary, steps, end = case(name)
    completions = listed(exact)
    assert sorted(completions) == sorted(every_completion(vocabulary, steps, end))
    p, scores = one_by_one(model, prompt, completions)
    r = np.array([reward(y) for y in completions])
    near = {"rtol": 0, "atol": 1e-10}
    np.testing.assert_allclose(exact.probabilities, p, **near)
    np.testing.assert_allclose(exact.logprobs, np.log(p), **near)
    np.testing.assert_array_equal(exact.rewards, r)
    assert exact.probabilities.sum() == pytest.approx(1, abs=1e-12) and exact.J == pytest.approx(p @ r)
    np.testing.assert_allclose(exact.gradient, (p * r) @ scores, **near)
    np.testing.assert_allclose(exact.scores(), scores, **near)
    np.testing.assert_allclose(exact.scores([2, 0, 2]), scores[[2, 0, 2]], **near)
    np.testing.assert_allclose(exact.squares, (scores**2).sum(1), rtol=1e-10)
    direction = np.cos(1.3 * np.arange(scores.shape[1]))
    np.testing.assert_allclose(exact.scores_along(direction), scores @ direction, **near)
    np.testing.assert_allclose(exact.weighted_score(r**2), r**2 @ scores, **near)
    assert np.ptp(exact.squares) > 0.1 and abs(exact.gradient).max() > 1e-3  # far from a trivial case


@pytest.mark.parametrize("name", SHAPES)
def test_the_squares_come_without_the_scores(name, monkeypatch):
    """One score is taken to see that all is well. All of them would be right too, and slow."""
    model, prompt, _, _, steps, end = case(name)
    exact, taken, scores = oracle.exact(model, prompt, reward, steps, end), [], oracle.Exact.scores

    def counted(self, rows=None):
        taken.append(rows)
        return scores(self, rows)

    monkeypatch.setattr(oracle.Exact, "scores", counted)
    squares = exact.squares
    assert len(taken) == 1 and np.size(taken[0]) == 1
    np.testing.assert_allclose(squares, (exact.scores() ** 2).sum(1), rtol=1e-10)


@pytest.mark.parametrize("name", ["ends with 2", "many"])
def test_the_gradient_is_that_of_the_objective(name):
    """Autograd through J itself, and a finite difference of J along the gradient."""
    model, prompt, exact, *_ = case(name)

    def objective():
        return sum(reward(y) * log_probability(model, prompt, y).exp() for y in listed(exact))

    gradient = flat_gradient(objective(), model)
    np.testing.assert_allclose(exact.gradient, gradient, rtol=0, atol=1e-10)
    start, ends = torch.nn.utils.parameters_to_vector(model.parameters()).detach(), []
    model = deepcopy(model)
    for step in (1e-5, -1e-5):
        torch.nn.utils.vector_to_parameters(start + step * torch.from_numpy(gradient), model.parameters())
        ends.append(objective().item())
    assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(gradient @ gradient, rel=1e-6)


def test_float32_is_the_same_in_fewer_digits():
    model, prompt, exact, _, steps, end = case("many")
    single = oracle.exact(deepcopy(model).float(), prompt, reward, steps, end)
    assert single.J == pytest.approx(exact.J, rel=1e-5) and single.gradient.dtype == np.float64
    for name in ("probabilities", "gradient", "squares"):
        wanted = getattr(exact, name)
        np.testing.assert_allclose(getattr(single, name), wanted, rtol=1e-4, atol=1e-5 * abs(wanted).max())

    def fourth(r):
        return r - 0.25

    assert single.moments(fourth, 1)[1] == pytest.approx(exact.moments(fourth, 1)[1], rel=1e-4)


def test_the_reward_is_asked_once_for_every_completion():
    asked = []
    exact = oracle.exact(TwoLogits([0.3, -0.5]), [0], lambda y: asked.append(y) or 1, 2, end_token=1)
    assert sorted(asked) == [(0, 0), (0, 1), (1,)] and exact.J == pytest.approx(1, abs=1e-15)
    assert all(type(token) is int for y in asked for token in y)
    np.testing.assert_allclose(exact.gradient, 0, atol=1e-15)  # nothing to gain


# ---- Other modules


class Variant(nn.Module):
    """A bag of earlier tokens; each kind holds a parameter in a way that the fast squares do not know."""

    def __init__(self, kind):
        super().__init__()
        self.kind = kind
        self.embed = nn.Embedding(3, 4, padding_idx=1 if kind == "padding_idx" else None)
        self.place = nn.Embedding(6, 4)
        self.mix = nn.Linear(4, 4, bias=kind == "bias")
        self.head = nn.Linear(4, 3, bias=False)
        self.double()
        if kind == "frozen":
            self.mix.weight.requires_grad_(False)
        if kind == "unused":
            self.spare = nn.Linear(4, 4, bias=False).double()

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1])
        places = self.place(places if self.kind == "one row of places" else places.expand_as(tokens))
        x = (self.embed(tokens) + places).cumsum(1)
        x = x + self.mix(x).sin()
        if self.kind == "tied by hand":
            return self.head(x) + functional.linear(x, self.embed.weight)
        return self.head(x) * (self.head(x).tanh() if self.kind == "head twice" else 1)


KINDS = [
    "plain", "head twice", "padding_idx", "bias", "frozen", "unused", "one row of places", "tied by hand",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("steps", [1, 3])
def test_a_parameter_in_an_unusual_place_is_noticed(kind, steps):
    with torch.random.fork_rng():
        torch.manual_seed(5)
        model = Variant(kind)
    exact = oracle.exact(model, [1, 2], reward, steps, end_token=1)
    p, scores = one_by_one(model, [1, 2], listed(exact))
    np.testing.assert_allclose(exact.squares, (scores**2).sum(1), rtol=1e-10)
    np.testing.assert_allclose(exact.gradient, (exact.rewards * p) @ scores, rtol=0, atol=1e-10)


@pytest.mark.parametrize("model, end", [(OneLayer(), 2), (TwoLogits([0.3, -0.5, 1.0]), 1)])
def test_models_that_are_no_small_lm(model, end):
    exact = oracle.exact(model, [0], reward, 3, end)
    p, scores = one_by_one(model, [0], listed(exact))
    np.testing.assert_allclose(exact.squares, (scores**2).sum(1), rtol=1e-10)
    np.testing.assert_allclose(exact.scores_along(np.ones(scores.shape[1])), scores.sum(1), atol=1e-12)
    np.testing.assert_allclose(exact.gradient, (exact.rewards * p) @ scores, rtol=0, atol=1e-12)


def test_a_token_that_cannot_occur_does_no_harm():
    class Without(OneLayer):
        def forward(self, tokens):
            return super().forward(tokens).masked_fill(torch.tensor([False, True, False]), -math.inf)

    exact = oracle.exact(Without(), [0, 0], lambda y: 5.0 if 1 in y else float(len(y) == 2), 3, 2)
    impossible = (exact.tokens == 1).any(1)
    assert (exact.probabilities[impossible] == 0).all() and exact.probabilities.sum() == pytest.approx(1)
    p, scores = one_by_one(Without(), [0, 0], [y for y in listed(exact) if 1 not in y])
    r = exact.rewards[~impossible]
    np.testing.assert_allclose(exact.gradient, (p * r) @ scores, rtol=0, atol=1e-12)
    mean, trace = exact.moments(lambda rewards: rewards, 1)
    each = r[:, None] * scores
    assert trace == pytest.approx(p @ (each**2).sum(1) - mean @ mean, rel=1e-10)
    np.testing.assert_allclose(mean, exact.gradient, atol=1e-14)


# ---- Sampled otherwise than the model says


def altered(logits, temperature, top_k, top_p):
    """The same in plain loops: probabilities of one row of logits."""
    row = logits.tolist()
    if temperature == 0:
        best = row.index(max(row))
        return [float(i == best) for i in range(len(row))]
    weight = [math.exp(x / temperature) for x in row]
    if top_k:
        kept = sorted(row, reverse=True)[:top_k]
        weight = [w if x >= min(kept) else 0.0 for w, x in zip(weight, row, strict=True)]
    if top_p:
        total, seen, kept = sum(weight), 0.0, set()
        for i in sorted(range(len(row)), key=lambda i: -weight[i]):
            if seen / total < top_p:
                kept.add(i)
            seen += weight[i]
        weight = [w if i in kept else 0.0 for i, w in enumerate(weight)]
    return [w / sum(weight) for w in weight]


SETTINGS = [
    (0.7, None, None), (1.0, 3, None), (1.0, None, 0.8), (0.7, 3, 0.8), (1.6, 2, 0.95), (0, None, None),
    (0, 2, 0.5), (1.0, 1, None), (1.0, None, 1e-9), (1.0, None, 1.0), (1.0, 9, 1.0),
]  # fmt: skip


@pytest.mark.parametrize("settings", SETTINGS)
def test_sampled_with_by_hand(settings):
    model, prompt, exact, *_ = case("many")
    after = cache(lambda text: model(torch.tensor([text]))[0, -1].detach())
    p = []
    for completion in listed(exact):
        beginnings = [(*prompt, *completion[:t]) for t in range(len(completion))]
        chances = [altered(after(text), *settings) for text in beginnings]
        p.append(math.prod(chance[y] for chance, y in zip(chances, completion, strict=True)))
    result = exact.sampled_with(*settings)
    np.testing.assert_allclose(result, p, rtol=0, atol=1e-12)
    assert result.sum() == pytest.approx(1, abs=1e-12)
    if settings[1:] in ((None, 1.0), (9, 1.0)):  # these leave everything
        np.testing.assert_allclose(result, exact.probabilities, rtol=1e-14)


# ---- The tree


@given(st.integers(2, 5), st.integers(1, 4), st.data())
def test_every_completion_once_and_a_path_that_begins_like_it(vocabulary, steps, data):
    end = data.draw(st.integers(0, vocabulary - 1))
    tree = oracle.completions(vocabulary, steps, end)
    rows = listed(tree)
    assert sorted(rows) == sorted(every_completion(vocabulary, steps, end))
    count = (
        sum((vocabulary - 1) ** t for t in range(steps - 1)) + (vocabulary - 1) ** (steps - 1) * vocabulary
    )
    assert len(rows) == count == len(set(rows))
    assert tree.paths.shape == ((vocabulary - 1) ** (steps - 1), steps - 1) and (tree.paths != end).all()
    for row, mask, path in zip(tree.tokens, tree.mask, tree.path, strict=True):
        length = mask.sum()
        assert (row[length - 1 :] == end).all() or (mask.all() and end not in row)
        assert (tree.paths[path][: length - 1] == row[: length - 1]).all()


def test_the_default_end_token_is_that_of_the_sampler():
    assert lm.END == 0
    exact = oracle.exact(shaken(vocabulary=3), [1], len, 2)
    assert sorted(listed(exact)) == sorted(every_completion(3, 2, lm.END))
