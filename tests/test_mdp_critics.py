"""GAE with any critic: weights by plain loops, the mean by two routes, the variance one trajectory at a time."""

import itertools

import numpy as np
import pytest

from pglab import advantages, mdp, returns

pytestmark = pytest.mark.filterwarnings("error")

AGENT, LOGITS = mdp.search_agent(horizon=3), np.array(mdp.LOGITS)
NONSENSE = np.random.default_rng(0).normal(size=(3, 5))
LAMS = np.array([0.0, 0.3, 0.95, 1.0])


def gae_by_loops(paths, critic, gamma, lam, last=0.0):
    """The definition: for every step the decaying sum over all later TD errors."""
    table = np.zeros(paths.actions.shape)
    for i, row in enumerate(table):
        n = int(paths.mask[i].sum())
        v = [critic[t, paths.states[i, t]] for t in range(n)] + [last if np.ndim(last) == 0 else last[i]]
        delta = [paths.rewards[i, t] + gamma * v[t + 1] - v[t] for t in range(n)]
        for t in range(n):
            row[t] = sum((gamma * lam) ** (k - t) * delta[k] for k in range(t, n))
    return table


@pytest.mark.parametrize("gamma", [1.0, 0.8, 0.0])
@pytest.mark.parametrize("lam", LAMS)
def test_weights_are_the_definition(gamma, lam):
    paths = mdp.trajectories(AGENT, LOGITS)
    np.testing.assert_allclose(
        mdp.gae_weights(paths, NONSENSE, gamma, lam), gae_by_loops(paths, NONSENSE, gamma, lam), atol=1e-14
    )
    cut = mdp.trajectories(AGENT, LOGITS, steps=2)
    last = np.arange(len(cut.states)) / 7
    np.testing.assert_allclose(
        mdp.gae_weights(cut, NONSENSE[:2], gamma, lam, last),
        gae_by_loops(cut, NONSENSE, gamma, lam, last),
        atol=1e-14,
    )


@pytest.mark.parametrize("gamma", [1.0, 0.8, 0.0])
def test_moments_for_many_lambdas_are_those_of_one_after_the_other(gamma):
    paths = mdp.trajectories(AGENT, LOGITS)
    means, variances = mdp.gae_moments(AGENT, LOGITS, NONSENSE, gamma, LAMS)
    again = mdp.gae_moments(AGENT, LOGITS, NONSENSE, gamma, LAMS, paths)
    for lam, mean, variance, mean_again in zip(LAMS, means, variances, again[0], strict=True):
        wanted, covariance = mdp.moments(paths, gae_by_loops(paths, NONSENSE, gamma, lam))
        np.testing.assert_allclose(mean, wanted, atol=1e-14)
        np.testing.assert_allclose(variance, np.trace(covariance), rtol=1e-12)
        np.testing.assert_array_equal(mean, mean_again)
        np.testing.assert_allclose(mdp.gae_mean(AGENT, LOGITS, NONSENSE, gamma, lam), mean, atol=1e-14)


def test_a_process_whose_reward_depends_on_the_next_state():
    rng = np.random.default_rng(1)
    model = mdp.TabularMDP(
        [0.4, 0.6, 0], rng.dirichlet(np.ones(3), (3, 2)), rng.normal(size=(3, 2, 3)), 4, [0, 0, 1]
    )
    logits, critic = rng.normal(size=(3, 2)), rng.normal(size=(4, 3))
    means, _ = mdp.gae_moments(model, logits, critic, 0.9, [0.0, 0.6])
    for lam, mean in zip((0.0, 0.6), means, strict=True):
        np.testing.assert_allclose(mdp.gae_mean(model, logits, critic, 0.9, lam), mean, atol=1e-13)


def test_lambda_one_has_the_gradient_whatever_the_critic_says():
    gradient = mdp.objective_gradient(AGENT, LOGITS)
    np.testing.assert_allclose(mdp.gae_mean(AGENT, LOGITS, NONSENSE, 1.0, 1.0), gradient, atol=1e-14)
    assert np.abs(mdp.gae_mean(AGENT, LOGITS, NONSENSE, 1.0, 0.5) - gradient).max() > 0.01


def test_a_sample_of_trajectories_will_do():
    paths = mdp.trajectories(AGENT, LOGITS)
    rows = [3, 3, 0]
    some = mdp.Trajectories(*(field[rows] for field in paths))
    whole = mdp.gae_weights(paths, NONSENSE, 0.9, 0.5)
    np.testing.assert_allclose(mdp.gae_weights(some, NONSENSE, 0.9, 0.5), whole[rows], atol=1e-15)
    to_go = returns.reward_to_go(some.rewards, 1.0, some.mask)
    np.testing.assert_allclose(mdp.gae_weights(some, np.zeros((3, 5))), to_go, atol=1e-15)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"critic": NONSENSE[:2]}, r"critic has shape \(2, 5\); it must be .* \(3, 5\)"),
        ({"critic": "high"}, r"critic is 'high'; it must be one finite value for each .* shape \(3, 5\)\.$"),
        ({"critic": np.full((3, 5), np.nan)}, "values holds NaN"),
        ({"lams": [-0.5, 0.5]}, "lams reach from -0.5 to 0.5"),
        ({"lams": "half"}, "lams is 'half'"),
        ({"lams": [0.5, 1.5]}, "lams reach from 0.5 to 1.5"),
        ({"gamma": 1.5}, "gamma is 1.5"),
    ],
)
def test_bad_input_is_refused(change, words):
    with pytest.raises(ValueError, match=f"^{words}"):
        mdp.gae_moments(
            **(
                {"mdp": AGENT, "policy_logits": LOGITS, "critic": NONSENSE, "gamma": 1.0, "lams": LAMS}
                | change
            )
        )


def test_bad_input_of_the_backward_route_is_refused():
    for change, words in (
        ({"lam": 2.0}, "lam is 2.0"),
        ({"lam": -1.0}, "lam is -1.0"),
        ({"gamma": -1.0}, "gamma is -1.0"),
        ({"gamma": 2.0}, "gamma is 2.0"),
        ({"critic": NONSENSE[:1]}, "critic has shape"),
    ):
        given = {"mdp": AGENT, "policy_logits": LOGITS, "critic": NONSENSE, "gamma": 1.0, "lam": 0.5} | change
        with pytest.raises(ValueError, match=f"^{words}"):
            mdp.gae_mean(**given)


# ---- Weights that depend on the batch


def test_batches_are_all_pairs_and_triples():
    paths = mdp.trajectories(mdp.search_agent(horizon=2), LOGITS)
    weight = np.random.default_rng(2).normal(size=paths.actions.shape)
    for size in (1, 2, 3):
        wanted = np.zeros((5, 2))
        for drawn in itertools.product(range(len(weight)), repeat=size):
            drawn = list(drawn)
            changed = advantages.whiten(weight[drawn], mask=paths.mask[drawn])
            single = np.einsum("nt,ntsa->sa", changed, paths.scores[drawn]) / size
            wanted += paths.probability[drawn].prod() * single
        found = mdp.batch_estimate(paths, weight, size, advantages.whiten)
        np.testing.assert_allclose(found, wanted, atol=1e-13)


def test_a_batch_whose_weights_stay_has_the_mean_of_one_trajectory():
    paths = mdp.trajectories(AGENT, LOGITS)
    weight = mdp.gae_weights(paths, NONSENSE, 1.0, 0.5)
    mean, _ = mdp.moments(paths, weight)
    found = mdp.batch_estimate(paths, weight, 2, lambda w, mask: w)
    np.testing.assert_allclose(found, mean, atol=1e-14)
    with pytest.raises(ValueError, match="^weight has shape"):
        mdp.batch_estimate(paths, weight[:, :2], 2, lambda w, mask: w)


def test_sampled_batches_agree_with_counted_ones():
    paths = mdp.trajectories(AGENT, LOGITS)
    weight = mdp.gae_weights(paths, NONSENSE, 1.0, 0.5)
    exact = mdp.batch_estimate(paths, weight, 2, advantages.whiten)
    mean, error = mdp.sampled_batch_estimate(
        paths, weight, 2, advantages.whiten, np.random.default_rng(0), 4000
    )
    assert np.all(np.abs(mean - exact) <= 4 * error) and 0 < error.max() < 0.05
    with pytest.raises(ValueError, match="^batches is 1; it must be a whole number, at least 2"):
        mdp.sampled_batch_estimate(paths, weight, 2, advantages.whiten, np.random.default_rng(0), 1)


# ---- Explained variance, a critic that learns, and the shy process


def test_explained_variance_is_the_formula_and_what_the_exact_critic_explains_is_the_variance_of_v():
    paths = mdp.trajectories(AGENT, LOGITS)
    to_go = returns.reward_to_go(paths.rewards, 1.0, paths.mask)
    v = mdp.values(AGENT, LOGITS).v[:3]
    steps = [(p, to_go[i, t], v[t, paths.states[i, t]], NONSENSE[t, paths.states[i, t]])
             for i, p in enumerate(paths.probability) for t in range(int(paths.mask[i].sum()))]  # fmt: skip
    p, g, exact, said = np.array(steps).T
    p = p / p.sum()

    def var(x):
        return p @ x**2 - (p @ x) ** 2

    found = mdp.explained_variance(paths, v, paths.probability)
    assert found == pytest.approx(var(exact) / var(g), abs=1e-12)
    assert mdp.explained_variance(paths, v + 5, paths.probability) == pytest.approx(found, abs=1e-12)
    found = mdp.explained_variance(paths, NONSENSE, 3 * paths.probability, centred=False)
    assert found == pytest.approx(1 - p @ (g - said) ** 2 / var(g), abs=1e-12)
    found = mdp.explained_variance(paths, NONSENSE)  # each trajectory counts once
    assert found == pytest.approx(1 - np.var(g - said) / np.var(g), abs=1e-12)
    same = mdp.Trajectories(*(field[[0, 0]] for field in mdp.trajectories(mdp.search_agent(1, 0.0), LOGITS)))
    assert np.isnan(mdp.explained_variance(same, np.ones((1, 5))))
    for bad in ([1.0], -paths.probability, 0 * paths.probability):
        with pytest.raises(ValueError, match=f"^probability must hold {len(paths.states)} weights"):
            mdp.explained_variance(paths, v, bad)
    with pytest.raises(ValueError, match="^probability is 'all'"):
        mdp.explained_variance(paths, v, "all")
    with pytest.raises(ValueError, match="^critic has shape"):
        mdp.explained_variance(paths, v[:2])


def test_a_training_steps_with_gae_and_its_kinds_of_critic_are_what_they_say():
    runs = {kind: mdp.actor_critic(AGENT, LOGITS, kind, 3, 12, 64, lam=0.9) for kind in
            ("learning", "dead", "frozen", "noise")}  # fmt: skip
    for run in runs.values():
        assert len(run) == 12 and np.array_equal(run[0].logits, LOGITS)
        for (logits, critic, batch), after in zip(run, run[1:], strict=False):
            weight = gae_by_loops(batch, critic, 1.0, 0.9)
            step = np.einsum("nt,ntsa->sa", weight, batch.scores) / 64
            np.testing.assert_allclose(after.logits, logits + step, atol=1e-12)
    assert all(np.array_equal(runs["frozen"][0].critic, update.critic) for update in runs["frozen"])
    assert all(np.ptp(update.critic) == 0 for update in runs["dead"])
    assert runs["dead"][0].critic[0, 0] != runs["dead"][-1].critic[0, 0]  # a constant, but a learned one
    again = mdp.actor_critic(AGENT, LOGITS, "learning", 3, 12, 64, lam=0.9)
    np.testing.assert_array_equal(again[-1].critic, runs["learning"][-1].critic)


def test_what_is_logged_of_a_training():
    run = mdp.actor_critic(AGENT, LOGITS, seed=1, updates=40)
    log = mdp.follow(AGENT, run)
    logits, critic, batch = run[7]
    exact = mdp.values(AGENT, logits).v
    wrong = [critic[t, s] - exact[t, s] for row, m in zip(batch.states, batch.mask, strict=True)
             for t, s in enumerate(row[:-1]) if m[t]]  # fmt: skip
    assert log["rmse"][7] == pytest.approx(np.sqrt(np.mean(np.square(wrong))), abs=1e-12)
    assert log["ev"][7] == mdp.explained_variance(batch, critic)
    assert log["ceiling"][7] == mdp.explained_variance(batch, exact[:3])
    assert log["J"][7] == mdp.objective(AGENT, logits) and log["J"][-1] > log["J"][0]
    assert log["rmse"][-10:].max() < 0.5 * log["rmse"][0]


@pytest.mark.parametrize(
    "change", [{"kind": "lazy"}, {"updates": 0}, {"size": 0}, {"lam": 2.0}, {"lam": -1.0}]
)
def test_a_training_that_cannot_be_is_refused(change):
    with pytest.raises(ValueError, match=f"^{next(iter(change))} is "):
        mdp.actor_critic(AGENT, LOGITS, **({"updates": 1} | change))


@pytest.mark.parametrize("own", [False, True])
def test_the_shy_process(own):
    model, logits = mdp.two_steps(own)
    answer = 1 / (1 + np.exp(2.0))
    assert mdp.objective(model, logits) == pytest.approx(1 - (1 - answer) ** 2, abs=1e-15)
    paths = mdp.trajectories(model, logits)
    assert sorted(paths.probability) == pytest.approx(
        sorted([answer, (1 - answer) * answer, (1 - answer) ** 2])
    )
    twice = paths.states[:, 0] == paths.states[:, 1]
    assert twice.any() != own


def test_with_own_logits_and_a_perfect_critic_a_smaller_lambda_is_quieter_and_terms_do_not_mix():
    """The proof of notebook 05, term by term, on a process that meets no state twice."""
    model, logits = mdp.two_steps(own_logits=True)
    paths, v = mdp.trajectories(model, logits), mdp.values(model, logits).v[:2]
    delta = mdp.gae_weights(paths, v, 1.0, 0.0)
    for lam in (0.0, 0.4, 1.0):
        e = np.stack([paths.scores[:, 0], lam * paths.scores[:, 0] + paths.scores[:, 1]], axis=1)
        product = delta[:, 0] * delta[:, 1] * (e[:, 0] * e[:, 1]).sum(axis=(1, 2))
        assert abs(paths.probability @ product) < 1e-16
        acted = paths.mask[:, 1]
        squares = lam**2 * (paths.scores[:, 0] ** 2).sum(axis=(1, 2)) + (paths.scores[:, 1] ** 2).sum(
            axis=(1, 2)
        )
        np.testing.assert_allclose((e[:, 1] ** 2).sum(axis=(1, 2))[acted], squares[acted], atol=1e-14)


def test_a_constant_error_does_no_harm_where_all_episodes_have_one_length():
    even = mdp.TabularMDP([1, 0], [[[0.2, 0.8], [0.7, 0.3]]] * 2, [[1, 0], [0, 2]], horizon=3)
    high = mdp.values(even, np.eye(2)).v[:3] + 0.3
    for lam in (0.0, 0.5, 0.9):
        found = mdp.gae_mean(even, np.eye(2), high, 1.0, lam)
        np.testing.assert_allclose(found, mdp.objective_gradient(even, np.eye(2)), atol=1e-14)


@pytest.mark.parametrize("lam", [0.0, 0.5, 0.95])
def test_explained_variance_of_lambda_returns_by_loops(lam):
    paths, critic = mdp.trajectories(AGENT, LOGITS), np.random.default_rng(2).normal(size=(3, 5))
    weight, target, rest = [], [], []
    for row, r, m, p in zip(paths.states, paths.rewards, paths.mask, paths.probability, strict=True):
        said = [critic[t, row[t]] * m[t] for t in range(3)] + [0.0]
        for t in range(int(m.sum())):  # (1 - lam) sum_n lam^(n-1) G^(n), the rest on the last
            few = [r[t : t + n].sum() + said[t + n] for n in range(1, 4 - t)]
            shares = [(1 - lam) * lam**n for n in range(len(few) - 1)] + [lam ** (len(few) - 1)]
            weight.append(p), target.append(np.dot(shares, few)), rest.append(target[-1] - said[t])
    wanted = 1 - np.cov(rest, aweights=weight, ddof=0) / np.cov(target, aweights=weight, ddof=0)
    found = mdp.explained_variance(paths, critic, paths.probability, lam=lam)
    assert found == pytest.approx(wanted, abs=1e-13)


def test_lambda_returns_of_another_lambda_are_refused():
    with pytest.raises(ValueError, match="^lam is 1.5"):
        mdp.explained_variance(mdp.trajectories(AGENT, LOGITS), np.zeros((3, 5)), lam=1.5)
