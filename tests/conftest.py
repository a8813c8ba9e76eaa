"""What every test shares."""

import importlib.util
import os
import re
import shutil
import sys
from fnmatch import fnmatch
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import Phase, settings

ROOT = Path(__file__).resolve().parents[1]

BUILT = {"build", "dist", "exported", "mine", "mutants", "runs", "__pycache__"}  # these hold nothing of ours

# The reader's own progress must not enter a test, nor a test the reader's progress.
os.environ["PGLAB_PROGRESS"] = "off"

# One torch thread, here and in every kernel: two on a busy machine wait for each other, up to 50 times longer.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The same examples on every machine; a slow machine is no fault.
settings.register_profile("pglab", derandomize=True, deadline=None, max_examples=60)
# Against mutants one failure is enough; the smallest of its kind would cost minutes.
settings.register_profile(
    "mutants",
    settings.get_profile("pglab"),
    phases=[Phase.explicit, Phase.generate],
    report_multiple_bugs=False,
)
settings.load_profile("pglab")


def files(*patterns):
    """The project's own files that match, in every folder of it but hidden ones and what is built."""
    found = []
    for folder, inner, names in os.walk(ROOT):
        inner[:] = [name for name in inner if name not in BUILT and not name.startswith(".")]
        found += [Path(folder, name) for name in names if any(fnmatch(name, each) for each in patterns)]
    return sorted(found)


def code_files():
    return files("*.py", "*.js", "*.css", "*.sh", "Makefile") + [ROOT / ".ci" / "run"]


# Files whose tests run or open notebooks for a while: their tests may be shared out by notebook.
BY_NOTEBOOK = {
    f"test_{name}.py"
    for name in ("notebooks", "exercises", "browser", "slides", "app", "sabotage", "rendering")
}


def stays_together(test):
    """What one worker of several must run: a file's tests, of some files those for one notebook."""
    file = test.partition("::")[0]
    notebook = re.search(r"\[.*?(\d\d_\w+)", test)
    return f"{file} {notebook[1]}" if notebook and Path(file).name in BY_NOTEBOOK else file


@pytest.hookimpl(optionalhook=True)  # without xdist nobody asks
def pytest_xdist_make_scheduler(config, log):
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return stays_together(nodeid)

    return Scheduling(config, log)


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="module")
def one_thread():
    """torch on one thread, for the tests of a module that asks for it with ``usefixtures``."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def chromium():
    """A real browser. Without one its tests are skipped, unless PGLAB_REQUIRE_BROWSER is set, as CI does."""
    import lab

    if lab.find_chromium() is None:
        message = "no Chromium found: install it, or set PGLAB_CHROMIUM to the path of one"
        if os.environ.get("PGLAB_REQUIRE_BROWSER"):
            pytest.fail(message)
        pytest.skip(message)
    with lab.chromium() as browser:
        yield browser


@pytest.fixture
def make(monkeypatch):
    """Fresh copies of make.py and its parts (`make.install`), so that no test sees another's changes."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "making"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "path", list(sys.path))  # make.py adds its own folder to it
    spec = importlib.util.spec_from_file_location("make", ROOT / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for path in (ROOT / "tools" / "making").glob("[!_]*.py"):
        setattr(module, path.stem, importlib.import_module(f"making.{path.stem}"))
    return module


@pytest.fixture
def folder(make, monkeypatch, tmp_path):
    """A project folder of its own, where pip's orders are recorded in `folder.orders`."""
    for name in ("requirements.lock", "requirements-peers.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    for name, path in [
        ("ROOT", "."),
        ("VENV", ".venv"),
        ("STAMP", ".venv/complete.json"),
        ("LOG", ".venv/install.log"),
        ("LOCK", "requirements.lock"),
        ("PEERS", "requirements-peers.lock"),
        ("PROJECT", "pyproject.toml"),
        ("FIRST", "notebooks/00.ipynb"),
    ]:
        monkeypatch.setattr(make.places, name, tmp_path / path)
    for name in ("TORCH", "TORCH_INDEX"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / ".venv").mkdir()
    found = SimpleNamespace(path=tmp_path, orders=[], stop_at=None)

    def pip(progress, *arguments):
        found.orders.append(arguments)
        if len(found.orders) == found.stop_at:
            raise KeyboardInterrupt

    monkeypatch.setattr(make.install, "pip", pip)
    monkeypatch.setattr(make.install, "venv_works", lambda: True)
    monkeypatch.setattr(make.torch_choice, "has_nvidia_driver", lambda: False)
    return found
