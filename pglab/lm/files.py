"""Checkpoints: the weights as safetensors, and beside them a card that says where they come from.

data/addition.safetensors     the weights, and in its header the shape of the model
data/addition.json            the card: task, settings, device, date, scores, and the SHA-256 of the weights
"""

import hashlib
import json
import re
from os import PathLike
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load as read_tensors
from safetensors.torch import save as tensors_to_bytes

from pglab import _checks, _files
from pglab.lm.devices import choose_device
from pglab.lm.model import SmallLM

DATA = Path(__file__).resolve().parents[2] / "data"
SUFFIX = ".safetensors"
DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64)


def save(model, path, card=None, dtype=torch.float32, beside=None):
    """Write a model and its card, all or nothing.

    Args:
      model: SmallLM.
      path: of the weights, ending in .safetensors; the card stands beside it and ends in .json.
      card: what else is known about the model, a dictionary for JSON.
      dtype: of the numbers in the file. float16 halves it; the model in memory stays as it is.
      beside: {path: bytes} of other files that belong to them, written together with them.

    Returns:
      The card as written, with the shape, the number of parameters and "sha256".

    Raises:
      ValueError: a path with another ending, a dtype that is no floating-point type, a card that is
        not made for JSON.
      OSError: it could not be written; what stood there before still does.
    """
    path = weights_path(path)
    if dtype not in DTYPES:
        raise ValueError(f"dtype is {dtype}; it must be one of {', '.join(map(str, DTYPES))}.")
    tensors = {name: value.detach().to("cpu", dtype) for name, value in model.named_parameters()}
    data = tensors_to_bytes(tensors, {"shape": json.dumps(model.shape)})
    about = {"shape": model.shape, "parameters": sum(p.numel() for p in model.parameters())}
    try:
        card = {**(card or {}), **about, "sha256": hashlib.sha256(data).hexdigest()}
        words = json.dumps(card, indent=2, ensure_ascii=False) + "\n"
    except TypeError as error:
        raise ValueError(f"card cannot be written ({error}); it must be a dictionary for JSON.") from error
    _files.write_whole({path: data, path.with_suffix(".json"): _files.utf8(words), **(beside or {})})
    return card


def weights_path(path):
    """A path of weights; a ValueError if it is none or has another ending."""
    path = Path(_checks.kind("path", path, (str, PathLike), f"a path that ends in {SUFFIX}"))
    if path.suffix != SUFFIX:
        raise ValueError(f"path is {str(path)!r}; it must end in {SUFFIX}.")
    return path


def load(name_or_path, device="auto"):
    """A model from a checkpoint whose weights are those that its card speaks of.

    Args:
      name_or_path: such as "addition" for one of ``data/``, or the path of a .safetensors file.
      device: as ``choose_device``.

    Returns:
      SmallLM in float32 on the device.

    Raises:
      ValueError: no such checkpoint, no card, or weights that are damaged or were changed. The
        message says how to make them again.
    """
    device = choose_device(device)
    path = find(name_or_path)
    card, data = read_card(path), _bytes(path)
    found = hashlib.sha256(data).hexdigest()
    if found != card.get("sha256"):
        raise ValueError(
            f"{path.name} is damaged or was changed: it has {len(data):,} bytes and the SHA-256 {found[:12]}..., "
            f"its card says {str(card.get('sha256'))[:12]}.... {_again(path, card)}"
        )
    try:
        model = SmallLM(**card["shape"])
        _fill(model, read_tensors(data))
    except (SafetensorError, RuntimeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{path.name} does not hold the model of its card ({error}). {_again(path, card)}"
        ) from error
    return model.to(device)


@torch.no_grad()
def _fill(model, tensors):
    wanted = dict(model.named_parameters())
    if wanted.keys() != tensors.keys():
        raise ValueError(f"it holds {sorted(tensors)}, not {sorted(wanted)}")
    for name, parameter in wanted.items():
        if parameter.shape != tensors[name].shape:
            raise ValueError(f"{name} has shape {tuple(tensors[name].shape)}, not {tuple(parameter.shape)}")
        parameter.copy_(tensors[name])


def find(name_or_path):
    """The path that a name or a path stands for."""
    _checks.kind("name_or_path", name_or_path, (str, PathLike), "a name, such as 'addition', or a path")
    text = str(name_or_path)
    if not text:
        raise ValueError("name_or_path is empty; it must be a name, such as 'addition', or a path.")
    if text.endswith(SUFFIX):
        return Path(text)
    folder = Path(text).parent if Path(text).name != text else DATA  # a name, or a path without its ending
    return folder / f"{Path(text).name}{SUFFIX}"


def read_card(name_or_path):
    """The card of a checkpoint, a dictionary.

    Raises:
      ValueError: no such checkpoint or card, or a card that is not JSON.
    """
    weights = find(name_or_path)
    path = weights.with_suffix(".json")
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if weights.exists():
            raise ValueError(
                f"{weights.name} has lost its card, {path.name}, so no one knows whether it is whole. "
                f"{_again(weights, {})}"
            ) from None
        there = ", ".join(sorted(p.stem for p in DATA.glob(f"*{SUFFIX}"))) or "none"
        back = " `git checkout data` brings back what is lost." if path.resolve().parent == DATA else ""
        raise ValueError(
            f"There is no {path.name} in {path.parent}. Checkpoints of the project: {there}.{back}"
        ) from None
    except (OSError, ValueError) as error:
        raise ValueError(
            f"{path.name} cannot be read ({_files.why(error)}). {_again(weights, {})}"
        ) from error
    if not isinstance(card, dict):
        raise ValueError(f"{path.name} holds no card. {_again(weights, {})}")
    return card


def _bytes(path):
    try:
        return path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path.name} cannot be read ({error.strerror}). {_again(path, {})}") from error


def _again(path, card):
    """How to get a checkpoint back."""
    command = str(card.get("command", ""))
    if path.resolve().parent == DATA:
        task = re.sub(r"(_large)?(_seed\d+)?$", "", path.stem)
        if f"--task {task} " not in f"{command} ":  # no command, or that of another model's card
            command = f"python -m pglab.training pretrain --task {path.stem}"
        return f"Make it again with `{command}`, or get the committed one back with `git checkout data`."
    if not command:  # what it had learned stood on the card
        command = f"python -m pglab.training pretrain --task TASK --out {path}"
        return f"Get it back from where it came, its card too, or make one again with `{command}`."
    if command.startswith("python -m") and "--out" not in command:
        command += f" --out {path}"
    return f"Make it again with `{command}`."
