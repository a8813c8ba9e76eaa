"""What holds of the bandit for policies and rewards of any size."""

import numpy as np
from bandit_by_hand import close
from hypothesis import given
from hypothesis import strategies as st

from pglab import bandit

REWARD = st.floats(-1e6, 1e6)
LOGIT = st.one_of(st.floats(-3, 3), st.floats(-700, 700), st.just(-np.inf))


@st.composite
def problems(draw):
    """(logits, rewards) of one to eight actions, some of them impossible, at least one not."""
    size = draw(st.integers(1, 8))
    logits = draw(st.lists(LOGIT, min_size=size, max_size=size).filter(lambda z: max(z) > -np.inf))
    rewards = draw(st.lists(REWARD, min_size=size, max_size=size))
    return np.array(logits), np.array(rewards)


@given(problems())
def test_probabilities_are_probabilities(problem):
    logits, _ = problem
    p = bandit.softmax(logits)
    close(p.sum(), 1)
    assert (p >= 0).all() and (p[logits == -np.inf] == 0).all()
    with np.errstate(divide="ignore"):
        logs = np.log(p)
    # Subnormal probabilities have fewer digits than their logarithms.
    usual = p > 1e-290
    np.testing.assert_allclose(bandit.log_softmax(logits)[usual], logs[usual], rtol=1e-12, atol=1e-12)
    assert (bandit.log_softmax(logits)[logits == -np.inf] == -np.inf).all()


@given(problems())
def test_the_expected_score_is_zero(problem):
    logits, _ = problem
    scores = bandit.score_matrix(logits)
    close(bandit.softmax(logits) @ scores, 0)
    close(scores.sum(axis=1), 0)


@given(problems())
def test_the_estimate_is_unbiased(problem):
    logits, rewards = problem
    p, scale = bandit.softmax(logits), np.abs(rewards).max()
    explicit = sum(p[a] * rewards[a] * bandit.score_matrix(logits)[a] for a in range(p.size))
    jacobian = np.diag(p) - np.outer(p, p)
    close(bandit.exact_gradient(logits, rewards), explicit, scale)
    close(bandit.exact_gradient(logits, rewards), rewards @ jacobian, scale)
    close(bandit.expected_reward(logits, rewards), sum(p * rewards), scale)


@given(problems())
def test_a_covariance_is_symmetric_and_not_negative(problem):
    logits, rewards = problem
    covariance = bandit.gradient_covariance(logits, rewards)
    scale = np.abs(rewards).max() ** 2
    assert covariance.shape == (logits.size,) * 2 and (covariance == covariance.T).all()
    assert np.linalg.eigvalsh(covariance).min() >= -1e-12 * scale
    close(covariance.sum(axis=0), 0, scale)  # the components of a score add up to zero
    close(bandit.covariance_trace(logits, rewards), np.trace(covariance), scale)
    assert bandit.covariance_trace(logits, rewards) >= 0


@given(problems(), st.randoms(use_true_random=False))
def test_the_order_of_the_actions_does_not_matter(problem, random):
    logits, rewards = problem
    order = list(range(logits.size))
    random.shuffle(order)
    scale = np.abs(rewards).max()
    for function in (bandit.softmax, bandit.log_softmax):
        close(np.exp(function(logits[order])), np.exp(function(logits)[order]))
    close(bandit.score_matrix(logits[order]), bandit.score_matrix(logits)[order][:, order])
    before, after = (logits, rewards), (logits[order], rewards[order])
    close(bandit.exact_gradient(*after), bandit.exact_gradient(*before)[order], scale)
    close(bandit.gradient_covariance(*after), bandit.gradient_covariance(*before)[order][:, order], scale**2)
    close(bandit.covariance_trace(*after), bandit.covariance_trace(*before), scale**2)
    close(bandit.entropy(logits[order]), bandit.entropy(logits))


@given(problems(), st.floats(-100, 100))
def test_adding_a_constant_to_the_logits_changes_nothing(problem, shift):
    logits, rewards = problem
    scale = np.abs(rewards).max()
    close(bandit.softmax(logits + shift), bandit.softmax(logits))
    close(bandit.exact_gradient(logits + shift, rewards), bandit.exact_gradient(logits, rewards), scale)


@given(problems(), REWARD)
def test_a_baseline_leaves_the_gradient_alone(problem, baseline):
    logits, rewards = problem
    scale = np.abs(rewards).max() + abs(baseline)
    close(bandit.exact_gradient(logits, rewards - baseline), bandit.exact_gradient(logits, rewards), scale)


@given(problems(), st.lists(REWARD, min_size=5, max_size=5))
def test_no_baseline_beats_the_optimal_one(problem, baselines):
    logits, rewards = problem
    best = bandit.optimal_baseline(logits, rewards)
    least = bandit.covariance_trace(logits, rewards - best)
    for b in [*baselines, 0.0, bandit.expected_reward(logits, rewards), best * 1.01, best * 0.99]:
        trace = bandit.covariance_trace(logits, rewards - b)
        assert least <= trace + 1e-12 * max(np.abs(rewards).max(), abs(b), 1e-300) ** 2


@given(problems())
def test_optimal_baselines_lie_among_the_rewards(problem):
    logits, rewards = problem
    each = bandit.optimal_baseline(logits, rewards, per_coordinate=True)
    one = bandit.optimal_baseline(logits, rewards)
    assert isinstance(one, float) and each.shape == logits.shape
    possible = rewards[bandit.softmax(logits) > 1e-290]  # subnormal probabilities have lost their digits
    if (bandit.softmax(logits)[logits > -np.inf] > 1e-290).all():
        slack = 1e-9 * np.abs(rewards).max()
        assert possible.min() - slack <= one <= possible.max() + slack
        assert (possible.min() - slack <= each).all() and (each <= possible.max() + slack).all()


@given(problems())
def test_entropy_lies_between_certain_and_undecided(problem):
    logits, _ = problem
    entropy = bandit.entropy(logits)
    assert 0 <= entropy <= np.log(np.isfinite(logits).sum()) + 1e-12
    assert not np.signbit(entropy)
