"""The explorer: controls in, exact numbers and a picture out; and the explorers of the notebooks.

``Explorer`` and ``Slider`` make one out of any function that returns a ``Picture``. Each
notebook's own explorers stand in a file of their own and are called by name.
"""

from pglab.sliders.controls import Slider
from pglab.sliders.explorer import Explorer
from pglab.sliders.one_step import one_step
from pglab.sliders.temperature import temperature

__all__ = ["Explorer", "Slider", "one_step", "temperature"]
