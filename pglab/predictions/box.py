"""The box that asks for a guess, and what it looks like where no kernel runs."""

from pathlib import Path

import traitlets

from pglab import _packages, progress
from pglab.figures.show import in_words
from pglab.predictions.register import find

anywidget = _packages.bring("anywidget")


class Box(anywidget.AnyWidget):
    """The front end. It covers what follows in the same cell until there is a guess, or the reader looks.

    The answer is sent at once and shown by the browser: the kernel may be busy computing it.
    """

    _esm = Path(__file__).with_name("box.js")
    _css = Path(__file__).with_name("box.css")
    name = traitlets.Unicode().tag(sync=True)
    question = traitlets.Unicode().tag(sync=True)
    choices = traitlets.List(traitlets.Unicode()).tag(sync=True)
    right = traitlets.Unicode().tag(sync=True)  # "" where the reader writes freely
    answer = traitlets.Unicode().tag(sync=True)
    guess = traitlets.Unicode().tag(sync=True)  # "" until there is one
    noted = traitlets.Bool(False).tag(sync=True)  # that the guess has arrived here

    def __init__(self, prediction):
        super().__init__(
            name=prediction.name,
            question=prediction.question,
            choices=list(prediction.choices),
            right=prediction.right or "",
            answer=prediction.answer,
            guess=progress.guesses().get(prediction.name, ""),
        )
        self._words = words(prediction)
        self.observe(self._note, "guess")

    def _note(self, change):
        progress.note_guess(self.name, change.new)
        self.noted = True

    def _repr_mimebundle_(self, **kwargs):
        return in_words(super()._repr_mimebundle_(**kwargs), self._words)


def predict(name):
    """Ask for the reader's guess, and cover the rest of this cell's output until it is made.

    A guess is noted in the reader's progress file; with one noted there, nothing is covered.

    Args:
      name: the prediction, such as "1.3".

    Raises:
      ValueError: a name that no prediction has.
    """
    from IPython.display import display

    display(Box(find(name)))


def words(prediction):
    """The question as it stands where no kernel runs."""
    choices = f"  ({' / '.join(prediction.choices)})" if prediction.choices else ""
    return f"Prediction {prediction.name}. {prediction.question}{choices}"
