"""Completions for many prompts at once, one cache for a group; their log-probabilities, and what a trainer
differentiates.

``draw`` reads one token after the other, ``scoring`` all tokens at once and with gradients; both read
each prompt once for its whole group. ``policy`` says what temperature, top-k and top-p do; ``engines``
rounds the model that samples, and measures how far it is from the one that is trained.
"""

from pglab.sampling.draw import Samples, sample
from pglab.sampling.engines import Mismatch, engine, mismatch
from pglab.sampling.policy import sampling_logits
from pglab.sampling.scoring import score, states

__all__ = ["Mismatch", "Samples", "engine", "mismatch", "sample", "sampling_logits", "score", "states"]
