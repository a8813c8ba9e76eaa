"""The stamp: written last, so that an interrupted install is never taken for a finished one."""

import hashlib
import json
import sys
import sysconfig
from pathlib import Path

from making import places, torch_choice


def fingerprint():
    """Changes when .venv must be brought up to date (ROOT: the folder may have been moved or copied)."""
    parts = [places.LOCK.read_bytes(), places.PROJECT.read_bytes()]
    parts += [b"%d.%d" % sys.version_info[:2], str(places.ROOT).encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def read_stamp():
    try:
        return dict(json.loads(places.STAMP.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def write_stamp(**fields):
    """These fields, and what lies in site-packages now."""
    places.write_whole(places.STAMP, json.dumps(dict(fields, installed=installed())))


def installed():
    """What lies in site-packages, by name: enough to notice that something has gone since."""
    return sorted(path.name for path in site_packages().glob("*") if path.name != "__pycache__")


def site_packages():
    return Path(sysconfig.get_path("purelib", "venv", {"base": str(places.VENV)}))


def is_damaged():
    """Has something that a finished install put there been deleted?"""
    names = read_stamp().get("installed", [])
    return not all((site_packages() / name).exists() for name in names)


def torch_differs(stamp, environ):
    """Another torch was asked for; who asks for none in particular keeps the one there is."""
    asked = environ.get("TORCH") or environ.get("TORCH_INDEX")
    return bool(asked) and stamp.get("torch") != torch_choice.torch_arguments(environ)


def is_complete(environ):
    stamp = read_stamp()
    return stamp.get("fingerprint") == fingerprint() and not torch_differs(stamp, environ)
