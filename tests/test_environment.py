"""The set-up: three descriptions of one environment agree."""

import re
import tomllib

import yaml
from conftest import ROOT
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
MAKING = sorted((ROOT / "tools/making").glob("*.py"))


def ranges(requirements):
    """{name: range} of requirement lines, names in the one spelling that pip compares."""
    return {canonicalize_name(r.name): r.specifier for r in map(Requirement, requirements)}


def direct():
    project = PROJECT["project"]
    extras = project["optional-dependencies"]
    return ranges(project["dependencies"] + extras["test"] + extras["classroom"])


def conda():
    """environment.yml in PyPI's words, its pip section included."""
    packages = [line for line in CONDA["dependencies"] if isinstance(line, str)]
    (pip_section,) = (section["pip"] for section in CONDA["dependencies"] if isinstance(section, dict))
    found = ranges(packages + [line for line in pip_section if line != "-e ."])
    found["torch"] = found.pop("pytorch")
    return found


def pins():
    return [Requirement(line) for line in LOCK.splitlines() if not line.startswith("#")]


def test_conda_users_get_the_same_packages_in_the_same_ranges():
    found = conda()
    del found["python"], found["pip"]
    assert found == direct()


def test_conda_users_get_the_project_itself():
    assert {"pip": [*CONDA["dependencies"][-1]["pip"][:-1], "-e ."]} == CONDA["dependencies"][-1]
    assert CONDA["channels"] == ["conda-forge"]


def test_one_range_of_pythons_everywhere(make):
    promised = SpecifierSet(PROJECT["project"]["requires-python"])
    assert conda()["python"] == promised
    assert SpecifierSet(f">=3.{make.pythons.OLDEST[1]},<3.{make.pythons.NEWEST[1] + 1}") == promised


def test_every_line_of_the_lock_pins_one_version():
    for pin in pins():
        (clause,) = pin.specifier
        assert clause.operator == "==" and "*" not in clause.version and not pin.url, pin


def test_the_lock_pins_each_direct_dependency_inside_its_range():
    locked = {canonicalize_name(pin.name): pin for pin in pins()}
    for name, wanted in direct().items():
        if name != "torch":
            (clause,) = locked[name].specifier
            assert wanted.contains(clause.version), f"{name} {clause} is outside {wanted}"
            assert locked[name].marker is None, f"{name} is wanted on every platform"


def test_the_lock_holds_the_build_backend_since_the_project_is_installed_without_isolation():
    locked = {canonicalize_name(pin.name): pin.specifier for pin in pins()}
    for name, wanted in ranges(PROJECT["build-system"]["requires"]).items():
        (clause,) = locked[name]
        assert wanted.contains(clause.version)


def test_the_lock_leaves_torch_and_its_gigabytes_out():
    assert not [pin.name for pin in pins() if re.match(r"(py)?torch|nvidia|cuda|.*triton", pin.name)]


def test_the_lock_names_no_host_and_says_how_it_is_made(make):
    assert "//" not in LOCK and "--index" not in LOCK
    assert LOCK.startswith(make.locks.LOCK_HEADER) and "make lock" in make.locks.LOCK_HEADER


def test_the_lock_of_the_extra_pins_what_the_main_lock_does_not(make):
    text = (ROOT / "requirements-peers.lock").read_text(encoding="utf-8")
    assert text.startswith(make.locks.PEERS_HEADER) and "//" not in text
    extra = {canonicalize_name(pin.name): pin for pin in map(Requirement, make.locks.pins(make.places.PEERS))}
    assert not set(extra) & {canonicalize_name(pin.name) for pin in pins()}
    assert not [name for name in extra if re.match(r"(py)?torch|nvidia|cuda|.*triton", name)]
    wanted = ranges(PROJECT["project"]["optional-dependencies"]["peers"])
    assert set(wanted) == {"transformers", "trl", "accelerate", "datasets"}
    for name, clauses in wanted.items():
        (clause,) = extra[name].specifier
        assert clause.operator == "==" and clauses.contains(clause.version) and extra[name].marker is None


def test_ci_installs_the_extra_and_then_insists_on_it():
    text = (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert text.index("make peers") < text.index("export PGLAB_REQUIRE_PEERS=1") < text.rindex("make test")


def test_the_set_up_names_no_host_but_two_public_ones():
    files = ["make.py", "Makefile", ".ci/run", "environment.yml", "pyproject.toml", "requirements.lock"]
    files += ["requirements-peers.lock", *(f"tools/making/{path.name}" for path in MAKING)]
    text = "".join((ROOT / name).read_text(encoding="utf-8") for name in files)
    assert set(re.findall(r"//([\w.-]+\.\w+)", text)) == {"download.pytorch.org", "www.python.org"}
