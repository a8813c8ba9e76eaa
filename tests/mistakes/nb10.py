"""Usual wrong answers to the exercises of notebook 10, each with a piece of the hint it must get."""

import torch

from pglab import losses

RIGHT = {
    "A": "wrong_brackets", "B": "temperature_mismatch", "C": "lax_verifier", "D": "healthy",
    "E": "tiny_eps", "F": "learning_rate_too_high", "G": "rewards_transposed", "H": "shift_off_by_one",
}  # fmt: skip


def but(**others):
    """The right findings, but for these."""
    return RIGHT | others


def grpo(gain=torch.min, detach=True, where=True, sign=-1.0, mean="rows", low=0.8, high=1.2, fresh=False):
    """GRPO's loss, with one thing or another wrong."""

    def loss(logprobs, old_logprobs, advantages, mask):
        A = (advantages.detach() if detach else advantages)[:, None]
        difference = logprobs - (logprobs.detach() if fresh else old_logprobs)
        ratio = (difference.where(mask, 0.0) if where else difference).exp()
        gains = gain(ratio * A, ratio.clamp(low, high) * A)
        gains = gains.where(mask, 0.0) if where else gains * mask
        tokens = mask.sum(1).clamp(min=1)
        return (
            sign
            * {
                "rows": lambda: (gains.sum(1) / tokens).sum() / mask.any(1).sum().clamp(min=1),
                "all rows": lambda: (gains.sum(1) / tokens).mean(),
                "tokens": lambda: gains.sum() / mask.sum().clamp(min=1),
                "width": lambda: gains.mean(),
                "constant": lambda: gains.sum() / (10 * mask.any(1).sum().clamp(min=1)),
            }[mean]()
        )

    return loss


MISTAKES = [
    ("10a", but(A="tiny_eps"), "7 of 8 are right. Something else: A. A: A tiny eps gives weights"),
    ("10a", but(E="wrong_brackets"), "divide it by zero_std at some steps"),
    ("10a", but(E="lax_verifier"), "what do 0.1 and 0.7 make of the same answers"),
    ("10a", but(B="shift_off_by_one"), "differ by whole nats"),
    (
        "10a",
        but(B="learning_rate_too_high", F="temperature_mismatch"),
        "6 of 8 are right. Something else: B, F. B",
    ),
    ("10a", but(F="shift_off_by_one"), "has hardly moved"),
    ("10a", but(H="temperature_mismatch"), "a few hundredths"),
    ("10a", but(H="gradient_through_advantage"), "climb to 2"),
    ("10a", but(G="healthy"), "fall into other groups"),
    ("10a", but(G="variance_for_bias"), "advantage_mean would be above 2"),
    ("10a", but(C="healthy"), "Which of these fails?"),
    ("10a", but(C="sparse_reward"), "Are they?"),
    ("10a", but(D="sparse_reward"), "from the *first* step"),
    ("10a", but(D="rewards_transposed"), "Noise alone is no finding"),
    ("10a", dict.fromkeys(RIGHT, "healthy"), "1 of 8 are right. Something else: A, B, C, E, F, G, H. A:"),
    ("10a", but(C="lax verifier"), "it must be one of the findings"),
    ("10a", but(C=["lax_verifier"]), "it must be one of the findings"),
    ("10a", RIGHT | {"I": "healthy"}, "There is no run I"),
    ("10a", [*RIGHT.values()], "A dictionary is asked for"),
    ("10b", lambda rows: True, "rings always"),
    ("10b", lambda rows: False, "never rings"),
    ("10b", lambda rows: rows[0]["kl"] > 0.02, "really went that far"),
    ("10b", lambda rows: rows[0]["clip_fraction"] > 0.1, "really went that far"),
    ("10b", lambda rows: rows[0]["kl"] > 1, "silent where the sampler was hotter"),
    ("10b", lambda rows: 0.02 < rows[0]["kl"] < 0.2, "several nats after one update"),
    ("10b", lambda rows: abs(rows[0]["advantage_mean"]) > 0.1, "silent where the sampler was hotter"),
    ("10b", lambda rows: rows[0]["kl"] > 3 * rows[1]["kl_ref"] or rows[0]["grad_norm"] > 1, "another fault"),
    (
        "10b",
        lambda rows: rows[0]["kl"] > 3 * rows[1]["kl_ref"] or rows[-1]["reward"] > 0.7 < rows[-1]["finished"],
        "nothing is wrong",
    ),
    ("10b", lambda rows: len(rows) > 2 and rows[0]["kl"] > 3 * rows[1]["kl_ref"], "more than two steps"),
    ("10b", True, "A function is asked for"),
    ("10c", [1.0, 1.0, 1.0], "All equal"),
    ("10c", [2**0.5, 0.0], "*sample* deviation"),
    ("10c", [0.70710678, -0.70710678], "*sample* deviation"),
    ("10c", [1.0, 0.0, 0.0, 1.0], "always divides by 1"),
    ("10c", [2.01, 0.0], "Nearly"),
    ("10c", [[2.0, 0.0]], "A list of at least two rewards"),
    ("10c", [1.0], "A list of at least two rewards"),
    ("10d", grpo(gain=torch.max), "larger_of_two"),
    ("10d", grpo(sign=1.0), "exhibit sign"),
    ("10d", grpo(detach=False), "live_advantages"),
    ("10d", grpo(where=False), "multiplied_mask"),
    ("10d", grpo(fresh=True), "fresh_ratio"),
    ("10d", grpo(mean="width"), "padded_mean"),
    ("10d", grpo(mean="tokens"), "mean over all tokens"),
    ("10d", grpo(mean="constant"), "denominator is not the one"),
    ("10d", grpo(mean="all rows"), "counted among the rows"),
    ("10d", grpo(high=1.28), "The bounds of the ratio"),
    ("10d", lambda a, b, c, d: losses.policy_loss(a, b, c, d, clip=(0.2, 0.2)), "Write it out"),
    ("10d", lambda a, b, c, d: 1.0, "must return one number, a torch tensor"),
    ("10d", 3.0, "A function is asked for"),
]
