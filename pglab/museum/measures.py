"""Measures that are wrong: divergences, rates of success, verifiers, sums of parts."""

import math
import re

import numpy as np
import torch

from pglab import bandit, diagnostics, kl, losses, tasks
from pglab.museum.exhibit import Exhibit
from pglab.museum.weights import LOGITS

REFERENCE = (0.1, 0.3, -0.4, 0.6)
TRL = "https://github.com/huggingface/trl/"


# ---- The broken ones, and how the rooms of pglab do it


def turned_round(logprobs, ref_logprobs):
    difference = logprobs - ref_logprobs
    return -difference, np.expm1(difference) - difference


def policy_first(logprobs, ref_logprobs):
    return [kl.estimate(logprobs, ref_logprobs, kind) for kind in ("k1", "k3")]


def slope_of_k3(logprobs, ref_logprobs):
    difference = ref_logprobs - logprobs
    return torch.expm1(difference) - difference


def slope_of_k2(logprobs, ref_logprobs):
    return kl.estimate(logprobs, ref_logprobs, "k2")


def more_than_drawn(n, c, k):
    if n - c < k:
        return 1.0
    return 1.0 - math.comb(n - c, k) / math.comb(n, k)


def with_replacement(n, c, k):
    return 1.0 - (1 - c / n) ** k


def any_of_them(n, c, k):
    return diagnostics.pass_at_k(n, c, k)


def set_and_whole(numbers, target, text):
    left, sign, right = re.fullmatch(r"(\d+)([-+*/])(\d+)", text).groups()
    left, right = int(left), int(right)
    value = {"+": left + right, "-": left - right, "*": left * right, "/": left / right}[sign]
    return {left, right} == set(numbers) and int(value) == target


def multiset_and_exact(numbers, target, text):
    return tasks.check_expression(text, numbers, target)


def flag_of_the_batch(rewards):
    deviation = np.broadcast_to(rewards.std(), rewards.shape[:1])  # the one that scales the advantages
    return (deviation == 0).mean()


def flag_of_groups(rewards):
    return diagnostics.zero_std_fraction(rewards)


def mean_of_means(parts):
    return np.mean([np.mean(part) for part in parts])


def whole_window(parts):
    tokens = sum(len(part) for part in parts)
    return sum(losses.aggregate([part], [[True] * len(part)], "token_mean", norm=tokens) for part in parts)


def everybody_divides(rows, lengths, informative):
    return [each / sum(lengths) for each in rows]


def informative_divide(rows, lengths, informative):
    mask = np.arange(max(lengths)) < np.array(lengths)[:, None]
    mask = mask & np.array(informative)[:, None]
    norm = int(mask.sum())
    return [float(losses.aggregate([[each]], [[True]], "token_mean", norm=norm)) for each in rows]


def nobody_counts(processes, batch, accumulation, group):
    return (processes * batch) % group == 0


def everybody_counts(processes, batch, accumulation, group):
    return (processes * batch * accumulation) % group == 0


# ---- The oracle tests


def on_the_running_example(estimates):
    new, ref = bandit.log_softmax(LOGITS), bandit.log_softmax(REFERENCE)
    return [float(np.exp(new) @ each) for each in estimates(new, ref)]


def expected_slope(term):
    """The mean slope with respect to two logits, p = (3/4, 1/4), against a coin."""
    logits = torch.tensor([math.log(3.0), 0.0], dtype=torch.float64, requires_grad=True)
    new = logits.log_softmax(-1)
    ref = torch.full_like(new, 0.5).log().detach()
    (new.exp().detach() * term(new, ref)).sum().backward()
    return logits.grad


def of_too_few(rate):
    """0 for a refusal."""
    try:
        return rate(2, 0, 5)
    except ValueError:
        return 0.0


def of_all_four(rate):
    return rate(4, 1, 4)


def of_three_answers(verify):
    asked = (([1, 81, 1, 1], 81, "81*1"), ([7, 2], 3, "7/2"), ([3, 4], 12, "3*4"))
    return [verify(*each) for each in asked]


def of_one_flat_group(fraction):
    return fraction(np.array([[1.0, 1.0], [0.0, 1.0]]))


def of_two_parts(total):
    return total([[4.0], [1.0, 1.0, 1.0]])


def beside_a_flat_group(weights):
    return weights([1.0, 1.0, 0.0, 0.0], [2, 2, 8, 8], [True, True, False, False])[0]


def of_sixteen(accepts):
    return [accepts(1, 8, 2, 16), accepts(1, 8, 1, 16)]


LOG3 = math.log(3.0)
MEASURES = (
    Exhibit(
        "turned_round",
        "The KL is negative, or larger than it should be",
        "kl", "estimates(logprobs, ref_logprobs) of samples from the policy -> k1, k3: unbiased for KL(policy || reference).",
        turned_round, policy_first, on_the_running_example, (0.38063294254477, 0.38063294254477), (-0.38063294254477, 0.66939884518222),
        "On four actions the expectation of both can be enumerated: what should they have in common?",
        "k1 = log pi - log ref; k3 = exp(log ref - log pi) - 1 - (log ref - log pi).",
        "k1 on the panel is below 0; k3 has spikes, where a sample is much likelier than under the reference.",
        ("https://github.com/natolambert/rlhf-book/issues/489",),
    ),
    Exhibit(
        "slope_of_k3",
        "A KL in the loss pulls towards another divergence",
        "kl", "term(logprobs, ref_logprobs) of samples from the policy -> a term whose mean slope is that of "
        "KL(policy || reference).",
        slope_of_k3, slope_of_k2, expected_slope, (0.1875 * LOG3, -0.1875 * LOG3), (0.25, -0.25),
        "p = (3/4, 1/4) against a coin: enumerate the mean *slope*. The probabilities are weights: detach them.",
        "k2 in the loss, or k3 times the ratio, or k1 in the reward. (k3's slope is that of KL(reference || policy).)",
        "The KL that is reported is right. The policy spreads out more than the objective asks for.",
        ("https://github.com/NVIDIA-NeMo/RL/pull/2506", TRL + "issues/4967"),
    ),
    Exhibit(
        "mean_of_means",
        "The update depends on how the batch was cut",
        "parts", "total(parts): lists of token losses, one list for each micro-batch -> the mean over the tokens of all.",
        mean_of_means, whole_window, of_two_parts, (1.75,), (2.5,),
        "Parts of different sizes.",
        "Divide each part's sum by the tokens of the whole window.",
        "The gradient norm changes with the size of the micro-batch; short parts count too much.",
        ("https://github.com/verl-project/verl/pull/906", TRL + "issues/3021",
         "https://github.com/allenai/open-instruct/pull/1137"),
    ),
    Exhibit(
        "everybody_divides",
        "Groups that teach nothing make everybody's step smaller",
        "parts", "weights(rows, lengths, informative): a token's loss in each row, tokens of each row, whether its "
        "group's rewards differ -> share of the mean over the tokens of informative rows.",
        everybody_divides, informative_divide, beside_a_flat_group, (0.25,), (0.05,),
        "A flat group with long answers beside one that teaches.",
        "Decide, and write it down: if flat groups are left out, also of the denominator.",
        "The gradient norm falls as the share of flat groups rises.",
        (TRL + "pull/6365",),
    ),
    Exhibit(
        "nobody_counts",
        "A group is torn apart between two updates",
        "parts", "accepts(processes, batch, accumulation, group) -> whether a generation batch holds whole groups.",
        nobody_counts, everybody_counts, of_sixteen, (1, 0), (0, 0),
        "A batch of 8, accumulated twice, for groups of 16.",
        "Processes times batch times accumulation must be divisible by the group's size.",
        "A setting that should work is refused, or the batch is changed without a word.",
        ("https://github.com/unslothai/unsloth/issues/3149",),
    ),
    Exhibit(
        "flag_of_the_batch",
        "The panel says that no group is flat",
        "measures", "fraction(rewards): (P, G) -> share of groups whose rewards are all equal.",
        flag_of_the_batch, flag_of_groups, of_one_flat_group, (0.5,), (0.0,),
        "A flat group beside one that is not.",
        "max == min, group by group, whatever the advantages are scaled by.",
        "zero_std stays at 0 while the gradient fades away.",
        (TRL + "pull/7068",),
    ),
    Exhibit(
        "more_than_drawn",
        "pass@5 of two wrong answers is 1",
        "measures", "rate(n, c, k): n drawn, c right -> pass@k; refuses k > n, or gives 0 where none is right.",
        more_than_drawn, any_of_them, of_too_few, (0.0,), (1.0,),
        "Nothing right, and k larger than n.",
        "Check k <= n before the short cut for n - c < k.",
        "pass@k reaches 1 for the largest k, on hard questions too.",
        ("https://github.com/openai/human-eval/pull/68",),
    ),
    Exhibit(
        "with_replacement",
        "The best of all four is not always the best of all four",
        "measures", "rate(n, c, k): n drawn, c right -> chance that k of these n hold a right one.",
        with_replacement, any_of_them, of_all_four, (1.0,), (1 - 0.75**4,),
        "k = n, one right.",
        "Draw without replacement: 1 - C(n - c, k) / C(n, k).",
        "pass@k is too low throughout, most where k is near n.",
        ("https://github.com/verl-project/verl/pull/7240",),
    ),
    Exhibit(
        "set_and_whole",
        "Answers are paid that are wrong",
        "measures", "verify(numbers, target, text) -> whether the expression uses each number once and has this value.",
        set_and_whole, multiset_and_exact, of_three_answers, (0, 0, 1), (1, 1, 1),
        "Numbers that occur twice; a value that is no whole number.",
        "Compare multisets, and exact fractions.",
        "The reward climbs, and a second verifier does not agree.",
        ("https://github.com/open-thought/reasoning-gym/issues/478",
         "https://github.com/open-thought/reasoning-gym/pull/265"),
    ),
)  # fmt: skip
