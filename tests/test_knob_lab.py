"""The explorer of notebook 08 against plain loops over the runs of a recording."""

import importlib
from dataclasses import fields

import numpy as np
import pytest

from pglab import recordings, training
from pglab.figures import Line, Points, Rule, describe
from pglab.sliders import knob_lab

drawing = importlib.import_module(
    "pglab.sliders.knob_lab"
)  # the file; the package has a function of this name
PLAN = training.plan("addition")
STANDARD = {
    "learning_rate": PLAN.learning_rate,
    "group_size": PLAN.group_size,
    "epochs": PLAN.epochs,
    "kl": PLAN.algorithm.kl,
}
SAMPLES = [0, 100, 200, 400]


def made(knobs):
    """A recording of {knob: values} with curves that any two runs have apart."""
    rng, variants, runs = np.random.default_rng(0), {}, []
    for knob, values in knobs.items():
        for value in values:
            name = f"{knob} {value:g}"
            variants[name] = {"changes": {}, "knob": knob, "value": value, "samples": SAMPLES}
            for seed in (0, 1, 2):
                curve = np.round(rng.random(len(SAMPLES)), 4).tolist()
                runs.append({"variant": name, "seed": seed, "seconds": 1.0, "pass_at_1": curve})
    known = {
        "name": "made",
        "seeds": [0, 1, 2],
        "variants": variants,
        "columns": {"samples": "", "pass_at_1": ""},
        "runs": runs,
    }
    return recordings.Recording(
        **{each.name: known.get(each.name, "") for each in fields(recordings.Recording)}
    )


KNOBS = {"kl": (1.0, 0.0, 0.1), "learning_rate": (1e-3, 1e-5, 1e-2, 1e-4), "epochs": (1, 2)}
MADE = made(KNOBS)


def run_of(knob, value):
    """(3, 4) pass@1, by a loop over the runs."""
    return [run["pass_at_1"] for run in MADE.runs if run["variant"] == f"{knob} {value:g}"]


def test_each_knob_has_its_values_in_order_and_their_runs():
    found = drawing.turnings(MADE)
    assert list(found) == ["learning_rate", "epochs", "kl"]  # the order of the explorer
    for knob, values in KNOBS.items():
        assert found[knob].values.tolist() == sorted(values)
        for value, curves in zip(sorted(values), found[knob].curves, strict=True):
            assert curves.tolist() == run_of(knob, value)


@pytest.mark.parametrize("knob", KNOBS)
@pytest.mark.parametrize("place", [1, 2, 3, 4])
def test_the_picture_shows_the_chosen_runs_and_the_end_of_all(knob, place):
    turning = drawing.turnings(MADE)[knob]
    values = sorted(KNOBS[knob])
    value = values[min(place, len(values)) - 1]
    shown = drawing.picture(turning, knob, place)
    left, right = shown.panels
    chosen = [mark for mark in left.marks if isinstance(mark, Line) and mark.colour == drawing.CHOSEN]
    assert [line.y.tolist() for line in chosen] == run_of(knob, value)
    assert all(line.x.tolist() == SAMPLES for line in chosen)
    others = [
        mark.y.tolist() for mark in left.marks if isinstance(mark, Line) and mark.colour == drawing.OTHERS
    ]
    middle = [
        [sorted(point)[1] for point in zip(*run_of(knob, v), strict=True)] for v in values if v != value
    ]
    assert others == middle
    large = [mark for mark in right.marks if isinstance(mark, Points) and mark.colour == drawing.CHOSEN]
    ends = [run[-1] for run in run_of(knob, value)]
    assert [mark.y.tolist() for mark in large] == [ends]
    place = round(large[0].x.mean(), 9)
    assert dict(right.x.ticks)[place] == f"{value:g}" and abs(large[0].x - place).max() < 0.25
    small = [mark for mark in right.marks if isinstance(mark, Points) and mark.colour == drawing.OTHERS]
    for k, v in enumerate(values):
        assert dict(right.x.ticks)[k] == f"{v:g}" and len(right.x.ticks) == len(values)
        assert [mark.y[k] for mark in small] == [run[-1] for run in run_of(knob, v)]
    first, second, third = shown.caption.splitlines()
    assert f"value {values.index(value) + 1} of {len(values)} " in first and "median" in third
    assert [
        dict(right.x.ticks)[rule.value] for rule in right.marks if isinstance(rule, Rule) and rule.vertical
    ] == [f"{v:g}" for v in values if v == STANDARD[knob]]
    assert ("(default)" in left.title) == (value == STANDARD[knob])
    assert all(f"{end:.3f}" in first for end in ends)
    reached = [run for run in run_of(knob, value) if max(run) >= 0.9]
    assert second.startswith(f"{len(reached)} of 3 seeds reach 0.9") and ("first" in second) == bool(reached)


def test_the_first_to_reach_the_goal_is_named():
    turning = drawing.Turning(np.array([1.0]), np.array([0, 100]), np.array([[[0.8, 1.0], [0.85, 0.95]]]))
    assert "first after 50 completions" in drawing.picture(turning, "epochs", 1).caption
    low = drawing.Turning(turning.values, turning.samples, turning.curves - 0.5)
    assert drawing.picture(low, "epochs", 1).caption.splitlines()[1] == "0 of 2 seeds reach 0.9."


def test_the_marked_defaults_are_those_of_the_plan():
    assert drawing.DEFAULTS == STANDARD


def test_the_explorer_moves_to_every_end():
    lab = knob_lab(MADE, place=1)
    for knob in KNOBS:
        for place in (1, 4):
            lab.move(knob=drawing.KNOBS[knob], place=place)
            turning = drawing.turnings(MADE)[knob]
            assert lab.text == describe(drawing.picture(turning, knob, place))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: knob_lab(made({"kl": (0.0, 1.0)})), "turns 1 knobs"),
        (lambda: knob_lab(MADE, knob="temperature"), "knob is 'temperature'"),
        (lambda: knob_lab(MADE, place=5), "Slider.value is 5"),
        (lambda: knob_lab(MADE, place=0), "Slider.value is 0"),
    ],
)
def test_bad_starts_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()
