"""One hundred small cases with right values, each of them computed here."""

import json
from pathlib import Path

import cases_exact
import cases_losses
import cases_oracle
import numpy as np
import pytest

from pglab import advantages, bandit, groups, tasks

CASES = json.loads(Path(__file__).with_name("cases.json").read_text(encoding="utf-8"))
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


def traces_of_groups(logits, rewards):
    """Leave-one-out at three sizes, beside as many samples without a baseline, or with the mean reward."""
    mean = bandit.expected_reward(logits, rewards)
    leave_one_out = {f"rloo_G{n}": groups.rloo_covariance_trace(logits, rewards, n) for n in (2, 3, 4)}
    none = {
        f"none_{n}samples": np.trace(groups.moments(logits, rewards, advantages.constant, n)[1])
        for n in (2, 3)
    }
    with_mean = groups.moments(logits, rewards, lambda r: advantages.constant(r, mean), 4)[1]
    return leave_one_out | none | {"bJ_4samples": np.trace(with_mean)}


def mean_of_estimate(advantage):
    return lambda logits, rewards, G: groups.moments(logits, rewards, advantage, G)[0]


def grpo_against_the_gradient(logits, rewards, G, ddof, eps, zero_std="A=0"):
    assert zero_std == "A=0"
    mean, _ = groups.moments(logits, rewards, lambda r: advantages.grpo(r, eps, ddof), G)
    true = bandit.exact_gradient(logits, rewards)
    cosine = mean @ true / np.linalg.norm(mean) / np.linalg.norm(true)
    return {"E": mean, "true": true, "ratio_to_true": mean @ true / (true @ true), "cosine": cosine}


def only(*keys):
    return lambda **inputs: {key: grpo_against_the_gradient(**inputs)[key] for key in keys}


def six_prompts(advantage, size=8):
    """Mean derivative by the one logit theta that six prompts share, at theta = 0: one prompt has the
    logits [theta, 0], five have [c - theta, 0], and the first of two answers is right. The chain rule
    brings +1 and -1; c = log 19 makes the five succeed with probability 0.95."""
    up = groups.moments([0.0, 0.0], [1, 0], advantage, size)[0][0]
    down = groups.moments([np.log(19), 0.0], [1, 0], advantage, size)[0][0]
    return (up - 5 * down) / 6


def sign_flip(desc):
    assert "5 prompts with success prob sigmoid(c-theta)=0.95; G=8; ddof=1; eps=0" in desc
    return {
        "true": six_prompts(advantages.constant),
        "grpo": six_prompts(lambda r: advantages.grpo(r, eps=0)),
        "group_mean_only": six_prompts(advantages.batch_mean),
    }


def sign_with_batch_constant(desc):
    assert "mean-centred per group then divided by ONE batch constant" in desc
    spread = np.sqrt((0.5 * 0.5 + 5 * 0.95 * 0.05) / 6)  # any positive number does
    return {"sign": np.sign(six_prompts(lambda r: advantages.batch_mean(r) / spread))}


def largest_for_each_eps(rewards, dtype, eps):
    return [np.abs(advantages.grpo(np.array(rewards, dtype), e)).max() for e in eps]


def group_of_one(rewards, G):
    assert len(rewards) == G == 1
    for function in (advantages.leave_one_out, advantages.grpo, advantages.leave_one_out_std):
        with pytest.raises(ValueError, match="G at least 2"):
            function(rewards)
    return "raises ValueError"


def whitened(adv, mask, ddof, eps_in_sqrt):
    return advantages.whiten(adv, eps_in_sqrt, ddof, mask)


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
    "adv-01-grpo-ddof1": advantages.grpo,
    "adv-03-eps-TRL-1e-4": advantages.grpo,
    "adv-03-eps-drgrpo-1e-8": advantages.grpo,
    "adv-04-rloo": advantages.leave_one_out,
    "adv-06-allequal": advantages.grpo,
    "adv-07-allequal-float32-trap": largest_for_each_eps,
    "adv-08-G1": group_of_one,
    "adv-12-maxrl": lambda rewards, rule: advantages.max_rl(rewards),
    "adv-15-whiten": whitened,
    "adv-16-prob-zero-std": lambda q, G: groups.zero_variance_probability(q, G),
    "adv-17-loo-std": lambda rewards, rule, eps: advantages.leave_one_out_std(rewards, eps),
    "group-01-selfmean-G2": mean_of_estimate(advantages.batch_mean),
    "group-02-rloo-G2": mean_of_estimate(advantages.leave_one_out),
    "group-02-rloo-G3": mean_of_estimate(advantages.leave_one_out),
    "group-03-rloo-variance": traces_of_groups,
    "group-04-grpo-std-G2-ddof0": only("E", "ratio_to_true", "cosine"),
    "group-04-grpo-std-G4-ddof0": only("E", "ratio_to_true", "cosine"),
    "group-04-grpo-std-G4-ddof1": only("E", "ratio_to_true", "cosine"),
    "group-04-grpo-std-G8-ddof0": only("E", "ratio_to_true", "cosine"),
    "group-04-grpo-std-G8-ddof1": only("E", "ratio_to_true", "cosine"),
    "group-05-grpo-nonbinary-G4": only("E", "true", "cosine"),
    "group-06-multi-prompt-sign-flip": sign_flip,
    "group-07-batch-std-no-flip": sign_with_batch_constant,
    "ver-01-countdown": lambda items, rule: [tasks.check_expression(*item) for item in items],
    "ver-03-int-truncation": lambda expr, target: tasks.check_expression(expr, target=target),
    **cases_exact.COMPUTED,
    **cases_losses.COMPUTED,
    **cases_oracle.COMPUTED,
}


# ---- The comparison


def differences(value, expected, tolerance, where="value"):
    """What is wrong, in words; nothing if all is right. Wrong keys and shapes are wrong too."""
    if isinstance(expected, dict) and expected.keys() == {"one_of"}:  # words, such as "raises ValueError"
        return (
            [] if value in expected["one_of"] else [f"{where}: {value!r} should be in {expected['one_of']}"]
        )
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


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case(case):
    value = COMPUTED[case["id"]](**case["inputs"])
    assert not differences(value, case["expected"], case["tol"]), case.get("note", "")


def test_every_case_is_computed():
    ids = [case["id"] for case in CASES]
    assert len(ids) == len(set(ids)) == 100 and set(ids) == set(COMPUTED)


def test_the_comparison_notices():
    assert not differences([1.0, np.nan], [1.0, "nan"], 0)
    assert not differences({"a": 2.0 + 1e-9}, {"a": 2.0}, 0)
    assert differences([1.0 + 1e-6], [1.0], 1e-7)
    assert differences([1.0, 1.0], [1.0], 1)  # never broadcast
    assert differences(1.0, [1.0], 1)
    assert differences({"a": 1.0, "b": 1.0}, {"a": 1.0}, 1)
    assert differences(1.0, {"a": 1.0}, 1)
    assert differences(-np.inf, "inf", 1)
    assert differences("returns 0", {"one_of": ["raises ValueError"]}, 1)
