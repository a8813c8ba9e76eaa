"""A transformer of which everything is known: every completion, exact J, gradient, and the moments of any
estimator."""

from pglab.oracle.exact import Exact, Table, exact
from pglab.oracle.runs import apart, draw, token_logps, train
from pglab.oracle.small import FreeTable, climb, gradient_of, moved, network, slope
from pglab.oracle.tree import Tree, completions
from pglab.oracle.two_policies import answers

__all__ = [
    "Exact",
    "FreeTable",
    "Table",
    "Tree",
    "answers",
    "apart",
    "climb",
    "completions",
    "draw",
    "exact",
    "gradient_of",
    "moved",
    "network",
    "slope",
    "token_logps",
    "train",
]
