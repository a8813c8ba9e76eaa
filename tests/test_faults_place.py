"""The project in another place: a kernel that starts in any folder, and a path with a space and an accent."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from kernels_by_hand import cells, kernel
from render import rendered, write

from pglab import lm, recordings, training

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]
READS = re.compile(r"lm\.load\(|recordings\.read\(|peers\.recorded\(|measured_times\(|diagnosis\.opening\(")
LEFT_BEHIND = (
    ".git",
    ".venv",
    ".pglab",
    "*_cache",
    "__pycache__",
    ".ipynb_checkpoints",
    "runs",
    "mine",
    "dist",
)


def up_to_the_first_that_reads(name):
    """The first cells of a notebook, the last of them reading from data/; they stand in no other's shadow."""
    found = []
    for source in cells(name):
        found.append(source)
        if READS.search(source):
            return found
    raise AssertionError(f"no cell of notebook {name} reads anything")


@pytest.mark.parametrize(
    "name, where",
    [
        ("08", "the project"),
        ("08", "home"),
        *((name, "a new folder") for name in ("07", "08", "09", "10", "11")),
    ],
)
def test_the_kernel_may_start_in_any_folder(tmp_path, name, where):
    folder = {"the project": ROOT, "home": Path.home(), "a new folder": tmp_path / "new"}[where]
    folder.mkdir(exist_ok=True)
    with kernel(folder, PYTHONPATH=str(ROOT)) as running:
        assert Path(running.says("import os; print(os.getcwd())").strip()) == folder.resolve()
        for source in up_to_the_first_that_reads(name):
            running.says(source)
    assert where != "a new folder" or list(folder.iterdir()) == []


# ---- A path with a space and an accent


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The project as someone else may have put it."""
    place = tmp_path_factory.mktemp("teaching") / "my course é"
    shutil.copytree(ROOT, place, ignore=shutil.ignore_patterns(*LEFT_BEHIND))
    return place


def run(copy, *words, **environment):
    """What a command prints there, and its exit code must be 0."""
    ran = subprocess.run(
        [sys.executable, *words], cwd=copy, capture_output=True, timeout=240,
        env=os.environ | {"PYTHONPATH": str(copy)} | environment,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr.decode(errors="replace")
    return ran.stdout.decode(errors="surrogateescape")


# Not every terminal speaks UTF-8: the last one knows ASCII alone.
TERMINALS = {"utf-8": {}, "ascii": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}}
each_terminal = pytest.mark.parametrize("terminal", TERMINALS)


def test_it_is_the_copy_that_runs(copy):
    assert run(copy, "-c", "import pglab; print(pglab.__file__)").strip() == str(
        copy / "pglab" / "__init__.py"
    )


@each_terminal
def test_training_there(copy, terminal):
    out = f"runs/{terminal} modèle.safetensors"
    words = "-m pglab.training grpo --task addition --steps 2 --evaluate 0 --device cpu --out".split()
    said = run(copy, *words, out, **TERMINALS[terminal])
    assert f"The weights are in {out}" in said
    there = sorted(path.name for path in (copy / "runs").glob(f"{terminal}*"))
    assert there == [f"{terminal} modèle{ending}" for ending in (".json", ".jsonl", ".safetensors")]
    here = training.post_train(training.plan("addition", steps=2), device="cpu", progress=False, prompts=0)
    there = lm.load(copy / out, "cpu")
    assert all(
        a.equal(b.half().float()) for a, b in zip(there.parameters(), here.model.parameters(), strict=True)
    )


@each_terminal
def test_a_hand_over_there_and_back(copy, terminal):
    folder = f"exporté {terminal}"
    said = run(copy, "-m", "pglab.lm", "export", "addition", "--out", folder, **TERMINALS[terminal])
    assert folder in said and (copy / folder / "model.safetensors").exists()
    run(
        copy,
        "-m",
        "pglab.lm",
        "import",
        folder,
        "--out",
        f"{folder}/à moi.safetensors",
        **TERMINALS[terminal],
    )
    back, before = lm.load(copy / folder / "à moi.safetensors", "cpu"), lm.load("addition", "cpu")
    assert all(a.equal(b) for a, b in zip(back.parameters(), before.parameters(), strict=True))


def test_rendering_there_gives_the_same_bytes_as_here(copy, tmp_path):
    name = "notebooks/00_start_here.ipynb"
    said = run(copy, "tools/render.py", name, **TERMINALS["ascii"])
    assert re.fullmatch(r"00_start_here.ipynb ... [\d.]+ s\n", said)
    write(rendered(ROOT / name), tmp_path / "here.ipynb")
    assert (tmp_path / "here.ipynb").read_bytes() == (copy / name).read_bytes()


def test_the_notebook_of_the_small_model_there(copy):
    with kernel(copy / "notebooks", PYTHONPATH=str(copy)) as running:
        for source in up_to_the_first_that_reads("08"):
            running.says(source)
        assert running.says("print(lm.DATA)").strip() == str(copy / "data")
        assert running.says("print(recordings.FOLDER)").strip() == str(copy / "data" / "recordings")


def test_progress_is_kept_there(copy):
    run(copy, "-c", "from pglab import exercises; exercises.check('0c', 0.6)", PGLAB_PROGRESS="")
    assert '"0c"' in (copy / ".pglab" / "progress.json").read_text(encoding="utf-8")


def test_every_word_of_make_is_listed_there(copy):
    assert "make checkpoints" in run(copy, "make.py", "help") and "checkpoints" in run(copy, "make.py")


def test_recordings_are_the_same_there(copy):
    for name in recordings.names(copy / "data" / "recordings"):
        assert recordings.read(name, copy / "data" / "recordings") == recordings.read(name)
