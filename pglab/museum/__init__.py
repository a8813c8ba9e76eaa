"""Published mistakes, each with a function that makes it, a test that sees it, its report; runs in which
one thing is wrong.

``case(name)`` is an exhibit, ``judge(name, test)`` tries a reader's own oracle test on it, ``case(name).reveal()``
opens it; those of notebook 10 have numbers too, which give nothing away. ``examine(loss)`` runs the oracle tests on a loss, as does ``python -m pglab.museum my_module:my_loss``.
``faults`` holds training runs in which one thing is wrong.
"""

from pglab import _checks
from pglab.museum import faults
from pglab.museum.examination import Examination, examine
from pglab.museum.exhibit import Exhibit
from pglab.museum.loss_exhibits import LOSSES
from pglab.museum.measures import MEASURES
from pglab.museum.returns import RETURNS
from pglab.museum.tokens import TOKENS
from pglab.museum.weights import WEIGHTS

EXHIBITS = {each.name: each for each in (*LOSSES, *WEIGHTS, *RETURNS, *TOKENS, *MEASURES)}

# Cases 1 to 14 of notebook 10.
TOUR = (
    "missing_brackets", "mean_of_means", "larger_of_two", "summed_ratio", "multiplied_mask", "pad_by_value",
    "spread_of_others", "nothing_is_zero", "one_step_late", "cut_is_the_end", "critic_of_noise",
    "cooled_too_late", "turned_round", "slope_of_k3",
)  # fmt: skip

__all__ = ["EXHIBITS", "TOUR", "Examination", "Exhibit", "case", "examine", "faults", "judge"]


def case(which):
    """An exhibit.

    Args:
      which: a key of ``EXHIBITS``, or the number of a case of notebook 10, from 1.

    Returns:
      Exhibit.

    Raises:
      ValueError: an unknown name or number.
    """
    if isinstance(which, int) and not isinstance(which, bool):
        if not 1 <= which <= len(TOUR):
            raise ValueError(f"case is {which}; it must be from 1 to {len(TOUR)}, or a name.")
        which = TOUR[which - 1]
    return EXHIBITS[_checks.one_of("case", which, list(EXHIBITS))]


def judge(which, test):
    """Tries a reader's own oracle test on a right function and on the suspect; prints one line.

    Args:
      which: as for ``case``.
      test: function of a function -> True where that keeps the promise of the case's contract.

    Returns:
      nothing: a wrong or broken test raises nothing either.

    Raises:
      ValueError: an unknown name or number.
    """
    case(which).judge(test, label=str(which))
