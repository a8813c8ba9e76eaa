"""What training costs: bytes and seconds, for the small model measured, for large ones reckoned.

One unit of memory: GB is 10^9 bytes, as on the data sheets of GPUs.
"""

from pglab.scaling.decoder import MODELS, Decoder
from pglab.scaling.measured import Measured, measure, measured_times
from pglab.scaling.memory import PRECISIONS, ROLES, Item, activations, bill, cache, held, score_activations
from pglab.scaling.seconds import GPUS, Step, balance, step

__all__ = [
    "GPUS", "MODELS", "PRECISIONS", "ROLES", "Decoder", "Item", "Measured", "Step", "activations", "balance", "bill",
    "cache", "held", "measure", "measured_times", "score_activations", "step",
]  # fmt: skip
