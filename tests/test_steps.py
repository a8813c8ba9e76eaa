"""Moves of many policies at once against the exact rooms, which know one softmax only."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pglab import bandit, constraints, kl, steps

RNG = np.random.default_rng(3)
ONCE = np.arange(4)[None]  # each action once: the exact expectation under a uniform policy
UNIFORM = np.zeros((1, 4))


def test_log_softmax_is_that_of_the_bandit():
    z = RNG.normal(size=(3, 2, 5)) * 300
    for row in np.ndindex(3, 2):
        np.testing.assert_allclose(steps.log_softmax(z)[row], bandit.log_softmax(z[row]), rtol=1e-14)


@pytest.mark.parametrize("clip", [0.05, 0.2, (0.05, 0.6), (0.6, 0.05), np.inf])
def test_each_action_once_is_the_exact_surrogate(clip):
    for _ in range(20):
        z, w = RNG.normal(size=(2, 1, 4))
        got = steps.ascent(z, steps.log_softmax(UNIFORM), ONCE, w, clip)
        pair = clip if isinstance(clip, tuple) else None if clip == np.inf else (clip, clip)
        wanted = constraints.surrogate_gradient(z[0], UNIFORM[0], w[0], pair)
        np.testing.assert_allclose(got[0], wanted, atol=1e-14)


def test_the_sampled_gradient_is_the_plain_loop():
    z, old = RNG.normal(size=(2, 3, 2, 4))
    actions, weights = RNG.integers(0, 4, size=(3, 2, 6)), RNG.normal(size=(3, 2, 6))
    got = steps.ascent(z, steps.log_softmax(old), actions, weights)
    for s, q in np.ndindex(3, 2):
        ratio, score = constraints.ratios(z[s, q], old[s, q]), bandit.score_matrix(z[s, q])
        terms = [w * ratio[a] * score[a] for a, w in zip(actions[s, q], weights[s, q], strict=True)]
        np.testing.assert_allclose(got[s, q], np.mean(terms, axis=0), atol=1e-14)


def test_inner_steps_without_a_constraint_are_gradient_steps():
    w = np.array([[1.0, -1.0, 2.0, 0.0]])
    z = UNIFORM[0]
    for _ in range(3):
        z = z + 0.7 * bandit.exact_gradient(z, w[0])
    np.testing.assert_allclose(steps.inner_steps(0.7, steps=3)(UNIFORM, ONCE, w)[0], z, atol=1e-14)


def test_the_penalty_descends_the_exact_kl():
    z, ref, nothing = RNG.normal(size=(1, 4)), RNG.normal(size=(1, 4)), np.zeros((1, 4))
    moved = steps.inner_steps(0.3, beta=2.0, reference=ref, steps=1)(z, ONCE, nothing)
    wanted = -0.6 * bandit.finite_differences(lambda x: kl.divergence(x, ref[0]), z[0])
    np.testing.assert_allclose((moved - z)[0], wanted, atol=1e-9)


def _random_batch(seed, prompts=3):
    rng = np.random.default_rng(seed)
    z, ref = rng.normal(size=(2, prompts, 4))
    return z, ref, rng.integers(0, 4, size=(prompts, 6)), rng.normal(size=(prompts, 6))


@given(st.integers(0, 10**6), st.sampled_from([0, 0.1, 0.5, (0.05, 0.4), np.inf]), st.sampled_from([0, 0.3]))
def test_inner_steps_prompt_by_prompt(seed, clip, beta):
    """Each prompt has its own softmax, clip and penalty: alone it moves as it does beside the others."""
    z, ref, actions, weights = _random_batch(seed)
    moved = steps.inner_steps(0.4, clip, beta, ref, steps=3)(z, actions, weights)
    for q in range(len(z)):
        one = z[q]
        for _ in range(3):
            push = steps.ascent(
                one[None], steps.log_softmax(z[q : q + 1]), actions[q : q + 1], weights[q : q + 1], clip
            )
            pi, d = bandit.softmax(one), bandit.log_softmax(one) - bandit.log_softmax(ref[q])
            one = one + 0.4 * (push[0] - beta * pi * (d - pi @ d))
        np.testing.assert_allclose(moved[q], one, atol=1e-13)


def test_what_inner_steps_takes_without_being_told():
    z, ref, actions, weights = _random_batch(0)
    usual = steps.inner_steps(0.4)(z, actions, weights)
    assert (usual == steps.inner_steps(0.4, np.inf, 0.0, None, 4)(z, actions, weights)).all()
    single = ref.astype(np.float32)
    moves = [
        steps.inner_steps(0.4, beta=0.5, reference=r)(z, actions, weights) for r in (single, single.tolist())
    ]
    assert (moves[0] == moves[1]).all()
    runs = steps.inner_steps(0.4, beta=0.5, reference=single)(
        *(np.stack([x, x, x]) for x in (z, actions, weights))
    )
    np.testing.assert_allclose(runs, np.stack(moves[:1] * 3), atol=1e-14)  # runs stand on an axis in front


@given(st.integers(0, 10**6), st.sampled_from([0.001, 0.3, 2.0]), st.sampled_from([1, 3, 30]))
def test_the_natural_step_solves_its_system(seed, damping, prompts):
    """One system for each prompt, one length for all: small enough that it need not be shortened."""
    z, _, actions, weights = _random_batch(seed, prompts)
    weights[1:] *= 0.01  # beside others that hardly matter
    max_kl = 1e-12
    found = steps.trust_region(max_kl, damping)(z, actions, weights) - z
    p, g = np.exp(steps.log_softmax(z)), steps.ascent(z, steps.log_softmax(z), actions, weights)
    fisher = [np.diag(row) - np.outer(row, row) + damping * np.eye(4) for row in p]
    x = np.array([np.linalg.solve(f, row) for f, row in zip(fisher, g, strict=True)])
    wanted = np.sqrt(2 * max_kl / np.mean((g * x).sum(axis=1))) * x
    far = np.mean([kl.divergence(a, a + b) for a, b in zip(z, wanted, strict=True)])
    shortened = 1.0 if far <= max_kl else 0.9
    np.testing.assert_allclose(found, shortened * wanted, rtol=1e-5, atol=1e-11)


def test_runs_of_different_units_do_not_meet():
    z, _, actions, weights = _random_batch(1)
    move, both = steps.trust_region(0.02), [np.stack([x, x]) for x in (z, actions)]
    moved = move(*both, np.stack([weights * 1e-250, weights * 1e250]))
    np.testing.assert_allclose(moved, np.stack([move(z, actions, weights)] * 2), atol=1e-12)


@pytest.mark.parametrize("max_kl", [1e-3, 0.05, 0.5])
def test_the_trust_region_is_that_of_one_policy(max_kl):
    w = np.array([[1.0, -1.0, 2.0, 0.0]])
    got = steps.trust_region(max_kl, damping=1e-9)(UNIFORM, ONCE, w)
    wanted = constraints.trust_region_step(UNIFORM[0], bandit.exact_gradient(UNIFORM[0], w[0]), max_kl)
    np.testing.assert_allclose(got[0], wanted, atol=1e-6)


def test_the_trust_region_keeps_its_promise_run_by_run():
    z, move = RNG.normal(size=(20, 3, 4)) * 2, steps.trust_region(0.05)
    actions, weights = RNG.integers(0, 4, size=(20, 3, 8)), RNG.normal(size=(20, 3, 8))
    new = move(z, actions, weights)
    far = [np.mean([kl.divergence(z[s, q], new[s, q]) for q in range(3)]) for s in range(20)]
    assert max(far) <= 0.05 + 1e-12 and min(far) > 0.001
    np.testing.assert_allclose(new[4], move(z[4], actions[4], weights[4]), atol=1e-12)
    np.testing.assert_allclose(move(z, actions, 7 * weights), new, atol=1e-10)  # blind to one scale
    np.testing.assert_array_equal(move(z, actions, 0 * weights), z)


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e200])
def test_the_trust_region_is_blind_to_the_unit_of_the_weights(scale):
    move, w = steps.trust_region(0.02), np.array([[1.0, -1.0, 2.0, 0.0]])
    np.testing.assert_allclose(move(UNIFORM, ONCE, scale * w), move(UNIFORM, ONCE, w), atol=1e-4)


def test_a_policy_that_gives_one_answer_only_stays_finite():
    z, move = np.zeros((2, 3, 4)), steps.trust_region(0.02)
    for _ in range(600):  # always the same answer: its gradient shrinks to nothing
        z = move(z, np.zeros((2, 3, 4), dtype=int), np.ones((2, 3, 4)))
    assert np.isfinite(z).all() and np.exp(steps.log_softmax(z))[..., 0].min() > 1 - 1e-12


def _plain_run(start, rewards, seed, size, shift, batches):
    """One run of REINFORCE with the running mean as baseline, sample by sample."""
    rng, z, value = np.random.default_rng(seed), np.array(start), [0.5 + shift] * len(start)
    rates = [[bandit.softmax(row) @ rewards for row in z]]
    for _ in range(batches):
        draws = rng.random((1, len(start), size, 1))
        for q in range(len(start)):
            p, g, paid = bandit.softmax(z[q]), 0, []
            for u in draws[0, q, :, 0]:
                a = int(np.searchsorted(p.cumsum()[:-1], u))
                paid.append(rewards[a] + shift)
                g = g + (paid[-1] - value[q]) * bandit.score_matrix(z[q])[a] / size
            z[q] = z[q] + 0.3 * g
            value[q] += 0.2 * (np.mean(paid) - value[q])
        rates.append([bandit.softmax(row) @ rewards for row in z])
    return np.array(rates)


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_training_is_the_plain_loop(shift):
    start, rewards = RNG.normal(size=(3, 4)), np.array([1.0, 0.0, 0.5, 0.0])
    move, minus_value = steps.inner_steps(0.3, steps=1), lambda r, value: r - value
    got = steps.train(start, rewards, minus_value, move, 5, shift, batches=6, runs=1, seed=2)
    np.testing.assert_allclose(got[:, 0], _plain_run(start, rewards, 2, 5, shift, 6), rtol=1e-12)


def test_runs_differ_and_start_alike():
    got = steps.train(RNG.normal(size=(2, 4)), [1, 0, 0, 1], lambda r, v: r, steps.inner_steps(0.5), runs=3)
    assert got.shape == (41, 3, 2) and np.ptp(got[0], axis=0).max() == 0 and np.ptp(got[-1], axis=0).min() > 0


def test_what_training_takes_without_being_told():
    start, move = RNG.normal(size=(2, 4)), steps.inner_steps(0.5, steps=1)
    got = steps.train(start, [1, 0, 0, 1], lambda r, v: r - v, move)
    wanted = steps.train(start, [1, 0, 0, 1], lambda r, v: r - v, move, 8, 0.0, 40, 64, 0)
    assert got.shape == (41, 64, 2) and (got == wanted).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: steps.inner_steps(-1), "step_size"),
        (lambda: steps.inner_steps(1, clip=-0.2), "clip"),
        (lambda: steps.inner_steps(1, clip=np.nan), "clip"),
        (
            lambda: steps.inner_steps(1, clip=(0.2, -0.1)),
            "clip is \\(0.2, -0.1\\); it must be a number at least 0",
        ),
        (lambda: steps.inner_steps(1, clip=(np.nan, 0.1)), "clip"),
        (
            lambda: steps.inner_steps(1, beta=-1, reference=UNIFORM),
            "beta is -1.0; it must be one finite number, at",
        ),
        (lambda: steps.inner_steps(1, beta=0.1), "beta is 0.1 and reference is None"),
        (lambda: steps.inner_steps(1, steps=0), "steps"),
        (lambda: steps.trust_region(0), "max_kl"),
        (lambda: steps.trust_region(0.1, 0), "damping"),
        (lambda: steps.trust_region(np.nan), "max_kl is nan"),
        (
            lambda: steps.train("z", np.ones(4), None, None),
            "start is 'z'; it must be logits, shape \\(P, A\\).$",
        ),
        (lambda: steps.train(UNIFORM[0], np.ones(4), None, None), "start has shape .* two axes"),
        (lambda: steps.train(UNIFORM, np.ones(3), None, None), "rewards has 3"),
        (lambda: steps.train(UNIFORM, np.ones(4), None, None, size=0), "size"),
        (lambda: steps.train(UNIFORM, np.ones(4), None, None, runs=0), "runs"),
        (lambda: steps.train(UNIFORM, np.ones(4), None, None, batches=0), "batches"),
        (lambda: steps.train(UNIFORM, np.ones(4), None, None, shift=np.nan), "shift"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=f"^{words}"):
        call()
