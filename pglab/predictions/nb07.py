"""Predictions of notebook 07."""

from pglab.predictions.register import prediction

prediction(
    "7.1",
    "437+285= is answered 2270 and the end. At which of these tokens is the model unsure?",
    ("the first digit", "the second digit", "the end", "all three"),
    "the second digit",
    answer="Here 3 + 8 meets a carried 1, and two thirds of the probability are on 1, the digit without the "
    "carry. Of the first digit, and of the end, it is sure.",
)
prediction(
    "7.2",
    "The model answers 437+285= eight times. How many of the eight are right?",
    ("nearly all", "about four", "about two", "none"),
    "about two",
    answer="Two are. The probability of the right answer is 0.15, the product of its tokens' probabilities; "
    "so its log-probability is the sum of theirs.",
)
prediction(
    "7.3",
    "At most four tokens: nine digits and the end. How many completions are there, how many right?",
    ("7,381 and 45", "10,000 and 36", "6,561 and 84", "7,381 and 129"),
    "7,381 and 45",
    answer="1 + 9 + 81 of them stop early, the others have four tokens. Two digits sum to ten in 9 ways, "
    "three in 36; four digits leave no room for the end token.",
)
prediction(
    "7.4",
    "The pretrained policy's completions that stop: what do their digits sum to?",
    (
        "anything from 2 to 18, about alike",
        "9, 10 and 11 alike, nothing else",
        "a hill around ten",
        "ten alone",
    ),
    "a hill around ten",
    answer="It has learned roughly what the corpus looks like: ten comes with 0.27, and its neighbours often. "
    "The reward then picks out the ten: 0.57 half-way up, 0.85 trained.",
)
prediction(
    "7.5",
    "The exact sum, autograd, moving all 3,408 parameters: how well do the slopes agree?",
    ("in sign and size, roughly", "in two decimals", "in six decimals"),
    "in six decimals",
    answer="Moving the parameters agrees in six decimals, 0.425070 along the gradient, and autograd in ten. "
    "The score-function gradient of a transformer is its gradient.",
)
prediction(
    "7.6",
    "100 groups of four: how near does their mean squared distance come to the exact variance?",
    ("within about 1 %", "within about 10 %", "within a factor of two"),
    "within about 10 %",
    answer="Leave-one-out: 16.34 +- 1.49 for 15.20, GRPO: 32.84 +- 2.96 for 30.38. Both lie within the error "
    "bars, and their width is what 100 groups can say.",
)
prediction(
    "7.7",
    "Squared bias plus variance, four samples: which of these has the least error?",
    ("leave-one-out", "the value, b = J", "GRPO", "the optimal constant"),
    "the optimal constant",
    answer="The optimal constant has 8.23; but nobody tells us what it is. Leave-one-out, 15.20, does not even "
    "beat no baseline, 9.37: it estimates the value from few samples.",
)
prediction(
    "7.8",
    "A verifier pays 2 and 1, not 1 and 0. Leave-one-out of four: its variance next to no baseline's?",
    ("1.62 times, as before", "about the same", "a seventh"),
    "a seventh",
    answer="Leave-one-out does not see the shift, and no baseline suffers from it. Paid 1 and 0, "
    "leave-one-out of four is noisier at all five policies; of 64 samples it is quieter at one.",
)
prediction(
    "7.9",
    "KL term attached, beta = 0.1. A run starts at its reference: by what part of the gradient is it off?",
    ("by nothing, the KL is 0 there", "by about a tenth", "by about two thirds", "by several gradients"),
    "by about two thirds",
    answer="It is off by 0.665: what is added is beta times the gradient of the entropy, and that is not zero "
    "where the KL is. Half-way it is a tenth, 0.104.",
)
prediction(
    "7.10",
    "The KL term is left attached, so being undecided is paid. What does J do, in eight runs of 60 steps?",
    ("it rises, but less than detached", "it rises as high as detached", "it rises, then falls to the start"),
    "it rises, but less than detached",
    answer="Each attached run ends below each detached one, with more entropy, 4.8 to 5.2. It climbs another "
    "objective, whose best policy has J = 0.967.",
)
prediction(
    "7.11",
    "The prompt takes part in the loss. What does its score s_x add with the weight r - J?",
    ("J times s_x", "s_x itself", "(1 - J) times s_x", "nothing"),
    "nothing",
    answer="The prompt's score is the same for all completions, and r - J is zero on average. With the weight r "
    "it adds J times s_x, five times as long as the gradient itself.",
)
prediction(
    "7.12",
    "The prompt takes part, with weights that sum to zero. Which of the four ways then turns the step?",
    ("token_mean and sequence_mean", "sequence_mean alone", "all but sum", "all four"),
    "sequence_mean alone",
    answer="There each row is divided by L + 1 in place of L: the rows count otherwise, and the prompt no longer "
    "cancels. token_mean keeps the direction, but divides by 16 in place of 12.",
)
prediction(
    "7.13",
    "Row means with the prompt in: which of the two errors is the larger?",
    ("the wrong lengths", "what is left of the prompt's score", "both about alike"),
    "the wrong lengths",
    answer="The lengths alone put the step off by 0.265 of its length, the prompt's score by 0.015: "
    "nearly all of that score still cancels.",
)
prediction(
    "7.14",
    "With the weight r, which of these slips costs next to nothing?",
    ("filling with 9 takes part", "filling with ends takes part", "the end token is left out"),
    "filling with ends takes part",
    answer="It costs 0.001 of the gradient: this network is sure that an end is followed by ends, and a sure "
    "token has almost no score. The other two cost 0.725 and 0.716.",
)
prediction(
    "7.15",
    "The loss leaves out the end token. What do the eight curves of J do in 80 steps?",
    ("all climb and stay", "some climb, then fall far", "all fall from the start"),
    "some climb, then fall far",
    answer="Some fall far, sooner or later; others show little in 80 steps. But one of the right runs falls as "
    "well, and comes back: a fall alone betrays nothing.",
)
prediction(
    "7.16",
    "A broken run whose J fell below one half: with what probability does it never stop?",
    ("0.05 or less", "about 0.25", "more than 0.5"),
    "more than 0.5",
    answer="It is 0.63 to 0.99. The right run that fell to J = 0.21 went on stopping, with wrong sums. So "
    "watch the share of completions that were cut off.",
)
prediction(
    "7.17",
    "A table, one softmax for each beginning, climbs with the broken loss. Where does its J end?",
    ("near 0", "near one half", "near 1"),
    "near 1",
    answer="J comes to 0.997: the table keeps the stop that it brought along. The network ends at 0.466; its "
    "shared weights carry 'do not end' from two digits over to three.",
)
prediction(
    "7.18",
    "The end token left out again, now with leave-one-out weights. How do the eight runs end?",
    ("all high", "three low, as before", "all low"),
    "all high",
    answer="They end at 0.93 to 0.99: what right completions push up, wrong ones push down. The other slips end "
    "high as well; they show in what should not move, the prompt's token and the 9.",
)
prediction(
    "7.19",
    "No shift: logits that have already read the token score it. With the weight r, the mean step points ...?",
    ("along the gradient, only shorter", "at right angles to it", "away from it"),
    "away from it",
    answer="The cosine is -0.430, and the step is several times as long as the gradient. The mean score is 12 "
    "long in place of zero, so a baseline changes the mean.",
)
prediction(
    "7.20",
    "Training with no shift, or with two, and leave-one-out weights: what does J do?",
    ("it climbs more slowly", "it falls", "it stands still"),
    "it falls",
    answer="All sixteen runs fall, and so do the exact mean steps, to 0.03 and 0.06: it is not noise. A cosine "
    "above zero at the first step is no promise for the next.",
)
prediction(
    "7.21",
    "Of two tokens one is chosen. How much smaller is its squared score at p = 0.99 than at p = 0.5?",
    ("2 times", "50 times", "2,500 times"),
    "2,500 times",
    answer="It is 0.0002 in place of 0.5: 50 times smaller in length, and that squared. In 3 7 end the end "
    "token is pushed least, the more so the surer the policy becomes.",
)
prediction(
    "7.22",
    "Are completions that begin with 3 better or worse than average? How many samples would show it?",
    ("millions", "about ten thousand", "about a hundred"),
    "millions",
    answer="They earn almost what all earn: the mean weight is -0.0008, and to show it takes 8e+06 samples. For "
    "an 8 it takes thousands. Only averages tell which token earned the reward.",
)
prediction(
    "7.23",
    "Sampled at T, scored by the plain softmax. For which T from 0.3 to 2 is the expected score zero?",
    ("for every T", "for T = 1 alone", "for every T up to 1", "for every T from 1 on"),
    "for T = 1 alone",
    answer="The score has mean zero only where the sampler is the policy. At T = 0.3 its mean is 13 gradients "
    "long; at T = 0.7 the step is off by 0.8 gradients, with a baseline or without.",
)
prediction(
    "7.24",
    "At each place only the top 5 of ten tokens are drawn. How much of its probability does the policy lose?",
    ("about 5 %", "about 15 %", "about 50 %", "about 90 %"),
    "about 50 %",
    answer="It loses 0.471: every token of a completion must pass the cut. Top-k is no gentler than a "
    "temperature: without a baseline the bias is 2.695 gradients, at T = 0.7 it is 0.814.",
)
prediction(
    "7.25",
    "Sampled at T and scored at T: of what is the mean estimate the exact gradient?",
    ("of the policy's expected reward, J", "of the sampler's expected reward", "of no objective"),
    "of the sampler's expected reward",
    answer="Moving the parameters finds the same slope of it, 0.9561 at T = 0.7, and the mean score is zero "
    "again. Nothing is biased, and another policy is trained.",
)
prediction(
    "7.26",
    "The plain score, times the importance weight pi / mu: for which samplers is its mean the gradient of J?",
    ("for all four", "for T = 0.7 alone", "for T = 0.7 and top p", "for the three cuts"),
    "for T = 0.7 alone",
    answer="A temperature is undone exactly. The cuts stay off by 0.514 to 1.522 gradients: what the sampler "
    "never draws no weight can bring back.",
)
prediction(
    "7.27",
    "Two prompts alone or in one batch, with a cache or without: what can one rely on in 32 bits?",
    ("the last bit", "five decimals", "two decimals"),
    "five decimals",
    answer="Five decimals in 32 bits, twelve in 64. Another shape may add the same numbers in another order, "
    "and each sum is rounded.",
)
