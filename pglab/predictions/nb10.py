"""Predictions of notebook 10."""

from pglab.predictions.register import prediction

prediction(
    "10.1",
    "One line of PPO's code is wrong in five of ten runs. How will the share of right answers show it?",
    ("hardly at all", "they learn, and end lower", "they never learn"),
    "hardly at all",
    answer="Five are a little slower between steps 5 and 12, and all ten end near 0.95. Whether the slower "
    "ones are the ill ones no curve says; the panel will.",
)
prediction(
    "10.2",
    "GRPO's advantages over a whole batch of 32 groups of eight: what are their mean and deviation?",
    ("0, and 1", "0, and less than 1", "above 0, and 1", "above 0, and less than 1"),
    "0, and less than 1",
    answer="Each group is centred on its own mean. Groups that are all alike count as zeros, and in the "
    "others the sample deviation leaves 7/8 of the square.",
)
prediction(
    "10.3",
    "A healthy step of 256 answers: how much of its gradient's squared length is chance?",
    ("next to nothing", "about a half", "nearly all of it"),
    "about a half",
    answer="The four micro-batches agree in part: there is a direction, and a good deal of chance beside it. "
    "A healthy run can live with that.",
)
prediction(
    "10.4",
    "A run of GRPO that goes well: which of these curves does not come to rest near zero?",
    ("clip_fraction", "zero_std", "kl", "entropy"),
    "zero_std",
    answer="When most questions are always right, most groups are all alike, so this share rises. The "
    "entropy sinks as the policy becomes sure; clip fraction and KL stay small, but for single peaks.",
)
prediction(
    "10.5",
    "True, or not: an answer with advantage 0 belongs to a group whose rewards are all equal?",
    ("true", "not true"),
    "not true",
    answer="With rewards 0, 1/2 and 1 the middle answer is exactly the mean: its advantage is 0, and the "
    "group is not all alike.",
)
prediction(
    "10.6",
    "A token has A = 0, and is likelier than under the reference. With k3 in the loss: is it pushed?",
    ("no, not at all", "yes, up", "yes, down"),
    "yes, down",
    answer="The KL pulls it back to the reference, with a slope of 0.0253, whatever the reward was. So an "
    "equal group changes something after all.",
)
prediction(
    "10.7",
    "Two answers of 2 tokens, beside them an equal group of 16 tokens: what does one of the four weigh?",
    ("0.25, as it does alone", "0.125, in place of 0.25", "0.05, in place of 0.25"),
    "0.05, in place of 0.25",
    answer="A mean over tokens divides by all 20, and 16 of them are silent. The equal group makes "
    "everybody's step smaller.",
)
prediction(
    "10.8",
    "The bandit of notebook 01, one small step along the exact gradient: what does the entropy do?",
    ("it rises", "it stays as it is", "it falls"),
    "it rises",
    answer="By 0.0556 for each unit of step: the likeliest answer is wrong, and probability flows away from "
    "it. It falls later, once right answers lead.",
)
prediction(
    "10.9",
    "Two baselines, the group's own mean and a constant -10,000: which makes the expected gradient wrong?",
    ("the group's own mean", "the constant -10,000", "both", "neither"),
    "the group's own mean",
    answer="It contains the answer itself, and leaves three quarters of the gradient in groups of four, with "
    "a mean advantage of 0. The constant has a mean of ten thousand, and no bias.",
)
prediction(
    "10.10",
    "60 healthy curves, each beside four siblings: how many leave their range three times in a row?",
    ("none", "about 3", "about 20", "about 40"),
    "about 40",
    answer="41 do: four runs leave much room between them. Widened by its own width on both sides, the range "
    "lets a single healthy curve ring.",
)
prediction(
    "10.11",
    "Rewards are 0 or 1, and A = R - V with a critic V. How large can an honest mean advantage be?",
    ("at most 1/2", "at most 1", "at most 2", "as large as it likes"),
    "at most 1",
    answer="An honest V lies between 0 and 1, as the rewards do. In the five broken runs the mean climbs to "
    "2.",
)
prediction(
    "10.12",
    "V is not detached in the policy's loss, and the critic's loss has the weight 1/2. Where does V end?",
    ("at what is paid", "1 below what is paid", "2 below what is paid", "it falls for ever"),
    "2 below what is paid",
    answer="The policy's loss pulls V down with a slope of 1, the critic's back with (R - V) / 2: they "
    "balance where R - V is 2.",
)
prediction(
    "10.13",
    "A baseline has seen the action. What becomes of the expected gradient as the group grows?",
    ("it stays exact", "it shrinks, direction kept", "it grows without bound", "it shrinks, and turns"),
    "it shrinks, and turns",
    answer="The larger the group, the better the baseline knows what the action earns, and takes exactly "
    "that away: at G = 16 0.04 of the length is left, with a cosine of 0.63.",
)
prediction(
    "10.14",
    "Logits are read one place late, old ones come from the sampler. What do KL and reward do at first?",
    ("KL large, reward rises", "KL large, reward falls", "KL small, reward rises", "KL small, reward falls"),
    "KL large, reward rises",
    answer="Eight nats after one update: two programs speak of different tokens. And still the reward rises "
    "for some steps, from 0.28 to 0.34, before it sinks to 0.12.",
)
prediction(
    "10.15",
    "Now the old numbers come from the same wrong code. What does the KL say, with one update and with two?",
    ("0, and small", "0, and large", "large, and large", "0, and 0"),
    "0, and large",
    answer="With one update wrong is compared with the same wrong: all ratios are 1. The second finds the "
    "policy above 0.3, where all twins are below 0.03.",
)
prediction(
    "10.16",
    "The mask covers the prompt. With which weights and denominator does a prompt token weigh nothing?",
    ("(1, 0), row means", "(1, 0), a constant", "(1/2, -1/2), row means", "(1/2, -1/2), a constant"),
    "(1/2, -1/2), a constant",
    answer="There the two rows cancel exactly, and the mistake hides. Row means weigh the shorter row more, "
    "and with rewards of 0 and 1 nothing is there to cancel.",
)
prediction(
    "10.17",
    "Pass rate 1 in 1,000, groups of eight: how many groups are all alike, how many batches of 32 silent?",
    ("half, and none", "9 of 10, and 1 of 20", "99 of 100, and 3 of 4", "all, and all"),
    "99 of 100, and 3 of 4",
    answer="A group sees a success about 8 times in 1,000, so 0.992 of them see none; and 32 groups in a row "
    "see none in 0.774 of the batches.",
)
prediction(
    "10.18",
    "A baseline of -3 in place of 0.3: what becomes of bias and variance of one sample?",
    ("a bias, variance as before", "no bias, 60 times the variance", "no bias, 6 times the variance"),
    "no bias, 60 times the variance",
    answer="A constant never moves the mean. But every sample is pushed up with a weight of 3 or 4, so the "
    "variance is 8.54 in place of 0.14: some 127 samples in place of two.",
)
prediction(
    "10.19",
    "The mean of n batches: its distance from the truth, in standard errors. What does it do as n grows?",
    (
        "noise: stays small; bias: grows",
        "noise: grows; bias: stays",
        "noise: shrinks; bias: stays",
        "noise and bias: shrinks",
    ),
    "noise: stays small; bias: grows",
    answer="The standard error shrinks as n grows, and noise shrinks with it. A bias does not, so it is more "
    "and more bars away from the truth.",
)
prediction(
    "10.20",
    "A learned critic is read one token late, 55 curves of the panel: how many alarms ring?",
    ("one", "about 10", "about 25", "all of them"),
    "one",
    answer="About as many as among healthy curves. Beside a twin with the same answers there is a trace, "
    "though: the first gradient is 17 to 28 per cent longer.",
)
prediction(
    "10.21",
    "Ratio 1/2 or 2, advantage 1 or -1, bounds 0.8 and 1.2: which tokens should still have a slope?",
    ("1/2 with 1, and 2 with 1", "1/2 with 1, and 2 with -1", "1/2 with -1, and 2 with 1", "all four"),
    "1/2 with 1, and 2 with -1",
    answer="Those that went the wrong way are pulled back; those that went the right way, far enough, are "
    "held. The suspect does the reverse.",
)
prediction(
    "10.22",
    "Which kind of mistake could the panel have shown, and which only a test?",
    answer="What changes a number of the panel, somebody who knows the healthy range could have seen. What "
    "shows as NaN, or only if one thing is changed, the panel does not show in time.",
)
prediction(
    "10.23",
    "A loss of three lines trains, and its numbers look like numbers. How many mistakes does it have?",
    ("none", "one", "two", "four"),
    "four",
    answer="The larger of two gains in place of the smaller, a mask that multiplies, a mean that can be 0/0, "
    "and advantages that let a gradient through.",
)
prediction(
    "10.24",
    "One update on each batch, finite numbers, detached weights: how many of the four would a run show?",
    ("none", "one", "two", "all four"),
    "none",
    answer="On fresh samples the two losses have the same slopes. With several updates on a batch the first "
    "shows, in a KL that runs away.",
)
prediction(
    "10.25",
    "Rules that read the panel of one run alone, 24 runs of the clinic: how many do they name rightly?",
    ("about a quarter", "about a half", "about three quarters", "all of them"),
    "all of them",
    answer="Each fault leaves its mark in some number. But the thresholds belong to this task and these "
    "settings.",
)
prediction(
    "10.26",
    "The end token is left out of the loss. What differs from a twin's first step? What do the rules say?",
    ("nothing; healthy", "the gradient; healthy", "the gradient; a fault", "the length; a fault"),
    "the gradient; healthy",
    answer="Answers and rewards are the same, so whatever differs comes from the loss: the gradient is "
    "longer by half and more. Later nothing is odd, so the rules see nothing.",
)
