"""What a reader can move: sliders, each with its stops."""

import keyword
from dataclasses import dataclass

from pglab import _checks

DECIMALS = 6  # of the name of a stop; with more, Python and the browser might round it differently


@dataclass(frozen=True)
class Slider:
    """One slider.

    Args:
      name: the argument of the picture function that it sets.
      label: the word beside it.
      value: where it starts.
      low, high: its ends.
      step: the distance between neighbouring stops.
      group: sliders of one group stand together under this heading.

    Raises:
      ValueError: a name that no argument can have, ends in the wrong order, a start outside them,
        a step that is not positive, a number of more than six decimals.
    """

    name: str
    label: str
    value: float
    low: float
    high: float
    step: float = 0.1
    group: str = ""

    def __post_init__(self):
        if not isinstance(self.name, str) or not self.name.isidentifier() or keyword.iskeyword(self.name):
            raise ValueError(f"Slider.name is {self.name!r}; it must be the name of a Python argument.")
        for field in ("value", "low", "high", "step"):
            object.__setattr__(self, field, self._stop(field))
        if not self.low < self.high:
            raise ValueError(
                f"Slider.low is {self.low} and Slider.high is {self.high}; low must be below high."
            )
        if not self.low <= self.value <= self.high:
            raise ValueError(f"Slider.value is {self.value}; it must lie from {self.low} to {self.high}.")
        if self.step <= 0:
            raise ValueError(f"Slider.step is {self.step}; it must be positive.")

    def _stop(self, field):
        value = _checks.number(f"Slider.{field}", getattr(self, field))
        if round(value, DECIMALS) != value:
            raise ValueError(f"Slider.{field} is {value}; it must have at most {DECIMALS} decimals.")
        return value

    def widget(self):
        """The ipywidgets slider: keyboard, mouse and touch work as everywhere in Jupyter."""
        from ipywidgets import FloatSlider, Layout

        return FloatSlider(
            value=self.value, min=self.low, max=self.high, step=self.step,
            description=self.label, readout_format=".2f",
            style={"description_width": f"{max(72, 9 * len(self.label))}px"}, layout=Layout(width="auto"),
        )  # fmt: skip

    def neighbour(self, value, stops):
        """The value that many stops away, or None beyond an end."""
        there = round(value + stops * self.step, DECIMALS) + 0.0
        return there if self.low - 1e-9 <= there <= self.high + 1e-9 else None
