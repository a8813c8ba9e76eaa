"""README says what is so: its map, its commands."""

import re
from importlib import import_module
from pathlib import Path

import nbformat
import pytest
from conftest import ROOT
from rooms import ROOMS

import make

house_map = import_module("map")  # the tool; not the built-in function
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_map_is_what_the_code_says():
    assert house_map.drawn(README) == README, "make map draws it again"


def test_the_map_has_every_notebook_once_with_its_minutes():
    rows = re.findall(r"^\| (\d\d) \| \[[^]]+\]\(([^)]+)\) \| [^|]+\? \| (\d+) \|$", README, re.M)
    assert [number for number, _, _ in rows] == [f"{n:02d}" for n in range(12)]
    for number, link, minutes in rows:
        assert Path(link).name.startswith(f"{number}_")
        assert f"About {minutes} minutes" in nbformat.read(ROOT / link, 4).cells[0].source


def test_a_change_of_the_code_changes_the_map(monkeypatch):
    monkeypatch.setattr(house_map, "says", lambda room: f"What {room} says now.")
    text = house_map.drawn(README)
    assert (
        text.count(" says now. |") == len(ROOMS)
        and text.partition("## How")[0] == README.partition("## How")[0]
    )
    assert house_map.opening("# 03 A title: and more\n\n**Time.** About 20 minutes.") == (
        "03",
        "A title",
        "20",
    )


@pytest.mark.parametrize("mark", ["<!-- rooms: drawn by make map -->", "<!-- end of notebooks -->"])
def test_a_mark_that_has_gone_is_missed(mark):
    with pytest.raises(ValueError, match="README.md needs one line"):
        house_map.drawn(README.replace(mark, ""))


def test_make_map_writes_once_and_check_writes_never(monkeypatch, tmp_path, capsys):
    path = tmp_path / "README.md"
    path.write_text(README.replace("| room |", "| rooms |"), encoding="utf-8")
    monkeypatch.setattr(house_map, "README", path)
    assert house_map.main(["--check"]) == 1 and "make map" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") != README
    assert house_map.main([]) == 0 and path.read_text(encoding="utf-8") == README
    assert house_map.main(["--check"]) == 0


def test_every_command_exists():
    text = README + (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    words = set(re.findall(r"(?:^|`)(?:py )?make(?:\.py)? ([a-z]+)", text, re.M))
    assert {"lab", "test", "render", "bench", "lock", "quick", "drawings"} <= words
    assert words - set(make.WORDS) == set()


def test_ci_calls_the_test_command_of_the_readme():
    assert "make test" in README
    assert re.search(r"^\s*(exec )?make test", (ROOT / ".ci" / "run").read_text(), re.M)


def test_every_room_is_on_the_map():
    rooms = {p.stem for p in (ROOT / "pglab").iterdir() if not p.name.startswith(("_", "."))}
    shown = set(re.findall(r"\(pglab/(\w+)", README))
    assert rooms == shown


def test_the_licence_covers_code_and_text():
    licence = (ROOT / "LICENSE").read_text()
    assert "MIT License" in licence and "CC BY 4.0" in licence
