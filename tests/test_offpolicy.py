"""Two policies: weights, mean, bias and variance, against plain loops over all answers."""

import itertools
import json
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pglab import bandit, diagnostics, losses, mdp, offpolicy

pytestmark = pytest.mark.filterwarnings("error")
LOGITS, REWARDS = bandit.EXAMPLE_LOGITS, bandit.EXAMPLE_REWARDS
numbers = st.floats(-1.5, 1.5)
four = st.lists(numbers, min_size=4, max_size=4)
caps = st.sampled_from([None, 0.4, 0.8, 1.0, 1.7])
PAID = [[0.0, 1.0], [0.5, 0.0], [0.0, 0.2], [1.0, 0.3]]


# ---- The same by hand: every string of tokens, one after the other


def softmax(z):
    top = max(z)
    parts = [math.exp(x - top) for x in z]
    return [x / sum(parts) for x in parts]


def weight_by_hand(ratios, t, level, cap, mode):
    if level == "none":
        return 1.0
    full = {"token": ratios[t], "prefix": math.prod(ratios[: t + 1]), "sequence": math.prod(ratios)}[level]
    if cap is None or full <= cap:
        return full
    return cap if mode == "truncate" else 0.0


def by_hand(strings, tables, reward, level, cap, mode, baseline):
    """Mean and variance from every string: tables[t](beginning) gives pi and mu, and where its logits start."""
    estimates, chances = [], []
    for string in strings:
        pairs = [tables(string[:t]) for t in range(len(string))]
        ratios = [pi[a] / mu[a] for (pi, mu, _), a in zip(pairs, string, strict=True)]
        chances.append(math.prod(mu[a] for (_, mu, _), a in zip(pairs, string, strict=True)))
        g = {}
        for t, ((pi, _, place), a) in enumerate(zip(pairs, string, strict=True)):
            w = weight_by_hand(ratios, t, level, cap, mode) * (reward(string) - baseline)
            for b, p in enumerate(pi):
                g[place + b] = g.get(place + b, 0.0) + w * ((a == b) - p)
        estimates.append([g.get(k, 0.0) for k in range(64)])
    chances, estimates = np.array(chances), np.array(estimates)
    mean = chances @ estimates
    return mean, chances @ ((estimates - mean) ** 2).sum(1)


@given(four, four, st.lists(numbers, min_size=4, max_size=4), st.sampled_from(["none", "token", "prefix", "sequence"]),
       caps, st.sampled_from(offpolicy.MODES), numbers)  # fmt: skip
def test_one_decision(z, other, rewards, level, cap, mode, baseline):
    mode = "truncate" if cap is None else mode
    found = offpolicy.moments(offpolicy.one_decision(z, other, rewards), level, cap, mode, baseline)
    pi, mu = softmax(z), softmax(other)
    mean, variance = by_hand(
        [(a,) for a in range(4)], lambda _: (pi, mu, 0), lambda s: rewards[s[0]], level, cap, mode, baseline
    )
    np.testing.assert_allclose(found.mean, mean[:4], atol=1e-12)
    assert found.variance == pytest.approx(variance, abs=1e-12)
    np.testing.assert_allclose(found.bias, mean[:4] - bandit.exact_gradient(z, rewards), atol=1e-12)


@given(st.lists(numbers, min_size=14, max_size=14), st.lists(numbers, min_size=14, max_size=14),
       st.sampled_from(offpolicy.LEVELS), caps, st.sampled_from(offpolicy.MODES), numbers)  # fmt: skip
def test_trajectories_of_a_tree_of_tokens(z, other, level, cap, mode, baseline):
    mode = "truncate" if cap is None else mode
    process = mdp.token_tree(PAID)
    z, other = (np.array([*x, 0, 0]).reshape(8, 2) for x in (z, other))
    answers = offpolicy.trajectories(process, z, other)
    found = offpolicy.moments(answers, level, cap, mode, baseline)

    def tables(beginning):
        place = 0
        for token in beginning:
            place = 2 * place + 1 + token
        return softmax(z[place]), softmax(other[place]), 2 * place

    mean, variance = by_hand(
        list(itertools.product((0, 1), repeat=3)), tables, lambda s: PAID[2 * s[0] + s[1]][s[2]], level, cap, mode,
        baseline,
    )  # fmt: skip
    np.testing.assert_allclose(found.mean, mean[:16], atol=1e-12)
    assert found.variance == pytest.approx(variance, abs=1e-11)
    np.testing.assert_allclose(answers.gradient, mdp.objective_gradient(process, z).ravel(), atol=1e-12)


@pytest.mark.parametrize("pay", offpolicy.PAYS)
@pytest.mark.parametrize("level", ["none", "token", "sequence"])
@pytest.mark.parametrize(("cap", "mode"), [(None, "truncate"), (1.2, "truncate"), (1.2, "mask")])
def test_multisets_are_all_strings(pay, level, cap, mode):
    other = [0.1, 0.5, -0.3, 0.9]
    pi, mu = softmax(LOGITS), softmax(other)
    strings = list(itertools.product(range(4), repeat=3))
    rewards = [1.0, 0.5, 0.0, 2.0]

    def reward(string):
        paid = [rewards[a] for a in string]
        return math.prod(paid) if pay == "all" else sum(paid) / 3

    mean, variance = by_hand(strings, lambda s: (pi, mu, 4 * len(s)), reward, level, cap, mode, 0.3)
    answers = offpolicy.along_tokens(LOGITS, other, rewards, 3, pay)
    found = offpolicy.moments(answers, level, cap, mode, 0.3)
    assert len(answers.chance) == 20  # C(6, 3) multisets for 64 strings
    np.testing.assert_allclose(mean[:12].reshape(3, 4) * 3**0.5, [found.mean] * 3, atol=1e-13)
    assert found.variance == pytest.approx(variance, abs=1e-13)
    nudge = bandit.finite_differences(lambda z: _whole(z, rewards, pay), list(LOGITS))
    np.testing.assert_allclose(answers.gradient, nudge / 3**0.5, atol=1e-8)  # one softmax for all three


def _whole(z, rewards, pay):
    each = bandit.expected_reward(z, rewards)
    return each**3 if pay == "all" else each


# ---- What is exact, and what is not


@given(st.lists(numbers, min_size=16, max_size=16), st.lists(numbers, min_size=16, max_size=16), numbers)
def test_whole_weights_give_the_gradient_whatever_the_baseline(z, other, baseline):
    z, other = np.reshape(z, (8, 2)), np.reshape(other, (8, 2))
    answers = offpolicy.trajectories(mdp.token_tree(PAID), z, other)
    assert abs(offpolicy.moments(answers, "sequence", baseline=baseline).bias).max() < 1e-12
    assert (answers.chance * np.exp(answers.log_ratio.sum(1))).sum() == pytest.approx(1)


@given(st.lists(numbers, min_size=16, max_size=16), st.lists(numbers, min_size=16, max_size=16))
def test_token_weights_keep_the_beginnings_and_the_continuations_of_mu(z, other):
    """sum_t sum_s d_mu(s_t) sum_a pi(a | s) Q_mu(s, a) grad log pi: the gradient of PPO's surrogate."""
    process = mdp.token_tree(PAID)
    z, other = np.reshape(z, (8, 2)), np.reshape(other, (8, 2))
    values, visits = mdp.values(process, other), mdp.occupancy(process, other)  # (T, S, A), (T, S)
    wanted = np.zeros((8, 2))
    pi = np.array([softmax(row) for row in z])
    seen = mdp.occupancy(process, z)
    with_prefix = np.zeros((8, 2))
    for t, s, a in itertools.product(range(3), range(7), range(2)):
        score = np.eye(2)[a] - pi[s]
        wanted[s] += visits[t, s] * pi[s, a] * values.q[t, s, a] * score
        with_prefix[s] += seen[t, s] * pi[s, a] * values.q[t, s, a] * score
    answers = offpolicy.trajectories(process, z, other)
    np.testing.assert_allclose(offpolicy.moments(answers, "token").mean, wanted.ravel(), atol=1e-12)
    np.testing.assert_allclose(offpolicy.moments(answers, "prefix").mean, with_prefix.ravel(), atol=1e-12)


@given(four, four, st.integers(1, 6), numbers)
def test_token_weights_are_exact_where_each_token_pays_for_itself_and_too_short_where_all_must_be_right(
    z, other, length, baseline
):
    share = offpolicy.along_tokens(z, other, REWARDS, length, "share")
    assert abs(offpolicy.moments(share, "token", baseline=baseline).bias).max() < 1e-12
    p, q = (float(np.array(softmax(x)) @ REWARDS) for x in (z, other))
    every = offpolicy.along_tokens(z, other, REWARDS, length, "all")
    found = offpolicy.moments(every, "token", baseline=baseline)
    np.testing.assert_allclose(found.mean, every.gradient * (q / p) ** (length - 1), atol=1e-12)


def test_no_weights_or_cut_ones_let_the_baseline_in():
    answers = offpolicy.one_decision(LOGITS, np.zeros(4), REWARDS)
    for options in ({"level": "none"}, {"cap": 0.8}, {"cap": 0.8, "mode": "mask"}):
        means = [offpolicy.moments(answers, baseline=b, **options).mean for b in (0.0, 0.5)]
        assert abs(means[0] - means[1]).max() > 0.01
    means = [offpolicy.moments(answers, baseline=b).mean for b in (0.0, 0.5)]
    assert abs(means[0] - means[1]).max() < 1e-15


def test_nothing_brings_back_what_mu_never_draws():
    answers = offpolicy.one_decision(LOGITS, [0.0, 0.0, 0.0, -np.inf], REWARDS)
    assert len(answers.chance) == 3
    assert np.linalg.norm(offpolicy.moments(answers).bias) > 0.1
    never = offpolicy.one_decision([0.0, 1.0, -np.inf, 0.3], np.zeros(4), REWARDS)  # the other way round
    assert abs(offpolicy.moments(never).bias).max() < 1e-15
    assert offpolicy.weights(never)[2, 0] == 0


# ---- Beside what is there already


def test_the_cases_of_truncation(root):
    cases = {c["id"]: c for c in json.loads((root / "tests" / "cases.json").read_text(encoding="utf-8"))}
    cut, levels, size = (cases[f"tis-0{k}"] for k in ("1-truncation-bias", "3-seq-vs-token", "5-ess"))
    given_, wanted = cut["inputs"], cut["expected"]
    answers = offpolicy.one_decision(given_["logits"], np.zeros(4), given_["rewards"])
    found = [offpolicy.moments(answers, cap=cap).mean for cap in (None, given_["cap"])]
    np.testing.assert_allclose(found, [wanted["E_untruncated"], wanted["E_truncated"]], atol=cut["tol"])
    given_, wanted = levels["inputs"], levels["expected"]
    ratio = [np.subtract(given_["old"], given_["rollout"])]
    pair = offpolicy.listed([1.0], [1.0], ratio, [[1, 1]], np.zeros((1, 2, 1)), [0.0])
    cap = given_["cap"]
    rows = (
        ("token", cap, "token"),
        ("sequence", cap, "sequence"),
        ("sequence", None, "sequence_untruncated"),
    )
    for level, cap, name in rows:
        assert offpolicy.weights(pair, level, cap)[0] == pytest.approx(wanted[name])
    skewed = offpolicy.one_decision(size["inputs"]["logw"], [0, 0], [1, 0])  # weights 1/2 and 3/2
    assert offpolicy.moments(skewed).effective(2) == pytest.approx(size["expected"])


@given(st.lists(numbers, min_size=16, max_size=16), st.lists(numbers, min_size=16, max_size=16),
       st.sampled_from(["token", "sequence"]), caps, st.sampled_from(offpolicy.MODES))  # fmt: skip
def test_weights_are_those_of_the_losses(z, other, level, cap, mode):
    mode = "truncate" if cap is None else mode
    answers = offpolicy.trajectories(mdp.token_tree(PAID), np.reshape(z, (8, 2)), np.reshape(other, (8, 2)))
    ratio = torch.tensor(answers.log_ratio)
    found = losses.importance_weights(
        ratio, torch.zeros_like(ratio), answers.times > 0, cap, level, mode
    ).numpy()
    if level == "sequence":
        found = np.repeat(found[:, None], 3, axis=1)
    np.testing.assert_allclose(offpolicy.weights(answers, level, cap, mode), found, rtol=1e-12)


@given(st.lists(st.integers(1, 9), min_size=4, max_size=4), four)
def test_effective_size_is_that_of_a_sample_with_exactly_these_shares(counts, z):
    answers = offpolicy.one_decision(z, np.log(counts), REWARDS)
    weights = np.repeat(offpolicy.weights(answers)[:, 0], counts)
    found = offpolicy.moments(answers).effective(sum(counts))
    assert found == pytest.approx(float(diagnostics.effective_sample_size(weights)))


@given(four)
def test_alike_policies_are_the_bandit(z):
    answers = offpolicy.one_decision(z, z, REWARDS)
    for level in offpolicy.LEVELS:
        found = offpolicy.moments(answers, level, baseline=0.2)
        np.testing.assert_allclose(found.mean, bandit.exact_gradient(z, REWARDS), atol=1e-14)
        assert found.variance == pytest.approx(bandit.covariance_trace(z, np.array(REWARDS) - 0.2))
        assert found.share == pytest.approx(1)


def test_mse_of_many_samples_by_sampling():
    path = offpolicy.ascent(LOGITS, REWARDS, 8, 1.0)
    answers = offpolicy.one_decision(path[-1], path[2], REWARDS)
    found = offpolicy.moments(answers, cap=1.05, baseline=0.4)
    mu, scores = bandit.softmax(path[2]), bandit.score_matrix(path[-1])
    w = np.minimum(bandit.softmax(path[-1]) / mu, 1.05)
    rng = np.random.default_rng(0)
    drawn = rng.choice(4, p=mu, size=(20_000, 16))
    each = ((w * (np.array(REWARDS) - 0.4))[:, None] * scores)[drawn].mean(1)
    error = ((each - answers.gradient) ** 2).sum(1)
    assert abs(error.mean() - found.mse(16)) < 4 * error.std() / len(error) ** 0.5
    assert found.mse(1) == pytest.approx(found.bias @ found.bias + found.variance)
