"""Make the recordings in data/recordings/ again: `make recordings`, or one: `make recordings ARGS=knobs`.

A run that is finished (one variant, one seed) is kept in .pglab/ until its recording is complete: after
Ctrl-C the same command goes on with the others. What is evaluated are fresh prompts, which training
may draw too where a task has few, at fixed numbers of samples; the time for that is not counted in `seconds`.
"""

import argparse
import json
import shutil
import sys
from datetime import date
from pathlib import Path

import numpy as np
import torch
from experiments import EXPERIMENTS
from tqdm.auto import tqdm

from pglab import _files, lm, recordings, sampling
from pglab._commands import outcome
from pglab.diagnostics import pass_at_k
from pglab.lm.devices import words
from pglab.training import plans, rollouts, state

KEPT = state.FOLDER / "recordings"
STOPPED = "\nStopped. Finished runs are kept in .pglab/; the same command goes on."
ROWS = 8_192  # completions drawn at once
PROMPTS_STREAM, SAMPLES_STREAM = 7, 8  # what one seed means here, apart from what it means in training


def main(arguments=None):
    """Makes the recordings that are named, or all."""
    parser = argparse.ArgumentParser(prog="tools/recordings.py", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(EXPERIMENTS)}; none for all")
    parser.add_argument("--device", default="cpu", help="auto, cpu, cuda, cuda:1, mps (default: %(default)s)")
    parser.add_argument("--fresh", action="store_true", help="forget the finished runs of a recording first")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in EXPERIMENTS]
    if unknown:
        print(f"There is no recording {unknown[0]!r}; there are {', '.join(EXPERIMENTS)}.", file=sys.stderr)
        return 2
    torch.set_num_threads(1)
    code, sentence = outcome(make_all, options, stopped=STOPPED)
    if sentence:
        print(sentence, file=sys.stderr)
    return code


def make_all(options):
    device = lm.choose_device(options.device)
    for name in options.names or EXPERIMENTS:
        if options.fresh:
            shutil.rmtree(KEPT / name, ignore_errors=True)
        for file in (KEPT / name / "run.json", Path(recordings.FOLDER, f"{name}.json")):
            state.check_folder(file, "Make room there, then give the same command again.")
        path = recordings.write(record(name, EXPERIMENTS[name], device))
        shutil.rmtree(KEPT / name, ignore_errors=True)
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
    return 0


def record(name, experiment, device, kept=KEPT, progress=True):
    """All runs of an experiment, those that are kept read from disk.

    Args:
      name: of the recording.
      experiment: experiments.Experiment.
      device: torch.device.
      kept: the folder of finished runs.
      progress: whether a bar is shown.

    Returns:
      recordings.Recording.
    """
    runs, folder = [], Path(kept, name)
    total = sum(variant.points[-1] for variant in experiment.variants.values()) * len(experiment.seeds)
    with tqdm(total=total, desc=name, unit=" samples", unit_scale=True, disable=not progress) as bar:
        for label, variant in experiment.variants.items():
            for seed in experiment.seeds:
                bar.set_postfix_str(f"{label}, seed {seed}", refresh=False)
                path = folder / f"{label.replace(' ', '-')}-{seed}.json"
                mark = mark_of(experiment, variant, seed, device)
                run = finished(path, mark)
                if run is None:
                    run = {"variant": label, "seed": seed} | run_once(experiment, variant, seed, device)
                    text = recordings.compact({"mark": mark, "run": run})
                    _files.write_whole({path: text.encode()})
                runs.append(run)
                bar.update(variant.points[-1])
    starts = sorted({plans.start_of(variant.settings) for variant in experiment.variants.values()})
    base, changes = shared([variant.settings.as_dict() for variant in experiment.variants.values()])
    variants = {
        label: variant.about() | {"samples": list(variant.points), "changes": change}
        for (label, variant), change in zip(experiment.variants.items(), changes, strict=True)
    }
    return recordings.Recording(
        name=name,
        words=experiment.words,
        command=f"python tools/recordings.py {name} --device {device}",
        device=words(device),
        threads=torch.get_num_threads(),
        torch=str(torch.__version__),
        date=date.today().isoformat(),
        seconds=round(sum(run["seconds"] for run in runs), 1),
        seeds=list(experiment.seeds),
        starts={start: lm.read_card(start)["sha256"] for start in starts},
        base=base,
        variants=variants,
        columns=experiment.columns(),
        runs=runs,
    )


def mark_of(experiment, variant, seed, device):
    """What a kept run must agree in, to be taken for this one."""
    return {
        "settings": variant.settings.as_dict() | {"seed": seed},
        "start": lm.read_card(plans.start_of(variant.settings))["sha256"],
        "measured": [*experiment.measured, *experiment.seen, variant.reward, list(variant.points)],
        "fault": [variant.fault, variant.healed],
        "stale": list(variant.stale),
        "held_out": [experiment.prompts, experiment.samples, experiment.keep],
        "machine": [words(device), torch.get_num_threads(), str(torch.__version__)],
    }


def finished(path, mark):
    """The run that is kept there; None where there is none, or another."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return found["run"] if found["mark"] == json.loads(json.dumps(mark)) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def run_once(experiment, variant, seed, device):
    """One run: its seconds, a list for each column, and the completions that are kept."""
    trainer = variant.trainer(seed, device)
    rows, kept, drawn, stopped = [], [], 0, None
    for point in variant.points:
        since = len(trainer.rows)
        try:
            while drawn < point:
                drawn = trainer.advance()["samples"]
        except ValueError as error:  # a gradient that is no number ends a run, and is a result
            stopped = str(error)
            break
        row, texts = held_out(trainer, experiment, seed) if experiment.measured else ({}, [])
        row |= {name: seen(trainer, name, since) for name in experiment.seen}
        rows.append(row)
        if point in (variant.points[0], variant.points[len(variant.points) // 4], variant.points[-1]):
            kept += [{"samples": drawn} | text for text in texts]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    columns = {name: fill(column, name, variant.points, experiment) for name, column in columns.items()}
    run = {"seconds": recordings.rounded(trainer.seconds)} | columns
    return run | ({"kept": kept} if kept else {}) | ({"stopped": stopped} if stopped else {})


def seen(trainer, name, since):
    """The mean of what training has reported since that step; NaN where it has not, or could not."""
    if name == "drawn_a_step":
        before = trainer.rows[since - 1]["samples"] if since else 0
        total = trainer.rows[-1]["samples"] - before if trainer.rows else 0
        return total / (len(trainer.rows) - since) if len(trainer.rows) > since else float("nan")
    column = trainer.column(name)[since:]
    return float(np.mean(column)) if column else float("nan")


def fill(column, name, points, experiment):
    """The column, rounded, as long as that of a run that was not stopped.

    Errors keep two digits, and so few as three do for a panel of many steps, where what is smaller
    than a millionth is rounding of the arithmetic.
    """
    digits = 2 if name.endswith("_error") else recordings.DIGITS
    if not experiment.measured:
        column, digits = [round(x, 6) for x in column], 3
    return recordings.rounded(column, digits) + [None] * (len(points) - len(column))


@torch.no_grad()
def held_out(trainer, experiment, seed):
    """What the policy does on fresh prompts, the same ones at every point and for every variant.

    Returns:
      a dictionary of columns, and a list of the completions to keep.
    """
    task, settings, policy, n = trainer.task, trainer.settings, trainer.policy, experiment.samples
    asked = task.prompts(experiment.prompts, np.random.default_rng([seed, PROMPTS_STREAM]))
    stream = int(np.random.default_rng([seed, SAMPLES_STREAM]).integers(2**62))
    generator = torch.Generator(policy.device).manual_seed(stream)
    size, texts, tokens, entropy = max(ROWS // n, 1), [], 0, 0.0
    for start in range(0, len(asked), size):
        drawn = sampling.sample(
            policy, asked[start : start + size], n, settings.longest(task), settings.temperature, generator
        )
        texts += drawn.texts()
        tokens, entropy = tokens + int(drawn.mask.sum()), entropy + float(drawn.entropies.double().sum())
    pairs = [(prompt, texts[i * n + j]) for i, prompt in enumerate(asked) for j in range(n)]
    right = np.reshape([task.verify(*pair) for pair in pairs], (-1, n))
    found = {"length": tokens / len(texts), "entropy": entropy / tokens}
    found["pass_at_1"], found["pass_at_1_error"] = mean(right.mean(1))
    many = np.array([pass_at_k(n, c, 64) for c in range(n + 1)]) if n >= 64 else np.zeros(n + 1)
    many = many[right.sum(1).astype(int)]  # (prompts,)
    found["pass_at_64"], found["pass_at_64_error"] = mean(many)
    if "drawn" in experiment.measured:
        new = ~np.isin(
            asked, [text for step in range(settings.steps) for text in rollouts.asked(task, settings, step)]
        )
        found["drawn"] = 1 - float(new.mean())
        found["pass_at_1_new"], found["pass_at_1_new_error"] = mean(right[new].mean(1))
        found["pass_at_64_new"], found["pass_at_64_new_error"] = mean(many[new])
    paid = right
    if "paid" in experiment.measured:
        paid = np.reshape([pays(trainer)(*pair) for pair in pairs], (-1, n))
        found["paid"], found["paid_error"] = mean(paid.mean(1))
    group = settings.group_size
    if "zero_std" in experiment.measured:
        # Of n completions, c right, a group of G without replacement: all right or all wrong.
        mixed = np.array([pass_at_k(n, c, group) + pass_at_k(n, n - c, group) - 1 for c in range(n + 1)])
        found["zero_std"] = 1 - float(mixed[right.sum(1).astype(int)].mean())
    if "worked" in experiment.measured:
        found["worked"] = float(np.mean([task.is_worked(text) for text in texts]))
    if "steps_right" in experiment.measured:
        found["steps_right"] = float(np.mean([sum(task.step_rewards(*pair)) for pair in pairs]))
    columns = {name: found[name] for name in experiment.measured}
    return columns, [
        {"prompt": pair[0], "completion": pair[1], "right": int(r), "paid": recordings.rounded(p)}
        for pair, r, p in list(zip(pairs, right.flat, paid.flat, strict=True))[: experiment.keep * n : n]
    ]


def pays(trainer):
    """What a completion is paid, as a function of prompt and completion."""
    task = trainer.task
    if trainer.reward is not None:
        return trainer.reward
    if trainer.settings.reward == "outcome":
        return task.verify
    return lambda prompt, completion: sum(task.step_rewards(prompt, completion))


def mean(column):
    """Mean over prompts, and its standard error."""
    return float(column.mean()), float(column.std(ddof=1) / np.sqrt(len(column)))


def shared(settings):
    """The settings of the first of some variants, without the seed, and what differs in each."""
    settings = [{name: value for name, value in one.items() if name != "seed"} for one in settings]
    base = settings[0]
    return base, [differing(one, base) for one in settings]


def differing(one, base):
    found = {name: value for name, value in one.items() if value != base[name]}
    if "algorithm" in found:
        found["algorithm"] = differing(one["algorithm"], base["algorithm"])
    return found


if __name__ == "__main__":
    sys.exit(main())
