"""The explorer of notebook 10 against plain loops over the runs of a recording."""

import importlib
import random
import re
import statistics
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pglab import recordings
from pglab.figures import COLOURS, Line, Points, Text, describe
from pglab.figures.layout import scene
from pglab.sliders import clinic_lab

drawing = importlib.import_module("pglab.sliders.clinic_lab")  # the package has a function of this name
CLINIC = recordings.read("clinic")
WARD = drawing.admitted(CLINIC)
LETTERS, NAMES, STEPS = tuple("ABCDEFGH"), tuple(WARD), 30


def made(runs, **columns):
    """A recording with these runs; columns of lists, a list for each run."""
    known = {
        "name": "made",
        "seeds": [0],
        "variants": {run: {"changes": {}, "samples": []} for run in runs},
        "columns": {"samples": ""} | dict.fromkeys(columns, ""),
        "runs": [
            {"variant": run, "seed": 0} | {name: rows[k] for name, rows in columns.items()}
            for k, run in enumerate(runs)
        ],
    }
    return recordings.Recording(
        **{each.name: known.get(each.name, "") for each in fields(recordings.Recording)}
    )


def recorded(run, name):
    """A list, from the file's own rows; the seed that notebook 10 draws is the first."""
    return next(each[name] for each in CLINIC.runs if (each["variant"], each["seed"]) == (run, 0))


def marks(panel, kind):
    return [mark for mark in panel.marks if isinstance(mark, kind)]


def first_stretch(run, name, step):
    """(first, last) of the first three steps in a row outside, as long as they last; by a loop."""
    row, inside = [], None
    for t in range(step + 2):
        others = [recorded(x, name)[t] for x in LETTERS if x != run] if t <= step else []
        y = recorded(run, name)[t] if t <= step else inside
        if others and not min(others) <= y <= max(others):
            row.append(t)
        elif len(row) >= 3:
            return row[0], row[-1]
        else:
            row = []
    return None


def test_the_recording_is_that_of_the_notebook():
    assert LETTERS == WARD["kl"].runs and set(NAMES) == set(CLINIC.columns) - {"samples"} == set(
        drawing.UNITS
    )
    assert all(each.values.shape == (8, STEPS) for each in WARD.values())
    assert {name for name in NAMES if WARD[name].axis.log} == {"grad_norm", "grad_noise", "kl"}
    cut = {(n, x) for n in NAMES for x, gone in zip(LETTERS, WARD[n].cut, strict=True) if gone.any()}
    assert cut == {("advantage_mean", "A"), ("advantage_std", "A")}


@pytest.mark.parametrize("run", LETTERS)
@pytest.mark.parametrize("step", [0, 1, 2, 16, 29])
def test_the_picture_shows_the_recorded_numbers(run, step):
    for name, other in zip(NAMES, NAMES[1:] + NAMES[:1], strict=True):
        shown = drawing.picture((WARD[name], WARD[other]), run, step)
        for panel, number in zip(shown.panels, (name, other), strict=True):
            *grey, own = marks(panel, Line)
            rest = [x for x in LETTERS if x != run]
            assert [line.y.tolist() for line in grey] == [recorded(x, number)[: step + 1] for x in rest]
            assert own.y.tolist() == recorded(run, number)[: step + 1]
            assert all(line.x.tolist() == list(range(step + 1)) for line in (*grey, own))
            assert {line.colour for line in grey} == {drawing.OTHERS} != {own.colour}
            assert own.width > 2 * max(line.width for line in grey)
            small, large = marks(panel, Points)
            assert small.y.tolist() == [recorded(x, number)[step] for x in rest]
            assert large.labels == (run,) and large.colour == own.colour
            assert (large.x[0], large.y[0]) == (step, recorded(run, number)[step])
            assert number in panel.title and run in panel.title


@pytest.mark.parametrize("run", LETTERS)
@pytest.mark.parametrize("step", [0, 2, 3, 9, 18, 29])
def test_the_caption_says_these_numbers(run, step):
    for name in NAMES:
        head, *both, last = drawing.picture((WARD[name],) * 2, run, step).caption.split("\n")
        assert f"Run {run} up to step {step}." in head and "7 other" in head
        assert both[:2] == both[2:]
        middle = statistics.median(recorded(x, name)[step] for x in LETTERS if x != run)
        assert both[0] == f"{name} {recorded(run, name)[step]:.4g}; median of the others {middle:.4g}."
        stretch = first_stretch(run, name, step)
        if stretch is None:
            assert both[1].startswith("Not outside")
        elif stretch[1] == step:
            assert both[1] == f"Outside their range from step {stretch[0]} on."
        else:
            assert both[1] == f"Outside their range in steps {stretch[0]} to {stretch[1]}."
        gone = name in ("advantage_mean", "advantage_std") and step >= 16  # by eye: the first spike of A
        assert last == (f"Cut: {name} (A: {max(recorded('A', name)[:17], key=abs):.4g})." if gone else "No value is cut off.")  # fmt: skip


def test_both_kinds_of_stretches_occur():
    """Else the test above would not have tried them."""
    ends = {(x, n): first_stretch(x, n, 29) for x in LETTERS for n in NAMES}
    kinds = {None if each is None else each[1] == 29 for each in ends.values()}
    assert kinds == {None, True, False}
    assert ends["H", "kl"][0] == 0


@given(st.lists(st.booleans(), max_size=12))
def test_leaves_is_the_first_stretch_of_three(outside):
    word = "".join("x" if each else "." for each in outside)
    start = word.find("xxx")
    end = start + len(word[start:]) - len(word[start:].lstrip("x")) - 1
    assert drawing.leaves(np.array(outside, dtype=bool)) == (None if start < 0 else (start, end))


def test_axes_stay_and_the_caption_keeps_its_height():
    """For all steps and runs of a number; beside another panel, and with one panel below the other."""
    heights = set()
    for name in NAMES:
        axis = WARD[name].axis
        inside = WARD[name].values[~WARD[name].cut]
        assert axis.low <= inside.min() and inside.max() <= axis.high
        for run in LETTERS:
            for step in range(STEPS):
                shown = drawing.picture((WARD[name], WARD["advantage_std"]), run, step)
                (left, _), lines = shown.panels, shown.caption.split("\n")
                assert left.y == axis and (left.x.low, left.x.high) == (0, STEPS)  # with room for the letter
                assert len(lines) == 6
                if step in (0, 16, 29):
                    heights.add((scene(shown).height, scene(replace(shown, columns=1)).height))
    assert len(heights) == 1


def test_a_spike_is_cut_and_its_number_stands_at_the_border():
    for name, value in (("advantage_mean", "-313"), ("advantage_std", "1740")):
        number = WARD[name]
        assert np.flatnonzero(number.cut[0]).tolist() == [16, 26, 27]
        for step in (15, 16, 27, 28):
            panel = drawing.picture((number, WARD["kl"]), "A", step).panels[0]
            words = [f"A: {value}"] if step in (16, 27) else []
            assert [mark.text for mark in marks(panel, Text)] == words
            low, high = number.axis.low, number.axis.high
            for mark in marks(panel, Text):
                share = (mark.y - low) / (high - low)
                assert 0 < (share if value == "-313" else 1 - share) < 0.05 and 0 <= mark.x <= STEPS
        assert not marks(drawing.picture((number, WARD["kl"]), "B", 16).panels[0], Text)
        assert np.abs([number.axis.low, number.axis.high]).max() < 9


def test_what_is_cut_by_hand():
    def cut(*rows):
        return drawing.number("x", tuple("PQR"[: len(rows)]), np.array(rows, dtype=float)).cut.tolist()

    assert cut([0, 1], [2, 19], [0, 10.5]) == [[False, False]] * 3  # 19 is not ten times 10.5
    assert cut([0, 1], [2, 10.5]) == [[False, False], [False, True]]
    assert cut([0, 1], [2, -10.5]) == [[False, False], [False, True]]
    assert cut([0, 0], [0, 5]) == [[False, False]] * 2  # nothing to compare with
    assert cut([1, 1], [1, 5000]) == [[False, False]] * 2  # the axis is logarithmic
    late = drawing.number("x", tuple("PQ"), np.array([[1.0] * 12, [1.0] * 11 + [99.0]]))
    (words,) = marks(drawing.picture((late, late), "Q", 11).panels[0], Text)
    assert (words.text, words.anchor) == ("Q: 99", "end")  # the panel ends there
    twice = drawing.number("x", tuple("PQ"), np.array([[1.0, 1.0, 0.0], [11.0, -99.0, 20.0]]))
    assert drawing.picture((twice, twice), "P", 2).caption.endswith("Cut: x (Q: -99).")  # the farthest, once
    flat = drawing.number("x", tuple("PQ"), np.full((2, 3), -2.0))
    assert flat.axis.low < -2 < flat.axis.high and not flat.outside.any()


def test_colours_are_those_of_the_other_pictures_and_none_is_grey():
    for k, run in enumerate(LETTERS):
        line = marks(drawing.picture((WARD["kl"],) * 2, run, 5).panels[0], Line)[-1]
        assert line.colour == (COLOURS[f"seed {k}"] if run != "H" else drawing.INK) != drawing.OTHERS


def test_no_caption_names_a_diagnosis():
    telling = r"\b(brackets?|temperatures?|verifiers?|eps|rates?|transposed|shift(ed)?|healthy|faults?|wrong|too high)\b"
    for run in LETTERS:
        for name in NAMES:
            words = describe(drawing.picture((WARD[name],) * 2, run, 29)).lower()
            assert not re.search(telling, words.replace("_", " "))


def test_the_explorer_moves_to_every_end():
    lab = clinic_lab()
    assert lab.text == describe(drawing.picture((WARD["reward"], WARD["kl"]), "A", 12))
    for run in (LETTERS[0], LETTERS[-1]):
        for left, right in ((NAMES[0], NAMES[-1]), (NAMES[-1], NAMES[0])):
            for step in (0, STEPS - 1):
                lab.move(step=step, run=run, left=left, right=right)
                assert lab.text == describe(drawing.picture((WARD[left], WARD[right]), run, step))
    lab.reset()
    assert lab.values == {"step": 12.0, "run": "A", "left": "reward", "right": "kl"}


def test_the_order_in_the_file_does_not_matter():
    def shuffled(pairs):
        pairs = list(pairs.items())
        random.Random(0).shuffle(pairs)
        return dict(pairs)

    runs = [shuffled(run) for run in CLINIC.runs][::-1]
    mixed = replace(CLINIC, variants=shuffled(CLINIC.variants), columns=shuffled(CLINIC.columns), runs=runs)
    assert list(mixed.variants) != list(CLINIC.variants) and list(mixed.columns) != list(CLINIC.columns)
    assert list(drawing.admitted(mixed)) == list(NAMES)
    lab, other = clinic_lab(), clinic_lab(mixed)
    for run, left, right, step in (("A", "reward", "kl", 12), ("C", "length", "zero_std", 20)):
        lab.move(step=step, run=run, left=left, right=right)
        other.move(right=right, left=left, run=run, step=step)
        assert lab.text == other.text


def test_another_recording():
    """Numbers that no table knows come last, sorted; one that was not always measured is left out."""
    rows = [[1, 2, 3], [4, 5, 6]]
    unknown = dict.fromkeys("wvzyxu", rows)
    assert list(drawing.admitted(made("QP", **unknown, kl=rows))) == ["kl", *"uvwxyz"]
    lab = clinic_lab(made("QP", zeal=rows, kl=rows, grad_noise=[[1, None, 2]] * 2), "Q", "kl", "zeal", 1)
    left, right = lab.picture.panels
    assert [marks(panel, Line)[-1].y.tolist() for panel in (left, right)] == [[1, 2]] * 2
    assert "Run Q up to step 1" in lab.picture.caption and right.title.startswith("zeal")
    with pytest.raises(ValueError, match="right is 'grad_noise'; it must be one of kl, zeal"):
        clinic_lab(made("QP", zeal=rows, kl=rows, grad_noise=[[1, None, 2]] * 2), "Q", "kl", "grad_noise", 1)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: clinic_lab(run="I"), "run is 'I'"),
        (lambda: clinic_lab(left="right"), "left is 'right'"),
        (lambda: clinic_lab(right="samples"), "right is 'samples'"),
        (lambda: clinic_lab(step=30), "Slider.value is 30"),
        (lambda: clinic_lab(step=-1), "Slider.value is -1"),
        (lambda: clinic_lab(made("A", kl=[[1, 2]], reward=[[1, 2]])), "has 1 runs"),
        (lambda: clinic_lab(made("AB", kl=[[1, 2], [1, 2]])), "has 1 numbers"),
        (lambda: clinic_lab(made("AB", kl=[[1, 2], [1]], reward=[[1, 2], [1]])), "different lengths"),
    ],
)
def test_bad_starts_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()
