"""What every test shares."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]

# The reader's own progress must not enter a test, nor a test the reader's progress.
os.environ["PGLAB_PROGRESS"] = "off"

# One torch thread, here and in every kernel: two on a busy machine wait for each other, up to 50 times longer.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The same examples on every machine; a slow machine is no fault.
settings.register_profile("pglab", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("pglab")


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
