"""Weights that are wrong: what multiplies the score of a completion."""

import math

import numpy as np

from pglab import advantages, bandit
from pglab.museum.exhibit import Exhibit

CENTRED = "weights(rewards): (P, G), a group in each row -> (P, G): each reward less the mean of its group"
LOGITS, REWARDS = (0.4, -0.2, 1.1, 0.0), (1.0, 0.0, 0.0, 1.0)  # the running example


# ---- The broken ones, and how the rooms of pglab do it


def missing_brackets(rewards):
    mean = rewards.mean(1, keepdims=True)
    std = rewards.std(1, ddof=1, keepdims=True)
    return rewards - mean / (std + 1e-4)


def comparison(group):
    if std := np.std(group) > 0:
        return (group - np.mean(group)) / std
    return group - np.mean(group)


def spread_of_population(group):
    return advantages.grpo(group, eps=0, ddof=0)


def batch_statistics(rewards):
    return rewards - rewards.mean()


def variance_floor(rewards):
    centred = rewards - rewards.mean(1, keepdims=True)
    variance = rewards.var(1, ddof=1, keepdims=True)
    return centred / (np.sqrt(np.maximum(variance, 1e-6)) + 1e-6)


def spread_and_eps(rewards):
    return advantages.grpo(rewards, eps=1e-6)


def nothing_is_zero(rewards, scored):
    rewards = np.where(scored, rewards, 0.0)
    return rewards - rewards.mean(1, keepdims=True)


def only_scored(rewards, scored):
    return advantages.batch_mean(rewards, mask=scored)


def spread_of_others(rewards):
    group = rewards.shape[1]
    weights = np.empty_like(rewards)
    for i in range(group):
        others = np.delete(rewards, i, axis=1)
        weights[:, i] = (rewards[:, i] - others.mean(1)) / (others.std(1, ddof=1) + 1e-6)
    return weights


def lonely(rewards):
    group = rewards.shape[1]
    others = (rewards.sum(1, keepdims=True) - rewards) / max(group - 1, 1)
    return rewards - others


def sees_the_action(rewards, probabilities):
    baseline = 0.5 * rewards + 0.5 * (probabilities @ rewards)  # half of what it will be told
    return rewards - baseline


def sees_the_state(rewards, probabilities):
    return rewards - probabilities @ rewards


# ---- The oracle tests


def of_four(weights):
    return weights(np.array([[4.0, 0.0, 0.0, 0.0]]))


def of_one_group_of_four(weights):
    return weights(np.array([4.0, 0.0, 0.0, 0.0]))


def of_two_prompts(weights):
    return weights(np.array([[1.0, 0.0], [9.0, 8.0]]))


def of_close_rewards(weights):
    return weights(np.array([[0.5004, 0.5]]))


def with_one_unscored(weights):
    scored = np.array([[True, False, True, True]])
    return weights(np.array([[1.0, math.nan, 1.0, 0.0]]), scored)


def of_a_single_success(weights):
    return weights(np.array([[1.0, 0.0, 0.0, 0.0]]))


def of_one(weights):
    """0 for a refusal: nothing is learned from such a group."""
    try:
        return weights(np.array([[3.0]]))
    except ValueError:
        return 0.0


def on_the_running_example(weights):
    logits, rewards = np.array(LOGITS), np.array(REWARDS)
    return bandit.exact_gradient(logits, weights(rewards, bandit.softmax(logits)))


GRADIENT = (0.1430217095705, -0.0511623152523, -0.1877297132224, 0.0958703189042)
SMALL = 0.0002 / (0.0004 / math.sqrt(2) + 1e-6)  # half the distance over the sample deviation and eps
ROOT = 1 / math.sqrt(3)

WEIGHTS = (
    Exhibit(
        "missing_brackets",
        "Every weight of a good group is positive, also those of its wrong answers",
        "weights", CENTRED + ", in sample standard deviations plus 1e-4.",
        missing_brackets, advantages.grpo, of_four,
        (3 / 2.0001, *(-1 / 2.0001,) * 3), (4 - 1 / 2.0001, *(-1 / 2.0001,) * 3),
        "A group whose mean is not 0: do its weights add up to 0?",
        "(r - mean) / std: a pair of brackets.",
        "Mean advantage far from 0, and it rises with the mean reward.",
        ("https://github.com/Omegastick/pytorch-cpp-rl/issues/14",),
    ),
    Exhibit(
        "comparison",
        "The deviation is always 1",
        "weights", "weights(group): (G,) -> (G,): less the mean, in standard deviations (population) if that is not 0.",
        comparison, spread_of_population, of_one_group_of_four,
        (math.sqrt(3), -ROOT, -ROOT, -ROOT), (3, -1, -1, -1),
        "Rewards from 0 to 4: what is the deviation of the weights?",
        "`if (std := np.std(group)) > 0`: without brackets the name is bound to the comparison, True, which is 1.",
        "The standard deviation of the advantages follows the scale of the rewards.",
        ("https://github.com/Open-Reasoner-Zero/Open-Reasoner-Zero/issues/75",),
    ),
    Exhibit(
        "batch_statistics",
        "Answers to hard questions are all punished, answers to easy ones all praised",
        "weights", CENTRED + ".", batch_statistics, advantages.batch_mean, of_two_prompts,
        (0.5, -0.5, 0.5, -0.5), (-3.5, -4.5, 4.5, 3.5),
        "Two prompts, one paid about 0 and one paid about 9.",
        "One mean for each prompt.",
        "No group has advantages that add up to 0; groups with equal rewards still have a gradient.",
        ("https://github.com/yifan123/flow_grpo/issues/46", "https://github.com/XU-YIJIE/grpo-flat/issues/2"),
    ),
    Exhibit(
        "variance_floor",
        "Close rewards count for less than they should",
        "weights", CENTRED + ", in sample standard deviations plus 1e-6.",
        variance_floor, spread_and_eps, of_close_rewards, (SMALL, -SMALL), (0.0002 / 0.001001, -0.0002 / 0.001001),
        "Two rewards that differ by less than a thousandth.",
        "std = sqrt(variance), and eps is added once, to std.",
        "Standard deviation of the advantages below 1 in groups that agree almost.",
        ("https://github.com/verl-project/verl/pull/3635",),
    ),
    Exhibit(
        "nothing_is_zero",
        "A crash of the verifier counts as a wrong answer",
        "weights", "weights(rewards, scored): (P, G), booleans False where nobody could say -> less the mean of its "
        "group's scored ones; 0 where not scored.",
        nothing_is_zero, only_scored, with_one_unscored, (1 / 3, 0, 1 / 3, -2 / 3), (0.5, -0.5, 0.5, -0.5),
        "One answer of a group that could not be scored: what is its weight, and what is the mean of the others?",
        "Out of the mean, and weight 0.",
        "The mean reward dips whenever the verifier times out, and answers that were fine are pushed down.",
        ("https://github.com/huggingface/trl/pull/5902", "https://github.com/huggingface/trl/pull/6427"),
    ),
    Exhibit(
        "spread_of_others",
        "A weight of a million",
        "weights", "weights(rewards): (P, G) -> each less the mean of the others, in sample standard deviations of the "
        "others plus 1e-6; undivided where the others are all equal.",
        spread_of_others, advantages.leave_one_out_std, of_a_single_success,
        (1.0, *(-1 / 3 / (ROOT + 1e-6),) * 3), (1e6, *(-1 / 3 / (ROOT + 1e-6),) * 3),
        "A group with one right answer: how far do its others differ?",
        "Where the others agree their deviation says nothing: leave the difference as it is.",
        "Standard deviation of the advantages jumps by orders of magnitude when a group has a single success.",
        ("https://github.com/NVIDIA-NeMo/RL/issues/1518",),
    ),
    Exhibit(
        "lonely",
        "A group of one gets its whole reward as its advantage",
        "weights", "weights(rewards): (P, G) -> each less the mean of the others; refuses groups of one, or gives 0.",
        lonely, advantages.leave_one_out, of_one, (0.0,), (3.0,),
        "A group of one has no others.",
        "Raise, or give 0 and say so; two implementations of one estimator must agree.",
        "Advantage mean equals reward mean.",
        ("https://github.com/verl-project/verl/pull/7581", "https://github.com/thinking-machines-lab/tinker-cookbook/pull/99"),
    ),
    Exhibit(
        "sees_the_action",
        "The better the critic gets, the less is learned",
        "weights", "weights(rewards, probabilities): (A,), (A,) -> (A,) weights of the actions; the expected gradient "
        "is that of the expected reward.",
        sees_the_action, sees_the_state, on_the_running_example, GRADIENT, tuple(x / 2 for x in GRADIENT),
        "Enumerate: sum over actions of probability, weight and score.",
        "A baseline may know the state, never the action: the value *before* the token, not after it.",
        "The standard deviation of the advantages falls towards 0 while the reward is far from its best.",
        ("https://github.com/lucidrains/PaLM-rlhf-pytorch/issues/28",),
    ),
)  # fmt: skip
