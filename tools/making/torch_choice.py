"""Which torch is wanted, and where it may come from."""

import os
import shutil
import sys

from making import places

CPU_INDEX = "https://download.pytorch.org/whl/cpu"


def has_nvidia_driver():
    return bool(shutil.which("nvidia-smi")) or os.path.exists("/proc/driver/nvidia")


def torch_index(environ):
    """Where torch may come from besides the default index; "" for nowhere else."""
    if "TORCH_INDEX" in environ:
        return environ["TORCH_INDEX"]
    choice = environ.get("TORCH") or ("cuda" if has_nvidia_driver() else "cpu")
    if choice not in ("cuda", "cpu"):
        sys.exit(f"TORCH is {choice!r}: it can be cuda or cpu.")
    return CPU_INDEX if choice == "cpu" else ""


def torch_arguments(environ):
    """What pip is told about torch. An index that cannot be reached must not hold anyone up for minutes."""
    import tomllib  # new in 3.11, hence not at the top

    wanted = tomllib.loads(places.PROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]
    pin = next(requirement for requirement in wanted if requirement.startswith("torch=="))
    index = torch_index(environ)
    elsewhere = ["--extra-index-url", index, "--retries", "1", "--timeout", "15"] if index else []
    return [pin, "-c", places.LOCK.name, *elsewhere]
