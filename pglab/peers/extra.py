"""Is the optional extra here? And no word to any hub."""

import importlib.util
import os
import warnings

from pglab import _packages

PACKAGES = ("transformers", "trl", "accelerate", "datasets")
QUIET = {"TRANSFORMERS_VERBOSITY": "error", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE", "HF_HUB_DISABLE_TELEMETRY")


EXTRA = '`make peers` installs the optional extra (with conda: pip install -e ".[peers]")'


def missing():
    """The packages of the extra that are not installed, a list of names; empty if all are."""
    return [name for name in PACKAGES if _absent(name)]


def _absent(name):
    """Whether a package cannot be found; what pip may leave behind of one, a folder without code, is none."""
    spec = importlib.util.find_spec(name)
    return spec is None or spec.origin is None


def need():
    """Makes sure that the extra is there, stays offline, and keeps its advice to itself.

    Call it before its packages are imported.

    Raises:
      ImportError: something is missing or half installed; the message says what installs it.
    """
    if gone := missing():
        raise ImportError(f"{' and '.join(gone)} cannot be found; {EXTRA}.")
    for name, value in (dict.fromkeys(OFFLINE, "1") | QUIET).items():
        os.environ.setdefault(name, value)
    _packages.bring("transformers.utils", "logging", way_out=EXTRA)[0].disable_progress_bar()
    warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")


def bring(name, *wanted):
    """A module of the extra, or some things in it.

    Args:
      name: of the module.
      wanted: names in it.

    Returns:
      the module; a list of the things, if some are wanted.

    Raises:
      ImportError: as ``need``; the module cannot be loaded.
    """
    need()
    return _packages.bring(name, *wanted, way_out=EXTRA)
