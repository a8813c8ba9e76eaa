"""`make mutants`: does a test fail when one thing in the numeric rooms is changed?

mutmut makes the mutants (one function with one change each: ``<`` for ``<=``, ``-`` for ``+``, an argument
left out) and runs, for each, only the tests that reach the function. Here stand which tests belong to
which room, and what is asked of the outcome: 95 per cent of a room's mutants are noticed, and each
survivor has its reason in ``tests/mutants_explained.toml``. A line that only words an error is left
out, see ``do_not_mutate_patterns`` in pyproject.toml.

    make mutants                          every room, smallest first
    make mutants ARGS="kl returns"        these
    make mutants ARGS="kl --show"         and print the survivors as changed lines

It can be stopped and goes on where it was; ``--fresh`` starts a room over.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK, TABLE, EXPLAINED = (
    ROOT / "build/mutants",
    ROOT / "data/measured/mutants.json",
    ROOT / "tests/mutants_explained.toml",
)
ENOUGH = 95.0
NOTICED = ("killed", "timeout", "segfault")  # an endless loop is noticed too

# A room, its files where they are not pglab/ROOM.py, and the tests that are run: tests/test_NAME.py.
FOLDERS = ("groups", "mdp", "offpolicy")
TESTS = {
    "gaussian": ["gaussian"],
    "_masked": ["advantages", "advantages_input", "losses_masks"],
    "_checks": ["checks", "bandit", "bandit_input"],
    "_arrays": ["arrays", "advantages_input", "losses_input"],
    "logprobs": ["logprobs"],
    "kl": ["kl", "kl_input"],
    "bandit": ["bandit", "bandit_input", "bandit_properties"],
    "advantages": ["advantages", "advantages_input"],
    "returns": ["returns", "returns_input"],
    "constraints": ["constraints"],
    "steps": ["steps"],
    "diagnostics": ["diagnostics", "diagnostics_steps"],
    "losses": ["losses", "losses_input", "losses_masks", "losses_reports"],
    "groups": ["groups", "groups_input", "groups_moments", "groups_scale"],
    "offpolicy": ["offpolicy", "offpolicy_caps", "offpolicy_engines", "offpolicy_input", "offpolicy_stale"],
    "mdp": ["mdp", "mdp_critics", "mdp_input", "mdp_moments", "mdp_tables", "lengths"],
}


def tests_of(room):
    """The files of tests that speak of a room."""
    return [f"tests/test_{name}.py" for name in TESTS[room]]


def sources_of(room):
    return [f"pglab/{room}/*.py"] if room in FOLDERS else [f"pglab/{room}.py"]


def prepare(room, isolation):
    """A folder in which mutmut finds the tree, and a pyproject.toml that is about this room only."""
    place = WORK / room
    (place / "mutants").mkdir(parents=True, exist_ok=True)
    for name in ("pglab", "tests"):
        if not (place / name).exists():
            (place / name).symlink_to(ROOT / name)
    if not (place / "mutants/data").exists():
        (place / "mutants/data").symlink_to(ROOT / "data")
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    markers = {"markers": ours["pytest"]["ini_options"]["markers"], "pythonpath": [".", "tools"]}
    (place / "preload.txt").write_text("numpy\ntorch\nhypothesis\n", encoding="utf-8")
    about = {"only_mutate": sources_of(room), "pytest_add_cli_args_test_selection": tests_of(room)}
    about |= {
        "process_isolation": isolation,
        "forkserver_warmup": "import",
        "preload_modules_file": "preload.txt",
    }
    text = table("tool.pytest.ini_options", markers) + table("tool.mutmut", ours["mutmut"] | about)
    if (
        not (place / "pyproject.toml").exists()
        or (place / "pyproject.toml").read_text(encoding="utf-8") != text
    ):
        (place / "pyproject.toml").write_text(text, encoding="utf-8")
    return place


def table(name, entries):
    """A table of TOML; strings, lists of strings, numbers and booleans read the same there as in JSON."""
    return f"[{name}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in entries.items()) + "\n"


def outcomes(place):
    """{mutant: status} of what has been run so far."""
    from mutmut.stats import status_by_exit_code

    found = {}
    for file in sorted((place / "mutants/pglab").rglob("*.meta")):
        codes = json.loads(file.read_text(encoding="utf-8"))["exit_code_by_key"]
        found |= {name: status_by_exit_code[code] for name, code in codes.items()}
    return found


def mutate(room, jobs, fresh):
    """Run mutmut on a room, and on its survivors once more, unless nothing has changed since they were tried.

    The first pass forks from a process that has imported the tests: quick, but what a test file computes
    while it is imported is not the mutant's. In the second each mutant imports the tests for itself.
    """
    if fresh:
        shutil.rmtree(WORK / room, ignore_errors=True)
    place, stamp = prepare(room, "fork"), WORK / room / "tried.json"
    before = json.loads(stamp.read_text(encoding="utf-8")) if stamp.exists() else {}
    tests = {name: os.path.getmtime(ROOT / name) for name in tests_of(room)}
    if before.get("tests") != tests:
        (place / "mutants/mutmut-stats.json").unlink(
            missing_ok=True
        )  # which test reaches what, to be seen anew
    mutmut(place, jobs)
    left = survivors(place)
    if left and before != {"tests": tests, "left": left}:
        prepare(room, "forkserver")
        mutmut(place, jobs, *left)
    stamp.write_text(json.dumps({"tests": tests, "left": survivors(place)}), encoding="utf-8")
    return place


def survivors(place):
    return [name for name, status in outcomes(place).items() if status not in NOTICED]


def mutmut(place, jobs, *names):
    """Its own progress on a terminal; elsewhere, where its spinner would fill pages, a log that is shown if it fails."""
    command = [Path(sys.executable).with_name("mutmut"), "run", "--max-children", str(jobs), *names]
    there = dict(os.environ, PYTHONPATH="", OMP_NUM_THREADS="1", PGLAB_PROGRESS="off")
    log = place / "mutmut.log"
    with open(log, "w", encoding="utf-8") as file:
        code = subprocess.call(command, cwd=place, env=there, stdout=None if sys.stdout.isatty() else file)
    if code:
        raise RuntimeError(f"{log.read_text(encoding='utf-8')[-3000:]}\nmutmut stopped with code {code}.")


def change(place, name):
    """A mutant as (function, the lines that were, the lines that are): it stays the same when line numbers move."""
    from mutmut.configuration import reset_config
    from mutmut.mutation.diff_apply import get_diff_for_mutant

    before = Path.cwd()
    os.chdir(place)
    try:
        reset_config()
        lines = get_diff_for_mutant(name).splitlines()[2:]
    finally:
        os.chdir(before)
    was, becomes = (" ".join(line[1:].strip() for line in lines if line[:1] == sign) for sign in "-+")
    function = name.partition("__mutmut_")[0].replace(".x_", ".").replace(".xǁ", ".").replace("ǁ", ".")
    return function, was, becomes


def explanations():
    """{(function, was, becomes): why}."""
    entries = (
        tomllib.loads(EXPLAINED.read_text(encoding="utf-8")).get("survivor", []) if EXPLAINED.exists() else []
    )
    return {(e["function"], e["was"], e["becomes"]): e["why"] for e in entries}


def judge(room, place, reasons):
    """A room's row of the table, and its survivors with their reasons, "" where none is given."""
    found = outcomes(place)
    noticed = sum(status in NOTICED for status in found.values())
    left = [(*change(place, name), found[name]) for name in survivors(place)]
    row = {
        "mutants": len(found),
        "killed": noticed - sum(status == "timeout" for status in found.values()),
        "timeout": sum(status == "timeout" for status in found.values()),
        "survived": len(left),
        "percent": round(100 * noticed / max(len(found), 1), 2),
        "survivors": [
            {
                "function": f,
                "was": was,
                "becomes": becomes,
                "status": status,
                "why": reasons.get((f, was, becomes), ""),
            }
            for f, was, becomes, status in left
        ],
    }
    return row


def objections(room, row):
    """What is wrong with a row, in sentences."""
    said = []
    if row["percent"] < ENOUGH:
        said.append(
            f"{room}: {row['percent']} per cent of the mutants were noticed; {ENOUGH:g} are asked for."
        )
    bare = sum(not survivor["why"] for survivor in row["survivors"])
    if bare:
        said.append(f"{room}: {bare} survivors have no reason in {EXPLAINED.relative_to(ROOT).as_posix()}.")
    return said


def store(room, row):
    """The table keeps the rooms that were not run; their order is that of TESTS."""
    known = json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {}
    known[room] = row
    ordered = {name: known[name] for name in TESTS if name in known}
    TABLE.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main(arguments):
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__.splitlines()[0])
    parser.add_argument(
        "rooms", nargs="*", metavar="ROOM", help=f"of {', '.join(TESTS)}; all if none is named"
    )
    parser.add_argument("--jobs", type=int, default=1, help="mutants tried at once")
    parser.add_argument("--fresh", action="store_true", help="forget what was found before")
    parser.add_argument("--show", action="store_true", help="print the survivors")
    asked = parser.parse_args(arguments)
    unknown = [room for room in asked.rooms if room not in TESTS]
    if unknown:
        parser.error(f"there is no room {unknown[0]!r}; it must be one of {', '.join(TESTS)}.")
    reasons, wrong = explanations(), []
    for room in asked.rooms or TESTS:
        print(f"\n{room}", flush=True)
        try:
            row = judge(room, mutate(room, asked.jobs, asked.fresh), reasons)
        except RuntimeError as failure:  # the other rooms can still be tried
            wrong.append(f"{room}: {failure}")
            continue
        store(room, row)
        wrong += objections(room, row)
        print(
            "{mutants} mutants, {killed} killed, {timeout} timeouts, {survived} survived: {percent} %".format(
                **row
            )
        )
        for survivor in row["survivors"] if asked.show else []:
            print("{status}, {function}\n  - {was}\n  + {becomes}\n    {why}".format(**survivor))
    print("\n".join(["", *wrong]) if wrong else "\nEvery survivor is explained.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
