"""One knob at a time around the default (G9)."""

from dataclasses import replace

from experiments.variant import Variant, points
from pglab.algorithms import named
from pglab.training import plan

RATES = (1e-5, 1e-4, 3e-4, 1e-3, 2e-3, 3e-3, 1e-2)
GROUPS = (2, 4, 8, 16, 32, 64, 128)
EPOCHS = (1, 2, 4, 8, 16)
KLS = (0.0, 1e-3, 1e-2, 0.1, 1.0)


def turned():
    """Every stop of every knob. The default stands at one stop of each; it is run once for each knob."""
    for rate in RATES:
        yield "learning_rate", rate, plan("addition", learning_rate=rate)
    for size in GROUPS:
        yield "group_size", size, plan("addition", group_size=size, prompts=256 // size)
    for epochs in EPOCHS:
        yield "epochs", epochs, plan("addition", epochs=epochs)
    for epochs in EPOCHS:
        yield "epochs_without_clip", epochs, plan("addition", named("grpo", clip=None), epochs=epochs)
    for kl in KLS:
        yield "kl", kl, plan("addition", named("grpo", kl=kl))


def knobs():
    words = {
        "learning_rate": "of Adam",
        "group_size": "completions a prompt, 256 / group_size prompts a step",
        "epochs": "updates on each batch, with clip 0.2",
        "epochs_without_clip": "updates on each batch, the ratio not clipped",
        "kl": "beta, a KL to the model before training in the loss",
    }
    found = {}
    for knob, value, settings in turned():
        settings = replace(settings, steps=40)
        more = {"knob": knob, "value": value}
        found[f"{knob} {value:g}"] = Variant(words[knob], settings, points(settings, 20), more=more)
    return found
