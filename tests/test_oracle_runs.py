"""Sampling, scoring and training a network small enough to enumerate, against plain loops."""

import copy

import numpy as np
import pytest
import torch
from refusals import check

from pglab import oracle, sampling


@pytest.fixture(scope="module")
def model():
    model = oracle.network(1, vocabulary=4, context=6, width=8)
    with torch.no_grad():
        model.tokens.weight *= 40  # far from equal probabilities
    return model


def reward(y):
    return float(y[-1] == 0 and sum(y) == 3)


def J_of(model, prompt=(1, 2), steps=3):
    return oracle.exact(model, prompt, reward, steps).J


def test_draws_are_the_inverse_of_the_cumulative_sum(model):
    tokens, mask = oracle.draw(model, [1, 2], 5, 3, np.random.default_rng(7))
    rng = np.random.default_rng(7)
    u = [rng.random((5, 1))[:, 0] for _ in range(3)]
    for i in range(5):
        text, ended = [1, 2], False
        for t in range(3):
            p = model(torch.tensor([text]))[0, -1].softmax(-1).detach().numpy()
            token = int(np.searchsorted(p.cumsum()[:-1], u[t][i]))
            text.append(token)
            assert mask[i, t] == (not ended) and tokens[i, t] == (0 if ended else token)
            ended = ended or token == 0


def test_draws_occur_as_often_as_their_probability_says(model):
    exact = oracle.exact(model, [2], reward, 2)
    tokens, _ = oracle.draw(model, [2], 20_000, 2, np.random.default_rng(0))
    for row, p in zip(exact.tokens, exact.probabilities, strict=True):
        found = (tokens.numpy() == row).all(1).mean()
        assert abs(found - p) < 4 * np.sqrt(p * (1 - p) / 20_000) + 1e-12


def test_the_end_token_fills_and_need_not_be_zero(model):
    tokens, mask = oracle.draw(model, [1], 50, 4, np.random.default_rng(1), end_token=3)
    assert (tokens[~mask] == 3).all() and not mask.all() and mask[:, 0].all()


def test_log_probabilities_are_read_one_place_before(model):
    tokens = torch.tensor([[2, 1, 0], [3, 3, 1]])
    found = oracle.token_logps(model, [1, 2], tokens)
    torch.testing.assert_close(
        found, sampling.score(model, torch.tensor([[1, 2]]), tokens), rtol=0, atol=1e-13
    )
    for shift in (0, 1, 2):
        found = oracle.token_logps(model, [1, 2], tokens, shift)
        for i, row in enumerate(tokens.tolist()):
            text = [1, 2, *row]
            for t in range(3):
                logits = model(torch.tensor([text[: 2 + t - shift + 1]]))[0, -1]
                assert abs(found[i, t] - logits.log_softmax(-1)[row[t]]) < 1e-12


def test_settings_are_those_of_the_sampler(model):
    exact = oracle.exact(model, [1, 2], reward, 3)
    for settings in ({"temperature": 0.6}, {"top_k": 2}, {"top_p": 0.8}):
        logps = oracle.token_logps(model, [1, 2], torch.from_numpy(exact.tokens), **settings)
        found = logps.where(torch.from_numpy(exact.mask), 0.0).sum(1).exp().detach()
        np.testing.assert_allclose(found, exact.sampled_with(**settings), rtol=0, atol=1e-14)


def loss(model, tokens, mask, r):
    return -((r - 0.5) * (oracle.token_logps(model, [1, 2], tokens) * mask).sum(1)).mean()


def test_a_run_is_sampling_scoring_and_adam(model):
    curves, models = oracle.train(model, [1, 2], reward, loss, 3, [4, 5], J_of, 0.01, 16, 3)
    assert [len(curve) for curve in curves] == [4, 4] and curves[0][0] == curves[1][0] == J_of(model)
    by_hand, rng = copy.deepcopy(model), np.random.default_rng(5)
    optimiser = torch.optim.Adam(by_hand.parameters(), 0.01)
    for step in range(3):
        assert abs(J_of(by_hand) - curves[1][step]) < 1e-14
        tokens, mask = oracle.draw(by_hand, [1, 2], 16, 3, rng)
        r = torch.tensor([reward(y[:n]) for y, n in zip(tokens.tolist(), mask.sum(1).tolist(), strict=True)])
        optimiser.zero_grad()
        loss(by_hand, tokens, mask, r).backward()
        optimiser.step()
    assert abs(J_of(by_hand) - curves[1][3]) < 1e-14 and J_of(models[1]) == curves[1][3]
    assert curves[0][1:] != curves[1][1:]


def test_a_run_of_no_steps_is_the_model(model):
    curves, models = oracle.train(model, [1, 2], reward, loss, 0, [0], J_of, max_new_tokens=3)
    assert curves == [[J_of(model)]] and models[0] is not model


def test_apart_is_a_share_and_a_cosine():
    assert oracle.apart([3.0, 4.0], [3.0, 0.0]) == pytest.approx((4 / 3, 0.6))
    assert oracle.apart([-2.0, 0.0], [1.0, 0.0]) == pytest.approx((3.0, -1.0))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m: oracle.draw(m, [], 2, 2, np.random.default_rng(0)), "prompt"),
        (lambda m: oracle.draw(m, [1], 0, 2, np.random.default_rng(0)), "size"),
        (lambda m: oracle.draw(m, [1], 2, 0, np.random.default_rng(0)), "max_new_tokens"),
        (lambda m: oracle.token_logps(m, [1], torch.tensor([[1]]), 2), "shift is 2; it must be at most 1"),
        (lambda m: oracle.token_logps(m, [1], torch.tensor([[1]]), -1), "shift"),
        (lambda m: oracle.train(m, [1], reward, loss, -1, [0], J_of), "steps"),
    ],
)
def test_bad_input_is_named(model, call, words):
    with pytest.raises(ValueError, match=words):
        call(model)


def test_half_a_token_is_refused_and_not_cut():
    model = oracle.network(0)
    for call in (
        lambda: oracle.draw(model, [4, 6.5], 2, 3, np.random.default_rng(0)),
        lambda: oracle.token_logps(model, [4, 6.5], torch.zeros(1, 2, dtype=torch.int64)),
        lambda: oracle.FreeTable(model, [4, 6.5], 2),
    ):
        check(call, "prompt is [4.0, 6.5]; it must be tokens, whole numbers")
