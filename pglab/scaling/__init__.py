"""What training costs: bytes and seconds, for the small model measured, for large ones reckoned.

One unit of memory: GB is 10^9 bytes, as on the data sheets of GPUs.
"""

import importlib

from pglab.scaling.decoder import MODELS, Decoder
from pglab.scaling.memory import PRECISIONS, ROLES, Item, activations, bill, cache, held, score_activations
from pglab.scaling.seconds import GPUS, Step, balance, step

MEASURED = ("Measured", "measure", "measured", "measured_times")


def __getattr__(name):
    """What needs torch comes when it is asked for."""
    if name not in MEASURED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    measured = importlib.import_module("pglab.scaling.measured")
    return measured if name == "measured" else getattr(measured, name)


__all__ = [
    "GPUS", "MODELS", "PRECISIONS", "ROLES", "Decoder", "Item", "Measured", "Step", "activations", "balance", "bill",
    "cache", "held", "measure", "measured_times", "score_activations", "step",
]  # fmt: skip
