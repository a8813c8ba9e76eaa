"""A picture that is drawn anew while a cell runs, by the same front end as the explorers.

What is stored in the notebook is one constant sentence: a run that is watched ends in a figure of its
own, in the next cell, which is what lasts.
"""

import json
import time

from pglab.figures import Picture, describe
from pglab.figures.layout import scene as lay_out
from pglab.figures.primitives import Scene
from pglab.figures.show import in_words
from pglab.figures.svg import elements
from pglab.sliders.explorer import NARROWEST, Drawing

WORDS = "A live picture: run this cell in JupyterLab to watch it. The next cell shows what came out."
NOTHING = Scene(1, 1, [])  # before the first news


class Live:
    """Shows itself where it is made; call it with news, and it draws them.

        live = Live(lambda rows: figures.Picture(...))
        for row in trainer: live(trainer.rows)
        live.finish(trainer.rows)

    Args:
      picture: function of whatever it is called with that returns a ``figures.Picture``.
      wait: the least time between two drawings, in seconds; what comes sooner is passed over.
      show: whether to display it at once.

    Raises:
      ValueError: a function that returns something else, when it is first called.

    Source: none.
    """

    def __init__(self, picture, wait=0.1, show=True):
        self._picture_of, self._wait, self._drawn = picture, wait, -float("inf")
        self._drawing = Drawing(frame=_frame(NOTHING, ""))
        self.pictures = 0  # how many have been drawn
        if show:
            from IPython.display import display

            display(self)

    def __call__(self, *news):
        """Draws the news, unless it has just drawn."""
        if time.perf_counter() - self._drawn >= self._wait:
            self.finish(*news)

    def finish(self, *news):
        """Draws the news in any case."""
        picture = self._picture_of(*news)
        if not isinstance(picture, Picture):
            raise ValueError(
                f"picture returned a {type(picture).__name__}; it must return a figures.Picture."
            )
        self._drawing.frame = _frame(lay_out(picture), describe(picture))
        self.pictures += 1
        self._drawn = time.perf_counter()

    def _repr_mimebundle_(self, **kwargs):
        return in_words(self._drawing._repr_mimebundle_(**kwargs), WORDS)


def _frame(scene, words):
    size = {"width": scene.width, "height": scene.height, "narrowest": round(NARROWEST * scene.width)}
    return json.dumps({"key": "", "columns": None, "words": words, "elements": elements(scene)} | size)
