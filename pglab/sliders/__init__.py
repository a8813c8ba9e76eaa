"""The explorer: controls in, exact numbers and a picture out; and the explorers of the notebooks.

``Explorer``, ``Slider`` and ``Choice`` make one out of any function that returns a ``Picture``. Each
notebook's own explorers stand in a file of their own and are called by name.
"""

from pglab.sliders.aggregation_lab import aggregation_lab
from pglab.sliders.atlas import estimator_atlas
from pglab.sliders.clinic_lab import clinic_lab
from pglab.sliders.cluster_lab import cluster_lab
from pglab.sliders.controls import Choice, Slider
from pglab.sliders.credit_lab import credit_lab
from pglab.sliders.critic_lab import critic_lab
from pglab.sliders.explorer import Explorer
from pglab.sliders.knob_lab import knob_lab
from pglab.sliders.length_lab import length_lab
from pglab.sliders.live import Live
from pglab.sliders.memory_lab import memory_lab
from pglab.sliders.mismatch_lab import mismatch_lab
from pglab.sliders.network_lab import network_lab
from pglab.sliders.noisy_step import noisy_step
from pglab.sliders.one_step import one_step
from pglab.sliders.step_lab import step_lab
from pglab.sliders.temperature import temperature
from pglab.sliders.variance_lab import variance_lab

__all__ = [
    "Choice",
    "Explorer",
    "Live",
    "Slider",
    "aggregation_lab",
    "clinic_lab",
    "cluster_lab",
    "critic_lab",
    "credit_lab",
    "estimator_atlas",
    "knob_lab",
    "length_lab",
    "memory_lab",
    "mismatch_lab",
    "network_lab",
    "noisy_step",
    "one_step",
    "step_lab",
    "temperature",
    "variance_lab",
]
