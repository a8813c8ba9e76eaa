"""What a reader can move: a slider with its stops, a choice with its words.

Both kinds know their stops: ``stop`` numbers the stop of a value, ``neighbour`` finds the value
some stops away, ``checked`` refuses a value that is none, ``settled`` takes what a browser sends.
"""

import keyword
from dataclasses import dataclass

from pglab import _checks

DECIMALS = 6  # of the name of a stop; with more, Python and the browser might round it differently
FEWEST_LETTERS, MOST_LETTERS = 7, 24  # of what is read beside a slider


def _check_name(control):
    name, kind = control.name, type(control).__name__
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError(f"{kind}.name is {name!r}; it must be the name of a Python argument.")


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
        _check_name(self)
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
            description=self.label, readout_format=".0f" if self._whole() else ".2f",
            layout=Layout(width="auto"),
        )  # fmt: skip

    def letters(self):
        """How many letters are kept free for the number beside the slider."""
        return FEWEST_LETTERS

    def _whole(self):
        return self.low % 1 == 0 and self.step % 1 == 0

    def checked(self, value):
        """The value as a float, or a ValueError that names the ends."""
        return _checks.number(self.name, value, self.low, self.high)

    def settled(self, value):
        """The value without the rounding error of a browser, which may send 10.000000000000002."""
        return round(value, DECIMALS) + 0.0

    def stop(self, value):
        """The number that names a value's stop, here and in the browser: the value itself."""
        return value

    def stops_between(self, before, now):
        """How many stops were moved, with a sign; not whole if the slider was dragged between stops."""
        return (now - before) / self.step

    def neighbour(self, value, stops):
        """The value that many stops away, or None beyond an end."""
        there = round(value + stops * self.step, DECIMALS) + 0.0
        return there if self.low - 1e-9 <= there <= self.high + 1e-9 else None


@dataclass(frozen=True)
class Choice:
    """One of several words.

    Args:
      name: the argument of the picture function that it sets, to one of the options.
      label: the word beside it.
      value: the option where it starts.
      options: tuple of different words.
      group: controls of one group stand together under this heading.

    Raises:
      ValueError: a name that no argument can have, fewer than two options, one that is no word or
        comes twice, a start that is no option.
    """

    name: str
    label: str
    value: str
    options: tuple
    group: str = ""

    def __post_init__(self):
        _check_name(self)
        options = self.options
        words = isinstance(options, (list, tuple)) and all(isinstance(option, str) for option in options)
        if not words or len(options) < 2 or len(set(options)) != len(options):
            raise ValueError(f"Choice.options is {options!r}; it must be two or more different words.")
        object.__setattr__(self, "options", tuple(options))
        if self.value not in self.options:
            raise ValueError(f"Choice.value is {self.value!r}; it must be one of {self._words()}.")

    def _words(self):
        return ", ".join(repr(option) for option in self.options)

    def widget(self):
        """A slider over the words. In JupyterLab a drop-down list would not get the arrow keys."""
        from ipywidgets import Layout, SelectionSlider

        slider = SelectionSlider(
            options=self.options, value=self.value, description=self.label,
            layout=Layout(width="auto"),
        )  # fmt: skip
        return slider.add_class(f"pglab-words-{self.letters()}")  # explorer.py gives them that much room

    def letters(self):
        """How many letters the longest option has, as far as there is room beside a slider."""
        return min(max(map(len, self.options)), MOST_LETTERS)

    def checked(self, value):
        """The value if it is an option, or a ValueError that lists them."""
        if value not in self.options:
            raise ValueError(f"{self.name} is {value!r}; it must be one of {self._words()}.")
        return value

    def settled(self, value):
        """The option itself."""
        return value

    def stop(self, value):
        """The number that names an option's stop, here and in the browser: its place in the list."""
        return float(self.options.index(value))

    def stops_between(self, before, now):
        """How many places further down the list."""
        return self.stop(now) - self.stop(before)

    def neighbour(self, value, stops):
        """The option that many places further down, or None beyond an end."""
        place = int(self.stop(value)) + stops
        return self.options[place] if 0 <= place < len(self.options) else None
