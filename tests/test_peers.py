"""The hand-over: the exported model in transformers, TRL's gradient beside ours. Needs the extra ``peers``."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from extras import OFFLINE, peers
from refusals import check
from training_by_hand import model

peers()

import record_peers  # noqa: E402
from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: E402

from pglab import algorithms, lm, sampling, tasks, training  # noqa: E402
from pglab import peers as hand_over  # noqa: E402

ROOT = lm.DATA.parent
MODELS = ("addition", "running_sum", "countdown", "countdown_solver")


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """Whoever reaches for a hub fails."""
    import socket

    def refused(*_, **__):
        raise AssertionError("the network was asked for")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "create_connection", refused)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """{name: (ours, theirs, tokenizer)}."""
    found = {}
    for name in MODELS:
        folder = tmp_path_factory.mktemp(name)
        ours = lm.load(name, "cpu")
        lm.export(ours, folder, lm.read_card(name))
        theirs = AutoModelForCausalLM.from_pretrained(folder).eval()
        found[name] = ours, theirs, AutoTokenizer.from_pretrained(folder)
    return found


# ---- The model


@pytest.mark.parametrize("name", MODELS)
def test_transformers_loads_the_model_with_the_same_logits(exported, name):
    ours, theirs, tokenizer = exported[name]
    asked = tasks.named(name).prompts(9, np.random.default_rng(0))
    batch = tokenizer(asked, return_tensors="pt")
    assert torch.equal(batch.input_ids, lm.encode_all(asked)[0])
    with torch.no_grad():
        assert (theirs(**batch).logits - ours(batch.input_ids)).abs().max() < 1e-5


def test_padding_on_the_left_is_not_seen_by_either(exported):
    ours, theirs, tokenizer = exported["addition"]
    texts = ["12+34=", "1+2=", "123+456=0"]
    batch = tokenizer(texts, return_tensors="pt", padding=True)
    tokens, mask = lm.encode_all(texts)
    assert torch.equal(batch.input_ids, tokens) and torch.equal(batch.attention_mask.bool(), mask)
    places = (mask.long().cumsum(1) - 1).clamp(min=0)
    with torch.no_grad():
        found = theirs(**batch, position_ids=places).logits
        assert (found - ours(tokens, mask))[mask].abs().max() < 1e-5


def test_every_character_is_its_token_and_others_are_refused(exported):
    tokenizer = exported["addition"][2]
    assert tokenizer(lm.ALPHABET).input_ids == list(range(32)) and tokenizer.decode(range(32)) == lm.ALPHABET
    assert tokenizer("a b").input_ids == lm.encode("a b").tolist()
    assert (tokenizer.eos_token_id, tokenizer.pad_token_id, tokenizer.padding_side) == (0, 0, "left")
    with pytest.raises(Exception, match="UNK"):
        tokenizer("é")


@pytest.mark.parametrize("name", MODELS)
def test_the_greedy_completions_are_the_same(exported, name):
    ours, theirs, tokenizer = exported[name]
    task = tasks.named(name)
    asked, tokens = task.prompts(16, np.random.default_rng(1)), task.answer_length + 1
    batch = tokenizer(asked, return_tensors="pt")
    drawn = theirs.generate(**batch, max_new_tokens=tokens, do_sample=False)
    texts = tokenizer.batch_decode(drawn[:, batch.input_ids.shape[1] :], skip_special_tokens=True)
    assert texts == sampling.sample(ours, asked, 1, tokens, 0).texts()


def test_generate_samples_from_the_model_as_it_is(exported):
    """transformers takes the 50 most likely tokens unless it is told otherwise; with 32 it shows in the settings."""
    settings = exported["addition"][1].generation_config
    assert settings.do_sample and not settings.top_k and settings.top_p == 1.0 and settings.temperature == 1.0


def test_what_transformers_saves_comes_back(exported, tmp_path):
    ours, theirs, _ = exported["countdown"]
    theirs.save_pretrained(tmp_path)
    back = lm.from_export(tmp_path)
    assert all(torch.equal(a, b) for a, b in zip(ours.parameters(), back.parameters(), strict=True))


# ---- One batch, two libraries

AFTER = record_peers.TWICE


@pytest.mark.parametrize("case", record_peers.EQUAL)
@pytest.mark.parametrize("task", ["addition", "countdown"])
def test_gradients_and_losses_are_equal(case, task):
    algorithm, settings, moved = record_peers.EQUAL[case]
    plan = training.plan(task, algorithm, **({"prompts": 6, "epochs": 1} | settings))
    found = hand_over.parity(plan, moved=moved, seed=1)
    assert found.difference < 1e-5 and found.worst < 1e-5 and found.loss_difference < 1e-6
    assert found.advantages < 1e-5 and found.gradient_norm > 0.05 and found.bias_norm > 0
    assert moved == 0 or (found.ratios[0] < 0.8 and found.ratios[1] > 1.3)
    assert task == "addition" or found.lengths[0] < found.lengths[1]


@pytest.mark.parametrize(
    "algorithm, settings, moved, changes, least",
    [
        ("grpo", {}, 0.0, {"scale_rewards": "none"}, 0.5),
        ("grpo", {}, 0.0, {"loss_type": "dapo"}, 0.05),
        (algorithms.named("grpo", kl=0.1), AFTER, 0.03, {"use_bias_correction_kl": True}, 0.05),
        ("grpo_clip_higher", AFTER, 0.03, {"epsilon_high": 0.2}, 0.02),
        ("cispo", AFTER, 0.03, {"epsilon_high": 0.28}, 0.3),
        ("dr_grpo", {}, 0.0, {"max_completion_length": 16}, 0.2),
    ],
)
def test_with_one_setting_off_they_are_not(algorithm, settings, moved, changes, least):
    plan = training.plan("countdown", algorithm, **({"prompts": 6, "epochs": 1} | settings))
    assert hand_over.parity(plan, moved=moved, seed=1, **changes).difference > least


def test_parity_leaves_the_model_as_it_was():
    network = lm.load("addition", "cpu")
    before = [p.clone() for p in network.parameters()]
    hand_over.parity(training.plan("addition", prompts=4), moved=0.1, model=network)
    assert all(torch.equal(a, b) for a, b in zip(before, network.parameters(), strict=True))
    assert all(p.requires_grad for p in network.parameters())


def test_what_cannot_be_compared_is_refused():
    check(
        lambda: hand_over.parity(training.plan("addition", micro_batches=2)),
        "micro_batches is 2; it must be 1:",
    )
    cold = training.plan("addition", temperature=0.01, prompts=2)
    check(
        lambda: hand_over.parity(cold),
        "no group has rewards that differ, so both gradients are 0; take another",
    )


def test_the_dataset_and_the_reward_are_the_task_s():
    task = tasks.Addition()
    rows = hand_over.dataset(task, 7, seed=3)
    assert rows.column_names == ["prompt"] and len(set(rows["prompt"])) > 1
    asked = list(rows["prompt"])
    right = [task.answer(prompt) for prompt in asked]
    assert (
        asked
        == list(hand_over.dataset(task, 7, seed=3)["prompt"])
        != list(hand_over.dataset(task, 7)["prompt"])
    )
    paid = hand_over.reward(task)(prompts=asked, completions=[*right[:-1], "no"], trainer_state=None)
    assert paid == [1.0] * 6 + [0.0]


@pytest.mark.parametrize("cool_down", [0, 1])
def test_the_learning_rate_is_ours_at_every_step(cool_down):
    from transformers import get_scheduler

    plan = training.plan("addition", epochs=1, steps=7, cool_down=cool_down)
    chosen = hand_over.trl_settings(plan)
    optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], chosen["learning_rate"])
    schedule = get_scheduler(
        chosen["lr_scheduler_type"], optimiser, chosen["warmup_steps"], chosen["max_steps"]
    )
    for step in range(plan.steps):
        assert schedule.get_last_lr()[0] == pytest.approx(plan.rate(step), rel=1e-12)
        optimiser.step(), schedule.step()


# ---- The example


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
def test_the_example_improves_addition(tmp_path, processes):
    script = ROOT / "examples" / "trl_grpo.py"
    start = [script]
    if processes == 2:
        start = ["-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", "2", script]
    done = subprocess.run(
        [sys.executable, *map(str, start), "--out", str(tmp_path / "out"), "--cpu"], cwd=tmp_path,
        env=os.environ | OFFLINE | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads((tmp_path / "out" / "result.json").read_text())
    assert (found["processes"], found["completions"]) == (processes, 32 * 8) and found["seconds"] < 120
    assert found["before"][0] < 0.45 and found["after"][0] > 0.85
    back = lm.from_export(tmp_path / "out" / "trained")
    scores = training.evaluate(back, tasks.Addition(), 128)
    assert abs(scores.pass_at_1 - found["after"][0]) < 0.08


def test_random_models_are_handed_over_too(tmp_path):
    """Shapes that no checkpoint has."""
    for seed, shape in enumerate(
        [dict(layers=3, heads=2, width=16, context=20), dict(layers=1, heads=8, width=64)]
    ):
        network = model(torch.float32, seed, **shape)
        lm.export(network, tmp_path / str(seed))
        theirs = AutoModelForCausalLM.from_pretrained(Path(tmp_path / str(seed))).eval()
        tokens = torch.randint(0, 32, (4, 13), generator=torch.Generator().manual_seed(seed))
        with torch.no_grad():
            logits = network(tokens)
            gap = (theirs(tokens).logits - logits).abs().max()
        assert gap < 1e-5 * max(1.0, float(logits.abs().max()))
