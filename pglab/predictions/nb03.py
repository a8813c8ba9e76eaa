"""Predictions of notebook 03."""

from pglab.predictions.register import prediction

prediction(
    "3.1",
    "Subtract b = -10000, so that each weight is 10000 or 10001. What becomes huge?",
    ("the variance alone", "the mean alone", "both", "neither"),
    "the variance alone",
    answer="It grows from 0.2932 to 67,604,342. The mean does not move: b times the expected score is zero, "
    "whatever number b is.",
)
prediction(
    "3.2",
    "Subtract each answer's own reward; then only a quarter of it. What is left of the mean?",
    ("all, both times", "nothing, then all", "nothing, then three quarters", "half, then three quarters"),
    "nothing, then three quarters",
    answer="The weight is 0, then three quarters of the reward, and the mean follows: 0.1073 in place of "
    "0.1430. A baseline that looks at the answer is no constant to pull out.",
)
prediction(
    "3.3",
    'Now b is 1 for "4", a right answer, and 0 for the rest. What does the mean do to the logit of "4"?',
    ("raises it as before", "raises it less", "lowers it"),
    "lowers it",
    answer='It says -0.0374 where the gradient says 0.1430. The weight of "4" is now 0; only "four" speaks, and '
    "its score pushes all others down.",
)
prediction(
    "3.4",
    "The value E[R] as baseline, in place of none: by what factor does the variance fall?",
    ("about 1.1", "about 2.6", "about 10", "about 100"),
    "about 2.6",
    answer="From 0.293 to 0.114: as good as drawing 2.6 times as many samples.",
)
prediction(
    "3.5",
    "The best constant, in place of the value: how much further does the variance fall?",
    ("by about 10 %", "by about 50 %", "by about 90 %"),
    "by about 10 %",
    answer="From 0.114 to 0.101. The value, 0.39, lies near the best constant, 0.53, and near its lowest point "
    "a parabola is flat.",
)
prediction(
    "3.6",
    "0.2918 and 0.1134, measured with 200,000 samples: off by how many of their own standard errors?",
    ("less than 0.1", "about 2", "about 10", "about 50"),
    "about 2",
    answer="2.1 and 1.7: two errors or so is what chance does now and then. Nothing is wrong with them, except "
    "that their error bar is missing.",
)
prediction(
    "3.7",
    "Two answers, right with probability q. The value is q. What is the best constant b*?",
    ("1 - q", "q", "1/2", "q^2"),
    "1 - q",
    answer="Whichever answer is rare has the long score and the louder voice, so b* lies near its reward. And "
    "then no noise is left.",
)
prediction(
    "3.8",
    "Two answers, right with probability q. Where is the value noisier than nothing? How much, at q = 0.9?",
    ("from 1/3 on; 6 times", "from 2/3 on; 6 times", "from 1/3 on; 64 times", "from 2/3 on; 64 times"),
    "from 2/3 on; 64 times",
    answer="At 0.9 it is 0.1152 against 0.0018. With the value the rare wrong answer makes one big step; "
    "without it the frequent right one makes many small ones.",
)
prediction(
    "3.9",
    "Success rates 0.05 and 0.95. Subtract nothing, 1/2, or each prompt's value: which is best, which worst?",
    (
        "best: value, worst: nothing",
        "best: value, worst: 1/2",
        "best: 1/2, worst: nothing",
        "best: 1/2, worst: value",
    ),
    "best: 1/2, worst: value",
    answer="1/2 leaves 0.0192, nothing 0.0430, the value 0.0770. For two answers the best constant is 1 - q, "
    "and q lies on the wrong side.",
)
prediction(
    "3.10",
    "Each answer gets a second wording. From which share of it on is the value the quietest?",
    ("from about 1 %", "from about 13 %", "from about 40 %", "it never is"),
    "from about 13 %",
    answer="From 0.128 on it beats both. With more wordings the scores come closer in length, and with equal "
    "lengths the value is the best constant.",
)
prediction(
    "3.11",
    "100 wordings of each answer; then 100 of the wrong one only. Which baseline is best, each time?",
    ("the value, both times", "1/2, then the value", "the value, then 1/2", "the value, then nothing"),
    "the value, then nothing",
    answer="First 0.0478, the value's; then 0.0217, with nothing. Long scores count for more: if only the wrong "
    "wordings have them, b* lies near their reward, 0.",
)
prediction(
    "3.12",
    "The best constant leaves a variance of 0.1007. What do four baselines leave, one for each coordinate?",
    ("about 0.09", "about 0.04", "about 0.004", "0"),
    "about 0.04",
    answer="0.037, for the best numbers lie far apart, from 0.059 to 0.886. The price is each sample's gradient "
    "apart, where training computes only the sum.",
)
prediction(
    "3.13",
    "Subtract the mean of a group of two, own reward included. The mean of the estimate is then ...?",
    ("the gradient", "half the gradient", "of another direction", "zero"),
    "half the gradient",
    answer="Half of it, in the same direction. Half of the own reward is in that mean, so half of what it says "
    "is taken away.",
)
prediction(
    "3.14",
    "The other's reward is fixed. What does a baseline take from the mean, without and with the own reward?",
    ("nothing, nothing", "nothing, half a gradient", "half a gradient, a whole one"),
    "nothing, half a gradient",
    answer="Without the own reward the baseline is one fixed number, whatever was drawn. With it, half of the "
    "baseline is the own reward, and takes half of the gradient along.",
)
prediction(
    "3.15",
    "Paid 0 and 1. Leave-one-out or no baseline: which is quieter with two samples, and with three?",
    (
        "leave-one-out, both times",
        "no baseline, both times",
        "first leave-one-out, then none",
        "first none, then leave-one-out",
    ),
    "first none, then leave-one-out",
    answer="With two, 0.1466 without a baseline and 0.1714 with leave-one-out: one other sample is a poor guess "
    "of E[R]. With three, 0.0977 and 0.0761.",
)
prediction(
    "3.16",
    "Two samples. Is leave-one-out quieter than no baseline if paid 1 and 2? If paid -1 and 1?",
    ("yes, yes", "yes, no", "no, yes", "no, no"),
    "yes, no",
    answer="Paid 1 and 2, 0.1714 against 0.8453: 0 is far from all rewards. Paid -1 and 1, 0.6855 against 0.2030: "
    "0 happens to lie near b*.",
)
prediction(
    "3.17",
    "Two answers, right with probability q, 64 samples. For which q is leave-one-out noisier than nothing?",
    ("for no q", "below about 1/3", "above about 2/3", "for every q"),
    "above about 2/3",
    answer="From 0.664 on. Many samples bring leave-one-out to the value, and beyond two thirds the value itself "
    "is worse than nothing.",
)
prediction(
    "3.18",
    "One answer for each prompt, its batch mean subtracted. What is left of the gradient?",
    ("nothing", "half of it", "all of it"),
    "nothing",
    answer="The average of one sample is the sample, so every weight is 0, and nothing is learned at all.",
)
prediction(
    "3.19",
    "One answer for each prompt. What would you subtract in place of its own reward?",
    answer="The classic way is a moving average of earlier rewards. It has not seen this answer, so it is legal; "
    "the next cell says what it costs.",
)
prediction(
    "3.20",
    "Name a baseline with a huge mean advantage and no bias, and one with mean advantage 0 and a bias.",
    answer="b = -10,000 has a mean advantage of ten thousand and bias 0.0. The batch mean has 0 in every group, and "
    "in groups of four 0.75 of the gradient.",
)
prediction(
    "3.21",
    "Paid 2 and 1, one sample. The mean cosine of estimate and gradient, with b = 0 and with b = E[R]?",
    ("negative with b = 0", "negative with b = E[R]", "both positive, b = 0 less so", "the same for both"),
    "negative with b = 0",
    answer="-0.15 and 0.70. With b = 0 only the two right answers step uphill, 39 % of the samples. Their steps "
    "are the long ones, and a cosine does not see length.",
)
prediction(
    "3.22",
    "Paid 2 and 1, b = 0, and only the signs of the estimate are used. Which logits fall, on average?",
    ("none", "those of the wrong answers", "those of the right answers", "all four"),
    "all four",
    answer="All four, those of the right answers too: each sample raises its own logit and lowers three, by "
    "one each. With the value, the right ones rise again.",
)
prediction(
    "3.23",
    "T steps, each with its own reward; the mean over the steps of the same answer is subtracted. Legal?",
    ("yes", "no, 1/T of the gradient is lost", "no, half of the gradient is lost", "no, its direction turns"),
    "no, 1/T of the gradient is lost",
    answer="T = 2 leaves 0.5 of it, T = 8 leaves 0.875. The mean over the steps has seen the own action, as a "
    "batch mean has; and answers differ in T.",
)
