"""Put a picture into a notebook: PNG for the eye, words for nbval and for screen readers."""

import base64
import html

from pglab.figures import png
from pglab.figures.picture import Panel, Picture
from pglab.figures.text import describe


def bundle(picture):
    """(data, metadata) of the stored form: a sharp PNG and its words.

    Args:
      picture: a ``Picture``, or a matplotlib ``Figure``.

    Returns:
      two dicts, as Jupyter's display protocol wants them.

    Raises:
      ValueError: anything else.
    """
    words = describe(picture)
    fig = png.figure(picture) if isinstance(picture, Picture) else picture
    width, height = (round(inches * png.PIXELS_PER_INCH) for inches in fig.get_size_inches())
    data = {"image/png": base64.b64encode(png.encode(fig)).decode("ascii"), "text/plain": words}
    title = words.partition("\n")[0].removeprefix("Picture: ")
    return data, {"image/png": {"width": width, "height": height, "alt": title}}


def in_words(mimebundle, words):
    """What a widget displays, with words for where it cannot live: (data, metadata).

    Args:
      mimebundle: what its ``_repr_mimebundle_`` returns: data, (data, metadata), or None.
      words: a string.
    """
    data, metadata = mimebundle if isinstance(mimebundle, tuple) else (mimebundle or {}, {})
    return {**data, "text/plain": words}, metadata


def show(*what, title="", caption="", words=""):
    """Show a picture, and below it, folded away, the numbers it is made of.

    Args:
      what: one ``Picture``, one matplotlib ``Figure``, or one or more panels.
      title, caption: of the picture made from panels; a Picture or Figure has its own.
      words: what can be seen, in one sentence that holds on every machine. It then stands in place of
        the numbers: for what another processor may draw a little differently, as training in float32.

    Raises:
      ValueError: anything else.
    """
    from IPython.display import display

    panels = bool(what) and all(isinstance(each, Panel) for each in what)
    if not panels and len(what) != 1:
        raise ValueError(f"show got {len(what)} things; it takes one Picture, one Figure, or panels.")
    if not panels and (title or caption):
        raise ValueError(f"title and caption are for panels; the {type(what[0]).__name__} must have its own.")
    data, metadata = bundle(Picture(what, title, caption) if panels else what[0])
    if words:
        data["text/plain"], metadata["image/png"]["alt"] = f"Picture: {words}", words
    display(data, metadata=metadata, raw=True)
    show_words(data["text/plain"], "This picture in words" if words else "The numbers in this picture")


def show_words(words, summary):
    """A line that unfolds into the text of a picture: readable with or without a kernel."""
    from IPython.display import display

    folded = f"<details><summary>{html.escape(summary)}</summary><pre>{html.escape(words)}</pre></details>"
    display({"text/html": folded, "text/plain": summary}, raw=True)
