"""What one sampled batch does to many small policies at once: free, clipped, penalised, or in a trust
region.

``constraints`` counts every action of one softmax. Here actions are sampled, and everything has
leading axes: logits are (..., P, A), P prompts with a softmax each; a batch is ``actions`` and
``weights`` of shape (..., P, G), G samples to each prompt. The objective is the *sum* over prompts
of the mean over samples, so that a prompt's step does not depend on how many others there are; the
trust region's KL is the mean over prompts. Runs with different seeds go on the first axis.

A *move* is a function of (logits, actions, weights) that returns the new logits.
"""

import numpy as np

from pglab import _checks
from pglab.constraints import SHORTER, held

TRIES = 60  # a step that went too far is shortened at most so often: to 0.2 per cent


def log_softmax(logits):
    """Log-probabilities of the actions along the last axis.

    Args:
      logits: (..., A), finite.

    Returns:
      (..., A) float64.

    Source: Sutton and Barto (2nd ed.), section 2.8.
    """
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def ascent(logits, old_logprobs, actions, weights, clip=np.inf):
    """Gradient of PPO's surrogate, from samples.

        1/G sum_i rho_i w_i alive_i grad log pi(a_i),     rho_i = pi(a_i) / pi_old(a_i)

    alive_i is 0 where the clip holds: w > 0 and rho > 1 + clip, or w < 0 and rho < 1 - clip.

    Args:
      logits: (..., P, A) of the policy.
      old_logprobs: (..., P, A) log-probabilities under the policy that sampled.
      actions: (..., P, G) whole numbers, 0 to A - 1.
      weights: (..., P, G) weight of each sample.
      clip: how far from 1 a ratio may be, or (low, high), how far below it and above; infinity for no clip.

    Returns:
      (..., P, A) float64.

    Source: Schulman et al. 2017 (PPO), equation 7; two bounds: Yu et al. 2025 (DAPO), section 3.1.
    """
    low, high = clip if isinstance(clip, tuple) else (clip, clip)
    logprobs = log_softmax(logits)
    ratio = np.exp(np.take_along_axis(logprobs - old_logprobs, actions, axis=-1))  # (..., P, G)
    pull = np.where(held(ratio, weights, low, high), 0.0, weights * ratio)
    chosen = np.eye(logits.shape[-1])[actions]  # (..., P, G, A)
    scores = chosen - np.exp(logprobs)[..., None, :]
    return (pull[..., None] * scores).mean(axis=-2)


def inner_steps(step_size, clip=np.inf, beta=0.0, reference=None, steps=4):
    """The move of PPO and its relatives: several gradient steps on one batch.

        logits <- logits + step_size (ascent - beta grad KL(pi || reference))

    Args:
      step_size: of every step.
      clip: as in ``ascent``.
      beta: price of a nat of distance from the reference; its gradient is taken exactly.
      reference: (P, A) logits; needed where beta is not 0.
      steps: how many, at least 1. With 1 and no penalty this is REINFORCE.

    Returns:
      A move.

    Raises:
      ValueError: numbers below 0, a beta without a reference, steps below 1.

    Source: Schulman et al. 2017 (PPO), algorithm 1; Ouyang et al. 2022, section 3.5 (the reference).
    """
    step_size, beta = _checks.number("step_size", step_size, low=0), _checks.number("beta", beta, low=0)
    steps = _checks.whole("steps", steps, low=1)
    low, high = clip if isinstance(clip, tuple) else (clip, clip)
    if not (low >= 0 and high >= 0):
        raise ValueError(
            f"clip is {clip!r}; it must be a number at least 0, or infinity, or two, (low, high)."
        )
    if beta and reference is None:
        raise ValueError(f"beta is {beta} and reference is None; a penalty needs its reference.")
    ref = 0.0 if reference is None else log_softmax(np.asarray(reference, dtype=np.float64))

    def move(logits, actions, weights):
        old = log_softmax(logits)
        for _ in range(steps):
            direction = ascent(logits, old, actions, weights, clip)
            if beta:
                direction = direction - beta * _kl_gradient(log_softmax(logits), ref)
            logits = logits + step_size * direction
        return logits

    return move


def _kl_gradient(logprobs, ref):
    """pi (d - E d), the gradient of KL(pi || reference) by the logits."""
    pi, d = np.exp(logprobs), logprobs - ref
    return pi * (d - (pi * d).sum(axis=-1, keepdims=True))


def trust_region(max_kl, damping=0.01):
    """The move of TRPO: one natural step for all prompts together, as long as the KL allows.

        x = (F + damping)^-1 g,     step = sqrt(2 max_kl / mean_P(g^T x)) x

    The Fisher matrix F of a prompt is that of its softmax, exactly; g is sampled. The damping
    makes the system solvable, and takes a little of the step from rare answers. The step is shortened by
    tenths until the mean KL(old || new) over the prompts is at most ``max_kl``.

    Args:
      max_kl: in nats for each prompt on average, positive.
      damping: added to the diagonal of F, positive.

    Returns:
      A move; where the batch has no gradient it stays.

    Raises:
      ValueError: numbers that are not positive.

    Source: Schulman et al. 2015 (TRPO), appendix C; the damping as in its published code.
    """
    for name, value in (("max_kl", max_kl), ("damping", damping)):
        if _checks.number(name, value) <= 0:
            raise ValueError(f"{name} is {value}; it must be a positive number, such as 0.01.")

    def move(logits, actions, weights):
        old = log_softmax(logits)
        pi, g = np.exp(old), ascent(logits, old, actions, weights)
        largest = abs(g).max(axis=(-2, -1), keepdims=True)
        g = g / np.where(largest > 0, largest, 1.0)  # its length does not matter: tiny ones would overflow
        outer = pi[..., :, None] * pi[..., None, :]  # (..., P, A, A)
        fisher = pi[..., None] * np.eye(pi.shape[-1]) - outer
        x = np.linalg.solve(fisher + damping * np.eye(pi.shape[-1]), g[..., None])[..., 0]
        gain = _over_prompts(g * x)
        step = np.sqrt(2 * max_kl / np.where(gain > 0, gain, 1.0)) * x
        for _ in range(TRIES):
            too_far = _over_prompts(pi * (old - log_softmax(logits + step))) > max_kl
            if not too_far.any():
                break
            step = np.where(too_far, SHORTER * step, step)
        return logits + step

    return move


def _over_prompts(terms):
    """(..., 1, 1): summed over actions, averaged over prompts."""
    return terms.sum(axis=-1, keepdims=True).mean(axis=-2, keepdims=True)


def train(start, rewards, weight, move, size=8, shift=0.0, batches=40, runs=64, seed=0):
    """Many runs of one method on a few prompts: sample, weight, move, again and again.

    Args:
      start: (P, A) logits at the start of every run.
      rewards: (A,) reward of each action, the same for every prompt.
      weight: function of (rewards of a batch (runs, P, size), value (runs, P, 1)) that returns the
        weights. ``value`` is the plainest critic: a running mean of each prompt's rewards, which
        every batch moves a fifth of the way to its own mean; it starts at 0.5 + shift.
      move: a move, such as ``inner_steps(0.5)``.
      size: samples to each prompt in a batch.
      shift: added to every reward that is paid.
      batches, runs: how many, at least 1.
      seed: of the generator; the runs differ, and are the same for every method.

    Returns:
      (batches + 1, runs, P) expected reward of each prompt, without the shift, before each batch
      and at the end.

    Raises:
      ValueError: whole numbers below 1, a shift that is not finite, start or rewards of another shape.

    Source: Williams 1992 (the loop); Schulman et al. 2017, algorithm 1.
    """
    start = _checks.floats("start", start, "logits, shape (P, A)")
    if start.ndim != 2:
        raise ValueError(f"start has shape {start.shape}; it must have two axes, (P, A).")
    rewards, shift = _checks.vector("rewards", rewards, start.shape[1]), _checks.number("shift", shift)
    counts = {"size": size, "batches": batches, "runs": runs}
    size, batches, runs = (_checks.whole(name, count, low=1) for name, count in counts.items())
    rng, prompts = np.random.default_rng(seed), start.shape[0]
    logits, value = np.tile(start, (runs, 1, 1)), np.full((runs, prompts), 0.5 + shift)
    history = [logits]
    for _ in range(batches):
        below = np.exp(log_softmax(logits)).cumsum(axis=-1)[..., None, :-1]
        actions = (below < rng.random((runs, prompts, size, 1))).sum(axis=-1)
        paid = rewards[actions] + shift
        logits = move(logits, actions, weight(paid, value[..., None]))
        value = value + 0.2 * (paid.mean(axis=-1) - value)
        history.append(logits)
    return np.exp(log_softmax(np.array(history))) @ rewards
