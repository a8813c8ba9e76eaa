"""Predictions of notebook 01."""

from pglab.predictions.register import prediction

prediction(
    "1.1",
    "Two of four answers are right. Is J above one half, or below?",
    ("above one half", "below one half"),
    "below one half",
    answer="J is 0.39: the favourite answer, given most often, is wrong.",
)
