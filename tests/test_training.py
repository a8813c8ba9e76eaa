"""Pretraining: settings, corpora as tensors, the loss, a run that can be stopped, and its scores."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
import torch
from refusals import check

from pglab import lm, logprobs, tasks, training
from pglab.diagnostics import pass_at_k
from pglab.training import corpus, pretraining, run, settings, state

TINY = training.Pretraining("addition", seed=3, examples=200, steps=24, batch=8, warmup=4, width=8, heads=2)
FEW = dict(device="cpu", progress=False, prompts=4)


def numbers(model):
    return {name: value.detach().clone() for name, value in model.named_parameters()}


def equal(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


# ---- Settings


def test_settings_are_frozen_and_steps_are_one_number_a_stage():
    assert TINY.steps == (24,) and TINY.total == 24
    both = training.Pretraining("running_sum", steps=5)
    assert both.steps == (5, 5) and [both.corpus(i) for i in (0, 4, 5, 9)] == [0, 0, 1, 1]
    with pytest.raises(FrozenInstanceError):
        TINY.steps = 3


@pytest.mark.parametrize(
    "change, message",
    [
        ({"task": "subtraction"}, "task is 'subtraction'; it must be one of addition, running_sum"),
        ({"steps": 0}, "steps is 0"),
        ({"steps": (3, 4)}, "steps has length 2; it must be 1, one number for each corpus"),
        ({"before": "subtraction"}, "before is 'subtraction'; it must be one of"),
        (
            {"before": "countdown"},
            "before has prompts and answers of (12, 10) tokens; it must be a task with (8, 4)",
        ),
        ({"batch": 0}, "batch is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"learning_rate": float("nan")}, "learning_rate is nan"),
        ({"width": 9}, "width is 9; it must be a multiple of heads, which is 2"),
        ({"context": 11}, "context is 11; it must be at least 12 for addition: prompts have 8 tokens"),
    ],
)
def test_settings_that_cannot_work_are_refused_before_anything_starts(change, message):
    check(lambda: replace(TINY, **change), message)


@pytest.mark.parametrize("name", training.PRETRAINED)
def test_every_shipped_checkpoint_has_its_settings_under_the_name_of_its_task(name):
    assert training.PRETRAINED[name].task == name and training.preset(name) == training.PRETRAINED[name]
    assert settings.default_path(training.preset(name)) == lm.DATA / f"{name}.safetensors"
    large = training.preset(name, "large")
    assert large.width > training.preset(name).width and large.bfloat16


def test_nothing_else_is_written_over_what_ships():
    names = [
        settings.default_path(training.preset("addition", size, seed)).name
        for size in ("small", "large")
        for seed in (None, 7)
    ]
    assert len(set(names)) == 4
    assert settings.default_path(training.preset("addition", steps=7)) is None


@pytest.mark.parametrize(
    "made, path, command",
    [
        (training.preset("addition"), lm.DATA / "addition.safetensors", "addition --device cpu"),
        (training.preset("addition", seed=7), None, "addition --seed 7 --device cpu"),
        (
            training.preset("running_sum", steps=(2, 3)),
            lm.DATA / "a b.safetensors",
            "running_sum --steps 2 3 --out 'a b.safetensors' --device cpu",
        ),
        (
            training.preset("addition", "large", examples=9),
            None,
            "addition --preset large --examples 9 --device cpu",
        ),
    ],
)
def test_the_card_says_the_command(made, path, command):
    assert settings.command(made, path) == f"python -m pglab.training pretrain --task {command}"


def test_another_task_may_come_before():
    made = training.Pretraining("countdown", before="countdown_solver", examples=40, steps=(2, 1))
    assert made.corpora == [(tasks.named("countdown_solver"), 0), (tasks.named("countdown"), 0)]
    assert [made.corpus(step) for step in range(3)] == [0, 0, 1]
    first, then = (corpus.make(made, number) for number in (0, 1))
    solved = [np.mean(list(map(is_solved, read.inputs, read.targets))) for read in (first, then)]
    assert solved[0] == 1 and 0.2 < solved[1] < 0.6


def is_solved(inputs, targets):
    text = lm.decode(torch.where(targets < 0, lm.END, targets))
    return tasks.named("countdown").verify(lm.decode(inputs[:12]), text)


def test_settings_beyond_the_command_are_said_in_python():
    text = settings.command(TINY).removeprefix("pglab.training.pretrain(pglab.training.")
    assert eval(text.removesuffix(", threads=1)"), {"Pretraining": training.Pretraining}) == TINY


# ---- The corpus and the loss


def test_a_corpus_says_what_the_task_says():
    made = training.Pretraining("running_sum", examples=50)
    read = corpus.make(made, 1)
    pairs = tasks.named("running_sum").corpus(50, np.random.default_rng([0, corpus.CORPUS_STREAM, 1]), 1)
    assert {len(completion) for _, completion in pairs} == {1, 8}
    for (prompt, completion), inputs, targets in zip(pairs, *read, strict=True):
        wanted = [*lm.encode(completion).tolist(), lm.END]
        assert targets.tolist() == wanted + [corpus.IGNORED] * (9 - len(wanted))
        assert lm.decode(inputs[:8]) == prompt and inputs[8:].tolist() == (wanted + [lm.END] * 9)[:8]


def test_the_loss_is_the_mean_over_completion_and_end_token_by_the_room_logprobs():
    made = training.Pretraining("running_sum", examples=20, width=8, heads=2)
    model, read = run.start(made), corpus.make(made, 1)
    last = torch.where(read.targets[:, -1:] < 0, lm.END, read.targets[:, -1:])
    text = torch.cat([read.inputs, last], 1)
    mask = logprobs.completion_mask(text[:, 8:], lm.END)
    wanted = -logprobs.token_logprobs(model(text), text)[:, 7:][mask].mean()
    assert torch.allclose(run.loss_of(model, *read), wanted, atol=1e-6)


def test_a_step_s_examples_depend_on_its_number_alone():
    every = corpus.rows(TINY, 0, 20)
    assert every.shape == (20, 8) and torch.equal(every[13:17], corpus.rows(TINY, 13, 17))
    assert not torch.equal(every[0], every[1]) and every.max() < 200
    assert not torch.equal(every, corpus.rows(replace(TINY, seed=4), 0, 20))


def test_the_learning_rate_rises_and_falls():
    pace = np.array([run.pace(TINY, step) for step in range(24)])
    assert np.allclose(pace[:4], [0.25, 0.5, 0.75, 1]) and pace[4] == 1
    assert (np.diff(pace[4:]) < 0).all() and np.isclose(pace[14], 0.5) and 0 < pace[-1] < 0.01
    two = replace(TINY, task="running_sum", steps=(24, 24), later=0.3)
    assert np.allclose([run.pace(two, step) for step in range(48)], np.concatenate([pace, 0.3 * pace]))


def test_muon_moves_the_matrices_inside_the_layers_and_adamw_the_rest():
    model = run.start(TINY)
    both = run.optimisers(model, replace(TINY, muon=0.02))
    names = {id(p): name for name, p in model.named_parameters()}
    moved = [{names[id(p)] for group in o.param_groups for p in group["params"]} for o in both]
    inside = {name for name in names.values() if name.startswith("blocks") and "norm" not in name}
    assert moved == [set(names.values()) - inside, inside] and len(inside) == 8
    assert [o.param_groups[0]["peak"] for o in both] == [TINY.learning_rate, 0.02]
    assert [type(o).__name__ for o in run.optimisers(model, TINY)] == ["AdamW"]


# ---- A run


def test_two_runs_are_the_same_bit_for_bit():
    one, other = training.pretrain(TINY, **FEW), training.pretrain(TINY, **FEW)
    assert equal(numbers(one.model), numbers(other.model)) and one.losses == other.losses
    assert one.scores == other.scores and len(one.losses) == 24
    assert np.mean(one.losses[-5:]) < np.mean(one.losses[:5]) - 0.5
    third = training.pretrain(replace(TINY, seed=4), **FEW)
    assert not equal(numbers(one.model), numbers(third.model))


@pytest.mark.parametrize("task, steps, muon", [("addition", 24, 0), ("running_sum", (9, 15), 0.02)])
@pytest.mark.parametrize("at", [0, 1, 7, 13, 24])
def test_an_interrupted_run_ends_where_an_uninterrupted_one_does(
    monkeypatch, tmp_path, task, steps, muon, at
):
    """Stopped in the middle of step ``at``; 24: in the evaluation."""
    monkeypatch.setattr(run, "REPORT", 4)
    made, path = replace(TINY, task=task, steps=steps, muon=muon), tmp_path / "a.safetensors"
    whole = training.pretrain(made, **FEW)
    stop_at(monkeypatch, at)
    with pytest.raises(pretraining.Interrupted, match="Stopped at step .* the same command goes on"):
        training.pretrain(made, path, **FEW)
    monkeypatch.undo()
    kept = state.read(state.place(path))
    assert 0 <= at - kept["step"] < 4 and len(kept["rows"]) == kept["step"] and not path.exists()
    after = training.pretrain(made, path, **FEW)
    assert equal(numbers(after.model), numbers(whole.model)) and after.losses == whole.losses
    assert equal(numbers(lm.load(path, "cpu")), numbers(whole.model)) and after.scores == whole.scores
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.json", "a.safetensors"]


def stop_at(monkeypatch, at):
    one = run.Run.one

    def stopping(self, step, inputs, targets):
        loss = one(self, step, inputs, targets)  # the weights have moved already
        if step == at:
            raise KeyboardInterrupt
        return loss

    monkeypatch.setattr(run.Run, "one", stopping)
    monkeypatch.setattr(pretraining, "evaluate", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))


def test_without_a_path_nothing_is_kept(monkeypatch):
    stop_at(monkeypatch, 5)
    with pytest.raises(pretraining.Interrupted, match="step 3. Nothing is kept"):
        training.pretrain(TINY, **FEW)


@pytest.mark.parametrize(
    "change, threads, words",
    [({"seed": 5}, 1, "seed 3, not 5"), ({"batch": 4}, 1, "batch 8, not 4"), ({}, 2, "threads 1, not 2")],
)
def test_an_unfinished_run_of_other_settings_is_not_mixed_in(monkeypatch, tmp_path, change, threads, words):
    path = tmp_path / "a.safetensors"
    stop_at(monkeypatch, 5)
    with pytest.raises(pretraining.Interrupted):
        training.pretrain(TINY, path, **FEW)
    monkeypatch.undo()
    before = state.place(path).read_bytes()
    with pytest.raises(ValueError, match=f"a.unfinished is an unfinished run with {words}.*--fresh"):
        training.pretrain(replace(TINY, **change), path, threads=threads, **FEW)
    assert state.place(path).read_bytes() == before and not path.exists()


def test_half_precision_is_for_cuda_only(monkeypatch):
    asked = []
    monkeypatch.setattr(torch, "autocast", lambda *a, **k: asked.append(a) or pytest.fail("not on a CPU"))
    one, other = (training.pretrain(replace(TINY, bfloat16=half), **FEW) for half in (False, True))
    assert equal(numbers(one.model), numbers(other.model)) and asked == []


def test_threads_are_put_back():
    before = torch.get_num_threads()
    assert training.pretrain(replace(TINY, steps=1), threads=2, **FEW).card["threads"] == 2
    assert torch.get_num_threads() == before
    check(lambda: training.pretrain(TINY, threads=0), "threads is 0")


# ---- Scores


class Knows(tasks.Addition):
    """A task whose verifier likes some first digits: what is right is known."""

    def verify(self, prompt, completion):
        return float(completion[:1] in "01234" and prompt[0] in "01234")


def test_scores_are_means_over_prompts():
    model = lm.SmallLM(context=13, width=8, heads=2)
    scores = training.evaluate(model, Knows(), prompts=40, samples=64, seed=2)
    asked = Knows().prompts(40, np.random.default_rng([2, 3]))
    liked = np.array([prompt[0] in "01234" for prompt in asked])
    assert 0 < scores.pass_at_1 < liked.mean() and scores.pass_at_64 == pytest.approx(liked.mean())
    assert scores.pass_at_64_error == pytest.approx(liked.std(ddof=1) / np.sqrt(40))
    assert scores.greedy in (0, pytest.approx(liked.mean())) and 1 < scores.length <= 5
    assert scores.prompts == 40 and scores.samples == 64
    assert scores == training.evaluate(model, Knows(), prompts=40, samples=64, seed=2)
    assert scores != training.evaluate(model, Knows(), prompts=40, samples=64, seed=3)


def test_pass_at_64_of_more_samples_is_the_unbiased_estimate(monkeypatch):
    counts = np.array([0, 1, 2, 70])
    rewards = np.arange(70) < counts[:, None]
    from pglab.training import evaluation

    monkeypatch.setattr(evaluation, "drawn", lambda m, t, asked, n, g, **_: (rewards[:, :n], rewards[:, :n]))
    monkeypatch.setattr(evaluation, "ROWS", 10**6)
    scores = training.evaluate(lm.SmallLM(width=8, heads=2), tasks.Addition(), prompts=4, samples=70)
    assert scores.pass_at_1 == pytest.approx(73 / 280)
    assert scores.pass_at_64 == pytest.approx(np.mean([pass_at_k(70, int(c), 64) for c in counts]))


def test_scores_that_would_mean_nothing_are_refused():
    model = lm.SmallLM(context=12, width=8, heads=2)
    check(lambda: training.evaluate(model, tasks.Addition(), prompts=1), "prompts is 1")
    check(lambda: training.evaluate(model, tasks.Addition(), samples=63), "samples is 63")
    with pytest.raises(ValueError, match="need a context of 15"):
        training.evaluate(model, tasks.Addition(digits=4), prompts=2)
