"""What must be in .venv, put there; instant when there is nothing to do."""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import time

from making import locks, places, stamp, torch_choice
from making.progress import Progress, watch


def pip(progress, *arguments):
    watch(progress, str(places.PYTHON), "-m", "pip", *arguments)


def venv_works():
    """Does .venv's Python start, with pip, and is it of this Python's minor version?"""
    probe = f"import pip, sys; sys.exit(sys.version_info[:2] != {sys.version_info[:2]})"
    try:
        return subprocess.call([str(places.PYTHON), "-c", probe], stderr=subprocess.DEVNULL) == 0
    except OSError:
        return False


def make_venv(progress):
    if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        sys.exit(
            "This Python lacks its venv module. On Debian or Ubuntu:\n"
            f"    sudo apt install python3.{sys.version_info[1]}-venv"
        )
    if places.VENV.exists():
        shutil.rmtree(str(places.VENV))
    places.VENV.mkdir()
    progress.say(places.VENV.name)
    watch(progress, sys.executable, "-m", "venv", str(places.VENV))


def forget_half_installed():
    """pip, stopped while unpacking, may leave a package that looks installed: without INSTALLER it is not."""
    for info in stamp.site_packages().glob("*.dist-info"):
        if not (info / "INSTALLER").exists():
            shutil.rmtree(str(info))


def ready():
    """Make or complete .venv; instant when there is nothing to do."""
    torch = torch_choice.torch_arguments(os.environ)  # first, for it may object
    works = venv_works() and not stamp.is_damaged()
    if works and stamp.is_complete(os.environ):
        return
    print("Installing into .venv: minutes the first time, seconds later. Ctrl-C is safe.", flush=True)
    progress = Progress(total=2 + len(locks.pins(places.LOCK)))
    if not works:
        make_venv(progress)
    before = stamp.read_stamp()
    if places.STAMP.exists():
        places.STAMP.unlink()
    forget_half_installed()
    pip(progress, "install", "--no-deps", "-r", places.LOCK.name)
    if stamp.torch_differs(before, os.environ):
        # or pip takes the torch that is there for the one asked for
        pip(progress, "uninstall", "--yes", "torch")
    progress.say("torch", worth_a_line=True)
    pip(progress, "install", *torch)
    pip(progress, "install", "--no-deps", "--no-build-isolation", "-e", ".")
    stamp.write_stamp(fingerprint=stamp.fingerprint(), torch=torch)
    print(f"Installed in {time.time() - progress.start:.0f} s.", flush=True)


def peers_ready():
    """Complete .venv, and put the extra `peers` beside it; instant when there is nothing to do."""
    ready()
    lock, before = hashlib.sha256(places.PEERS.read_bytes()).hexdigest(), stamp.read_stamp()
    if before.get("peers") == lock:
        return
    print(
        "Installing the extra `peers` (transformers, TRL and what they need): a minute or two. Ctrl-C is safe.",
        flush=True,
    )
    progress = Progress(total=len(locks.pins(places.PEERS)))
    forget_half_installed()
    pip(progress, "install", "--no-deps", "-r", places.PEERS.name)
    stamp.write_stamp(**dict(before, peers=lock))
    print(f"Installed in {time.time() - progress.start:.0f} s.", flush=True)
