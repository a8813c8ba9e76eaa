"""Tokens that are read wrongly: masks, shifts, temperatures."""

import math

import torch

from pglab import logprobs
from pglab.museum.exhibit import Exhibit

END = 2
SHIFTED = "score(logits, tokens): (L, V), (L,) -> (L - 1,): log-probability of tokens[1:], each from the tokens before it."


# ---- The broken ones, and how the rooms of pglab do it


def pad_by_value(tokens):
    return tokens != END


def up_to_the_first_end(tokens):
    return logprobs.completion_mask(tokens, END)


def end_left_out(each, tokens):
    return each[tokens != END].sum()


def end_is_an_action(each, tokens):
    return each[logprobs.completion_mask(tokens, END)].sum()


def same_position(logits, tokens):
    return logits[1:].log_softmax(-1).gather(-1, tokens[1:, None])[:, 0]


def position_before(logits, tokens):
    return logprobs.token_logprobs(logits[None], tokens[None])[0]


def cooled_too_late(logits, token, temperature):
    return (logits.log_softmax(-1) / temperature)[token]


def cooled_logits(logits, token, temperature):
    return logprobs.gather(logits / temperature, token)


def first_rows(logits, tokens):
    return logits.log_softmax(-1).gather(-1, tokens[:, None]).sum()


def last_rows(logits, tokens):
    return logprobs.gather(logits[len(logits) - len(tokens) :], tokens).sum()


def in_half_precision(logits, tokens):
    return logits.log_softmax(-1).gather(-1, tokens[:, None])[:, 0]


def in_float32(logits, tokens):
    return logprobs.gather(logits, tokens)


def over_everything(entropies, prompt_length):
    return entropies.mean()


def where_chosen(entropies, prompt_length):
    return entropies[prompt_length - 1 : -1].mean()


# ---- The oracle tests


def two_logits(*chances):
    """(n, 2) logits of two tokens, of which token 1 has these probabilities."""
    return torch.tensor([[math.log(1 - p), math.log(p)] for p in chances], dtype=torch.float64)


def of_a_padded_answer(mask):
    return mask(torch.tensor([5, END, END, END]))


def of_a_whole_answer(score):
    return score(torch.tensor([0.5, 0.25, 0.8], dtype=torch.float64).log(), torch.tensor([5, 7, END]))


def of_three_positions(score):
    return score(two_logits(0.5, 0.25, 0.125), torch.tensor([0, 1, 1]))


def at_half_the_temperature(score):
    return score(torch.tensor([2.0, 0.0, -1.0], dtype=torch.float64), torch.tensor(0), 0.5)


def of_a_longer_row(score):
    return score(two_logits(*(math.exp(x) for x in (-9, -9, -9, -1, -2))), torch.tensor([1, 1]))


def of_half_precision(score):
    return score(torch.tensor([[0.0, 3.0]], dtype=torch.bfloat16), torch.tensor([0]))


def of_six_positions(entropy):
    return entropy(torch.tensor([2.0, 2.2, 1.8, 1.5, 1.0, 1.3], dtype=torch.float64), 3)


TOKENS = (
    Exhibit(
        "pad_by_value",
        "Nobody ever learns to stop",
        "tokens", "mask(tokens): (T,), the end token is 2 and the padding too -> (T,) True up to the first end token.",
        pad_by_value, up_to_the_first_end, of_a_padded_answer, (1, 1, 0, 0), (1, 0, 0, 0),
        "An answer that ends, where padding and end are one token.",
        "Mask by the position of the first end token, not by the token's value.",
        "Answers grow longer, and the share of finished ones falls.",
        ("https://github.com/huggingface/trl/pull/4970", "https://github.com/huggingface/trl/pull/6357"),
    ),
    Exhibit(
        "end_left_out",
        "The probability of an answer leaves out the decision to stop",
        "tokens", "score(each, tokens): (T,) log-probabilities, (T,), the end token is 2 -> that of the whole completion.",
        end_left_out, end_is_an_action, of_a_whole_answer, (math.log(0.1),), (math.log(0.125),),
        "Add up a completion of two tokens and its end.",
        "The end token is an action like any other.",
        "Length drifts without a reason in the reward.",
        ("https://github.com/unslothai/unsloth-zoo/pull/832",),
    ),
    Exhibit(
        "same_position",
        "Each token is scored by a model that has read it already",
        "tokens", SHIFTED, same_position, position_before, of_three_positions,
        (math.log(0.5), math.log(0.25)), (math.log(0.25), math.log(0.125)),
        "Logits that differ from position to position: which of them predicts token 1?",
        "logits[t] predicts tokens[t + 1]. Shift once, in one place.",
        "Against the sampler's log-probabilities the ratio is far from 1 before any update, and most tokens are clipped.",
        ("https://github.com/PrimeIntellect-ai/prime-rl/pull/1525",),
    ),
    Exhibit(
        "cooled_too_late",
        "Sampler and trainer disagree, though both know the temperature",
        "tokens", "score(logits, token, temperature) -> log-probability of the token as it was sampled.",
        cooled_too_late, cooled_logits, at_half_the_temperature, (-math.log1p(math.exp(-4) + math.exp(-6)),), (-2 * math.log1p(math.exp(-2) + math.exp(-3)),),
        "Do the probabilities of all tokens add up to 1?",
        "Divide the logits, then normalise.",
        "A ratio that is not 1 on fresh samples; the gap grows as the temperature leaves 1.",
        ("https://github.com/huggingface/trl/issues/4159", "https://github.com/PrimeIntellect-ai/prime-rl/pull/697"),
    ),
    Exhibit(
        "first_rows",
        "The labels are shorter than the logits, and nothing complains",
        "tokens", "score(logits, tokens): (L, V), (M,) with M <= L -> log-probability of the last M positions' tokens.",
        first_rows, last_rows, of_a_longer_row, (-3.0,), (-18.0,),
        "More logits than labels.",
        "Slice the last M rows, or refuse lengths that differ.",
        "Log-probabilities far below those of the sampler, from the first step.",
        ("https://github.com/opendilab/LightRFT/pull/53",),
    ),
    Exhibit(
        "in_half_precision",
        "Before any update the ratio is not 1",
        "tokens", "score(logits, tokens): (T, V) of any precision, (T,) -> (T,), to at least float32.",
        in_half_precision, in_float32, of_half_precision, (-math.log1p(math.exp(3)),), (-3.046875,),
        "Logits in bfloat16: how many digits has the result?",
        "One precision on both sides: log-softmax in float32.",
        "A KL of a few thousandths and a clip fraction above 0 in the very first update.",
        ("https://github.com/jingyaogong/minimind/pull/814", "https://github.com/OpenRLHF/OpenRLHF/pull/634"),
    ),
    Exhibit(
        "over_everything",
        "The entropy on the panel is that of the prompts too",
        "tokens", "entropy(entropies, prompt_length): (L,), one for each position -> mean over those that predict a "
        "completion's token.",
        over_everything, where_chosen, of_six_positions, (4.3 / 3,), (9.8 / 6,),
        "Which three of the six positions predict the three completion tokens?",
        "Positions from the last token of the prompt to the last but one of all.",
        "An entropy that hardly moves while the answers get all alike.",
        ("https://github.com/huggingface/trl/pull/5620",),
    ),
)  # fmt: skip
