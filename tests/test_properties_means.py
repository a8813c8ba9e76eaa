"""What each estimator is on average, for random policies and rewards: the gradient where it is unbiased, else the stated bias.

Every group, trajectory or completion is listed here by plain loops; the truth comes from another route.
"""

import itertools
import math
from pathlib import Path

import estimators_exact as table
import numpy as np
import pytest
import torch
from estimators_sampled import EXACT_HERE, SAMPLED
from hypothesis import given, settings
from hypothesis import strategies as st

from pglab import advantages, bandit, groups, kl, losses, mdp, offpolicy, returns

pytestmark = pytest.mark.filterwarnings("error")
SEEDS = st.integers(0, 10**6)
G = 3  # samples in a group


def close(value, wanted):
    np.testing.assert_allclose(value, wanted, rtol=1e-9, atol=1e-11)


def draws(p, size):
    """Every string of actions with its probability."""
    for actions in itertools.product(range(len(p)), repeat=size):
        yield list(actions), math.prod(p[list(actions)])


# ---- Advantages: E[1/G sum_i A_i score_i] over all A^G groups


def group_mean(case, advantage):
    p, score = case.p, np.eye(3) - case.p
    return sum(
        chance * (np.asarray(advantage(case.rewards[a]))[:, None] * score[a]).mean(axis=0)
        for a, chance in draws(p, G)
    )


def right_or_wrong(case):
    return case._replace(rewards=np.array([1.0, 0.0, float(case.rewards[0] > 0.5)]))


def mean_over_others(case, f):
    """E f(the rewards of the others): they do not know what sample i did."""
    return sum(chance * f(case.rewards[a]) for a, chance in draws(case.p, G - 1))


def scale(p, divisor):
    """E[k (1 - k) / divisor(k)] / (p (1 - p)): all that an advantage can do to a group of 0 and 1."""
    total = 0.0
    for right in range(1, G):
        k = right / G
        total += math.comb(G, right) * p**right * (1 - p) ** (G - right) * k * (1 - k) / divisor(k)
    return total / (p * (1 - p))


def spread(k, ddof):
    return math.sqrt(k * (1 - k) * G / (G - ddof))


def others_inverse(rewards):
    s = np.std(rewards, ddof=1)
    return 1 / (s + 1e-6) if s > 0 else 1.0


# name: (advantage, factor of the true gradient by case, and whether rewards must be 0 or 1 for that)
FACTORS = {
    "advantages.constant": (lambda r: advantages.constant(r, 0.3), lambda c: 1.0, False),
    "advantages.batch_mean": (advantages.batch_mean, lambda c: (G - 1) / G, False),
    "advantages.dr_grpo": (advantages.dr_grpo, lambda c: (G - 1) / G, False),
    "advantages.leave_one_out": (advantages.leave_one_out, lambda c: 1.0, False),
    "advantages.leave_one_out_std": (
        advantages.leave_one_out_std, lambda c: mean_over_others(c, others_inverse), False,
    ),
    "advantages.grpo": (
        advantages.grpo, lambda c: scale(c.p @ c.rewards, lambda k: spread(k, 1) + 1e-4), True,
    ),
    "advantages.whiten": (
        lambda r: advantages.whiten(r, eps=0.01, ddof=0),
        lambda c: scale(c.p @ c.rewards, lambda k: math.sqrt(spread(k, 0) ** 2 + 0.01)), True,
    ),
    "advantages.max_rl": (  # the gradient of log p, cut off: sum of (1 - p)^j for j below G - 1
        advantages.max_rl, lambda c: sum((1 - c.p @ c.rewards) ** j for j in range(G - 1)), True,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FACTORS)
@settings(max_examples=20)
@given(SEEDS)
def test_an_advantage_points_along_the_gradient(name, seed):
    advantage, factor, binary = FACTORS[name]
    case = table.a_bandit(seed)
    case = right_or_wrong(case) if binary else case
    truth = case.p * (case.rewards - case.p @ case.rewards)
    close(group_mean(case, advantage), factor(case) * truth)


# ---- Groups: the same lists, by multisets


@settings(max_examples=20)
@given(SEEDS)
def test_groups_by_listing_every_string(seed):
    case = table.a_bandit(seed)
    p, r = case.p, case.rewards
    truth, listed = p * (r - p @ r), list(draws(p, G))
    single = [
        (c, (advantages.leave_one_out(r[a])[:, None] * (np.eye(3) - p)[a]).mean(axis=0)) for a, c in listed
    ]
    mean, covariance = groups.moments(case.logits, r, advantages.leave_one_out, G)
    close(mean, truth)
    close(covariance, sum(c * np.outer(g - truth, g - truth) for c, g in single))
    close(groups.rloo_covariance_trace(case.logits, r, G), np.trace(covariance))
    close(groups.expect(p, G, lambda a: r[a].max()), sum(c * r[a].max() for a, c in listed))
    counts = groups.multisets(3, G)
    chances = {tuple(row): 0.0 for row in counts}
    for actions, chance in listed:
        chances[tuple(np.bincount(actions, minlength=3))] += chance
    close(groups.multinomial(p, counts), list(chances.values()))
    alike = sum(c for a, c in listed if len({int(x == 0) for x in a}) == 1)
    close(groups.zero_variance_probability(p[0], G), alike)


@settings(max_examples=20)
@given(SEEDS)
def test_weights_of_the_values_by_listing_every_string(seed):
    case = table.a_bandit(seed)
    values, kind = np.unique(case.rewards, return_inverse=True)
    chance = np.bincount(kind, case.p)
    mean, covariance, inside = groups.weight_moments(values, chance, advantages.batch_mean, G)
    rows = [(c, values[a], np.eye(len(values))[a]) for a, c in draws(chance, G)]
    weights = [(c, (advantages.batch_mean(r)[:, None] * which).mean(axis=0)) for c, r, which in rows]
    close(mean, sum(c * w for c, w in weights))
    close(covariance, sum(c * np.outer(w - mean, w - mean) for c, w in weights))
    close(
        inside,
        sum(c * (advantages.batch_mean(r)[:, None] ** 2 * which).sum(axis=0) / G**2 for c, r, which in rows),
    )


@settings(max_examples=20)
@given(SEEDS)
def test_the_scale_of_grpo_by_listing_every_string(seed):
    case = right_or_wrong(table.a_bandit(seed))
    p = case.p @ case.rewards
    close(groups.grpo_scale(p, G), FACTORS["advantages.grpo"][1](case))
    h = 1e-5
    slope = (groups.grpo_objective(p + h, G) - groups.grpo_objective(p - h, G)) / (2 * h)
    assert slope == pytest.approx(groups.grpo_scale(p, G), rel=1e-7)


# ---- Returns: E[sum_t w_t score_t] over all trajectories; the truth by dynamic programming


def unbiased(m, gamma):
    """name: weights that have the gradient as their mean, for any critic where V is not named."""
    paths, exact = m.paths, mdp.values(m.model, m.logits, gamma)
    r, mask, time = paths.rewards, paths.mask, np.arange(3)
    v, wrong = (np.where(mask, x[time, paths.states[:, :-1]], 0.0) for x in (exact.v, m.critic))
    start = gamma**time
    whole = returns.discounted_return(r, gamma, mask)[:, None]
    return {
        "returns.discounted_return": np.where(mask, whole, 0.0),
        "returns.reward_to_go": returns.reward_to_go(r, gamma, mask, discount_from_start=True),
        "returns.td_errors": start * returns.td_errors(r, v, gamma, mask=mask),
        "returns.n_step": start * (returns.n_step(r, wrong, gamma, 3, mask=mask) - wrong),
        "returns.n_step V": start * (returns.n_step(r, v, gamma, 2, mask=mask) - v),
        "returns.gae": start * returns.gae(r, wrong, gamma, 1.0, mask=mask),
        "returns.gae V": start * returns.gae(r, v, gamma, 0.4, mask=mask),
        "mdp.gae_weights": start * mdp.gae_weights(paths, m.critic, gamma, 1.0),
        "mdp.minus_table": start * mdp.minus_table(paths, returns.reward_to_go(r, gamma, mask), m.critic),
        **{f"mdp.weights {kind}": mdp.weights(m.model, m.logits, kind, gamma, True) for kind in mdp.WEIGHTS},
    }  # fmt: skip


def nudged(m, gamma):
    """The gradient of J by finite differences."""
    return bandit.finite_differences(
        lambda z: mdp.objective(m.model, z.reshape(3, 2), gamma), m.logits.ravel()
    ).reshape(3, 2)


@settings(max_examples=20)
@given(SEEDS, st.sampled_from([0.0, 0.6, 1.0]))
def test_weights_whose_mean_is_the_gradient(seed, gamma):
    m = table.a_process(seed)
    paths = m.paths
    truth = nudged(m, gamma)
    for weight in unbiased(m, gamma).values():
        mean = np.einsum("n,nt,ntsa->sa", paths.probability, weight, paths.scores)
        np.testing.assert_allclose(mean, truth, atol=1e-8)
    np.testing.assert_allclose(mdp.objective_gradient(m.model, m.logits, gamma), truth, atol=1e-8)
    np.testing.assert_allclose(mdp.exact_gradient(m.model, m.logits, "q", gamma, True), truth, atol=1e-8)


# ---- KL and losses: every action, every completion of two tokens


@settings(max_examples=20)
@given(SEEDS)
def test_kl_by_listing_every_action(seed):
    case = table.a_bandit(seed)
    p, d = case.p, np.log(case.p / bandit.softmax(case.other))
    logs = bandit.log_softmax(case.logits), bandit.log_softmax(case.other)
    close(kl.divergence(case.logits, case.other), p @ d)
    means = {kind: p @ kl.estimate(*logs, kind) for kind in kl.KINDS}
    close([means["k1"], means["k3"], means["k2"]], [p @ d, p @ d, p @ d**2 / 2])
    truth = p * (d - p @ d)
    for kind, where in (("k1", "reward"), ("k1", "ratio_loss"), ("k3", "ratio_loss"), ("k2", "loss")):
        close(kl.gradient(case.logits, case.other, kind, where), truth)
    close(kl.gradient(case.logits, case.other, "k1", "loss"), np.zeros(3))


def policy_gradient(case, behaviour, options, weighted):
    """-E[gradient of the loss] by the logits of two tokens drawn from one softmax; the sum over completions."""
    logits = torch.tensor(case.logits, requires_grad=True)
    new = torch.log_softmax(logits, 0)
    tokens = torch.tensor([a for a, _ in draws(case.p, 2)])
    chance = torch.tensor([c for _, c in draws(behaviour, 2)])
    logprobs, paid = new[tokens], torch.tensor(case.rewards)[tokens].prod(1)
    mask = torch.ones_like(tokens, dtype=torch.bool)
    factor = chance * paid
    if weighted:  # multiplied into the advantages, on data that another policy drew
        drawn = torch.tensor(np.log(behaviour))[tokens]
        factor = factor * losses.importance_weights(logprobs, drawn, mask, level="sequence")
    loss = losses.policy_loss(logprobs, None, factor, mask, clip=None, aggregation="sum", **options)
    loss.backward()
    return -logits.grad.numpy()


@pytest.mark.parametrize("options", [{"ratio": "token"}, {"ratio": "sequence_product"}])
@settings(max_examples=20)
@given(SEEDS)
def test_the_gradient_of_the_loss_is_that_of_the_objective(options, seed):
    case = table.a_bandit(seed)
    truth = 2 * (case.p @ case.rewards) * case.p * (case.rewards - case.p @ case.rewards)  # of (E r)^2
    close(policy_gradient(case, case.p, options, weighted=False), truth)
    close(policy_gradient(case, bandit.softmax(case.other), options, weighted=True), truth)


@settings(max_examples=20)
@given(SEEDS, st.sampled_from(["sum", "constant"]))
def test_micro_batches_add_up_where_the_denominator_is_fixed(seed, mode):
    rng = np.random.default_rng(seed)
    values, mask = rng.normal(size=(4, 3)), rng.random((4, 3)) < 0.7
    whole = losses.aggregate(values, mask, mode, 5, empty_rows="count").item()
    halves = [
        losses.aggregate(values[i], mask[i], mode, 5, "count").item() for i in (slice(0, 2), slice(2, 4))
    ]
    close(whole, sum(halves) / (2 if mode == "constant" else 1))


# ---- Off-policy: sequence weights, and any weights where both policies are one


@settings(max_examples=20)
@given(SEEDS, st.sampled_from(["all", "share"]), st.floats(-1, 1))
def test_sequence_weights_have_the_gradient_as_their_mean(seed, pay, baseline):
    case = table.a_bandit(seed)
    answers = offpolicy.along_tokens(case.logits, case.other, case.rewards, 3, pay)
    close(offpolicy.moments(answers, "sequence", baseline=baseline).bias, np.zeros(3))
    same = offpolicy.along_tokens(case.logits, case.logits, case.rewards, 3, pay)
    for level in ("none", "token", "sequence"):
        found = offpolicy.moments(same, level, baseline=baseline)
        close(found.bias, np.zeros(3))
        assert found.share == pytest.approx(1)
    close(offpolicy.ratio_square(case.logits, case.other), case.p @ (case.p / bandit.softmax(case.other)))


@settings(max_examples=20)
@given(SEEDS)
def test_trajectories_of_another_policy(seed):
    m = table.a_process(seed)
    answers = offpolicy.trajectories(m.model, m.logits, m.other)
    truth = mdp.objective_gradient(m.model, m.logits).ravel()
    close(answers.gradient, truth)
    close(offpolicy.moments(answers, "sequence").mean, truth)


# ---- No estimator on samples without its mean


def test_every_estimator_on_samples_has_its_mean_here():
    offered = {name.split()[0] for name in SAMPLED} | set(EXACT_HERE)
    listed = set(FACTORS) | {name.split()[0] for name in unbiased(table.a_process(0), 1.0)}
    text = Path(__file__).read_text(encoding="utf-8")
    assert all(f"{name}(" in text for name in offered - listed)
