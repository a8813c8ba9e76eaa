"""The box that asks for a guess."""

from pglab.predictions.register import find


def predict(name):
    """Ask for the reader's guess, and cover the rest of this cell's output until it is made.

    Args:
      name: the prediction, such as "1.3".

    Raises:
      ValueError: a name that no prediction has.
    """
    from IPython.display import display

    display({"text/plain": words(find(name))}, raw=True)


def words(prediction):
    """The question as it stands where no kernel runs."""
    choices = f"  ({' / '.join(prediction.choices)})" if prediction.choices else ""
    return f"Prediction {prediction.name}. {prediction.question}{choices}"
