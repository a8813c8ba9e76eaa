"""Faults that a claim of notebook 04 must notice."""

from cells import Fault

FAULTS = [
    Fault(
        "pglab.mdp.trajectories",
        "mask = ~mdp.terminal[now]",
        "mask = ~mdp.terminal[then]",
        "T1",
        "the mask one step early: the last action of an episode left out",
    ),
    Fault(
        "pglab.mdp.trajectories",
        "of_policy = np.where(mask, pi[now, actions], 1.0).prod(axis=1)",
        "of_policy = pi[now, actions].prod(axis=1)",
        "T1",
        "actions counted after the end of an episode",
    ),
    Fault(
        "pglab.mdp.trajectories",
        "table[s, :, s, :] = np.eye(actions) - pi[s]",
        "table[s, :, s, :] = pi[s] - np.eye(actions)",
        "T1",
        "the sign of the score",
    ),
    Fault(
        "pglab.mdp.values",
        "v[t] = (pi * q[t]).sum(axis=1)",
        "v[t] = q[t].max(axis=1)",
        "T1",
        "the value of the best action for the value of the policy",
    ),
    Fault(
        "pglab.mdp.values",
        "return pi * (visits[:, :, None] * advantage).sum(axis=0)",
        "return (visits[:, :, None] * advantage).sum(axis=0)",
        "T9",
        "the policy forgotten in the policy gradient theorem",
    ),
    Fault(
        "pglab.mdp.moments",
        "root = np.sqrt(paths.probability)[:, None] * (flat - mean)",
        "root = np.sqrt(paths.probability)[:, None] * flat",
        "T5",
        "the second moment for the covariance",
    ),
    Fault(
        "pglab.returns",
        "total = _where(mask[..., t], numbers[..., t] + decay * total, total)",
        "total = _where(mask[..., t], numbers[..., t] + total, total)",
        "T6",
        "gamma forgotten in the reward-to-go",
    ),
    Fault(
        "pglab.returns",
        "return acted.cumsum(axis=-1) - acted",
        "return acted.cumsum(axis=-1)",
        "T6",
        "gamma's power off by one",
    ),
    Fault(
        "pglab.returns",
        "return to_go * gamma ** _acted_before(rewards, mask) if discount_from_start else to_go",
        "return to_go",
        "T6",
        "gamma^t left out of the discounted objective's gradient",
    ),
    Fault(
        "pglab.losses",
        "return losses.sum() / (norm or mask.sum().clamp(min=1))",
        "return losses.sum() / (norm or mask.numel())",
        "T7",
        "a token mean over padding too",
    ),
    Fault(
        "pglab.losses",
        "log_ratio, new = log_ratio.sum(1, keepdim=True), new.sum(1, keepdim=True)",
        "log_ratio, new = log_ratio.mean(1, keepdim=True), new.mean(1, keepdim=True)",
        "T7",
        "a mean for the product of ratios",
    ),
]
