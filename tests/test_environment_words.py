"""The check that notebook 00 begins with: what it says when all is there, and when something is not."""

import sys
from importlib import metadata

import pytest

from pglab import environment

NEEDS = ["numpy>=2.1,<3", "torch==2.13.0", 'pytest>=8; extra == "test"']


@pytest.fixture
def packages(monkeypatch):
    """A table of what is installed, in the place of the real one; pglab needs NEEDS."""
    installed = {"numpy": "2.3.1", "torch": "2.13.0+cpu", "pglab": "0.1.0"}

    def version(name):
        if name not in installed:
            raise metadata.PackageNotFoundError(name)
        return installed[name]

    def requires(name):
        version(name)
        return NEEDS

    monkeypatch.setattr(environment.metadata, "version", version)
    monkeypatch.setattr(environment.metadata, "requires", requires)
    return installed


def test_all_is_there(packages, capsys):
    assert environment.problems() == []  # pytest is for the tests only; +cpu is no other torch
    environment.check()
    assert capsys.readouterr().out.splitlines()[-1] == "You are ready to go."


def test_what_is_missing_or_old_is_named(packages, capsys):
    packages["numpy"] = "1.26.4"
    del packages["torch"]
    assert environment.problems() == [
        "numpy 1.26.4 is here; this course needs numpy<3,>=2.1.",
        "torch is missing.",
    ]
    environment.check()
    said = capsys.readouterr().out
    assert said.startswith("numpy 1.26.4 is here") and "run `make lab`" in said and "ready" not in said


def test_a_kernel_without_the_course(packages):
    del packages["pglab"]
    assert environment.problems() == ["pglab is not installed in this kernel."]


def test_a_python_that_is_too_old(packages, monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 10, 4))
    assert environment.problems() == ["Python 3.10 runs this notebook; it needs 3.11 to 3.14."]


def test_the_real_environment_is_complete():
    assert environment.problems() == []
