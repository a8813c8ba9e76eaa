"""Predictions of notebook 02."""

from pglab.predictions.register import prediction

prediction(
    "2.1",
    "Four answers, so four possible estimates of g. Is one of them g? Are any two of them the same?",
    (
        "none is g, two are the same",
        "none is g, all differ",
        "one is g, two are the same",
        "one is g, all differ",
    ),
    "none is g, two are the same",
    answer="The two wrong answers have the same estimate, zero: paid 0, they teach nothing. The right ones "
    "give two more, and only the average of all four is g.",
)
prediction(
    "2.2",
    "The signal, |g|^2, is about 0.07. How large is the noise of one sample's estimate, the trace?",
    ("about a quarter of it", "about the same", "about 4 times as much", "about 40 times as much"),
    "about 4 times as much",
    answer="0.293 against 0.068: a single answer speaks for all four, and each of the four estimates lies far "
    "from g.",
)
prediction(
    "2.3",
    "Two standard errors promise to catch the truth in 95 of 100 experiments. Who keeps the promise?",
    ("those with n = 10", "those with n = 1000", "both", "neither"),
    "those with n = 1000",
    answer="95.7 % of them catch it, with n = 10 only 87.7 %: from ten samples the standard deviation is a "
    "guess itself, and the bars come out too short.",
)
prediction(
    "2.4",
    "The mean of two samples' estimates in place of one: what is left of the trace?",
    ("about 0.7 of it", "a quarter of it", "half of it"),
    "half of it",
    answer="Exactly half. Independent errors cancel in a mean, and N samples leave 1/N of the trace.",
)
prediction(
    "2.5",
    "The distance from g is the root of the trace. How many times as many samples halve it?",
    ("1.4 times", "2 times", "4 times", "8 times"),
    "4 times",
    answer="The trace falls as 1/N, so its root falls as one over the root of N. Half the distance costs "
    "four times the samples.",
)
prediction(
    "2.6",
    "Twelve seeds, each with other samples. Do all end at a right answer, and all at the same one?",
    ("all right, all the same", "all right, not the same", "some end at a wrong answer"),
    "all right, not the same",
    answer='All end above J = 0.95, some at "4", some at "four". Both answers earn 1, so nothing pulls the '
    "seeds together again.",
)
prediction(
    "2.7",
    "Right pays 1, wrong pays 0, nothing is subtracted. What does a failed answer do to the gradient?",
    ("it pushes itself down", "nothing by itself", "it pushes the right ones up"),
    "nothing by itself",
    answer="Its weight is 0, so its part is 0.0000. Its logit falls all the same: in one softmax the scores of "
    "the right answers push all others down.",
)
prediction(
    "2.8",
    "Paid {0, 1}, {1, 2} or {-1, 0}, one sample a step: do all three train equally well?",
    ("yes, equally well", "{0, 1} is the worst", "{1, 2} is the worst", "{-1, 0} is the worst"),
    "{1, 2} is the worst",
    answer="6 of its 20 seeds end on wrong answers, 0 of the others: it pushes up whatever is sampled, a wrong "
    "answer too, and that comes again. The mean step is the same for all.",
)
prediction(
    "2.9",
    "J rises at every step of the exact gradient. What does the expected surrogate loss do?",
    ("it falls all the way", "it rises all the way", "it falls, then rises", "it rises, then falls"),
    "it rises, then falls",
    answer="From 0.63 up to 0.70, then down to 0.29. The samples change with the policy, so the values of two "
    "steps are about different data.",
)
prediction(
    "2.10",
    "A ratio in place of the logarithm, weights centred on the batch's mean. The loss on the first step?",
    ("1", "0", "minus the batch's mean reward"),
    "0",
    answer="Every ratio is 1 and the weights sum to 0, so the value is exactly 0. The gradient is not: "
    "the derivative of the ratio is the score.",
)
prediction(
    "2.11",
    "The weight is not held constant. For which weight does only the length of the step change?",
    ("R - J(theta)", "R - beta log(pi / rho)", "both", "neither"),
    "R - J(theta)",
    answer="With J every logit's step grows by the same factor, 1 + H: 0.3219 in place of 0.1430. The penalty "
    'leaks an entropy bonus, and "22" shrinks where it should grow.',
)
prediction(
    "2.12",
    "Old samples, and the policy has moved. Does the importance ratio repair the bias entirely?",
    ("yes, entirely", "only after small steps", "no, about half of it"),
    "yes, entirely",
    answer="The old chance times the ratio is the new chance. Here it pays in noise: at step size 4 the trace "
    "is 0.58, with fresh samples 0.33.",
)
prediction(
    "2.13",
    "The same four samples that made the step are used again, with the ratio. Is the bias repaired?",
    ("yes, entirely", "a part of it stays", "it gets larger than without"),
    "a part of it stays",
    answer="At step size 4 its length is 0.057, without the ratio 0.112. The proof held the new policy fixed, "
    "and this one was made from the very batch.",
)
prediction(
    "2.14",
    "A batch used twice, step size 0.5: is the bias always smaller with the ratio than without?",
    ("yes, always", "not with few samples", "not with many samples"),
    "not with few samples",
    answer="With one sample it is 0.0692, and 0.0478 without; with sixteen it is 0.0043, and 0.0233 without. "
    "What the ratio cannot repair falls about as 1/N.",
)
prediction(
    "2.15",
    'Only "22" and "4" are drawn, the full softmax is scored. The expected score, and where does "four" go?',
    ("not zero, and down", "not zero, and up", "zero, and up", "zero, and down"),
    "not zero, and down",
    answer='The expected score is sampler minus policy. "four" is right but never drawn, so only its minus pi '
    "is left: -0.0525, where the gradient says 0.0959.",
)
prediction(
    "2.16",
    "Two answers, each given once, each with chance 1/2; weights 1 and 0.1. The second becomes ...?",
    ("more likely", "less likely", "neither"),
    "less likely",
    answer="Its logit moves by -0.45: its own weight, 0.1, minus pi times the sum of all weights, half of 1.1.",
)
prediction(
    "2.17",
    "Adam, and every weight is multiplied by 0.001. How much shorter is its first step?",
    ("1,000 times", "about 30 times", "not shorter"),
    "not shorter",
    answer="0.2000 both times, where plain ascent goes from 0.0923 to 0.0001. Adam divides by the "
    "gradient's own size, so its first step knows only the signs.",
)
prediction(
    "2.18",
    "Paid {1, 2}, J = 0.865, one sample: what does a gigantic step gain on average?",
    ("about 0.13", "nothing", "a loss of about 0.13", "a loss of about 0.86"),
    "nothing",
    answer="The step turns the policy into a copy of its one sample, right with chance 0.87. That earns J on "
    "average, as before.",
)
prediction(
    "2.19",
    "Paid {1, 2}, from 1 to 8 samples: what happens to the best step size?",
    ("it shrinks", "it stays about the same", "it grows about 2 times", "it grows about 7 times"),
    "it grows about 7 times",
    answer="From 1.5 to 10.5. With more samples a step leads less often to a wrong answer, and can afford to be "
    "long.",
)
