"""The explorer of the memory bill."""

import importlib
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import check

from pglab import algorithms, scaling, sliders
from pglab.figures import Bars, Rule

lab = importlib.import_module("pglab.sliders.memory_lab")  # the function has its name


def marks(panel, kind):
    return [mark for mark in panel.marks if isinstance(mark, kind)]


def test_the_sets_of_models_are_those_of_the_algorithms():
    rlhf = algorithms.named("ppo", kl=0.01, kl_where="reward")
    wanted = [("grpo", False), (algorithms.named("grpo", kl=0.01), False), ("ppo", False), (rlhf, True)]
    assert [*lab.ALGORITHMS.values()] == [scaling.held(*pair) for pair in wanted]


@given(
    st.sampled_from(lab.SIZES), st.sampled_from(list(lab.ALGORITHMS)), st.sampled_from(list(scaling.PRECISIONS)),
    st.sampled_from(lab.GPUS), st.integers(0, 3), st.integers(1, 64), st.integers(0, 512), st.sampled_from(["all", "inputs"]),
)  # fmt: skip
def test_the_bars_are_the_bill(model, algorithm, precision, gpus, stage, tokens, cached, keep):
    seen = lab.picture(model, algorithm, precision, int(gpus), stage, tokens, cached, keep)
    items = scaling.bill(
        scaling.MODELS[model], lab.ALGORITHMS[algorithm], precision, tokens=1000 * tokens, cached=1000 * cached,
        checkpointing=keep == "inputs", gpus=int(gpus), stage=stage,
    )  # fmt: skip
    total = sum(item.bytes for item in items) / 1e9
    left, right = seen.panels
    by_item = [sum(i.bytes for i in items if i.item == name) / 1e9 for name in lab.ITEMS]
    assert [*left.marks[0].heights] == pytest.approx(by_item)
    assert left.y.high == right.y.high >= total
    pieces = marks(right, Bars)  # the taller ones first, since the lower ones cover them
    assert [bars.heights[0] for bars in pieces] == sorted((bars.heights[0] for bars in pieces), reverse=True)
    columns = [lab.ROLES, *([role] for role in lab.ROLES)]  # together, then one by one
    for k in range(len(lab.ITEMS)):  # each piece ends where all items up to its own end
        known = [i for i in items if i.item in lab.ITEMS[: k + 1]]
        ends = [sum(i.bytes for i in known if i.model in column) / 1e9 for column in columns]
        (piece,) = [bars for bars in pieces if bars.colour == left.marks[0].colours[k]]
        assert [*piece.heights] == pytest.approx(ends)
    assert [rule.value for panel in seen.panels for rule in marks(panel, Rule)] == [80, 80]
    first, second, third = seen.caption.split("\n")
    assert third == f"Together {total:,.1f} GB: it {'fits' if total < 80 else 'does not fit'} into 80 GB."
    assert (
        all(name in first for name in lab.ALGORITHMS[algorithm]) and f"{gpus} GPUs, stage {stage}" in second
    )


def test_every_end_of_every_control_draws():
    names = ["model", "algorithm", "precision", "gpus", "stage", "tokens", "cached", "keep"]
    ends = [
        lab.SIZES,
        list(lab.ALGORITHMS),
        list(scaling.PRECISIONS),
        (1, 64),
        (0, 3),
        (1, 64),
        (0, 512),
        ("all", "inputs"),
    ]
    for values in itertools.product(*((each[0], each[-1]) for each in ends)):
        assert lab.picture(**dict(zip(names, values, strict=True))).panels


def test_a_bad_start_is_refused():
    check(lambda: sliders.memory_lab(model="GPT-5"), "model is 'GPT-5'; it must be one of")
    check(lambda: sliders.memory_lab(gpus=3), "gpus is '3'; it must be one of")
    check(lambda: sliders.memory_lab(keep="some"), "keep is 'some'; it must be one of 'all', 'inputs'.")
    check(lambda: sliders.memory_lab(stage=5), "Slider.value is 5.0; it must lie from 0.0 to 3.0.")
