"""Record where the seconds of a step go: `.venv/bin/python tools/times.py`, about a minute, one thread.

Writes data/measured/times.json, which notebook 11 reads: generation, verdicts and training of the small model, by
task, size of the group and number of updates.
"""

import json
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


def main():
    torch.set_num_threads(1)
    rows = []
    for name, group, epochs in CASES:
        settings = training.plan(name, group_size=group, epochs=epochs)
        seconds = {part: float(f"{value:.3g}") for part, value in measured.times(settings).items()}
        rows.append({"task": name, "group_size": group, "epochs": epochs} | seconds)
        rows[-1]["answer"] = settings.longest(tasks.named(name))
        print(rows[-1])
    about = {"device": words(torch.device("cpu")), "threads": 1, "torch": str(torch.__version__)}
    about |= {"date": date.today().isoformat(), "prompts": 32, "rows": rows}
    _files.write_whole({scaling.measured.TIMES: (json.dumps(about, indent=1) + "\n").encode()})


if __name__ == "__main__":
    main()
