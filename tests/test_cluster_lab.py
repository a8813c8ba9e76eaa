"""The explorer of a cluster's shape."""

import importlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import check

from pglab import scaling, sliders

lab = importlib.import_module("pglab.sliders.cluster_lab")  # the package has a function of this name


@settings(max_examples=40)
@given(
    st.sampled_from(lab.SIZES), st.sampled_from(lab.CARDS), st.sampled_from(lab.PROMPTS), st.sampled_from(lab.GROUPS),
    st.sampled_from(lab.ANSWERS), st.integers(1, 4), st.sampled_from(lab.REFERENCES), st.integers(1, 32),
    st.integers(1, 32), st.sampled_from(lab.TURNS),
)  # fmt: skip
def test_the_bars_are_the_seconds_of_a_step(
    model, gpu, prompts, group, answer, epochs, reference, samplers, trainers, turns
):
    numbers = [int(each) for each in (prompts, group, answer)]
    seen = lab.picture(model, gpu, *numbers, epochs, reference, samplers, trainers, turns)
    work, _ = seen.panels
    assert len(seen.caption.split("\n")) == 4
    bars = [mark for mark in work.marks if hasattr(mark, "heights")]
    if not bars:
        return  # it does not fit into memory, and says so
    found = scaling.step(
        scaling.MODELS[model], gpu, prompts=numbers[0], group=numbers[1], answer_length=numbers[2], epochs=epochs,
        samplers=samplers, trainers=trainers, reference=reference != "none",
    )  # fmt: skip
    both = found.generation, found.scoring + found.training
    whole = sum(both) if turns == "in turn" else max(both)
    assert [bar.heights[0] for bar in bars[1:]] == pytest.approx(both)
    assert list(bars[0].heights) == pytest.approx([whole] * 2) and whole <= work.y.high


def test_every_end_of_every_control_draws():
    explorer = sliders.cluster_lab()
    assert len(explorer.picture.panels) == 2
    for answer in (lab.ANSWERS[0], lab.ANSWERS[-1]):
        for model in (lab.SIZES[0], lab.SIZES[-1]):
            for gpus in (1, lab.MOST):
                assert lab.picture(
                    model, lab.CARDS[0], 32, 4, int(answer), 1, "none", gpus, gpus, lab.TURNS[1]
                ).panels


def test_a_bad_start_is_refused():
    check(lambda: sliders.cluster_lab(model="GPT-5"), "model is 'GPT-5'; it must be one of")
    check(lambda: sliders.cluster_lab(answer=3), "answer is '3'; it must be one of")
    check(lambda: sliders.cluster_lab(turns="never"), "turns is 'never'; it must be one of")
