"""README says what is so: its links, its map, its commands."""

import re

import nbformat
from conftest import ROOT

import make

README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "data/README.md"]


def test_links_lead_somewhere():
    for name in DOCUMENTS:
        text = (ROOT / name).read_text(encoding="utf-8")
        targets = re.findall(r"\]\(([^)#\s]+)", text)
        assert [t for t in targets if "://" not in t and not ((ROOT / name).parent / t).exists()] == []


def test_the_map_links_each_notebook_that_exists_with_its_minutes():
    rows = re.findall(r"^\| (\d\d) \| (?:\[[^]]+\]\(([^)]+)\)|[^|\[]+) \| [^|]+ \| *(\d*) *\|$", README, re.M)
    assert [number for number, _, _ in rows] == [f"{n:02d}" for n in range(12)]
    existing = {p.name[:2]: p for p in (ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb")}
    for number, link, minutes in rows:
        if number not in existing:
            assert (link, minutes) == ("", "")
            continue
        assert ROOT / link == existing[number]
        opening = nbformat.read(existing[number], 4).cells[0].source
        assert f"About {minutes} minutes" in opening


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
