"""The table of mutants: every numeric room is in it, every survivor is explained, no explanation is out of date."""

import importlib
import inspect
import json

import mutants
import pytest

ROOMS = json.loads(mutants.TABLE.read_text(encoding="utf-8"))
SURVIVORS = [s for row in ROOMS.values() for s in row["survivors"]]


def source_of(function):
    """The source of a function or method by its name, decorators and all left off."""
    parts = function.split(".")
    for end in range(len(parts) - 1, 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            found = getattr(found, part)
        return inspect.getsource(found)
    raise AssertionError(f"{function} is not there")


def test_every_numeric_room_was_tried(root):
    assert list(ROOMS) == list(mutants.TESTS)
    for room in mutants.TESTS:
        assert all((root / file).exists() for file in mutants.tests_of(room))
        assert all(list(root.glob(pattern)) for pattern in mutants.sources_of(room))


@pytest.mark.parametrize("room", mutants.TESTS)
def test_the_tests_notice_what_they_should(room):
    row = ROOMS[room]
    assert row["killed"] + row["timeout"] + row["survived"] == row["mutants"] > 0
    assert row["survived"] == len(row["survivors"])
    assert mutants.objections(room, row) == []


def test_explanations_are_of_this_code_and_are_used():
    explained = mutants.explanations()
    for (function, was, _), why in explained.items():
        lines = [" ".join(line.split()) for line in source_of(function).splitlines()]
        assert all(part in " ".join(lines) for part in [" ".join(was.split())]), function
        assert why.endswith(".") and len(why.split()) > 3, why
    assert {(s["function"], s["was"], s["becomes"]) for s in SURVIVORS} >= set(explained)


def test_a_room_with_a_hole_is_refused():
    row = {"percent": 94.9, "survivors": [{"why": ""}, {"why": "Because."}]}
    said = mutants.objections("kl", row)
    assert said[0] == "kl: 94.9 per cent of the mutants were noticed; 95 are asked for."
    assert said[1] == "kl: 1 survivors have no reason in tests/mutants_explained.toml."


def test_a_mutant_keeps_its_name_when_lines_move(tmp_path, monkeypatch):
    diff = "--- a\n+++ a\n@@ -1,3 +1,3 @@\n def f(x):\n-    return x + 1\n+    return x - 1"
    monkeypatch.setattr("mutmut.mutation.diff_apply.get_diff_for_mutant", lambda name: diff)
    found = mutants.change(tmp_path, "pglab.kl.x_f__mutmut_3")
    assert found == ("pglab.kl.f", "return x + 1", "return x - 1")
    method = mutants.change(tmp_path, "pglab.offpolicy.caps.xǁ_Errorsǁat__mutmut_12")
    assert method[0] == "pglab.offpolicy.caps._Errors.at"


def test_an_unknown_room_is_refused(capsys):
    with pytest.raises(SystemExit):
        mutants.main(["klm"])
    assert "there is no room 'klm'; it must be one of gaussian, " in capsys.readouterr().err
