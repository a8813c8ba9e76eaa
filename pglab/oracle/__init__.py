"""The oracle: exact objective, gradient and estimator moments of a language model, by enumeration."""

from pglab.oracle.exact import Exact, Table, exact
from pglab.oracle.small import climb, gradient_of, moved, network, slope
from pglab.oracle.tree import Tree, completions

__all__ = [
    "Exact",
    "Table",
    "Tree",
    "climb",
    "completions",
    "exact",
    "gradient_of",
    "moved",
    "network",
    "slope",
]
