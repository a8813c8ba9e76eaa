"""What a step is given: rewards of all kinds, dynamic sampling, penalties for length."""

import math

import numpy as np
import pytest
import torch
from refusals import check
from training_by_hand import (
    Liked,
    Step,
    brief,
    copies,
    left,
    model,
    paid,
    rarely,
    settings,
    trainer,
    unscorable,
)

from pglab import algorithms, lm, tasks, training
from pglab.training import rollouts

NOTHING = algorithms.named("dapo", overlong=None)


def same(one, other):
    return all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


# ---- What is drawn


def test_rows_belong_to_their_prompts():
    run = trainer(seed=7)
    run.advance()
    drawn = run.rollouts
    asked = run.task.prompts(4, np.random.default_rng([7, 5, 0, 0]))
    assert drawn.texts == asked == [lm.decode(prompt) for prompt in drawn.prompts]
    assert drawn.owners.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert drawn.answers == drawn.samples.texts() and drawn.drawn == 12 and drawn.every is None
    pairs = [(asked[i // 3], answer) for i, answer in enumerate(drawn.answers)]
    assert drawn.rewards.reshape(-1).tolist() == [rarely(*pair) for pair in pairs]
    assert drawn.right.reshape(-1).tolist() == [run.task.verify(*pair) for pair in pairs]
    assert len(set(drawn.right.ravel())) == 2 and (drawn.right != drawn.rewards).any()
    assert drawn.mask.all() and drawn.token_rewards is None and drawn.ref_logprobs is None


def test_a_step_depends_on_seed_number_and_weights_alone():
    run = trainer()
    made = [
        rollouts.collect(run.policy, run.task, settings(seed=s), step) for s in (0, 1) for step in (0, 1, 0)
    ]
    texts = ["".join(each.texts + each.answers) for each in made]
    assert texts[0] == texts[2] and texts[3] == texts[5] and len(set(texts)) == 4
    prompts = {tuple(each.texts) for each in made}
    assert len(prompts) == 4


def test_room_is_room_for_more_tokens():
    assert trainer(room=3).settings.longest(tasks.named("addition")) == 4 + 1 + 3
    run = trainer(room=3)
    run.advance()
    assert run.rollouts.samples.tokens.shape == (12, 8)


# ---- Rewards of tokens


class Half(Liked):
    """Pays tokens that are digits, more the later they stand: every completion has something."""

    def step_rewards(self, prompt, completion):
        return [(t + 1) * (c in "0123456789") / 8 + 0.1 for t, c in enumerate(completion)]


def with_steps(algorithm, reward="steps", start=None, **changes):
    chosen = settings(algorithm=algorithm, reward=reward, **changes)
    return training.Trainer(chosen, model=start or brief(), task=Half())


def to_go(run, penalties=False):
    """(N) lists: what comes at or after each token; 0 behind the end."""
    found = []
    for i, (answer, mask) in enumerate(zip(run.rollouts.answers, run.rollouts.samples.mask, strict=True)):
        earned = Half().step_rewards(run.rollouts.texts[i // 3], answer)
        earned = earned + [0.0] * (len(mask) - len(earned))
        if penalties:
            last = int(mask.sum()) - 1
            earned[last] -= min(max(last + 1 - 5, 0) / 4, 1)
        found.append([sum(earned[t:]) for t in range(len(mask))])
    return found


@pytest.mark.parametrize("name", ["vanilla", "reinforce", "batch_mean", "dr_grpo", "grpo", "cispo", "max_rl"])
def test_every_token_is_paid_for_what_comes_at_or_after_it(name):
    run = with_steps(name, room=2)
    start, _ = copies(run)
    run.advance()
    sums, given = to_go(run), rollouts.weights(run.settings.algorithm, run.rollouts)
    for i, row in enumerate(sums):
        for t, r in enumerate(row):
            group = [sums[i - i % 3 + j][t] for j in range(3)]
            mean = sum(group) / 3
            deviation = math.sqrt(sum((x - mean) ** 2 for x in group) / 2)
            wanted = {"vanilla": r, "reinforce": r, "max_rl": (r - mean) / mean if mean else 0}.get(
                name, r - mean
            )
            if name in ("grpo", "cispo"):
                wanted = wanted / (deviation + 1e-4)
            assert float(given[i, t]) == pytest.approx(wanted, abs=1e-9), (i, t)
    step = Step(run, start)
    step.weights = [row[: len(old)] for row, old in zip(given.tolist(), step.old, strict=True)]
    assert torch.allclose(left(run), step.gradient(start), atol=1e-10) and left(run).abs().max() > 1e-4


def test_one_number_for_the_process_is_the_sum_over_its_tokens():
    one, each = with_steps("grpo", "process"), with_steps("grpo", "steps")
    one.advance(), each.advance()
    sums = [row[0] for row in to_go(one)]
    assert one.rollouts.rewards.reshape(-1) == pytest.approx(sums) and one.rollouts.token_rewards is None
    assert each.rollouts.rewards.reshape(-1) == pytest.approx(sums)
    assert each.rollouts.token_rewards.sum(1) == pytest.approx(sums)
    assert not torch.allclose(left(one), left(each), atol=1e-3)


def test_a_critic_learns_from_rewards_of_tokens():
    run = with_steps("ppo")
    run.advance()
    made = training.trainer.Update(run.policy, run.value, run.optimisers[0], run.settings, run.rollouts)
    mask = run.rollouts.samples.mask
    assert made.targets[mask].tolist() == pytest.approx(torch.tensor(to_go(run))[mask].tolist(), abs=1e-6)


# ---- Penalties for length


@pytest.mark.parametrize("reward", ["outcome", "process", "steps"])
def test_too_long_an_answer_pays(reward):
    """Nothing up to 5 tokens, a quarter for each more, one point from 9 on."""
    name = algorithms.named("dr_grpo", overlong=(0, 4))
    run = with_steps(name, reward, room=5, seed=2)
    run.advance()
    drawn, lengths = run.rollouts, run.rollouts.samples.mask.sum(1).tolist()
    assert {5, 6, 9, 10} <= set(lengths)
    free = drawn.right.reshape(-1) if reward == "outcome" else np.array([sum_of(run, i) for i in range(12)])
    pays = np.array([min(max(length - 5, 0) / 4, 1) for length in lengths])
    assert drawn.rewards.reshape(-1) == pytest.approx(free - pays)
    if reward == "steps":
        assert rollouts.returns.reward_to_go(drawn.token_rewards) == pytest.approx(np.array(to_go(run, True)))


def sum_of(run, i):
    return sum(Half().step_rewards(run.rollouts.texts[i // 3], run.rollouts.answers[i]))


def test_a_penalty_is_added_to_a_reader_s_own_reward_too():
    name = algorithms.named("grpo", overlong=(1, 3))
    run = trainer(algorithm=name, reward=lambda *_: 2.0, room=4)
    run.advance()
    lengths = run.rollouts.samples.mask.sum(1).numpy()
    wanted = 2 - np.clip((lengths - 6) / 2, 0, 1)
    assert run.rollouts.rewards.reshape(-1) == pytest.approx(wanted) and wanted.std() > 0


# ---- Completions that cannot be scored


@pytest.mark.parametrize("name", list(algorithms.ALGORITHMS))
def test_what_could_not_be_scored_is_compared_with_nothing(name):
    run = trainer(algorithm=name, reward=unscorable, group_size=4, room=1, epochs=1)
    start, value = copies(run)
    row = run.advance()
    drawn = run.rollouts
    pairs = [(drawn.texts[i // 4], answer) for i, answer in enumerate(drawn.answers)]
    given = [unscorable(*pair) for pair in pairs]
    assert drawn.mask.reshape(-1).tolist() == [r is not None for r in given] and not drawn.mask.all()
    assert torch.allclose(left(run), Step(run, start, value).gradient(start, value), atol=1e-10)
    assert left(run).abs().max() > 1e-4 and math.isfinite(row["reward"])


@pytest.mark.parametrize("name", ["grpo", "reinforce", "ppo", "dapo"])
def test_where_nothing_can_be_scored_the_run_stops_and_nothing_moves(name):
    """Mostly it is a function that forgets to return."""
    run = trainer(algorithm=name, reward=lambda *_: None, epochs=2, micro_batches=2)
    start, _ = copies(run)
    check(
        run.advance,
        "reward returned None for all 12 completions of a batch; at least one must have a number, or",
    )
    assert same(start, run.policy) and run.rows == []


# ---- Dynamic sampling


def test_only_groups_that_differ_are_kept_and_never_more_than_asked_for():
    run = trainer(algorithm=NOTHING, group_size=2, steps=6, prompts=4)
    for row in run:
        kept, every = run.rollouts, run.rollouts.every
        differ = [bool(r[0] != r[1]) for r in every.rewards]
        wanted = [i for i, d in enumerate(differ) if d][:4]
        assert kept.texts == [every.texts[i] for i in wanted] and len(kept.texts) <= 4
        assert (kept.rewards[:, 0] != kept.rewards[:, 1]).all() and kept.drawn == every.drawn == len(
            differ
        ) * 2
        rows = [2 * i + j for i in wanted for j in (0, 1)]
        assert kept.answers == [every.answers[i] for i in rows]
        assert torch.equal(kept.prompts, every.prompts[wanted])
        for one, other in zip(kept.samples, every.samples, strict=True):
            assert torch.equal(one, other[rows])
        assert (kept.right == every.right[wanted]).all() and (kept.mask == every.mask[wanted]).all()
        rounds = len(differ) // 4
        assert rounds == 3 or sum(differ[: 4 * rounds]) >= 4 > sum(differ[: 4 * (rounds - 1)])
        assert row["zero_std"] == pytest.approx(1 - sum(differ) / len(differ))
        assert row["reward"] == pytest.approx(every.rewards.mean())
    seen = [row["samples"] for row in run.rows]
    assert len(set(np.diff([0, *seen]).tolist())) > 1 and set(np.diff([0, *seen]).tolist()) <= {8, 16, 24}


def test_every_round_asks_something_else():
    run = trainer(algorithm=NOTHING, reward=lambda *_: 0.0)
    run.advance()
    every = run.rollouts.every
    assert len(set(every.texts)) == 12 and run.rollouts.drawn == 36 and run.rollouts.texts == []


@pytest.mark.parametrize("change", [{}, {"kl": 0.1}, {"kl": 0.1, "kl_where": "reward"}, {"weight": "critic"}])
@pytest.mark.parametrize("parts", [1, 2])
def test_where_no_group_differs_nothing_moves(recwarn, change, parts):
    """Not even by the momentum of the steps before."""
    chosen = algorithms.named("dapo", overlong=None, **change)
    run = trainer(algorithm=chosen, micro_batches=parts, epochs=2, learning_rate=0.01, reward=paid)
    run.advance()
    run.reward = lambda *_: 1.0
    start, _ = copies(run)
    row = run.advance()
    assert same(start, run.policy) and row["reward"] == 1.0 and row["zero_std"] == 1.0
    assert row["grad_norm"] == 0 and row["length"] > 1
    assert all(math.isnan(row[name]) for name in ("grad_noise", "advantage_mean", "advantage_std"))
    assert row["samples"] - run.rows[0]["samples"] == 36 and not recwarn.list
    run.reward = paid
    run.advance()
    assert not same(start, run.policy)


def test_rows_that_are_kept_keep_their_rewards_of_tokens_and_their_reference():
    chosen = algorithms.named("dapo", kl=0.1)
    run = with_steps(chosen, start=model(), group_size=8, prompts=3, room=3)
    run.advance()
    kept, every = run.rollouts, run.rollouts.every
    rows = [i for i, answer in enumerate(every.answers) if every.texts[i // 8] in kept.texts]
    assert torch.equal(kept.ref_logprobs, every.ref_logprobs[rows])
    assert (kept.token_rewards == every.token_rewards[rows]).all()
    assert torch.allclose(kept.ref_logprobs, kept.samples.logprobs, atol=1e-12)  # both 0 behind the end
    assert not kept.samples.mask.all()
