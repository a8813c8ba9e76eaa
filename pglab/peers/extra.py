"""Is the optional extra here? And no word to any hub."""

import importlib.util
import os
import warnings

PACKAGES = ("transformers", "trl", "accelerate", "datasets")
QUIET = {"TRANSFORMERS_VERBOSITY": "error", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE", "HF_HUB_DISABLE_TELEMETRY")


def missing():
    """The packages of the extra that are not installed, a list of names; empty if all are."""
    return [name for name in PACKAGES if importlib.util.find_spec(name) is None]


def need():
    """Makes sure that the extra is there, stays offline, and keeps its advice to itself.

    Call it before its packages are imported.

    Raises:
      ImportError: something is missing; the message says what installs it.
    """
    if gone := missing():
        raise ImportError(
            f"{' and '.join(gone)} cannot be found; `make peers` installs the optional extra "
            '(with conda: pip install -e ".[peers]").'
        )
    for name, value in (dict.fromkeys(OFFLINE, "1") | QUIET).items():
        os.environ.setdefault(name, value)
    from transformers.utils import logging

    logging.disable_progress_bar()
    warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")
