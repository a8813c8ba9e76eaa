"""What a curious reader hands in: each is answered by one sentence, and nothing is lost."""

import json

import pytest
import torch
from refusals import check
from training_by_hand import model, paid, settings, trainer

from pglab import algorithms, lm, tasks, training
from pglab.training import state
from pglab.training.command import main

SMALL = ["--task", "addition", "--steps", "1", "--prompts", "2", "--evaluate", "0", "--device", "cpu"]


@pytest.mark.parametrize(
    "change, message",
    [
        (
            {"settings": "addition"},
            "settings is 'addition'; it must be a PostTraining, such as plan('addition')",
        ),
        (
            {"reward": "outcome"},
            "reward is 'outcome'; it must be a function of (prompt, completion), or None",
        ),
        ({"model": "addition"}, "model is 'addition'; it must be an lm.SmallLM"),
        ({"task": "addition"}, "task is 'addition'; it must be a Task, such as tasks.Addition(), or None"),
        (
            {"settings": settings(reward="steps")},
            "the settings ask for the reward 'steps', and a function is given too; give one of the two",
        ),
    ],
)
def test_a_trainer_is_made_of_the_right_things(change, message):
    given = {"settings": settings(), "model": model(), "reward": paid, **change}
    check(lambda: training.Trainer(**given), message)


def test_a_task_is_no_name_where_a_policy_is_judged():
    check(lambda: training.evaluate(model(), "addition"), "task is 'addition'; it must be a Task")


def test_a_column_has_one_of_the_names_of_the_panel():
    run = trainer()
    assert run.column("reward") == []
    for _ in range(2):
        check(lambda: run.column("rewards"), "column is 'rewards'; it must be one of step, samples")
        run.advance()
    made = training.PostTrained(run.policy, {}, None, run.rows)
    check(lambda: made.column("rewards"), "column is 'rewards'; it must be one of step, samples")


def test_what_belongs_to_the_algorithm_is_said_to():
    words = "kl belongs to the algorithm; give algorithm=algorithms.named(name, kl=...)"
    check(lambda: training.plan("addition", kl=0.1), words)
    check(lambda: settings(algorithm={"name": "grpo"}), "algorithm is a dictionary that does not fit (")


@pytest.mark.parametrize(
    "reward, words",
    [
        (
            lambda p, c: c[99],
            "the reward function failed with IndexError: string index out of range. That was",
        ),
        (lambda p: 1.0, "the reward function failed with TypeError: "),
        (lambda p, c: {}[c], "the reward function failed with KeyError: "),
    ],
)
def test_a_reward_function_that_fails_says_on_what(reward, words):
    run = trainer(reward=reward)
    with pytest.raises(ValueError) as caught:
        run.advance()
    first = run.task.prompts(1, __import__("numpy").random.default_rng([0, 5, 0, 0]))[0]
    assert str(caught.value).startswith(words) and f"for prompt {first[:4]!r}"[:-1] in str(caught.value)


def test_a_reward_function_that_fails_late_keeps_what_was_done(tmp_path):
    lm.save(model(torch.float32), tmp_path / "tiny.safetensors", {})
    calls = []

    def reward(prompt, completion):
        calls.append(prompt)
        return paid(prompt, completion) if len(calls) < 30 else completion[99]

    path = tmp_path / "a.safetensors"
    made = settings(start=str(tmp_path / "tiny.safetensors"), steps=4)
    with pytest.raises(
        ValueError, match="^Step 2: the reward function failed with IndexError.*Mend the cause"
    ):
        training.post_train(made, path, "cpu", False, prompts=0, reward=reward)
    assert state.read(state.place(path))["step"] == 2
    other = {"reward": lambda p, c: 0.5}  # another function is another run
    with pytest.raises(ValueError, match="unfinished run with reward function .*reward, not .*<lambda>"):
        training.post_train(made, path, "cpu", False, prompts=0, **other)
    calls.clear()
    card = training.post_train(made, path, "cpu", False, prompts=0, reward=reward).card
    assert card["reward"].endswith("keeps_what_was_done.<locals>.reward") and calls


def test_an_update_that_went_too_far_names_the_learning_rate():
    run = trainer(start=model(torch.float32), learning_rate=1e30, epochs=3)
    with pytest.raises(ValueError, match="no longer finite.*smaller learning_rate .it is 1e.30."):
        list(run)


def test_a_run_that_cannot_start_leaves_nothing_behind(tmp_path, capsys):
    path = tmp_path / "a.safetensors"
    assert main(["grpo", *SMALL, "--learning-rate", "1e30", "--epochs", "3", "--out", str(path)]) == 2
    assert "No step was finished, so nothing is kept." in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_result_is_not_replaced_by_that_of_other_settings(tmp_path, capsys):
    path = tmp_path / "a.safetensors"
    assert main(["grpo", *SMALL, "--out", str(path)]) == 0
    before = path.read_bytes()
    assert main(["grpo", *SMALL, "--epochs", "1", "--out", str(path)]) == 2
    assert "holds the result of other settings (epochs 2, not 1)" in capsys.readouterr().err
    assert path.read_bytes() == before
    assert main(["grpo", *SMALL, "--out", str(path)]) == 0 and path.read_bytes() == before  # its own it may
    assert main(["grpo", *SMALL, "--epochs", "1", "--fresh", "--out", str(path)]) == 0
    assert json.loads(path.with_suffix(".json").read_text())["settings"]["epochs"] == 1


def test_a_checkpoint_is_not_replaced_by_what_learned_from_it(tmp_path, capsys):
    path = tmp_path / "addition.safetensors"
    lm.save(lm.load("addition", "cpu"), path, lm.read_card("addition"))
    before = path.read_bytes()
    assert main(["grpo", *SMALL, "--start", str(path), "--out", str(path)]) == 2
    assert "holds the result of other settings" in capsys.readouterr().err and path.read_bytes() == before


def test_a_start_may_be_a_path_without_its_ending(tmp_path):
    lm.save(model(torch.float32), tmp_path / "tiny.safetensors", {})
    run = training.Trainer(settings(start=str(tmp_path / "tiny")), reward=paid)
    assert run.policy.shape["width"] == 16 or run.policy.shape["layers"] == 1


def test_help_says_what_is_known_to_work(capsys):
    with pytest.raises(SystemExit):
        main(["grpo", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    for task, made in training.POST_TRAINED.items():
        assert f"{task}: {made.steps} steps of {made.prompts} prompts x {made.group_size}" in said
    assert "--cool-down" in said and "--room" in said and algorithms.ALGORITHMS and tasks.TASKS
