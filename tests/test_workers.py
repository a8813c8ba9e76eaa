"""Several workers: the same completions, the same gradient, the same weights; and what happens if one goes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from refusals import check
from torchrun_by_hand import KINDS, TINY, found
from training_by_hand import model, paid

from pglab import sampling, tasks, training
from pglab.training import state, workers
from pglab.training.workers import ALONE, Alone, Group, WorkerLost

SCRIPT = Path(__file__).with_name("torchrun_by_hand.py")


def torchrun(number, *words, cwd=None):
    """The end of a command that torchrun has run."""
    start = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(number)]
    where = os.pathsep.join([str(SCRIPT.parents[1]), str(SCRIPT.parent)])
    return subprocess.run(
        [*start, *map(str, words)], cwd=cwd, capture_output=True, text=True, timeout=300, check=False,
        env=os.environ | {"PYTHONPATH": where, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip


@pytest.fixture(scope="module", params=[2, 3])
def together(request, tmp_path_factory):
    """What two and three workers have found, a list with one entry for each."""
    folder = tmp_path_factory.mktemp("together")
    done = torchrun(request.param, SCRIPT, "runs", folder)
    assert done.returncode == 0, done.stderr
    return [torch.load(folder / f"{i}.pt", weights_only=True) for i in range(request.param)]


# ---- The same as one worker


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype, close", [(torch.float32, 1e-6), (torch.float64, 1e-14)])
def test_any_number_of_workers_has_the_gradient_of_one(together, kind, dtype, close):
    alone = found(KINDS[kind], dtype, ALONE)
    for each in together:
        gradient = each[kind, str(dtype)]["gradient"]
        assert (gradient - alone["gradient"]).norm() <= close * alone["gradient"].norm() > 0


@pytest.mark.parametrize("kind", KINDS)
def test_any_number_of_workers_has_the_completions_and_the_curve_of_one(together, kind):
    alone = found(KINDS[kind], torch.float64, ALONE)
    for each in together:
        mine = each[kind, "torch.float64"]
        assert mine["answers"] == alone["answers"]
        assert len(mine["rows"]) == len(alone["rows"]) == 3
        for row, other in zip(mine["rows"], alone["rows"], strict=True):
            assert row == pytest.approx(other, rel=1e-9, abs=1e-12, nan_ok=True)
        torch.testing.assert_close(mine["weights"], alone["weights"], rtol=1e-9, atol=1e-12)


def test_all_workers_end_with_the_same_weights_to_the_last_bit(together):
    first, *others = together
    for key in first:
        assert all(torch.equal(first[key]["weights"], other[key]["weights"]) for other in others)


def test_the_noise_of_the_gradient_counts_the_micro_batches_of_all(together):
    kind = "token mean, three micro-batches"
    first, *others = (each[kind, "torch.float64"]["all"] for each in together)
    assert all(row["grad_noise"] > 0 for row in first)
    assert all(
        [row["grad_noise"] for row in other] == [row["grad_noise"] for row in first] for other in others
    )


def test_workers_whose_weights_differ_are_noticed(tmp_path):
    assert torchrun(2, SCRIPT, "different", tmp_path).returncode == 0
    for number in range(2):
        said = (tmp_path / f"{number}.txt").read_text()
        assert said.startswith("the workers have different weights (") and "must be the same" in said


# ---- The command


def test_torchrun_gives_the_curve_of_one_process(tmp_path):
    words = ["grpo", "--task", "addition", "--steps", "12", "--evaluate", "64"]
    two = torchrun(2, "-m", "pglab.training", *words, "--out", "two.safetensors", cwd=tmp_path)
    one = subprocess.run(
        [sys.executable, "-m", "pglab.training", *words, "--out", "one.safetensors"], cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(SCRIPT.parents[1])}, check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert two.returncode == 0, two.stderr
    assert "2 workers, which have ended with the same weights, to the last bit." in two.stdout
    assert two.stdout.count("pass@1") == 1 and "workers" not in one.stdout
    curves, cards = (
        [read(tmp_path / f"{name}.{end}") for name in ("one", "two")] for end in ("jsonl", "json")
    )
    assert [card["workers"] for card in cards] == [1, 2]
    for alone, both in zip(
        *curves, strict=True
    ):  # float32: the first steps agree closely, later ones may fork
        assert both["samples"] == alone["samples"] and abs(both["reward"] - alone["reward"]) < 0.04
    assert curves[0][0]["reward"] == curves[1][0]["reward"]


def read(path):
    lines = path.read_text(encoding="utf-8")
    return [json.loads(line) for line in lines.splitlines()] if path.suffix == ".jsonl" else json.loads(lines)


def test_a_killed_worker_ends_the_other_and_nothing_is_lost(tmp_path):
    out = tmp_path / "a.safetensors"
    words = ["grpo", "--task", "addition", "--steps", "6", "--evaluate", "0", "--out", out]
    done = torchrun(2, SCRIPT, "deadly", tmp_path, *words)
    assert done.returncode == 1
    assert "Worker 0 of 2: " in done.stderr and "another worker has gone" in done.stderr
    assert (
        "Stopped at step 3. It is kept in a.unfinished: the same command goes on from there." in done.stderr
    )
    assert [path.name for path in tmp_path.iterdir()] == ["a.unfinished"]
    kept = state.read(state.place(out))
    assert kept["step"] == 3 == len(kept["rows"]) and kept["marks"]["workers"] == 2
    kept["marks"]["reward function"] = "__main__.paid_right"
    whole = torchrun(2, SCRIPT, "paid_right", tmp_path, *words[:-1], tmp_path / "whole.safetensors")
    assert whole.returncode == 0, whole.stderr
    state.write(state.place(out), kept)
    rest = torchrun(2, SCRIPT, "paid_right", tmp_path, *words)
    assert rest.returncode == 0 and rest.stdout.count("Going on from step 3 of 6.") == 1, rest.stderr
    assert out.read_bytes() == (tmp_path / "whole.safetensors").read_bytes()
    assert not state.place(out).exists()


def test_a_worker_that_fails_says_why_and_the_other_that_it_is_alone(tmp_path):
    words = [
        "grpo",
        "--task",
        "addition",
        "--steps",
        "6",
        "--evaluate",
        "0",
        "--out",
        tmp_path / "a.safetensors",
    ]
    done = torchrun(2, SCRIPT, "failing", tmp_path, *words)
    assert done.returncode == 1
    assert "Worker 1 of 2: Step 1: reward is nan" in done.stderr and "That was for prompt" in done.stderr
    assert "Worker 0 of 2: " in done.stderr and "another worker has gone" in done.stderr


def test_a_run_goes_on_with_as_many_workers(tmp_path):
    kept = tmp_path / "a.unfinished"
    run = training.Trainer(TINY, kept=kept, model=model(torch.float32), reward=paid)
    run.advance()
    run.remember()
    run.good["marks"]["workers"] = 2
    run.write()
    with pytest.raises(ValueError, match="an unfinished run with workers 2, not 1.* forget it with --fresh"):
        training.Trainer(TINY, kept=kept, model=model(torch.float32), reward=paid)
    del run.good["marks"]["workers"]  # a state of earlier days
    run.write()
    assert training.Trainer(TINY, kept=kept, model=model(torch.float32), reward=paid).step == 1


@pytest.mark.parametrize(
    "words, said",
    [
        (["pretrain", "--task", "addition"], "pretrain runs in one process; start it without torchrun."),
        (
            ["grpo", "--task", "addition", "--prompts", "1"],
            "prompts is 1; it must be at least 2 for 2 workers",
        ),
        (["grpo", "--task", "addition", "--device", "mps"], "device is 'mps'"),
    ],
)
def test_what_two_workers_cannot_do_is_refused_before_anything_starts(tmp_path, words, said):
    done = torchrun(2, "-m", "pglab.training", *words, "--out", tmp_path / "a.safetensors")
    assert done.returncode == 1 and f"Worker 0 of 2: {said}" in done.stderr
    assert list(tmp_path.iterdir()) == []


# ---- Parts


@given(st.integers(0, 40), st.integers(1, 9))
def test_parts_cover_everything_once_and_differ_by_one_at_most(many, count):
    parts = [list(range(many))[Group(i, count).part(many)] for i in range(count)]
    assert sum(parts, []) == list(range(many))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    assert ALONE.part(many) == slice(0, many)


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 99), st.sampled_from([0.5, 1.0]))
def test_a_part_draws_what_the_whole_batch_would_have_drawn(batch, count, seed, temperature):
    network, prompts = model(torch.float64), tasks.Addition().prompts(batch, np.random.default_rng(seed))

    def drawn(texts, among):
        generator = torch.Generator().manual_seed(seed)
        return sampling.sample(network, texts, 3, 5, temperature, generator, among=among)

    whole, parts = drawn(prompts, None), []
    for number in range(min(count, batch)):
        mine = Group(number, min(count, batch)).part(batch)
        parts.append(drawn(prompts[mine], (mine.start, batch)))
    assert torch.equal(whole.tokens, torch.cat([part.tokens for part in parts]))
    torch.testing.assert_close(whole.logprobs, torch.cat([part.logprobs for part in parts]))


@pytest.mark.parametrize(
    "among, said",
    [
        (3, "among is 3; it must be (first, all), two whole numbers, or None."),
        ((1, 2, 3), "among is (1, 2, 3); it must be (first, all)"),
        ((-1, 4), "among[0] is -1; it must be a whole number, at least 0."),
        ((0, 1.5), "among[1] is 1.5; it must be a whole number, at least 1."),
        ((3, 4), "among is (3, 4), for 2 prompts; a batch of 4 has 1 from number 3 on."),
        ((9, 4), "among is (9, 4), for 2 prompts; a batch of 4 has 0 from number 9 on."),
    ],
)
def test_a_place_that_cannot_be_is_refused(among, said):
    check(lambda: sampling.sample(model(torch.float32), ["1", "2"], among=among), said)


# ---- What torchrun says


def test_without_torchrun_nothing_is_joined(monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    with workers.joined(torch.device("cpu")) as group:
        assert group is ALONE and group.first and group.count == 1
    assert workers.who() == "" and not workers.several()
    assert (ALONE.gathered(3), ALONE.told(4), ALONE.add_up(), ALONE.agree(None)) == ([3], 4, None, None)


def test_every_worker_of_a_machine_has_its_own_gpu(monkeypatch):
    for name, value in dict(RANK="5", WORLD_SIZE="8", LOCAL_RANK="1").items():
        monkeypatch.setenv(name, value)
    assert workers.who() == "Worker 5 of 8: " and workers.local("cpu") == torch.device("cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert workers.local("auto") == workers.local("cuda") == torch.device("cuda", 1)
    check(
        lambda: workers.local("cuda:0"),
        "device is 'cuda:0'; it must be cpu, cuda or auto for several workers",
    )
    monkeypatch.setenv("LOCAL_RANK", "2")
    check(
        lambda: workers.local("auto"),
        "this is worker 2 of its machine, counted from 0, which has 2 GPUs; start",
    )


def test_an_error_of_the_network_names_what_is_lost(monkeypatch):
    monkeypatch.setattr(workers, "undisturbed", lambda: None)

    def broken(_):
        raise RuntimeError("Connection closed by peer " + "and more " * 50)

    with pytest.raises(WorkerLost) as error:
        workers.together(Alone(), broken, 1)
    assert "another worker has gone" in str(error.value) and len(str(error.value)) < 320


def test_a_signal_of_torchrun_says_that_another_worker_may_have_gone(monkeypatch):
    monkeypatch.setattr(workers, "undisturbed", lambda: None)
    with pytest.raises(WorkerLost, match="another worker has gone or when it is told to stop."):
        workers.stop(15, None)
