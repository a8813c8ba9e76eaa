"""What the gradients mean: sums of scores, and their mean over every group of completions there is.

The model is a transformer of four tokens; a group is drawn from the 13 completions of at most two tokens
(by ``oracle``), and each is read on its own by ``models_by_hand``.
"""

import algorithms_by_hand as hand
import numpy as np
import pytest
import torch
from models_by_hand import flat_gradient, log_probability, one_by_one, shaken

from pglab import advantages, oracle, sampling
from pglab.algorithms import named

pytestmark = pytest.mark.filterwarnings("error")

PROMPT, STEPS = [2, 1], 2
MODEL = shaken(3, vocabulary=4, layers=1, scale=12)
OLD = shaken(4, vocabulary=4, layers=1, scale=12)
NEAR = {"rtol": 0, "atol": 1e-12}


def pays(completion):
    return (sum(completion) % 3 + len(completion)) / 4  # five values


@pytest.fixture(scope="module")
def exact():
    return oracle.exact(MODEL, PROMPT, pays, STEPS)


def logprobs_of(model, exact):
    """(N, T) of all completions, on the graph."""
    return sampling.score(model, torch.tensor([PROMPT]), torch.from_numpy(exact.tokens))


def expected_gradient(algorithm, exact, size, sampler=None, ref=None):
    """(n,) mean over all N^size groups, weighted with their probabilities under the sampler."""
    new, mask = logprobs_of(MODEL, exact), torch.from_numpy(exact.mask)
    drawn = new.detach() if sampler is None else logprobs_of(sampler, exact).detach()
    chance = drawn.where(mask, 0.0).sum(1).exp().numpy()
    total = 0.0
    for group in np.ndindex(*[len(chance)] * size):
        rows = torch.tensor(group)
        weights = algorithm.advantages(exact.rewards[None, list(group)])[0]
        old = None if sampler is None else drawn[rows]
        loss = algorithm.loss(new[rows], old, weights, mask[rows], None if ref is None else ref[rows])
        total = total + chance[list(group)].prod() * loss
    return flat_gradient(-total, MODEL)


# ---- One batch


@pytest.mark.parametrize("name", ["reinforce", "batch_mean", "rloo"])
@pytest.mark.parametrize("seed", range(4))
def test_on_policy_the_gradient_is_the_mean_of_weighted_scores(name, seed):
    """1/N sum_i A_i grad log pi(y_i), for two prompts; a completion that was not scored still counts in N."""
    rng = np.random.default_rng(seed)
    rewards, scored = rng.integers(0, 5, (2, 4)) / 4, rng.random((2, 4)) < 0.8
    prompts, algorithm = [[2, 1], [3, 3]], named(name)
    samples = sampling.sample(
        MODEL, torch.tensor(prompts), 4, 3, generator=torch.Generator().manual_seed(seed)
    )
    weights = algorithm.advantages(np.where(scored, rewards, np.nan), scored).reshape(-1)
    np.testing.assert_allclose(weights, hand.weights(name, rewards, scored).reshape(-1), **NEAR)
    new = sampling.score(MODEL, torch.tensor(prompts), samples.tokens)
    found = flat_gradient(-algorithm.loss(new, None, weights, samples.mask), MODEL)
    wanted = 0.0
    for i, (row, mask) in enumerate(zip(samples.tokens, samples.mask, strict=True)):
        score = flat_gradient(log_probability(MODEL, prompts[i // 4], row[mask].tolist()), MODEL)
        wanted = wanted + weights[i] * score / 8
    np.testing.assert_allclose(found, wanted, **NEAR)
    assert abs(wanted).max() > 1e-3


# ---- The mean over all batches


def test_reinforce_is_unbiased_whatever_is_taken_off(exact):
    for baseline in (0, -1, 2.5):
        algorithm = named("reinforce", baseline=baseline)
        for size in (1, 2):
            np.testing.assert_allclose(expected_gradient(algorithm, exact, size), exact.gradient, **NEAR)


def test_leave_one_out_is_unbiased_and_the_group_mean_short_by_its_own_part(exact):
    for size in (2, 3):
        rloo = expected_gradient(named("rloo"), exact, size)
        np.testing.assert_allclose(rloo, exact.gradient, **NEAR)
        for name, unit in (("batch_mean", 1), ("dr_grpo", STEPS)):
            found = expected_gradient(named(name), exact, size)
            np.testing.assert_allclose(found * unit, exact.gradient * (size - 1) / size, **NEAR)


@pytest.mark.parametrize(
    "algorithm, advantage, unit",
    [
        (named("max_rl"), advantages.max_rl, STEPS),
        (named("grpo", aggregation="constant", norm=1), advantages.grpo, 1),
        (named("rloo", weight="leave_one_out_std", eps=0.5), lambda r: advantages.leave_one_out_std(r, 0.5), 1),
    ],
    ids=["max_rl", "grpo, sums", "leave_one_out_std"],
)  # fmt: skip
def test_the_oracle_says_the_same_of_any_weight(exact, algorithm, advantage, unit):
    found = expected_gradient(algorithm, exact, 2)
    np.testing.assert_allclose(found * unit, exact.moments(advantage, 2)[0], **NEAR)


def test_the_mean_over_each_rows_tokens_is_another_gradient(exact):
    """GRPO's 1/|o_i|: each score divided by its length, so no multiple of the gradient of the sums."""
    grpo = expected_gradient(named("grpo"), exact, 2)
    chance, scores = one_by_one(
        MODEL, PROMPT, [row[m] for row, m in zip(exact.tokens, exact.mask, strict=True)]
    )
    wanted = 0.0
    for i, j in np.ndindex(len(chance), len(chance)):
        a = advantages.grpo(exact.rewards[[i, j]])
        pair = sum(a[k] * scores[row] / exact.mask[row].sum() for k, row in enumerate((i, j)))
        wanted = wanted + chance[i] * chance[j] * pair / 2
    np.testing.assert_allclose(grpo, wanted, **NEAR)
    sums = expected_gradient(named("grpo", aggregation="constant", norm=1), exact, 2)
    assert grpo @ sums < 0.999 * np.linalg.norm(grpo) * np.linalg.norm(sums)


def test_unclipped_probability_ratios_of_completions_correct_an_old_policy(exact):
    """Groups drawn by another model: with rloo's ratio the mean is the gradient of this one, exactly."""
    for name in ("rloo", "reinforce"):
        whole = {"ratio": "sequence_product", "aggregation": "sequence_mean", "norm": None}
        algorithm = named(name, clip=None, **whole)
        found = expected_gradient(algorithm, exact, 2, sampler=OLD)
        np.testing.assert_allclose(found, exact.gradient, **NEAR)
        for other in (
            named(algorithm, clip=(0.2, 0.2)),
            named(algorithm, ratio="token", aggregation="sum", norm=2),
        ):
            biased = expected_gradient(other, exact, 2, sampler=OLD)
            assert abs(biased - exact.gradient).max() > 1e-2


def test_k1_in_the_loss_teaches_nothing_on_average(exact):
    """Its slope by log pi is 1, and the mean of a score is 0."""
    ref = logprobs_of(OLD, exact).detach()
    with_kl = expected_gradient(named("reinforce", kl=2.0, kl_kind="k1"), exact, 1, ref=ref)
    np.testing.assert_allclose(with_kl, exact.gradient, **NEAR)
    with_kl = expected_gradient(named("reinforce", kl=2.0, kl_kind="k2"), exact, 1, ref=ref)
    assert abs(with_kl - exact.gradient).max() > 0.1
