"""Each exhibit's numbers once more: what is right and what the mistake gives, by loops, fractions, enumeration.

Nothing is shared with ``pglab``; the losses are those of ``museum_losses_by_hand``.
"""

import itertools
import math
from fractions import Fraction as F

from museum_losses_by_hand import (
    STEP,
    across,
    beside_nothing,
    budget_only,
    clipped_only,
    corners,
    everything_counts,
    floor_for_all,
    fresh_ratio,
    in_a_wide_batch,
    larger_of_two,
    low_cap,
    masked_beside_kept,
    objective,
    of_one,
    of_the_advantage,
    once_per_token,
    one_for_nothing,
    padded_mean,
    row_mean,
    square,
    summed_ratio,
    three_alike,
    token_mean,
    twice,
    two_lengths,
)

LOGITS, REWARDS, REFERENCE = (0.4, -0.2, 1.1, 0.0), (1, 0, 0, 1), (0.1, 0.3, -0.4, 0.6)


def pair(numbers, right, wrong):
    return numbers(right), numbers(wrong)


# ---- Weights and returns


def centred(group):
    return [x - F(sum(group), len(group)) for x in group]


def deviation(group, ddof):
    return math.sqrt(sum(x * x for x in centred(group)) / (len(group) - ddof))


def spread_of_others(floor):
    weights, group = [], (1, 0, 0, 0)
    for i in range(4):
        others = [x for j, x in enumerate(group) if j != i]
        spread = deviation(others, 1)
        difference = float(group[i] - F(sum(others), 3))
        weights.append(difference if spread == 0 and not floor else difference / (spread + 1e-6))
    return weights


def bandit_gradient(share):
    """By enumeration; ``share`` is how much of its own reward a weight keeps."""
    each = [math.exp(x) for x in LOGITS]
    p = [x / sum(each) for x in each]
    value = sum(x * r for x, r in zip(p, REWARDS, strict=True))
    return [
        sum(p[a] * share * (REWARDS[a] - value) * ((a == k) - p[k]) for a in range(4)) for k in range(4)
    ]  # fmt: skip


def to_go(rewards, gamma):
    return [sum(r * gamma**k for k, r in enumerate(rewards[t:])) for t in range(len(rewards))]


def gae(rewards, values, last, gamma, lam):
    """The sum over pairs of steps."""
    after = [*values[1:], last]
    errors = [r + gamma * n - v for r, n, v in zip(rewards, after, values, strict=True)]
    return to_go(errors, gamma * lam)


def two_step_gradient(power):
    """One logit of 0 for both steps: p = 1/2, so that the score of action a is a - 1/2."""
    total = F(0)
    for first, second in itertools.product((0, 1), repeat=2):
        rewards = (F(6, 10) * first, -F(second))
        weights = [x * F(1, 2) ** (power * t) for t, x in enumerate(to_go(rewards, F(1, 2)))]
        total += F(1, 4) * (weights[0] * (first - F(1, 2)) + weights[1] * (second - F(1, 2)))
    return [total]


# ---- Measures


def log_softmax(logits):
    total = math.log(sum(math.exp(x) for x in logits))
    return [x - total for x in logits]


def expected(estimate):
    new, ref = log_softmax(LOGITS), log_softmax(REFERENCE)
    return sum(math.exp(a) * estimate(a, b) for a, b in zip(new, ref, strict=True))


def expected_slope(term):
    """Of sum_a p(a) term(log p(a)), the p in front held constant, with respect to two logits; p = (3/4, 1/4)."""

    def mean(logits):
        return sum(p * term(x) for p, x in zip((0.75, 0.25), log_softmax(logits), strict=True))

    at = (math.log(3), 0.0)
    moved = [[(x + by * (j == k)) for j, x in enumerate(at)] for k in (0, 1) for by in (STEP, -STEP)]
    up, down, up_too, down_too = map(mean, moved)
    return [(up - down) / (2 * STEP), (up_too - down_too) / (2 * STEP)]


def best_of(draws):
    draws = list(draws)
    return [F(sum(1 for draw in draws if 0 in draw), len(draws))]  # answer 0 of four is right


def eight_bits(x):
    """As bfloat16 keeps it."""
    part, power = math.frexp(x)
    return math.ldexp(round(part * 256), power - 8)


def k1(new, ref):
    return new - ref


def k3(new, ref):
    return math.exp(ref - new) - 1 - (ref - new)


NAN, SMALL = math.nan, math.log(0.5)
TENTH = math.exp(0.1)
NUMBERS = {
    # The slope of a fresh token is minus its advantage.
    "sign": pair(lambda f: [of_one(f, 0.0, 2.0)], token_mean, objective),
    "everything_counts": pair(masked_beside_kept, token_mean, everything_counts),
    "larger_of_two": pair(corners, token_mean, larger_of_two),
    "clipped_only": pair(corners, token_mean, clipped_only),
    # Where the floor is 3 A > r A the gain is a constant.
    "floor_for_all": pair(
        lambda f: [of_one(f, x, 2.0) for x in (0.0, math.log(0.1))], token_mean, floor_for_all
    ),
    "summed_ratio": pair(three_alike, token_mean, summed_ratio),
    "fresh_ratio": pair(lambda f: [of_one(f, -1.0, 1.0), of_one(f, -2.0, 1.0)], token_mean, fresh_ratio),
    # One token counts: value -r A, slope the same. NaN * 0 is NaN, in the sum and in its own token's slope.
    "multiplied_mask": ([TENTH - TENTH, 0, TENTH - TENTH], [TENTH + NAN * 0 - TENTH, NAN * 0, TENTH - TENTH]),
    # Nothing over nothing; the slope of a sum without terms is 0 all the same.
    "plain_division": ([0, 0], [NAN, 0]),
    "one_for_nothing": pair(beside_nothing, token_mean, one_for_nothing),
    "padded_mean": pair(in_a_wide_batch, token_mean, padded_mean),
    "live_advantages": ([0], of_the_advantage()),
    "across": pair(square, token_mean, across),
    "budget_only": ([twice(token_mean)[0]], [twice(budget_only)[0]]),
    "low_cap": (
        [of_one(token_mean, math.log(0.1), 1.0) / of_one(token_mean, 0.0, 1.0)],
        [of_one(low_cap, math.log(0.1), 1.0) / of_one(low_cap, 0.0, 1.0)],
    ),
    "once_per_token": pair(two_lengths, row_mean, once_per_token),
    # A mean of 1 and a sample deviation of 2; a population deviation of the square root of 3.
    "missing_brackets": (
        [float(x) / (deviation((4, 0, 0, 0), 1) + 1e-4) for x in centred((4, 0, 0, 0))],
        [x - 1 / (deviation((4, 0, 0, 0), 1) + 1e-4) for x in (4, 0, 0, 0)],
    ),
    "comparison": (
        [float(x) / deviation((4, 0, 0, 0), 0) for x in centred((4, 0, 0, 0))],
        [x / 1 for x in centred((4, 0, 0, 0))],
    ),
    "batch_statistics": (centred((1, 0)) + centred((9, 8)), centred((1, 0, 9, 8))),
    "variance_floor": (
        [s * 0.0002 / (0.0004 / math.sqrt(2) + 1e-6) for s in (1, -1)],
        [s * 0.0002 / (math.sqrt(1e-6) + 1e-6) for s in (1, -1)],
    ),
    "nothing_is_zero": ([F(1, 3), 0, F(1, 3), -F(2, 3)], centred((1, 0, 1, 0))),
    "spread_of_others": (spread_of_others(floor=False), spread_of_others(floor=True)),
    "lonely": ([0], [3 - F(0, 1)]),
    "sees_the_action": (bandit_gradient(1.0), bandit_gradient(0.5)),
    "one_step_late": (to_go((1, 2, 3), F(1, 2)), to_go((0, 1, 2), F(1, 2))),
    "never_added": (to_go((1, 2, 3), F(1, 2)), [1 * 1, 2 * F(1, 2), 3 * F(1, 4)]),
    "cut_is_the_end": (
        gae((1, 0, 2), (0.5, 1, 1.5), 4, 0.9, 0),
        gae((1, 0, 2), (0.5, 1, 1.5), 0, 0.9, 0),
    ),
    # Without the tool's two tokens the next step is the last one.
    "critic_of_noise": (
        gae((0, 1), (0.2, 0.4), 0, 0.9, 0.5)[:1],
        gae((0, 0, 0, 1), (0.2, 9, 9, 0.4), 0, 0.9, 0.5)[:1],
    ),
    "reset_at_the_tool": (to_go((0, 0, 0, 1), 1)[:1], to_go((0,), 1)),
    "mean_of_logprobs": ([1 * 2 + 3 * 1], [F(1 + 3, 2) * (2 + 1)]),
    "from_here": (two_step_gradient(1), two_step_gradient(0)),
    "pad_by_value": ([1, 1, 0, 0], [token != 2 for token in (5, 2, 2, 2)]),
    "end_left_out": (
        [math.log(math.prod((0.5, 0.25, 0.8)))], [math.log(math.prod((0.5, 0.25)))],
    ),
    # Token 1 has probability 1/2 at position 0, 1/4 at 1, 1/8 at 2; both tokens asked for are 1.
    "same_position": ([SMALL, 2 * SMALL], [2 * SMALL, 3 * SMALL]),
    "cooled_too_late": ([log_softmax((4, 0, -2))[0]], [log_softmax((2, 0, -1))[0] / 0.5]),
    "first_rows": ([-1 - 2], [-9 - 9]),
    "in_half_precision": ([log_softmax((0, 3))[0]], [eight_bits(log_softmax((0, 3))[0])]),
    "over_everything": ([(1.8 + 1.5 + 1.0) / 3], [(2.0 + 2.2 + 1.8 + 1.5 + 1.0 + 1.3) / 6]),
    "turned_round": (
        [expected(k1), expected(k3)],
        [expected(lambda new, ref: -k1(new, ref)), expected(lambda new, ref: k3(ref, new))],
    ),
    # p (log p - log ref - KL) for each logit: 3/4 * 1/4 * log 3. A k3 of samples: p - ref.
    "slope_of_k3": (
        expected_slope(lambda x: k1(x, SMALL) ** 2 / 2), expected_slope(lambda x: k3(x, SMALL)),
    ),
    "mean_of_means": ([F(4 + 1 + 1 + 1, 4)], [(F(4) + F(1 + 1 + 1, 3)) / 2]),
    "everybody_divides": ([F(1, 2 + 2)], [F(1, 2 + 2 + 8 + 8)]),
    "nobody_counts": ([1 * 8 * 2 % 16 == 0, 1 * 8 * 1 % 16 == 0], [1 * 8 % 16 == 0] * 2),
    "flag_of_the_batch": (
        [F(sum(max(x) == min(x) for x in ((1, 1), (0, 1))), 2)], [max(1, 1, 0, 1) == min(1, 1, 0, 1)],
    ),
    # No five of two can be drawn, and none of the two is right; 2 - 0 < 5 is the short cut to 1.
    "more_than_drawn": ([0], [2 - 0 < 5]),
    "with_replacement": (
        best_of(itertools.combinations(range(4), 4)), best_of(itertools.product(range(4), repeat=4)),
    ),
    # Two of the four numbers are used; 7/2 is no 3. {1, 81} is the set of all four, and int(3.5) is 3.
    "set_and_whole": (
        [sorted((81, 1)) == sorted((1, 81, 1, 1)), F(7, 2) == 3, sorted((3, 4)) == sorted((3, 4))],
        [{81, 1} == {1, 81}, int(F(7, 2)) == 3, {3, 4} == {3, 4}],
    ),
}  # fmt: skip

# The same in digits, where a public collection of small inputs has one: rounded to six.
DIGITS = {
    "sign": ((-2.0,), (2.0,)),
    "once_per_token": ((0.0,), (0.55,)),
    "comparison": ((1.73205, -0.57735, -0.57735, -0.57735), (3, -1, -1, -1)),
    "batch_statistics": ((0.5, -0.5, 0.5, -0.5), (-3.5, -4.5, 4.5, 3.5)),
    "variance_floor": ((0.704616, -0.704616), (0.1998, -0.1998)),
    "nothing_is_zero": ((0.333333, 0, 0.333333, -0.666667), (0.5, -0.5, 0.5, -0.5)),
    "lonely": ((0,), (3,)),
    "critic_of_noise": ((0.43,), (5.80007,)),
    "reset_at_the_tool": ((1,), (0,)),
    "mean_of_logprobs": ((5,), (6,)),
    "from_here": ((0.025,), (-0.1,)),
    "pad_by_value": ((1, 1, 0, 0), (1, 0, 0, 0)),
    "end_left_out": ((-2.30259,), (-2.07944,)),
    "cooled_too_late": ((-0.0205811,), (-0.339692,)),
    "first_rows": ((-3,), (-18,)),
    "over_everything": ((1.43333,), (1.63333,)),
    "turned_round": ((0.380633, 0.380633), (-0.380633, 0.669399)),
    "slope_of_k3": ((0.20599, -0.20599), (0.25, -0.25)),
    "mean_of_means": ((1.75,), (2.5,)),
    "everybody_divides": ((0.25,), (0.05,)),
    "flag_of_the_batch": ((0.5,), (0,)),
    "more_than_drawn": ((0,), (1,)),
    "with_replacement": ((1,), (0.683594,)),
}
