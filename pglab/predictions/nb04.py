"""Predictions of notebook 04."""

from pglab.predictions.register import prediction

prediction(
    "4.1",
    "To find the gradient of log p(trajectory), must the model know the search engine's chances?",
    ("no, they drop out", "yes, at every step", "yes, but only where it searched"),
    "no, they drop out",
    answer="No. The logarithm makes the product a sum, and the engine's terms hold no logits: nudging "
    "the logits found the policy's own scores and nothing else.",
)
prediction(
    "4.2",
    "The search engine breaks. For a trajectory that did happen, what changes?",
    ("its probability and its score", "its probability alone", "its score alone"),
    "its probability alone",
    answer="Its probability falls from 0.0597 to 0.0012, and its score stays, digit for digit. J and its "
    "gradient change too, since what happens how often has changed.",
)
prediction(
    "4.3",
    "No tool: given the text so far and the next token, how many next states are possible?",
    ("exactly one", "one for each letter of the alphabet", "as many as the policy allows"),
    "exactly one",
    answer="One: append the token. So the dynamics of every trajectory are 1.00 and all chance is in the "
    "policy; with the search tool they lie between 0.02 and 0.70.",
)
prediction(
    "4.4",
    "Which of the five weights gives the noisiest estimate?",
    ("full return", "reward-to-go", "reward-to-go minus V", "Q", "A = Q - V"),
    "reward-to-go",
    answer="Reward-to-go, 0.2613, before the full return, 0.2554; A is the quietest, 0.0442. All five "
    "have one mean. That dropping the past lowers the noise is no law; the next chapter finds out "
    "why.",
)
prediction(
    "4.5",
    "Two fair tokens. X, what reward-to-go removes, has mean 0. How far does the variance fall without it?",
    ("not at all", "by less than Var X", "by Var X", "by more than Var X"),
    "by more than Var X",
    answer="By more: from 0.625 to 0.375, twice as far as Var X, 0.125. X also rises and falls with what "
    "is left, and that covariance, 0.0625, counts double.",
)
prediction(
    "4.6",
    "r0 is always -1, r1 is 3/4 or 1. How much noisier is reward-to-go than the full return?",
    ("about 2 times", "about 6 times", "about 17 times", "about 50 times"),
    "about 17 times",
    answer="Seventeen times: 51/256 against 3/256. For a reward of 3/4 or 1 the past, -1, is a good "
    "baseline, and reward-to-go throws it away.",
)
prediction(
    "4.7",
    "r0 is a fixed number, r1 has the mean 7/8. For which r0 is the full return the quieter one?",
    ("for every r0 below 0", "from -7/4 to 0", "from -7/8 to 7/8", "for every r0 above 0"),
    "from -7/4 to 0",
    answer="From -7/4 to 0, and it is quietest at -7/8: there the past is the mean of what is to come, "
    "with the sign of a baseline. Beyond -7/4 it is a worse one than 0.",
)
prediction(
    "4.8",
    "Two tokens share one logit, and no reward is negative. Which weight is quieter?",
    ("the full return", "reward-to-go", "both are the same"),
    "the full return",
    answer="The full return, 0.4633 against 0.4759. In one shared logit the scores of both steps mix, "
    "and twice the covariance, -0.0216, outweighs Var X, 0.0090.",
)
prediction(
    "4.9",
    "Score-weighted baselines in place of V, with the exact Q: how does the variance compare with that of A?",
    ("higher, A is the quietest", "the same", "about a tenth lower", "less than half"),
    "less than half",
    answer="Less than half: 0.0190 against 0.0442. A long score carries more noise, so its Q should "
    "count for more in the baseline; V weighs by probability alone.",
)
prediction(
    "4.10",
    "Is the score-weighted baseline of each step and state then the best table there is?",
    ("yes, for Q and for G", "yes, but only for Q", "no, for neither"),
    "no, for neither",
    answer="For neither: the best five numbers have 0.0145 with Q, after 0.0190, and 0.1612 with G, "
    "after 0.1762. A good page can be met at two steps, and both move the same logits.",
)
prediction(
    "4.11",
    "gamma = 1/2, two steps: what is the usual form's mean at step 1, beside the gradient of J_gamma?",
    ("half of it", "equal to it", "twice as large"),
    "twice as large",
    answer="Twice as large: 0.2500 against 0.1250. For J_gamma a reward at step 1 is worth half, and a "
    "weight that starts counting at step 1 has forgotten that.",
)
prediction(
    "4.12",
    "One logit for both steps, gamma = 1/2; action 1 is paid 0.6, then -1. The usual form's slope is ...?",
    ("of the wrong sign", "too long, of the right sign", "too short, of the right sign"),
    "of the wrong sign",
    answer="Of the wrong sign: the true slope is +0.0250, the usual form says -0.1000. It does not "
    "discount the -1, and follows the slope of the undiscounted J.",
)
prediction(
    "4.13",
    "A knob for the undiscounted J: for which weight is gamma = 1 itself the quietest choice?",
    ("reward-to-go", "reward-to-go minus V", "the advantage", "all three", "no weight: a discount quiets"),
    "the advantage",
    answer="The advantage: 0.0229 at gamma = 1, 0.1485 at 0. It is exact, so there is no chance of far "
    "rewards in it to cut away; and a low gamma sees the cost of a search better than its gain.",
)
prediction(
    "4.14",
    "More trajectories N are averaged. Where does the best gamma for reward-to-go move?",
    ("towards 0", "it stays", "towards 1"),
    "towards 1",
    answer="Towards 1: from 0.35 at N = 1 to 1.00 at N = 256. Noise can be averaged away, and bias cannot.",
)
prediction(
    "4.15",
    "0.7 is paid at the end of four tokens, gamma = 1. What is the reward-to-go of each token?",
    ("0, 0, 0, 0.7", "0.7 for each", "0.175 for each", "rising to 0.7 at the end"),
    "0.7 for each",
    answer="0.7 for each, since the reward lies ahead of all of them. With gamma = 0.9, three tokens and "
    "a reward of 1 they rise: 0.81, 0.9, 1.",
)
prediction(
    "4.16",
    "Answers of 1 and 4 tokens; mean over each answer, then over answers. A token of the long one gets ...?",
    ("as much as the short one's", "half of the short one's", "a quarter of the short one's"),
    "a quarter of the short one's",
    answer="A quarter: 0.125 against 0.5, and that changes the step's direction. The mean over all "
    "tokens of the batch gives each of the five 0.2.",
)
prediction(
    "4.17",
    "Three tokens, each with a log-ratio of 0.1 and weight 1, clip at 1.2. What does the clip stop?",
    ("the tokens, not the answer", "the answer, not the tokens", "both", "neither"),
    "the answer, not the tokens",
    answer="The answer: its ratio is the product, 1.350, and nothing is left of its gradient. A token's "
    "ratio, 1.105, is inside, and the token is pushed on.",
)
prediction(
    "4.18",
    "0.3 at the second of four tokens, 0.7 at the end. The sum for all, beside reward-to-go, is ...?",
    ("biased and noisier", "biased but quieter", "unbiased but noisier", "unbiased and quieter"),
    "unbiased but noisier",
    answer="Unbiased but noisier, 0.2384 against 0.1634. What the later tokens get too much is a past "
    "reward: it pushes them by zero on average, and shakes them all the same.",
)
prediction(
    "4.19",
    "All tokens must be right; success rate kept at 1/2, no "
    "baseline. From 64 to 4096 tokens noise / signal ...?",
    ("stays the same", "grows about 8 times", "grows about 64 times", "grows about 4000 times"),
    "stays the same",
    answer="It stays, 1.00 at both: only the answer that is all right is paid, and it says the right "
    "thing about each token. With idle tokens (one decides) it grows from 127 to 8,191.",
)
prediction(
    "4.20",
    "All right, success rate 1/2, now one logit for all tokens. Subtracting the value ...?",
    ("helps", "hurts as much as before", "hurts, but less"),
    "helps",
    answer="It helps, 0.40 with 12 tokens where no baseline has 1.00: the many failures now push one and "
    "the same logit. The advantage of each step cures idle tokens, 0.00; for all right with a "
    "logit each it is the noisiest, 21.25.",
)
prediction(
    "4.21",
    "One logit, 12 tokens, but success nearly certain, 0.9. Subtracting the value ...?",
    ("still helps", "hurts badly", "makes little difference"),
    "hurts badly",
    answer="It hurts: 7.56 against 0.11. A rare failure has nine times the weight of a success and a "
    "long score; the failures make more than 99 % of the mean square.",
)
