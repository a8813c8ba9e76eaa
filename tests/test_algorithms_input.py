"""Bad settings of an algorithm, and bad input to one: refused by one clear sentence."""

import math
from functools import partial

import numpy as np
import pytest
import refusals
import torch

from pglab.algorithms import Algorithm, named

pytestmark = pytest.mark.filterwarnings("error")

NAMES = "vanilla, reinforce, batch_mean, rloo, grpo, dr_grpo, ppo, grpo_clip_higher, grpo_dynamic, "
NAMES += "grpo_token_mean, grpo_overlong, dapo, gspo, cispo, max_rl."
one = partial(Algorithm, "mine", "here")
SETTINGS = {
    "weight": (
        {"weight": "mean"},
        "weight is 'mean'; it must be one of constant, batch_mean, leave_one_out, grpo, max_rl, leave_one_out_std, critic.",
    ),
    "ratio": (
        {"ratio": "sequence"},
        "ratio is 'sequence'; it must be one of none, token, sequence_mean, sequence_product.",
    ),
    "a clip without a ratio": (
        {"ratio": "none"},
        "ratio is 'none', with clip (0.2, 0.2), dual_clip None and variant ppo; it must be without: clip=None,",
    ),
    "a dual clip without a ratio": (
        {"ratio": "none", "clip": None, "dual_clip": 3},
        "ratio is 'none', with clip None, dual_clip 3 and variant ppo; it must be without: clip=None, dual_clip",
    ),
    "cispo without a ratio": (
        {"ratio": "none", "clip": None, "variant": "cispo"},
        "ratio is 'none', with clip None, dual_clip None and variant cispo; it must be without: clip=None, dual",
    ),
    "a critic with one ratio for a completion": (
        {"weight": "critic", "ratio": "sequence_product"},
        "ratio is 'sequence_product'; it must be 'token' or 'none' with a critic, which judges every token.",
    ),
    "a critic with the root of that ratio": (
        {"weight": "critic", "ratio": "sequence_mean"},
        "ratio is 'sequence_mean'; it must be 'token' or 'none' with a critic, which judges every token.",
    ),
    "variant": ({"variant": "gspo"}, "variant is 'gspo'; it must be one of ppo, cispo."),
    "aggregation": (
        {"aggregation": "mean"},
        "aggregation is 'mean'; it must be one of token_mean, sequence_mean, constant, sum.",
    ),
    "kl_kind": ({"kl_kind": "k4"}, "kl_kind is 'k4'; it must be one of k1, k2, k3."),
    "kl_where": ({"kl_where": "ratio_loss"}, "kl_where is 'ratio_loss'; it must be one of loss, reward."),
    "ddof": ({"ddof": 2}, "ddof is 2; it must be one of 0, 1."),
    "whiten": ({"whiten": "no"}, "whiten is 'no'; it must be one of False, True."),
    "baseline of None": ({"baseline": None}, "baseline is None; it must be one finite number."),
    "baseline for each row": ({"baseline": [0, 1]}, "baseline has shape (2,); it must be one finite number."),
    "baseline, NaN": ({"baseline": math.nan}, "baseline is nan; it must be one finite number."),
    "eps below 0": ({"eps": -1e-9}, "eps is -1e-09; it must be one finite number, at least 0."),
    "kl below 0": ({"kl": -0.1}, "kl is -0.1; it must be one finite number, at least 0."),
    "kl as text": ({"kl": "0.1"}, "kl is '0.1'; it must be one finite number, at least 0."),
    "kl, infinite": ({"kl": math.inf}, "kl is inf; it must be one finite number, at least 0."),
    "value_weight": ({"value_weight": -1}, "value_weight is -1.0; it must be one finite number, at least 0."),
    "lam above 1": ({"lam": 1.01}, "lam is 1.01; it must be one finite number from 0 to 1."),
    "lam below 0": ({"lam": -0.1}, "lam is -0.1; it must be one finite number from 0 to 1."),
    "no rounds": ({"rounds": 0}, "rounds is 0; it must be a whole number, at least 1."),
    "half a round": ({"rounds": 1.5}, "rounds is 1.5; it must be a whole number, at least 1."),
    "clip, one number": ({"clip": 0.2}, "clip is 0.2; it must be (low, high), or None."),
    "clip, three numbers": ({"clip": (1, 2, 3)}, "clip is (1, 2, 3); it must be (low, high), or None."),
    "clip below 0": ({"clip": (-0.2, 0.2)}, "clip[0] is -0.2; it must be one finite number, at least 0."),
    "clip, text": ({"clip": [0.2, "a"]}, "clip[1] is 'a'; it must be one finite number, at least 0."),
    "dual_clip of 1": ({"dual_clip": 1}, "dual_clip is 1.0; it must be larger than 1, or None."),
    "dual_clip of cispo": (
        {"dual_clip": 3, "variant": "cispo"},
        "dual_clip is 3.0; it must be None where variant is not 'ppo'.",
    ),
    "norm of 0": ({"norm": 0}, "norm is 0; it must be larger than 0, or None."),
    "norm below 0": ({"norm": -2}, "norm is -2; it must be larger than 0, or None."),
    "norm, NaN": ({"norm": math.nan}, "norm is nan; it must be one finite number."),
    "norm as text": ({"norm": "T", "aggregation": "sum"}, "norm is 'T'; it must be one finite number."),
    "value_clip of 0": ({"value_clip": 0}, "value_clip is 0; it must be larger than 0, or None."),
    "value_clip below 0": ({"value_clip": -1}, "value_clip is -1; it must be larger than 0, or None."),
    "value_clip as text": ({"value_clip": "x"}, "value_clip is 'x'; it must be one finite number."),
    "overlong, one number": ({"overlong": 4}, "overlong is 4; it must be (soft, hard), or None."),
    "overlong, one of two": ({"overlong": [4]}, "overlong is (4,); it must be (soft, hard), or None."),
    "overlong, text": ({"overlong": "04"}, "overlong is '04'; it must be (soft, hard), or None."),
    "overlong, reversed": ({"overlong": (4, 0)}, "hard is 0.0; it must be larger than soft, which is 4.0."),
    "overlong, equal": ({"overlong": (4, 4)}, "hard is 4.0; it must be larger than soft, which is 4.0."),
    "overlong below 0": ({"overlong": (-1, 4)}, "soft is -1.0; it must be one finite number, at least 0."),
    "overlong, half of it": ({"overlong": (None, 4)}, "overlong[0] is None; it must be one finite number."),
    "overlong, words in it": ({"overlong": (0, "4")}, "overlong[1] is '4'; it must be one finite number."),
    "overlong without end": ({"overlong": (0, math.inf)}, "overlong[1] is inf; it must be one finite number."),
}  # fmt: skip


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_are_refused_when_they_are_made(name):
    changes, message = SETTINGS[name]
    refusals.check(lambda: one(**changes), message)
    refusals.check(lambda: named(one(), **changes), message)


@pytest.mark.parametrize("field", ["name", "source"])
def test_name_and_source_are_texts(field):
    for value in ("", " ", 3, None, ["grpo"]):
        check = f"{field} is {value!r}; it must be text, and not empty."
        refusals.check(lambda v=value: named("grpo", **{field: v}), check)
        refusals.check(lambda v=value: Algorithm(**{"name": "mine", "source": "here", field: v}), check)


ROW, MASK = torch.zeros(2, 3), torch.tensor([[True, True, True], [True, False, False]])
REWARDS = np.array([[0.0, 1.0, np.nan]])
CALLS = {
    "an unknown name": (lambda: named("grop"), f"algorithm is 'grop'; it must be one of {NAMES}"),
    "a library's name, cut short": (
        lambda: named("trl"),
        f"algorithm is 'trl'; it must be one of {NAMES} Or what a library runs: TRL GRPO, TRL RLOO, verl, verl GRPO,",
    ),
    "a list": (lambda: named(["grpo"]), f"algorithm is ['grpo']; it must be one of {NAMES}"),
    "nothing": (lambda: named(None), f"algorithm is None; it must be one of {NAMES}"),
    "an unknown setting": (
        lambda: named("grpo", beta=0.1),
        "there is no setting beta; the settings are those of Algorithm.",
    ),
    "two unknown settings": (lambda: named("grpo", z=1, a=1, kl=-1), "there is no setting a; the settings are"),
    "advantages of a critic": (
        lambda: named("ppo").advantages(np.ones((1, 2))),
        "ppo has a critic; its advantages are returns.gae of the critic's values.",
    ),
    "a group of one": (
        lambda: named("grpo").advantages([[1.0]]),
        "rewards has shape (1, 1), the last axis being the group; it must be numbers of shape (..., G), G at least 2",
    ),
    "a reward of NaN": (
        lambda: named("rloo").advantages(REWARDS),
        "rewards holds NaN or infinity; it must be numbers of shape (..., G), G at least 2",
    ),
    "a negative reward for max_rl": (
        lambda: named("max_rl").advantages([[0.0, -0.5]]),
        "rewards holds a negative number; max_rl divides by the mean and needs rewards >= 0.",
    ),
    "a mask of another shape": (
        lambda: named("grpo").advantages([[0.0, 1.0]], [True, True]),
        "mask has shape (2,); it must be booleans of shape (1, 2)",
    ),
    "no reference": (
        lambda: named("grpo", kl=0.1).loss(ROW, None, [1.0, 1.0], MASK),
        "ref_logprobs is None; grpo has a KL of 0.1 in its loss.",
    ),
    "a reference of another shape": (
        lambda: named("grpo", kl=0.1).loss(ROW, None, [1.0, 1.0], MASK, ROW[:1]),
        "logprobs and ref_logprobs have shapes (2, 3) and (1, 3); they must be log-probabilities, both arrays",
    ),
    "a token that the reference rules out, in k1": (
        lambda: named("grpo", kl=0.1).loss(ROW, None, [1.0, 1.0], MASK, ROW * math.nan),
        "logprobs and ref_logprobs must be finite where the mask is True (ref_logprobs may be -inf)",
    ),
    "old of another shape": (
        lambda: named("grpo").loss(ROW, ROW[:, :2], [1.0, 1.0], MASK),
        "old_logprobs has shape (2, 2); it must be numbers of shape (2, 3), as logprobs.",
    ),
    "advantages of tokens and one ratio for the row": (
        lambda: named("gspo").loss(ROW, None, torch.arange(6.0).view(2, 3), MASK),
        "advantages differ within a row; with a sequence ratio they must be equal there.",
    ),
    "a log-probability of -inf": (
        lambda: named("dapo").loss(ROW - math.inf, None, [1.0, 1.0], MASK),
        "logprobs[0, 0] is -inf, where the mask is True; it must be finite. The token sampled there has",
    ),
    "a negative length": (
        lambda: named("dapo").penalties([-1], 4),
        "length holds -1.0; it must be a number of tokens, 0 or more",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_bad_input_is_refused(name):
    refusals.check(*CALLS[name])


def test_what_is_taken():
    for weight in ("critic", "grpo"):  # a token's ratio, or none, will do for both
        assert one(weight=weight, ratio="none", clip=None).by_token and one(weight=weight).by_token
    assert one(clip=[0.1, None]).clip == (0.1, None) and one(overlong=[0, 3]).overlong == (0, 3)
    assert one(clip=None).clip is None and one(clip=(1.5, 0)).clip == (1.5, 0)
    assert one(norm=np.float64(2), value_clip=1e-9, kl=0, lam=0, rounds=2.0).rounds == 2
    # Where nothing could be scored there is nothing to refuse.
    assert named("max_rl").advantages([[-1.0, math.nan]], [[False, False]]).tolist() == [[0, 0]]
    assert named("grpo", kl=0.1, kl_where="reward").loss(ROW, None, [1.0, 1.0], MASK) == -1
