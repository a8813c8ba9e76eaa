"""Predictions of notebook 01."""

from pglab.predictions.register import prediction

prediction(
    "1.1",
    "Two of four answers are right. Is J above one half, or below?",
    ("above one half", "below one half"),
    "below one half",
    answer="J is 0.39: the favourite answer, given most often, is wrong.",
)
prediction(
    "1.2",
    'The logits of "4", "5", "22", "four", from the one that grows most to the one that shrinks most?',
    ('"4", "four", "5", "22"', '"four", "4", "22", "5"', '"4", "four", "22", "5"', '"four", "4", "5", "22"'),
    '"4", "four", "5", "22"',
    answer='The right ones grow, "4" (0.143) before "four" (0.096), for it is given more often; of the '
    'wrong ones the favourite, "22", shrinks most (-0.188).',
)
prediction(
    "1.3",
    "x uniform from 0 to theta (truth 1/2); a coin at theta = 0 (truth 1). What does the score function say?",
    ("1/2 and 1", "1/2 and 0", "-1/2 and 0", "0 and 0"),
    "-1/2 and 0",
    answer="The uniform's end moves, and the score does not see it: -0.50, the wrong sign. At 0 the coin's "
    "heads never comes, so the one outcome that pays is missing: 0.00.",
)
prediction(
    "1.4",
    "At each theta > 0 one k adds theta to J; each k's slope at 0 is 0. J's slope at 0, from the right?",
    ("0", "1/2", "1", "it grows without end"),
    "1",
    answer="Whichever k can happen adds theta, so J rises with slope 1. The slopes of the terms add up to 0: "
    "over infinitely many outcomes sum and slope may not be exchanged.",
)
prediction(
    "1.5",
    "Average the score itself over the policy. What comes out?",
    ("zero, for any logits", "zero, if all logits are equal", "the gradient of J"),
    "zero, for any logits",
    answer="Below 1e-15 for 1000 random policies. The average is the gradient of the sum of all "
    "probabilities, and that sum is 1 whatever the logits are.",
)
prediction(
    "1.6",
    '"22", a wrong answer, was given. Its weight is +1, -1 or 0: what does its probability do?',
    ("falls, falls, falls", "rises, falls, falls", "falls, rises, stays", "rises, falls, stays"),
    "rises, falls, stays",
    answer="By 0.088 up, by 0.087 down, not at all: for the answer that was given, the sign of the weight "
    "decides. Nobody asks here whether it was right.",
)
prediction(
    "1.7",
    "Along the exact gradient a wrong answer's logit falls. Does its probability always fall too?",
    ("yes, always", "it can rise, and J rises too", "it can rise, but then J falls"),
    "it can rise, and J rises too",
    answer='"5", made rarer, gains 0.0008 while J rises. The probabilities share one sum: "22" loses 0.0418, '
    "and all others divide that among them.",
)
prediction(
    "1.8",
    "Autograd follows the logits through a sampled answer to its verdict. Which gradient does it report?",
    ("the right one", "a noisy one, right on average", "none: there is no path"),
    "none: there is no path",
    answer="Sampling cut the path (the cell prints False). The score function needs none: it gives the same "
    "gradient as before, with the verdict as a black box.",
)
prediction(
    "1.9",
    "f(x) = x^2, mu = 1, sigma = 0.5. Which estimate has the larger variance, and how many times larger?",
    ("score function, 20 times", "score function, twice", "pathwise, twice", "pathwise, 20 times"),
    "score function, 20 times",
    answer="21.75 against 1.00. The score function multiplies all of f with the noise and divides by "
    "sigma squared; the path uses only the slope of f.",
)
prediction(
    "1.10",
    "f(x) = sin(kx), mu = 0, sigma = 1. Is the pathwise estimate quieter at every k?",
    ("yes, at every k", "no, it loses at large k", "no, it loses at small k"),
    "no, it loses at large k",
    answer="At k = 4 its variance is 8.0 against 0.5. The slope of a function that wiggles is large, while "
    "the function itself stays between -1 and 1.",
)
prediction(
    "1.11",
    "A billion answers a second since the Big Bang, 128,256 tokens to choose from. How long can answers be?",
    ("5 tokens", "50 tokens", "500 tokens", "5,000 tokens"),
    "5 tokens",
    answer="The 10^25.5 answers of five tokens are done by now, the 10^30.6 of six are not. Each token more "
    "multiplies the work by 128,256.",
)
prediction(
    "1.12",
    "Climb the wavy Q of one joint uphill from each of 401 places. At how many different places do you end?",
    ("1", "4", "40", "401"),
    "4",
    answer="At four: the best action, 1.59, two lower hills, and the edge of the grid. Climbing stops at the "
    "first place from which no step leads further up.",
)
prediction(
    "1.13",
    "An objective looks at the policy. For which of these does it do harm to forget the second term?",
    ("all three", "log-ratio and its square", "only the squared log-ratio", "only entropy"),
    "only the squared log-ratio",
    answer="There a logit's slope is off by up to 0.29. For entropy and log-ratio the gradient of f is a constant "
    "times the score, and that is zero on average.",
)
prediction(
    "1.14",
    "Press left, then right; q is the chance of left. The best q, and what do always-left and always-right earn?",
    ("q = 1/2; they earn 0", "q = 1/2; they earn 1/4", "q = 0 or 1; they earn 1/2", "any q; all earn 1/4"),
    "q = 1/2; they earn 0",
    answer="The fair coin earns 0.25. Whoever always presses the same button gets one of the two presses "
    "wrong, every time.",
)
