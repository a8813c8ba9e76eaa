"""How the cases of trajectories, returns and KL are computed, from their inputs."""

import numpy as np
import torch

from pglab import bandit, kl, mdp, returns


def steps(*rewards):
    """Two steps, a fair choice in each; rewards[t] is what the two actions of step t earn."""
    table = [[[0, 1], [0, 1]], [[0, 1], [0, 1]]]
    return mdp.TabularMDP([1, 0], table, rewards, 2), np.zeros((2, 2))


def gamma_sign_flip(desc):
    """One logit for both steps: what belongs to action 1, summed over the steps."""
    assert desc == "shared logit theta=0 for both steps; r0=0.6*a0, r1=-a1; gamma=0.5"
    model, logits = steps([0, 0.6], [0, -1])
    return {
        "true": mdp.objective_gradient(model, logits, 0.5)[:, 1].sum(),
        "row2_rtg": mdp.exact_gradient(model, logits, "reward_to_go", 0.5)[:, 1].sum(),
    }


def noisier_reward_to_go(desc):
    """One logit for each step, that of action 1: every other entry of the covariance."""
    assert desc == "2 steps, pi=1/2; r0=-1 always; r1=3/4 or 1; gamma=1"
    model, logits = steps([-1, -1], [3 / 4, 1])
    full, to_go = (mdp.covariance(model, logits, kind) for kind in ("return", "reward_to_go"))
    return {
        "full": np.trace(full[1::2, 1::2]),
        "rtg": np.trace(to_go[1::2, 1::2]),
        "mean": mdp.exact_gradient(model, logits, "return")[:, 1],
    }


def reward_to_go(r, gamma, factor=None):
    assert factor in (None, "gamma^t * rtg")
    return returns.reward_to_go(r, gamma, discount_from_start=factor is not None)


def gae(rewards, values, gamma, lam, v_next=0.0, mask=None):
    return returns.gae(rewards, values, gamma, lam, v_next, mask)


# ---- KL


def estimates(logp, ref_logp):
    return {kind: kl.estimate(logp, ref_logp, kind) for kind in kl.KINDS}


def expectations(logits, ref_logits):
    each = estimates(bandit.log_softmax(logits), bandit.log_softmax(ref_logits))
    return {kind: bandit.softmax(logits) @ k for kind, k in each.items()}


def variances(logits, ref_logits):
    each = estimates(bandit.log_softmax(logits), bandit.log_softmax(ref_logits))
    mean, p = expectations(logits, ref_logits), bandit.softmax(logits)
    return {kind: p @ (k - mean[kind]) ** 2 for kind, k in each.items()}


def same_policy(p):
    assert p == "=ref"
    result = {}
    for kind in kl.KINDS:
        logp = torch.tensor(-1.3, dtype=torch.float64, requires_grad=True)
        k = kl.estimate(logp, logp.detach(), kind)
        k.backward()
        result |= {kind: k.item(), f"grad_{kind}": logp.grad.item()}
    return result


def cosine_of_k3(logits, ref_logits):
    """The gradient of k3 as a loss, beside that of KL(pi || ref), which k2 as a loss has."""
    ours, true = kl.gradient(logits, ref_logits, "k3"), kl.gradient(logits, ref_logits, "k2")
    slopes = bandit.finite_differences(lambda z: kl.divergence(z, ref_logits), logits)
    np.testing.assert_allclose(true, slopes, atol=1e-9)
    return ours @ true / np.linalg.norm(ours) / np.linalg.norm(true)


def in_reward(detach):
    def gradient(logits, rewards, ref_logits, beta):
        penalty = kl.gradient(logits, ref_logits, "k1", "reward", detach)
        return bandit.exact_gradient(logits, rewards) - beta * penalty

    return gradient


def tree(theta):
    """The tree of two logits: write a with probability sigmoid(theta_t), or stop; two tokens at most."""
    nothing, one, end = np.eye(3)
    model = mdp.TabularMDP(nothing, [[one, end], [end, end], [end, end]], np.zeros((3, 2)), 2, [0, 0, 1])
    return model, [[theta[0], 0.0], [theta[1], 0.0], [0.0, 0.0]]


def token_logprobs(paths, logits):
    table = np.array([bandit.log_softmax(row) for row in logits])
    return table[paths.states[:, :-1], paths.actions]


def mean_over_tokens(theta, ref_theta):
    model, logits = tree(theta)
    _, ref_logits = tree(ref_theta)
    paths, ref_paths = mdp.trajectories(model, logits), mdp.trajectories(model, ref_logits)
    whole = kl.estimate(np.log(paths.policy), np.log(ref_paths.policy), "k1")
    token = kl.estimate(token_logprobs(paths, logits), token_logprobs(paths, ref_logits), "k1", paths.mask)
    return {
        "sequence_KL": paths.probability @ whole,
        "E_mean_per_token_k1": paths.probability @ (token.sum(axis=1) / paths.mask.sum(axis=1)),
    }


def k1_sum_in_loss(theta, ref_theta, desc):
    """What autograd leaves of k1 for each token is the weight of its score."""
    assert "mean over completions of (sum logp - sum ref), back-propagated" in desc
    model, logits = tree(theta)
    _, ref_logits = tree(ref_theta)
    paths = mdp.trajectories(model, logits)
    logp = torch.tensor(token_logprobs(paths, logits), requires_grad=True)
    ref = torch.tensor(token_logprobs(paths, ref_logits))
    kl.estimate(logp, ref, "k1", paths.mask).sum().backward()
    return mdp.exact_gradient(model, logits, logp.grad.numpy())[:2, 0]


COMPUTED = {
    "psi-02-gamma-sign-flip": gamma_sign_flip,
    "psi-03-rtg-higher-variance": noisier_reward_to_go,
    "gae-07-padding-value-junk": gae,
    "gae-09-gamma1-lam1": gae,
    "gae-lam0-truncated-bootstrap-4": gae,
    "gae-lam0.5-terminal": gae,
    "gae-lam1-truncated-bootstrap-4": gae,
    "ret-01-rtg-gamma": reward_to_go,
    "ret-02-rtg-with-gamma-t": reward_to_go,
    "ret-04-process-reward": reward_to_go,
    "kl-02-expectations": expectations,
    "kl-03-variances": variances,
    "kl-05-same-policy": same_policy,
    "kl-07-k1-as-loss": lambda logits, ref_logits: kl.gradient(logits, ref_logits, "k1"),
    "kl-10-ratio-k3-as-loss": lambda logits, ref_logits: kl.gradient(logits, ref_logits, "k3", "ratio_loss"),
    "kl-11-cos-k3": cosine_of_k3,
    "kl-12-k1-in-reward": in_reward(detach=True),
    "kl-13-undetached-reward": in_reward(detach=False),
    "kl-14-large-diff": estimates,
    "kl-15-small-diff": lambda delta: {"k3": kl.estimate(delta, 0.0, "k3")},
    "kl-18-mean-over-tokens-is-not-KL": mean_over_tokens,
    "kl-20-k1-sum-in-loss": k1_sum_in_loss,
}
