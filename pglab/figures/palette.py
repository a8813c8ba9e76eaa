"""One palette for every picture: the same thing has the same colour in every notebook.

Every colour has a contrast of at least 4.5 against white, so that it can be the colour of a
word as well as of a line. The hues stay apart for the common kinds of colour blindness; where
two lie close, the words beside the lines tell them apart.
"""

INK = "#1a1a1a"  # text and axes
QUIET = "#6a6a6a"  # tick labels, axis labels, whatever is only there for comparison
GRID = "#e6e6e6"
CONTOUR = "#c4c4c4"  # lines that words may cross
PAPER = "#ffffff"

BLUE = "#0069a8"
VERMILLION = "#c04a00"
GREEN = "#007a5a"
PURPLE = "#a3407f"
OCHRE = "#8a6a00"
INDIGO = "#5546b0"
CRIMSON = "#a8223b"

# The estimators of the collection, by the name of their weight.
ESTIMATORS = {
    "exact": INK,
    "none": VERMILLION,
    "constant": OCHRE,
    "value": BLUE,
    "optimal": GREEN,
    "batch_mean": PURPLE,
    "leave_one_out": INDIGO,
    "grpo": CRIMSON,
}

# The words that stand beside them.
NAMES = {
    "exact": "exact gradient",
    "none": "no baseline",
    "constant": "constant b",
    "value": "value E[R]",
    "optimal": "optimal b*",
    "batch_mean": "batch mean",
    "leave_one_out": "leave-one-out",
    "grpo": "GRPO",
}

# Roles in the pictures of a single step.
ROLES = {
    "before": QUIET,
    "after": BLUE,
    "up": BLUE,
    "down": VERMILLION,
    "score": VERMILLION,
    "pathwise": BLUE,
    "argmax": VERMILLION,
    "softmax": BLUE,
}

COLOURS = ESTIMATORS | ROLES
