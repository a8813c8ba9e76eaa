"""Record the hand-over for readers without the extra: `.venv/bin/python tools/record_peers.py`, about two minutes.

Writes the parts "parity" (gradients of both libraries on one batch) and "trl" (examples/trl_grpo.py in one and in two
processes) of data/measured/peers.json. The part "race" is `make peers-bench ARGS=--record`.
"""

import json
import os
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

import torch

from pglab import algorithms, lm, peers, training
from pglab.lm.devices import words
from pglab.peers import results

ROOT = lm.DATA.parent
SCRIPT = ROOT / "examples" / "trl_grpo.py"
TWICE = {"epochs": 2}  # the second update on a batch, after the weights have moved: ratios are not 1
# Name: algorithm, settings, how far the weights move.
EQUAL = {
    "GRPO": ("grpo", {}, 0.0),
    "GRPO, second update": ("grpo", TWICE, 0.03),
    "GRPO at temperature 0.7": ("grpo", {"temperature": 0.7}, 0.0),
    "GRPO with k3 in the loss": (algorithms.named("grpo", kl=0.1), TWICE, 0.03),
    "Dr. GRPO": ("dr_grpo", TWICE, 0.03),
    "token mean (DAPO's loss)": ("grpo_token_mean", TWICE, 0.03),
    "clip-higher": ("grpo_clip_higher", TWICE, 0.03),
    "GSPO, wider bounds": (algorithms.named("gspo", clip=(0.03, 0.04)), TWICE, 0.03),
    "CISPO": ("cispo", TWICE, 0.03),
    "token mean with a dual clip": (algorithms.named("grpo_token_mean", dual_clip=3.0), TWICE, 0.05),
}
# One setting of TRL in place of the one that makes them equal.
OFF = {
    "scale_rewards": ("grpo", {}, 0.0, {"scale_rewards": "none"}),
    "scale_rewards (batch)": ("grpo", {}, 0.0, {"scale_rewards": "batch"}),
    "loss_type": ("grpo", {}, 0.0, {"loss_type": "dapo"}),
    "use_bias_correction_kl": (
        algorithms.named("grpo", kl=0.1),
        TWICE,
        0.03,
        {"use_bias_correction_kl": True},
    ),
    "epsilon_high": ("grpo_clip_higher", TWICE, 0.03, {"epsilon_high": 0.2}),
    "epsilon_high of cispo": ("cispo", TWICE, 0.03, {"epsilon_high": 0.28}),
    "max_completion_length": ("dr_grpo", {}, 0.0, {"max_completion_length": 16}),
}


def main():
    peers.need()
    torch.set_num_threads(1)
    about = {
        "device": words(torch.device("cpu")),
        "date": date.today().isoformat(),
        "versions": results.versions(),
    }
    equal = [{"name": name} | row(*case) for name, case in EQUAL.items()]
    off = [{"name": name, "changes": case[3]} | row(*case) for name, case in OFF.items()]
    results.note("parity", about | {"task": "countdown", "prompts": 8, "equal": equal, "off": off})
    runs = [run(processes) for processes in (1, 2)]
    results.note("trl", about | {"runs": runs})


def row(algorithm, settings, moved, changes=None):
    """What ``peers.parity`` finds."""
    plan = training.plan("countdown", algorithm, **({"prompts": 8, "epochs": 1} | settings))
    found = peers.parity(plan, moved=moved, seed=1, **(changes or {}))._asdict()
    print(
        algorithm if isinstance(algorithm, str) else algorithm.name,
        changes or "",
        f"{found['difference']:.1e}",
    )
    return {key: float(f"{v:.3g}") if isinstance(v, float) else v for key, v in found.items()}


def run(processes):
    """The example, as a reader starts it."""
    start = [sys.executable, str(SCRIPT)]
    if processes > 1:
        start = [
            sys.executable,
            "-m",
            "accelerate.commands.launch",
            "--multi_gpu",
            "--num_processes",
            "2",
            str(SCRIPT),
        ]
    with tempfile.TemporaryDirectory() as folder:
        options = ["--out", folder, *(["--cpu"] if not torch.cuda.is_available() else [])]
        there = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        subprocess.run([*start, *options], check=True, capture_output=True, env=there)
        found = json.loads(Path(folder, "result.json").read_text())
    print(found["processes"], "processes:", found["before"], found["after"], f"{found['seconds']:.0f} s")
    found["curve"] = [[int(step), round(reward, 4)] for step, reward in found["curve"]]
    for name in ("before", "after"):
        found[name] = [round(value, 4) for value in found[name]]
    return found | {"seconds": round(found["seconds"], 1)}


if __name__ == "__main__":
    main()
