"""Predictions: what is registered, what the notebooks ask, and the box that asks it."""

import re

import nbformat
import pytest
from conftest import ROOT
from notebook_policy import ASKED, FOLDED, PREDICT

from pglab import predictions
from pglab.predictions import register
from pglab.predictions.box import Box, words

NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
ALL = predictions.all_predictions()
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*\.\d+(?![\w.]*\d)")


def _notebook(number):
    return nbformat.read(next(p for p in NOTEBOOKS if int(p.name[:2]) == number), 4)


def test_every_prediction_of_the_register_is_asked_once_and_the_other_way_round():
    asked = [
        name
        for path in NOTEBOOKS
        for cell in nbformat.read(path, 4).cells
        if cell.cell_type == "code"
        for name in PREDICT.findall(cell.source)
    ]
    assert asked == [p.name for p in ALL]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_question_of_the_prose_is_without_an_answer(path):
    cells = nbformat.read(path, 4).cells
    prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    committed = sum(len(PREDICT.findall(cell.source)) for cell in cells if cell.cell_type == "code")
    assert prose.count(ASKED) == committed + prose.count(FOLDED) > 0


def _said(notebook):
    """All that the notebook says, its outputs included."""
    for cell in notebook.cells:
        yield cell.source
        for output in cell.get("outputs", []):
            yield output.get("text", "") or output.get("data", {}).get("text/plain", "")


@pytest.mark.parametrize("number", range(len(NOTEBOOKS)))
def test_a_decimal_number_of_an_answer_is_one_of_the_notebook(number):
    shown = re.findall(r"(?<![\w.])\d+(?:,\d{3})*\.?\d*(?:e-?\d+)?", " ".join(_said(_notebook(number))))
    found = [float(n.replace(",", "")) for n in shown]
    for p in ALL:
        if p.name.partition(".")[0] != str(number):
            continue
        for said in NUMBER.findall(p.answer):
            value, digits = float(said.replace(",", "")), len(said.partition(".")[2])
            assert any(abs(n - value) <= 0.5000001 * 10**-digits for n in found), (p.name, said)


def test_most_are_choices_and_the_right_one_stands_in_no_favourite_place():
    choices = [p for p in ALL if p.choices]
    assert len(choices) >= 0.6 * len(ALL)
    first = sum(p.right == p.choices[0] for p in choices) / len(choices)
    last = sum(p.right == p.choices[-1] for p in choices) / len(choices)
    assert 0.15 < first < 0.6 and 0.15 < last < 0.6


GOOD = {"name": "99.1", "question": "Up or down?", "choices": ("up", "down"), "right": "up", "answer": "Up."}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"name": "first"}, "must be called by the notebook's number"),
        ({"name": "1.1"}, "exists already"),
        ({"question": ""}, "1 to 110 letters"),
        ({"question": "x" * 111}, "1 to 110 letters"),
        ({"choices": ("up",)}, "two to 6 different"),
        ({"choices": ("up", "up")}, "two to 6 different"),
        ({"right": "sideways"}, "must be one of"),
        ({"right": None}, "must be one of"),
        ({"choices": ()}, "must be one of"),
        ({"answer": ""}, "no answer"),
    ],
)
def test_a_wrong_entry_is_refused_in_words(change, says):
    entry = GOOD | change
    with pytest.raises(ValueError, match=says):
        register.prediction(
            entry["name"], entry["question"], entry["choices"], entry["right"], answer=entry["answer"]
        )


def test_an_unknown_name_lists_those_of_the_notebook():
    with pytest.raises(ValueError, match=r"'1.999'.*1\.1"):
        predictions.predict("1.999")


@pytest.fixture
def progress_file(tmp_path, monkeypatch):
    path = tmp_path / "progress.json"
    monkeypatch.setenv("PGLAB_PROGRESS", str(path))
    return path


def test_a_guess_made_in_the_box_is_kept_and_comes_back(progress_file):
    asked = predictions.find("1.1")
    box = Box(asked)
    assert box.guess == ""
    box.guess = asked.choices[0]  # as the browser sets it
    assert asked.choices[0] in progress_file.read_text()
    assert Box(asked).guess == asked.choices[0]


def test_without_a_kernel_the_question_stands_there_and_the_answer_does_not():
    asked = predictions.find("1.1")
    data, _ = Box(asked)._repr_mimebundle_()
    assert data["text/plain"] == words(asked)
    assert asked.question in words(asked) and all(choice in words(asked) for choice in asked.choices)
    assert asked.answer not in words(asked)
