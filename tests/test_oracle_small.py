"""The network small enough to enumerate, and the table beside it: a gradient as one vector, a step, a climb."""

import numpy as np
import pytest
import torch

from pglab import oracle


def total(model):
    """A number that depends on the parameters, smoothly."""
    return model(torch.tensor([[1, 2, 3]])).softmax(-1)[0, 1, 2]


@pytest.fixture
def model():
    return oracle.network(1, vocabulary=5, context=4, width=8)


def test_the_network_is_the_same_for_the_same_seed_and_another_for_another():
    weights = [oracle.network(seed).tokens.weight for seed in (3, 3, 4)]
    assert torch.equal(weights[0], weights[1]) and not torch.equal(weights[0], weights[2])
    assert weights[0].dtype == torch.float64
    expected = np.random.default_rng(3).normal(scale=0.02, size=(10, 16))
    np.testing.assert_array_equal(weights[0].detach().numpy(), expected)


def test_the_norms_start_at_one_and_the_head_stays_tied():
    model = oracle.network(0)
    assert (model.norm.weight == 1).all() and model.head.weight is model.tokens.weight


def test_the_gradient_is_the_slope_in_every_direction_tried(model):
    gradient = oracle.gradient_of(total(model), model)
    assert gradient.shape == (sum(p.numel() for p in model.parameters()),)
    for v in np.random.default_rng(0).normal(size=(4, gradient.size)):
        assert abs(oracle.slope(total, model, v) - gradient @ v / np.linalg.norm(v)) < 1e-8
        assert abs(oracle.slope(total, model, v) - oracle.slope(total, model, 7 * v)) < 1e-10


def test_a_parameter_that_is_not_used_has_gradient_zero(model):
    model.extra = torch.nn.Parameter(torch.ones(3, dtype=torch.float64))
    assert oracle.gradient_of(total(model), model).size == sum(p.numel() for p in model.parameters())


def test_a_step_moves_a_copy_by_that_much(model):
    step = np.random.default_rng(1).normal(size=sum(p.numel() for p in model.parameters()))
    before = torch.nn.utils.parameters_to_vector(model.parameters()).detach().clone()
    there = torch.nn.utils.parameters_to_vector(oracle.moved(model, step).parameters()).detach()
    np.testing.assert_allclose((there - before).numpy(), step, rtol=0, atol=1e-15)
    assert torch.equal(torch.nn.utils.parameters_to_vector(model.parameters()), before)


def test_a_climb_is_adam_and_leaves_the_model_alone(model):
    before = torch.nn.utils.parameters_to_vector(model.parameters()).detach().clone()
    path = oracle.climb(model, total, 7, 0.01, every=3)
    assert len(path) == 3 and [total(m).item() for m in path] == sorted(total(m).item() for m in path)
    assert torch.equal(torch.nn.utils.parameters_to_vector(model.parameters()), before)
    assert total(path[0]).item() == total(model).item()
    by_hand, m, v = before.numpy().copy(), 0.0, 0.0  # Adam, written out
    for t in range(1, 7):
        here = oracle.moved(model, by_hand - before.numpy())
        g = oracle.gradient_of(total(here), here)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        by_hand = by_hand + 0.01 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    found = torch.nn.utils.parameters_to_vector(path[-1].parameters()).detach().numpy()
    np.testing.assert_allclose(found, by_hand, rtol=0, atol=1e-9)


def read(model, prompt, tokens):
    """(N, T) log-probabilities of completions behind a prompt."""
    text = torch.tensor([[*prompt, *row] for row in tokens])
    logp = model(text).log_softmax(-1)[:, len(prompt) - 1 : -1]
    return logp.gather(-1, torch.tensor(tokens)[..., None])[..., 0]


EVERY = [[a, b, c] for a in range(5) for b in range(5) for c in range(5)]


@pytest.mark.parametrize("prompt", [[2], [1, 3], [4, 0, 1]])
def test_a_free_table_starts_as_the_model(prompt):
    model = oracle.network(2, vocabulary=5, context=6, width=8)
    table = oracle.FreeTable(model, prompt, 3)
    assert table.table.shape == (1 + 5 + 25, 5) and table(torch.tensor([prompt])).shape == (1, len(prompt), 5)
    torch.testing.assert_close(read(table, prompt, EVERY), read(model, prompt, EVERY), rtol=0, atol=1e-13)
    longer = table(torch.tensor([[*prompt, 1, 2, 3, 4, 0]]))  # beyond three tokens nothing is asked
    assert longer.shape == (1, len(prompt) + 5, 5) and (longer[:, len(prompt) + 2 :] == 0).all()


def test_a_free_table_carries_nothing_from_one_beginning_to_another(model):
    table = oracle.FreeTable(model, [1], 3)
    read(table, [1], [[4, 2, 3]])[0, 2].backward()  # the third token, behind 4 2
    touched = table.table.grad.abs().sum(1).nonzero()[:, 0].tolist()
    assert touched == [1 + 5 + 5 * 4 + 2]
    moved = oracle.moved(table, oracle.gradient_of(read(table, [1], [[4, 2, 3]])[0, 2], table))
    differs = (read(moved, [1], EVERY) - read(table, [1], EVERY)).abs().sum(0) > 0
    assert differs.tolist() == [False, False, True]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda model: oracle.moved(model, [1.0, 2.0]), "step has 2 entries; it must have"),
        (lambda model: oracle.climb(model, total, 0, 0.1), "steps"),
        (lambda model: oracle.climb(model, total, 3, 0.1, every=0), "every"),
        (lambda model: oracle.network(vocabulary=0), "vocabulary"),
        (lambda model: oracle.FreeTable(model, [], 3), "prompt"),
        (lambda model: oracle.FreeTable(model, [1], 0), "max_new_tokens"),
    ],
)
def test_bad_input_is_named(model, call, words):
    with pytest.raises(ValueError, match=words):
        call(model)
