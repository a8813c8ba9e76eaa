"""Exercises of notebook 03, baselines."""

import numpy as np

from pglab import advantages, bandit
from pglab.exercises.checking import NotDone, exercise, judge_function

GROUPS = [
    (np.array([1.0, 0.0, 0.0, 1.0]),),
    (np.array([3.0, 1.0]),),
    (np.array([0.5, -1.0, 2.0]),),
]


@exercise("3a", "Leave one out", "easy", 8)
def _leave_one_out(answer):
    return judge_function(
        answer,
        GROUPS,
        right=advantages.leave_one_out,
        mistakes=[
            (
                lambda r: r - r.mean(),
                "The own reward is still in the mean: this is the batch mean, which shrinks the gradient to (G-1)/G. "
                "Take it out of the sum before you divide.",
            ),
            (
                lambda r: r - (r.sum() - r) / r.size,
                "The sum leaves the own reward out, but it is divided by G. How many others are there?",
            ),
            (
                lambda r: r - (r.sum() - r),
                "This subtracts the sum of the others. The baseline is their mean.",
            ),
            (
                lambda r: (r.sum() - r) / (r.size - 1),
                "This is the baseline alone. The weight is the own reward minus it.",
            ),
            (
                lambda r: -advantages.leave_one_out(r),
                "The sign is turned round: a reward above that of the others should give a positive weight.",
            ),
            (
                lambda r: (r - r.mean()) * (r.size - 1) / r.size,
                "The factor is upside down: the batch mean is too small already, and G/(G-1) repairs it.",
            ),
            (
                lambda r: r,
                "Nothing is subtracted yet. The baseline is the mean of the other rewards.",
            ),
            *(
                (wrong, "This divides by the standard deviation, as GRPO does. Leave-one-out only subtracts.")
                for wrong in (
                    advantages.grpo,
                    lambda r: advantages.grpo(r, eps=0),
                    lambda r: advantages.grpo(r, eps=0, ddof=0),
                )
            ),
            (
                lambda r: r - r.sum() / (r.size - 1),
                "The sum is divided by G - 1, but it still holds the own reward.",
            ),
        ],
    )


THOUGHTS = {
    "none": "A baseline of 0 should be close to the best one for both prompts. For two answers, right with "
    "probability q, the best is 1 - q: what does that say about q?",
    "constant": "The value of each prompt should lie on the wrong side: for two answers the best baseline is 1 - q, "
    "not q. One prompt that is rarely right and one that is often right turn everything round.",
    "value": "The value is the best baseline where all scores have the same length. How likely must the answers be, "
    "compared with one another? Then let the two prompts have different values.",
}


def average_variances(prompts):
    """Average trace over the prompts: without a baseline, with the mean of the values, with each value."""
    values = [bandit.expected_reward(z, r) for z, r in prompts]
    baselines = {
        "none": [0.0] * len(prompts),
        "constant": [np.mean(values)] * len(prompts),
        "value": values,
    }
    return {
        name: np.mean(
            [bandit.covariance_trace(z, np.asarray(r) - b) for (z, r), b in zip(prompts, bs, strict=True)]
        )
        for name, bs in baselines.items()
    }


@exercise("3b", "Nothing, one constant, or the value of each", "medium", 15)
def _three_verdicts(answer):
    if not isinstance(answer, dict) or set(answer) != set(THOUGHTS):
        return "Give a dictionary with the three entries 'none', 'constant' and 'value'."
    if any(pair is None or pair is Ellipsis for pair in answer.values()):
        raise NotDone
    for verdict, pair in answer.items():
        if hint := _wrong_pair(verdict, pair):
            return f"{verdict!r}: {hint}"
    return None


def _wrong_pair(verdict, pair):
    try:
        prompts = [(np.asarray(z, dtype=float), np.asarray(r, dtype=float)) for z, r in pair]
    except (TypeError, ValueError):
        return "give two prompts, [(logits, rewards), (logits, rewards)]."
    if len(prompts) != 2:
        return f"give two prompts; here the number of prompts is {len(prompts)}."
    if not all(z.ndim == 1 and 2 <= z.size <= 6 and z.shape == r.shape for z, r in prompts):
        return "each prompt needs two to six answers, and as many rewards as logits."
    if not all(np.isfinite(z).all() and np.isfinite(r).all() for z, r in prompts):
        return "logits and rewards must be finite numbers."
    if any((z > 0).all() and abs(z.sum() - 1) < 1e-9 for z, _ in prompts):
        return "these logits look like probabilities. Give their logarithms: np.log([0.9, 0.1])."
    found = average_variances(prompts)
    ranking = sorted(found, key=found.get)
    least, second = (found[name] for name in ranking[:2])
    if max(found.values()) < 1e-9:
        return "there is hardly any noise at all here. Make every answer possible, and let the rewards differ by 1 or so."
    if second - least <= 1e-9 * max(1.0, second):
        equal = (
            " Two prompts with the same value have it as their mean, too."
            if {ranking[0], ranking[1]} == {"constant", "value"}
            else ""
        )
        return f"there is no single winner here: {ranking[0]} and {ranking[1]} give the same variance.{equal} {THOUGHTS[verdict]}"
    if ranking[0] != verdict:
        numbers = ", ".join(f"{name} {found[name]:.4g}" for name in THOUGHTS)
        return f"the least variance here is that of {ranking[0]} ({numbers}). {THOUGHTS[verdict]}"
    return None


def _parts(logits, rewards, baseline_of):
    """One number from each prompt, as a list: logits and rewards hold a prompt in each row."""
    return [baseline_of(z, r) for z, r in zip(logits, rewards, strict=True)]


def _length2(z):
    """Squared length of the score of each answer."""
    return (bandit.score_matrix(z) ** 2).sum(axis=1)


def _mass(z):
    """Probability times squared length of the score, of each answer."""
    return bandit.softmax(z) * _length2(z)


def _ratio(logits, rewards, mass):
    """Rewards averaged over all prompts, each answer counted with its mass."""
    above, below = (
        _parts(logits, rewards, of) for of in (lambda z, r: mass(z) @ r, lambda z, r: mass(z).sum())
    )
    return np.sum(above) / np.sum(below)


def _best_constant(logits, rewards):
    return _ratio(logits, rewards, _mass)


PROMPTS = [
    (np.array([[0.4, -0.2, 1.1, 0.0], [2.0, 0.0, 0.0, -1.0]]), np.array([[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 3.0, 1.0]])),
    (np.array([[0.0, 1.0], [2.0, -1.0], [0.5, 0.0]]), np.array([[1.0, 0.0], [1.0, 0.0], [-1.0, 2.0]])),
]  # fmt: skip


@exercise("3c", "One constant for many prompts", "hard", 15)
def _many_prompts(answer):
    return judge_function(
        answer,
        PROMPTS,
        right=_best_constant,
        mistakes=[
            (
                lambda z, r: np.mean(_parts(z, r, bandit.optimal_baseline)),
                "This averages the best constant of each prompt. A prompt whose scores are short hardly cares about its "
                "baseline, and should count for less: average above and below the fraction line apart.",
            ),
            (
                lambda z, r: np.mean(r),
                "Every answer counts the same here. Weight it with its probability and its squared score.",
            ),
            (
                lambda z, r: _ratio(z, r, lambda z: bandit.softmax(z) * _length2(z) ** 0.5),
                "The score's length is not squared. The variance is a mean of *squared* distances.",
            ),
            (
                lambda z, r: bandit.optimal_baseline(z.ravel(), r.ravel()),
                "This makes one big prompt of all of them, with one softmax. Each prompt has a softmax of its own.",
            ),
            (
                lambda z, r: _ratio(z, r, bandit.softmax),
                "This is the average reward. It makes the weights average to 0, not the variance least: "
                "where is the squared length of the score?",
            ),
            (
                lambda z, r: np.mean(_parts(z, r, lambda z, r: _mass(z) @ r)),
                "This is the part above the fraction line. Divide it by the average of the squared lengths.",
            ),
            (
                lambda z, r: np.sum(_parts(z, r, bandit.optimal_baseline)),
                "This adds up the best constants of the prompts. One number has to serve all of them at once.",
            ),
            (
                lambda z, r: _ratio(z, r, _length2),
                "The probabilities are missing: an expectation weights each answer with how often it is given.",
            ),
            (
                lambda z, r: np.array(_parts(z, r, bandit.optimal_baseline)),
                "This is one constant for each prompt. One number for all of them is asked for.",
            ),
        ],
    )
