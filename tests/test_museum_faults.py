"""Each sick update against its twin: one thing differs, and by an exact number."""

import itertools
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import training_by_hand as by_hand
from faults_by_hand import Pair, Step, close, summed

from pglab import lm
from pglab.algorithms import named
from pglab.museum import broken, faults
from pglab.training import Trainer

# ---- Twins: nothing is wrong


@pytest.mark.parametrize("name", sorted(faults.FAULTS.keys() - {"action_dependent_baseline"}))
def test_the_twin_takes_the_step_of_an_ordinary_trainer(name):
    fault = faults.FAULTS[name]
    settings = replace(fault.settings, prompts=4, group_size=4, steps=2)
    twin = faults.trainer(name, settings, healthy=True)
    reward = fault.pays and fault.pays(twin.task)
    ordinary = Trainer(settings, reward=reward)
    for _ in range(2):
        a, b = twin.advance(), ordinary.advance()
        rounding = 1e-3 if fault.twin is broken.FromSampler else 0
        for column in ("reward", "entropy", "grad_norm", "zero_std"):
            assert a[column] == pytest.approx(b[column], rel=rounding, abs=rounding)


def test_old_log_probabilities_of_the_sampler_are_the_learners_but_for_rounding():
    pair = Pair("shift_off_by_one")
    made = pair.updates[True]
    part = made.parts[0]
    assert torch.allclose(
        made.before(None, part, 0), torch.nn.utils.rnn.pad_sequence(pair.read()[0], True)[part.rows].detach()
    )


@pytest.mark.parametrize("name", ["gradient_through_advantage", "late_critic", "shift_off_by_one"])
def test_the_twins_gradient_is_the_right_one(name):
    pair = Pair(name)
    assert close(pair.gradients[True], pair.right())
    assert float((pair.gradients[False] - pair.gradients[True]).norm()) > 0.01


# ---- One thing wrong, by hand


def test_an_attached_value_is_pushed_down_by_one_for_each_token():
    pair = Pair("gradient_through_advantage")
    _, values = pair.read()
    leak = pair.gradient(sum(row.sum() for row in values) / sum(pair.lengths))
    assert close(pair.gradients[False] - pair.gradients[True], leak)


def test_an_attached_k1_leaks_a_weight_times_a_log_probability():
    pair = Pair("attached_kl")
    beta = pair.settings.algorithm.kl
    new, _ = pair.read()
    totals = [row.sum() for row in new]
    leak = 0.0
    for i, total in enumerate(totals):
        others = [totals[j] for j in range(i // 3 * 3, i // 3 * 3 + 3) if j != i]
        leak = leak - total.item() * (-beta * total + beta * sum(others) / 2)
    assert close(pair.gradients[False] - pair.gradients[True], pair.gradient(leak / len(totals)))


def test_on_average_an_attached_k1_is_an_entropy_bonus():
    """Over all groups of two, of a policy with four completions."""
    theta, beta = torch.tensor([0.4, -0.2, 1.1, 0.0], dtype=torch.float64, requires_grad=True), 0.1
    logp = theta.log_softmax(0)
    entropy = torch.autograd.grad(-(logp.exp() * logp).sum(), theta, retain_graph=True)[0]
    chance, loss = logp.exp().tolist(), 0.0
    for i, j in itertools.product(range(4), repeat=2):
        for one, other in ((i, j), (j, i)):
            loss = loss - chance[i] * chance[j] / 2 * logp[one].item() * beta * (logp[other] - logp[one])
    assert torch.allclose(-torch.autograd.grad(loss, theta)[0], beta * entropy, rtol=0, atol=1e-14)


def weights_of(pair, late):
    """A critic read off the group, in plain loops."""
    samples, size = pair.rollouts.samples, pair.settings.group_size
    texts = [row[:n] for row, n in zip(samples.tokens.tolist(), pair.lengths, strict=True)]
    rewards, found = pair.rollouts.rewards.reshape(-1).tolist(), []
    for i, text in enumerate(texts):
        group = [j for j in range(i // size * size, i // size * size + size) if j != i]
        row = []
        for t in range(len(text)):
            start = text[: t + late]
            alike = [rewards[j] for j in group if texts[j][: t + late] == start]
            others = alike or [rewards[j] for j in group]
            row.append(rewards[i] - sum(others) / len(others))
        found.append(row)
    return found


@pytest.mark.parametrize("healthy, late", [(True, 0), (False, 1)])
def test_a_critic_read_off_the_group(healthy, late):
    pair = Pair("action_dependent_baseline", prompts=4, group_size=8)
    weights = weights_of(pair, late)
    assert close(pair.gradients[healthy], pair.gradient(summed(pair, weights)))
    made = pair.updates[healthy].weights
    assert all(made[i, : len(row)].tolist() == pytest.approx(row) for i, row in enumerate(weights))


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_exactly_it_is_a_baseline_and_one_token_late_it_takes_the_gradient_away(size):
    """Over all groups of completions of two tokens. (Of two, the only other is the baseline either way.)"""
    theta = torch.tensor(
        [0.3, -0.5, 0.8], dtype=torch.float64, requires_grad=True
    )  # first; second after 0, 1
    rewards = {(0, 0): 1.0, (0, 1): 0.0, (1, 0): 0.25, (1, 1): 2.0}

    def logps(y):
        p = torch.stack([theta, -theta]).log_softmax(0)
        return p[y[0], 0], p[y[1], 1 + y[0]]

    def slope(x):
        return torch.autograd.grad(x, theta, retain_graph=True)[0]

    chances = {y: math.exp(sum(logps(y)).item()) for y in rewards}
    scores = {y: [slope(x) for x in logps(y)] for y in rewards}
    true = sum(chances[y] * r * sum(scores[y]) for y, r in rewards.items())
    groups = list(itertools.product(rewards, repeat=size))
    tokens = torch.tensor(groups).reshape(-1, 2)
    paid = np.array([[rewards[y] for y in group] for group in groups])
    samples = SimpleNamespace(tokens=tokens, logprobs=torch.zeros(len(tokens), 2, dtype=torch.float64))
    steps = {}
    for kind in (broken.Beginnings, broken.LateBeginnings):
        made = kind.__new__(kind)
        made.rollouts = SimpleNamespace(samples=samples, rewards=paid)
        weights = made.weigh().reshape(len(groups), size, 2).tolist()
        steps[kind] = sum(
            math.prod(chances[y] for y in group) * w * score / size
            for group, rows in zip(groups, weights, strict=True)
            for y, row in zip(group, rows, strict=True)
            for w, score in zip(row, scores[y], strict=True)
        )
    assert torch.allclose(steps[broken.Beginnings], true, rtol=0, atol=1e-14)
    left = steps[broken.LateBeginnings] / true
    # An own token that another has written is worth nothing; else all others wrote the other one.
    p = torch.sigmoid(2 * theta[0]).item()
    assert left[0].item() == pytest.approx(p ** (size - 1) + (1 - p) ** (size - 1), abs=1e-12)
    assert size == 2 or (left < 0.95).all()


def late_rows(pair, what):
    """For each completion what stands one place late: (L, V) logits, or (L,) values."""
    for i, n in enumerate(pair.lengths):
        prompt, answer = (
            pair.rollouts.prompts[i // pair.settings.group_size],
            pair.rollouts.samples.tokens[i, :n],
        )
        yield what(torch.cat([prompt, answer])[None])[0, len(prompt) :], answer


def test_without_a_shift_a_token_is_scored_by_what_has_read_it():
    pair = Pair("shift_off_by_one")
    new = [rows.log_softmax(-1)[range(len(answer)), answer] for rows, answer in late_rows(pair, pair.model)]
    step = Step(pair.twin, pair.model, None, None)
    loss = by_hand.policy_loss("grpo", new, step.old, step.weights, 5)
    assert close(pair.gradients[False], pair.gradient(loss)) and pair.seen["kl"] < 1e-20
    ratio = (torch.cat(new).detach() - torch.tensor(sum(step.old, []))).exp()
    assert float((ratio - 1).abs().max()) > 0.3


def test_a_late_critic_has_seen_the_token():
    pair = Pair("late_critic")
    values = [
        (states @ pair.value.weight[0] + pair.value.bias[0]).tolist()
        for states, _ in late_rows(pair, pair.model.hidden)
    ]
    made, rewards = pair.updates[False], pair.rollouts.rewards.reshape(-1)
    for i, row in enumerate(values):
        assert made.weights[i, : len(row)].tolist() == pytest.approx([rewards[i] - v for v in row])


def test_the_prompt_counts_as_if_it_were_chosen():
    pair = Pair("prompt_in_loss")
    step = Step(pair.twin, pair.model, None, None)
    right = -sum(w * row.mean() for w, row in zip(step.weights, pair.read()[0], strict=True))
    assert close(pair.gradients[True], pair.gradient(right / len(pair.lengths)))
    total = 0.0
    for i, n in enumerate(pair.lengths):
        text = torch.cat([pair.rollouts.prompts[i // 3], pair.rollouts.samples.tokens[i, :n]])[None]
        logp = pair.model(text)[0, :-1].log_softmax(-1)[range(text.shape[1] - 1), text[0, 1:]]
        total = total - step.weights[i] * logp.mean()
    assert close(pair.gradients[False], pair.gradient(total / len(pair.lengths)))


def test_the_end_token_is_left_out_where_it_stands_and_in_no_other_row():
    pair = Pair("stop_token_out", temperature=1.0, reward=by_hand.paid)
    rewards, weights = pair.rollouts.rewards.reshape(-1), []
    for i, n in enumerate(pair.lengths):
        tokens = pair.rollouts.samples.tokens[i, :n].tolist()
        weights.append([float(rewards[i]) * (y != lm.END) for y in tokens])
    assert 0 < sum(0.0 in row for row in weights) < len(weights)
    assert close(pair.gradients[False], pair.gradient(summed(pair, weights)))


def test_completions_drawn_hot_and_scored_at_one():
    pair = Pair("temperature_mismatch", algorithm=named("grpo"), temperature=1.5, room=0)
    step = Step(pair.twin, pair.model, None, None)  # its old log-probabilities are those at 1.5
    new = by_hand.read(pair.model, pair.rollouts)[0]
    loss = by_hand.policy_loss("grpo", new, step.old, step.weights, 5)
    assert close(pair.gradients[False], pair.gradient(loss))
    loss = by_hand.policy_loss("grpo", pair.read()[0], step.old, step.weights, 5)
    assert close(pair.gradients[True], pair.gradient(loss))


def test_wrong_brackets():
    made = Pair("wrong_brackets", temperature=1.0, room=0).updates[False]
    for group, row in zip(
        made.rollouts.rewards.tolist(), made.weights.reshape(3, 3, -1)[:, :, 0], strict=True
    ):
        spread = by_hand.spread(group) + 1e-4
        assert row.tolist() == pytest.approx([r - by_hand.mean(group) / spread for r in group])


def test_rounding_over_a_tiny_eps_is_a_weight_and_the_twin_has_none():
    pair = Pair("tiny_eps", lambda prompt, completion: 0.1, temperature=1.0, room=0, group_size=8)
    assert (pair.updates[True].weights == 0).all()
    weights = pair.updates[False].weights
    assert float(weights.abs().max()) > 0.5 and (weights == weights[0, 0]).all()
    whole = Pair("tiny_eps", lambda prompt, completion: 0.5, temperature=1.0, room=0, group_size=8)
    assert (whole.updates[False].weights == 0).all()  # where the mean is exact nothing is left to divide
