"""What was measured with the extra, recorded for readers without it: ``data/measured/peers.json``."""

import json
from importlib import metadata

from pglab import _files, lm
from pglab.peers.extra import PACKAGES

FOLDER, NAME = lm.DATA / "measured", "peers.json"
PARTS = ("parity", "trl", "race")


def recorded():
    """The recorded results of the hand-over.

    Returns:
      a dictionary: "parity" (a row for each algorithm, and for settings that are off), "trl" (a run of TRL from
      the exported checkpoint), "race" (seconds of both), with versions, device, threads and date.

    Raises:
      ValueError: the file is missing or damaged.
    """
    return _files.read_committed(FOLDER / NAME, *PARTS)


def note(key, value):
    """Writes one part of the recorded results, and leaves the others.

    Args:
      key: "parity", "trl" or "race".
      value: for JSON.
    """
    try:
        found = _files.read_committed(FOLDER / NAME)  # the first part stands there alone for a while
    except ValueError:
        found = {}
    text = json.dumps(found | {key: value}, indent=1, sort_keys=True) + "\n"
    _files.write_whole({FOLDER / NAME: text.encode()})


def versions():
    """{package: version} of the extra and of torch."""
    return {name: metadata.version(name) for name in ("torch", *PACKAGES)}
