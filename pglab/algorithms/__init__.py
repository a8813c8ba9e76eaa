"""The registry: each algorithm is a frozen configuration with its source, and the configuration is what
runs.

Two branches meet in a policy gradient: a weight on every token's score (who is compared with whom), and
a constraint on the step (ratio, clip, KL). A third choice, easily missed, is the denominator. ``Algorithm``
spells them out; ``advantages`` and ``loss`` are all that a training loop needs of it. ``table`` puts
algorithms side by side in words; ``LIBRARIES`` holds what public libraries run unless told otherwise,
and ``on_batch`` computes any of them on one small batch.
"""

from pglab.algorithms.algorithm import PLACES, RATIOS, WEIGHTS, Algorithm
from pglab.algorithms.batch import Batch, Outcome, at_the_end, on_batch, shared_batch
from pglab.algorithms.libraries import LIBRARIES, Library
from pglab.algorithms.registry import ALGORITHMS, differences, named
from pglab.algorithms.words import Row, table

__all__ = [
    "ALGORITHMS", "LIBRARIES", "PLACES", "RATIOS", "WEIGHTS", "Algorithm", "Batch", "Library", "Outcome", "Row",
    "at_the_end", "differences", "named", "on_batch", "shared_batch", "table",
]  # fmt: skip
