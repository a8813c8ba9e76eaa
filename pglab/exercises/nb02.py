"""Exercises of notebook 02, REINFORCE."""

from itertools import product

import numpy as np

from pglab import bandit, groups
from pglab.exercises.checking import Misfit, NotDone, exercise, judge_function, same

EXAMPLE = np.array(bandit.EXAMPLE_LOGITS), np.array(bandit.EXAMPLE_REWARDS)
OTHER = np.array([-1.0, 0.3, 0.8]), np.array([0.5, 3.0, 1.0])
BATCHES = [
    (*EXAMPLE, np.array([0, 2, 2, 3, 0])),
    (*EXAMPLE, np.array([1, 3])),
    (*OTHER, np.array([1, 1, 0, 2])),
]


def _weighted(logits, weights, actions):
    """(N, A): weight times score of every sample."""
    return weights[:, None] * bandit.score_matrix(logits)[actions]


def _estimate(logits, rewards, actions):
    return _weighted(logits, rewards[actions], actions).mean(axis=0)


def _whole_last(answer):
    """The reader's function, with its last argument as whole numbers: ``called`` hands in floats."""
    if not callable(answer):
        return answer

    def wrapped(*arguments):
        *first, last = arguments
        return answer(*first, last.astype(int) if last.ndim else int(last))

    return wrapped


@exercise("2a", "The estimate from a batch", "easy", 8)
def _batch_estimate(answer):
    def over_right_ones(z, r, a):
        return _weighted(z, r[a], a).sum(axis=0) / max(1, np.count_nonzero(r[a]))

    def judged(z, r, a):
        try:
            return _whole_last(answer)(z, r, a)
        except ValueError as error:
            if "broadcast" not in str(error):
                raise
            raise Misfit(
                "The shapes do not fit. The scores of the batch are (N, A), the rewards of its answers (N,): "
                "one weight for each row. Take rewards[actions], and [:, None] makes it a column."
            ) from error

    return judge_function(
        judged if callable(answer) else answer,
        BATCHES,
        right=_estimate,
        mistakes=[
            (
                lambda z, r, a: _weighted(z, r[a], a).sum(axis=0),
                "This is the sum over the batch; it grows with the batch. The estimate is its mean.",
            ),
            *(
                (
                    lambda z, r, a, average=average: average(
                        _weighted(z, r[a] * bandit.softmax(z)[a], a), axis=0
                    ),
                    "The probabilities count twice: likely answers are drawn often already. "
                    "In a mean over samples no probability appears.",
                )
                for average in (np.mean, np.sum)
            ),
            (
                lambda z, r, a: bandit.exact_gradient(z, r),
                "This is the exact gradient, whatever was sampled. The batch has to decide.",
            ),
            (
                over_right_ones,
                "This divides by the number of answers that earned something. A failed answer adds 0, "
                "but it counts in the N.",
            ),
            (
                lambda z, r, a: -_estimate(z, r, a),
                "The sign is turned round. We climb J; a minus belongs to a loss.",
            ),
            (
                lambda z, r, a: bandit.score_matrix(z)[a].mean(axis=0),
                "The rewards are missing: this is the mean score of the batch.",
            ),
            (
                lambda z, r, a: _weighted(z, r[a], a).sum(axis=0) / len(z),
                "This divides by the number of answers to choose from. Divide by the number of samples.",
            ),
            (
                lambda z, r, a: r[a].mean() * bandit.score_matrix(z)[a].mean(axis=0),
                "This multiplies two means. Each score needs the reward of its own answer, before anything is averaged.",
            ),
            (
                lambda z, r, a: (r[a][:, None] * np.eye(len(z))[a]).mean(axis=0),
                "The one-hot vector is only half of the score: grad log pi(a) = onehot(a) - pi.",
            ),
            (
                lambda z, r, a: _weighted(z, r[a] - r[a].mean(), a).mean(axis=0),
                "This subtracts the batch's mean from the rewards: the subject of notebook 03. Here the bare rewards are asked for.",
            ),
            (
                lambda z, r, a: _weighted(z, r[np.unique(a)], np.unique(a)).mean(axis=0),
                "Each answer counts only once here. One that was drawn twice counts twice.",
            ),
            (
                lambda z, r, a: _weighted(z, r[a] - bandit.expected_reward(z, r), a).mean(axis=0),
                "This subtracts J from the rewards: a good idea, and the subject of notebook 03. Here the bare rewards are asked for.",
            ),
            (
                lambda z, r, a: _weighted(z, r[a], a),
                "These are the single samples' estimates, one in a row. Average over the rows.",
            ),
            (
                lambda z, r, a: _weighted(z, r[a], a).mean(),
                "This averages over samples and logits: one number. Average over the samples only, axis=0.",
            ),
        ],
    )


# --- 2b: all losses that can be made of the three faults -----------------------------------------


def _loss_gradient(logits, rewards, actions, sign, mean, detached):
    """Gradient of sign * mean or sum of (R - J) log pi over the batch, J detached or not."""
    weights = rewards[actions] - bandit.expected_reward(logits, rewards)
    total = _weighted(logits, weights, actions).sum(axis=0)
    if not detached:  # the weight's own gradient is -grad J, and it is multiplied by log pi
        logp = bandit.log_softmax(logits)[actions]
        total = total - logp.sum() * bandit.exact_gradient(logits, rewards)
    return sign * total / (len(actions) if mean else 1)


def _torch_gradient(answer, logits, rewards, actions):
    import torch

    theta = torch.tensor(logits, requires_grad=True)
    loss = answer(theta, torch.tensor(rewards), torch.tensor(actions))
    if loss is None or loss is Ellipsis:
        raise NotDone
    if not isinstance(loss, torch.Tensor):
        raise Misfit(f"The loss is a {type(loss).__name__}; it must be a torch tensor, one number.")
    if loss.ndim:
        raise Misfit(f"The loss has shape {tuple(loss.shape)}; average it over the batch into one number.")
    if not loss.requires_grad:
        raise Misfit(
            "No gradient reaches the logits: too much is detached. The weight is held constant, log pi is not."
        )
    loss.backward()
    return theta.grad.numpy()


@exercise("2b", "Repair a loss", "medium", 12)
def _repaired_loss(answer):
    if not callable(answer):
        raise Misfit(f"A function is asked for, and this is a {type(answer).__name__}.")
    gradients = [_torch_gradient(answer, *batch) for batch in BATCHES]

    def fits(gradient_of):
        return all(same(found, gradient_of(*batch)) for found, batch in zip(gradients, BATCHES, strict=True))

    for sign, mean, detached in product((-1, 1), (True, False), (True, False)):
        if fits(lambda z, r, a, s=sign, m=mean, d=detached: _loss_gradient(z, r, a, s, m, d)):
            return _first_fault(sign, mean, detached)
    if fits(lambda z, r, a: bandit.log_softmax(z)[a].mean() * bandit.exact_gradient(z, r)):
        return (
            "The wrong factor is held constant: the gradient flows through the value, and not through log pi."
        )
    if fits(lambda z, r, a: -_estimate(z, r, a)):
        return "This is the loss with the bare reward. The weight should be the reward minus the value J."
    if fits(lambda z, r, a: -_estimate(z, r - r[a].mean(), a)):
        return "This subtracts the mean of the batch. Asked for is J, the sum over all answers."
    return (
        f"For the first batch the gradient is {_row(gradients[0])}; "
        f"wanted is {_row(_loss_gradient(*BATCHES[0], -1, True, True))}."
    )


def _first_fault(sign, mean, detached):
    left = (sign > 0) + (not mean) + (not detached)
    if not left:
        return None
    rest = "" if left == 1 else f" ({left} faults are left; this is one.)"
    if sign > 0:
        return (
            "An optimiser walks downhill on this, and so away from the rewards. Which sign must a loss have?"
            + rest
        )
    if not mean:
        return "The step grows with the size of the batch. Which average is wanted?" + rest
    return (
        "A gradient flows through the weight: the value is computed from the same logits. Hold it constant."
        + rest
    )


def _row(values):
    return "[" + ", ".join(f"{value:z.4f}" for value in values) + "]"


# --- 2c ------------------------------------------------------------------------------------------


def _reuse(logits, rewards, eta, size, second=None, target=None):
    """E[second(theta', batch) - target(theta', batch)], where theta' = theta + eta * (the batch's estimate)."""

    def error(actions):
        moved = logits + eta * _estimate(logits, rewards, actions)
        estimate = _estimate(moved, rewards, actions) if second is None else second(moved, actions)
        truth = bandit.exact_gradient(moved, rewards) if target is None else target(moved)
        return estimate - truth

    return groups.expect(bandit.softmax(logits), size, error)


def _exact_after_exact_step(logits, rewards, eta):
    return bandit.exact_gradient(logits + eta * bandit.exact_gradient(logits, rewards), rewards)


@exercise("2c", "The price of a second step", "hard", 15)
def _reuse_bias(answer):
    cases = [(*EXAMPLE, 1.0, 3), (*EXAMPLE, 2.5, 2), (*OTHER, 0.5, 4)]

    def along_the_exact_gradient(z, r, eta, size):
        p, moved = bandit.softmax(z), z + eta * bandit.exact_gradient(z, r)
        return (p * r) @ bandit.score_matrix(moved) - bandit.exact_gradient(moved, r)

    def with_ratio(z, r, eta, size):
        def second(moved, a):
            ratio = bandit.softmax(moved)[a] / bandit.softmax(z)[a]
            return _weighted(moved, ratio * r[a], a).mean(axis=0)

        return _reuse(z, r, eta, size, second)

    return judge_function(
        _whole_last(answer),
        cases,
        right=_reuse,
        mistakes=[
            (
                lambda z, r, eta, size: np.zeros(len(z)),
                "All zeros: the bias of the first estimate, or of a fresh batch. "
                "The second estimate uses the old batch, and the scores of the new policy.",
            ),
            (
                along_the_exact_gradient,
                "Here the policy moved along the exact gradient. In the exercise each batch moves it along its own estimate.",
            ),
            (
                lambda z, r, eta, size: _reuse(z, r, eta, size, target=lambda _: bandit.exact_gradient(z, r)),
                "The truth that is subtracted is the gradient of the old policy. Asked for is the one at the new policy.",
            ),
            (
                lambda z, r, eta, size: _reuse(z, r, eta, size, second=lambda _, a: _estimate(z, r, a)),
                "The second estimate still has the scores of the old policy. Its scores belong to the new one.",
            ),
            (
                lambda z, r, eta, size: _reuse(z, r, eta, size, target=np.zeros_like),
                "This is the expected second estimate. The bias is that minus the gradient at the new policy, batch by batch.",
            ),
            (
                lambda z, r, eta, size: -_reuse(z, r, eta, size),
                "The sign is turned round: bias is the expected estimate minus the truth.",
            ),
            (
                lambda z, r, eta, size: _reuse(
                    z, r, eta, size, target=lambda _: _exact_after_exact_step(z, r, eta)
                ),
                "The truth that is subtracted belongs to the policy after an exact step. Each batch has moved the policy "
                "to a place of its own, and the gradient there is what its second estimate is compared with.",
            ),
            (
                lambda z, r, eta, size: _reuse(z, r, 1.0, size),
                "The step size eta is missing in the first step.",
            ),
            (
                lambda z, r, eta, size: _reuse(z, r, -eta, size),
                "The step goes downhill: it should be plus eta times the estimate.",
            ),
            (with_ratio, "This has the importance ratio in it. Asked for is the estimate without it."),
            (
                lambda z, r, eta, size: _reuse(z, r, eta * size, size),
                "The step is along the sum of the batch. It should be along its mean.",
            ),
        ],
    )
