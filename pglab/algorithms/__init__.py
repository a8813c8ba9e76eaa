"""The registry: each algorithm is a frozen configuration, and the configuration is what runs.

Two branches meet in a policy gradient: a weight on every token's score (who is compared with whom), and
a constraint on the step (ratio, clip, KL). A third choice, easily missed, is the denominator. ``Algorithm``
spells them out; ``advantages`` and ``loss`` are all that a training loop needs of it.
"""

from pglab.algorithms.algorithm import PLACES, WEIGHTS, Algorithm
from pglab.algorithms.registry import ALGORITHMS, named

__all__ = ["ALGORITHMS", "PLACES", "WEIGHTS", "Algorithm", "named"]
