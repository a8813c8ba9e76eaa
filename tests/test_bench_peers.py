"""The race: its sums, its refusals, and one short lap with the extra."""

import json

import bench_peers
import pytest
import torch
from extras import MISSING, peers

from pglab import tasks


def test_a_row_holds_medians_and_the_median_quotient_of_turns():
    row = bench_peers.compared("sampling", [1.0, 2.0, 4.0], [9.0, 8.0, 4.123456])
    assert row == {"what": "sampling", "note": "", "ours": 2.0, "theirs": 8.0, "ratio": 4.0}
    assert bench_peers.compared("x", [3.0], [1.0], "slow")["ratio"] == 0.3333


@pytest.mark.parametrize("ratio, verdict", [(2.9, "MISSED"), (3.0, "met"), (7.0, "met")])
def test_a_row_in_words_says_whether_the_aim_is_met(ratio, verdict):
    row = {"what": "sampling", "note": "", "ours": 0.01, "theirs": 0.01 * ratio, "ratio": ratio}
    row |= {"task": "addition", "threads": 2}
    said = bench_peers.line(row)
    assert said.endswith(verdict) and "10.0 ms" in said and "2 thread(s)" in said
    assert bench_peers.line(row | {"note": "static cache"}).endswith(f"{ratio:.1f} times  (static cache)")


def test_samplers_of_another_distribution_do_not_race():
    task = tasks.Addition()
    asked = ["012+034=", "001+002="]
    right = [task.answer(prompt) for prompt in asked for _ in range(4)]
    half = [answer if i % 2 else "1" * len(answer) for i, answer in enumerate(right)]
    bench_peers.same_odds(task, asked, lambda: half, lambda: half)
    longer = [answer if i % 2 else answer + "11" for i, answer in enumerate(half)]  # right as often
    for other in (right, ["1" * len(answer) for answer in right], longer):
        with pytest.raises(ValueError, match="they must agree"):
            bench_peers.same_odds(task, asked, lambda: half, lambda other=other: other)


@pytest.mark.slow
def test_a_short_lap(monkeypatch, tmp_path, capsys):
    """Every row of the table, in one thread, for one task; written where it is told to."""
    peers()
    for name, number in {"TURNS": 1, "DRAWS": 1, "STEPS": 2, "WARM": 1, "TASKS": ("addition",)}.items():
        monkeypatch.setattr(bench_peers, name, number)
    monkeypatch.setattr(bench_peers.results, "FOLDER", tmp_path)
    before = torch.get_num_threads()
    try:
        bench_peers.main(["--record", "--threads", "1"])
    finally:
        torch.set_num_threads(before)
    found = json.loads((tmp_path / bench_peers.results.NAME).read_text(encoding="utf-8"))["race"]
    assert set(found["versions"]) >= {"torch", "trl", "transformers"} and not MISSING
    rows = found["rows"]
    assert [row["what"] for row in rows] == ["sampling"] * 2 + ["GRPO step"] * 2
    assert [bool(row["note"]) for row in rows] == [False, True] * 2
    assert all(row["threads"] == 1 and min(row["ours"], row["theirs"], row["ratio"]) > 0 for row in rows)
    assert capsys.readouterr().out.count("times") >= 4
