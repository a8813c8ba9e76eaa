"""Post-training on a bad day: rewards, prompts, folders and disks. Nothing good is lost."""

import math
from dataclasses import replace

import pytest
import torch
from disks_by_hand import fills_up, full
from refusals import check
from training_by_hand import model, paid, settings, trainer

from pglab import _files, lm, tasks, training
from pglab.training import post_training, state, unfinished
from pglab.training.update import Update


@pytest.fixture
def tiny(tmp_path):
    """Settings that start from a small checkpoint."""
    path = tmp_path / "start" / "tiny.safetensors"
    lm.save(model(torch.float32), path, {})
    return settings(start=path, prompts=3, steps=4, learning_rate=0.01)


def run(made, path=None, **more):
    return training.post_train(
        made, path, **{**dict(device="cpu", progress=False, prompts=0, reward=paid), **more}
    )


def numbers(made):
    return torch.cat([p.detach().flatten() for p in made.parameters()])


# ---- Rewards


@pytest.mark.parametrize(
    "value, word",
    [(math.nan, "nan"), (math.inf, "inf"), ("good", "'good'"), ([1, 2], "shape"), (1j, "1j"), ({}, "{}")],
)
def test_a_reward_that_is_no_number_is_said_with_its_completion(value, word):
    with pytest.raises(ValueError) as caught:
        trainer(reward=lambda prompt, completion: value).advance()
    said = str(caught.value)
    assert said.startswith("reward ") and word in said and "it must be one finite number." in said
    assert "That was for prompt '" in said and "Return None for a completion that cannot be scored." in said


@pytest.mark.parametrize("value", [True, 1, torch.tensor(1.0), torch.ones(1).numpy()[0]])
def test_any_kind_of_number_will_do(value):
    run = trainer(reward=lambda *_: value)
    assert run.advance()["reward"] == 1.0 and run.rollouts.rewards.dtype == float


def test_a_bad_reward_in_the_third_step_keeps_the_two_before(tmp_path, tiny):
    path, calls = tmp_path / "a.safetensors", []

    def judged(prompt, completion):
        calls.append(prompt)
        return math.nan if len(calls) == 25 else paid(prompt, completion)

    with pytest.raises(
        ValueError,
        match="^Step 2: reward is nan; .* It is kept in a.unfinished: the same .*Mend the cause first",
    ):
        run(tiny, path, reward=judged)
    assert state.read(state.place(path))["step"] == 2 and not path.exists()
    after, whole = run(tiny, path, reward=judged), run(tiny)  # the call that failed is over
    assert torch.equal(numbers(after.model), numbers(whole.model).half().float())
    assert after.column("reward") == whole.column("reward")
    with pytest.raises(
        ValueError, match="^Step 0: reward is 'x'; .* No step was finished, so nothing is kept."
    ):
        run(tiny, reward=lambda *_: "x")


def test_a_gradient_that_is_not_finite_moves_nothing():
    run = trainer(start=model(torch.float32), algorithm="reinforce", reward=lambda *_: 1e38, prompts=2)
    before = numbers(run.policy).clone()
    with pytest.raises(
        ValueError, match="the gradient is (inf|nan); it must be finite. A smaller learning_rate"
    ):
        run.advance()
    assert torch.equal(numbers(run.policy), before) and run.rows == [] and run.step == 0


# ---- Prompts and models


class Odd(tasks.Addition):
    """Prompts of whatever lengths one likes."""

    lengths = (8, 6)

    def prompts(self, n, rng):
        made = super().prompts(n, rng)
        return [text[: self.lengths[i % 2]] for i, text in enumerate(made)]


@pytest.mark.parametrize("lengths, words", [((8, 6), "6 and 8"), ((5, 5), "5"), ((3, 2), "2 and 3")])
def test_prompts_of_another_length_are_refused(lengths, words):
    task = Odd()
    object.__setattr__(task, "lengths", lengths)
    run = training.Trainer(settings(), model=model(), task=task, reward=lambda *_: 1.0)
    message = f"addition gives prompts of {words} characters; all must have 8, its prompt_length"
    check(run.advance, message)


@pytest.mark.parametrize(
    "shape, change, message",
    [
        ({"context": 11}, {}, "addition reads 11 tokens; addition needs 12. Take less room"),
        ({"context": 12}, {"room": 1}, "addition reads 12 tokens; addition needs 13, of which room is 1."),
        ({"vocabulary": 31}, {}, "addition knows 31 tokens; it must be 32."),
    ],
)
def test_a_model_that_cannot_read_the_task_is_refused_at_once(shape, change, message):
    check(lambda: training.Trainer(settings(**change), model=model(**shape)), message)


def test_a_model_that_is_long_enough_is_taken():
    assert training.Trainer(settings(room=1), model=model(context=13), reward=paid).advance()["grad_norm"] > 0
    check(
        lambda: training.Trainer(settings(), model=model(context=16), task=tasks.Addition(digits=5)),
        "addition reads 16 tokens; addition needs 18.",
    )


def test_a_start_that_is_not_there(tmp_path):
    check(lambda: training.Trainer(settings(start="nowhere")), "There is no nowhere.json in")
    with pytest.raises(ValueError, match="There is no nowhere.json"):
        run(settings(start=tmp_path / "nowhere.safetensors"), tmp_path / "a.safetensors")
    assert list(tmp_path.iterdir()) == []
    check(lambda: training.Trainer(settings(), "tpu", model=model()), "device is 'tpu'; it must be one of")


# ---- Folders and disks


def test_what_is_asked_for_wrongly_is_said_before_anything_starts(monkeypatch, tmp_path, tiny):
    monkeypatch.setattr(Update, "run", lambda *_: pytest.fail("it was tried too late"))
    check(
        lambda: run(tiny, tmp_path / "a.bin"),
        f"path is {str(tmp_path / 'a.bin')!r}; it must end in .safetensors.",
    )
    check(lambda: run(tiny, prompts=1), "prompts is 1; it must be a whole number, at least 2.")
    check(lambda: run(tiny, threads=0), "threads is 0; it must be a whole number, at least 1.")
    check(lambda: run(tiny, device="tpu"), "device is 'tpu'; it must be one of auto, cpu, cuda, mps")
    (tmp_path / "way").write_text("a file")
    with pytest.raises(OSError, match="a.safetensors cannot be written to .*way.*Nothing was started.*--out"):
        run(tiny, tmp_path / "way" / "a.safetensors")
    for name in ("b.safetensors", "b.json", "b.jsonl", "b.unfinished"):
        (tmp_path / name).mkdir()
        with pytest.raises(OSError, match=f"{name} cannot be written.*a folder of this name is in the way"):
            run(tiny, tmp_path / "b.safetensors")
        (tmp_path / name).rmdir()
    monkeypatch.setattr(state.tempfile, "TemporaryFile", full)
    with pytest.raises(OSError, match="c.safetensors cannot be written to .*No space left"):
        run(tiny, tmp_path / "new" / "c.safetensors")


@pytest.mark.parametrize("broken", ["replace", "fsync"])
def test_a_full_disk_at_the_end_keeps_what_was_there(monkeypatch, tmp_path, tiny, broken):
    path = tmp_path / "a.safetensors"
    run(tiny, path)
    before = {p.name: p.read_bytes() for p in tmp_path.glob("a.*")}
    monkeypatch.setattr(_files.os, broken, full)
    with pytest.raises(OSError, match="No space left.*unchanged"):
        run(replace(tiny, seed=4), path)
    monkeypatch.undo()
    assert {p.name: p.read_bytes() for p in tmp_path.glob("a.*")} == before and len(before) == 3


def test_what_finds_no_room_for_the_weights_is_kept_as_an_unfinished_run(monkeypatch, tmp_path, tiny):
    path = tmp_path / "a.safetensors"
    monkeypatch.setattr(post_training.lm, "save", full)
    with pytest.raises(OSError):
        run(tiny, path)
    monkeypatch.undo()
    assert state.read(state.place(path))["step"] == 4 and not path.exists()
    whole = run(tiny)
    monkeypatch.setattr(Update, "run", lambda *_: pytest.fail("nothing is left to do"))
    assert torch.equal(numbers(run(tiny, path).model), numbers(whole.model).half().float()) and path.exists()


@pytest.mark.parametrize("stop", [KeyboardInterrupt, ValueError, OSError])
def test_a_disk_that_fills_up_keeps_the_last_good_state(monkeypatch, tmp_path, tiny, stop):
    path, seen = tmp_path / "a.safetensors", fills_up(monkeypatch)

    def watch(run):
        if run.step == 2 and stop is not OSError:
            raise stop("stopped")

    monkeypatch.setattr(unfinished, "KEEP", -1)
    with pytest.raises(OSError, match="No space left"):
        run(tiny, path, watch=watch)
    monkeypatch.undo()
    assert len(seen) >= 2 and state.read(state.place(path))["step"] == 1
    assert run(tiny, path).column("reward") == run(tiny).column("reward")


def test_a_damaged_state_is_said_and_the_run_starts_afresh(capsys, tmp_path, tiny):
    path = tmp_path / "a.safetensors"
    state.place(path).write_bytes(b"half a state")
    made = run(tiny, path)
    assert "a.unfinished is damaged" in (said := capsys.readouterr().out) and "Starting afresh." in said
    assert made.column("reward") == run(tiny).column("reward") and not state.place(path).exists()
