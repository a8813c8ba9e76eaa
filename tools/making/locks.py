"""The two locks: how they are read, and how they are made."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from making import places, pythons

INSTALLED_APART = re.compile(r"(torch|triton|nvidia-[\w-]+|cuda-[\w-]+)==")
PEERS_HEADER = """\
# Made by `make lock`: what the extra `peers` needs on top of requirements.lock; `make peers` installs it.
"""
LOCK_HEADER = """\
# Made by `make lock` (uv pip compile --universal): every package on every platform; not for editing.
# torch is not here: make.py installs it apart, since its CUDA packages weigh gigabytes.
"""


def pins(lock):
    """The lines of a lock that name a package."""
    return re.findall(r"(?m)^[^#\s].*$", lock.read_text(encoding="utf-8"))


def name_of(pin):
    return pin.split("==")[0]


def lock(more):
    with tempfile.TemporaryDirectory() as folder:
        uv = [str(places.python_in(Path(folder))), "-m", "uv", "pip", "compile", "--quiet", "--universal"]
        uv += "--fork-strategy fewest --no-annotate --no-header --extra test --extra classroom".split()
        uv += ["--python-version", "%d.%d" % pythons.OLDEST]  # noqa: UP031
        subprocess.check_call([sys.executable, "-m", "venv", folder])
        subprocess.check_call([uv[0], "-m", "pip", "install", "--quiet", "uv"])

        def compiled(*options):
            said = subprocess.check_output(
                [*uv, places.PROJECT.name, *options, *more], cwd=str(places.ROOT), encoding="utf-8"
            )
            return [pin for pin in said.splitlines(True) if not INSTALLED_APART.match(pin)]

        places.write_whole(places.LOCK, LOCK_HEADER + "".join(compiled()))
        extra = compiled("--extra", "peers", "-c", places.LOCK.name)
    known = {name_of(pin) for pin in pins(places.LOCK)}
    places.write_whole(
        places.PEERS, PEERS_HEADER + "".join(pin for pin in extra if name_of(pin) not in known)
    )
    return 0
