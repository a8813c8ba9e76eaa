"""The memory bill and the seconds of a step: counted once more, measured, and compared with what was published."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import check
from torch.nn.attention import SDPBackend, sdpa_kernel
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


@settings(max_examples=15)
@given(SMALL, st.sampled_from([16, 32]), st.integers(1, 5), st.data())
def test_the_operations_are_those_that_torch_counts(shape, width, batch, data):
    """To the last one; torch counts attention as if every token looked at all of its text."""
    model = lm.SmallLM(width=width, **shape)
    tokens = torch.zeros(batch, data.draw(st.integers(1, shape["context"])), dtype=torch.int64)
    decoder = scaling.Decoder.of(model)
    with sdpa_kernel(SDPBackend.MATH):  # products that the counter sees; the fused kernel is none
        with FlopCounterMode(display=False) as forward:
            loss = model(tokens).sum()
        with FlopCounterMode(display=False) as backward:
            loss.backward()
    matrices = decoder.multiplied - decoder.parts["norms"]  # norms multiply element by element: not counted
    wanted = (2 * matrices + decoder.attending(tokens.shape[1])) * tokens.numel()
    assert (forward.get_total_flops(), backward.get_total_flops()) == (wanted, 2 * wanted)


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
        close = 0.003 if item == "activations" else 0
        assert abs(row.predicted / row.measured - 1) <= close, item


@settings(max_examples=15)
@given(SMALL, st.sampled_from([16, 32]), st.integers(1, 6), st.data())
def test_the_activations_of_a_plain_pass_are_what_autograd_keeps(shape, width, batch, data):
    model = lm.SmallLM(width=width, **shape)
    tokens = torch.zeros(batch, data.draw(st.integers(1, shape["context"])), dtype=torch.int64)
    kept = scaling.measured.saved(model, lambda: model(tokens).log_softmax(-1).sum())
    assert abs(scaling.activations(scaling.Decoder.of(model), tokens.numel(), 4) / kept - 1) < 0.06


@settings(max_examples=8)
@given(SMALL, st.sampled_from([16, 32, 64]), st.sampled_from(["addition", "countdown"]), st.integers(2, 9))
def test_the_bill_of_any_shape(shape, width, task, prompts):
    """A model that was never trained; a KL, so that every row is read (its own bytes are not in the count)."""
    model = lm.SmallLM(width=width, **shape | {"context": 40})
    plan = training.plan(task, algorithms.named("grpo", kl=0.1), prompts=prompts)
    for row in scaling.measure(plan, model):
        close = 0.1 if row.item == "activations" else 0
        assert abs(row.predicted / row.measured - 1) <= close, row.item
    peak, found = (
        scaling.measure_peak(plan, model),
        {r.item: r.measured for r in scaling.measure(plan, model)},
    )
    if found["activations"] > 2 * found["weights"]:
        assert peak.item == "peak" and abs(peak.predicted / peak.measured - 1) < 0.1


@settings(max_examples=8)
@given(
    st.sampled_from(["addition", "running_sum", "countdown"]), st.integers(8, 48), st.sampled_from([4, 8, 16])
)
def test_the_peak_is_what_the_profiler_sees(task, prompts, group):
    plan = training.plan(task, prompts=prompts, group_size=group)
    found = {row.item: row.measured for row in scaling.measure(plan)}
    if found["activations"] > 2 * found["weights"]:
        peak = scaling.measure_peak(plan)
        assert abs(peak.predicted / peak.measured - 1) < 0.02


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
    check(
        lambda: scaling.Decoder(1, 8, 4, 8, 9, kv_heads=3), "kv_heads is 3; it must divide heads, which is 4."
    )
    check(lambda: scaling.Decoder(0, 8, 4, 8, 9), "layers is 0; it must be a whole number, at least 1.")
    check(lambda: scaling.Decoder(1, 9, 4, 8, 9, kv_heads=4), "heads is 4; it must divide width, which is 9.")
    check(lambda: scaling.measure(training.plan("addition", "ppo")), "settings must be without a critic")
