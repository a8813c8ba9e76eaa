"""One hundred small cases with right values; each is computed here, or waits for a room not yet built."""

import json
from pathlib import Path

import numpy as np
import pytest

from pglab import bandit

CASES = json.loads(Path(__file__).with_name("cases.json").read_text(encoding="utf-8"))
PACKAGE = Path(bandit.__file__).parent
RELATIVE = 1e-9  # beside each case's own absolute tolerance


def numbers(value):
    """JSON has no infinity and no NaN: there they are the words "-inf" and "nan"."""
    return np.asarray(value, dtype=np.float64)


# ---- How each case is computed, from its inputs


def trace_with_baseline(logits, rewards, b):
    named = {"E[R]": bandit.expected_reward, "b*": bandit.optimal_baseline}
    baseline = named[b](logits, rewards) if b in named else float(b)
    return bandit.covariance_trace(logits, numbers(rewards) - baseline)


def best_for_each_coordinate(logits, rewards):
    best = bandit.optimal_baseline(logits, rewards, per_coordinate=True)
    trace = sum(bandit.gradient_covariance(logits, numbers(rewards) - b)[k, k] for k, b in enumerate(best))
    return {"b": best, "trace": trace}


def gradient_with_action_baseline(logits, rewards, b):
    """A baseline that depends on the action biases the gradient: b(a) = R(a) leaves nothing of it."""
    assert b == "R(a)"
    return bandit.exact_gradient(logits, numbers(rewards) - numbers(rewards))


def entropy_along_gradient(logits, rewards):
    gradient_of_entropy = bandit.exact_gradient(logits, -bandit.log_softmax(logits))
    along = gradient_of_entropy @ bandit.exact_gradient(logits, rewards)
    return {"H": bandit.entropy(logits), "dH_along_grad": along}


COMPUTED = {
    "bandit-01-probs": bandit.softmax,
    "bandit-02-J": bandit.expected_reward,
    "bandit-03-true-gradient": lambda logits, rewards: bandit.exact_gradient(logits, rewards),
    "bandit-05-trace-b0": trace_with_baseline,
    "bandit-06-trace-bEJ": trace_with_baseline,
    "bandit-07-bstar": bandit.optimal_baseline,
    "bandit-08-trace-bstar": trace_with_baseline,
    "bandit-09-percoord-bstar": best_for_each_coordinate,
    "bandit-10-fisher": lambda logits: bandit.gradient_covariance(logits, np.ones(len(logits))),
    "bandit-11-action-dependent-baseline": gradient_with_action_baseline,
    "bandit-15-entropy-rises": entropy_along_gradient,
    # A vocabulary is a bandit's set of actions; diagnostics.entropy must give the same number one day.
    "lp-04-neginf-vocab-entropy": lambda logits: bandit.entropy(numbers(logits)),
}

# The cases that wait, by the last of the rooms they need. When that room is built, they move above.
WAITING = {
    "groups": {
        "adv-16-prob-zero-std",
        "group-03-rloo-variance",
    },
    "mdp": {
        "psi-02-gamma-sign-flip",
        "psi-03-rtg-higher-variance",
    },
    "returns": {
        "gae-07-padding-value-junk",
        "gae-09-gamma1-lam1",
        "gae-lam0-truncated-bootstrap-4",
        "gae-lam0.5-terminal",
        "gae-lam1-truncated-bootstrap-4",
        "ret-01-rtg-gamma",
        "ret-02-rtg-with-gamma-t",
        "ret-04-process-reward",
    },
    "advantages": {
        "adv-01-grpo-ddof1",
        "adv-03-eps-TRL-1e-4",
        "adv-03-eps-drgrpo-1e-8",
        "adv-04-rloo",
        "adv-06-allequal",
        "adv-07-allequal-float32-trap",
        "adv-08-G1",
        "adv-12-maxrl",
        "adv-15-whiten",
        "adv-17-loo-std",
        "group-01-selfmean-G2",
        "group-02-rloo-G2",
        "group-02-rloo-G3",
        "group-04-grpo-std-G2-ddof0",
        "group-04-grpo-std-G4-ddof0",
        "group-04-grpo-std-G4-ddof1",
        "group-04-grpo-std-G8-ddof0",
        "group-04-grpo-std-G8-ddof1",
        "group-05-grpo-nonbinary-G4",
        "group-06-multi-prompt-sign-flip",
        "group-07-batch-std-no-flip",
    },
    "kl": {
        "kl-02-expectations",
        "kl-03-variances",
        "kl-05-same-policy",
        "kl-07-k1-as-loss",
        "kl-10-ratio-k3-as-loss",
        "kl-11-cos-k3",
        "kl-12-k1-in-reward",
        "kl-13-undetached-reward",
        "kl-14-large-diff",
        "kl-15-small-diff",
        "kl-18-mean-over-tokens-is-not-KL",
        "kl-20-k1-sum-in-loss",
    },
    "logprobs": {
        "lp-03-stability",
        "lp-08-bf16-ratio",
    },
    "losses": {
        "agg-06-weights",
        "agg-07-empty-row",
        "agg-08-all-empty",
        "agg-09-grad-accum",
        "agg-12-prompt-leak-seqmean",
        "agg-14-extreme-lengths",
        "agg-sum-norm",
        "agg-sum-over-T",
        "cispo-02-onpolicy",
        "clip-dual-free",
        "clip-dual-negreward",
        "clip-masked-neginf",
        "clip-nan-padding",
        "clip-neg-in",
        "clip-neg-lo",
        "clip-overflow-1000-A0",
        "clip-overflow-50-neg",
        "clip-pp-hi",
        "clip-pp-in",
        "clip-pp-lo",
        "gspo-02-loss",
        "gspo-03-clip-3e-4",
        "is-01-unbiasedness",
        "lp-07-single-token",
        "rloo-01-seq-ratio-clip",
        "tis-01-truncation-bias",
        "tis-03-seq-vs-token",
    },
    "tasks": {
        "dapo-01-overlong",
        "ver-01-countdown",
        "ver-03-int-truncation",
    },
    "oracle": {
        "len-01-tree-gradient",
        "len-02-seq-mean-token-sum",
        "len-02-token-mean",
        "tf-01-sum-to-one",
        "tf-03-gradient",
        "tf-05-truncation-mass",
        "tf-06-rloo-unbiased",
    },
    "diagnostics": {
        "dapo-02-dynamic-sampling",
        "ev-01-passk",
        "ev-04-passk-unbiased",
        "tis-05-ess",
    },
}  # fmt: skip


# ---- The comparison


def differences(value, expected, tolerance, where="value"):
    """What is wrong, in words; nothing if all is right. Wrong keys and shapes are wrong too."""
    if isinstance(expected, dict):
        if not isinstance(value, dict) or value.keys() != expected.keys():
            return [f"{where}: {value!r} should have the entries {sorted(expected)}"]
        return [
            d for key in expected for d in differences(value[key], expected[key], tolerance, f"{where}.{key}")
        ]
    value, wanted = numbers(value), numbers(expected)
    if value.shape != wanted.shape:
        return [f"{where}: shape {value.shape} should be {wanted.shape}"]
    right = np.isclose(value, wanted, rtol=RELATIVE, atol=tolerance, equal_nan=True)
    return [] if right.all() else [f"{where}: {value} should be {wanted}"]


@pytest.mark.parametrize("case", [c for c in CASES if c["id"] in COMPUTED], ids=lambda case: case["id"])
def test_case(case):
    value = COMPUTED[case["id"]](**case["inputs"])
    assert not differences(value, case["expected"], case["tol"]), case.get("note", "")


def test_every_case_is_computed_or_waits():
    ids = [case["id"] for case in CASES]
    waiting = [name for names in WAITING.values() for name in names]
    assert len(ids) == len(set(ids)) == 100
    assert len(waiting) == len(set(waiting)), "a case waits for two rooms"
    assert not set(waiting) & set(COMPUTED), "these cases are computed and wait as well"
    assert set(waiting) | set(COMPUTED) == set(ids)


@pytest.mark.parametrize("room", WAITING)
def test_no_case_waits_for_a_room_that_exists(room):
    built = PACKAGE.joinpath(f"{room}.py").exists() or PACKAGE.joinpath(room).is_dir()
    assert not built, f"pglab.{room} is there; now compute {sorted(WAITING[room])}"


def test_the_comparison_notices():
    assert not differences([1.0, np.nan], [1.0, "nan"], 0)
    assert not differences({"a": 2.0 + 1e-9}, {"a": 2.0}, 0)
    assert differences([1.0 + 1e-6], [1.0], 1e-7)
    assert differences([1.0, 1.0], [1.0], 1)  # never broadcast
    assert differences(1.0, [1.0], 1)
    assert differences({"a": 1.0, "b": 1.0}, {"a": 1.0}, 1)
    assert differences(1.0, {"a": 1.0}, 1)
    assert differences(-np.inf, "inf", 1)
