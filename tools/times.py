"""Record where the seconds of a step go: `.venv/bin/python tools/times.py`, about two minutes, one thread.

    tools/times.py rows      the small models of the tasks alone
    tools/times.py shapes    untrained models of growing width alone

Writes data/measured/times.json, which notebook 11 reads: generation, verdicts and training of the small model, by
task, size of the group and number of updates; and drawing and learning of wider models, on which the reckoning of
`pglab.scaling` is checked.
"""

import json
import sys
from datetime import date

import torch

from pglab import _files, scaling, tasks, training
from pglab.lm.devices import words
from pglab.scaling import measured

# Task, completions of each prompt, updates on each batch; 32 prompts.
CASES = (
    ("addition", 2, 1), ("addition", 8, 1), ("addition", 32, 1), ("addition", 8, 2), ("addition", 8, 4),
    ("running_sum", 8, 1), ("countdown", 2, 1), ("countdown", 8, 1), ("countdown", 8, 2), ("countdown", 8, 4),
)  # fmt: skip
# Width, layers, prompts, completions of each.
SHAPES = (
    (48, 2, 32, 8), (48, 2, 1, 1), (128, 4, 32, 8), (128, 4, 1, 1), (256, 4, 32, 8), (256, 4, 1, 1), (512, 4, 16, 4),
    (512, 4, 4, 4), (512, 4, 1, 1), (1024, 4, 8, 4), (1024, 4, 4, 2), (1024, 4, 2, 1), (1024, 4, 1, 1),
)  # fmt: skip
PARTS = ("rows", "shapes")


def rows():
    """Seconds of the parts of a step of training, for each of ``CASES``."""
    for name, group, epochs in CASES:
        settings = training.plan(name, group_size=group, epochs=epochs)
        about = {"task": name, "group_size": group, "epochs": epochs, "prompts": settings.prompts}
        yield about | measured.times(settings) | {"answer": settings.longest(tasks.named(name))}


def shapes():
    """Seconds of drawing a batch and of one gradient of it, for each of ``SHAPES``."""
    for shape in SHAPES:
        yield scaling.time_shape(*shape)


def main(arguments):
    parts = arguments or PARTS
    if not set(parts) <= set(PARTS):
        sys.exit(f"unknown: {', '.join(set(parts) - set(PARTS))}; there is {' and '.join(PARTS)}.")
    torch.set_num_threads(1)
    about = {"device": words(torch.device("cpu")), "threads": 1, "torch": str(torch.__version__)}
    about["date"] = date.today().isoformat()
    whole = scaling.measured_times()
    for part in parts:
        whole[part], whole["recorded"][part] = [], about
        for row in {"rows": rows, "shapes": shapes}[part]():
            whole[part].append({k: float(f"{v:.3g}") if isinstance(v, float) else v for k, v in row.items()})
            print(whole[part][-1], flush=True)
    _files.write_whole({scaling.measured.TIMES: (json.dumps(whole, indent=1) + "\n").encode()})


if __name__ == "__main__":
    main(sys.argv[1:])
