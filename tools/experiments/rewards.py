"""What is paid for: right answers (G8, G5), steps (G7), a verifier with a hole (G6)."""

from experiments.variant import Variant, points
from pglab.training import plan


def running_sum():
    settings = plan("running_sum", steps=20)
    return {"grpo": Variant("paid for right answers only", settings, points(settings, 20))}


def process():
    """At temperature 1 all three learn alike; drawn hot, a worked answer is seldom right to its last digit."""
    words = {
        "outcome": "1 for a right answer",
        "process": "the share of right steps, one number for all tokens",
        "steps": "the same, each token paid for its own step",
    }
    found = {}
    for task in ("running_sum", "addition"):
        for reward, says in words.items():
            settings = plan(task, "dr_grpo", reward=reward, epochs=1, steps=40, temperature=2.0)
            found[f"{task} {reward}"] = Variant(says, settings, points(settings, 20))
    return found


def verifier():
    words = {
        "lax": "paid if the right digit occurs anywhere",
        "strict": "paid for a right answer, all else alike",
        "lax, temperature 1": "paid if the right digit occurs anywhere; fewer slips to be paid for",
    }
    found = {}
    for name, says in words.items():
        temperature = 1.0 if name.endswith("1") else 1.5
        settings = plan("running_sum", steps=40, room=6, temperature=temperature)
        reward = "verify_lax" if name.startswith("lax") else ""
        found[name] = Variant(says, settings, points(settings, 20), reward)
    return found


def countdown(task, number):
    settings = plan(task)
    return {"grpo": Variant("the plan of the task", settings, points(settings, number))}
