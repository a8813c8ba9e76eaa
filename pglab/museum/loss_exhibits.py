"""The oracle tests of losses, and the exhibits that they open.

Every test looks at proportions, so that it holds whatever denominator, clip and level of ratio the contract
leaves open: the same tests run on a reader's own loss (``pglab.museum.examine``).
"""

import math

from pglab.museum import losses
from pglab.museum.exhibit import Exhibit
from pglab.museum.probing import ask, open_share, slopes, unit

CONTRACT = (
    "loss(logprobs, old_logprobs, advantages, mask): (B, T), (B, T), (B,), (B, T) booleans -> one number, to be "
    "made small. What is masked counts for nothing. Advantages and old log-probabilities are constants."
)
ROWS = CONTRACT + " One ratio for each row, exp of the mean log-ratio, and the mean over rows."
TRL, VERL = "https://github.com/huggingface/trl/", "https://github.com/verl-project/verl/"


NAN = math.nan
CORNERS = ((0.5, 1.0), (2.0, 1.0), (0.5, -1.0), (2.0, -1.0))  # ratio, advantage


def at_the_corners(loss):
    return [open_share(loss, ratio, advantage) for ratio, advantage in CORNERS]


def of_gains(loss):
    return slopes(loss, [[0.0]], [2.0]) / unit(loss)


def of_all_gains(loss):
    return [slopes(loss, [[math.log(ratio)]], [2.0]) / unit(loss) for ratio in (1.0, 0.1)]


def of_three_tokens(loss):
    each = [[-0.05, -0.05, -0.05]]
    return (slopes(loss, each, [1.0]) / slopes(loss, [[0.0] * 3], [1.0]))[0]


def of_stale_data(loss):
    return [slopes(loss, [[behind]], [1.0]) / unit(loss) for behind in (-1.0, -2.0)]


def with_nan_behind(loss):
    """What NaN under the mask changes: the value, the slope there, the slope of the token that counts."""
    kept = [[True, False]]
    value, slope, _ = ask(loss, [[0.1, 0.0]], [-1.0], kept)
    value_too, slope_too, _ = ask(loss, [[0.1, math.nan]], [-1.0], kept)
    return value_too - value, slope_too[0, 1], slope_too[0, 0] - slope[0, 0]


def of_no_token(loss):
    value, slope, _ = ask(loss, [[0.3, 0.4]], [1.0], [[False, False]])
    return value, slope.abs().sum()


def of_an_empty_row(loss):
    """How much the loss moves if the advantage of a row without tokens does."""
    mask = [[True] * 3, [False] * 3]
    values = [ask(loss, [[0.0] * 3] * 2, [1.0, a], mask)[0] for a in (-1.0, 5.0)]
    return (values[0] - values[1]) / unit(loss)


def of_wide_padding(loss):
    narrow = slopes(loss, [[0.0, 0.0]], [-1.0])[0, 0]
    wide = slopes(loss, [[0.0] * 8], [-1.0], [[True] * 2 + [False] * 6])[0, 0]
    return wide / narrow


def of_a_masked_token(loss):
    slope = slopes(loss, [[0.0, 0.0]], [-1.0], [[False, True]])[0]
    return slope[0] / slope[1]


def of_advantages(loss):
    """1 if a gradient reaches the advantages, however large."""
    return ask(loss, [[0.0]], [-1.0])[2] != 0


def of_a_square(loss):
    both = slopes(loss, [[0.0, 0.0], [0.0, 0.0]], [-1.0, -1.0])
    return slopes(loss, [[0.0, 0.0], [0.0, 0.0]], [1.0, -1.0]) / both


def of_a_batch_twice(loss):
    once = slopes(loss, [[0.0, 0.0]], [-1.0])[0, 0]
    return slopes(loss, [[0.0, 0.0]] * 2, [-1.0, -1.0])[0, 0] / once


def of_low_ratios(loss):
    return slopes(loss, [[math.log(0.1)]], [1.0]) / slopes(loss, [[0.0]], [1.0])


def of_two_lengths(loss):
    ahead = math.log(1.1)
    return ask(loss, [[ahead] * 3] * 2, [1.0, -1.0], [[True, False, False], [True] * 3])[0]


LOSSES = (
    Exhibit(
        "sign",
        "An update lowers what it should raise",
        "loss", CONTRACT, losses.objective, losses.right, of_gains, (-2.0,), (2.0,),
        "One token, ratio 1, advantage 2: in which direction should its log-probability move?",
        "A loss is minus the objective.",
        "The mean reward falls from the first step on, and entropy often rises.",
        ("https://github.com/natolambert/rlhf-book/issues/125",),
    ),
    Exhibit(
        "everything_counts",
        "The policy learns its prompts by heart",
        "loss", CONTRACT, losses.everything_counts, losses.right, of_a_masked_token, (0.0,), (1.0,),
        "A masked token: what is its slope?",
        "Only tokens that the policy chose are trained on, and counted.",
        "The gradient norm is large from the first step: prompts are surprising. Rows of one length may hide it.",
        ("https://github.com/NVIDIA-NeMo/Megatron-Bridge/pull/5959",),
    ),
    Exhibit(
        "larger_of_two",
        "A published PPO stays where it is pulled back, and runs where it should be held",
        "loss", CONTRACT, losses.larger_of_two, losses.right, at_the_corners, (1, 0, 0, 1), (0, 1, 1, 0),
        "Take ratios of 0.5 and 2 with advantages of both signs: which of the four still have a slope?",
        "The smaller of the two gains. For losses, which are minus gains, it is the larger.",
        "With one update on each batch nothing at all: every ratio is 1. With several, the KL of an update runs away.",
        ("https://github.com/yandexdataschool/Practical_RL/issues/248",),
    ),
    Exhibit(
        "clipped_only",
        "A proposed repair: tokens that went the wrong way cannot come back",
        "loss", CONTRACT, losses.clipped_only, losses.right, at_the_corners, (1, 0, 0, 1), (0, 0, 0, 0),
        "A ratio of 2 and an advantage of -1: the token became likelier, and should not have. Does it have a slope?",
        "Clip on the side to which the advantage pushes: the smaller of the clipped and the free gain does that.",
        "The clip fraction looks small if it is counted by the formula; ratios far outside the bounds do not return.",
        ("https://github.com/callsys/GMPO/issues/4", "https://github.com/ray-project/ray/issues/37334"),
    ),
    Exhibit(
        "floor_for_all",
        "The better an answer, the less is learned from it",
        "loss", CONTRACT, losses.floor_for_all, losses.right, of_all_gains, (-2.0, -0.2), (0.0, 0.0),
        "An advantage of 2 and a ratio of 1: is there a slope at all?",
        "The dual clip is for negative advantages only.",
        "Right answers teach nothing: the reward stands still, the gradient comes from wrong answers alone.",
        ("https://github.com/thu-ml/tianshou/issues/433",),
    ),
    Exhibit(
        "summed_ratio",
        "Long answers stop learning after the first small step",
        "loss", CONTRACT + " One ratio for each token.", losses.summed_ratio, losses.right, of_three_tokens,
        (math.exp(-0.05),) * 3, (math.exp(-0.15),) * 3,
        "A row of several tokens, each a little off: what multiplies the slope of each?",
        "One ratio for each token; or say that the ratio is that of the whole answer, and choose bounds for it.",
        "The clip fraction grows with the length of the answers.",
        ("https://github.com/rasbt/reasoning-from-scratch/issues/243",
         "https://github.com/walkinglabs/hands-on-modern-rl/issues/75"),
    ),
    Exhibit(
        "fresh_ratio",
        "Samples of an older policy are used as if they were new",
        "loss", CONTRACT, losses.fresh_ratio, losses.right, of_stale_data, (-math.exp(-1), -math.exp(-2)),
        (-1.0, -1.0),
        "Data that is not on-policy: let log pi be 1 or 2 below the old one. By what is the slope multiplied?",
        "The stored log-probabilities of the policy that sampled. (On strictly fresh samples the ratio is 1 anyway.)",
        "KL and clip fraction are exactly 0 throughout, also in later epochs. Learning drifts the staler the data is.",
        ("https://github.com/meta-pytorch/torchforge/pull/571",),
    ),
    Exhibit(
        "multiplied_mask",
        "One NaN in the padding, and every weight is NaN",
        "loss", CONTRACT, losses.multiplied_mask, losses.right, with_nan_behind, (0, 0, 0), (NAN, NAN, 0),
        "Put NaN where the mask is False.",
        "Select with `where` before `exp` and before the sum: NaN times 0 is NaN, in slopes as well.",
        "The loss is NaN at some step, far from the cause.",
        ("https://github.com/OpenRLHF/OpenRLHF/pull/1240", VERL + "pull/6349"),
        also=((NAN, 0, 0), (0, NAN, 0)),
    ),
    Exhibit(
        "plain_division",
        "A batch in which nothing is left to learn from ends the run",
        "loss", CONTRACT, losses.plain_division, losses.right, of_no_token, (0, 0),
        (NAN, 0),
        "What if every token is masked?",
        "A denominator of 0 is taken as 1: the loss is 0, and so is its slope.",
        "NaN on the one worker whose part was filtered away.",
        ("https://github.com/NVIDIA-NeMo/RL/issues/158",),
        also=((NAN, NAN), (0, NAN)),
    ),
    Exhibit(
        "one_for_nothing",
        "An answer that was thrown out still changes the loss",
        "loss", CONTRACT, losses.one_for_nothing, losses.right, of_an_empty_row, (0,), (3.0,),
        "A row without tokens: change its advantage.",
        "exp(0 / 1) is 1, not nothing: leave rows without tokens out, also of the count of rows.",
        "The loss moves with answers that were filtered out, and every other row counts for less.",
        (TRL + "pull/6095",),
    ),
    Exhibit(
        "padded_mean",
        "The learning rate depends on the longest answer in the batch",
        "loss", CONTRACT, losses.padded_mean, losses.right, of_wide_padding, (1.0,), (0.25,),
        "The same two tokens, in a batch of width 2 and in one of width 8.",
        "Numerator and denominator use one and the same mask.",
        "The gradient norm falls when one answer rambles, and differs between micro-batches.",
        (TRL + "pull/6439",),
    ),
    Exhibit(
        "live_advantages",
        "The critic learns to please the policy",
        "loss", CONTRACT, losses.live_advantages, losses.right, of_advantages, (0.0,), (1.0,),
        "Let the advantages require a gradient. Do they get one?",
        "Detach the advantages: a weight is a number.",
        "With a critic the mean advantage drifts; with a KL in the reward, entropy stays too high.",
        ("https://github.com/keras-team/keras-io/issues/194",),
    ),
    Exhibit(
        "across",
        "In batches of one special size the answers get each other's advantages",
        "loss", CONTRACT, losses.across, losses.right, of_a_square, (-1, -1, 1, 1), (-1, 1, -1, 1),
        "As many rows as tokens.",
        "Advantages of rows need an axis for the tokens: advantages[:, None].",
        "No shape error, and no learning; only where rows and width agree.",
        ("https://github.com/pytorch/rl/issues/1243",),
    ),
    Exhibit(
        "budget_only",
        "Twice as many answers make a step twice as long",
        "loss", CONTRACT, losses.budget_only, losses.right, of_a_batch_twice, (0.5,), (1.0,),
        "The same batch, and the same batch twice.",
        "A constant budget is divided by for each row: rows times budget. (A plain sum does the same, by choice.)",
        "The gradient norm grows in proportion to the micro-batch.",
        (VERL + "issues/3741",),
    ),
    Exhibit(
        "low_cap",
        "On-policy, every token weighs a fifth",
        "loss", CONTRACT, losses.low_cap, losses.right, of_low_ratios, (0.1,), (0.5,),
        "Compare a ratio of 0.1 with a ratio of 1.",
        "A cap is a bound of the ratio: 1.2, where the setting reads 0.2.",
        "Learning is slow by one constant factor, as if the rate were a fifth. Only ratios below 0.2 keep theirs.",
        ("https://github.com/NovaSky-AI/SkyRL/pull/1928", TRL + "pull/4495"),
    ),
    Exhibit(
        "once_per_token",
        "With one ratio for each answer, long answers still count more",
        "sequence loss", ROWS, losses.once_per_token, losses.right_by_row, of_two_lengths, (0.0,), (0.55,),
        "Two rows of different lengths, with advantages 1 and -1.",
        "A loss of rows is averaged over rows; a (B, 1) column spreads over a (B, T) mask without an error.",
        "The loss is not 0 on centred advantages, and follows the lengths.",
        (TRL + "issues/3823",),
    ),
)  # fmt: skip
