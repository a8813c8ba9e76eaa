"""The commands of post-training, as a user meets them: in a shell, in an empty folder."""

import json
import os
import signal
import subprocess
import sys

import commands_by_hand
import pytest

from pglab import algorithms, lm, training
from pglab.training import command, plans, post_training, state
from pglab.training.workers import ALONE

ADDITION = ["--task", "addition", "--steps", "2", "--evaluate", "0", "--device", "cpu"]
TRAIN = [sys.executable, "-m", "pglab.training"]


def shell(folder, *words):
    return subprocess.run([*TRAIN, *words], cwd=folder, capture_output=True, text=True, timeout=120)


def refused(capsys, *words, name="grpo"):
    return commands_by_hand.refused(command.main, capsys, name, *words)


def rows(path):
    """The curve of a run, without its times."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [{k: v for k, v in json.loads(line).items() if k != "seconds"} for line in lines]


# ---- From one end to the other


def test_a_checkpoint_learns_and_says_how(tmp_path):
    ran = shell(
        tmp_path,
        "grpo",
        *ADDITION[:4],
        "--device",
        "cpu",
        "--evaluate",
        "16",
        "--prompts",
        "8",
        "--out",
        "a.safetensors",
    )
    assert ran.returncode == 0, ran.stderr
    assert {p.name for p in tmp_path.iterdir()} == {"a.safetensors", "a.json", "a.jsonl"}
    said = ran.stdout.splitlines()
    assert said[0].startswith("addition: Add two numbers") and said[1].startswith("128 completions, ")
    curve = rows(tmp_path / "a.jsonl")
    first, last = curve[0]["reward"], curve[1]["reward"]
    assert said[2] == f"Reward of the last batch {last:.3f}, of the first {first:.3f}."
    assert said[3].startswith("pass@1 0.") and "95 % interval" in said[3] and "greedy" in said[3]
    assert said[4] == "The weights are in a.safetensors; the card and the curve beside them: a.json, a.jsonl."
    assert "2/2" in ran.stderr and "reward=0." in ran.stderr  # the bar
    card = lm.read_card(tmp_path / "a.safetensors")
    made = training.PostTraining(**card["settings"])
    assert made == training.plan("addition", steps=2, prompts=8) and card["prompts"] == 16
    assert str(tmp_path) not in json.dumps(card) and lm.load(tmp_path / "a.safetensors", "cpu")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
def test_ctrl_c_keeps_the_run_and_the_same_command_goes_on(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["grpo", *ADDITION[:2], *ADDITION[4:], "--prompts", "2", "--group-size", "3"]
    run = [*words, "--steps", "60", "--out", "deep/a.safetensors"]
    with subprocess.Popen(
        [*TRAIN, *run], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as started:
        seen = ""
        while "reward=" not in seen and started.poll() is None:
            seen += started.stderr.read(1)
        started.send_signal(signal.SIGINT)
        _, err = started.communicate(timeout=60)
    assert started.returncode == 130 and "Traceback" not in err, err
    assert "It is kept in a.unfinished: the same command goes on from there." in err.splitlines()[-1]
    path = tmp_path / "deep" / "a.safetensors"
    kept = state.read(state.place(path))
    assert 1 <= kept["step"] < 60 and not path.exists()
    assert command.main([*words, "--steps", "300", "--out", "deep/a.safetensors"]) == 2
    assert "steps 60, not 300" in (said := capsys.readouterr().err) and "--fresh" in said
    again = shell(tmp_path, *run)
    assert again.returncode == 0 and f"Going on from step {kept['step']} of 60" in again.stdout
    assert command.main([*run[:-1], "b.safetensors"]) == 0  # from one end to the other, in this process
    assert rows(path.with_suffix(".jsonl")) == rows(tmp_path / "b.jsonl")
    assert path.read_bytes() == (tmp_path / "b.safetensors").read_bytes()


@pytest.mark.parametrize(
    "error, code, said",
    [
        (KeyboardInterrupt(), 130, "\nStopped.\n"),
        (training.pretraining.Interrupted("Stopped at step 3."), 130, "\nStopped at step 3.\n"),
        (OSError(28, "No space left. Free some."), 1, "No space left. Free some.\n"),
        (ValueError("Step 3: reward is nan."), 2, "Step 3: reward is nan.\n"),
    ],
)
def test_every_end_has_its_code(monkeypatch, capsys, tmp_path, error, code, said):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr(command, "post_train", fails)
    assert command.main(["rloo", *ADDITION, "--out", str(tmp_path / "a.safetensors")]) == code
    assert capsys.readouterr().err == said


def test_a_run_goes_on_or_starts_afresh(tmp_path, capsys):
    path = tmp_path / "a.safetensors"
    words = ["grpo", *ADDITION, "--prompts", "4", "--out", str(path)]
    make = training.plan("addition", steps=2, prompts=4)
    with pytest.raises(KeyboardInterrupt):
        training.post_train(make, path, "cpu", False, prompts=0, watch=lambda run: stop_at(run, 2))
    before = state.place(path).read_bytes()
    assert command.main(words) == 0
    assert "Going on from step 1 of 2" in capsys.readouterr().out and not state.place(path).exists()
    state.place(path).write_bytes(before)
    assert command.main([*words, "--fresh"]) == 0
    assert "Going on" not in capsys.readouterr().out and not state.place(path).exists()


def stop_at(run, step):
    if run.step == step:
        raise KeyboardInterrupt


# ---- What the words mean


@pytest.mark.parametrize("name", algorithms.ALGORITHMS)
def test_left_out_settings_are_those_that_are_known_to_work(monkeypatch, tmp_path, name):
    monkeypatch.chdir(tmp_path)
    for task in plans.POST_TRAINED:
        made, path, device, more = commands_by_hand.asked(monkeypatch, name, "--task", task)
        assert made == training.plan(task, name) and device == "auto"
        assert path.as_posix() == f"runs/{task}_{name}.safetensors"
        assert more == {"threads": 1, "prompts": training.evaluation.PROMPTS, "workers": ALONE}
    assert list(tmp_path.iterdir()) == []


def test_every_option_reaches_its_setting(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    words = (
        "--seed 7 --prompts 6 --group-size 5 --steps 4 --epochs 3 --learning-rate 0.5 --micro-batches 2 "
        "--temperature 0.7 --reward process --kl 0.25 --start other --threads 2 --evaluate 9 --device cpu"
    )
    made, path, device, more = commands_by_hand.asked(
        monkeypatch, "dapo", "--task", "running_sum", *words.split()
    )
    assert made == training.plan(
        "running_sum", algorithms.named("dapo", kl=0.25), seed=7, prompts=6, group_size=5, steps=4, epochs=3,
        learning_rate=0.5, micro_batches=2, temperature=0.7, reward="process", start="other",
    )  # fmt: skip
    assert (path.as_posix(), device) == ("runs/running_sum_dapo_seed7.safetensors", "cpu")
    assert more == {"threads": 2, "prompts": 9, "workers": ALONE}
    zero = commands_by_hand.asked(
        monkeypatch, "grpo", "--task", "addition", "--kl", "0", "--seed", "0", "--evaluate", "0"
    )
    assert zero[0] == training.plan("addition") and zero[1].name == "addition_grpo.safetensors"
    assert zero[3]["prompts"] == 0


@pytest.mark.parametrize("name", algorithms.ALGORITHMS)
def test_every_algorithm_has_a_command_with_help(capsys, name):
    with pytest.raises(SystemExit) as stop:
        command.main([name, "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert (
        stop.value.code == 0 and "Ctrl-C is safe" in said and all(task in said for task in plans.POST_TRAINED)
    )
    assert algorithms.ALGORITHMS[name].source.partition(";")[0] in said
    options = [f"--{option}" for option, _, _ in command.OPTIONS]
    more = [
        "--task",
        "--device",
        "--out",
        "--fresh",
        "--threads",
        "--evaluate",
        "--start",
        "--reward",
        "--kl",
        "--set",
    ]
    assert all(f" {option} " in said or f"[{option}" in said for option in options + more)
    with pytest.raises(SystemExit):
        command.main(["--help"])
    assert f" {name} " in " ".join(capsys.readouterr().out.split())


# ---- Bad choices


@pytest.mark.parametrize(
    "words, message",
    [
        (["--task", "subtraction"], "task is 'subtraction'; it must be one of addition, running_sum, countdown"),
        (["--task", "addition", "--steps", "0"], "steps is 0; it must be a whole number, at least 1."),
        (["--task", "addition", "--steps", "many"], "argument --steps: invalid int value: 'many'"),
        (["--task", "addition", "--learning-rate", "nan"], "learning_rate is nan"),
        (["--task", "addition", "--group-size", "1"], "group_size is 1; it must be at least 2 for grpo"),
        (["--task", "addition", "--temperature", "0"], "temperature is 0; it must be at least 0.01"),
        (["--task", "addition", "--kl", "-1"], "kl is -1.0; it must be one finite number, at least 0."),
        (["--task", "addition", "--reward", "style"], "reward is 'style'; it must be one of outcome, process, steps."),
        (["--task", "countdown", "--reward", "steps"], "reward is 'steps'; it must be 'outcome' for countdown"),
        (["--task", "addition", "--micro-batches", "33"], "micro_batches is 33; it must be at most prompts, 32."),
        (["--task", "addition", "--evaluate", "1"], "--evaluate is 1; it must be at least 2 prompts, or 0 for none."),
        (["--task", "addition", "--evaluate", "-3"], "--evaluate is -3; it must be at least 2 prompts, or 0 for none."),
        (["--task", "addition", "--threads", "0"], "threads is 0; it must be a whole number, at least 1."),
        (["--task", "addition", "--device", "tpu"], "device is 'tpu'; it must be one of auto, cpu, cuda, mps"),
        (["--task", "addition", "--out", "a.bin"], "--out is 'a.bin'; it must end in .safetensors."),
        (["--task", "addition", "--start", "nowhere", "--out", "a.safetensors"], "There is no nowhere.json in"),
        ([], "the following arguments are required: --task"),
    ],
)  # fmt: skip
def test_a_bad_choice_ends_in_one_line(capsys, monkeypatch, tmp_path, words, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(post_training.Watched, "advance", lambda *_: pytest.fail("it was tried too late"))
    assert refused(capsys, *words).startswith(message)
    assert list(tmp_path.iterdir()) == []


def test_an_algorithm_that_is_not_there_is_said_with_those_that_are(capsys):
    said = refused(capsys, "--task", "addition", name="a2c")
    assert "invalid choice: 'a2c'" in said and all(
        name in said for name in ["pretrain", *algorithms.ALGORITHMS]
    )


def test_a_folder_that_cannot_be_written_to_is_said_in_one_line(capsys, tmp_path):
    (tmp_path / "way").write_text("a file")
    assert command.main(["grpo", *ADDITION, "--out", f"{tmp_path}/way/a.safetensors"]) == 1
    said = capsys.readouterr().err
    assert (
        said.count("\n") == 1 and said.startswith("a.safetensors cannot be written") and "Errno" not in said
    )
    assert (tmp_path / "way").read_text() == "a file"
