"""The mathematics of a step: its gradient against plain loops that read every completion alone."""

import math

import numpy as np
import pytest
import torch
from training_by_hand import (
    Step,
    all_parameters,
    brief,
    close,
    copies,
    left,
    paid,
    rarely,
    read,
    settings,
    trainer,
    unscorable,
    with_head,
)

from pglab import algorithms, lm, training
from pglab.training import update
from pglab.training.rollouts import collect, weights

NAMES = list(algorithms.ALGORITHMS)


# ---- The first step


@pytest.mark.parametrize("temperature", [1.0, 0.7])
@pytest.mark.parametrize("name", NAMES)
def test_the_gradient_of_every_algorithm_is_that_of_its_formula(name, temperature):
    run = trainer(algorithm=name, temperature=temperature, room=2)
    run = with_head(run) if run.value is not None else run
    start, value = copies(run)
    row = run.advance()
    lengths = run.rollouts.samples.mask.sum(1)
    assert len(set(lengths.tolist())) > 1 and run.rollouts.samples.finished.float().mean() < 1
    wanted = Step(run, start, value).gradient(start, value)
    close(left(run), wanted)
    assert row["grad_norm"] == pytest.approx(float(wanted.norm()), rel=1e-9)
    assert row["clip_fraction"] == 0 and row["kl"] == 0


@pytest.mark.parametrize("temperature", [1.0, 0.6, 1.7])
def test_sampler_and_learner_mean_the_same_policy(temperature):
    run = trainer(temperature=temperature, epochs=1, algorithm="reinforce", reward=lambda *_: 1.0)
    start, _ = copies(run)
    drawn = collect(run.policy, run.task, run.settings, 0, run.reward)
    made = update.Update(run.policy, None, run.optimisers[0], run.settings, drawn)
    made.run()
    mask = drawn.samples.mask
    assert torch.allclose(made.old[mask], drawn.samples.logprobs[mask], atol=1e-12)
    alone = torch.cat(read(start, drawn, temperature)[0])
    assert torch.allclose(alone, drawn.samples.logprobs[mask], atol=1e-12)
    garbled = drawn._replace(samples=drawn.samples._replace(logprobs=torch.zeros_like(made.old)))
    again = update.Update(start, None, run.optimisers[0], run.settings, garbled)
    again.gradient(0, {})
    assert torch.equal(again.old, made.old)  # the learner's own, not the sampler's


def test_on_the_first_step_the_ratio_is_exactly_1(monkeypatch):
    """Not the sampler's log-probabilities, which differ in the last bit, stand below it, but none at all."""
    asked = []
    loss = algorithms.Algorithm.loss
    monkeypatch.setattr(
        algorithms.Algorithm,
        "loss",
        lambda self, new, old, *more: asked.append(old) or loss(self, new, old, *more),
    )
    run = trainer(epochs=3, micro_batches=2)
    asked.clear()
    run.advance()
    assert [old is None for old in asked] == [True, True, False, False, False, False]


# ---- Later steps on the same batch


@pytest.mark.parametrize("name", NAMES)
def test_later_epochs_look_back_to_the_policy_before_the_first(name):
    """Three Adam steps by hand. The steps are long, so that ratios leave their bounds."""
    rate = 3e-6 if name == "gspo" else 0.03  # its bounds are a thousand times closer
    reward = unscorable if name == "ppo" else rarely
    run = trainer(algorithm=name, epochs=3, learning_rate=rate, room=1, reward=reward)
    run = with_head(run) if run.value is not None else run
    mine, value = copies(run)
    row = run.advance()
    step = Step(run, mine, value)
    parameters = all_parameters(mine, value)
    adam = torch.optim.Adam(parameters, rate)
    for _ in range(2):
        step.gradient(mine, value)
        adam.step()
    new, _ = read(mine, run.rollouts, 1.0)  # the policy of the last step
    wanted = step.gradient(mine, value)
    close(left(run), wanted, 1e-7)
    adam.step()
    after = torch.cat([p.flatten() for p in all_parameters(run.policy, run.value)])
    assert torch.allclose(after, torch.cat([p.flatten() for p in parameters]), atol=1e-7)
    seen_by_hand(row, step, [row.tolist() for row in new], name, run.settings.algorithm)


def seen_by_hand(row, step, new, name, algorithm):
    clipped, tokens, moved, read_tokens = 0, 0, 0.0, 0
    for now, then, given in zip(new, step.old, step.weights, strict=True):
        given = given if isinstance(given, list) else [given] * len(now)
        tokens += len(now)
        if not any(given) and algorithm.skips:
            continue
        read_tokens += len(now)
        below, above = algorithm.clip or (None, math.inf)
        low, high = 1 - (below or 1), 1 + above
        for x, y, a in zip(now, then, given, strict=True):
            moved += math.exp(x - y) - 1 - (x - y)
            apart = {"rloo": sum(now) - sum(then), "gspo": (sum(now) - sum(then)) / len(now)}.get(name, x - y)
            if name != "cispo":  # it takes no token's gradient away
                clipped += (a > 0 and math.exp(apart) > high) or (a < 0 and math.exp(apart) < low)
    assert row["clip_fraction"] == pytest.approx(clipped / tokens) and row["kl"] > 1e-9
    assert row["kl"] == pytest.approx(moved / read_tokens, rel=1e-6)
    assert (clipped > 0) == (name not in ("vanilla", "cispo"))


# ---- Which rows are read, and in how many parts


@pytest.mark.parametrize("parts", [2, 3, 4])
@pytest.mark.parametrize("name", NAMES)
def test_micro_batches_change_nothing(name, parts):
    runs = [trainer(algorithm=name, epochs=2, micro_batches=m, room=2) for m in (1, parts)]
    rows = [run.advance() for run in runs]
    close(left(runs[1]), left(runs[0]), 1e-9)
    same = [column for column in training.PANEL if column not in ("seconds", "grad_noise", "kl_ref")]
    assert [rows[1][c] for c in same] == pytest.approx([rows[0][c] for c in same], rel=1e-9)


KINDS = [
    ("grpo", {}, True), ("dapo", {}, True), ("reinforce", {}, True), ("ppo", {}, False),
    ("grpo", {"kl": 0.5}, False), ("grpo", {"kl": 0.5, "kl_where": "reward"}, True),
]  # fmt: skip


@pytest.mark.parametrize("name, change, skips", KINDS)
def test_rows_that_weigh_nothing_are_left_out_where_they_add_nothing(name, change, skips):
    chosen = algorithms.named(name, **{**change, "rounds": 1})
    run = trainer(brief(5.0), algorithm=chosen, micro_batches=2, room=2)
    assert run.settings.algorithm.skips == skips
    run.advance()
    drawn = run.rollouts
    given = None if name == "ppo" else weights(run.settings.algorithm, drawn)
    parts = update.split(drawn, run.settings, given)
    rows = [part.rows.tolist() for part in parts]
    idle = {i for i in range(12) if given is not None and not bool(given[i].any())}
    assert name == "ppo" or change.get("kl_where") == "reward" or len(idle) >= 3
    read = [i for i in range(12) if not (skips and i in idle)]
    alike = {}  # rows of a prompt with the same completion and the same advantage
    for i in read:
        words = tuple(drawn.samples.tokens[i][drawn.samples.mask[i]].tolist())
        alike.setdefault((i // 3, words, float(given[i, 0])) if skips else i, []).append(i)
    assert sum(rows, []) == [same[0] for same in alike.values()]
    assert torch.cat([part.counts for part in parts]).tolist() == [len(same) for same in alike.values()]
    for part, ends in zip(parts, [range(6), range(6, 12)], strict=True):
        assert set(part.rows.tolist()) <= set(ends)
        assert part.width == int(drawn.samples.mask[part.rows].sum(1).max()) < 7
        asked = [drawn.texts[i // 3] for i in part.rows.tolist()]
        assert [lm.decode(part.prompts[i]) for i in part.owners.tolist()] == asked
        assert len(part.prompts) == len(set(asked))


def test_the_noise_of_the_gradient_is_that_of_the_prompts():
    """Four micro-batches of one prompt each, against the gradient of each prompt by hand."""
    run = trainer(algorithm="dr_grpo", micro_batches=4, epochs=2, reward=paid)
    start, _ = copies(run)
    row = run.advance()
    step, each = Step(run, start), []
    everything = step.weights
    for prompt in range(4):
        step.weights = [w if i // 3 == prompt else 0.0 for i, w in enumerate(everything)]
        each.append(step.gradient(start).numpy())
    centred = np.array(each) - np.mean(each, 0)
    assert row["grad_noise"] == pytest.approx(4 / 3 * (centred**2).sum(), rel=1e-9)
    assert math.isnan(trainer().advance()["grad_noise"])


def test_a_long_gradient_is_shortened_and_a_short_one_left():
    norms = {}
    for most in (0, 1e-3, 1e6):
        run = trainer(grad_clip=most)
        norms[most] = run.advance()["grad_norm"], float(left(run).norm())
    assert norms[0][0] == norms[1e-3][0] == norms[1e6][0] == pytest.approx(norms[0][1]) and norms[0][1] > 0.01
    assert norms[1e-3][1] == pytest.approx(1e-3, rel=1e-2) and norms[1e6][1] == norms[0][1]


def test_the_learning_rate_is_that_of_the_step():
    run = trainer(warmup=2, learning_rate=0.4, steps=3)
    rates = []
    for _ in run:
        rates.append(run.optimisers[0].param_groups[0]["lr"])
    assert rates == pytest.approx([0.2, 0.4, 0.4])
    falls = settings(steps=4, cool_down=1, learning_rate=0.4)
    assert [falls.rate(step) for step in range(4)] == pytest.approx([0.4, 0.3, 0.2, 0.1])
    half = settings(steps=4, cool_down=0.5, learning_rate=0.4, warmup=1)
    assert [half.rate(step) for step in range(4)] == pytest.approx([0.4, 0.4, 0.4, 0.2])
