"""A post-training run: stopped anywhere and gone on with, and the files that it leaves."""

import json
import math
from dataclasses import replace

import pytest
import torch
from training_by_hand import model, paid

from pglab import _files, algorithms, lm, tasks, training
from pglab.training import post_training, pretraining, state, trainer, unfinished

TINY = training.PostTraining("addition", prompts=3, group_size=3, steps=5, learning_rate=0.01, seed=2)
FEW = dict(device="cpu", progress=False, prompts=0, reward=paid)
KINDS = {
    "grpo": TINY,
    "a critic": replace(TINY, algorithm="ppo", warmup=3),
    "dynamic sampling": replace(TINY, algorithm="dapo", micro_batches=2),
    "a reference": replace(TINY, algorithm=algorithms.named("rloo", kl=0.2), temperature=0.8),
}


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """A checkpoint to start from, far from the uniform policy."""
    path = tmp_path_factory.mktemp("start") / "tiny.safetensors"
    lm.save(model(torch.float32), path, {"task": "addition"})
    return str(path)


def numbers(made):
    return torch.cat([p.detach().flatten() for p in made.parameters()])


def without_seconds(rows):
    """NaN is equal to nothing, not to itself either."""
    return [{k: str(v) if v != v else v for k, v in row.items() if k != "seconds"} for row in rows]


def run(settings, start, path=None, **more):
    return training.post_train(replace(settings, start=start), path, **{**FEW, **more})


def stop(*_, **__):
    raise KeyboardInterrupt


# ---- Stopped and gone on with


@pytest.mark.parametrize("kind", KINDS)
def test_two_runs_are_the_same_bit_for_bit(start, kind):
    one, other = (run(KINDS[kind], start) for _ in range(2))
    assert torch.equal(numbers(one.model), numbers(other.model))
    assert without_seconds(one.rows) == without_seconds(other.rows) and len(one.rows) == 5
    third = run(replace(KINDS[kind], seed=3), start)
    assert not torch.equal(numbers(one.model), numbers(third.model))
    assert not torch.equal(numbers(one.model), numbers(lm.load(start, "cpu")))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("at", [0, 1, 4])
def test_a_run_that_is_stopped_in_a_step_ends_as_one_that_was_not(monkeypatch, tmp_path, start, kind, at):
    """Stopped when the weights of step ``at`` have moved already."""
    whole, path, done = (
        run(KINDS[kind], start, tmp_path / "whole.safetensors"),
        tmp_path / "a.safetensors",
        [],
    )
    step = trainer.Update.run

    def stopping(self):
        seen = step(self)
        done.append(seen)
        return stop() if len(done) > at else seen

    monkeypatch.setattr(trainer.Update, "run", stopping)
    with pytest.raises(pretraining.Interrupted) as caught:
        run(KINDS[kind], start, path)
    monkeypatch.undo()
    said = f"Stopped at step {at}. It is kept in a.unfinished: the same command goes on from there."
    assert str(caught.value) == said and not path.exists()
    assert state.read(state.place(path))["step"] == at == len(state.read(state.place(path))["rows"])
    after = run(KINDS[kind], start, path)
    assert without_seconds(after.rows) == without_seconds(whole.rows)
    assert torch.equal(numbers(after.model), numbers(whole.model))
    assert path.read_bytes() == (tmp_path / "whole.safetensors").read_bytes()
    assert not state.place(path).exists()


@pytest.mark.parametrize("where", ["watch", "collect", "evaluate", "twice"])
def test_wherever_it_is_stopped(monkeypatch, tmp_path, start, where):
    path, seen = tmp_path / "a.safetensors", []
    whole = run(TINY, start, tmp_path / "b.safetensors", prompts=2)
    draw = trainer.collect

    def late(*args):
        seen.append(args)
        return stop() if len(seen) == 3 else draw(*args)

    def watch(run):
        return stop() if run.step == 2 else None

    if where == "evaluate":
        monkeypatch.setattr(post_training, "evaluate", stop)
    elif where != "watch":
        monkeypatch.setattr(trainer, "collect", late)
    with pytest.raises(pretraining.Interrupted):
        run(TINY, start, path, prompts=2, watch=watch if where == "watch" else None)
    kept = state.read(state.place(path))["step"]
    assert kept == {"watch": 1, "evaluate": 5}.get(where, 2)
    if where == "twice":
        seen.clear()
        with pytest.raises(pretraining.Interrupted, match="step 4"):
            run(TINY, start, path, prompts=2)
    monkeypatch.undo()
    after = run(TINY, start, path, prompts=2)
    assert torch.equal(numbers(after.model), numbers(whole.model)) and after.scores == whole.scores
    assert without_seconds(after.rows) == without_seconds(whole.rows)
    seconds = after.column("seconds")
    assert seconds == sorted(seconds) and after.column("step") == [0, 1, 2, 3, 4]


def test_without_a_path_nothing_is_kept(start):
    with pytest.raises(pretraining.Interrupted, match="Stopped at step 0. Nothing is kept."):
        run(TINY, start, watch=stop)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"seed": 5}, "seed 2, not 5"),
        ({"prompts": 4, "temperature": 0.8}, "prompts 3, not 4, temperature 1.0, not 0.8"),
        ({"algorithm": algorithms.named("grpo", kl=0.1)}, "kl 0.0, not 0.1"),
        ({"algorithm": algorithms.named("grpo", clip=(0.1, 0.2))}, r"clip \[0.2, 0.2\], not \[0.1, 0.2\]"),
        ({"algorithm": "rloo"}, "name grpo, not rloo, .*ratio token, not sequence_product"),
        ({}, "threads 1, not 2"),
    ],
)
def test_a_run_of_other_settings_is_not_mixed_in(tmp_path, start, change, words):
    path = tmp_path / "a.safetensors"
    with pytest.raises(pretraining.Interrupted):
        run(TINY, start, path, watch=stop)
    before = state.place(path).read_bytes()
    with pytest.raises(
        ValueError, match=f"^a.unfinished is an unfinished run with {words}.*--fresh"
    ) as caught:
        run(replace(TINY, **change), start, path, threads=1 if change else 2)
    assert str(caught.value).count(", not ") == words.count(", not ") or change.get("algorithm") == "rloo"
    assert state.place(path).read_bytes() == before and not path.exists()


def test_the_state_may_lie_elsewhere(tmp_path, start):
    path, other = tmp_path / "a.safetensors", tmp_path / "deep" / "s"
    with pytest.raises(pretraining.Interrupted, match="kept in s: "):
        run(TINY, start, path, state=other, watch=stop)
    assert other.exists() and not state.place(path).exists()
    run(TINY, start, path, state=other)
    assert not other.exists() and path.exists()


def test_a_trainer_alone_goes_on_too(tmp_path, start, capsys):
    made = replace(KINDS["a reference"], start=start)
    whole = training.Trainer(made, reward=paid)
    list(whole)
    first = training.Trainer(made, kept=tmp_path / "s", reward=paid)
    for row in first:
        if row["step"] == 2:
            break
    first.remember()
    assert first.write() == "It is kept in s: the same command goes on from there."
    second = training.Trainer(made, kept=tmp_path / "s", reward=paid)
    assert capsys.readouterr().out == "Going on from step 3 of 5.\n" and second.seconds == first.seconds
    assert [row["step"] for row in second] == [3, 4]
    assert torch.equal(numbers(second.model), numbers(whole.model))
    assert without_seconds(second.rows) == without_seconds(whole.rows)


def test_a_state_is_written_now_and_then(monkeypatch, tmp_path, start):
    path, seen = tmp_path / "a.safetensors", []
    monkeypatch.setattr(unfinished, "KEEP", -1)
    write = state.write
    monkeypatch.setattr(state, "write", lambda place, made: seen.append(made["step"]) or write(place, made))
    run(TINY, start, path)
    assert seen == [1, 2, 3, 4]  # and not after the last, which the weights follow
    seen.clear()
    monkeypatch.setattr(unfinished, "KEEP", 1000)
    run(TINY, start, path)
    assert seen == []


# ---- What it leaves


def test_files_say_where_the_weights_come_from(tmp_path, start):
    settings = KINDS["a reference"]
    made = run(settings, start, tmp_path / "new" / "a.safetensors", prompts=3)
    assert {p.name for p in (tmp_path / "new").iterdir()} == {"a.safetensors", "a.json", "a.jsonl"}
    loaded, card = (
        lm.load(tmp_path / "new" / "a.safetensors", "cpu"),
        lm.read_card(tmp_path / "new/a.safetensors"),
    )
    assert torch.equal(numbers(loaded), numbers(made.model)) and card == made.card
    assert torch.equal(numbers(loaded), numbers(loaded).half().float())
    assert training.PostTraining(**card["settings"]) == replace(settings, start=start)
    assert card["task"] == "addition" and card["words"] == "rloo on addition, from tiny.safetensors"
    assert card["threads"] == 1 and card["torch"] == torch.__version__ and card["device"].startswith("cpu (")
    assert card["completions"] == 5 * 9 == made.rows[-1]["samples"]
    assert card["seconds"] == round(made.rows[-1]["seconds"], 1)
    assert card["pass_at_1"] == round(made.scores.pass_at_1, 5) and card["prompts"] == 3
    again = training.evaluate(loaded, tasks.named("addition"), 3, seed=settings.seed)
    assert made.scores == again
    without = run(settings, start)
    assert without.scores is None and "pass_at_1" not in without.card and "sha256" not in without.card
    assert torch.equal(numbers(without.model).half().float(), numbers(loaded))
    assert not torch.equal(numbers(without.model), numbers(loaded))  # rounded only where it is written


def refuse(name):
    raise AssertionError(f"{name} is no JSON")


@pytest.mark.parametrize("kind", ["grpo", "dynamic sampling"])
def test_the_curve_is_one_line_of_json_a_step(tmp_path, start, kind):
    made = run(KINDS[kind], start, tmp_path / "a.safetensors")
    text = (tmp_path / "a.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line, parse_constant=refuse) for line in text.splitlines()]
    assert len(rows) == 5 and text.endswith("}\n") and [row["step"] for row in rows] == [0, 1, 2, 3, 4]
    for row, seen in zip(rows, made.rows, strict=True):
        assert list(row) == list(training.PANEL)
        for name, value in row.items():
            assert value == seen[name] or (value is None and math.isnan(seen[name]))
    assert rows[0]["kl_ref"] is None and (rows[0]["grad_noise"] is None) == (kind == "grpo")


def test_infinity_is_no_json_either(monkeypatch, tmp_path, start):
    step = trainer.Trainer.advance

    def endless(self):
        step(self)["kl_ref"] = math.inf

    monkeypatch.setattr(trainer.Trainer, "advance", endless)
    run(TINY, start, tmp_path / "a.safetensors")
    for line in (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines():
        assert json.loads(line, parse_constant=refuse)["kl_ref"] is None


def test_a_watcher_sees_every_step_and_changes_nothing(start):
    seen = []
    made = run(
        TINY, start, watch=lambda run: seen.append((run.step, run.rows[-1]["step"], len(run.rollouts.texts)))
    )
    assert seen == [(i + 1, i, 3) for i in range(5)]
    assert torch.equal(numbers(made.model), numbers(run(TINY, start).model))
    assert made.column("step") == [0, 1, 2, 3, 4]


def test_the_bar_shows_reward_and_length(start, capfd):
    run(TINY, start, progress=True)
    said = capfd.readouterr().err
    assert "addition" in said and "5/5" in said and "reward=0." in said and "length=" in said


def test_threads_are_put_back(start):
    before = torch.get_num_threads()
    assert run(replace(TINY, steps=1), start, threads=2).card["threads"] == 2
    with pytest.raises(ValueError, match="^Step 0: reward is nan"):
        run(TINY, start, threads=2, reward=lambda *_: math.nan)
    assert torch.get_num_threads() == before


def test_what_is_written_appears_together(monkeypatch, tmp_path, start):
    seen, write = [], _files.write_whole
    monkeypatch.setattr(
        _files, "write_whole", lambda files: seen.append([p.name for p in files]) or write(files)
    )
    run(TINY, start, tmp_path / "a.safetensors")
    assert seen == [["a.safetensors", "a.json", "a.jsonl"]]
