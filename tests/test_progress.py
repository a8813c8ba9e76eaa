"""The reader's progress: noted once, kept whole, never in a stored notebook."""

import json
import os

import pytest

from pglab import bandit, predictions, progress
from pglab.exercises import check
from pglab.exercises import progress as show_progress


@pytest.fixture
def progress_file(tmp_path, monkeypatch):
    path = tmp_path / "folder" / "progress.json"
    monkeypatch.setenv("PGLAB_PROGRESS", str(path))
    return path


def test_an_exercise_is_noted_once_and_shown(capsys, progress_file):
    check("1a", bandit.exact_gradient)
    check("1a", bandit.exact_gradient)
    assert json.loads(progress_file.read_text())["done"] == ["1a"]
    capsys.readouterr()
    show_progress()
    shown = capsys.readouterr().out
    assert "[x] 1a" in shown and "[ ] 1b" in shown and "01 The exact bandit: 1 of 3 exercises" in shown
    assert os.listdir(progress_file.parent) == ["progress.json"]


def test_a_guess_is_noted_and_the_first_one_counts(capsys, progress_file):
    progress.note_done("1a")
    progress.note_guess("1.1", "below one half")
    progress.note_guess("1.1", "above one half")
    assert progress.guesses() == {"1.1": "below one half"}
    assert progress.done() == ["1a"]
    show_progress()
    asked = sum(p.name.startswith("1.") for p in predictions.all_predictions())
    assert f"1 of {asked} predictions, 1 of 1 came true" in capsys.readouterr().out


def test_a_guess_in_any_language_comes_back(progress_file):
    progress.note_guess("1.1", "größer, 更大")
    assert progress.guesses() == {"1.1": "größer, 更大"}


def test_off_means_neither_read_nor_written(progress_file, monkeypatch):
    progress.note_done("1a")
    monkeypatch.setenv("PGLAB_PROGRESS", "off")
    assert progress.done() == [] and progress.guesses() == {}
    progress.note_done("1b")
    progress.note_guess("1.1", "below one half")
    monkeypatch.setenv("PGLAB_PROGRESS", str(progress_file))
    assert progress.done() == ["1a"] and progress.guesses() == {}


@pytest.mark.parametrize("content", ["", "{", "[]", '{"done": 3}', "\x00", '{"guesses": [1]}', "3"])
def test_a_damaged_file_stops_nobody(progress_file, content):
    progress_file.parent.mkdir()
    progress_file.write_text(content)
    assert progress.done() == [] and progress.guesses() == {}
    progress.note_done("1a")
    assert progress.done() == ["1a"]


def test_what_cannot_be_read_is_kept_beside_it(progress_file):
    progress_file.parent.mkdir()
    progress_file.write_text('{"done": ["1a", "1b"')  # cut off: a human can still read it
    progress.note_done("1c")
    assert progress_file.with_name("progress.damaged.json").read_text() == '{"done": ["1a", "1b"'
    assert progress.done() == ["1c"]


def test_a_file_of_an_earlier_version_is_read(progress_file):
    progress_file.parent.mkdir()
    progress_file.write_text('{"done": ["1a"]}')
    progress.note_guess("1.1", "below one half")
    assert progress.done() == ["1a"] and list(progress.guesses()) == ["1.1"]


def test_a_folder_that_cannot_be_made_is_said_not_raised(capsys, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("PGLAB_PROGRESS", str(tmp_path / "file" / "progress.json"))
    check("1a", bandit.exact_gradient)
    progress.note_guess("1.1", "below one half")
    said = capsys.readouterr().out
    assert "right. Well done." in said and said.count("could not be noted in progress.json") == 2
