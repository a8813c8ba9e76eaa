"""What was measured with the extra, recorded for readers without it: ``data/recordings/peers.json``."""

import json

from pglab.recordings import FOLDER

NAME = "peers.json"


def recorded():
    """The recorded results of the hand-over.

    Returns:
      a dictionary: "parity" (a row for each algorithm, and for settings that are off), "trl" (a run of TRL from
      the exported checkpoint), "race" (seconds of both), with versions, device, threads and date.

    Raises:
      ValueError: the file is missing or damaged.
    """
    path = FOLDER / NAME
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(
            f"{path.name} cannot be read ({error}); `git checkout data` brings it back."
        ) from error
