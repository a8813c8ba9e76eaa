"""tools/recordings.py: a tiny experiment, recorded, interrupted and gone on with."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
import recordings as tool
import torch
from experiments.variant import COLUMNS, Experiment, Variant, every_step, points

from pglab import lm, recordings, sampling, tasks
from pglab.algorithms import named
from pglab.museum import faults
from pglab.training import PostTraining, Trainer

CPU = torch.device("cpu")


pytestmark = pytest.mark.usefixtures("one_thread")


def tiny(**changes):
    """Two steps of two variants, two seeds."""
    settings = PostTraining("running_sum", "grpo", prompts=3, group_size=2, steps=2, epochs=1)
    lax = PostTraining(
        "running_sum", named("rloo"), prompts=3, group_size=2, steps=2, room=2, temperature=1.3
    )
    found = {
        "strict": Variant("a", settings, points(settings, 2)),
        "lax": Variant("b", lax, points(lax, 2), "verify_lax", {"knob": "hole"}),
    }
    measured = ("pass_at_1", "pass_at_1_error", "paid", "paid_error", "entropy", "length", "worked")
    measured += ("zero_std",)
    options = dict(measured=measured, seen=("grad_norm",), prompts=6, samples=4, keep=2, seeds=(0, 3))
    return Experiment("tiny", **{"variants": found} | options | changes)


def made(tmp_path, experiment=None):
    return tool.record("tiny", experiment or tiny(), CPU, tmp_path, progress=False)


def timeless(recording):
    return [{name: value for name, value in run.items() if name != "seconds"} for run in recording.runs]


def test_the_form_is_that_of_the_committed_files(tmp_path):
    recording = made(tmp_path / "kept")
    path = recordings.write(recording, tmp_path)
    again = recordings.read("tiny", tmp_path)
    assert again == recording and path.read_text(encoding="utf-8").count("\n  {") >= 4
    committed = json.loads((recordings.FOLDER / "verifier.json").read_text(encoding="utf-8"))
    assert json.loads(path.read_text(encoding="utf-8")).keys() == committed.keys()
    assert recording.runs[0].keys() == committed["runs"][0].keys() | {"zero_std", "grad_norm"}
    assert [(run["variant"], run["seed"]) for run in recording.runs] == [
        ("strict", 0), ("strict", 3), ("lax", 0), ("lax", 3)
    ]  # fmt: skip
    assert recording.command == "python tools/recordings.py tiny --device cpu"
    assert recording.starts == {"running_sum": lm.read_card("running_sum")["sha256"]}
    assert recording.column("strict", "samples").tolist() == [[0, 6, 12]] * 2
    assert recording.variants["lax"]["reward"] == "verify_lax" and recording.variants["lax"]["knob"] == "hole"


def test_the_settings_of_every_variant_come_back(tmp_path):
    recording, experiment = made(tmp_path), tiny()
    for label, variant in experiment.variants.items():
        assert PostTraining(**recording.settings(label)) == variant.settings
    assert "seed" not in recording.base and recording.variants["strict"]["changes"] == {}
    changes = recording.variants["lax"]["changes"]
    assert (
        changes.keys() == {"algorithm", "epochs", "room", "temperature"}
        and "clip" not in changes["algorithm"]
    )


def test_training_is_that_of_the_trainer_and_the_evaluation_does_not_disturb_it(tmp_path):
    recording, variant = made(tmp_path), tiny().variants["lax"]
    trainer = Trainer(replace(variant.settings, seed=3), reward=tasks.named("running_sum").verify_lax)
    norms = [row["grad_norm"] for row in trainer]
    assert recording.column("lax", "grad_norm")[1, 1:] == pytest.approx(norms, rel=1e-3)
    assert np.isnan(recording.column("lax", "grad_norm")[:, 0]).all()


def test_what_is_measured_against_plain_loops():
    experiment, seed = tiny(prompts=24), 3
    trainer = Trainer(
        experiment.variants["lax"].with_seed(seed), reward=tasks.named("running_sum").verify_lax
    )
    found, kept = tool.held_out(trainer, experiment, seed)
    task = trainer.task
    asked = task.prompts(24, np.random.default_rng([seed, tool.PROMPTS_STREAM]))
    stream = int(np.random.default_rng([seed, tool.SAMPLES_STREAM]).integers(2**62))
    drawn = sampling.sample(trainer.policy, asked, 4, 11, 1.3, torch.Generator().manual_seed(stream))
    texts, tokens = drawn.texts(), drawn.mask.sum()
    groups = [texts[4 * i : 4 * i + 4] for i in range(24)]
    right = [[task.verify(p, text) for text in group] for p, group in zip(asked, groups, strict=True)]
    paid = [[task.verify_lax(p, text) for text in group] for p, group in zip(asked, groups, strict=True)]
    alike = [np.mean([a == b for a, b in itertools.combinations(group, 2)]) for group in right]
    assert max(map(sum, right)) >= 2 > min(map(sum, right))
    assert found["pass_at_1"] == pytest.approx(np.mean(right))
    assert found["pass_at_1_error"] == pytest.approx(np.std(np.mean(right, 1), ddof=1) / 24**0.5)
    assert found["paid"] == pytest.approx(np.mean(paid))
    assert found["zero_std"] == pytest.approx(np.mean(alike))
    assert found["length"] == pytest.approx(float(tokens / 96))
    assert found["entropy"] == pytest.approx(float(drawn.entropies.double().sum() / tokens))
    assert found["worked"] == pytest.approx(np.mean([task.is_worked(text) for text in texts]))
    assert [one["completion"] for one in kept] == [groups[0][0], groups[1][0]]
    assert [one["right"] for one in kept] == [right[0][0], right[1][0]]


def test_pass_at_64_is_unbiased_and_stands_where_there_are_enough_completions():
    names = ("pass_at_1", "pass_at_64", "pass_at_64_error")
    experiment = tiny(measured=names, samples=65, prompts=3, keep=0)
    trainer = Trainer(experiment.variants["strict"].with_seed(0))
    found, kept = tool.held_out(trainer, experiment, 0)
    assert kept == [] and tuple(found) == names
    assert found["pass_at_1"] < found["pass_at_64"] <= 1


def test_steps_are_counted_and_the_process_reward_is_what_is_paid():
    settings = PostTraining("addition", prompts=3, group_size=2, steps=1, reward="process")
    variants = {"process": Variant("a", settings, points(settings, 1))}
    experiment = tiny(variants=variants, measured=("pass_at_1", "paid", "steps_right"), seen=())
    found, _ = tool.held_out(Trainer(settings), experiment, 0)
    assert found["paid"] == pytest.approx(found["steps_right"]) and found["paid"] >= found["pass_at_1"]


def test_prompts_that_training_draws_too_are_told_apart(monkeypatch):
    """By what the trainer really draws, until its last step; here half of what is asked at the end."""
    settings = PostTraining("countdown", prompts=4, group_size=2, steps=3, seed=7)
    trainer = Trainer(settings)
    seen = [text for _ in trainer for text in trainer.rollouts.texts]
    others = trainer.task.prompts(6, np.random.default_rng(1))
    asked = [text for pair in zip(seen[1:12:2], others, strict=True) for text in pair]
    monkeypatch.setattr(
        tasks.Countdown,
        "prompts",
        lambda self, n, rng, draw=tasks.Countdown.prompts: asked if n == 12 else draw(self, n, rng),
    )
    names = ("pass_at_1", "pass_at_1_new", "drawn")
    experiment = tiny(measured=names, samples=64, prompts=12, keep=0)
    found, _ = tool.held_out(trainer, experiment, 7)
    monkeypatch.undo()
    generator = torch.Generator().manual_seed(
        int(np.random.default_rng([7, tool.SAMPLES_STREAM]).integers(2**62))
    )
    texts = sampling.sample(trainer.policy, asked, 64, 11, generator=generator).texts()
    right = [
        np.mean([trainer.task.verify(x, y) for y in texts[64 * i : 64 * i + 64]]) for i, x in enumerate(asked)
    ]
    assert found["drawn"] == 0.5 and found["pass_at_1"] == pytest.approx(np.mean(right))
    assert found["pass_at_1_new"] == pytest.approx(np.mean(right[1::2]))


def test_a_run_is_interrupted_and_gone_on_with(tmp_path, monkeypatch):
    whole, run_once, done = made(tmp_path / "whole"), tool.run_once, []

    def counted(experiment, variant, seed, device):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append((variant.words, seed))
        return run_once(experiment, variant, seed, device)

    monkeypatch.setattr(tool, "run_once", counted)
    with pytest.raises(KeyboardInterrupt):
        made(tmp_path / "kept")
    assert done == [("a", 0), ("a", 3)] and len(list((tmp_path / "kept" / "tiny").iterdir())) == 2
    done[:] = [None] * 3  # from here on no interrupt
    recording = made(tmp_path / "kept")
    assert done[3:] == [("b", 0), ("b", 3)] and timeless(recording) == timeless(whole)


def test_a_kept_run_of_other_settings_or_a_damaged_one_is_made_again(tmp_path, monkeypatch):
    made(tmp_path)
    paths, calls, run_once = sorted((tmp_path / "tiny").iterdir()), [], tool.run_once
    paths[0].write_text(paths[0].read_text(encoding="utf-8")[:-9], encoding="utf-8")
    monkeypatch.setattr(tool, "run_once", lambda *a: calls.append(a[1:3]) or run_once(*a))
    made(tmp_path)
    assert len(calls) == 1
    made(tmp_path, tiny(prompts=7))
    assert len(calls) == 5


def test_a_gradient_that_is_no_number_ends_the_run_and_is_recorded(monkeypatch):
    advance = Trainer.advance

    def broken(self):
        if self.step == 1:
            raise ValueError("the gradient is nan; it must be finite.")
        return advance(self)

    monkeypatch.setattr(Trainer, "advance", broken)
    run = tool.run_once(tiny(), tiny().variants["strict"], 0, CPU)
    assert run["stopped"].startswith("the gradient is nan")
    assert run["pass_at_1"][2] is None and None not in run["pass_at_1"][:2]


def test_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tool, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(tool, "EXPERIMENTS", {"tiny": tiny()})
    monkeypatch.setattr(recordings.write, "__defaults__", (tmp_path,))
    assert (
        tool.main(["big"]) == 2 and "There is no recording 'big'; there are tiny." in capsys.readouterr().err
    )
    assert tool.main(["tiny", "--device", "abacus"]) == 2
    assert "device is 'abacus'" in capsys.readouterr().err
    monkeypatch.setattr(tool, "record", lambda name, e, d, r=tool.record: r(name, e, d, tool.KEPT, False))
    assert tool.main([]) == 0 and recordings.names(tmp_path) == ["tiny"]
    assert not (tmp_path / "kept" / "tiny").exists() and "tiny.json: " in capsys.readouterr().out

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(tool, "record", stop)
    assert tool.main(["tiny"]) == 130 and "the same command goes on" in capsys.readouterr().err


def test_a_panel_is_recorded_step_by_step_and_a_fault_kept_silent():
    fault = faults.FAULTS["shift_off_by_one"]
    settings = replace(fault.settings, prompts=4, group_size=8, steps=3, micro_batches=2)
    sick = Variant("run A", settings, every_step(settings), fault=fault.name, blind=True)
    names = ("reward", "grad_norm", "kl", "drawn_a_step")
    experiment = tiny(variants={"A": sick}, measured=(), seen=names)
    assert sick.points == (32, 64, 96) and sick.about() == {"words": "run A"}
    assert replace(sick, blind=False).about() == {"words": "run A", "fault": fault.name, "healthy": False}
    assert experiment.columns()["samples"] == COLUMNS["samples"]
    run = tool.run_once(experiment, sick, 3, CPU)
    rows = list(faults.trainer(fault, replace(settings, seed=3)))
    for name in names[:3]:
        assert run[name] == pytest.approx([row[name] for row in rows], rel=1e-2, abs=1e-6)
    assert run["drawn_a_step"] == [32, 32, 32]
    twin = tool.run_once(experiment, replace(sick, healed=True), 3, CPU)
    assert twin["kl"][0] < 0.1 < run["kl"][0] and twin["reward"][0] == run["reward"][0]
    marks = [tool.mark_of(experiment, each, 3, CPU) for each in (sick, replace(sick, healed=True))]
    assert marks[0] != marks[1]
