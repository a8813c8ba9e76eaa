"""Notebook 04: length, rewards, gamma and goal in; bias and noise of six ways to credit a step out."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pglab import _checks, mdp, returns
from pglab.figures import COLOURS, NAMES, Axis, Bars, Line, Panel, Picture, Points, Rule, Text, atlas
from pglab.sliders.controls import Choice, Slider
from pglab.sliders.ends import end_for
from pglab.sliders.explorer import Explorer

WEIGHTS = ("return", "reward_to_go", "from_start", "baselined", "q", "advantage")
SHORT = dict(zip(WEIGHTS, ("return", "G", "gamma^t G", "G - V", "Q", "A"), strict=True))  # beside the slider
OUTCOMES = SUM, ALL = ("each right", "all right")
GOALS = DISCOUNTED, UNDISCOUNTED = ("discounted", "undiscounted")
LONGEST = 8
FINER = tuple(round(digit * 10.0**power, 6) for power in range(-4, 2) for digit in (1, 2, 3, 5, 7))
TINY = 1e-12  # less than this is what rounding leaves
FINEST = tuple(float(f"{digit}e{power}") for power in range(-11, -4) for digit in (1, 2, 5)) + FINER


class Credit(NamedTuple):
    """Everything that the picture shows, over all N = 2^T trajectories of T tokens."""

    actions: np.ndarray  # (N, T) 1 for a right token, 0 for a wrong one; the last token varies fastest
    rewards: np.ndarray  # (N, T)
    weights: dict  # name: (N, T)
    gradient: np.ndarray  # (T,) of the goal
    means: dict  # name: (T,)
    variances: dict  # name: trace of the covariance


def credit_lab(
    horizon=4, share=0.5, gamma=0.8, p=0.7, outcome=SUM, goal=DISCOUNTED, weight="reward_to_go", wrong=2
):  # fmt: skip
    """The explorer of credit: T tokens, each right with probability p, and when their reward comes.

    A right token is paid share / T at once. At the end 1 - share comes on top: times the share of
    right tokens, or only if all are right. Each token has a logit of its own.

    Args:
      horizon: where the number of tokens T starts, from 2 to 8.
      share: where the share paid at once starts, from 0 to 1.
      gamma: where the discount starts, from 0 to 1.
      p: where the probability of a right token starts, from 0.05 to 0.95.
      outcome: what the end pays for, one of ``OUTCOMES``.
      goal: whose gradient is wanted, one of ``GOALS``.
      weight: the weight that is shown step by step, one of ``WEIGHTS``.
      wrong: which token of the trajectory that is shown is wrong, from 0 (none) to 8.

    Returns:
      Explorer.

    Raises:
      ValueError: a start outside the sliders' ends, an unknown weight, outcome or goal.
    """
    _checks.one_of("weight", weight, WEIGHTS)
    by_words = {words: name for name, words in SHORT.items()}
    controls = [
        Slider("horizon", "tokens T", horizon, 2, LONGEST, 1, group="the task"),
        Slider("p", "chance right", p, 0.05, 0.95, 0.05, group="the task"),
        Choice("outcome", "reward for", outcome, OUTCOMES, group="the task"),
        Slider("share", "paid at once", share, 0, 1, 0.05, group="the task"),
        Slider("gamma", "gamma", gamma, 0, 1, 0.05, group="the estimate"),
        Choice("goal", "goal", goal, GOALS, group="the estimate"),
        Choice("weight", "weight", SHORT[weight], tuple(by_words), group="the estimate"),
        Slider("wrong", "wrong token", wrong, 0, LONGEST, 1, group="the trajectory shown (0: none)"),
    ]

    def picture_at(horizon, p, outcome, share, gamma, goal, weight, wrong):
        return picture(int(horizon), share, gamma, p, outcome, goal, by_words[weight], int(wrong))

    return Explorer(controls, picture_at)


@lru_cache(maxsize=64)
def credit(horizon, share, gamma, p, outcome=SUM, goal=DISCOUNTED):
    """Six weights, and the exact mean and variance of the estimate that each of them makes.

        g_hat = sum_t w_t (a_t - p) e_t,     p = sigmoid(theta_t)

    Args:
      horizon, share, gamma, p, outcome, goal: as in ``credit_lab``.

    Returns:
      Credit.

    Raises:
      ValueError: a number outside the sliders' ends, an unknown outcome or goal.

    Source: the weights: Schulman et al. 2016 (GAE), section 2, and Sutton and Barto, section 13.3.
    """
    _checks.one_of("outcome", outcome, OUTCOMES)
    _checks.one_of("goal", goal, GOALS)
    share, gamma = _checks.number("share", share, 0, 1), _checks.number("gamma", gamma, 0, 1)
    p = _checks.number("p", p, 0.05, 0.95)
    actions, rewards = _rewards(horizon, share, outcome)
    chance = np.where(actions == 1, p, 1 - p).prod(axis=1)
    scores = actions - p
    weights = _weights(rewards, gamma, p)
    wanted = weights["return"] if goal == DISCOUNTED else rewards.sum(axis=1, keepdims=True)
    means, variances = {}, {}
    for name, weight in weights.items():
        estimate = weight * scores
        means[name] = chance @ estimate
        variances[name] = float(chance @ ((estimate - means[name]) ** 2).sum(axis=1))
    return Credit(actions, rewards, weights, chance @ (wanted * scores), means, variances)


def _rewards(horizon, share, outcome):
    """(N, T) actions and rewards of every trajectory."""
    horizon = _checks.whole("horizon", horizon, low=2)
    if horizon > LONGEST:
        raise ValueError(f"horizon is {horizon}; it must be at most {LONGEST}.")
    actions = mdp.token_sequences(horizon)
    rewards = actions * share / horizon
    rewards[:, -1] += (1 - share) * (actions.mean(axis=1) if outcome == SUM else actions.prod(axis=1))
    return actions, rewards


def _weights(rewards, gamma, p):
    """{name: (N, T)}; Q and V average what is still open, the last token first."""
    count, horizon = rewards.shape
    to_go = returns.reward_to_go(rewards, gamma)
    q, v = np.empty_like(to_go), np.empty_like(to_go)
    for t in range(horizon):
        known = to_go[:, t]
        for _ in range(horizon - 1 - t):
            known = _fold(known, p)
        q[:, t] = np.repeat(known, count // known.size)
        v[:, t] = np.repeat(_fold(known, p), 2 * count // known.size)
    total = np.repeat(returns.discounted_return(rewards, gamma)[:, None], horizon, axis=1)
    return {
        "return": total,
        "reward_to_go": to_go,
        "from_start": to_go * gamma ** np.arange(horizon),
        "baselined": to_go - v,
        "q": q,
        "advantage": q - v,
    }


def _fold(numbers, p):
    """The mean over the last token: pairs (wrong, right) become one number each."""
    return (1 - p) * numbers[0::2] + p * numbers[1::2]


def picture(horizon, share, gamma, p, outcome=SUM, goal=DISCOUNTED, weight="reward_to_go", wrong=2):
    """Gradient and mean of one weight, its credit in one trajectory, and all six weights compared.

    Tokens are counted from 1 here: token 1 is step 0.

    Args:
      as ``credit_lab``; a ``wrong`` beyond the horizon means that no token is wrong.

    Returns:
      Picture of three panels with a caption.

    Raises:
      ValueError: as ``credit``; an unknown weight; a ``wrong`` that is not whole, or negative.
    """
    _checks.one_of("weight", weight, WEIGHTS)
    all_of_it = credit(horizon, share, gamma, p, outcome, goal)
    panels = (
        _mean_panel(all_of_it, weight, goal),
        _trajectory_panel(all_of_it, weight, _checks.whole("wrong", wrong, low=0)),
        _atlas_panel(all_of_it),
    )
    title = f"Credit for {horizon} tokens, weight {NAMES[weight]}, {goal} goal"
    return Picture(panels, title, _caption(all_of_it, weight, goal), columns=3)


def _steps(horizon):
    return Axis("token (1 is step 0)", 0.4, horizon + 0.6, tuple((t, str(t)) for t in range(1, horizon + 1)))


def _ends(numbers):
    """Low and high end of the vertical axis; room for two lines of words at the top."""
    low = -end_for(-numbers.min(), FINEST, full=0.9) if numbers.min() < -TINY else 0.0
    return low, end_for(numbers.max(), FINEST, full=0.75) if numbers.max() > TINY else -low or 1.0


def _mean_panel(all_of_it, weight, goal):
    gradient, mean = all_of_it.gradient, all_of_it.means[weight]
    x = np.arange(1, gradient.size + 1)
    every = np.array([gradient, *all_of_it.means.values()])  # so that the axis stays while the weight changes
    marks = [
        Bars(x - 0.2, gradient, colour=COLOURS["exact"], width=0.36),
        Bars(x + 0.2, mean, colour=COLOURS[weight], width=0.36),
    ]
    low, high = _ends(every)
    marks += [
        Text(0.55, high - 0.07 * (high - low), f"gradient, {goal}", COLOURS["exact"], "start"),
        Text(0.55, high - 0.15 * (high - low), "mean estimate", COLOURS[weight], "start"),
    ]
    return Panel("Is it right on average?", marks, _steps(x.size), Axis("", low, high), width=330, height=290)


def _trajectory_panel(all_of_it, weight, wrong):
    """Bars: what each step earned. Dots: the weight it gets."""
    actions = all_of_it.actions
    horizon = actions.shape[1]
    shown = np.ones(horizon)
    if 1 <= wrong <= horizon:
        shown[wrong - 1] = 0.0
    row = int(np.flatnonzero((actions == shown).all(axis=1))[0])
    x, colour = np.arange(1, horizon + 1), COLOURS[weight]
    rewards, credited = all_of_it.rewards[row], all_of_it.weights[weight][row]
    every = np.array([rewards, *(each[row] for each in all_of_it.weights.values())])
    low, high = _ends(every)
    words = tuple((t, f"{t}" if right else f"{t} wrong") for t, right in zip(x, shown, strict=True))
    none = "no token is wrong" if wrong == 0 else f"no wrong token: T = {horizon}" if wrong > horizon else ""
    marks = [
        Bars(x, rewards, colour=COLOURS["before"], width=0.5),
        Line(x, credited, colour=colour, width=1.2),
        Points(x, credited, colour=colour, radius=4.5),
        Rule(0.0),
        Text(0.55, high - 0.07 * (high - low), "weight: " + NAMES[weight], colour, "start"),
        Text(0.55, high - 0.15 * (high - low), "earned at the step", COLOURS["before"], "start"),
    ]
    axis = Axis("token (1 is step 0)" + f"; {none}" * bool(none), 0.4, horizon + 0.6, words)
    return Panel("What does a step get?", marks, axis, Axis("", low, high), width=330, height=290)


def _atlas_panel(all_of_it):
    places = _places(all_of_it)
    biases, variances = np.array(list(places.values())).T
    up = end_for(variances.max(), FINEST)
    right = max(end_for(biases.max(), FINEST, full=0.6), up / 40)
    return atlas(_joined(places, right, up), "All six weights", (right, up), width=430, height=290)


def _places(all_of_it):
    """{name: (squared bias, variance)}; what is rounding noise is 0."""
    places = {}
    for name, mean in all_of_it.means.items():
        off = mean - all_of_it.gradient
        places[name] = (
            float(off @ off) if np.abs(off).max() > TINY else 0.0,
            all_of_it.variances[name],
        )
    return places


def _joined(places, right, up):
    """Weights whose dots fall on one another share one, with all their words."""
    joined = {}
    for name, place in places.items():
        twin = next((n for n, (there, _) in joined.items() if _apart(place, there, right, up) < 0.01), None)
        if twin is None:
            joined[name] = (place, [name])
        else:
            joined[twin][1].append(name)
    return {
        (names[0] if len(names) == 1 else ", ".join(NAMES[name] for name in names)): place
        for place, names in joined.values()
    }


def _apart(one, other, right, up):
    """The distance of two dots, as a share of the axes."""
    return max(abs(one[0] - other[0]) / right, abs(one[1] - other[1]) / up)


def _words(number):
    """Four decimals, and scientific digits for what they would not show."""
    return "0" if number == 0 else f"{number:.4f}" if number >= 5e-4 else f"{number:.1e}"


def _caption(all_of_it, weight, goal):
    """Three lines, always, so that the picture keeps its height."""
    places = _places(all_of_it)
    bias, variance = places[weight]
    length = np.linalg.norm(all_of_it.gradient)
    words = (
        "unbiased"
        if bias == 0
        else f"bias of length {_words(np.sqrt(bias))} (the gradient: {_words(length)})"
    )
    name = f"{NAMES[weight]} ({SHORT[weight]})" if "G" in SHORT[weight] else NAMES[weight]
    unbiased = [NAMES[each] for each, (off, _) in places.items() if off == 0]
    least = min(noise for _, noise in places.values())
    quietest = ", ".join(NAMES[each] for each, (_, noise) in places.items() if noise - least <= 1e-9 * least)
    return (
        f"Weight: {name}; {goal} goal: {words}; variance {_words(variance)}.\n"
        f"Unbiased: {', '.join(unbiased) or 'none'}.\n"
        f"Quietest: {quietest} ({_words(least)})."
    )
