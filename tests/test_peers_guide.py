"""What can be said of the hand-over without the extra: settings, refusals, the guide, what was recorded."""

from dataclasses import fields
from types import SimpleNamespace

import pytest
from extras import MISSING
from refusals import check

from pglab import algorithms, lm, peers, tasks, training
from pglab.peers import extra, guide
from pglab.peers.hand_over import trl_settings

README = (lm.DATA.parent / "examples" / "README.md").read_text(encoding="utf-8")


def test_the_guide_names_every_setting_once():
    ours = [field.name for field in fields(training.PostTraining)] + [
        field.name for field in fields(algorithms.Algorithm)
    ]
    assert sorted(row.ours for row in peers.GUIDE) == sorted(set(ours) - {"algorithm"})


def test_the_readme_of_the_examples_holds_the_guide():
    assert guide.markdown() in README


def test_trl_has_the_names_and_the_defaults_that_the_guide_states():
    if MISSING:
        pytest.skip("the extra is missing")
    extra.need()
    from trl import GRPOConfig

    theirs = GRPOConfig.__dataclass_fields__
    for row in peers.GUIDE:
        for name, default in row.trl.items():
            assert theirs[name].default == default, f"{row.ours}: {name}"
    for name in trl_settings(training.plan("addition")):
        assert name in theirs


def test_the_settings_say_what_the_plan_says():
    plan = training.plan("countdown", "dr_grpo", prompts=12, micro_batches=2, seed=4, grad_clip=0.7)
    found = trl_settings(plan, processes=3)
    assert found["per_device_train_batch_size"] * 3 * found["gradient_accumulation_steps"] == 12 * 8
    assert (found["num_generations"], found["max_steps"]) == (8, 2 * plan.steps)
    assert found["max_completion_length"] == plan.longest(tasks.named("countdown"))
    assert (found["loss_type"], found["scale_rewards"], found["lr_scheduler_type"]) == (
        "dr_grpo",
        "none",
        "linear",
    )
    assert (found["epsilon"], found["epsilon_high"], found["delta"]) == (0.2, 0.2, None)
    assert (found["seed"], found["max_grad_norm"], found["weight_decay"]) == (4, 0.7, 0.0)
    assert (found["top_k"], found["top_p"], found["temperature"]) == (0, 1.0, 1.0)
    assert trl_settings(training.plan("addition", "cispo"))["epsilon_high"] == 1.28


@pytest.mark.parametrize(
    "algorithm, changes, said",
    [
        (
            "rloo",
            {},
            "has weight 'leave_one_out', which cannot be handed to GRPOTrainer: TRL's GRPOTrainer subtracts",
        ),
        ("ppo", {}, "has weight 'critic'"),
        ("vanilla", {}, "has weight 'constant'"),
        ("dapo", {}, "has rounds 3"),
        ("grpo_overlong", {}, "has overlong (0, 4)"),
        (algorithms.named("grpo", eps=1e-6), {}, "has eps 1e-06 and ddof 1"),
        (algorithms.named("grpo", kl=0.1, kl_where="reward"), {}, "has a KL of kind k3 in the reward"),
        (algorithms.named("grpo", clip=None), {}, "has clip None"),
        (algorithms.named("grpo", clip=(None, 0.2)), {}, "has clip (None, 0.2)"),
        (algorithms.named("cispo", clip=(0.2, 0.2)), {}, "has clip (0.2, 0.2)"),
        (algorithms.named("cispo", aggregation="constant"), {}, "has aggregation 'constant'"),
        (algorithms.named("grpo", aggregation="sum"), {}, "has aggregation 'sum'"),
        (algorithms.named("grpo", ratio="sequence_product"), {}, "has ratio 'sequence_product'"),
        (algorithms.named("grpo", whiten=True), {}, "has whiten"),
        (
            algorithms.named("gspo", aggregation="token_mean"),
            {},
            "has ratio 'sequence_mean' with 'token_mean'",
        ),
        (algorithms.named("cispo", ratio="sequence_mean"), {}, "has ratio 'sequence_mean' with 'token_mean'"),
        ("grpo", {"warmup": 3}, "has warmup 3"),
        ("grpo", {"cool_down": 0.5}, "has cool_down 0.5"),
    ],
)
def test_what_trl_has_no_word_for_is_refused_in_words(algorithm, changes, said):
    plan = training.plan("addition", algorithm, **changes)
    check(lambda: trl_settings(plan), f"{plan.algorithm.name} on addition {said}")


def test_bad_input_is_refused():
    check(
        lambda: trl_settings("addition"), "settings is 'addition'; it must be a PostTraining, such as plan("
    )
    check(
        lambda: trl_settings(training.plan("addition"), 5),
        "prompts is 32; it must be a multiple of 5, which is",
    )
    check(
        lambda: trl_settings(training.plan("addition"), 0),
        "processes is 0; it must be a whole number, at least 1.",
    )
    check(
        lambda: peers.reward("addition"), "task is 'addition'; it must be a Task, such as tasks.Addition()."
    )


def test_without_the_extra_one_sentence_says_what_installs_it(monkeypatch):
    find = SimpleNamespace(
        find_spec=lambda name: None if name in ("trl", "datasets") else SimpleNamespace(origin=name)
    )
    monkeypatch.setattr(extra.importlib, "util", find)
    assert peers.missing() == ["trl", "datasets"]
    for call in (
        peers.need,
        lambda: peers.dataset(tasks.Addition(), 3),
        lambda: peers.parity(training.plan("addition")),
    ):
        with pytest.raises(
            ImportError, match="trl and datasets cannot be found; `make peers` installs the optional"
        ):
            call()


def test_what_was_recorded_holds_what_was_promised():
    found = peers.recorded()
    assert all(row["difference"] < 1e-5 for row in found["parity"]["equal"])
    assert all(row["difference"] > 0.02 for row in found["parity"]["off"])
    for run in found["trl"]["runs"]:
        assert run["seconds"] < 120 and run["after"][0] - run["before"][0] > 0.4
    assert {run["processes"] for run in found["trl"]["runs"]} == {1, 2}


def test_a_missing_record_says_how_to_get_it_back(monkeypatch, tmp_path):
    monkeypatch.setattr(peers.results, "FOLDER", tmp_path)
    check(peers.recorded, "peers.json cannot be read (")
    peers.results.note("race", {"rows": []})
    peers.results.note("trl", {"runs": [1]})
    check(peers.recorded, "peers.json cannot be read (it holds no 'parity')")
    peers.results.note("parity", {})
    assert peers.recorded() == {"race": {"rows": []}, "trl": {"runs": [1]}, "parity": {}}
