"""The drawing of the rooms says what the code imports, no more and no less."""

import re
import xml.etree.ElementTree as ET

import drawing_rooms
import pytest
from rooms import MODULES, ROOMS, imports, imports_of, room_of

SVG = "{http://www.w3.org/2000/svg}"


def reached(edges, room):
    """Every room that is reached along the lines."""
    return set(edges[room]).union(*(reached(edges, other) for other in edges[room]))


def test_along_the_lines_one_reaches_what_a_room_imports():
    edges = drawing_rooms.graph()
    for room in ROOMS:
        assert set(edges[room]) <= imports_of(room) <= reached(edges, room)
        for other in edges[room]:  # without this line it would not be reached
            rest = edges | {room: [each for each in edges[room] if each != other]}
            assert other not in reached(rest, room)


def test_the_imports_of_a_room_are_those_of_its_files():
    found = {"figures": set(), "sliders": set()}
    for module, path in MODULES.items():
        if room_of(module) in found:
            found[room_of(module)] |= {
                name.split(".")[1] for name in imports(path) if name.startswith("pglab.")
            }
    assert {room: names & set(ROOMS) - {room} for room, names in found.items()} == {
        room: imports_of(room) for room in found
    }
    assert "figures" in imports_of("sliders") and "sliders" not in imports_of("figures")


def test_every_line_leads_down_and_no_room_lies_on_another():
    edges = drawing_rooms.graph()
    rows_of = drawing_rooms.levels(edges)
    rows, lines = drawing_rooms.laid_out(edges, rows_of)
    x = drawing_rooms.positions(rows, lines)
    assert all(rows_of[upper] < rows_of[lower] for upper, lower in lines)
    assert len(lines) == sum(map(len, edges.values()))
    for row in rows:
        order = sorted(row, key=x.get)
        ends = [(x[p] - drawing_rooms.width(p) / 2, x[p] + drawing_rooms.width(p) / 2) for p in order]
        assert ends[0][0] >= 0 and ends[-1][1] <= drawing_rooms.WIDTH
        assert all(left[1] < right[0] for left, right in zip(ends, ends[1:], strict=False))


def test_every_room_stands_in_it_once_and_in_its_words():
    root = ET.fromstring(drawing_rooms.rooms().markup("rooms"))
    words = [element.text for element in root.iter(SVG + "text")]
    alone = re.search(r"On their own: (.*)\.", " ".join(words))[1].split(" and ")
    assert sorted(alone + [word for word in words if word in ROOMS]) == sorted(ROOMS)
    description = root.find(SVG + "desc").text.splitlines()[1:]
    assert [line.partition(":")[0] for line in description] == ROOMS
    edges = drawing_rooms.graph()
    assert f"mdp: {', '.join(edges['mdp'])}." in description


def test_a_small_case_by_hand(monkeypatch):
    """a is imported by b and c, b by c: the line from a to c is left out; d stands alone."""
    wanted = {"a": set(), "b": {"a"}, "c": {"a", "b"}, "d": set(), "e": {"a"}}
    monkeypatch.setattr(drawing_rooms, "ROOMS", list(wanted))
    monkeypatch.setattr(drawing_rooms, "imports_of", wanted.get)
    edges = drawing_rooms.graph()
    assert edges == {"a": [], "b": ["a"], "c": ["b"], "d": [], "e": ["a"]}
    assert drawing_rooms.levels(edges) == {"a": 0, "b": 1, "c": 2, "e": 1}
    rows, lines = drawing_rooms.laid_out(edges, {"a": 0, "b": 1, "c": 2, "e": 2})
    assert rows == [["a"], ["b", ("a", "e", 1)], ["c", "e"]]
    assert lines["a", "e"] == ["a", ("a", "e", 1), "e"]


@pytest.mark.parametrize("xs, crossed", [([10, 20, 10, 20], 0), ([10, 20, 20, 10], 1)])
def test_crossings_are_counted(xs, crossed):
    x = dict(zip("abcd", xs, strict=True))
    lines = {("a", "c"): ["a", "c"], ("b", "d"): ["b", "d"]}
    assert drawing_rooms.crossings(x, [["a", "b"], ["c", "d"]], lines)[0] == crossed


def test_few_lines_cross():
    edges = drawing_rooms.graph()
    rows, lines = drawing_rooms.laid_out(edges, drawing_rooms.levels(edges))
    crossed, _ = drawing_rooms.crossings(drawing_rooms.positions(rows, lines), rows, lines)
    assert crossed < len(lines), "a hairball: draw it in another way, or leave it out"
