"""Predictions of notebook 06."""

from pglab.predictions.register import prediction

prediction(
    "6.1",
    "Old answers, weight ratio times reward, scores of the new policy. The mean is the gradient at ...?",
    ("the old policy", "the new policy", "neither"),
    "the new policy",
    answer="At the new policy, exactly: 0.1546, -0.0656, -0.1833, 0.0943 by both routes. Old chance "
    "times new over old is the new chance.",
)
prediction(
    "6.2",
    "The rarest answer's logit is raised by t, further and further. What does the ratio's variance do?",
    ("it grows without bound", "it rises, then falls to 0", "it rises and levels off"),
    "it rises and levels off",
    answer="It levels off, below 6.7: no ratio exceeds 1 / old probability. At t = 6 it is 6.5, against "
    "1.5 for the right answers; for small t these were the dearer ones.",
)
prediction(
    "6.3",
    "A move ten times as far: one token's ratio has variance 0.02. And the ratio of 1000 tokens?",
    ("about 0.02", "about 20", "about 2000", "about 2 billion"),
    "about 2 billion",
    answer="About 2 billion: (1 + v)^T - 1 grows exponentially with the length. For the small move, v = "
    "0.0002, it is 0.24.",
)
prediction(
    "6.4",
    "Old answers, another policy's expected reward: which weight is right on average?",
    ("the product of token ratios", "their geometric mean", "the last token's ratio", "all three"),
    "the product of token ratios",
    answer="The product alone, 0.429912: it is the new chance of the whole answer over the old one. The "
    "geometric mean gives 0.326504, the last token's ratio 0.352555.",
)
prediction(
    "6.5",
    "Clip at 0.8 and 1.2. Where is PPO's objective flat?",
    (
        "outside the clip, for both signs of A",
        "A > 0 above 1.2, A < 0 below 0.8",
        "A > 0 below 0.8, A < 0 above 1.2",
    ),
    "A > 0 above 1.2, A < 0 below 0.8",
    answer="A good answer above 1.2, a bad one below 0.8: there a sample has had what it wanted. Where "
    "things went the wrong way the gradient stays. With max for min it is the other way round.",
)
prediction(
    "6.6",
    "120 inner steps of size 0.1 on one batch: whose KL comes to rest, that of min or of max (swapped)?",
    ("min alone", "max alone", "both", "neither"),
    "min alone",
    answer="Min alone, at 0.03 nats. Swapped it reaches 0.769, as without a constraint: no answer goes "
    "the wrong way here, and on the right way the swapped clip never acts.",
)
prediction(
    "6.7",
    "Clipped inner steps, small or long, come to rest. Do all ratios then lie between 0.8 and 1.2?",
    ("at no step size", "only with small steps", "yes, at every step size"),
    "at no step size",
    answer="At none of the five: even with steps of 0.01 one ratio ends at 1.337, with steps of 20 one "
    "at 3.32. A stopped answer is still moved by the others, and a long step jumps over the "
    "border.",
)
prediction(
    "6.8",
    "First inner step, old log-probabilities rounded to 16 bits: which epsilon notices?",
    ("0.0003 alone", "0.2 alone", "both", "neither"),
    "0.0003 alone",
    answer="0.0003 alone: rounding has made the ratio 0.999033, outside a clip that tight, and a bad "
    "answer (A < 0) is clipped before any step. From the same numbers all ratios are 1, and every "
    "clip sleeps.",
)
prediction(
    "6.9",
    "The two policies are swapped by mistake. Whose log shows it, by a negative mean?",
    ("that of k1", "that of k3", "both", "neither"),
    "that of k1",
    answer="That of k1: it logs -0.380633, which no KL can be. k3 is positive whatever happens, and "
    "0.669399 looks healthy.",
)
prediction(
    "6.10",
    "k3 is called the quieter one. Along a line through the reference, is it always quieter than k1?",
    ("yes, everywhere", "up to a KL, the same on both sides", "up to a KL, another on each side"),
    "up to a KL, another on each side",
    answer="On one side k3 is the noisier one from 0.12 nats on, on the other from 1.17. What decides is "
    "e^-d, huge for an answer that the policy has nearly given up and the reference has not.",
)
prediction(
    "6.11",
    "k1 in the loss, on the policy's own samples: what does it train on average?",
    ("nothing", "KL(policy, reference)", "KL(reference, policy)"),
    "nothing",
    answer="Nothing: its gradient is the expected score, and that is zero. k3 in the loss trains the "
    "other KL, from reference to policy; k2 is the one that is right there.",
)
prediction(
    "6.12",
    "k2 of each token in the loss: is the gradient of the whole "
    "answers' KL, by the first token's logit, right?",
    ("yes, exactly", "no, a part is missing", "no, the sign is wrong"),
    "no, a part is missing",
    answer="A part is missing: 0.122229 in place of 0.146468. Each score meets its own token's d, and "
    "misses what an early token does to the later ones.",
)
prediction(
    "6.13",
    "k1 in the reward, and the weight is left attached. What is added to the step?",
    ("nothing, on average", "a bonus for entropy", "the KL penalty once more"),
    "a bonus for entropy",
    answer="Exactly beta times the gradient of the entropy, through the log pi inside the weight: a "
    "bonus for being undecided that nobody asked for. Nothing crashes.",
)
prediction(
    "6.14",
    'The gradient hardly touches the rare "5". Which answer\'s '
    "logit does the natural gradient move furthest?",
    ("the most frequent one's", "all four equally far", "the rare one's"),
    "all four equally far",
    answer="All equally far: 0.5 up for the right ones, 0.5 down for the wrong ones. It is the rewards "
    "minus their plain mean; how often an answer is given drops out.",
)
prediction(
    "6.15",
    "Steps by the parabola, for a KL of 0.001 to 0.5. How far off is the measured KL at most?",
    ("by less than 4 %", "by about 20 %", "by about 100 %"),
    "by less than 4 %",
    answer="By less than 4 %, on either side: 0.1030665 for 0.1, 0.4896536 for 0.5. The parabola fits "
    "well even at half a nat here; TRPO measures all the same.",
)
prediction(
    "6.16",
    "At equal measured KL, how much more does the natural gradient gain in J than the plain one?",
    ("nothing: KL decides", "about 5 %", "about 50 %", "about twice as much"),
    "about 5 %",
    answer="About 5 %: 0.2215 against 0.2099 at 0.1 nats. And nothing gains more: with rewards 0 and 1 "
    "the natural gradient's curve is the best that a distance can buy.",
)
prediction(
    "6.17",
    "First inner step: the clip goes, then the ratio, then lambda becomes 1. What changes the gradient?",
    ("the clip alone", "the clip and the ratio", "lambda = 1 alone", "each of the three"),
    "lambda = 1 alone",
    answer="lambda = 1 alone, 0.0724 in place of 0.0738: it changes the weight. At ratio 1 the clip "
    "sleeps, and the ratio's derivative is the score. On a later step clip and ratio matter too.",
)
prediction(
    "6.18",
    "lambda = gamma = 1. With which baselines is PPO's first step the REINFORCE step to machine precision?",
    ("with each of the four tried", "only with the critic", "only if nothing is subtracted"),
    "with each of the four tried",
    answer="With each of the four: at ratio 1 what is left is weight times score, whatever is "
    "subtracted. PPO's own part begins with the second step.",
)
prediction(
    "6.19",
    "Five weights under four constraints, 40 batches each. Which of the twenty methods fail to learn?",
    ("those without a baseline", "some behind the clip", "some in the trust region", "not one"),
    "not one",
    answer="Not one: each of the 1,280 runs learns. Weight and constraint can be chosen apart.",
)
prediction(
    "6.20",
    "Behind the clip at 1.2: after a batch, how large was the largest ratio of all runs?",
    ("1.2", "about 1.6", "about 3", "about 10"),
    "about 1.6",
    answer="1.64, though above 1.3 in about one case in ten or fewer. The clip looks at the ratio before "
    "a step, and cannot stop the step that jumps over the border.",
)
prediction(
    "6.21",
    "Leave-one-out gets twice GRPO's step size. What is left of GRPO's lead?",
    ("nearly all of it", "about half of it", "nearly nothing"),
    "nearly nothing",
    answer="Nearly nothing: 0.016 at most. At an equal step size of 0.25 GRPO led by 0.15, and nearly "
    "all of that was the longer step.",
)
prediction(
    "6.22",
    "Noisy estimates, no baseline. Which leaves the success rate lowest after 200 batches?",
    ("no constraint", "clip", "KL penalty", "narrow trust region", "small steps"),
    "clip",
    answer="The clip: 0.38, where no constraint has 0.78 and small steps 0.99. A constraint takes no "
    "noise out of an estimate; a baseline does, and is at 0.99 after 40 batches.",
)
prediction(
    "6.23",
    'One rare "4", paid 2, beside three "22", paid 1. Behind the clip, the ratio of "4" goes ...?',
    ("up to 1.2 and stays", "up, down, and up again", "steadily up, but slowly"),
    "up, down, and up again",
    answer='1.65, 1.32, 1.06, 1.93: over the border it is held, and the three "22" drag it down until it '
    "is released and jumps again. Free, it rises to 14.21.",
)
