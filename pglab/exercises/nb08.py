"""Exercises of notebook 08, GRPO on a small language model."""

from math import comb

import numpy as np

from pglab import tasks
from pglab.exercises.checking import Misfit, NotDone, exercise, hinted, judge_function

# --- 8a -----------------------------------------------------------------------------------------

REWARDS = [
    (np.array([[1, 0, 0, 1], [0, 0, 0, 0], [1, 1, 1, 0]]),),
    (np.array([[0.5, 2, -1], [3, 3, 3], [0, 1, 0]]),),
]


TURNED = "Right answers get negative weights: the sign is turned round. A reward *minus* the mean."


def _over(rewards, axis=1, ddof=1, eps=1e-4):
    """Centred and divided along an axis; None for the whole batch."""
    centre, spread = (
        f(axis=axis, keepdims=True) for f in (rewards.mean, lambda **k: rewards.std(ddof=ddof, **k))
    )
    return (rewards - centre) / (spread + eps)


def _others(rewards):
    size = rewards.shape[1]
    return (rewards - rewards.mean(1, keepdims=True)) * size / (size - 1)


@exercise("8a", "GRPO's weights", "easy", 8)
def _weights(answer):
    def centred(r):
        return r - r.mean(1, keepdims=True)

    def spread(r, ddof=1):
        return r.std(1, ddof=ddof, keepdims=True)

    return judge_function(
        _explained(answer),
        REWARDS,
        right=_over,
        mistakes=[
            (
                lambda r: _over(r, ddof=0),
                "The deviation is divided by G here, NumPy's own choice. The sample deviation divides by G - 1: ddof.",
            ),
            (
                centred,
                "Centred, and not divided: those are the weights of Dr. GRPO. GRPO divides by the deviation.",
            ),
            (lambda r: -_over(r), TURNED),
            (lambda r: -centred(r), TURNED),
            (
                _others,
                "This compares with the mean of the *others*: RLOO. GRPO's mean holds the answer itself.",
            ),
            (
                lambda r: _over(r, axis=None),
                "One mean and one deviation for the whole batch: a hard question's answers are compared with an easy "
                "one's. Who belongs to whose group?",
            ),
            (
                lambda r: centred(r) / (r.std(ddof=1) + 1e-4),
                "The mean is the group's, the deviation is that of the whole batch. GRPO takes both from the group.",
            ),
            (
                lambda r: _over(r, axis=0),
                "This goes down the columns, over answers to different questions. A group is a row.",
            ),
            (
                lambda r: r / (spread(r) + 1e-4),
                "Divided, and not centred: then right answers are all pushed alike, and wrong ones not at all.",
            ),
            (
                lambda r: centred(r) / (spread(r) ** 2 + 1e-4),
                "Divided by the variance. A deviation is its root, and has the unit of a reward.",
            ),
            (
                lambda r: centred(r) / np.sqrt(spread(r) ** 2 + 1e-4),
                "The small number stands under the root. Here it is added to the deviation itself.",
            ),
            (
                lambda r: np.where(spread(r) > 0, centred(r) / np.where(spread(r) > 0, spread(r), 1), 0),
                "A group that is all alike is handled well. The small number beside the deviation is missing from "
                "the other groups.",
            ),
            (
                lambda r: r - r.mean(1, keepdims=True) / (spread(r) + 1e-4),
                "A pair of brackets is missing: only the mean is divided. (A published bug, and it trains, badly.)",
            ),
        ],
    )


def _explained(answer):
    """The reader's function, with a hint in place of NumPy's words about shapes."""
    if not callable(answer):
        return answer
    shapes = (
        "Two shapes do not fit: the mean of each row should stand beside its own row. Does it keep its axis?"
    )
    fitting = hinted(answer, ValueError, "broadcast", shapes)

    def f(*arguments):
        value = fitting(*arguments)
        if value is not None and value is not Ellipsis and np.isnan(np.asarray(value, dtype=float)).any():
            raise Misfit(
                "In one of the groups all rewards are equal, and this gives 0/0 there. What stands below the line "
                "beside the deviation?"
            )
        return value

    return f


# --- 8b -----------------------------------------------------------------------------------------

RATES = [(np.array([0.99, 0.3, 0.09, 0.02]), 8), (np.array([0.5, 1.0, 0.0, 0.8, 0.25]), 3)]
TIMES = (
    "A rate *times* G is how many of a group are right on average. That all of them are is a product of G chances: "
    "a power."
)


@exercise("8b", "How many groups are all alike?", "medium", 8)
def _alike(answer):
    def both(p, G):
        return p**G + (1 - p) ** G

    return judge_function(
        answer,
        RATES,
        right=lambda p, G: both(p, G).mean(),
        mistakes=[
            (
                lambda p, G: both(p.mean(), G),
                "The mean came first: these are the groups of a question of middling difficulty, and hardly any "
                "question is. First the chance for each question, then the mean.",
            ),
            (
                lambda p, G: ((p == 0) | (p == 1)).mean(),
                "This counts the questions that are *always* right or never. A question at 0.99 has groups that are "
                "all alike, too, nearly all of them: how likely is that?",
            ),
            (
                lambda p, G: both(p, G).mean() - (p**G * (1 - p) ** G).mean(),
                "The product is taken off as if both could happen at once. A group that is all right is not all wrong.",
            ),
            (lambda p, G: G, TIMES),  # p G + (1 - p) G
            (lambda p, G: (p * G + (1 - p) ** G).mean(), TIMES),
            (lambda p, G: (p * G).mean(), TIMES),
            (both, "That is the chance of each question. The share is their mean."),
            (lambda p, G: both(p, G).sum(), "That is how many questions. The share is their mean."),
            (lambda p, G: (p**G).mean(), "These groups are all right. What else is all alike?"),
            (lambda p, G: ((1 - p) ** G).mean(), "These groups are all wrong. What else is all alike?"),
            (lambda p, G: 1 - both(p, G).mean(), "These are the mixed groups: the share is turned round."),
            (
                lambda p, G: (p**G * (1 - p) ** G).mean(),
                "All right *and* all wrong at once: that cannot be. Two cases that exclude each other are added.",
            ),
            (
                lambda p, G: (p ** (G - 1) + (1 - p) ** (G - 1)).mean(),
                "This is the chance that the others agree with a first answer that was right, plus the same for wrong. "
                "How likely is each kind of first answer?",
            ),
            (
                lambda p, G: 2 * (p**G).mean(),
                "All right and all wrong are equally likely only at a rate of one half.",
            ),
        ],
    )


# --- 8c -----------------------------------------------------------------------------------------

COUNTS = [(10, np.array([0, 1, 5, 10]), 4), (6, np.array([3, 2, 6]), 1), (5, np.array([0, 4, 1]), 5)]
MEAN_FIRST = "The mean of c came first: an average question does not exist. First each question's estimate."


@exercise("8c", "pass@k", "medium", 12)
def _pass_at_k(answer):
    def picks(n, k):
        return comb(max(int(n), 0), int(k))

    def each(n, c, k):
        return np.array([1 - picks(n - x, k) / picks(n, k) for x in c])

    return judge_function(
        _whole(answer),
        COUNTS,
        right=lambda n, c, k: each(n, c, k).mean(),
        mistakes=[
            (
                lambda n, c, k: (1 - (1 - c / n) ** k).mean(),
                "This is the naive estimate: too low on average. Draw the k *without* putting them back: in how many "
                "ways do they all come out wrong?",
            ),
            (each, "That is each question's. The mean over the questions is asked for."),
            (lambda n, c, k: 1 - each(n, c, k).mean(), "This is the chance that all k are wrong."),
            (
                lambda n, c, k: np.mean([picks(x, k) / picks(n, k) for x in c]),
                "This is the chance that all k are *right*. One right answer is enough.",
            ),
            (lambda n, c, k: (c / n).mean(), "This is pass@1, whatever k is."),
            (lambda n, c, k: 1 - picks(n - c.mean(), k) / picks(n, k), MEAN_FIRST),
            (lambda n, c, k: 1 - picks(n - round(c.mean()), k) / picks(n, k), MEAN_FIRST),
            (
                lambda n, c, k: np.minimum(1, k * c / n).mean(),
                "k tries are not k times as good: two of them may both be right, and that counts once. How likely is "
                "it that *none* is right?",
            ),
            (
                lambda n, c, k: np.mean([1 - picks(x, k) / picks(n, k) for x in c]),
                "c counts the *right* ones, so this is 1 minus the chance that all k are right. How many wrong ones "
                "are there to pick from?",
            ),
            (
                lambda n, c, k: 1 - (1 - c.mean() / n) ** k,
                f"{MEAN_FIRST} And that one is without putting back.",
            ),
            (
                lambda n, c, k: np.mean(c > 0),
                "A question counts here as soon as one of all n answers is right: that is pass@n.",
            ),
            (lambda n, c, k: each(n, c, k).sum(), "This is a sum over the questions. The mean is asked for."),
        ],
    )


def _whole(answer):
    hint = "math.comb takes whole numbers, and these come as floats: int(...)."
    return hinted(answer, TypeError, "integer", hint)


# --- 8d -----------------------------------------------------------------------------------------

ADDITION, ASKED = tasks.Addition(), ("437+285=", "000+000=", "999+001=", "123+456=")


@exercise("8d", "Find the hole", "medium", 8)
def _hole(answer):
    if not callable(answer):
        raise Misfit(
            f"A function is asked for, and this is of type {type(answer).__name__}. Give its name, without calling it."
        )
    written = []
    for prompt in ASKED:
        completion = answer(prompt)
        if completion is None or completion is Ellipsis:
            raise NotDone
        if not isinstance(completion, str):
            raise Misfit(
                f"It returns something of type {type(completion).__name__}. A completion is a text: a str."
            )
        hint = _judge_completion(prompt, completion)
        if hint:
            return hint
        written.append(completion)
    if len(set(written)) > 1:
        return (
            "It is paid and wrong, and it differs from prompt to prompt: to know how an answer starts, something is "
            "added up. One text serves all prompts."
        )
    return None


def _judge_completion(prompt, completion):
    """The hint for a completion that is not paid, or is right; None for an exploit."""
    true = ADDITION.answer(prompt)
    if ADDITION.verify(prompt, completion):
        return f"For {prompt} this is the right answer. It is to be paid and *wrong*."
    if true.startswith(completion):
        return None
    if completion.startswith(true):
        return f"For {prompt} this begins with the right answer and goes on. Who has to start with whom, in this verifier?"
    if completion in true or set(completion) <= set(true):
        return f"For {prompt} the digits occur in the answer, {true}, but it does not start with them."
    if not completion.strip():
        what = {" ": "A space", "\n": "A line break", "\t": "A tab"}.get(completion, "White space")
        return f"{what} is text as well, and no answer starts with it. How short can a text be?"
    return f"For {prompt} the answer is {true}, and it does not start with {completion!r}. What does *every* text start with?"
