"""The memory bill and the seconds of a step: counted once more, measured, and compared with what was published."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import check
from torch.utils.flop_counter import FlopCounterMode

from pglab import algorithms, lm, scaling, training

# Parameters as the cards of the models state them (Hugging Face hub: number of parameters in model.safetensors).
PUBLISHED = {
    "GPT-2 (0.12 B)": 124_439_808,
    "Qwen2.5 0.5 B": 494_032_768,
    "Qwen2.5 1.5 B": 1_543_714_304,
    "Qwen2.5 7 B": 7_615_616_512,
    "Llama 3.1 8 B": 8_030_261_248,
    "Llama 3.1 70 B": 70_553_706_496,
}
SMALL = st.fixed_dictionaries(
    {"heads": st.sampled_from([1, 2, 4]), "layers": st.integers(1, 4), "context": st.integers(1, 40)}
)


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_parameters_are_those_of_the_model_cards(name):
    assert set(scaling.MODELS) == set(PUBLISHED)
    assert scaling.MODELS[name].parameters == PUBLISHED[name]


@given(SMALL, st.sampled_from([8, 16, 48]))
def test_a_small_model_is_counted_to_the_last_parameter(shape, width):
    model = lm.SmallLM(width=width, **shape)
    decoder = scaling.Decoder.of(model)
    assert decoder.parameters == sum(p.numel() for p in model.parameters())
    assert decoder.multiplied == decoder.parameters - model.positions.weight.numel()


@pytest.mark.parametrize("name", ["addition", "countdown"])
def test_two_operations_for_each_parameter_and_token(name):
    """torch's own count of a forward and a backward pass, attention's part aside."""
    model = lm.load(name, "cpu")
    decoder = scaling.Decoder.of(model)
    tokens = torch.zeros(4, 12, dtype=torch.int64)
    with FlopCounterMode(display=False) as forward:
        loss = model(tokens).sum()
    with FlopCounterMode(display=False) as backward:
        loss.backward()
    norms = decoder.parts["norms"]  # multiplied element by element, which the counter leaves out
    matrices = decoder.multiplied - norms
    attention = forward.get_total_flops() - 2 * matrices * tokens.numel()
    assert 0 <= attention < 0.1 * forward.get_total_flops()
    assert abs(backward.get_total_flops() / forward.get_total_flops() - 2) < 0.1


# ---- Memory


@settings(max_examples=12)
@given(
    st.sampled_from(["addition", "running_sum", "countdown"]),
    st.integers(2, 9),
    st.integers(2, 7),
    st.integers(0, 5),
)
def test_the_bill_of_a_step_is_what_torch_counts(task, prompts, group, seed):
    plan = training.plan(task, prompts=prompts, group_size=group, seed=seed)
    try:
        found = {row.item: row for row in scaling.measure(plan)}
    except ValueError as error:
        assert str(error).startswith("no group has rewards that differ")
        return
    assert list(found) == ["weights", "gradients", "moments", "activations", "cache"]
    for item, row in found.items():
        close = 0.02 if item == "activations" else 0
        assert abs(row.predicted / row.measured - 1) <= close, item


@settings(max_examples=15)
@given(SMALL, st.sampled_from([16, 32]), st.integers(1, 6), st.data())
def test_the_activations_of_a_plain_pass_are_what_autograd_keeps(shape, width, batch, data):
    model = lm.SmallLM(width=width, **shape)
    tokens = torch.zeros(batch, data.draw(st.integers(1, shape["context"])), dtype=torch.int64)
    kept = scaling.measured.saved(model, lambda: model(tokens).log_softmax(-1).sum())
    assert abs(scaling.activations(scaling.Decoder.of(model), tokens.numel(), 4) / kept - 1) < 0.06


def test_the_step_s_peak_is_not_below_the_bill():
    """torch.profiler's own accounting: what a gradient needs at its peak holds the activations, and not much more."""
    run = training.Trainer(training.plan("countdown", prompts=8))
    run.rollouts = run.collect()
    update = run.updates(run.policy, None, run.optimisers[0], run.settings, run.rollouts)
    (part,) = update.parts
    kinds = scaling.score_activations(
        scaling.Decoder.of(run.policy), len(part.prompts), 12, len(part.rows), part.width
    )
    with torch.profiler.profile(
        profile_memory=True, activities=[torch.profiler.ProfilerActivity.CPU]
    ) as seen:
        update.gradient(0, {})
    now = most = 0
    for event in seen.profiler.kineto_results.events():
        if event.name() == "[memory]":
            now += event.nbytes()
            most = max(most, now)
    assert 1.0 <= most / sum(kinds.values()) < 1.5


@pytest.mark.parametrize(
    "algorithm, paid, roles",
    [
        ("grpo", False, {"policy": "trained"}),
        (algorithms.named("grpo", kl=0.1), False, {"policy": "trained", "reference": "frozen"}),
        ("ppo", False, {"policy": "trained", "critic": "trained"}),
        (
            algorithms.named("ppo", kl=0.1, kl_where="reward"), True,
            {"policy": "trained", "critic": "trained", "reference": "frozen", "reward model": "frozen"},
        ),
    ],
)  # fmt: skip
def test_which_models_an_algorithm_holds(algorithm, paid, roles):
    assert scaling.held(algorithm, paid) == roles
    P = scaling.MODELS["Qwen2.5 7 B"].parameters
    for precision, trained, frozen in (("mixed", 16, 2), ("half", 8, 2), ("float32", 16, 4)):
        items = scaling.bill(scaling.MODELS["Qwen2.5 7 B"], algorithm, precision, reward_model=paid)
        wanted = sum((trained if role == "trained" else frozen) * P for role in roles.values())
        assert sum(item.bytes for item in items) == wanted


def test_stages_divide_one_item_after_the_other():
    decoder = scaling.MODELS["Llama 3.1 8 B"]
    divided = [set(), {"master copy", "moments"}, {"master copy", "moments", "gradients"}]
    divided.append({*divided[2], "weights"})
    alone = {i.item: i.bytes for i in scaling.bill(decoder, tokens=100, cached=100)}
    for stage, names in enumerate(divided):
        items = {i.item: i.bytes for i in scaling.bill(decoder, tokens=100, cached=100, gpus=4, stage=stage)}
        assert items == {name: size / (4 if name in names else 1) for name, size in alone.items()}


def test_the_cache_of_a_published_model():
    """Llama 3.1 8B: 32 layers, 8 heads of 128, keys and values, two bytes: 128 KiB for a token."""
    assert scaling.cache(scaling.MODELS["Llama 3.1 8 B"], 1) == 2 * 32 * 8 * 128 * 2 == 131_072


def test_checkpointing_keeps_the_inputs_of_layers():
    decoder = scaling.MODELS["Qwen2.5 7 B"]
    whole, less = (scaling.activations(decoder, 1000, checkpointing=c) for c in (False, True))
    ends = 1000 * (2 * 2 * decoder.width + 8 + 4 * decoder.vocabulary)
    layer = (whole - ends) / decoder.layers
    assert math.isclose(less, ends + layer + decoder.layers * 1000 * 2 * decoder.width)


# ---- Seconds


@given(st.integers(1, 64), st.integers(1, 64), st.integers(1, 4096), st.integers(1, 3))
def test_more_of_everything_takes_longer_and_more_gpus_do_not(prompts, group, answer, epochs):
    decoder = scaling.MODELS["Qwen2.5 0.5 B"]
    base = dict(prompts=prompts, group=group, answer_length=answer, epochs=epochs, samplers=4, trainers=4)
    one = scaling.step(decoder, **base, reference=True)
    for name in ("prompts", "group", "answer_length"):
        more = scaling.step(decoder, **base | {name: 2 * base[name]}, reference=True)
        assert (
            more.generation >= one.generation and more.training > one.training and more.scoring > one.scoring
        )
    assert scaling.step(decoder, **base | {"samplers": 8}).generation <= one.generation
    assert math.isclose(scaling.step(decoder, **base | {"trainers": 8}).training, one.training / 2)
    assert math.isclose(one.training / one.scoring, 3 * epochs)


def test_the_step_by_hand():
    """Qwen2.5 7B on one H100 each, numbers written out."""
    found = scaling.step(
        scaling.MODELS["Qwen2.5 7 B"], prompts=2, group=3, prompt_length=10, answer_length=100, samplers=1, trainers=1,
        used=0.5, streamed=0.5,
    )  # fmt: skip
    P, multiplied = 7_615_616_512, 7_615_616_512 - 152_064 * 3584
    cache, look = 4 * 28 * 4 * 128, 4 * 28 * 28 * 128
    read = (2 * P + 6 * cache * (10 + 50)) / (0.5 * 3.35e12)
    prompts = 2 * 10 * (2 * multiplied + look * 5) / (0.5 * 989e12)
    assert math.isclose(found.generation, 100 * read + prompts, rel_tol=1e-12)
    learned = 3 * 6 * 110 * (2 * multiplied + look * 55) / (0.5 * 989e12)
    assert math.isclose(found.training, learned, rel_tol=1e-12)
    assert (found.scoring, found.waits_for, found.at_once, found.waves) == (0.0, "memory", 6, 1)


def test_what_has_no_room_side_by_side_is_drawn_in_waves():
    """The caches that are held at once fit beside the weights."""
    decoder = scaling.MODELS["Qwen2.5 7 B"]
    found = scaling.step(decoder, answer_length=32_768, samplers=1, trainers=1)
    held = 2 * decoder.parameters + found.at_once * scaling.cache(decoder, 256 + 32_768)
    assert found.waves > 1 and found.at_once * found.waves >= 128 * 16 and held <= 80e9


@pytest.mark.parametrize("answer", [256, 4096, 32_768])
def test_the_balance_is_the_best_of_all(answer):
    decoder = scaling.MODELS["Llama 3.1 8 B"]
    best, seconds = scaling.balance(decoder, 12, answer_length=answer)

    def slower(k):
        found = scaling.step(decoder, samplers=k, trainers=12 - k, answer_length=answer)
        return max(found.generation, found.training)

    assert seconds == min(slower(k) for k in range(1, 12)) == slower(best)


def test_what_was_recorded():
    rows = scaling.measured_times()["rows"]
    assert {row["task"] for row in rows} == {"addition", "running_sum", "countdown"}
    assert all(min(row["generation"], row["verifying"], row["training"]) > 0 for row in rows)


def test_bad_input_is_refused():
    decoder = scaling.MODELS["Qwen2.5 7 B"]
    check(
        lambda: scaling.bill(decoder, "grpo", "int4"),
        "precision is 'int4'; it must be one of float32, mixed, half.",
    )
    check(lambda: scaling.bill(decoder, "grpoo"), "algorithm is 'grpoo'")
    check(
        lambda: scaling.bill(decoder, {"policy": "asleep"}),
        "role is 'asleep'; it must be one of 'trained', 'frozen'.",
    )
    check(lambda: scaling.bill(decoder, gpus=0), "gpus is 0; it must be a whole number, at least 1.")
    check(lambda: scaling.bill(decoder, stage=4), "stage is 4; it must be from 0 to 3.")
    check(lambda: scaling.cache(decoder, -1), "tokens is -1")
    check(lambda: scaling.step(decoder, "TPU"), "gpu is 'TPU'; it must be one of A100 80 GB")
    check(lambda: scaling.step(decoder, used=0), "used is 0; it must be above 0 and at most 1.")
    check(lambda: scaling.balance(decoder, 1), "gpus is 1; it must be a whole number, at least 2.")
    check(
        lambda: scaling.Decoder(1, 8, 4, 8, 9, kv_heads=3), "kv_heads is 3; it must divide heads, which is 4."
    )
    check(lambda: scaling.Decoder(0, 8, 4, 8, 9), "layers is 0; it must be a whole number, at least 1.")
    check(lambda: scaling.measure(training.plan("addition", "ppo")), "settings must be without a critic")
