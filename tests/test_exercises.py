"""Exercises: usual mistakes get their own hint, nothing wrong is accepted, and nothing ever raises.

That the solutions are right is seen in test_browser.py, where every notebook runs with its solutions in place.
"""

import nbformat
import numpy as np
import pytest
from conftest import ROOT
from mistakes import MISTAKES

from pglab import bandit
from pglab.exercises import all_exercises, check
from pglab.exercises.checking import exercise, judge_function

NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))


def said(capsys, name, answer):
    check(name, answer)
    return capsys.readouterr().out


def test_every_exercise_of_the_notebooks_is_registered_and_the_other_way_round():
    tags, texts = set(), ""
    for path in NOTEBOOKS:
        for cell in nbformat.read(path, 4).cells:
            tags |= {tag[9:] for tag in cell.metadata.get("tags", []) if tag.startswith("exercise-")}
            texts += cell.source + "\n"
    assert tags == {e.name for e in all_exercises()}
    for e in all_exercises():  # the notebook says what the register says
        assert f"### {e.name}. {e.title}\n*{e.difficulty.capitalize()}, {e.minutes} minutes.*" in texts


@pytest.mark.parametrize(("name", "answer", "hint"), MISTAKES)
def test_a_usual_mistake_gets_its_hint(capsys, name, answer, hint):
    line = said(capsys, name, answer)
    assert "not right yet" in line and hint in line


def test_every_exercise_knows_at_least_two_mistakes():
    known = [name for name, _, _ in MISTAKES]
    assert all(known.count(e.name) >= 2 for e in all_exercises())


BROKEN = [
    lambda *a: 1 / 0,
    lambda *a: exit(), lambda: None, lambda *a: "word", lambda *a: [[1], [2, 3]], lambda *a: np.nan,
    lambda *a: np.full(4, np.inf), lambda *a: object(), 3.0, "text", [], {}, object(),
]  # fmt: skip


@pytest.mark.parametrize("name", [e.name for e in all_exercises()])
@pytest.mark.parametrize("answer", BROKEN)
def test_broken_answers_are_answered_and_never_accepted(capsys, name, answer):
    line = said(capsys, name, answer)
    assert line.startswith(f"Exercise {name}: ") and line.count("\n") == 1
    assert "right. Well" not in line and " at 0x" not in line


ASKS_FOR_A_FUNCTION = [
    e.name for e in all_exercises() if e.name not in ("0c", "1b", "3b", "4b", "5b", "9e", "10a", "10c")
]
EMPTY = [(e.name, answer) for e in all_exercises() for answer in (None, ...)]
EMPTY += [(name, stub) for name in ASKS_FOR_A_FUNCTION for stub in (lambda *a: None, lambda *a: ...)]
EMPTY += [("1b", (..., ...)), ("1b", ([0, 0], ...))]
EMPTY += [("3b", {"none": ..., "constant": ..., "value": ...})]
EMPTY += [("4b", {"quieter": pair, "noisier": ..., "same": ...}) for pair in (..., [[0, 1], [0, 1]])]
EMPTY += [("10a", {letter: ... for letter in "ABCDEFGH"}), ("10a", {"A": "healthy"})]
EMPTY += [("9e", (..., ...)), ("9e", ([1.5, 1.0], ...))]
EMPTY += [("5b", [...] * 5), ("5b", ["over", ..., "over", "goes on", "cut off"])]


@pytest.mark.parametrize(("name", "answer"), EMPTY)
def test_nothing_written_yet(capsys, name, answer):
    assert "not done yet" in said(capsys, name, answer)


def test_random_wrong_functions_are_never_right(capsys):
    rng = np.random.default_rng(0)
    for _ in range(200):
        noise = rng.normal(scale=0.1, size=4)
        line = said(capsys, "1a", lambda z, r, noise=noise: bandit.exact_gradient(z, r) + noise[: len(z)])
        assert "not right yet" in line


def test_a_reader_cannot_change_the_cases(capsys):
    def spoil(logits, rewards):
        logits[:], rewards[:] = 0.0, 0.0
        return np.zeros(len(logits))

    said(capsys, "1a", spoil)
    assert "right. Well done." in said(capsys, "1a", bandit.exact_gradient)


def test_unknown_and_repeated_names_raise():
    with pytest.raises(ValueError, match="no exercise is called '9z'.*0a"):
        check("9z", 1)
    with pytest.raises(ValueError, match="exists already"):
        exercise("1a", "", "easy", 1)(None)
    with pytest.raises(ValueError, match="number and a letter"):
        exercise("first", "", "easy", 1)


def test_an_unexplained_difference_shows_the_case():
    hint = judge_function(lambda x: x + 1, [([1.0, 2.0],)], lambda x: np.asarray(x), [])
    assert "[1, 2]" in hint and "[2, 3]" in hint
