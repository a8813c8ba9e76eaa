"""Every notebook notices faults: with one line of ``pglab`` changed, the cell of a claim fails.

Faults are of the kind that people report; ``tests/sabotage/`` lists them. A fault that leaves the claims
standing is a claim that asserts too little.
"""

import os

import pytest
from cells import Cells, Fault, changed, notebook_cells
from conftest import ROOT
from sabotage import BY_NOTEBOOK

NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
SPEAKING = [path for path in NOTEBOOKS if any(claims for _, _, claims in notebook_cells(path))]
FEWEST = 5  # faults for each notebook that asserts claims
NO_VERDICT = (
    "SyntaxError", "IndentationError", "NameError", "ImportError", "ModuleNotFoundError", "TooLong",
)  # fmt: skip

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that can fork")


def table(path):
    """The faults of a notebook, and the words of the cells to leave out."""
    listed = BY_NOTEBOOK[int(path.name[:2])]
    return listed.FAULTS, getattr(listed, "LEAVE_OUT", ())


@pytest.fixture(scope="module")
def cells():
    with Cells() as running:
        yield running


def unnoticed(cells, path, fault, without):
    """What is wrong with a fault of the table; None if its claim's cell notices it."""
    outcome = cells.run(path, fault, until=fault.claim, without=without)
    what = f"{path.stem}: {fault.words} ({fault.module}: {fault.new})"
    if outcome.error is None:
        return f"{what} goes unnoticed: every cell of claim {fault.claim} stands." + (
            "" if outcome.planted else " The module is never imported."
        )
    if outcome.error.partition(":")[0] in NO_VERDICT:
        return f"{what} is no mistake in the numbers, the code does not run: {outcome.error}"
    if fault.claim not in outcome.claims:
        found = ", ".join(outcome.claims) or "no claim"
        return f"{what} was to fail claim {fault.claim}; cell {outcome.cell} ({found}) fails: {outcome.error}"
    return None


@pytest.mark.slow
@pytest.mark.parametrize("path", SPEAKING, ids=lambda path: path.stem)
def test_each_fault_fails_its_claim(path, cells):
    faults, without = table(path)
    order = [claim for _, _, claims in notebook_cells(path) for claim in claims]
    last = max((f.claim for f in faults), key=lambda claim: max(n for n, c in enumerate(order) if c == claim))
    healthy = cells.run(path, until=last, without=without)
    assert healthy.error is None, f"{path.stem}, without a fault: cell {healthy.cell}: {healthy.error}"
    assert [words for fault in faults if (words := unnoticed(cells, path, fault, without))] == []


@pytest.mark.parametrize("path", SPEAKING, ids=lambda path: path.stem)
def test_each_notebook_with_claims_has_faults_in_several_modules(path):
    faults, _ = table(path)
    assert len(faults) >= FEWEST and len({(fault.module, fault.new) for fault in faults}) == len(faults)
    assert len({fault.module for fault in faults}) >= 2 and len({fault.claim for fault in faults}) >= 2


# --- What the test itself would notice ---------------------------------------------------------

SIGN = Fault(
    "pglab.bandit", "return p * (weights - p @ weights)", "return -p * (weights - p @ weights)", "S2", "sign"
)


def test_a_text_that_does_not_stand_once_is_refused():
    with pytest.raises(ValueError, match="stands 0 times"):
        changed(SIGN._replace(old="return q * (weights"))
    with pytest.raises(ValueError, match="stands once"):
        changed(SIGN._replace(old="return "))


def test_a_fault_that_changes_nothing_goes_unnoticed_and_the_words_say_which(cells):
    path = NOTEBOOKS[1]
    harmless = SIGN._replace(new="return +p * (weights - p @ weights)", words="a plus sign")
    said = unnoticed(cells, path, harmless, ())
    assert "a plus sign" in said and "goes unnoticed" in said and "never imported" not in said
    elsewhere = Fault("pglab.museum.broken", "import torch", "import torch  # here", "S1", "another room")
    assert "another room" in unnoticed(cells, path, elsewhere, ())


def test_a_fault_that_another_cell_notices_is_told_apart(cells):
    path = NOTEBOOKS[1]
    assert unnoticed(cells, path, SIGN, ()) is None
    plain = SIGN._replace(old="return unnormalised / unnormalised.sum()", new="return unnormalised")
    assert "no claim) fails" in unnoticed(cells, path, plain, ())
    for new, error in {
        "return p * (": "SyntaxError",
        "return q * (weights - p @ weights)": "NameError",
    }.items():
        said = unnoticed(cells, path, SIGN._replace(new=new), ())
        assert "does not run" in said and error in said


def test_a_run_that_dies_says_so_and_the_next_one_runs(cells):
    dead = SIGN._replace(new="__import__('os').abort()")
    with pytest.raises(RuntimeError, match="without a word"):
        cells.run(NOTEBOOKS[1], dead, until="S2")
    assert cells.run(NOTEBOOKS[1], until="S2").error is None


def test_cells_are_found_by_their_words_and_claims(cells):
    path = NOTEBOOKS[1]
    with pytest.raises(ValueError, match="stands in 0 cells"):
        cells.run(path, without=["no cell holds this"])
    with pytest.raises(ValueError, match="no cell has the claim"):
        cells.run(path, until="Z99")
    assert cells.run(path, until="S2", without=["answers = ["]).error.startswith("NameError")
    assert "too long" in cells.run(NOTEBOOKS[7], seconds=1).error
