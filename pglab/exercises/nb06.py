"""Exercises of notebook 06, constraining the step."""

import numpy as np

from pglab import bandit
from pglab.exercises.checking import exercise, judge_function


def _alike(hint, *wrong):
    """Several mistakes that one thought leads out of."""
    return [(f, hint) for f in wrong]


# --- 6a -----------------------------------------------------------------------------------------

RATIOS = np.array([0.5, 0.9, 1.0, 1.1, 1.6])
CLIPS = [
    (RATIOS, np.ones(5), 0.2),
    (RATIOS, -np.ones(5), 0.2),
    (np.array([0.3, 3.0, 0.3, 3.0]), np.array([2.0, 0.5, -1.5, -2.0]), 0.1),
]


def _clipped(ratio, A, eps):
    return np.minimum(ratio * A, np.clip(ratio, 1 - eps, 1 + eps) * A)


@exercise("6a", "The clipped objective", "easy", 8)
def _clipped_objective(answer):
    return judge_function(
        answer,
        CLIPS,
        right=_clipped,
        mistakes=[
            (
                lambda r, A, e: np.maximum(r * A, np.clip(r, 1 - e, 1 + e) * A),
                "The larger of the two is taken: it runs on where it should stop. Which of them is the pessimist?",
            ),
            (
                lambda r, A, e: np.clip(r, 1 - e, 1 + e) * A,
                "This is the clipped term alone. It is flat on both sides, so a sample that went the wrong way "
                "has no way back. What does PPO compare it with?",
            ),
            (
                lambda r, A, e: np.minimum(r, np.clip(r, 1 - e, 1 + e)) * A,
                "The minimum is taken of the ratios, before A comes in. A negative A turns small into large: "
                "multiply first, then compare.",
            ),
            (
                lambda r, A, e: np.minimum(r * A, np.clip(r * A, 1 - e, 1 + e)),
                "This clips the product. The borders are about the ratio: clip it, then multiply.",
            ),
            (lambda r, A, e: r * A, "Nothing is clipped yet: this is the bare ratio times A."),
            (
                lambda r, A, e: -_clipped(r, A, e),
                "The sign is turned round. The objective is climbed; the minus belongs to a loss.",
            ),
            (
                lambda r, A, e: np.minimum(r * A, np.clip(r, -e, e) * A),
                "The ratio is clipped around 0. An unchanged policy has ratio 1: where do the borders lie?",
            ),
            (
                lambda r, A, e: np.minimum(r * A, np.minimum(r, 1 + e) * A),
                "Only the upper border is there. For a negative A it is the lower one that has to hold.",
            ),
            *_alike(
                "This is one number. Here the objective of each sample is asked for.",
                *(lambda r, A, e, f=f: f(_clipped(r, A, e)) for f in (np.mean, np.sum)),
            ),
        ],
    )


# --- 6b -----------------------------------------------------------------------------------------

LOGPROBS = [
    (np.array([-1.0, -2.0, -0.3]), np.array([-1.5, -1.0, -0.3])),
    (np.array([-0.2, -4.0]), np.array([-3.0, -0.1])),
]


def _k3(d):
    return np.exp(-d) - 1 + d


@exercise("6b", "The third estimate", "easy", 6)
def _third_estimate(answer):
    def of(f):
        return lambda logp, ref: f(logp - ref)

    return judge_function(
        answer,
        LOGPROBS,
        right=of(_k3),
        mistakes=[
            (
                of(lambda d: _k3(-d)),
                "The two policies are swapped. It is positive all the same, so no log will tell you. "
                "The samples come from the policy: which one stands in the denominator inside the exponential?",
            ),
            (
                of(lambda d: np.exp(-d) + d),
                "For two equal policies this gives 1. What has to be taken away?",
            ),
            (
                of(lambda d: np.exp(-d) - 1),
                "The mean of this is 0 for any two policies, since ratios have mean 1. "
                "The term that carries KL is missing.",
            ),
            (
                of(lambda d: np.exp(-d) - 1 - d),
                "The sign of the last term is turned round: it can fall below 0 now.",
            ),
            (
                of(lambda d: np.exp(d) - 1 + d),
                "The exponential has the wrong sign: its mean under the policy should be 1, and that of "
                "pi/ref is not.",
            ),
            (of(np.abs), "This is the size of d. It is never negative, but its mean is not KL."),
            (of(lambda d: d), "This is k1, the log-ratio itself."),
            (of(lambda d: d**2 / 2), "This is k2, half the square of the log-ratio."),
            *_alike(
                "This is one number. Here the estimate of each sample is asked for.",
                *(of(lambda d, f=f: f(_k3(d))) for f in (np.mean, np.sum)),
            ),
        ],
    )


# --- 6c -----------------------------------------------------------------------------------------

WEIGHTS = [
    (np.array([-1.0, -2.0, -0.3, -1.0]), np.array([-1.5, -1.0, -0.3, -1.2])),
    (np.array([-3.0, -0.5, -0.5]), np.array([-1.0, -0.5, -0.2])),
]


def _size(w):
    return w.sum() ** 2 / (w**2).sum()


@exercise("6c", "What the batch is worth", "medium", 8)
def _effective_size(answer):
    def of(f):
        return lambda new, old: f(np.exp(new - old))

    return judge_function(
        answer,
        WEIGHTS,
        right=of(_size),
        mistakes=[
            (
                lambda new, old: _size(new - old),
                "These are log-ratios. The weights are ratios: take the exponential first.",
            ),
            (
                lambda new, old: _size(np.exp(old - new)),
                "The ratio is upside down. Who sampled stands below.",
            ),
            (
                of(lambda w: (w**2).sum() / w.sum() ** 2),
                "The fraction is upside down: equal weights should give the number of samples.",
            ),
            (
                of(lambda w: (w**2).sum() / (w**2).sum()),
                "Square of the sum, not sum of the squares: above the fraction line add first.",
            ),
            (
                of(lambda w: w.size),
                "This is the number of answers, whatever their ratios are. Equal ratios should give it; what "
                "about one ratio that is far above the others?",
            ),
            *_alike(
                "This takes for granted that the ratios have mean 1. They have under the old policy, not in "
                "every batch. Double all of them: the answer must not change.",
                of(lambda w: w.size / (1 + w.var())),
                of(lambda w: w.size / (1 + w.var(ddof=1))),
                of(lambda w: w.size / (1 + ((w - 1) ** 2).mean())),
                of(lambda w: w.size / (w**2).mean()),
            ),
            (
                lambda new, old: _size(np.exp(new)),
                "These are the new probabilities alone. Where does the policy that sampled come in?",
            ),
            (
                lambda new, old: _size(np.exp(old)),
                "These are the old probabilities alone. A weight compares them with the new ones.",
            ),
            (
                of(lambda w: _size(w) / w.size),
                "This is a share of the batch. The number of samples is asked for.",
            ),
            (
                of(lambda w: 1 / (w**2).sum()),
                "This is right for weights that sum to 1. These do not: what has to stand above the line?",
            ),
            (
                of(lambda w: w.sum() / (w**2).sum()),
                "The sum above the line is not squared. Double all weights: the answer must not change.",
            ),
            (of(np.sum), "This is the sum of the ratios. It does not see whether one of them holds it all."),
        ],
    )


# --- 6d -----------------------------------------------------------------------------------------


def _problem(logits, rewards, delta):
    """A gradient, a Fisher matrix that can be inverted, and a distance: the logits but for the last."""
    z, r = np.array(logits), np.array(rewards)
    p, score = bandit.softmax(z), bandit.score_matrix(z)
    fisher = (score.T * p) @ score
    return bandit.exact_gradient(z, r)[:-1], fisher[:-1, :-1], delta


PROBLEMS = [
    _problem(bandit.EXAMPLE_LOGITS, bandit.EXAMPLE_REWARDS, 0.01),
    _problem([1.0, 0.0, -1.0], [0.5, 2.0, 1.0], 0.2),
]


def _natural(g, F, delta):
    x = np.linalg.solve(F, g)
    return x, g @ x, 2 * delta


def _as_long(x, F, delta):
    """x, made as long as delta allows."""
    return np.sqrt(2 * delta / (x @ F @ x)) * x


@exercise("6d", "The step of the trust region", "hard", 15)
def _trust_region(answer):
    def of(f):
        return lambda g, F, delta: f(*_natural(g, F, delta))

    return judge_function(
        answer,
        PROBLEMS,
        right=of(lambda x, gain, two: np.sqrt(two / gain) * x),
        mistakes=[
            (
                of(lambda x, gain, two: two / gain * x),
                "The root is missing. KL grows with the square of the step, so the step grows with the root of KL.",
            ),
            (
                of(lambda x, gain, two: np.sqrt(two / 2 / gain) * x),
                "A factor 2 is missing: KL is *half* of x F x. Put your step into that and see what it gives.",
            ),
            (
                of(lambda x, gain, two: np.sqrt(two * 2 / gain) * x),
                "The half of the parabola is on the wrong side: solve (1/2) x F x = delta for the length.",
            ),
            *_alike(
                "F is used where its inverse is asked for. The direction solves F x = g.",
                lambda g, F, delta: F @ g,
                lambda g, F, delta: np.sqrt(2 * delta / (g @ F @ g)) * (F @ g),
                lambda g, F, delta: _as_long(F @ g, F, delta),
            ),
            (
                lambda g, F, delta: np.sqrt(2 * delta / (g @ F @ g)) * np.linalg.solve(F, g),
                "The direction is right. Its length is measured with g where the step itself belongs: put "
                "x = c F^-1 g into x F x, and see what becomes of one F.",
            ),
            *_alike(
                "Only the diagonal of F is used. Its other entries say how answers share one softmax: "
                "solve F x = g with all of it.",
                lambda g, F, delta: g / F.diagonal(),
                lambda g, F, delta: np.sqrt(2 * delta / (g @ (g / F.diagonal()))) * g / F.diagonal(),
                lambda g, F, delta: _as_long(g / F.diagonal(), F, delta),
            ),
            (
                lambda g, F, delta: np.sqrt(2 * delta / (g @ F @ g)) * g,
                "The length is right, for the plain gradient's direction. Which direction buys most for its KL?",
            ),
            (
                lambda g, F, delta: np.sqrt(2 * delta / (g @ g)) * g,
                "This measures the step in logits. Its length should be measured by F.",
            ),
            (of(lambda x, gain, two: x), "The direction is right. Now make it as long as delta allows."),
            (
                of(lambda x, gain, two: np.sqrt(two / (x @ x)) * x),
                "The direction is right, but its length is measured in logits. Measure it by F.",
            ),
            (
                of(lambda x, gain, two: np.sqrt(two / gain)),
                "This is the factor in front. The step is that number times the direction.",
            ),
            (
                of(lambda x, gain, two: -np.sqrt(two / gain) * x),
                "The sign is turned round: this step goes downhill.",
            ),
        ],
    )
