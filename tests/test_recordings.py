"""The room of recordings, and the files in data/recordings/: whole, small, and of what they say."""

import json
import math
import re
import shutil
from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from experiments import EXPERIMENTS
from experiments.variant import COLUMNS, SEEN
from hypothesis import given
from hypothesis import strategies as st
from refusals import check

from pglab import lm, recordings, tasks
from pglab.training import PostTraining

NAMES = recordings.names()
ALL = [(name, variant) for name in NAMES for variant in recordings.read(name).variants]
UNBOUNDED = (
    "entropy", "length", "grad_norm", "grad_noise", "advantage_mean", "advantage_std", "kl", "kl_ref", "drawn_a_step",
)  # fmt: skip


# ---- The files


def test_every_experiment_is_recorded_and_nothing_else_lies_there():
    assert sorted(EXPERIMENTS) == NAMES


def test_they_are_small():
    assert sum(path.stat().st_size for path in recordings.FOLDER.iterdir()) <= 700_000


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_says_where_it_comes_from(name):
    recording, experiment = recordings.read(name), EXPERIMENTS[name]
    assert (recording.name, recording.words) == (name, experiment.words)
    assert re.fullmatch(rf"python tools/recordings\.py {name} --device (cpu|cuda|mps)", recording.command)
    assert re.fullmatch(r"(cpu|mps|cuda) \(.+\)", recording.device) and recording.threads == 1
    assert re.fullmatch(r"\d+\.\d+.*", recording.torch) and date.fromisoformat(recording.date)
    assert recording.seeds == list(experiment.seeds) and len(recording.seeds) >= 3
    assert 0 < recording.seconds < 3600
    assert recording.seconds == pytest.approx(sum(run["seconds"] for run in recording.runs), abs=0.1)
    assert recording.columns == experiment.columns()


@pytest.mark.parametrize("name", NAMES)
def test_it_started_from_the_checkpoints_that_lie_in_data(name):
    """A checkpoint that was trained again makes its recordings old: `make recordings ARGS=name`."""
    for start, sha256 in recordings.read(name).starts.items():
        assert lm.read_card(start)["sha256"] == sha256


def unsourced(settings):
    """Where an algorithm was published is no setting: a better citation makes no recording old."""
    made = settings.as_dict()
    return made | {"algorithm": made["algorithm"] | {"source": ""}}


@pytest.mark.parametrize("name, variant", ALL)
def test_settings_are_valid_and_those_of_the_script(name, variant):
    recording, wanted = recordings.read(name), EXPERIMENTS[name].variants[variant]
    settings = recording.settings(variant)
    assert "seed" not in settings and unsourced(PostTraining(**settings)) == unsourced(wanted.settings)
    assert wanted.about().items() <= recording.variants[variant].items()
    reward = recording.variants[variant].get("reward", "")
    assert reward == wanted.reward and (
        not reward or callable(getattr(tasks.named(settings["task"]), reward))
    )


@pytest.mark.parametrize("name, variant", ALL)
def test_every_seed_has_every_column_at_every_point(name, variant):
    recording, points = recordings.read(name), EXPERIMENTS[name].variants[variant].points
    runs = [run for run in recording.runs if run["variant"] == variant]
    assert [run["seed"] for run in runs] == recording.seeds
    for column in recording.columns:
        values = recording.column(variant, column)
        assert values.shape == (len(recording.seeds), len(points))
        if column == "samples":
            assert values.tolist() == [list(points)] * len(values)
            continue
        if (
            column in EXPERIMENTS[name].seen
        ):  # before the first step, and where one passed two points, is nothing
            several = EXPERIMENTS[name].variants[variant].settings.algorithm.rounds > 1
            values = values[:, points[0] == 0 :]
            assert several or column == "grad_noise" or not np.isnan(values).any()
            values = values[~np.isnan(values)][None]
        if column not in UNBOUNDED:
            assert (0 <= values).all() and (values <= 1).all()  # NaN fails both
        rounded = [[float(f"{x:.4g}") for x in row] for row in values]
        assert np.array_equal(values, rounded, equal_nan=True)
    first = next(column for column in ("pass_at_1", "reward") if column in recording.columns)
    assert len({str(run[first]) for run in runs}) == len(runs), "two seeds are alike"


@pytest.mark.parametrize("name", [name for name in NAMES if EXPERIMENTS[name].measured])
def test_variants_of_one_seed_start_alike(name):
    recording = recordings.read(name)
    groups = {}
    for variant in recording.variants:
        settings = recording.settings(variant)
        groups.setdefault((settings["task"], settings["temperature"], settings["room"]), []).append(variant)
    for alike in groups.values():
        starts = [recording.column(variant, "pass_at_1")[:, 0].tolist() for variant in alike]
        assert all(start == starts[0] for start in starts)


@pytest.mark.parametrize("name", NAMES)
def test_no_path_of_a_machine_is_in_a_recording(name):
    text = (recordings.FOLDER / f"{name}.json").read_text(encoding="utf-8")
    assert not re.search(r"[/\\](home|root|work|tmp|Users)\b", text)


def test_completions_that_were_kept_are_judged_as_the_task_judges_them():
    recording, task = recordings.read("verifier"), tasks.named("running_sum")
    for variant in recording.variants:
        pay = task.verify_lax if variant.startswith("lax") else task.verify
        for seed in recording.seeds:
            kept = recording.kept(variant, seed)
            assert sorted({one["samples"] for one in kept}) == [0, 2560, 10240] and len(kept) == 12
            for one in kept:
                pair = one["prompt"], one["completion"]
                assert (one["right"], one["paid"]) == (task.verify(*pair), pay(*pair))


def test_every_column_has_words():
    for experiment in EXPERIMENTS.values():
        assert {"samples", *experiment.measured} <= COLUMNS.keys() and {*experiment.seen} <= SEEN.keys()


# ---- Reading and writing


@pytest.fixture
def folder(tmp_path):
    shutil.copy(recordings.FOLDER / "running_sum.json", tmp_path)
    return tmp_path


def test_what_is_written_is_read(tmp_path):
    recording = recordings.read("running_sum")
    path = recordings.write(replace(recording, name="again", words="a sum, Σ"), tmp_path / "new")
    assert path == tmp_path / "new" / "again.json" and recordings.names(tmp_path / "new") == ["again"]
    assert recordings.read("again", tmp_path / "new") == replace(recording, name="again", words="a sum, Σ")


def test_an_unknown_name(folder, tmp_path):
    message = "name is 'sums'; it must be one of the recordings in data/recordings: running_sum"
    check(lambda: recordings.read("sums", folder), message)
    check(lambda: recordings.read("sums", tmp_path / "none"), "name is 'sums'; it must be one of the")
    with pytest.raises(ValueError, match="one of the recordings in data/recordings: none"):
        recordings.read("../running_sum", tmp_path / "none")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.replace('"samples":[0,256', '"samples":[0,255', 1),
        lambda text: text.replace('"threads": 1', '"threads": 2'),
        lambda text: "",
        lambda text: "[]",
        lambda text: "3",
        lambda text: "{}",
        lambda text: json.dumps(json.loads(text) | {"sha256": 5}),
        lambda text: json.dumps({k: v for k, v in json.loads(text).items() if k != "starts"}),
    ],
)
def test_a_damaged_file_is_refused_with_the_command_that_makes_it_again(folder, spoil):
    path = folder / "running_sum.json"
    text = path.read_text(encoding="utf-8")
    assert spoil(text) != text
    path.write_text(spoil(text), encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"(?s)running_sum\.json is damaged.*make recordings ARGS=running_sum"
    ):
        recordings.read("running_sum", folder)


def test_bytes_that_are_no_text_are_refused(folder):
    (folder / "running_sum.json").write_bytes(b"\xff\xfe\x00")
    check(lambda: recordings.read("running_sum", folder), "running_sum.json is damaged")


def test_another_layout_of_the_same_content_is_fine(folder):
    path = folder / "running_sum.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8"))), encoding="utf-8")
    assert recordings.read("running_sum", folder) == recordings.read("running_sum")


def test_refusals():
    recording = recordings.read("verifier")
    there = ", ".join(recording.variants)
    for call in (recording.settings, lambda v: recording.column(v, "paid"), lambda v: recording.kept(v, 0)):
        check(lambda call=call: call("laxer"), f"variant is 'laxer'; it must be one of {there}")
    check(
        lambda: recording.column("lax", "variant"), "name is 'variant'; it must be one of samples, pass_at_1"
    )
    check(lambda: recording.kept("lax", 9), "seed is 9; it must be one of 0, 1, 2, 3, 4")


def test_nothing_is_kept_where_nothing_was_asked_for():
    assert recordings.read("running_sum").kept("grpo", 0) == []


# ---- Numbers


def test_rounding():
    assert recordings.rounded([0.123456, 1234567.0, 3.0, -0.00001234567, math.nan, math.inf]) == [
        0.1235, 1234567, 3, -1.235e-05, None, None
    ]  # fmt: skip
    assert recordings.rounded(np.array([[0.55555, 1.0]]), 2) == [[0.56, 1]]
    assert isinstance(recordings.rounded(2.0), int)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=9), st.floats(0.01, 1))
def test_samples_to_against_a_fine_grid(values, level):
    samples = np.arange(len(values)) * 10.0
    found = recordings.samples_to(samples, values, level)
    if max(values) < level:
        assert found == math.inf
        return
    assert np.interp(found, samples, values) >= level - 1e-9
    grid = np.arange(200) / 200 * found if found else np.zeros(0)
    assert (np.interp(grid, samples, values) <= level + 1e-9).all()


def test_samples_to_where_nothing_was_measured():
    assert recordings.samples_to([0, 10, 20], [0.1, math.nan, 0.9], 0.5) == 20
    assert recordings.samples_to([0, 10], [0.9, 0.1], 0.5) == 0


def test_samples_to_refusals():
    check(lambda: recordings.samples_to([0, 1], [0.1], 0.5), "values has shape (1,); it must have that")
    check(lambda: recordings.samples_to([0, 0], [0.1, 0.2], 0.5), "samples does not increase")
    check(lambda: recordings.samples_to([0, 1], [0.1, 0.2], math.nan), "level is nan")
    check(lambda: recordings.samples_to([0, 1], "ab", 0.5), "values is 'ab'; it must be")
