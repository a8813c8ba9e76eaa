"""Which device to compute on: decided here and nowhere else."""

import platform
from pathlib import Path

import torch

NAMES = ("auto", "cpu", "cuda", "mps")


def choose_device(name="auto"):
    """The device of that name; "auto" takes a GPU where there is one.

    Args:
      name: "auto", "cpu", "cuda", "cuda:1" and so on, "mps", or a torch.device.

    Returns:
      torch.device.

    Raises:
      ValueError: a name that is none of these, or a device that this machine does not have.
    """
    if isinstance(name, torch.device) and name.type not in ("cuda", "mps"):
        return name
    kind, colon, number = str(name).partition(":")
    if isinstance(name, torch.device) and kind == "mps":
        number = ""  # torch writes the only one as mps:0
    elif kind not in NAMES or (colon and not (kind == "cuda" and number.isdecimal() and number.isascii())):
        raise ValueError(f"device is {name!r}; it must be one of {', '.join(NAMES)}, or cuda:1 and so on.")
    if kind == "auto":
        kind = next((gpu for gpu in ("cuda", "mps") if count(gpu)), "cpu")
    if int(number or 0) >= count(kind):
        raise ValueError(missing(kind, number))
    return torch.device(kind, int(number)) if number else torch.device(kind)


def count(kind):
    """How many devices of this kind torch can use here."""
    if kind == "cuda":
        return torch.cuda.device_count() if torch.cuda.is_available() else 0
    if kind == "mps":
        return int(torch.backends.mps.is_available())
    return 1


def missing(kind, number=""):
    """What to do without the device that was asked for."""
    if kind == "cuda" and count("cuda"):
        return f"device is 'cuda:{number}', but there are only {count('cuda')}, counted from cuda:0."
    what = {"cuda": "an NVIDIA GPU and a torch built with CUDA", "mps": "a Mac with an Apple GPU"}[kind]
    install = " (`make env TORCH=cuda` installs such a torch)" if kind == "cuda" else ""
    return (
        f"device is {kind!r}, which needs {what}{install}; this machine offers none to torch. "
        "Take device='cpu', or 'auto' for the best there is."
    )


def words(device):
    """What a card says about the device, such as "cpu (AMD EPYC)" or "cuda (NVIDIA H200)"."""
    if device.type == "cuda":
        return f"cuda ({torch.cuda.get_device_name(device)})"
    return f"{device.type} ({_processor()})"


def _processor():
    """The processor's name where the system tells it, else its kind."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
