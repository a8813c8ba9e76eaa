"""Exercises of notebook 11, Scaling out."""

import numpy as np

from pglab import returns
from pglab.exercises.checking import exercise, judge_function

# --- 11a ----------------------------------------------------------------------------------------


@exercise("11a", "A LoRA's bill", "easy", 6)
def _lora(answer):
    return judge_function(
        answer,
        [(7e9, 4e7), (5e8, 1e7), (7.1e10, 2e8)],
        right=lambda P, A: (2 * P + 16 * A) / 1e9,
        mistakes=[
            (
                lambda P, A: 16 * (P + A) / 1e9,
                "The whole model is charged as if it were trained. Who learns here?",
            ),
            (
                lambda P, A: 16 * P / 1e9,
                "This trains the model and forgets the adapters. It is the other way round.",
            ),
            (
                lambda P, A: 16 * A / 1e9,
                "The adapters are paid. The model that they sit on must lie somewhere too.",
            ),
            (
                lambda P, A: 2 * (P + A) / 1e9,
                "Two bytes each, for all. What else does a parameter that learns need?",
            ),
            (
                lambda P, A: (2 * P + 14 * A) / 1e9,
                "Close: 2 + 2 + 4 + 8. Which of the four did you leave out for the adapters?",
            ),
            (
                lambda P, A: (2 * P + 8 * A) / 1e9,
                "Eight bytes is the bill in half precision throughout. Mixed precision keeps more.",
            ),
            (lambda P, A: (4 * P + 16 * A) / 1e9, "The frozen model is in half precision: two bytes each."),
            (lambda P, A: 2 * P + 16 * A, "These are bytes. Gigabytes are asked for."),
            (lambda P, A: (2 * P + 16 * A) / 2**30, "This is GiB, 2^30 bytes. Here 1 GB is 10^9."),
        ],
    )


# --- 11b ----------------------------------------------------------------------------------------

TOKENS = [(np.array([10.0, 30.0]),), (np.array([7.0, 1.0, 4.0]),), (np.array([5.0, 5.0, 5.0, 17.0]),)]


@exercise("11b", "What DistributedDataParallel divides by", "medium", 8)
def _denominator(answer):
    return judge_function(
        answer,
        TOKENS,
        right=lambda n: n.sum() / n.size,
        mistakes=[
            (
                lambda n: n.sum(),
                "With this the sum of the workers' gradients would be right. DistributedDataParallel takes their mean, "
                "which is a sum divided by something more.",
            ),
            (
                lambda n: n,
                "Each by its own tokens: that is the mean of means. One number for all is asked for.",
            ),
            (lambda n: n.sum() * n.size, "The number of workers is in it, on the wrong side of the line."),
            (
                lambda n: n.size * 1.0,
                "The workers alone. Then the result is a sum over tokens; a mean is asked for.",
            ),
            (
                lambda n: n.max(),
                "The largest worker's tokens. Is the sum of all shares then a mean over all tokens?",
            ),
            (
                lambda n: 1 / n.size,
                "The loss would be a sum over all tokens. Where are the tokens below the line?",
            ),
            (
                lambda n: np.median(n),
                "A median of the counts knows nothing of how many tokens there are in all.",
            ),
        ],
    )


# --- 11c ----------------------------------------------------------------------------------------

PAIRS = [
    (np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5]), np.array([1.0, 0.0, 2.0]), 1.5),
    (np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.4, 0.3, 0.2, 0.1]), np.array([1.0, -1.0, 0.5, 2.0]), 2.0),
    (np.array([0.7, 0.3]), np.array([0.6, 0.4]), np.array([0.0, 3.0]), 5.0),
]


@exercise("11c", "The mean of a truncated estimate", "medium", 8)
def _truncated(answer):
    return judge_function(
        answer,
        PAIRS,
        right=lambda p, m, r, c: (np.minimum(p, c * m) * r).sum(),
        mistakes=[
            (
                lambda p, m, r, c: (p * r).sum(),
                "This is the mean without a cap. What does the cap take away?",
            ),
            (lambda p, m, r, c: (m * r).sum(), "This is the mean without weights. Answers are weighed here."),
            (
                lambda p, m, r, c: (np.minimum(p / m, c) * r).sum(),
                "Every answer counts once here. How often does each one come, under the policy that draws?",
            ),
            (
                lambda p, m, r, c: (p * np.minimum(p / m, c) * r).sum(),
                "The mean is taken under pi. Who draws the answers?",
            ),
            (
                lambda p, m, r, c: (m * np.where(p / m <= c, p / m, 0) * r).sum(),
                "This throws away what is above the cap (a mask). Truncated means: kept, with the weight c.",
            ),
            (
                lambda p, m, r, c: (m * np.maximum(p / m, c) * r).sum(),
                "The larger of the two. A cap is the most that a weight may be.",
            ),
            (
                lambda p, m, r, c: (m * np.minimum(m / p, c) * r).sum(),
                "The ratio stands upside down: the policy that learns goes above the line.",
            ),
            (
                lambda p, m, r, c: (m * np.clip(p / m, 1 / c, c) * r).sum(),
                "Cut on both sides. Here only what is too large is cut.",
            ),
            (
                lambda p, m, r, c: (np.minimum(p, c * m) * r).mean(),
                "Divided by the number of answers once more. The probabilities are the weights of the mean already.",
            ),
        ],
    )


# --- 11d ----------------------------------------------------------------------------------------

WORK = [(9.0, 1.0, 24), (100.0, 40.0, 16), (2.0, 30.0, 8), (60.0, 60.0, 8), (33.0, 21.0, 10), (1.0, 9.0, 24)]


def _best(d, w, n):
    return min(range(1, int(n)), key=lambda k: max(d / k, w / (n - k)))


@exercise("11d", "Nobody waits", "medium", 10)
def _samplers(answer):
    return judge_function(
        answer,
        WORK,
        right=_best,
        mistakes=[
            (
                lambda d, w, n: min(max(round(n * d / (d + w)), 1), n - 1),
                "In proportion, rounded to the nearest. With 9 and 1 seconds on 24 GPUs that is 22: who is slower then, and "
                "with 21?",
            ),
            (
                lambda d, w, n: min(max(int(n * d / (d + w)), 1), n - 1),
                "Rounded down. Sometimes one more sampler makes the slower side faster.",
            ),
            (
                lambda d, w, n: n - _best(d, w, n),
                "These are the GPUs that learn. How many draw?",
            ),
            (
                lambda d, w, n: min(range(1, int(n)), key=lambda k: d / k + w / (n - k)),
                "This makes the sum of the two times small. They run side by side: which of the two times counts?",
            ),
            (
                lambda d, w, n: min(range(1, int(n)), key=lambda k: min(d / k, w / (n - k))),
                "This makes the faster side faster still. The step lasts as long as the slower one.",
            ),
            (lambda d, w, n: n // 2, "Half and half, whatever the work is?"),
        ],
    )


# --- 11e ----------------------------------------------------------------------------------------

CHARGED = [
    (np.array([0.3, 0.1, 0.0, 0.4]), 0.5, 1.0, np.array([0.2, 0.4, 0.6, 0.1]), 1.0),
    (np.array([0.2, 0.5, 0.1]), 0.1, 0.0, np.array([0.3, -0.2, 0.5]), 0.9),
    (np.array([1.0, 0.2, 0.7, 0.1, 0.0]), 0.2, 2.0, np.array([1.0, 0.5, 0.2, 0.8, 0.4]), 0.5),
]


def _paid(kl, beta, reward, sign=-1.0):
    paid = sign * beta * kl
    paid[-1] += reward
    return paid


@exercise("11e", "Who pays for the KL", "hard", 12)
def _advantages(answer):
    def gae(paid, values, lam):
        return returns.gae(paid, values, gamma=1.0, lam=lam)

    def everywhere(kl, beta, reward, values, lam):
        return gae(reward - beta * kl, values, lam)

    def to_all(kl, beta, reward, values, lam):
        paid = np.zeros(kl.size)
        paid[-1] = reward - beta * kl.sum()
        return gae(paid, values, lam)

    return judge_function(
        answer,
        CHARGED,
        right=lambda kl, beta, reward, values, lam: gae(_paid(kl, beta, reward), values, lam),
        mistakes=[
            (
                to_all,
                "The sum of the KL is charged with the last token. Each token pays its own part, where it stands.",
            ),
            (everywhere, "The answer's reward is paid at every token. It comes once, with the last."),
            (
                lambda kl, beta, reward, values, lam: gae(_paid(kl, beta, reward, 1.0), values, lam),
                "The KL is a gift here. It costs: which sign?",
            ),
            (
                lambda kl, beta, reward, values, lam: gae(_paid(kl, 1.0, reward), values, lam),
                "The KL is charged in full. It is charged beta times.",
            ),
            (
                lambda kl, beta, reward, values, lam: returns.reward_to_go(_paid(kl, beta, reward)),
                "These are returns. An advantage is compared with what the critic expected.",
            ),
            (
                lambda kl, beta, reward, values, lam: returns.reward_to_go(_paid(kl, beta, reward)) - values,
                "This is lambda = 1. For a smaller lambda the later errors of the critic count less.",
            ),
            (
                lambda kl, beta, reward, values, lam: returns.gae(
                    _paid(kl, beta, reward), values, gamma=lam, lam=1.0
                ),
                "lambda was taken for the discount. gamma is 1 here, and lambda weighs the TD errors.",
            ),
            (
                lambda kl, beta, reward, values, lam: gae(
                    _paid(np.zeros(kl.size), beta, reward), values, lam
                ),
                "Nobody pays for the KL here.",
            ),
        ],
    )
