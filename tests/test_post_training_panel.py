"""The panel of post-training, column by column, against the rollouts it speaks of."""

import math

import numpy as np
import pytest
import torch
from training_by_hand import Step, copies, k, read, trainer, unscorable

from pglab import algorithms, lm, training


@pytest.mark.parametrize("name, temperature", [("grpo", 1.0), ("dapo", 0.8), ("ppo", 1.3)])
def test_every_column_says_what_the_rollouts_say(name, temperature):
    chosen = algorithms.named(name, kl=0.1, overlong=None)
    run = trainer(algorithm=chosen, temperature=temperature, room=1, reward=unscorable, learning_rate=0.01)
    reference, _ = copies(run)
    run.advance()
    start, value = copies(run)
    row, drawn = run.advance(), run.rollouts
    every = drawn.every or drawn
    logs, _ = read(start, every, temperature)
    refs, _ = read(reference, every, temperature)
    scored = [float(r) for r, ok in zip(every.rewards.ravel(), every.mask.ravel(), strict=True) if ok]
    answers = [(every.texts[i // 3], answer) for i, answer in enumerate(every.answers)]
    lengths = [len(log) for log in logs]
    assert list(row) == list(training.PANEL) and row["step"] == 1
    assert row["samples"] == run.rows[0]["samples"] + len(answers)
    assert row["reward"] == pytest.approx(sum(scored) / len(scored))
    assert row["right"] == pytest.approx(np.mean([run.task.verify(*pair) for pair in answers])) != 0
    assert row["length"] == pytest.approx(sum(lengths) / len(lengths))
    ended = [
        bool((tokens[:n] == lm.END).any()) for tokens, n in zip(every.samples.tokens, lengths, strict=True)
    ]
    assert row["finished"] == pytest.approx(sum(ended) / len(ended)) and 0 < sum(ended) < len(ended)
    assert row["entropy"] == pytest.approx(entropy(start, every, lengths, temperature))
    groups = [
        {r for r, ok in zip(*g, strict=True) if ok} for g in zip(every.rewards, every.mask, strict=True)
    ]
    assert row["zero_std"] == pytest.approx(np.mean([len(group) < 2 for group in groups]))
    d = (torch.cat(logs) - torch.cat(refs)).tolist()
    assert row["kl_ref"] == pytest.approx(sum(k("k3", x) for x in d) / len(d)) and row["kl_ref"] > 1e-6
    step = Step(run, start, value, reference)
    given = sum(step.weights, []) if name == "ppo" else step.weights
    assert row["advantage_mean"] == pytest.approx(np.mean(given), abs=1e-9)
    assert row["advantage_std"] == pytest.approx(np.std(given))
    assert row["grad_norm"] == pytest.approx(float(step.gradient(start, value).norm()))
    assert [run.column(c) for c in ("step", "reward")] == [[0, 1], [run.rows[0]["reward"], row["reward"]]]


def entropy(policy, every, lengths, temperature):
    total = 0.0
    for i, (tokens, n) in enumerate(zip(every.samples.tokens, lengths, strict=True)):
        text = torch.cat([every.prompts[i // 3], tokens[:n]])[None]
        p = (policy(text)[0, 7:-1].detach() / temperature).softmax(-1)
        total -= float((p * p.log()).sum())
    return total / sum(lengths)


def test_seconds_add_up():
    run = trainer()
    seconds = [row["seconds"] for row in run]
    assert seconds == sorted(set(seconds)) and seconds[0] > 0 and run.seconds == seconds[-1]
    assert math.isnan(run.rows[0]["kl_ref"])
