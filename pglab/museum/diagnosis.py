"""Which of the faults a run has, read off its panel alone: rules, tried in order, the surest first."""

import numpy as np

from pglab import _checks, recordings

COLUMNS = ("reward", "finished", "zero_std", "advantage_mean", "grad_norm", "grad_noise", "kl", "kl_ref")


def diagnose(panel):
    """The name of the finding for one run of the clinic, from its panel and from nothing else.

    The first rule that applies decides. M_t is advantage_mean at step t, Z_t zero_std.

    1. max |M_t| > 0.05. Weights of a group add up to 0 whatever is paid; rounding leaves 1e-6 of it, and what
       is read here is 0.02 and more in every step. If M_0 > 2, no reward is as large: "variance_for_bias". If M
       climbs above 1.5 from below, a critic is pushed down: "gradient_through_advantage". If M_t / Z_t is the
       same number at every step (its deviation below a tenth of its mean), groups that are all alike make it:
       "tiny_eps". Otherwise "wrong_brackets".
    2. kl_0 > 3 kl_ref_1. At the first step the policy before the batch is the model before training, so both
       say how far the first batch moved it: kl after one of its two updates, kl_ref after both, when it should
       be the larger (3 leaves room, for both are estimates). If it is not, kl does not measure the way the
       policy went: old and new numbers speak of different things. More than a whole nat: of different tokens,
       "shift_off_by_one". Less: of the same tokens at another temperature, "temperature_mismatch".
    3. kl_0 > 0.1, and kl_ref agrees: "learning_rate_too_high". Thirty times what is healthy here.
    4. Z_0 > 0.75: "sparse_reward". Twice as many silent groups as any of the other runs has at the start.
    5. The reward rose by 0.2, first five steps against last five, and fewer than half of the last answers end
       by themselves: "lax_verifier". A right answer ends, so it is not right answers that are paid.
    6. The reward rose by 0.2: "healthy". It learns, and nothing above is odd. A fault that leaves these columns
       alone, such as an end token outside the loss, passes here.
    7. The reward did not rise although at least three groups of ten still differ (mean of 1 - Z_t over the
       last ten steps), and noise is 0.8 to 1.25 of the squared gradient, means over the run: what is paid
       differs from answer to answer, and yet no step has a direction: "rewards_transposed". Noise alone is no
       diagnosis: healthy runs of other tasks reach 0.9, every run has it before it learns, and failure 6 of
       the notebook has it with nothing wrong. The thresholds belong to this ward. The rule says no more than
       that the rewards do not go with the answers; that they were *transposed* is what the list leaves.

    Args:
      panel: {column: (T,) numbers} with at least ``COLUMNS``, T >= 10 steps, the first step first.

    Returns:
      A name out of ``faults.FINDINGS``; None where no rule applies.

    Raises:
      ValueError: a column that is missing; columns of different lengths, or shorter than ten steps.
    """
    panel = _columns(panel)
    reward, silent, mean = panel["reward"], panel["zero_std"], panel["advantage_mean"]
    if np.abs(mean).max() > 0.05:
        return _of_weights(mean, silent)
    if panel["kl"][0] > 3 * panel["kl_ref"][1]:
        return "shift_off_by_one" if panel["kl"][0] > 1 else "temperature_mismatch"
    if panel["kl"][0] > 0.1:
        return "learning_rate_too_high"
    if silent[0] > 0.75:
        return "sparse_reward"
    if reward[-5:].mean() > reward[:5].mean() + 0.2:
        return "healthy" if panel["finished"][-5:].mean() > 0.5 else "lax_verifier"
    noise = np.nanmean(panel["grad_noise"]) / (panel["grad_norm"] ** 2).mean()
    if (1 - silent[-10:]).mean() > 0.3 and 0.8 < noise < 1.25:
        return "rewards_transposed"
    return None


def _of_weights(mean, silent):
    """Rule 1: whose mean advantage is not 0."""
    if mean[0] > 2:
        return "variance_for_bias"
    if mean[-5:].mean() > 1.5:
        return "gradient_through_advantage"
    each = mean[silent > 0] / silent[silent > 0]
    return "tiny_eps" if len(each) and each.std() < 0.1 * abs(each.mean()) else "wrong_brackets"


def opening():
    """The riddle at the beginning of notebook 10: ten recorded runs, five of which have a fault.

    Returns:
      Two (5, T) arrays, the share of right answers of five runs each; the notebook says later whose they are.
    """
    recorded = recordings.read("museum")
    return tuple(recorded.column(variant, "right") for variant in _RIDDLE)


_RIDDLE = ("gradient_through_advantage, healthy", "gradient_through_advantage")


def _columns(panel):
    """The columns that the rules read, as vectors of one length."""
    missing = [name for name in COLUMNS if name not in panel]
    if missing:
        raise ValueError(f"panel lacks {', '.join(missing)}; it must have the columns {', '.join(COLUMNS)}.")
    found = {
        name: _checks.floats(name, panel[name], "a vector, one number for each step") for name in COLUMNS
    }
    shapes = {x.shape for x in found.values()}
    if len(shapes) > 1 or len(next(iter(shapes))) != 1 or min(shapes) < (10,):
        raise ValueError(
            f"panel has columns of shape {sorted(shapes)}; all must have one shape (T,), T at least 10."
        )
    return found
