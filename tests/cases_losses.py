"""How the cases of log-probabilities, losses, diagnostics and tasks are computed, from their inputs."""

import math

import numpy as np
import torch

from pglab import bandit, diagnostics, logprobs, losses, tasks


def numbers(value):
    return np.asarray(value, dtype=np.float64)  # the words "-inf" and "nan" too


def rows_of_lengths(lengths):
    return np.arange(max(lengths)) < numbers(lengths)[:, None]


def loss_and_gradient(logp, old, advantages, mask=None, **options):
    logp = torch.tensor(numbers(logp), requires_grad=True)
    mask = np.ones(logp.shape, bool) if mask is None else mask
    loss = losses.policy_loss(logp, old and numbers(old), advantages, mask, **options)
    loss.backward()
    return loss.item(), logp.grad.numpy()


# ---- Log-probabilities


def single_token(logits, token, A):
    """On-policy the value of "cispo" is -A log pi."""
    logp = logprobs.gather(logits, [token])[None]
    loss = losses.policy_loss(logp, None, [A], [[1]], variant="cispo")
    return {"logp": logp.item(), "loss": loss.item()}


def rounded_to_half_precision(logp_fp32, rule):
    assert rule == "round to bfloat16"
    old = torch.tensor([[logp_fp32]], dtype=torch.float32)
    new = old.bfloat16()
    return {"bf16": new.item(), "spurious_ratio": losses.importance_weights(new, old, [[1]]).item()}


# ---- Clips and ratios


def one_token(logp, old_logp, A, eps_low=0.2, eps_high=0.2, dual_c=None):
    options = {"clip": (eps_low, eps_high), "dual_clip": dual_c}
    loss, gradient = loss_and_gradient([[logp]], [[old_logp]], [A], **options)
    return {"loss": loss, "dloss_dlogp": gradient.item()}


def one_row(logp, old, mask, A):
    advantages = numbers([A])  # one for the row, or one for each token
    loss, gradient = loss_and_gradient([logp], [old], advantages, [mask])
    return {"loss": loss, "grad": gradient[0]}


def gspo(logp, old, mask, A, eps):
    options = {"ratio": "sequence_mean", "clip": (eps, eps), "aggregation": "sequence_mean"}
    loss, gradient = loss_and_gradient(logp, old, A, mask, **options)
    return {"loss": loss, "grad": gradient}


def gspo_narrow_clip(logratio_mean, A, eps_low, eps_high):
    options = {"ratio": "sequence_mean", "clip": (eps_low, eps_high)}
    loss, gradient = loss_and_gradient([[logratio_mean] * 3], [[0.0] * 3], [A], **options)
    return {"loss": loss, "grad": gradient.sum()}


def rloo_clip(logp, old, A, eps):
    options = {"ratio": "sequence_product", "clip": (eps, eps)}
    loss, gradient = loss_and_gradient(logp, old, A, **options)
    return {"loss": loss, "grad": gradient}


def cispo(logp, old, A, eps_high):
    options = {"variant": "cispo", "clip": (None, eps_high)}
    return {"grad": loss_and_gradient([[logp]], [[old]], [A], **options)[1].item()}


# ---- Aggregation


def weights(lengths, mode):
    """What one token of each row weighs."""
    mask = rows_of_lengths(lengths)
    token_losses = torch.zeros(mask.shape, dtype=torch.float64, requires_grad=True)
    losses.aggregate(token_losses, mask, mode).backward()
    return token_losses.grad[:, 0].numpy()


def weights_by_mode(lengths):
    token_mean, seq_mean = weights(lengths, "token_mean"), weights(lengths, "sequence_mean")
    return {"token_mean": token_mean, "seq_mean": seq_mean, "ratio_seq_mean": seq_mean[0] / seq_mean[1]}


def extreme_lengths(lengths, A):
    assert A == [1, 1]

    def share_of_short(mode):
        rows = weights(lengths, mode) * lengths
        return rows[0] / rows.sum()

    each = weights(lengths, "sequence_mean")
    return {
        "token_mean_share_of_short": share_of_short("token_mean"),
        "seq_mean_share_of_short": share_of_short("sequence_mean"),
        "per_token_ratio_seq_mean": each[0] / each[1],
    }


def an_empty_row(loss, mask):
    return {
        "token_mean": losses.aggregate(loss, mask).item(),
        "seq_mean_token_mean_excluding_empty": losses.aggregate(loss, mask, "sequence_mean").item(),
        "seq_mean_token_mean_counting_empty": losses.aggregate(
            loss, mask, "sequence_mean", empty_rows="count"
        ).item(),
    }


def all_rows_empty(loss, mask):
    results = [losses.aggregate(loss, mask, mode, norm=8).item() for mode in losses.MODES]
    results += [losses.aggregate(loss, mask, mode).item() for mode in ("token_mean", "sequence_mean", "sum")]
    return np.abs(results).max()  # NaN would show


def accumulated(loss, mask, micro):
    assert micro == [1, 1]
    parts = [(loss[:1], mask[:1]), (loss[1:], mask[1:])]
    return {
        "full": losses.aggregate(loss, mask).item(),
        "mean_of_micro": np.mean([losses.aggregate(*part).item() for part in parts]),
        "rescaled": sum(losses.aggregate(*part, norm=np.sum(mask)).item() for part in parts),
    }


def prompt_in_the_mask(A, lengths, prompt_len):
    """How hard one prompt token, the same in all rows, is pushed up if the mask counts the prompt in."""
    mask = rows_of_lengths(numbers(lengths) + prompt_len)
    _, gradient = loss_and_gradient(np.zeros(mask.shape), None, A, mask, aggregation="sequence_mean")
    return -gradient[:, 0].sum()


# ---- Importance weights

TREE = ["E", "aE", "aa"]  # all completions of at most two tokens, E being the end token
TREE_MASK = np.array([[1, 0], [1, 1], [1, 1]])


def tree(theta):
    """(3, 2) log-probabilities of the tokens of the three completions: P(a) = sigmoid(theta_t)."""
    a, end = -np.logaddexp(0, -numbers(theta)), -np.logaddexp(0, numbers(theta))
    return np.array([[end[0], np.nan], [a[0], end[1]], [a[0], a[1]]])


def tree_probabilities(theta):
    return np.exp(np.nansum(tree(theta), axis=1))


def importance_sampling(behaviour_theta, target_theta, rewards):
    """Expected weighted reward under the behaviour: exactly, over all completions."""
    rewards = numbers([rewards[completion] for completion in TREE])
    drawn = tree_probabilities(behaviour_theta) * rewards
    pair = tree(target_theta), tree(behaviour_theta)
    token = losses.importance_weights(*pair, TREE_MASK).numpy()
    sums = {"clip": None, "aggregation": "sum"}
    geometric = losses.policy_loss(*pair, drawn, TREE_MASK, ratio="sequence_mean", **sums)
    product = losses.importance_weights(*pair, TREE_MASK, level="sequence").numpy()
    surrogate = losses.policy_loss(*pair, drawn, TREE_MASK, ratio="sequence_product", **sums)
    assert math.isclose(-surrogate.item(), drawn @ product, rel_tol=1e-12)  # the two rooms agree
    return {
        "target": tree_probabilities(target_theta) @ rewards,
        "full_product": drawn @ product,
        "geometric_mean": -geometric.item(),
        "last_token_only": drawn @ token[range(3), TREE_MASK.sum(1) - 1],
    }


def truncation_bias(logits, behaviour, rewards, cap):
    assert behaviour == "uniform"
    n = len(logits)
    pair = bandit.log_softmax(logits)[:, None], np.full((n, 1), -math.log(n))

    def expected(cap):
        each = losses.importance_weights(*pair, np.ones((n, 1), bool), cap)[:, 0].numpy()
        return (each * rewards / n) @ bandit.score_matrix(logits)

    return {"E_untruncated": expected(None), "E_truncated": expected(cap)}


def levels_of_truncation(old, rollout, cap):
    pair = [old], [rollout], np.ones((1, len(old)), bool)
    return {
        "token": losses.importance_weights(*pair, cap)[0],
        "sequence": losses.importance_weights(*pair, cap, level="sequence")[0],
        "sequence_untruncated": losses.importance_weights(*pair, level="sequence")[0],
    }


# ---- Diagnostics and tasks


def dynamic_sampling(groups):
    kept = np.flatnonzero(~diagnostics.zero_std_groups(groups))
    return {"kept": kept, "frac_reward_zero_std": diagnostics.zero_std_fraction(groups)}


def expected_pass_at_k(q, n, k):
    """The estimate averaged over how many of n come out right, each with probability q."""
    chances = [math.comb(n, c) * q**c * (1 - q) ** (n - c) for c in range(n + 1)]
    return sum(chance * diagnostics.pass_at_k(n, c, k) for c, chance in enumerate(chances))


COMPUTED = {
    "lp-03-stability": lambda logits, token: logprobs.gather(logits, token),
    "lp-04-neginf-vocab-entropy": lambda logits: diagnostics.entropy(numbers(logits)),
    "lp-07-single-token": single_token,
    "lp-08-bf16-ratio": rounded_to_half_precision,
    "agg-06-weights": weights_by_mode,
    "agg-07-empty-row": an_empty_row,
    "agg-08-all-empty": all_rows_empty,
    "agg-09-grad-accum": accumulated,
    "agg-12-prompt-leak-seqmean": prompt_in_the_mask,
    "agg-14-extreme-lengths": extreme_lengths,
    "agg-sum-norm": lambda loss, mask, norm: losses.aggregate(loss, mask, "constant", norm),
    "agg-sum-over-T": lambda loss, mask, norm: losses.aggregate(loss, mask, "sum", norm),
    "cispo-02-onpolicy": cispo,
    "clip-dual-free": one_token,
    "clip-dual-negreward": one_token,
    "clip-masked-neginf": one_row,
    "clip-nan-padding": one_row,
    "clip-neg-in": one_token,
    "clip-neg-lo": one_token,
    "clip-overflow-1000-A0": one_token,
    "clip-overflow-50-neg": one_token,
    "clip-pp-hi": one_token,
    "clip-pp-in": one_token,
    "clip-pp-lo": one_token,
    "gspo-02-loss": gspo,
    "gspo-03-clip-3e-4": gspo_narrow_clip,
    "is-01-unbiasedness": importance_sampling,
    "rloo-01-seq-ratio-clip": rloo_clip,
    "tis-01-truncation-bias": truncation_bias,
    "tis-03-seq-vs-token": levels_of_truncation,
    "tis-05-ess": lambda logw: diagnostics.effective_sample_size(np.exp(logw)),
    "dapo-01-overlong": lambda L_max, cache, lengths: tasks.overlong_penalty(lengths, L_max - cache, L_max),
    "dapo-02-dynamic-sampling": dynamic_sampling,
    "ev-01-passk": lambda n, c, k: [diagnostics.pass_at_k(n, c, tries) for tries in k],
    "ev-04-passk-unbiased": expected_pass_at_k,
}
