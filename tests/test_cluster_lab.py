"""The explorer of a cluster's shape against ``scaling.step``, asked anew for every division."""

import importlib
import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import check

from pglab import scaling, sliders
from pglab.figures import Bars, Line, Points, Rule, Text, describe
from pglab.figures.layout import scene

lab = importlib.import_module("pglab.sliders.cluster_lab")  # the package has a function of this name
START = dict(
    model="Qwen2.5 7 B", gpu="H100 80 GB", prompts=128, group=16, answer=8192, epochs=1, reference="none",
    samplers=8, trainers=8, turns="in turn",
)  # fmt: skip
PLACES = st.fixed_dictionaries(
    {
        "model": st.sampled_from(lab.SIZES), "gpu": st.sampled_from(lab.CARDS),
        "prompts": st.sampled_from([int(n) for n in lab.PROMPTS]), "group": st.sampled_from([int(n) for n in lab.GROUPS]),
        "answer": st.sampled_from([int(n) for n in lab.ANSWERS]), "epochs": st.integers(1, 4),
        "reference": st.sampled_from(lab.REFERENCES), "samplers": st.integers(1, 32), "trainers": st.integers(1, 32),
        "turns": st.sampled_from(lab.TURNS),
    }
)  # fmt: skip


def at(**moved):
    return lab.picture(**(START | moved))


def marks(panel, kind):
    return [mark for mark in panel.marks if isinstance(mark, kind)]


def seconds(place, samplers, trainers):
    """(drawing, learning, a step), or None where memory does not allow it."""
    decoder, length = scaling.MODELS[place["model"]], 256 + place["answer"]
    kl = place["reference"] == "frozen model"
    models = {"policy": "trained"} | ({"reference": "frozen"} if kl else {})
    if samplers < scaling.samplers_needed(decoder, place["gpu"], length):
        return None
    if trainers < scaling.trainers_needed(decoder, place["gpu"], length, models):
        return None
    found = scaling.step(
        decoder, place["gpu"], prompts=place["prompts"], group=place["group"], answer_length=place["answer"],
        epochs=place["epochs"], samplers=samplers, trainers=trainers, reference=kl,
    )  # fmt: skip
    both = found.generation, found.scoring + found.training
    return (*both, sum(both) if place["turns"] == "in turn" else max(both))


@settings(max_examples=60)
@given(PLACES)
def test_the_bars_are_the_seconds_of_both_sides(place):
    first = at(**place).panels[0]
    found = seconds(place, place["samplers"], place["trainers"])
    if found is None:
        assert [mark.text for mark in first.marks] == ["does not fit into memory"]
        return
    pale, drawing, learning = marks(first, Bars)
    assert [*pale.heights] == pytest.approx([found[2]] * 2)
    assert [*drawing.x, *learning.x] == [0, 1]
    assert [*drawing.heights, *learning.heights] == pytest.approx(found[:2])
    assert found[2] <= first.y.high
    for text in marks(first, Text):  # they say how long each side waits
        waits = found[2] - found[int(text.x)]
        said = float(text.text.removeprefix("waits ").replace(",", ""))
        assert said == pytest.approx(waits, rel=0.006, abs=6e-4)


@settings(max_examples=40)
@given(PLACES)
def test_the_curves_are_all_divisions(place):
    seen = at(**place)
    gpus = place["samplers"] + place["trainers"]
    wanted = {k: seconds(place, k, gpus - k) for k in range(1, gpus)}
    wanted = {k: found for k, found in wanted.items() if found}
    lines = marks(seen.panels[1], Line)
    if not wanted:
        assert not lines and seen.caption.endswith(f"No division of {gpus} GPUs fits.")
        return
    for column, line in enumerate(lines):
        assert [*line.x] == [*wanted]
        assert [*line.y] == pytest.approx([found[column] for found in wanted.values()])
    best = min(wanted, key=lambda k: wanted[k][2])
    (dot,) = marks(seen.panels[1], Points)
    assert dot.y[0] == pytest.approx(wanted[best][2]) == min(lines[2].y)
    assert wanted[int(dot.x[0])][2] == pytest.approx(wanted[best][2])  # two may be equally good
    assert f"it is best that {dot.x[0]:.0f} draw: " in seen.caption
    assert [rule.value for rule in marks(seen.panels[1], Rule)] == [place["samplers"]]
    axis = seen.panels[1].y
    assert (
        axis.low <= min(min(f) for f in wanted.values()) <= max(max(f) for f in wanted.values()) <= axis.high
    )


def test_the_start_tells_the_story():
    """Half the GPUs draw, and while they do the others wait; one step behind they need not."""
    words = {
        name: str(value) if name in ("prompts", "group", "answer") else value for name, value in START.items()
    }
    assert sliders.cluster_lab().values == words
    caption = at().caption.split("\n")
    assert "each side waits while the other works" in caption[2] and "memory" in caption[1]
    behind = at(turns="one step behind").caption.split("\n")
    assert behind[2] == "A step takes 383 s: drawing takes longer, and the trainers wait for 32 % of it."
    assert behind[3] == "Of all divisions of 16 GPUs it is best that 9 draw: 305 s a step."
    short = at(turns="one step behind", answer=512).caption.split("\n")
    assert "learning takes longer, and the samplers wait" in short[2] and "best that 3 draw" in short[3]


def test_every_end_of_every_control_draws_and_the_caption_keeps_its_height():
    ends = dict(
        model=(lab.SIZES[0], lab.SIZES[-1]), gpu=(lab.CARDS[0], lab.CARDS[-1]), prompts=(32, 512), group=(4, 64),
        answer=(128, 32_768), epochs=(1, 4), reference=lab.REFERENCES, samplers=(1, 32), trainers=(1, 32), turns=lab.TURNS,
    )  # fmt: skip
    for values in itertools.product(*ends.values()):
        seen = at(**dict(zip(ends, values, strict=True)))
        lines = seen.caption.split("\n")
        assert len(lines) == 4 and max(map(len, lines)) < 100 and "inf" not in seen.caption
    for moved in ({}, {"model": "Llama 3.1 70 B"}, {"samplers": 1, "trainers": 2}):
        assert describe(at(**moved)) and scene(at(**moved)).primitives


def test_numbers_are_never_written_as_powers():
    said = [lab._seconds(x) for x in (0.1234, 0.9996, 9.994, 9.996, 99.94, 99.96, 12_345.6)]
    assert said == ["0.123", "1.00", "9.99", "10.0", "99.9", "100", "12,346"]


def test_a_bad_start_is_refused():
    check(lambda: sliders.cluster_lab(model="GPT-5"), "model is 'GPT-5'; it must be one of")
    check(lambda: sliders.cluster_lab(answer=1000), "answer is '1000'; it must be one of '128'")
    check(
        lambda: sliders.cluster_lab(turns="both"),
        "turns is 'both'; it must be one of 'in turn', 'one step behind'.",
    )
    check(lambda: sliders.cluster_lab(samplers=33), "Slider.value is 33.0; it must lie from 1.0 to 32.0.")
    check(lambda: at(gpu="TPU"), "gpu is 'TPU'; it must be one of 'A100 80 GB'")
    check(lambda: at(trainers=0), "trainers is 0")
    check(lambda: at(reference="some"), "reference is 'some'; it must be one of 'none', 'frozen model'.")
    assert math.isinf(lab._seen("Llama 3.1 70 B", "A100 80 GB", 128, 16, 32_768, 1, "none").least[1])
