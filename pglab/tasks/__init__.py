"""Addition, running sums, Countdown: prompts, corpora, and verifiers that parse and never run anything.

Text in, text out. A completion is the text before the end token; whether it ended, or was cut off,
is the sampler's business. ``Task`` says what every task has. Three of them are here:

    addition            "437+285="       ->  "2270"      forgotten carries
    running_sum         "3141592="       ->  "5" or ">3489435"
    countdown           "07,03,12:43="   ->  "7+3*12"    most of the corpus is wrong
    countdown_solver    the same, and the whole corpus is right

No completion is ever run as a program: ``check_expression`` reads arithmetic by its own grammar,
and every other verifier compares digits.
"""

from pglab import _checks
from pglab.tasks.addition import Addition
from pglab.tasks.countdown import Countdown
from pglab.tasks.expressions import LONGEST, check_expression
from pglab.tasks.length import overlong_penalty
from pglab.tasks.running_sum import RunningSum
from pglab.tasks.task import Task

__all__ = [
    "LONGEST",
    "TASKS",
    "Addition",
    "Countdown",
    "RunningSum",
    "Task",
    "check_expression",
    "named",
    "overlong_penalty",
]

TASKS = {
    "addition": Addition(),
    "running_sum": RunningSum(),
    "countdown": Countdown(),
    "countdown_solver": Countdown(random_share=0.0),
}


def named(name):
    """The task of this name.

    Args:
      name: one of the keys of ``TASKS``.

    Returns:
      A ``Task``.

    Raises:
      ValueError: another name; the message lists the right ones.
    """
    return TASKS[_checks.one_of("name", name, list(TASKS))]
