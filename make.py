#!/usr/bin/env python3
"""Every habit of this project is one word:  make WORD  or, the same without make,  python make.py WORD.

The words are here, and what they are made of is in tools/making. Only the standard library, and no syntax
newer than Python 3.6: an old Python must be able to read it, as far as the message that says it is too old.
"""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "tools"))

from making import install, locks, places, pythons  # noqa: E402

# ---- The words. Each gets what stands after it on the command line, and returns an exit code


def run(*arguments, **settings):
    """Run a tool with .venv's Python, as if .venv were activated; its exit code is ours."""
    install.ready()
    path = str(places.PYTHON.parent) + os.pathsep + os.environ.get("PATH", "")
    signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C is the tool's to answer; this only waits for it
    code = subprocess.call(
        [str(places.PYTHON), *arguments],
        cwd=str(places.ROOT),
        env=dict(os.environ, PATH=path, VIRTUAL_ENV=str(places.VENV), **settings),
    )
    return code if code >= 0 else 128 - code


def env(more):
    install.ready()
    print(f"{places.VENV.name} is ready.")
    return 0


def lab(more, folder=None):
    install.ready()
    folder = folder or places.FIRST.parent
    exists = (folder / places.FIRST.name).exists()
    first = [f"--LabApp.default_url=/lab/tree/{places.FIRST.name}"] if exists else []
    root = ["--allow-root"] if getattr(os, "getuid", lambda: 1)() == 0 else []
    where = "to start" if "--no-browser" in more else "to open in your browser"
    print(f"JupyterLab is about {where}. Ctrl-C here, twice, stops it.", flush=True)
    return run("-m", "jupyterlab", f"--ServerApp.root_dir={folder}", *first, *root, *more)


def test(more):
    """On all cores; what must stay together does (tests/conftest.py says what)."""
    workers = ["-n", "auto", "--maxprocesses", "4", "--dist", "loadscope"]
    return run("-m", "pytest", *workers, "--nbval", "tests", "notebooks", *more, PGLAB_PROGRESS="off")


def coverage(more):
    wanted = ["--cov=pglab", "--cov-report=term:skip-covered", "--cov-fail-under=95"]
    return run("-m", "pytest", *wanted, "-m", "not browser", "tests", *more, PGLAB_PROGRESS="off")


def classroom(word):
    """One of the other faces of the notebooks; tools/classroom makes them."""
    return lambda more: run("-m", "classroom", word, *more, PYTHONPATH=str(places.ROOT / "tools"))


def mine(more):
    """A copy of one's own, then JupyterLab on it; --beside and --no-open only copy."""
    code = classroom("mine")([word for word in more if word not in ("--no-open", "--no-browser")])
    only_copy = code or "--no-open" in more or "--beside" in more or "--help" in more
    return code if only_copy else lab([word for word in more if word == "--no-browser"], places.ROOT / "mine")


def checkpoints(more):
    one = any(word == "--task" or word.startswith("--task=") for word in more)
    device = ["--device", os.environ["DEVICE"]] if os.environ.get("DEVICE") else []
    return run("-m", "pglab.training", "pretrain", *([] if one else ["--all"]), *device, *more)


def recorded(more):
    device = ["--device", os.environ["DEVICE"]] if os.environ.get("DEVICE") else []
    return run("tools/recordings.py", *device, *more)


def peers(more):
    install.peers_ready()
    print("The extra `peers` is ready.")
    return 0


def peers_bench(more):
    install.peers_ready()
    return run("tools/bench_peers.py", *more)


def clean(more):
    patterns = [".venv", "build", "dist", ".*_cache", "[!.]*/**/__pycache__", "[!.]*/**/.ipynb_checkpoints"]
    for pattern in patterns:
        for folder in list(places.ROOT.glob(pattern)):
            shutil.rmtree(str(folder))
    return 0


def show_help(more):
    print("make WORD, or python make.py WORD, or on Windows py make.py WORD:\n")
    print("\n".join(f"  {word:11} {says}" for word, (says, _) in WORDS.items()))
    print(
        '\nMore for the tool behind a word:  make test ARGS="-k bandit",  python make.py test -k bandit'
        "\nAnother Python, another torch:    make lab PYTHON=python3.12,  make lab TORCH=cuda (or cpu)"
        "\nAnother device:                   make checkpoints DEVICE=cuda (or cpu, mps)"
        "\nOne of the recordings:            make recordings ARGS=knobs,  python make.py recordings knobs"
    )
    return 0


WORDS = {
    "lab": ("open the notebooks in JupyterLab", lab),
    "mine": ("copy the notebooks into mine/, where no update writes, and open them", mine),
    "slides": ("make a deck of every notebook, into build/slides", classroom("slides")),
    "app": ("show each explorer alone, for the projector", classroom("app")),
    "student": ("make folders without and with solutions, into build", classroom("student")),
    "test": ("run everything that CI runs: the tests, and every notebook against its stored outputs", test),
    "quick": (
        "the same without the slow tests and the browser's",
        lambda more: test(["-m", "not slow and not browser", *more]),
    ),
    "coverage": ("which lines of pglab the tests run (at least 95 %)", coverage),
    "mutants": (
        "change one thing at a time in the numeric rooms: does a test fail? (an hour or two)",
        lambda more: run("tools/mutants.py", *more),
    ),
    "render": ("run the notebooks and store their outputs", lambda more: run("tools/render.py", *more)),
    "bench": ("time what a reader waits for", lambda more: run("tools/bench.py", *more)),
    "drawings": ("make the committed drawings again", lambda more: run("tools/drawings.py", *more)),
    "map": (
        "draw README's map again from the notebooks and the code",
        lambda more: run("tools/map.py", *more),
    ),
    "checkpoints": ("pretrain the models in data/ again (minutes)", checkpoints),
    "recordings": ("record the experiments in data/recordings/ again (an hour; a name: that one)", recorded),
    "peers": ("install TRL and transformers beside it, which notebook 11 hands over to", peers),
    "peers-bench": ("race their sampler and their GRPO step, on the same weights and work", peers_bench),
    "env": ("make or complete .venv (the words above do so by themselves)", env),
    "lock": ("pin in both locks the newest versions that pyproject.toml allows", locks.lock),
    "clean": ("remove .venv and the caches, nothing of yours", clean),
    "help": ("say this", show_help),
}


def main(arguments):
    word = arguments[0] if arguments else "help"
    objection = pythons.refusal(sys.version_info, word)
    if objection:
        sys.exit(objection)
    if word not in WORDS:
        print(f"There is no {word!r} here.\n")
        show_help([])
        return 2
    try:
        return WORDS[word][1](arguments[1:])
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on from here.")
        return 130
    except subprocess.CalledProcessError as failure:  # it has said why itself
        return failure.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
