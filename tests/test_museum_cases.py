"""The cases of notebook 10: its folded tests catch their suspect; a careless test or a blind input gets the hint."""

import re

import nbformat
import numpy as np
import pytest
import torch
from conftest import ROOT

from pglab import museum

CELLS = nbformat.read(ROOT / "notebooks" / "10_the_bug_museum.ipynb", 4).cells
CODE = [cell.source for cell in CELLS if cell.cell_type == "code"]
JUDGED = re.findall(r"museum\.judge\((\d+), (test_\d+)\)", "\n".join(CODE))
ASKED = {museum.TOUR[int(number) - 1]: test for number, test in JUDGED}  # case: its test


def folded():
    """What the notebook's folded solutions define, with ``slopes`` as its own cell has it."""
    found = {"np": np, "torch": torch}
    helper = next(source for source in CODE if "def slopes(" in source)
    exec(helper[: helper.index("def test_")], found)
    prose = "\n".join(cell.source for cell in CELLS if cell.cell_type == "markdown")
    for block in re.findall(r"<summary>Tests? for cases?.*?```python\n(.*?)```", prose, re.S):
        exec(block, found)
    return found


FOLDED = folded()
slopes = FOLDED["slopes"]


def gae_of_three(f, last_value, truncated):
    return f(np.array([1.0, 0.0, 2.0]), np.zeros(3), last_value, truncated, 0.5, 1.0)


def own_tokens(f):
    return f(np.array([0.0, 1.0]), np.array([0.5, 0.25]), np.array([True, True]), 1.0, 1.0)


def at_the_reference(f):
    logp = torch.tensor([0.25, 0.75], dtype=torch.float64).log().requires_grad_()
    f(logp, logp.detach()).sum().backward()
    return logp.grad


# For each case a test that is true, and looks at an input on which suspect and right function agree.
BLIND = {
    "missing_brackets": lambda f: abs(f(np.array([[1.0, -1.0]])).sum()) < 1e-9,
    "mean_of_means": lambda f: f([[1.0, 1.0], [4.0, 4.0]]) == 2.5,
    "larger_of_two": lambda f: slopes(f, [[0.0]], [1.0])[0, 0] < 0,
    "summed_ratio": lambda f: (slopes(f, [[0.0, 0.0]], [1.0]) < 0).all(),
    "multiplied_mask": lambda f: slopes(f, [[0.1, 9.0]], [1.0], [[True, False]])[0, 1] == 0,
    "pad_by_value": lambda f: f(torch.tensor([7, 5])).all(),
    "spread_of_others": lambda f: f(np.array([[2.0, 0.0, 1.0, 1.5]])).argmax() == 0,
    "nothing_is_zero": lambda f: np.allclose(
        f(np.array([[1.0, 0.0]]), np.array([[True, True]])), [[0.5, -0.5]]
    ),
    "one_step_late": lambda f: f(np.array([0.0, 0.0]), 0.5).tolist() == [0.0, 0.0],
    "cut_is_the_end": lambda f: np.allclose(gae_of_three(f, 9.0, False), [1.5, 1.0, 2.0]),
    "critic_of_noise": lambda f: np.allclose(own_tokens(f), [0.5, 0.75]),
    "cooled_too_late": lambda f: np.isclose(f(torch.tensor([0.0, 0.0]), torch.tensor(0), 1.0), -np.log(2)),
    "turned_round": lambda f: not np.any(f(np.log([0.5, 0.5]), np.log([0.5, 0.5]))),
    "slope_of_k3": lambda f: not at_the_reference(f).any(),
}


def said(capsys, name, test):
    museum.case(name).judge(test)
    return capsys.readouterr().out


def test_every_case_has_a_folded_test_and_a_blind_one():
    assert len(ASKED) >= 14 and set(ASKED.values()) == {name for name in FOLDED if name.startswith("test_")}
    assert BLIND.keys() == ASKED.keys()


@pytest.mark.parametrize(("name", "test"), ASKED.items())
def test_the_folded_test_catches_its_suspect(capsys, name, test):
    assert said(capsys, name, FOLDED[test]).startswith(f"Case {name}: caught.")


@pytest.mark.parametrize("name", ASKED)
def test_a_test_that_sees_nothing_gets_the_hint(capsys, name):
    for test in (lambda f: True, BLIND[name]):
        line = said(capsys, name, test)
        assert "passes on the suspect too" in line and museum.case(name).hint in line


@pytest.mark.parametrize("name", ASKED)
def test_a_test_that_refuses_everybody_is_told_so(capsys, name):
    assert "fails on a function that is right" in said(capsys, name, lambda f: False)


@pytest.mark.parametrize("name", ASKED)
def test_the_notebook_opens_the_case_after_it_was_asked(name):
    number = museum.TOUR.index(name) + 1
    asked = next(k for k, source in enumerate(CODE) if f"museum.judge({number}, " in source)
    shown = [k for k, source in enumerate(CODE) if f"opened({number})" in source]
    assert len(shown) == 1 and shown[0] > asked


@pytest.mark.parametrize("name", ASKED)
def test_every_report_is_linked_in_the_prose(name):
    prose = "\n".join(cell.source for cell in CELLS if cell.cell_type == "markdown")
    assert museum.case(name).threads and all(f"({thread})" in prose for thread in museum.case(name).threads)


def test_no_line_on_the_screen_names_a_run_and_its_finding():
    """The key of the clinic stands in a fold alone."""
    shown = [
        line
        for cell in CELLS
        for output in cell.get("outputs", ())
        for text in (output.get("text", ""), output.get("data", {}).get("text/plain", ""))
        for line in text.splitlines()
    ]
    lines = shown + "\n".join(CODE).splitlines()
    for letter, finding in museum.faults.CLINIC.items():
        named = re.compile(rf"""(^ *|["']){letter}\b.*\b{finding}\b""")
        assert not [line for line in lines if named.search(line)]
    prose = "\n".join(cell.source for cell in CELLS if cell.cell_type == "markdown")
    assert "wrong_brackets" in prose and "wrong_brackets" not in re.sub(
        r"<details>.*?</details>", "", prose, flags=re.S
    )


@pytest.mark.parametrize("name", ASKED)
def test_what_opens_a_case_is_folded(name):
    number = museum.TOUR.index(name) + 1
    (cell,) = [c for c in CELLS if c.cell_type == "code" and f"opened({number})" in c.source]
    head = f"<details><summary>Case {number}, opened"
    assert any(output.get("data", {}).get("text/html", "").startswith(head) for output in cell.outputs)
    assert not any(museum.case(name).fix in output.get("text", "") for output in cell.outputs)
