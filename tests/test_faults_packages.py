"""Packages that are missing, half installed or too old: one sentence and what mends it, never another's traceback."""

import importlib
import subprocess
import sys
import traceback
from importlib import metadata
from types import SimpleNamespace

import pytest

from pglab import environment, figures, peers, tasks, training
from pglab.peers import extra

# What a package may do while it is imported. Written as code, since it is put in the package's place.
BROKEN = {
    "a part is gone": 'raise ImportError("cannot import name GenerationMixin from partially initialised module")',
    "another version": "import sys; sys.no_such_thing",
    "a broken compiled module": 'raise OSError("libtorch_cuda.so: undefined symbol: _ZN3c10")',
    "wrong from the start": 'raise RuntimeError("Failed to import trl.trainer\\nbecause of the following error")',
    "half a file": "def (",
    "a dependency is gone": "import no_such_package",
}
PEERS = {
    "transformers": lambda: peers.need(),
    "datasets": lambda: peers.dataset(tasks.Addition(), 3),
    "trl": lambda: peers.parity(training.plan("addition", prompts=4, group_size=4)),
}


@pytest.fixture
def put(tmp_path, monkeypatch):
    """Puts a package of this code in the place of another, and forgets what had been imported of that."""

    added = []

    def put(name, code):
        added.append(name)
        folder = tmp_path / name
        folder.mkdir()
        (folder / "__init__.py").write_text(code, encoding="utf-8")
        for module in loaded(name):
            monkeypatch.delitem(sys.modules, module)

    def loaded(name):
        return [each for each in sys.modules if each == name or each.startswith(f"{name}.")]

    monkeypatch.syspath_prepend(tmp_path)
    yield put
    for module in [each for name in added for each in loaded(name)]:
        del sys.modules[module]


def said(call):
    """The sentence; nothing of the package's own traceback is shown beside it."""
    with pytest.raises(ImportError) as caught:
        call()
    shown = "".join(traceback.format_exception(caught.value))
    assert shown.count("Traceback") == 1 and str(caught.value).count("\n") == 0
    return str(caught.value)


# ---- The optional extra


@pytest.mark.parametrize("fault", BROKEN)
@pytest.mark.parametrize("name", PEERS)
def test_a_half_installed_extra_is_told_in_one_sentence(put, monkeypatch, name, fault):
    monkeypatch.setattr(extra, "missing", list)
    if name != "transformers":  # it comes first, and is whole
        put("transformers", "AutoTokenizer = None")
        (logs := SimpleNamespace(logging=SimpleNamespace(disable_progress_bar=lambda: None)))
        monkeypatch.setitem(sys.modules, "transformers.utils", logs)
    put(name, BROKEN[fault])
    sentence = said(PEERS[name])
    assert sentence.startswith(f"{name}") and "is here and cannot be loaded (" in sentence
    assert "`make peers` installs" in sentence and "`make clean`" in sentence


def test_a_package_of_another_version_lacks_a_name(put, monkeypatch):
    monkeypatch.setattr(extra, "missing", list)
    monkeypatch.setattr(extra, "need", lambda: None)
    put("datasets", "")
    assert "datasets is here and cannot be loaded (AttributeError: " in said(PEERS["datasets"])


def test_a_folder_that_pip_has_left_behind_is_no_package(put, tmp_path, monkeypatch):
    monkeypatch.setattr(extra, "PACKAGES", ("pglab_left_behind",))
    (tmp_path / "pglab_left_behind").mkdir()
    (tmp_path / "pglab_left_behind" / "notes.txt").write_text("")
    importlib.invalidate_caches()
    assert peers.missing() == ["pglab_left_behind"]
    assert said(peers.need).startswith("pglab_left_behind cannot be found; `make peers` installs")


# ---- Pictures and explorers


def in_a_python_where(blocked, code):
    """What a fresh Python prints in which a package cannot be found."""
    gone = f"raise ModuleNotFoundError(\"No module named '{blocked}'\", name={blocked!r})"
    finder = f"""
import sys
class Gone:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {blocked!r}:
            {gone}
sys.meta_path.insert(0, Gone())
try:
    {code}
except ImportError as error:
    print(type(error).__name__, error)
"""
    ran = subprocess.run([sys.executable, "-c", finder], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.parametrize(
    "name, code",
    [
        ("anywidget", "from pglab import sliders"),
        ("anywidget", "from pglab.predictions import predict"),
        ("ipywidgets", "from pglab import sliders"),
        ("matplotlib", "from pglab import figures; figures.show(figures.bars(['a'], [1], 'x', 'y'))"),
    ],
)
def test_without_what_draws_one_sentence_says_what_installs_it(name, code):
    assert in_a_python_where(name, code).startswith(f"ImportError {name} is missing. `make lab` installs")


@pytest.mark.parametrize("name", ["anywidget", "matplotlib", "ipywidgets"])
def test_where_nothing_is_drawn_nothing_of_it_is_needed(name):
    code = "from pglab import bandit, groups, mdp, kl, advantages, recordings; print('fine')"
    assert in_a_python_where(name, code) == "fine\n"


def test_a_broken_matplotlib(put):
    put("matplotlib", BROKEN["a broken compiled module"])
    sentence = said(lambda: figures.show(figures.bars(["a"], [1], "x", "y")))
    assert "cannot be loaded (OSError: libtorch_cuda.so: undefined symbol: _ZN3c10)" in sentence
    assert "`make lab` installs" in sentence


# ---- What notebook 00 says


def test_here_everything_is_found(capsys):
    environment.check()
    assert capsys.readouterr().out.endswith("You are ready to go.\n")


@pytest.mark.parametrize("name", ["numpy", "torch", "matplotlib", "anywidget", "safetensors", "tqdm"])
@pytest.mark.parametrize("version, words", [(None, "{} is missing."), ("", "{} is half installed."),
                                            ("0.0.1", "{} 0.0.1 is here; this course needs {}")])  # fmt: skip
def test_what_is_missing_or_too_old_is_named(monkeypatch, capsys, name, version, words):
    real = metadata.version

    def other(asked):
        if asked == name and version is None:
            raise metadata.PackageNotFoundError(name)
        return version if asked == name else real(asked)

    monkeypatch.setattr(environment.metadata, "version", other)
    environment.check()
    out = capsys.readouterr().out
    assert words.format(name, name) in out and "run `make lab`" in out and "ready" not in out
    assert len(environment.problems()) == 1


@pytest.mark.parametrize("fault", BROKEN)
def test_what_is_there_and_cannot_be_loaded_is_named(put, capsys, fault):
    put("anywidget", BROKEN[fault])
    environment.check()
    assert "anywidget is here and cannot be loaded (" in capsys.readouterr().out


@pytest.mark.parametrize("needs, words", [(None, "pglab is half installed"), ([], "pglab is half installed")])
def test_a_project_without_its_description(monkeypatch, needs, words):
    monkeypatch.setattr(environment.metadata, "requires", lambda name: needs)
    assert words in " ".join(environment.problems())


def test_a_python_that_is_too_old_or_too_new(monkeypatch):
    for version in ((3, 10, 9), (3, 15, 0)):
        monkeypatch.setattr(environment.sys, "version_info", version)
        assert (
            f"Python {version[0]}.{version[1]} runs this notebook; it needs 3.11 to 3.14."
            in environment.problems()
        )
