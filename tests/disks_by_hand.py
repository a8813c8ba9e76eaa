"""A disk that is full, or fills up."""

import errno
import os

from pglab import _files


def full(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def fills_up(monkeypatch):
    """From now on one file can be written and no second; the list of what was to be written."""
    write, seen = _files.write_whole, []

    def writes_once(contents):
        seen.append(contents)
        return write(contents) if len(seen) == 1 else full()

    monkeypatch.setattr(_files, "write_whole", writes_once)
    return seen
