"""The critic of the update, and its KL to the model before training."""

import copy
from dataclasses import replace

import pytest
import torch
from training_by_hand import (
    Step,
    close,
    copies,
    gae,
    k,
    left,
    paid,
    read,
    trainer,
    with_head,
)

from pglab import algorithms
from pglab.training import update
from pglab.training.rollouts import collect

# ---- The critic


@pytest.mark.parametrize("lam", [0.0, 0.9, 1.0])
def test_the_critic_s_targets_are_those_of_gae(lam):
    run = with_head(trainer(algorithm=algorithms.named("ppo", lam=lam), reward=paid))
    start, value = copies(run)
    drawn = collect(run.policy, run.task, run.settings, 0, run.reward)
    made = update.Update(run.policy, run.value, run.optimisers[0], run.settings, drawn)
    _, values = read(start, drawn, 1.0, value)
    for i, (row, reward) in enumerate(zip(values, drawn.rewards.reshape(-1), strict=True)):
        row = row.tolist()
        found = gae([0.0] * (len(row) - 1) + [reward], row, lam)
        assert made.targets[i, : len(row)].tolist() == pytest.approx(
            [a + v for a, v in zip(found, row, strict=True)], abs=1e-12
        )
        if lam == 1:  # Monte Carlo: every beginning should have foreseen the reward
            assert made.targets[i, : len(row)].tolist() == pytest.approx([reward] * len(row))


def test_the_gradient_of_the_head_by_finite_differences():
    """At values that lie far enough from their start for the clip to hold some."""
    plain = replace(algorithms.named("ppo"), value_weight=0.8)
    run = with_head(trainer(algorithm=plain, reward=paid))
    start, value = copies(run)
    drawn = collect(run.policy, run.task, run.settings, 0, run.reward)
    made = update.Update(run.policy, run.value, run.optimisers[0], run.settings, drawn)
    before = [row.tolist() for row in read(start, drawn, 1.0, value)[1]]
    moved = copy.deepcopy(with_head(run, seed=2).value)
    made.gradient(1, {})
    held = []

    def error():
        total, tokens = 0.0, 0
        for i, row in enumerate(read(start, drawn, 1.0, moved)[1]):
            for v, old, target in zip(row.tolist(), before[i], made.targets[i].tolist(), strict=False):
                kept = min(max(v, old - 0.2), old + 0.2)
                held.append((kept - target) ** 2 > (v - target) ** 2)
                total, tokens = total + max((v - target) ** 2, (kept - target) ** 2) / 2, tokens + 1
        return 0.8 * total / tokens

    for parameter, learned in zip(moved.parameters(), run.value.parameters(), strict=True):
        flat_view = parameter.data.view(-1)
        for i in range(len(flat_view)):
            ends = []
            for step in (1e-5, -2e-5):
                flat_view[i] += step
                ends.append(error())
            flat_view[i] += 1e-5
            assert float(learned.grad.view(-1)[i]) == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-7)
    assert 0 < sum(held) < len(held)


# ---- A KL to the model before training


@pytest.mark.parametrize("where", ["loss", "reward"])
@pytest.mark.parametrize("kind", ["k1", "k2", "k3"])
@pytest.mark.parametrize("name", ["grpo", "rloo", "dr_grpo", "cispo", "gspo", "ppo"])
def test_a_kl_counts_where_it_is_asked_for(name, kind, where):
    """On the second step: on the first, the policy is the model before training."""
    chosen = algorithms.named(name, kl=0.3, kl_kind=kind, kl_where=where)
    run = trainer(algorithm=chosen, learning_rate=0.02, temperature=0.8, room=1)
    first, _ = copies(run)
    run.advance()
    start, value = copies(run)
    row = run.advance()
    step = Step(run, start, value, first)
    close(left(run), step.gradient(start, value), 1e-9)
    pairs = [
        (x, y) for now, ref in zip(step.old, step.ref, strict=True) for x, y in zip(now, ref, strict=True)
    ]
    assert row["kl_ref"] == pytest.approx(sum(k("k3", x - y) for x, y in pairs) / len(pairs), rel=1e-6)
    assert row["kl_ref"] > 1e-3
    assert torch.equal(flat_weights(run.reference), flat_weights(first))  # it stays as it was


def flat_weights(policy):
    return torch.cat([p.detach().flatten() for p in policy.parameters()])
