"""Faults that lie outside the update, what is said of all, and the room's own refusals."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch
import training_by_hand as by_hand
from refusals import check

from pglab import tasks
from pglab.algorithms import named
from pglab.museum import faults
from pglab.training import PostTraining, Trainer
from pglab.training.update import Update

OUTSIDE = (
    "sparse_reward",
    "variance_for_bias",
    "rewards_transposed",
    "lax_verifier",
    "learning_rate_too_high",
)


def test_every_fault_has_words_and_settings():
    assert list(faults.FAULTS)[:6] == list(faults.CLASSICS) and len(faults.CLASSICS) == 6
    for name, fault in faults.FAULTS.items():
        assert fault.name == name and isinstance(fault.settings, PostTraining)
        assert all((fault.words, fault.wrong, fault.look, fault.fix)) and fault.wrong.endswith(".")


def test_the_key_names_eight_runs_one_of_them_healthy():
    assert list(faults.CLINIC) == list("ABCDEFGH") and len(set(faults.CLINIC.values())) == 8
    sick = set(faults.CLINIC.values()) - {faults.HEALTHY}
    assert len(sick) == 7 and sick < faults.FAULTS.keys()


# ---- Faults that lie outside the update


@pytest.mark.parametrize(
    "name",
    ["sparse_reward", "variance_for_bias", "rewards_transposed", "lax_verifier", "learning_rate_too_high"],
)
def test_the_update_is_the_right_one(name):
    sick, twin = (faults.trainer(name, healthy=healthy) for healthy in (False, True))
    assert type(sick).updates is type(twin).updates is Update
    assert sick.task == twin.task and torch.equal(sick.policy.norm.weight, twin.policy.norm.weight)


def test_a_learning_rate_and_a_baseline_are_all_that_differs():
    for name, change in (
        ("learning_rate_too_high", {"learning_rate": 1e-2}),
        ("variance_for_bias", {"algorithm": named("reinforce", baseline=-3.0)}),
    ):
        sick, twin = (faults.trainer(name, healthy=healthy).settings for healthy in (False, True))
        assert sick == replace(twin, **change) != twin == faults.FAULTS[name].settings


def test_transposed_rewards_belong_to_others():
    sick, twin = (faults.trainer("rewards_transposed", healthy=healthy) for healthy in (False, True))
    a, b = sick.collect(), twin.collect()
    batch, group = b.rewards.shape
    assert torch.equal(a.samples.tokens, b.samples.tokens) and np.array_equal(a.right, b.right)
    flat = b.rewards.reshape(-1)
    assert all(
        a.rewards[i, j] == flat[j * batch + i] for i, j in itertools.product(range(batch), range(group))
    )


def test_who_pays():
    task, prompt = tasks.named("running_sum"), "1234567="
    for name, completion, sick, twin in (
        ("sparse_reward", ">13605181", 0.0, 0.0), ("sparse_reward", ">1360518", 1.0, 1.0),
        ("sparse_reward", ">1360517", 0.0, 6 / 7), ("lax_verifier", "18", 1.0, 0.0), ("tiny_eps", "8", 0.7, 0.7),
        ("tiny_eps", "7", 0.1, 0.1),
    ):  # fmt: skip
        for healthy, wanted in ((False, sick), (True, twin)):
            run = faults.trainer(name, healthy=healthy)
            pays = run.reward or (task.verify_steps if run.settings.reward == "process" else task.verify)
            assert pays(prompt, completion) == pytest.approx(wanted), (name, healthy)


def test_a_far_baseline_is_noise_and_no_bias():
    """Along the gradient of 4,096 completions both step as far on average; the far one is a hundred times noisier."""
    direction, found = None, {}
    for healthy in (None, True, False):
        settings = replace(faults.FAULTS["variance_for_bias"].settings, micro_batches=1, seed=7)
        if healthy is None:
            settings = replace(settings, prompts=512, group_size=8, seed=99)
        run = faults.trainer("variance_for_bias", settings, healthy=healthy is not False)
        steps = []
        for _ in range(1 if healthy is None else 120):  # batches of one policy: nobody steps
            run.rollouts = run.collect()
            made = run.updates(run.policy, run.value, run.optimisers[0], run.settings, run.rollouts)
            made.gradient(0, {})
            steps.append(-by_hand.left(run).double())
            run.step += 1
        if healthy is None:
            direction = steps[0] / steps[0].norm()
        else:
            found[healthy] = torch.stack(steps)
    along = {healthy: (steps @ direction).numpy() for healthy, steps in found.items()}
    apart = along[False] - along[True]
    assert abs(apart.mean()) < 4 * apart.std(ddof=1) / np.sqrt(len(apart))
    assert along[True].mean() > 4 * along[True].std(ddof=1) / np.sqrt(len(apart))
    assert found[False].var(0).sum() > 30 * found[True].var(0).sum()


# ---- The room


def test_a_run_that_is_kept_is_not_taken_for_its_twin():
    marks = [faults.trainer("wrong_brackets", healthy=healthy).marks for healthy in (False, True)]
    assert marks[0]["fault"] == "wrong_brackets" and marks[1]["fault"] == "wrong_brackets, healed"


def test_refusals():
    check(lambda: faults.trainer("shift"), "fault is 'shift'; it must be one of gradient_through_advantage,")
    check(lambda: faults.trainer("healthy"), "settings is None; it must be a PostTraining")
    check(lambda: faults.trainer("tiny_eps", 3), "settings is 3; it must be a PostTraining")
    assert type(faults.trainer("healthy", faults.WARD)) is Trainer
