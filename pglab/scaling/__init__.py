"""What training costs: the memory bill, predicted and measured; seconds of a step on a cluster, reckoned.

One unit of memory: GB is 10^9 bytes, as on the data sheets of GPUs.
"""

import importlib

from pglab.scaling.decoder import MODELS, Decoder
from pglab.scaling.memory import (
    PRECISIONS,
    ROLES,
    Item,
    activations,
    bill,
    cache,
    held,
    score_activations,
    score_peak,
)
from pglab.scaling.seconds import GPUS, Gpu, Step, balance, samplers_needed, step, trainers_needed

MEASURED = ("Measured", "measure", "measure_peak", "measured", "measured_times")
ROOFLINE = ("calibrate", "reckon", "roofline", "time_shape")


def __getattr__(name):
    """What needs torch comes when it is asked for."""
    where = "measured" if name in MEASURED else "roofline" if name in ROOFLINE else None
    if where is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    room = importlib.import_module(f"pglab.scaling.{where}")
    return room if name == where else getattr(room, name)


__all__ = [
    "GPUS", "MODELS", "PRECISIONS", "ROLES", "Decoder", "Gpu", "Item", "Measured", "Step", "activations", "balance",
    "bill", "cache", "calibrate", "held", "measure", "measure_peak", "measured_times", "reckon", "samplers_needed",
    "score_activations", "score_peak", "step", "time_shape", "trainers_needed",
]  # fmt: skip
