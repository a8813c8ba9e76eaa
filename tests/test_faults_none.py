"""None, a word or any object where something else is wanted: every public function says so in a sentence of its own."""

import dataclasses
import inspect
import traceback

import pytest
from doors_by_hand import parameters, public

# Taken as it comes: pieces that others put together and check, or that stand inside a loop.
AS_IT_COMES = {
    "algorithms.at_the_end", "constraints.held", "mdp.token_sequences", "steps.ascent", "steps.log_softmax",
    "exercises.nb03.average_variances", "exercises.nb04.two_variances", "exercises.nb10.panels",
    "museum.faults.far_baseline", "museum.faults.for_the_form", "museum.faults.lax", "museum.faults.tenfold",
    "museum.faults.whole_trace", "recordings.compact", "recordings.digest", "recordings.rounded",
}  # fmt: skip


def needed(thing):
    """The arguments that a function must be given."""
    every = parameters(thing).values()
    named = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [each.name for each in every if each.default is each.empty and each.kind in named]


def is_a_record(thing):
    plain = dataclasses.is_dataclass(thing) and not hasattr(thing, "__post_init__")
    return inspect.isclass(thing) and (plain or hasattr(thing, "_fields"))


DOORS = {
    name: thing
    for name, thing in public().items()
    if needed(thing) and not is_a_record(thing) and name not in AS_IT_COMES
}
NONSENSE = {"None": None, "a word": "nonsense", "an object": object()}


def complaint(call):
    """What is wrong with what a call with nonsense gives; None if it is right."""
    try:
        call()
    except (ValueError, TypeError, OSError, ImportError) as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        ours = "/pglab/" in last.filename.replace("\\", "/") and "raise" in "".join(source(last))
        return None if ours and str(error).strip().endswith(".") else f"{last.name}: {error!r}"
    except Exception as error:
        return repr(error)
    return None  # whatever it is, this function takes it


def source(frame):
    """The lines of a statement, from its first to its last."""
    with open(frame.filename, encoding="utf-8") as file:
        lines = file.readlines()
    return lines[frame.lineno - 1 : frame.end_lineno or frame.lineno]


@pytest.fixture(autouse=True)
def nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("nonsense", NONSENSE)
@pytest.mark.parametrize("name", DOORS)
def test_nonsense_is_answered_in_words(name, nonsense, capsys):
    thing = DOORS[name]
    assert complaint(lambda: thing(*[NONSENSE[nonsense]] * len(needed(thing)))) is None


def test_there_are_many_doors():
    assert len(DOORS) > 180
