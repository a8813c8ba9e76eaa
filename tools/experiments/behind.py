"""Completions of a policy some steps behind (P2)."""

from experiments.variant import Variant
from pglab.training import plan

CORRECTED = {
    "none": ("taken as they come, ratios from 1", "none", None),
    "clip": ("the clip's ratio is that to the policy that drew them", "clip", None),
    "token": ("each token's advantage times its ratio, at most 2", "token", 2.0),
    "sequence": ("each completion's advantages times its ratio, at most 2", "sequence", 2.0),
    "sequence without cap": ("each completion's advantages times its ratio", "sequence", None),
}
BEHIND = {
    1e-3: {
        "none": (0, 1, 2, 4, 8, 16),
        "sequence": (1, 2, 4, 8, 16),
        "sequence without cap": (4, 16),
        "clip": (1, 4, 16),
        "token": (1, 4, 16),
    },
    2e-4: {"none": (0, 4, 16), "sequence": (4, 16), "clip": (4,)},
}


def stale():
    """The same samples and updates for all: what differs is who drew, and what is done about it."""
    found = {}
    for rate, corrections in BEHIND.items():
        settings = plan("addition", learning_rate=rate)
        at = tuple(step * settings.prompts * settings.group_size for step in (0, 5, 10, 15, 20, 30, 40))
        for name, every in corrections.items():
            words, correction, cap = CORRECTED[name]
            for behind in every:
                says = f"drawn {behind} steps before, {words}; learning rate {rate:g}"
                label = f"{name} {behind} {rate:g}"
                found[label] = Variant(says, settings, at, stale=(behind, correction, cap))
    return found
