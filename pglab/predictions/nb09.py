"""Predictions of notebook 09."""

from pglab.predictions.register import prediction

prediction(
    "9.1",
    "In how many of the four terms does GRPO differ from Dr. GRPO? And from DAPO?",
    ("in 1, and in 2", "in 2, and in 2", "in 2, and in 3", "in 3, and in 4"),
    "in 2, and in 3",
    answer="Dr. GRPO changes the weight and the denominator. DAPO changes these two in its own way, and the "
    "bounds of the constraint as well.",
)
prediction(
    "9.2",
    "One setting of GRPO is changed. Gradient moves: always a new column, too? And the reverse?",
    ("always; always", "always; not always", "not always; always", "not always; not always"),
    "always; not always",
    answer="Twelve of nineteen settings move the gradient, each with its column. The penalty for length "
    "changes a column and moves nothing here: no answer of this batch is too long.",
)
prediction(
    "9.3",
    "RLOO's weight divided by Dr. GRPO's, for groups of 2, 4 and 8: what is it?",
    ("1 in all three", "0.50, 0.75, 0.88", "2.00, 1.33, 1.14", "another one for each answer"),
    "2.00, 1.33, 1.14",
    answer="It is G / (G - 1), for every answer alike: leaving oneself out of the mean makes the same "
    "difference larger, and changes no direction.",
)
prediction(
    "9.4",
    "GRPO's expected gradient over the true one, for each of four answers: what are the quotients?",
    ("all equal, and 1", "all equal, and not 1", "not equal: the direction turns"),
    "all equal, and not 1",
    answer="With two reward values and one prompt both gradients lie on one line, so the division changes "
    "the length alone: by 0.71 for G = 2, by 1.91 for G = 16.",
)
prediction(
    "9.5",
    "At which pass rates is GRPO's factor c(p, G) larger? And for which G is it a constant?",
    (
        "at the ends; for 2 and 3",
        "at the ends; for no G",
        "in the middle; for 2 and 3",
        "in the middle; for no G",
    ),
    "at the ends; for 2 and 3",
    answer="Easy and hard prompts have small deviations, and these stand below the line. With 2 or 3 answers "
    "every mixed group has the same deviation.",
)
prediction(
    "9.6",
    "Which function of the pass rate p has the slope 1 / √(p(1 − p))?",
    ("log p", "2 arcsin √p", "√(p(1 − p))", "log p − log(1 − p)"),
    "2 arcsin √p",
    answer="It is steep at both ends, so the last hundredth is worth 0.16, more than the step from 0.50 to "
    "0.55, which is worth 0.10. Large groups climb it.",
)
prediction(
    "9.7",
    "Rewards 10, 0, 0, 1. The true gradient lowers the fourth. What does GRPO do, in groups of 4?",
    ("it lowers it more", "it lowers it less", "it leaves it alone", "it raises it"),
    "it raises it",
    answer="By 0.036, where the true slope is -0.241. In a group without the 10 the 1 is the best there is, "
    "and the division makes as much of it as of a 10.",
)
prediction(
    "9.8",
    "One prompt pulls theta up, five at pass rate q down, in sum up. At which q does GRPO (G = 8) go down?",
    ("at no q", "at q = 0.95, not at 0.97", "at 0.97, not at 0.95", "at both"),
    "at q = 0.95, not at 0.97",
    answer="It goes downhill for q from 0.948 to 0.961. Five nearly solved prompts have small deviations, "
    "and divided by these their little counts for more than the sixth's much.",
)
prediction(
    "9.9",
    "Eight equal rewards of 0.7 in 32 bits, eps = 1e-9: how large can the formula's weight be?",
    ("exactly 0", "about 0.001", "about 1", "about 60"),
    "about 60",
    answer="Without the mean a rest of rounding is left; in one pass the deviation comes out as 0, and eps "
    "alone stands below it. max == min finds such a group, and takes no other for it.",
)
prediction(
    "9.10",
    "Each answer's sum is divided by its own length. What becomes of right and of wrong answers?",
    (
        "right longer, wrong shorter",
        "right shorter, wrong longer",
        "both longer",
        "both shorter",
        "neither moves",
    ),
    "right shorter, wrong longer",
    answer="Wrong ones grow from 3.77 to 5.99 tokens, right ones shrink to 2.00: in a long wrong answer each "
    "token is punished less. A constant moves neither.",
)
prediction(
    "9.11",
    "Answers of 1 and of 6 tokens, mean over sequences: how much more does the short one's token weigh?",
    ("as much as the other", "2.5 times as much", "6 times as much", "36 times as much"),
    "6 times as much",
    answer="Every answer has one sixth of the whole and deals it out to its tokens: 0.1667 for the one, "
    "0.0278 for each of six. The other three denominators weigh all tokens alike.",
)
prediction(
    "9.12",
    "Of 203 splits, how many does each survive: token mean, sequence mean, constant, sum?",
    ("203, 27, 27, 203", "3, 27, 27, 1", "27, 27, 27, 1", "1, 203, 203, 203"),
    "3, 27, 27, 1",
    answer="Means over rows need heaps with equally many answers (27 splits), the token mean heaps with "
    "equally many tokens (3). The mean of sums is the sum in one heap only.",
)
prediction(
    "9.13",
    "One of six answers is empty. What survives every one of the 203 splits?",
    (
        "the mean over sequences",
        "a constant for each row",
        "the mean over tokens",
        "the whole batch's denominator",
    ),
    "the whole batch's denominator",
    answer="Then parts may be added, whatever the cut. The mean over sequences survives all 27 equal splits "
    "if the empty row counts, and a single one if it is left out.",
)
prediction(
    "9.14",
    "Upper bound 1.28 in place of 1.2: in which case does the wider bound keep the entropy up?",
    ("if a rare answer is right", "if the commonest is right", "in both cases", "in neither"),
    "if a rare answer is right",
    answer="The rare one may rise to 1.4 times its start, not 1.3: 0.8933 nats against 0.8927. Where the "
    "commonest is right, it was the bound that held it back.",
)
prediction(
    "9.15",
    "A batch of 16 groups in place of one: what becomes of the token mean's push on the length?",
    ("the same", "4 times weaker", "16 times weaker", "16 times stronger"),
    "16 times weaker",
    answer="It comes from an answer's own share in the total, and that is one of 128 answers now: 0.000132 "
    "in place of 0.002198. With 1/|y| the push stays.",
)
prediction(
    "9.16",
    "Only groups that are not all alike are kept. What becomes of GRPO's expected step?",
    ("the same step", "same direction, longer", "same direction, shorter", "another direction"),
    "same direction, longer",
    answer="What is left out was zero, so the mean over fewer is larger, by the 1.19 groups that are drawn "
    "for one kept. At a pass rate of 0.95 and groups of eight that is nearly three.",
)
prediction(
    "9.17",
    "Four right answers, two of them too long and penalised: how loud is this group in GRPO?",
    ("a tenth of a mixed one", "half of a mixed one", "as loud as a mixed one", "twice a mixed one"),
    "as loud as a mixed one",
    answer="The deviation is divided out, so any difference becomes a whole one: the longest gets -1.31, a "
    "wrong answer among two right ones -0.87.",
)
prediction(
    "9.18",
    "The verifier has a hole at long answers. Which change keeps all ten seeds out of it?",
    ("clip-higher", "dynamic sampling", "the token mean", "the penalty for length", "CISPO"),
    "the penalty for length",
    answer="This hole is long, and the penalty forbids length. The token mean lets two seeds in, the others "
    "all ten. Under sixteen updates CISPO ends lowest: nothing tells it that it is enough.",
)
prediction(
    "9.19",
    "What does clip-higher do to the entropy on the two recorded tasks?",
    ("higher, then lower, on both", "higher on one, mixed on one", "higher on both", "lower on both"),
    "higher on one, mixed on one",
    answer="Above GRPO at every point on running sums, at 0.34 of the points on addition. The exact case "
    "showed that both signs occur, and does not say which one a task gets.",
)
prediction(
    "9.20",
    "Ratios 0.5, 1, 1.25, 1.5 and advantage -1: which algorithm lets no token of this answer speak?",
    ("GRPO", "DAPO", "CISPO", "GSPO", "RLOO"),
    "GSPO",
    answer="Its one ratio, the root of the product, is below 0.9997, so the whole answer is dropped. GRPO "
    "and DAPO silence the token at 0.5 alone, CISPO and RLOO nobody.",
)
prediction(
    "9.21",
    "The policy walks away in three directions. Who keeps the true direction better in the end?",
    (
        "CISPO in two, the clip in one",
        "CISPO, in all three",
        "the clip in two, CISPO in one",
        "the clip, in all three",
    ),
    "CISPO in two, the clip in one",
    answer='The clip silences those who had their share. Only far towards "5", a rare answer and wrong, it '
    "is better: it pulls back with the whole ratio, where CISPO stops at 1.28.",
)
prediction(
    "9.22",
    "Nine settings of six libraries: how many of them are the row grpo of the table?",
    ("none", "one", "three", "six"),
    "none",
    answer="Each differs from it in at least one term, be it an epsilon, a bound or the denominator; and no "
    "two of the nine are the same row.",
)
prediction(
    "9.23",
    "Seven library rows compare within a group. How many different gradients for one and the same token?",
    ("one", "two", "four", "six"),
    "six",
    answer="Only TRL's GRPO and OpenRLHF's group_norm agree, to the digits shown. One of the six is zero: "
    "verl holds a ratio above 3 under a negative weight.",
)
prediction(
    "9.24",
    "The standard deviation of a group: the same number in NumPy and PyTorch, by default?",
    ("the same", "larger in NumPy", "larger in PyTorch"),
    "larger in PyTorch",
    answer="PyTorch divides by G - 1, NumPy by G: a factor of 1.41 for groups of 2, of 1.03 for 16, the same "
    "for all answers.",
)
prediction(
    "9.25",
    "Epsilon beside the deviation, in the root, or as a least value: for which deviations does it matter?",
    ("far larger than epsilon", "about as large as epsilon", "far smaller than epsilon"),
    "about as large as epsilon",
    answer="There the quotient is 0.50, 0.71 or 1. Far above, epsilon does not count; far below, it is all "
    "that counts, and the three agree again.",
)
prediction(
    "9.26",
    "Dr. GRPO divided by the padded width, eight; trimmed to six columns. What becomes of the gradient?",
    ("nothing", "a quarter less", "a third more", "twice as much"),
    "a third more",
    answer="8 / 6 is 1.33: how much a token weighs depends on the longest answer beside it. Divided by a "
    "constant 8, the trimmed batch gives the same.",
)
prediction(
    "9.27",
    "Three rows, one of them empty; every token's loss is 2. What is the mean over the rows?",
    ("2, in any case", "1.33, in any case", "2 or 1.33, by convention", "not a number"),
    "2 or 1.33, by convention",
    answer="Left out, the empty row changes nothing; counted, it is one row more to divide by. Without any "
    "token it is 0/0, and pglab says 0.",
)
prediction(
    "9.28",
    "A group of one; an answer whose verifier crashed; NaN under the mask: what should be done with each?",
    answer="A group of one has nobody to compare with: refuse it, or give 0 if the mean includes the answer. "
    "Leave a crash out. Replace what is masked before computing: NaN times 0 is NaN.",
)
prediction(
    "9.29",
    "Which of these complaints is brought about by none of the four terms?",
    (
        "entropy that collapses",
        "answers that grow for nothing",
        "batches without a gradient",
        "ratios that go wild",
    ),
    "batches without a gradient",
    answer="Which groups fall silent is settled by sampling: at a pass rate of 0.95 it is 0.66 of them with "
    "8 answers, 0.19 with 32. The others: constraint, denominator, ratio.",
)
prediction(
    "9.30",
    "DPO on pairs drawn from the reference, preferences that follow rewards: where does it end?",
    (
        "reference x exp(R / beta)",
        "at the reference",
        "even among the right ones",
        "all on the right answers",
    ),
    "reference x exp(R / beta)",
    answer="Preferences that follow R are met if beta log(pi / reference) is R, but for a constant. It is "
    "also the optimum of the reward with a KL penalty: one destination.",
)
prediction(
    "9.31",
    "The fourth answer is in no pair. Begun at the reference, or with 2 more: where does it end?",
    ("near 0, both times", "it depends on the start", "at the optimum, both times"),
    "it depends on the start",
    answer="No pair speaks of it, so its logit stays where it began: its probability ends at 0.12, or at "
    "0.49.",
)
prediction(
    "9.32",
    "DPO, two kinds of rewards, two of pairs: how many of the four begin exactly along the gradient?",
    ("in none", "in one", "in two", "in all four"),
    "in one",
    answer="With two reward values and pairs drawn from the policy itself. Even there it does not last: the "
    "pairs stay, the policy does not, and at step 100 the cosine is 0.70.",
)
