"""Predictions of notebook 05."""

from pglab.predictions.register import prediction

prediction(
    "5.1",
    "The same poor page, the same policy, at t = 1 and at the last step, t = 3. Is its value the same?",
    ("the same", "higher at t = 1", "higher at t = 3"),
    "higher at t = 1",
    answer="Higher at t = 1: 0.3390 against 0.0625. With fewer steps left, less is to come.",
)
prediction(
    "5.2",
    "The model searches first. How near does what it earns in the end come to Q, the mean?",
    ("mostly within 0.1", "never within 0.2", "half the time within 0.1"),
    "never within 0.2",
    answer="Never within 0.2. It earns 0.85 or more if it ends up right, -0.05 or less if not; Q, "
    "0.5711, is the average of both, and no trajectory earns it.",
)
prediction(
    "5.3",
    "The policy learns for twenty steps, and both are built anew. Which comes out the same?",
    ("the reward model", "the critic", "both", "neither"),
    "the reward model",
    answer="The reward model: it sees the page, and the page fixes the chance of being right. The critic "
    "predicts what this policy will earn, at the start 0.475 before and 0.677 after.",
)
prediction(
    "5.4",
    "The critic is stale. For which lambda is the mean of the estimate still exact?",
    ("for lambda = 0 alone", "for lambda = 1 alone", "for every lambda", "for no lambda"),
    "for lambda = 1 alone",
    answer="For lambda = 1 alone: there the critic cancels but for -V(s_t), and that is a baseline. At "
    "lambda = 0 the bias grows to 42 % of the gradient.",
)
prediction(
    "5.5",
    "Three steps are left. A(1) has the share 1 - lambda, A(2) (1 - lambda) lambda. What remains for A(3)?",
    ("lambda^3", "lambda^2", "(1 - lambda) lambda^2", "1 - lambda^2"),
    "lambda^2",
    answer="lambda^2: the shares add up to 1, and the last one keeps what is left. (In A(2) the second "
    "TD error has the factor gamma.)",
)
prediction(
    "5.6",
    "Searching pays only later. Cut after one step, with 0 in place of V: what is learned at the question?",
    ("to search, as with V", "to search, but more slowly", "not to search"),
    "not to search",
    answer="Not to search: the mean step is -0.080 in place of 0.062, for to this trainer every search "
    "ends in nothing. And lambda = 1 does not save it from a critic 0.3 too high: 0.069 off.",
)
prediction(
    "5.7",
    "Critic: 0.2, tool, tool, 0.4; 1 is paid at the end; gamma = 0.9, lambda = 0.5. What is A_0?",
    ("0.16", "0.43", "0.70"),
    "0.43",
    answer="0.43: the tool's tokens take no time, so the next action is one step on. If the mask is "
    "forgotten, what the critic said of the tool's text leaks in: 5.80.",
)
prediction(
    "5.8",
    "The critic is perfect, gamma = 1. For which lambda is the estimate biased?",
    ("for every lambda below 1", "for lambda = 0 alone", "for no lambda"),
    "for no lambda",
    answer="For none: the squared bias is below 1e-30 for all. Where the exact V stands in for the rest "
    "of a draw, it is that rest's mean.",
)
prediction(
    "5.9",
    "The critic is perfect. Three processes: which lambda is the quietest?",
    ("0, for all three", "1, for all three", "0.5, for all three", "it depends on the process"),
    "it depends on the process",
    answer="It depends: for the searching model 0 is the quietest, 0.1375; for the shy policy it is the "
    "noisiest, 0.1745 against 0.1436 at 1. With shared logits, scores that lambda carries on can "
    "cancel.",
)
prediction(
    "5.10",
    "A critic is too high by the same 0.3 everywhere. For which lambda does that bias the estimate?",
    ("for none, it cancels", "for all below 1", "for all, and 1 too", "for 0 alone"),
    "for all below 1",
    answer="For all below 1: squared bias 0.0133 at 0, 0.0049 at 0.5. After the end stands 0, not 0.3, "
    "so the constant stays in the last TD error. The other three critics bias it as well.",
)
prediction(
    "5.11",
    "The critic is 0.3 too high everywhere, lambda = 0.5. Which action does that favour?",
    ("searching on", "answering now", "neither"),
    "searching on",
    answer="Searching: its logit is pushed up in all three states, by 0.0427 at the question. Answering "
    "now is charged in full, searching less. Where all episodes have one length, there is no "
    "harm.",
)
prediction(
    "5.12",
    "lambda goes from 1 down to 0. For how many of the four wrong "
    "critics does the variance fall all the way?",
    ("all four", "two", "none"),
    "two",
    answer="For two. The random critic's rises again below lambda = 0.5, that of the one who hates poor "
    "pages below 0.2: a small lambda trades the world's noise for the critic's unevenness.",
)
prediction(
    "5.13",
    "A wrong critic, and the batch grows from 1 to 1000 trajectories. Which way does the best lambda move?",
    ("up, towards 1", "down, towards 0", "it stays where it is"),
    "up, towards 1",
    answer="Up: with the critic that is 0.3 too high, from 0 to 1. A large batch can afford noise and "
    "cannot average a bias away. Only for the perfect critic it stays at 0.",
)
prediction(
    "5.14",
    "gamma = 0.9, with the perfect critic for that gamma. How does the bias depend on lambda?",
    ("it falls as lambda grows", "not at all", "it rises as lambda grows"),
    "not at all",
    answer="Not at all: the squared bias is 0.00101 throughout, since the mean of GAE is the discounted "
    "advantage for every lambda. With a critic that is 0.3 too high it does depend on lambda.",
)
prediction(
    "5.15",
    "Critics: learning, dead, frozen, fed with noise. Which of the four policies learn?",
    ("the first alone", "all but the noise-fed", "all four", "the first and the frozen"),
    "all four",
    answer="All four: J ends at 0.690 to 0.694. With lambda = 0.95 and 256 trajectories a worthless "
    "critic is little more than a poor baseline. The EV tells: about 0.19 for the learning one, "
    "near 0 for the rest.",
)
prediction(
    "5.16",
    "5 is added to all values of the exact V. What does its explained variance (of the returns G) do?",
    ("it stays the same", "it falls to 0", "it turns negative"),
    "it stays the same",
    answer="It stays, at 0.1337: a variance does not see an offset. Doubled, the exact V has 0, like a "
    "dead critic.",
)
prediction(
    "5.17",
    "Weights G - V minus their mean over all steps of two trajectories. The mean gradient is ...?",
    ("halved, direction kept", "turned a little", "scaled otherwise, direction kept"),
    "turned a little",
    answer="Turned a little, cosine 0.986: the three logits keep 0.63, 0.45 and 0.60 of their gradient. "
    "How much of the mean is a trajectory's own depends on its length.",
)
prediction(
    "5.18",
    "Both end right, and differ by a search's 0.05. Divided by their spread, that difference counts ...?",
    ("next to nothing", "a tenth of right against wrong", "as much as right against wrong"),
    "as much as right against wrong",
    answer="As much as right against wrong. The batches that end alike push by -0.077 and -0.085, more "
    "than the +0.060 of the mixed ones: the model learns not to search, though searching pays.",
)
prediction(
    "5.19",
    "Whitening without a critic, over batches of 16 or 64: what is still wrong with the mean?",
    ("its sign", "its scale alone", "its direction, clearly", "nothing"),
    "its scale alone",
    answer="The scale alone: cosine 0.999 and 1.000, and about twice the gradient, 0.091 against 0.047. "
    "In a large batch mean and standard deviation are constants, and constants bend nothing.",
)
