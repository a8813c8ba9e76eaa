"""Exercises of notebook 05, values and critics."""

import numpy as np

from pglab import returns
from pglab.exercises.checking import NotDone, exercise, judge_function

TRAJECTORIES = [  # rewards, values, gamma, lam, last_value
    (np.array([0.0, -0.05, 1.0]), np.array([0.5, 0.3, 0.8]), 0.9, 0.5, 0.0),
    (np.array([1.0, 0.0, 2.0, -1.0]), np.array([0.2, 1.5, -0.4, 0.7]), 0.8, 0.95, 0.6),
    (np.array([0.5, 0.25]), np.array([1.0, -1.0]), 1.0, 0.3, -2.0),
]


def _with_errors(delta, gamma, lam):
    """The decaying sum of any surprises."""
    return returns.reward_to_go(delta, float(gamma) * float(lam))


def _forward(rewards, values, gamma, lam, last_value):
    delta, total, row = returns.td_errors(rewards, values, gamma, last_value), 0.0, []
    for surprise in delta:
        total = surprise + gamma * lam * total
        row.append(total)
    return np.array(row)


def _own_value_again(rewards, values, gamma, lam, last_value):
    return _with_errors(rewards + gamma * values - values, gamma, lam)


def _not_discounted(rewards, values, gamma, lam, last_value):
    following = np.append(values[1:], last_value)
    return _with_errors(rewards + following - values, gamma, lam)


def _undiscounted(rewards, values, gamma, lam, last_value):
    return returns.gae(rewards, values, 1.0, lam, last_value)


def _from_last_value(rewards, values, gamma, lam, last_value):
    """The carried advantage starts at the value behind the end, instead of at 0."""
    steps_left = np.arange(len(rewards), 0, -1)
    right = returns.gae(rewards, values, gamma, lam, last_value)
    return right + (gamma * lam) ** steps_left * last_value


def _nothing_subtracted(rewards, values, gamma, lam, last_value):
    return _with_errors(returns.td_errors(rewards, values, gamma, last_value) + values, gamma, lam)


def _decay(factor):
    """GAE whose sum decays by another factor of gamma and lambda."""
    return lambda r, v, gamma, lam, last: _with_errors(
        returns.td_errors(r, v, gamma, last), factor(gamma, lam), 1.0
    )


@exercise("5a", "GAE, backwards", "easy", 10)
def _gae(answer):
    return judge_function(
        answer,
        TRAJECTORIES,
        right=returns.gae,
        mistakes=[
            (
                lambda r, v, gamma, lam, last: returns.gae(r, v, gamma, lam, 0.0),
                "The last step takes 0 for what comes after it. That is right for a trajectory that ended; "
                "for one that was cut off there is an argument.",
            ),
            (
                _undiscounted,
                "gamma is nowhere. Two things lie one step ahead: the value of the next state, and the advantage of "
                "the next step.",
            ),
            (
                _from_last_value,
                "The advantage that is carried backwards starts at `last_value`. Behind the last step no surprise "
                "is known: what does that leave for its start? `last_value` is a value, and has its place in delta.",
            ),
            (
                _nothing_subtracted,
                "-V(s_t) is missing in the TD error. A surprise is what came *minus* what was expected before.",
            ),
            (
                _decay(lambda gamma, lam: lam),
                "The advantage of the next step is multiplied with lambda alone. It lies one step ahead: what does "
                "a step cost?",
            ),
            (
                _decay(lambda gamma, lam: gamma),
                "The advantage of the next step is multiplied with gamma alone: this is lambda = 1. "
                "Where does the doubt about later surprises enter?",
            ),
            (
                _forward,
                "The sum runs forwards: each step is credited with the surprises before it. Credit goes back in time, "
                "so start at the last step.",
            ),
            (
                _own_value_again,
                "The step's own value stands in the TD error twice. What the critic expects *now* is the value of the "
                "next state.",
            ),
            (
                _not_discounted,
                "The value of the next state is not discounted. It lies one step ahead.",
            ),
            (
                lambda r, v, gamma, lam, last: returns.gae(r, v, gamma, lam, last) + v,
                "This is the advantage plus the value: the target that the critic is trained on. The weight of the "
                "score is the advantage alone.",
            ),
            (
                lambda r, v, gamma, lam, last: returns.td_errors(r, v, gamma, last),
                "These are the TD errors, each step's own surprise. The later ones still have to be added, decaying.",
            ),
            (
                lambda r, v, gamma, lam, last: -returns.gae(r, v, gamma, lam, last),
                "The sign is turned round. A step that went better than the critic thought gets a positive advantage.",
            ),
        ],
    )


WORDS = ("over", "cut off", "goes on")
RIGHT_WORDS = ("over", "cut off", "over", "goes on", "cut off")
THOUGHTS = (
    {
        "cut off": "Would the task have paid anything more after the end-of-text token?",
        "goes on": "Does the model take any further step after its end-of-text token?",
    },
    {
        "over": "The model writes on in the next round. Is what it will earn there really 0?",
        "goes on": "It does go on, but not in what the trainer has now. Something must stand for the rest.",
    },
    {
        "cut off": "What would the task have paid after token 4,096? The rule says it, and the critic can see it coming.",
        "goes on": "Is the model allowed a further token?",
    },
    {
        "over": "The tool failed. Did the episode end, or does the model take another step?",
        "cut off": "Something was cut off, but not the model's trajectory. Who writes the next token?",
    },
    {
        "over": "The task knows nothing of the machine. Would it have paid nothing more?",
        "goes on": "The trainer has no further step of this trajectory. Something must stand for the rest.",
    },
)


@exercise("5b", "Over, cut off, or going on?", "medium", 8)
def _ends(answer):
    answer = answer.tolist() if isinstance(answer, np.ndarray) else answer
    if not isinstance(answer, (list, tuple)) or len(answer) != len(RIGHT_WORDS):
        return f"Give a list of {len(RIGHT_WORDS)} words, one for each situation, in their order."
    if any(word is None or word is Ellipsis for word in answer):
        raise NotDone("Put one word for each situation in place of the ... in the list.")
    answer = [word.strip().lower() if isinstance(word, str) else word for word in answer]
    for number, word in enumerate(answer, start=1):
        if not isinstance(word, str) or word not in WORDS:
            return f"Situation {number}: the word must be one of {', '.join(repr(w) for w in WORDS)}."
    if len(set(answer)) == 1:
        return "The same word five times. At least one of them is paid for what still comes, and one is not."
    for number, (word, right) in enumerate(zip(answer, RIGHT_WORDS, strict=True), start=1):
        if word != right:
            return f"Situation {number}: {THOUGHTS[number - 1][word]}"
    return None


SETTINGS = [  # (length of the bias, variance) with a low and with a high lambda
    (np.array([0.2, 0.1]), np.array([0.0, 0.5])),
    (np.array([0.5, 0.3]), np.array([0.1, 0.45])),
    (np.array([1.5, 2.0]), np.array([0.5, 5.0])),
]


def _one_number(answer):
    """The reader's function, whose result may be an array of one number; what is none stays as it is."""

    def flat(low, high):
        value = answer(low, high)
        return value.item() if isinstance(value, np.ndarray) and value.size == 1 else value

    return flat if callable(answer) else answer


def _crossing(low, high, power=2):
    return (high[1] - low[1]) / (low[0] ** power - high[0] ** power)


@exercise("5c", "From how many trajectories on?", "medium", 10)
def _from_how_many(answer):
    return judge_function(
        _one_number(answer),
        SETTINGS,
        right=_crossing,
        mistakes=[
            (
                lambda low, high: _crossing(low, high, power=1),
                "The bias is not squared. The mean squared error is squared bias plus variance over N.",
            ),
            (
                lambda low, high: 1 / _crossing(low, high),
                "This is 1/N: the fraction is upside down. Multiply the equation by N before you solve it.",
            ),
            (
                lambda low, high: np.sqrt(_crossing(low, high)),
                "The root of it. N itself divides the variance; its root divides the standard error.",
            ),
            (
                lambda low, high: (high[0] - low[0]) / (low[1] ** 2 - high[1] ** 2),
                "The two numbers of a pair are swapped: the length of the bias comes first, then the variance.",
            ),
            (
                lambda low, high: -_crossing(low, high),
                "The sign is turned round: a number of trajectories is positive. What does `high` have more of?",
            ),
            (
                lambda low, high: (high[1] - low[1]) / low[0] ** 2,
                "The bias of `high` is missing; here it is not always 0.",
            ),
            (
                lambda low, high: (high[1] - low[1]) / (low[0] - high[0]) ** 2,
                "The difference of the biases is squared as a whole. Each mean squared error has its own bias in it, "
                "squared first.",
            ),
            (
                lambda low, high: np.ceil(_crossing(low, high)),
                "Rounded up. Give the crossing itself, a real number.",
            ),
            (
                lambda low, high: (high[1] ** 2 - low[1] ** 2) / (low[0] ** 2 - high[0] ** 2),
                "The variance is squared already: it is a mean of squared distances.",
            ),
            (
                lambda low, high: _crossing(low, high) ** 2,
                "The square of it. The variance of a mean falls with N, not with its root.",
            ),
        ],
    )
