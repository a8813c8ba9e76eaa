"""Which algorithm, and which part of it: G3 on one task, Z3 and Z11 on two."""

from dataclasses import replace

from experiments.variant import Variant, points
from pglab.algorithms import named
from pglab.training import plan

COMPARED = {
    "reinforce {0,1}": ("rewards {0, 1}, no baseline", named("reinforce")),
    "reinforce {-1,0}": ("rewards {-1, 0}: a baseline of 1", named("reinforce", baseline=1.0)),
    "reinforce {1,2}": ("rewards {1, 2}: a baseline of -1", named("reinforce", baseline=-1.0)),
    "batch_mean": ("the mean of the group as baseline, each reward in its own", named("batch_mean")),
    "rloo": ("the mean of the group's others as baseline", named("rloo")),
    "grpo": ("group mean and deviation, mean over each answer's tokens", named("grpo")),
    "dr_grpo": ("group mean, a constant denominator", named("dr_grpo")),
    "ppo lam 1": ("a scalar head as critic, GAE with lambda 1", named("ppo", lam=1.0)),
    "ppo lam 0.95": ("a scalar head as critic, GAE with lambda 0.95", named("ppo", lam=0.95)),
}


def compared(number, **changes):
    """No gradient is shortened: the losses differ in scale, and one length would bind some and not others."""
    found = {}
    for name, (words, algorithm) in COMPARED.items():
        settings = plan("addition", algorithm, epochs=1, grad_clip=0, **changes)
        found[name] = Variant(words, settings, points(settings, number))
    return found


PARTS = {
    "grpo": "clip 0.2, each answer's tokens averaged, every group taken, no penalty",
    "grpo_clip_higher": "its upper bound 1.28",
    "grpo_token_mean": "one mean over all tokens of the batch",
    "grpo_dynamic": "groups whose rewards are alike are drawn again, up to three rounds",
    "grpo_overlong": "answers longer than the longest right one pay for it",
    "dapo": "all four of these",
    "dr_grpo": "no deviation, a constant denominator",
    "gspo": "one ratio for an answer, clip 0.0003 and 0.0004",
    "cispo": "the weight is clipped, and no token's gradient is taken away; one mean over all tokens",
    "cispo_alone": "GRPO with this weight and nothing else changed",
}
CISPO_ALONE = named("grpo", variant="cispo", clip=(None, 0.28))
PLACES = (0, 1, 2, 3, 4, 6, 8, 10, 15, 20, 30, 40)  # steps at which it is looked at, close at first


def variants():
    """Addition with sixteen updates on a batch, so that clips bind; running sums whose verifier has a hole."""
    plans = {
        "addition": (dict(epochs=16), ""),
        "running_sum": (dict(steps=40, room=6, temperature=1.5), "verify_lax"),
    }
    found = {}
    for task, (changes, reward) in plans.items():
        for name, says in PARTS.items():
            algorithm = CISPO_ALONE if name == "cispo_alone" else named(name)
            settings = replace(plan(task, **changes), algorithm=algorithm)  # the same room for all
            at = tuple(step * settings.prompts * settings.group_size for step in PLACES)
            found[f"{task} {name}"] = Variant(says, settings, at, reward)
    return found
