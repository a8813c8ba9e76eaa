"""The seconds of a step: reckoned by plain loops over tokens, and held against a processor."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import check

from pglab import scaling

SEVEN = scaling.MODELS["Qwen2.5 7 B"]
DECODERS = st.sampled_from(
    [scaling.MODELS[name] for name in ("Qwen2.5 0.5 B", "Qwen2.5 7 B", "Llama 3.1 8 B")]
)


@given(DECODERS, st.integers(1, 64), st.integers(1, 64), st.integers(1, 4096), st.integers(1, 3))
def test_more_of_everything_takes_longer_and_more_gpus_do_not(decoder, prompts, group, answer, epochs):
    base = dict(prompts=prompts, group=group, answer_length=answer, epochs=epochs, samplers=4, trainers=4)
    one = scaling.step(decoder, **base, reference=True)
    for name in ("prompts", "group", "answer_length"):
        more = scaling.step(decoder, **base | {name: 2 * base[name]}, reference=True)
        assert more.generation >= one.generation
        assert more.training > one.training and more.scoring > one.scoring
    assert scaling.step(decoder, **base | {"samplers": 8}).generation <= one.generation
    assert math.isclose(scaling.step(decoder, **base | {"trainers": 8}).training, one.training / 2)
    assert math.isclose(one.training / one.scoring, 3 * epochs)
    assert scaling.step(decoder, **base).scoring == 0


def test_the_step_by_hand():
    """Qwen2.5 7B on one H100 each, numbers written out."""
    found = scaling.step(
        SEVEN,
        prompts=2,
        group=3,
        prompt_length=10,
        answer_length=100,
        samplers=1,
        trainers=1,
        used=0.5,
        streamed=0.5,
    )
    P, multiplied = 7_615_616_512, 7_615_616_512 - 152_064 * 3584
    cache, look = 4 * 28 * 4 * 128, 4 * 28 * 28 * 128
    read = (2 * P + 6 * cache * (10 + 50)) / (0.5 * 3.35e12)
    first = 20 * (2 * multiplied + 5 * look) / (0.5 * 989e12)
    assert math.isclose(found.generation, 100 * read + first, rel_tol=1e-12)
    learned = 3 * (2 * multiplied + 55 * look) * 6 * 110 / (0.5 * 989e12)
    assert math.isclose(found.training, learned, rel_tol=1e-12)
    assert found[1:2] + found[3:] == (0.0, "memory", 6, 1)


@settings(max_examples=40)
@given(DECODERS, st.integers(1, 40), st.sampled_from([1, 8, 64]), st.integers(1, 5000), st.integers(1, 200))
def test_drawing_token_by_token(decoder, prompts, group, prompt, answer):
    """Every token of every wave reads all weights and what lies in the caches, or is multiplied: what takes longer."""
    card = scaling.Gpu(900e12, 3e12, 25e9)
    found = scaling.step(
        decoder, card, prompts=prompts, group=group, prompt_length=prompt, answer_length=answer, samplers=5, trainers=1,
        used=1, streamed=1,
    )  # fmt: skip
    share = scaling.samplers_needed(decoder, card, prompt + answer)
    assert share == (1 if decoder.width < 1000 else 2)
    many, copies = prompts * group / (5 // share), 5 // share
    own = 2 * 2 * decoder.layers * decoder.kv_heads * decoder.head_size
    one = own * (prompt + answer)
    room, waves = 0.9 * 25e9 * share - 2 * decoder.parameters, 1
    while many / waves > room // one:
        waves += 1
    read = work = 0.0
    for t in range(answer):
        seen = prompt + t + 0.5
        read += (waves * 2 * decoder.parameters + many * own * seen) / (3e12 * share)
        look = 4 * decoder.layers * decoder.heads * decoder.head_size * seen
        work += many * (2 * decoder.multiplied + look) / (900e12 * share)
    look = 2 * decoder.layers * decoder.heads * decoder.head_size * prompt
    first = prompts * prompt * (2 * decoder.multiplied + look) / (900e12 * share * copies)
    assert math.isclose(found.generation, max(read, work) + first, rel_tol=1e-9)
    assert found.waits_for == ("memory" if read >= work else "arithmetic")
    assert found.waves == waves and (found.at_once - 1) * waves < many <= found.at_once * waves
    assert found.at_once * one <= room + one  # the caches that are held at once have room


def test_long_answers_are_drawn_a_few_at_a_time():
    """2,048 answers of 32,768 tokens on eight GPUs: their caches would take 481 GB on each."""
    found = scaling.step(SEVEN, answer_length=32_768)
    whole = scaling.cache(SEVEN, 256 * (256 + 32_768))
    assert (
        whole > 480e9 and scaling.cache(SEVEN, found.at_once * (256 + 32_768)) < 72e9 - 2 * SEVEN.parameters
    )
    assert (found.at_once, found.waves) == (29, 9)


@pytest.mark.parametrize("answer", [256, 4096, 32_768])
def test_the_balance_is_the_best_of_all(answer):
    decoder = scaling.MODELS["Llama 3.1 8 B"]
    best, seconds = scaling.balance(decoder, 12, answer_length=answer)

    def slower(k):
        found = scaling.step(decoder, samplers=k, trainers=12 - k, answer_length=answer)
        return max(found.generation, found.training)

    assert seconds == min(slower(k) for k in range(1, 12)) == slower(best)


def test_what_memory_alone_asks_for():
    """Llama 3.1 70B: 141 GB of weights; 16 bytes a parameter to train it; 72 GB of each H100 may be filled."""
    big = scaling.MODELS["Llama 3.1 70 B"]
    assert scaling.samplers_needed(big, "H100 80 GB", 4096) == math.ceil(2 * 141.1 / 72) == 4
    alone = scaling.activations(big, 4096, checkpointing=True)
    for models, each in (({"policy": "trained"}, 16), ({"policy": "trained", "reference": "frozen"}, 18)):
        n = scaling.trainers_needed(big, "H100 80 GB", 4096, models)
        held = [each * big.parameters / k + alone for k in (n, n - 1)]
        assert held[0] <= 72e9 < held[1]
        items = scaling.bill(big, models, tokens=4096, checkpointing=True, gpus=n, stage=3)
        assert math.isclose(sum(item.bytes for item in items), held[0], rel_tol=1e-12)
    assert scaling.trainers_needed(big, "H100 80 GB", 40_000) == math.inf
    check(lambda: scaling.step(big, samplers=3), "samplers is 3; it must be a whole number, at least 4.")
    assert scaling.balance(big, 5)[0] == 4


# ---- Measured


def test_what_was_recorded():
    recorded = scaling.measured_times()
    assert {row["task"] for row in recorded["rows"]} == {"addition", "running_sum", "countdown"}
    assert all(min(row["generation"], row["verifying"], row["training"]) > 0 for row in recorded["rows"])
    for part in ("rows", "shapes"):
        assert {"device", "threads", "torch", "date"} == set(recorded["recorded"][part])


def test_two_rates_tell_the_seconds_of_wide_models_within_a_factor_of_two():
    """Each rate comes from one row; all others are told. Narrow models take longer: what each call costs by itself."""
    rows = scaling.measured_times()["shapes"]
    card = scaling.calibrate(rows)
    assert 1e9 < card.bandwidth < 1e11 < 10 * card.arithmetic < 1e13
    wide, narrow = [], []
    for row in rows:
        found = scaling.reckon(row, card)
        ratios = [row["generation"] / found.generation, row["training"] / found.training]
        (wide if row["width"] >= 256 else narrow).extend(ratios)
    assert len(wide) == 18 and all(0.5 < ratio < 2 for ratio in wide)
    assert all(ratio > 1.2 for ratio in narrow) and max(narrow) > 10


def test_one_answer_waits_for_memory_and_many_do_not():
    """What the roofline says of a processor, as recorded: which part takes longer, by how many are side by side."""
    rows = scaling.measured_times()["shapes"]
    card = scaling.calibrate(rows)
    for row in rows:
        many = row["prompts"] * row["group"]
        waits = scaling.reckon(row, card).waits_for
        assert waits == ("memory" if many <= 8 else "arithmetic")
        if many <= 2:
            assert row["generation"] > 1.8 * row["training"]
        if many >= 16:
            assert row["training"] > 1.3 * row["generation"]


def test_the_rates_are_those_of_a_processor_that_is_made_up():
    card = scaling.Gpu(5e10, 2e10, 8e9)
    rows = [
        {"width": w, "layers": 3, "prompts": b, "group": g}
        for w, b, g in ((64, 8, 8), (512, 8, 8), (512, 1, 1))
    ]
    for row in rows:
        found = scaling.reckon(row, card)
        row |= {"generation": found.generation, "training": found.training}
    found = scaling.calibrate(rows)
    assert math.isclose(found.arithmetic, card.arithmetic, rel_tol=1e-12)
    assert 0.94 < found.bandwidth / card.bandwidth < 1  # the prompt, read before the first token, takes 5 %


def test_a_shape_is_timed():
    torch.set_num_threads(1)
    row = scaling.time_shape(16, 1, 2, 3, repeats=1)
    assert {name: row[name] for name in ("width", "layers", "prompts", "group")} == {
        "width": 16, "layers": 1, "prompts": 2, "group": 3,
    }  # fmt: skip
    assert 0 < row["generation"] < 5 and 0 < row["training"] < 5


def test_bad_input_is_refused():
    check(lambda: scaling.step(SEVEN, "TPU"), "gpu is 'TPU'; it must be one of A100 80 GB")
    check(lambda: scaling.step(SEVEN, used=0), "used is 0; it must be above 0 and at most 1.")
    check(lambda: scaling.step(SEVEN, streamed=1.5), "streamed is 1.5; it must be above 0 and at most 1.")
    check(
        lambda: scaling.step(SEVEN, answer_length=0),
        "answer_length is 0; it must be a whole number, at least 1.",
    )
    check(lambda: scaling.step(SEVEN, samplers=0), "samplers is 0; it must be a whole number, at least 1.")
    check(lambda: scaling.balance(SEVEN, 1), "gpus is 1; it must be a whole number, at least 2.")
    check(lambda: scaling.trainers_needed(SEVEN, "TPU", 1), "gpu is 'TPU'; it must be one of A100 80 GB")
    check(lambda: scaling.samplers_needed(SEVEN, "H100 80 GB", -1), "tokens is -1")
