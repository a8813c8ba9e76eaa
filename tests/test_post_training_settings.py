"""Post-training's settings: what is refused, what survives, the plans."""

import json
import math
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pytest
from refusals import check
from training_by_hand import paid, settings, trainer

from pglab import algorithms, lm, tasks, training

GROUP = "group_size is 1; it must be at least 2 for "


@pytest.mark.parametrize(
    "change, message",
    [
        ({"task": "subtraction"}, "task is 'subtraction'; it must be one of addition, running_sum"),
        ({"algorithm": "a2c"}, "algorithm is 'a2c'; it must be one of vanilla, reinforce, batch_mean, rloo"),
        ({"seed": -1}, "seed is -1"),
        ({"prompts": 0}, "prompts is 0"),
        ({"steps": 0}, "steps is 0"),
        ({"epochs": 0}, "epochs is 0"),
        ({"epochs": 1.5}, "epochs is 1.5; it must be a whole number, at least 1"),
        ({"group_size": 0}, "group_size is 0; it must be a whole number, at least 1"),
        ({"warmup": -1}, "warmup is -1"),
        ({"room": -1}, "room is -1"),
        ({"micro_batches": 0}, "micro_batches is 0"),
        ({"micro_batches": 5}, "micro_batches is 5; it must be at most prompts, 4"),
        ({"learning_rate": math.nan}, "learning_rate is nan; it must be one finite number, at least 0"),
        ({"learning_rate": -0.1}, "learning_rate is -0.1"),
        ({"grad_clip": -1}, "grad_clip is -1"),
        ({"cool_down": 1.5}, "cool_down is 1.5; it must be one finite number from 0 to 1"),
        ({"temperature": 0}, "temperature is 0; it must be at least 0.01: greedy completions are all alike."),
        ({"temperature": -1}, "temperature is -1"),
        ({"reward": "style"}, "reward is 'style'; it must be one of outcome, process, steps"),
        ({"task": "countdown", "reward": "steps"}, "reward is 'steps'; it must be 'outcome' for countdown"),
        ({"task": "countdown", "reward": "process"}, "reward is 'process'; it must be 'outcome' for countdown"),
        ({"algorithm": "rloo", "reward": "steps"}, "reward is 'steps'; it must be 'outcome' or 'process' for rloo"),
        ({"algorithm": "gspo", "reward": "steps"}, "reward is 'steps'; it must be 'outcome' or 'process' for gspo"),
        *[
            ({"group_size": 1, "algorithm": name}, GROUP + name + ", which compares the completions of one prompt")
            for name in algorithms.ALGORITHMS
            if name not in ("vanilla", "reinforce", "ppo")
        ],
    ],
)  # fmt: skip
def test_settings_that_cannot_work_are_refused(change, message):
    check(lambda: settings(**change), message)


@pytest.mark.parametrize("name", ["vanilla", "reinforce", "ppo"])
def test_a_group_of_one_is_enough_where_nothing_is_compared(name):
    rows = list(trainer(algorithm=name, group_size=1, reward=paid))
    assert [row["samples"] for row in rows] == [4, 8, 12] and rows[0]["grad_norm"] > 0


def test_the_least_and_the_most_that_is_taken():
    made = settings(seed=0, warmup=0, room=0, prompts=1, steps=1, epochs=1, micro_batches=1, learning_rate=0)
    assert made.total == 1 and settings(micro_batches=4).micro_batches == 4
    assert settings(cool_down=1, grad_clip=0, group_size=2, reward="process").rate(0) > 0
    row = trainer(prompts=1, group_size=2, learning_rate=0).advance()
    assert row["samples"] == 2
    with pytest.raises(FrozenInstanceError):
        made.steps = 3


@pytest.mark.parametrize("name", algorithms.ALGORITHMS)
def test_settings_survive_json(name):
    made = settings(algorithm=name, start=Path("some") / "where.safetensors", epochs=3.0)
    again = training.PostTraining(**json.loads(json.dumps(made.as_dict())))
    assert again == made and made.differences(again.as_dict()) == ""
    assert made.algorithm == algorithms.ALGORITHMS[name] and type(made.epochs) is int
    assert made.start.endswith("where.safetensors")


def test_plans():
    assert set(training.POST_TRAINED) == set(tasks.TASKS)
    for name, made in training.POST_TRAINED.items():
        assert made.task == name and training.plan(name) == made and made.algorithm.name == "grpo"
        assert (lm.DATA / f"{training.plans.start_of(made)}.safetensors").exists()
    own = training.plan("addition", "rloo", seed=3, learning_rate=1)
    assert own == replace(training.POST_TRAINED["addition"], algorithm="rloo", seed=3, learning_rate=1.0)
    assert [training.plans.start_of(each) for each in (own, replace(own, start="x"))] == ["addition", "x"]
    check(lambda: training.plan("subtraction"), "task is 'subtraction'; it must be one of addition")
    check(
        lambda: training.plan("addition", lr=1),
        "there is no setting lr; there are task, algorithm, start, seed,",
    )
