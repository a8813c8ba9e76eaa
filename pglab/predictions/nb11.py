"""Predictions of notebook 11."""

from pglab.predictions.register import prediction

prediction(
    "11.1",
    "A model fills 15 GB in half precision. How many GB to train it, with GRPO and a verifier?",
    ("about 15", "about 30", "about 60", "about 120"),
    "about 120",
    answer="Sixteen bytes for each parameter, where half precision has two: the number, its slope, Adam's "
    "moments. That makes 122 GB; PPO's four models take 274.",
)
prediction(
    "11.2",
    "64 tokens are read with gradients. How much does autograd keep, beside 234 kB of weights?",
    ("less than a tenth of them", "about half of them", "more than they are"),
    "more than they are",
    answer="333,888 bytes: each token leaves behind twelve times the width in each layer, and it grows with "
    "the batch.",
)
prediction(
    "11.3",
    "A memory bill that is only counted, never measured: how far off is it, on the small model?",
    ("within 1 %", "by some 10 %", "by some 30 %", "by a factor of two"),
    "within 1 %",
    answer="Weights, gradients, moments, activations and cache are tensors of known shapes: they can be "
    "counted before there is one.",
)
prediction(
    "11.4",
    "7.6 billion parameters, eight GPUs of 80 GB: from which stage of ZeRO on does the bill fit?",
    ("stage 0", "stage 1", "stage 2", "stage 3"),
    "stage 1",
    answer="The optimiser's part is the largest item, and sharing it takes each GPU from 138 GB to 58. "
    "Stages 2 and 3 bring 44 and 31.",
)
prediction(
    "11.5",
    "The small model, groups of eight, one update: which part of a step takes longest?",
    ("drawing", "verifying", "learning"),
    "learning",
    answer="An update reads everything forwards and backwards, and learning gains most as groups grow. In "
    "groups of 2 drawing takes longer; verifying stays the smallest part.",
)
prediction(
    "11.6",
    "16 H100s, half draw, half learn. At which of these lengths does drawing first take longer?",
    ("512 tokens", "2,048 tokens", "8,192 tokens", "32,768 tokens"),
    "8,192 tokens",
    answer="Each new token reads the cache of all before it, so drawing grows much faster than the length. "
    "Short answers share every weight that is fetched.",
)
prediction(
    "11.7",
    "Samples of another policy, taken as they come: is the mean the gradient, is a baseline harmless?",
    ("yes, and yes", "yes, and no", "no, and yes", "no, and no"),
    "no, and no",
    answer="The mean score is zero under the policy that learns, not under the one that samples. The weight "
    "pi / mu mends both.",
)
prediction(
    "11.8",
    "64 samples, weights up to 2.41, cut at a cap: which cap has the smallest error in all?",
    ("about 0.5", "about 1", "about 2", "no cap at all"),
    "about 2",
    answer="A cap buys quiet with bias. At 2.09, a little below the largest weight, one answer alone is cut, "
    "and only a little: the least of both together.",
)
prediction(
    "11.9",
    "Longer answers: what becomes of the noise of sequence weights, of the bias of token weights?",
    ("noise and bias grow", "noise grows, no bias", "noise stays, bias grows", "both stay as they are"),
    "noise and bias grow",
    answer="At 16 tokens 3.3 % of the samples count, and the token weight's bias is 99.9 % of the gradient: "
    "it corrects which token was drawn, not how one got there.",
)
prediction(
    "11.10",
    "Completions of k steps before, taken as they come: from which k on does pass@1 end below 0.8?",
    ("from 1 on", "from 4 on", "from 16 on", "for no k up to 16"),
    "from 4 on",
    answer="0.96 with one step behind, 0.76 with four, 0.25 with sixteen: the policy has moved too far by "
    "then. Weights help: with those of sequences even sixteen end at 0.91.",
)
prediction(
    "11.11",
    "A batch on 2, 4 or 8 workers, the mean of their means: how far off is its gradient?",
    ("not at all", "2 to 13 % of its length", "more than half of its length"),
    "2 to 13 % of its length",
    answer="A worker with few tokens counts as much as one with many. Divided by the tokens of the whole, "
    "and added up, every cut gives the same gradient.",
)
prediction(
    "11.12",
    "Two workers, or four: do they draw what one alone would have drawn for the same prompts?",
    ("with two and with four", "with two, not with four", "no, other answers"),
    "with two and with four",
    answer="The noise of the whole batch is one array, made from the seed and the step, and each worker uses "
    "its part of it.",
)
prediction(
    "11.13",
    "TRL's gradient and ours, on the same tokens and verdicts: how far apart, as a share of their length?",
    ("some parts in a million", "some parts in a thousand", "some percent", "more than half"),
    "some parts in a million",
    answer="That is what 32 bits leave of two orders of summation. With one setting off it is 6 % to 193 %.",
)
prediction(
    "11.14",
    "Four right answers of 10 to 4,000 tokens, gamma = 0.999: which way does the exact gradient push?",
    ("to the short ones", "nowhere: all are right", "to the long ones"),
    "to the short ones",
    answer="The discount pays for shortness: a right answer after 4,000 tokens is worth 2 % of one after 10. "
    "With gamma = 1 the slope is zero.",
)
prediction(
    "11.15",
    "KL costs 0.3, 0.1, 0.0, 0.4, the answer earns 1. Each token pays for what it can change: the returns?",
    ("0.2, 0.2, 0.2, 0.2", "0.7, 0.6, 0.6, 0.2", "0.2, 0.5, 0.6, 0.6", "0.7, 0.9, 1.0, 0.6"),
    "0.2, 0.5, 0.6, 0.6",
    answer="Its own cost and what follows: the first token pays everything, the later ones are spared what "
    "was over before them. The sum charges 0.8 to all.",
)
