"""The command line of training, as a user meets it: in a shell, in an empty folder, with no file but its own."""

import json
import os
import signal
import subprocess
import sys
import time

import commands_by_hand
import pytest
import torch

from pglab import lm, training
from pglab.training import command, settings, state

TINY = ["--examples", "300", "--steps", "40", "--prompts", "8", "--device", "cpu"]
PRETRAIN = [sys.executable, "-m", "pglab.training", "pretrain", "--task"]


def shell(folder, *words):
    return subprocess.run([*PRETRAIN, *words], cwd=folder, capture_output=True, text=True, timeout=120)


def refused(capsys, *words):
    return commands_by_hand.refused(command.main, capsys, "pretrain", *words)


# ---- From one end to the other


def test_a_checkpoint_is_made_twice_the_same_and_described(tmp_path):
    """Two processes, one seed: the same bytes."""
    runs = [shell(tmp_path, "addition", *TINY, "--out", f"{name}.safetensors") for name in ("one", "two")]
    assert [run.returncode for run in runs] == [0, 0], runs[0].stderr
    assert {p.name for p in tmp_path.iterdir()} == {
        f"{n}.{e}" for n in ("one", "two") for e in ("json", "safetensors")
    }
    one, two = (tmp_path.joinpath(f"{name}.safetensors").read_bytes() for name in ("one", "two"))
    assert one == two
    first, last = runs[0].stdout.splitlines()[0], runs[0].stdout.splitlines()[-1]
    assert first.startswith("addition: Add two numbers") and "one.safetensors" in last
    assert (
        "pass@1 0.0" in runs[0].stdout and "pass@64" in runs[0].stdout and "95 % interval" in runs[0].stdout
    )
    assert "loss=" in runs[0].stderr and "40/40" in runs[0].stderr  # the bar
    card = lm.read_card(tmp_path / "one.safetensors")
    assert card["device"].startswith("cpu") and card["threads"] == 1 and card["prompts"] == 8
    assert card["command"].endswith("--examples 300 --steps 40 --out one.safetensors --device cpu")
    assert str(tmp_path) not in json.dumps(card)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
def test_ctrl_c_keeps_the_run_and_the_same_command_goes_on(tmp_path):
    words = ["addition", "--examples", "300", "--steps", "20000", "--prompts", "2", "--device", "cpu"]
    words += ["--out", "deep/a.safetensors"]
    with subprocess.Popen(
        [*PRETRAIN, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        seen = ""
        while "loss=" not in seen and run.poll() is None:
            seen += run.stderr.read(1)
        time.sleep(0.3)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
    assert run.returncode == 130 and "Traceback" not in err, err
    assert "It is kept in a.unfinished: the same command goes on from there." in err.splitlines()[-1]
    path = tmp_path / "deep" / "a.safetensors"
    kept = state.read(state.place(path))
    assert kept["step"] > 1 and not path.exists()
    again = subprocess.run(
        [*PRETRAIN, *words[:3], "--steps", "30000", *words[5:]], cwd=tmp_path, capture_output=True, text=True
    )
    assert (
        again.returncode == 2 and "steps [20000], not [30000]" in again.stderr and "--fresh" in again.stderr
    )


def test_a_run_goes_on_or_starts_afresh(tmp_path, capsys):
    made = training.preset("addition", examples=300, steps=40)
    path = tmp_path / "a.safetensors"
    words = ["pretrain", "--task", "addition", *TINY, "--out", str(path)]
    unfinished = training.run.Run(made, torch.device("cpu"), state.place(path), progress=False)
    with training.pretraining.with_threads(1):
        unfinished.remember()
        unfinished.write()
        assert command.main(words) == 0
        assert "Going on from step 0 of 40" in capsys.readouterr().out
        unfinished.write()
        assert command.main([*words, "--fresh"]) == 0
    assert "Going on" not in capsys.readouterr().out and not state.place(path).exists()


def test_all_makes_everything_that_ships(monkeypatch, capsys, tmp_path):
    made = []
    monkeypatch.setattr(command, "one_checkpoint", lambda settings, path, *_: made.append((settings, path)))
    assert command.main(["pretrain", "--all"]) == 0
    assert made == [(s, settings.default_path(s)) for s in training.PRETRAINED.values()]


def test_help_names_every_task_and_option(capsys):
    with pytest.raises(SystemExit) as stop:
        command.main(["pretrain", "--help"])
    said = capsys.readouterr().out
    assert stop.value.code == 0 and all(name in said for name in training.PRETRAINED)
    assert "Ctrl-C is safe" in said and "large (for a GPU)" in said


# ---- Bad choices


@pytest.mark.parametrize(
    "words, message",
    [
        (["--task", "subtraction"], "task is 'subtraction'; it must be one of addition, running_sum, countdown"),
        (["--task", "addition", "--preset", "huge"], "preset is 'huge'; it must be one of small, large."),
        (["--task", "addition", "--device", "tpu"], "device is 'tpu'; it must be one of auto, cpu, cuda, mps"),
        (["--task", "addition", "--seed", "one"], "argument --seed: invalid int value: 'one'"),
        (["--task", "addition", "--seed", "-1"], "seed is -1"),
        (["--task", "addition", "--threads", "0"], "threads is 0"),
        (["--task", "addition", "--steps", "9"], "Other examples or steps make another checkpoint; say with --out"),
        (["--task", "addition", "--out", "a.bin"], "--out is 'a.bin'; it must end in .safetensors."),
        (["--all", "--out", "a.safetensors"], "--out names one file and --all makes several"),
        (["--all", "--task", "addition"], "argument --task: not allowed with argument --all"),
        ([], "one of the arguments --task --all is required"),
    ],
)  # fmt: skip
def test_a_bad_choice_ends_in_one_line(capsys, monkeypatch, tmp_path, words, message):
    monkeypatch.chdir(tmp_path)
    assert refused(capsys, *words).startswith(message)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name, gpu", [("cuda", torch.cuda.is_available), ("mps", torch.backends.mps.is_available)]
)
def test_a_device_that_is_not_there_is_said_before_anything_starts(capsys, name, gpu):
    if gpu():
        pytest.skip(f"this machine has {name}")
    said = refused(capsys, "--task", "addition", "--device", name)
    assert said.startswith(f"device is '{name}', which needs") and "'auto' for the best there is" in said


# ---- The word of make.py


@pytest.mark.parametrize(
    "device, more, started",
    [
        (None, [], ["--all"]),
        ("cuda", [], ["--all", "--device", "cuda"]),
        ("", ["--task", "addition"], ["--task", "addition"]),
        (None, ["--device", "mps"], ["--all", "--device", "mps"]),
    ],
)
def test_make_checkpoints(make, monkeypatch, device, more, started):
    monkeypatch.delenv("DEVICE", raising=False)
    if device is not None:
        monkeypatch.setenv("DEVICE", device)
    monkeypatch.setattr(make, "run", lambda *words: list(words))
    assert make.WORDS["checkpoints"][1](more) == ["-m", "pglab.training", "pretrain", *started]
