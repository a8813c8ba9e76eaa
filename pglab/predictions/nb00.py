"""Predictions of notebook 00."""

from pglab.predictions.register import prediction

prediction(
    "0.1",
    "Four answers have the chances 0.2, 0.1, 0.5, 0.2; the first and the last pay 1. The average pay?",
    ("0.20", "0.40", "0.50"),
    "0.40",
    answer="0.2 and 0.2 add up to 0.40: a right answer pays as often as it is given. How many of the four "
    "are right does not matter.",
)
prediction(
    "0.2",
    "Does a low temperature make the model more decided, or less?",
    ("less decided", "more decided"),
    "more decided",
    answer="Dividing by a small number pulls the logits apart, and the favourite answer, 0.48 at "
    "temperature 1, gets more. Try it with the slider.",
)
