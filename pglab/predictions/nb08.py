"""Predictions of notebook 08."""

from pglab.predictions.register import prediction

prediction(
    "8.1",
    "Questions with no, two and three carries, eight answers to each. How many of the eight are right?",
    ("8, 7 and 6", "8, 3 and 0", "4, 4 and 4", "0, 0 and 0"),
    "8, 3 and 0",
    answer="The model has learned to forget carries, and each carry is one more thing to forget. All right or "
    "all wrong, a group has nothing to compare.",
)
prediction(
    "8.2",
    "512 questions, 64 answers each: the error bar of pass@1, next to the root of p(1-p)/32768, is ...?",
    ("as large", "twice as large", "six times as large", "a hundred times as large"),
    "six times as large",
    answer="It is 0.015 in place of 0.003 (their ratio before rounding is nearly six). The answers to one question are alike, so what counts is the number "
    "of questions, 512.",
)
prediction(
    "8.3",
    "The teacher dropped each carry with probability 0.7. The pass rate of questions with two carries?",
    ("about 0.5", "about 0.3", "about 0.1", "about 0.01"),
    "about 0.1",
    answer="It is 0.09, as 0.3 times 0.3: both carries must be remembered, and the model has taken over its "
    "teacher's habit. With no carry it is 0.99, with three 0.02.",
)
prediction(
    "8.4",
    "Forty steps of GRPO, each on 32 questions with eight answers: where is the share of right answers?",
    ("about 0.9", "about 0.5", "about 0.3, as before", "down at 0"),
    "about 0.9",
    answer="Right answers are pushed up, wrong ones down, and it takes a second or two. All that the model was "
    "ever told: of these eight answers, these are right.",
)
prediction(
    "8.5",
    "At the first step on a batch, with GRPO's weights: what is the value of the surrogate?",
    ("1", "minus the share right", "0"),
    "0",
    answer="Every ratio is 1, the answers have one length, and the weights of a group sum to zero. It teaches "
    "all the same: its gradient is the library's, to nine digits.",
)
prediction(
    "8.6",
    "By default, 256 answers a step: after how many answers are nine in ten right?",
    ("about 500", "about 3,500", "about 9,000"),
    "about 3,500",
    answer="It takes some 3,000 to 4,000 with three seeds: the skill was there, and answers that are right "
    "now and then are made likelier step by step.",
)
prediction(
    "8.7",
    "Do the likeliest answers change, too, or only how often they come?",
    ("they stay, and come more often", "they stay, and come less often", "many of them change"),
    "many of them change",
    answer="437+285= goes from 2170 to 2270. Right answers that were rare were found by sampling, and pushed "
    "up until they were the rule.",
)
prediction(
    "8.8",
    "After training: which questions have gained?",
    ("all, however many carries", "all but those with no carry", "all but those with three carries"),
    "all but those with no carry",
    answer="Of those with no carry 99 in 100 were right, and now fewer are: the policy has learned to carry, and sometimes "
    "carries where it should not. It is paid for the mean, and that has risen.",
)
prediction(
    "8.9",
    "At the start pass@1 is 0.31. How many groups of eight are all alike, all right or all wrong?",
    ("about 5 in 100", "about 20 in 100", "about 50 in 100"),
    "about 50 in 100",
    answer="It is half of all the work. The average rate would give 5 in 100, but the easy questions are always "
    "right and the hard ones always wrong.",
)
prediction(
    "8.10",
    "What becomes of the share of groups that are all alike, while the policy learns?",
    ("it falls, then rises", "it falls all the way", "it rises all the way", "it rises, then falls"),
    "it falls, then rises",
    answer="First, questions that were always wrong become possible. Then more and more are always right: near "
    "the end two thirds and more of the groups teach nothing.",
)
prediction(
    "8.11",
    "Groups all alike are not read on the way back, but still counted. By how much does the gradient change?",
    ("by about half", "by a few per cent", "not at all"),
    "not at all",
    answer="Their advantages are zero, and the gradient is the same to eleven digits, as long as the mean still "
    "counts them. Fewer rows are read; but the sampling is spent by then.",
)
prediction(
    "8.12",
    "c of n answers are right. As an estimate of pass@k, what is 1 - (1 - c/n)^k on average?",
    ("right", "too low", "too high"),
    "too low",
    answer="At p = 0.2 its mean is 0.5313, and the truth 0.5904. (1 - c/n)^k is bent upwards, so what is put in "
    "with noise comes out too high, and one minus it too low.",
)
prediction(
    "8.13",
    "Addition, after training: what have pass@64 and the entropy done?",
    ("both risen", "both fallen", "pass@64 risen, entropy fallen", "pass@64 fallen, entropy risen"),
    "pass@64 risen, entropy fallen",
    answer="pass@k rises at every k, while the entropy falls to less than half. Who knows a sum has no reason "
    "to vary the answer: low entropy alone proves no harm.",
)
prediction(
    "8.14",
    "Countdown, two models, each with settings of its own: what does pass@64 do?",
    ("it rises with both", "it falls with both", "it holds with one, falls with one"),
    "it holds with one, falls with one",
    answer="pass@64 goes from 0.99 to 0.98 with countdown, from 0.97 to 0.64 with countdown_solver; pass@1 "
    "rises in both. Corpus and settings differ: why, these runs do not say.",
)
prediction(
    "8.15",
    "The first twelve steps on Countdown, a few seconds: what does the share of right answers do?",
    ("it clearly rises", "too little to be seen", "it falls at first"),
    "it clearly rises",
    answer="The rate is kept at its start here, and the model knows how to write expressions; a few thousand "
    "answers are enough to see it. The recorded run has 375 steps.",
)
prediction(
    "8.16",
    "16 answers a step, rate 2e-4: which of these ends highest?",
    ("PPO, with its critic", "GRPO", "RLOO", "no baseline, paid {1, 2}", "no baseline, paid {0, 1}"),
    "no baseline, paid {0, 1}",
    answer="{0, 1} ends at 0.97 to 0.98, the others at most at 0.96: here wrong answers put nothing into the "
    "step. Paid {1, 2} it is last half-way, and at 1e-3 it ends at zero.",
)
prediction(
    "8.17",
    "Gradients with the group's mean, RLOO and Dr. GRPO, one batch, each of length 1: how far apart?",
    ("at right angles", "a few degrees", "not at all"),
    "not at all",
    answer="Where all answers have one length they differ by a factor alone, and Adam takes it out. What "
    "differs in the table is rounding, magnified: the noise of this comparison.",
)
prediction(
    "8.18",
    "{0, 1} and {1, 2}, 16 answers a step, rate 1e-3: when do the curves part?",
    ("within a few hundred answers", "after about 2,500 answers", "not within 3,200 answers"),
    "within a few hundred answers",
    answer="{1, 2} pushes wrong answers up, too, and 16 answers do not average that out. With 256 answers a "
    "step all nine algorithms end above 0.9, {1, 2} too.",
)
prediction(
    "8.19",
    "Would a verifier that pays {1, 2} have hurt the group weights as well?",
    ("yes, as much as REINFORCE", "GRPO alone, for it divides", "no, not at all"),
    "no, not at all",
    answer="What compares within a group does not see where the verifier puts its zero: the weights come out "
    "the same.",
)
prediction(
    "8.20",
    "When are wrong answers' scores more than ten times as long, in the square, as those of right ones?",
    ("before training alone", "after five steps alone", "both times"),
    "after five steps alone",
    answer="By then wrong answers are rare, and what a policy rarely does has a long score. Before training "
    "most answers are wrong: they are dear for their number.",
)
prediction(
    "8.21",
    "RLOO's noise next to that of no baseline (b = 0): before training, and after five steps?",
    ("quieter both times", "first alike, then noisier", "first noisier, then alike", "alike both times"),
    "first alike, then noisier",
    answer="After five steps a wrong answer is rare and its score long, and RLOO, unlike {0, 1}, takes it into "
    "the step. The noisiest of the four is {1, 2}.",
)
prediction(
    "8.22",
    "2170 forgets a carry at its second digit. What do the truth and the critic say of it there?",
    ("both fall to near 0", "truth falls, critic hardly notices", "critic falls, truth hardly notices"),
    "truth falls, critic hardly notices",
    answer="The truth is zero from there on: nothing can save this answer. The critic has had twelve steps, and "
    "says much the same along the right answer.",
)
prediction(
    "8.23",
    "At the first three digits: is the critic's squared error smaller than that of one constant?",
    ("no, it is larger", "yes, a little", "yes, by far"),
    "no, it is larger",
    answer="The policy improves faster than its critic, which lags behind. And PPO learns all the same, with no "
    "critic as well as with this one: its advantages are whitened.",
)
prediction(
    "8.24",
    "Ten times the default rate, and soon nothing is right. Does the entropy go to zero, too?",
    ("yes, soon after", "no"),
    "no",
    answer="The policy is wrong in several ways. Then nearly all groups are all wrong, there is next to nothing "
    "to learn from, and nothing calls it back in these forty steps.",
)
prediction(
    "8.25",
    "Running sums, before any reward: how often is a worked answer right, how often a direct one?",
    ("about 0.1 and 0.5", "about 0.5 and 0.1", "about 0.9 and 0.5", "about 0.1 and 0.1"),
    "about 0.5 and 0.1",
    answer="A direct answer is a guess, 0.11; a worked one, learned with slips in every tenth step, is right "
    "0.50 of the time. At T = 1 only 0.30 of the answers are worked, at T = 0.3 it is 0.92.",
)
prediction(
    "8.26",
    "Paid for right last digits alone: what does the mean length of the answers do?",
    ("it stays at four tokens", "it grows to nine tokens", "it shrinks to two tokens"),
    "it grows to nine tokens",
    answer="Worked answers have nine tokens and are right more than four times as often, so that is what pays. "
    "Under a coin's verdicts they do not grow.",
)
prediction(
    "8.27",
    "Running sums: which is learned first, the form (to work it out) or the skill (fewer slips)?",
    ("the form, then the skill", "the skill, then the form", "both at once"),
    "both at once",
    answer="While the share of worked answers rises, the share that is right rises behind it, faster than the "
    "form alone would bring.",
)
prediction(
    "8.28",
    "At T = 2, slips everywhere: is a worked answer still right more often than a direct one?",
    ("yes, four times as often", "yes, twice as often", "no, they are alike"),
    "no, they are alike",
    answer="Both are right one time in ten, so to the outcome reward they are equal: 0.99 of its gradient is "
    "chance. Paid for the steps it is 0.23, token by token 0.09.",
)
prediction(
    "8.29",
    "Addition at T = 2, paid for the end or for each right digit: which ends with the highest pass@1?",
    ("outcome: the end alone", "process: right digits, one number", "steps: right digits, by token"),
    "outcome: the end alone",
    answer="Its median is 0.74, that of the others 0.66 and 0.68; it is ahead in right digits, too. On running "
    "sums it does not learn at all, 0.10. Why, these runs do not say.",
)
prediction(
    "8.30",
    "A verifier with a hole, and room for more tokens. At which temperature is the hole found?",
    ("at 1 and at 1.5", "at 1.5 alone", "at neither"),
    "at 1.5 alone",
    answer="At 1.5 more slips happen, and some write more digits, which are more chances to be paid. At 1 right "
    "answers pay, and soon the policy writes little else.",
)
prediction(
    "8.31",
    "The hole is found. What does an answer look like after 10,240 of them?",
    answer="Digits until the room is used up: the more digits, the more chances. In all five seeds what "
    "is right ends below one in a hundred, what is paid above seven in ten.",
)
prediction(
    "8.32",
    "A run is stopped in its seventh step and goes on. To how many digits is it one that never stopped?",
    ("to the last bit", "to about six digits", "to about two digits"),
    "to the last bit",
    answer="What is drawn depends on the seed, the step and the weights alone, and the step in which it was "
    "stopped is taken again. So on one machine not a bit differs.",
)
prediction(
    "8.33",
    "GRPO divides by the group's deviation. Over the batch, what is the deviation of the advantages?",
    ("1 at every step", "below 1 at every step", "now above 1, now below"),
    "below 1 at every step",
    answer="Groups that are all alike count as zeros: squared, it is (G-1)/G times the share of mixed groups. "
    "The clip acts most early, on about one token in ten at the start.",
)
