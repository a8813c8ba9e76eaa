"""The optional extra ``peers``: tests that need it are skipped without it, but where CI has installed it they must run."""

import importlib.util
import os

import pytest

# Before any of them is imported: nothing reaches for a hub.
OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}
os.environ.update(OFFLINE)

PACKAGES = ("transformers", "trl", "accelerate", "datasets")
MISSING = [name for name in PACKAGES if importlib.util.find_spec(name) is None]


def peers():
    """Skips the test or module that asks, or fails it where the extra is required."""
    if MISSING and os.environ.get("PGLAB_REQUIRE_PEERS"):
        pytest.fail(f"{', '.join(MISSING)} missing, and PGLAB_REQUIRE_PEERS is set: run `make peers`.")
    if MISSING:
        pytest.skip(
            f"{', '.join(MISSING)} missing: `make peers` installs the extra.", allow_module_level=True
        )
