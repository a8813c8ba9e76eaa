"""The race: `make peers-bench`. Hugging Face's generate() and TRL's GRPO step beside ours, same weights, same work.

Both take turns in one process, so that a busy machine slows both. Both draw the same number of completions of the
same prompts at temperature 1, from the whole distribution. A GRPO step is all of it: completions, verdicts,
advantages, as many updates as the settings say; timed are the steps 5 to 24 of a run. Prompts lie ready on both
sides. TRL runs without logging, saving and progress bars, and once more with the setting that costs it most and
is on by default: activation checkpointing.

What is skipped here and not there: a prompt is read once for its group, completions that are alike so far are
drawn from once, and rows that add nothing to the gradient are not read. The distribution and the gradient are
the same; ``same_odds`` and ``peers.parity`` look.

    python tools/bench_peers.py --record      also writes the table into data/measured/peers.json
"""

import argparse
import statistics
import time
from datetime import date

import numpy as np
import torch
from timing import seconds

from pglab import lm, peers, sampling, tasks, training
from pglab.lm.devices import words
from pglab.peers import results
from pglab.peers.parity import trainer as trl_trainer

AIMS = {"sampling": (3, 5), "GRPO step": (4, 10)}
TASKS = ("addition", "countdown")
TURNS, DRAWS, STEPS, WARM = 5, 7, 20, 4


def main(arguments=None):
    """Prints the table, and records it if asked to."""
    this = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    this.add_argument("--record", action="store_true", help="write the table into data/measured/peers.json")
    this.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    options = this.parse_args(arguments)
    peers.need()
    rows = []
    for threads in options.threads:
        torch.set_num_threads(threads)
        for task in TASKS:
            for row in (*sampling_race(task), *step_race(task)):
                rows.append({"task": task, "threads": threads} | row)
                print(line(rows[-1]), flush=True)
    if options.record:
        about = {
            "device": words(torch.device("cpu")),
            "date": date.today().isoformat(),
            "versions": results.versions(),
        }
        results.note("race", about | {"rows": rows})


def line(row):
    """One row in words."""
    least, aim = AIMS[row["what"]]
    verdict = (
        ""
        if row["note"]
        else f"; at least {least}, aim {aim}: {'met' if row['ratio'] >= least else 'MISSED'}"
    )
    return (
        f"{row['task']:10} {row['threads']} thread(s)  {row['what']:10} ours {1000 * row['ours']:7.1f} ms, theirs "
        f"{1000 * row['theirs']:7.1f} ms, {row['ratio']:5.1f} times{verdict}{row['note'] and '  (' + row['note'] + ')'}"
    )


def compared(what, ours, theirs, note=""):
    """Seconds of turns taken one after the other, and the median of their quotients."""
    ratio = statistics.median(b / a for a, b in zip(ours, theirs, strict=True))
    found = {"ours": statistics.median(ours), "theirs": statistics.median(theirs), "ratio": ratio}
    return {"what": what, "note": note} | {name: float(f"{value:.4g}") for name, value in found.items()}


def sampling_race(name):
    """The completions of one step, drawn by both."""
    settings, task = training.plan(name), tasks.named(name)
    model = lm.load(name, "cpu")
    asked = task.prompts(settings.prompts, np.random.default_rng(0))
    with trl_trainer(settings, task, model) as theirs:
        network = theirs.model.eval()
        batch = theirs.processing_class(asked, return_tensors="pt")
        tokens, group = settings.longest(task), settings.group_size

        def ours():
            return sampling.sample(model, batch.input_ids, group, tokens).texts()

        @torch.inference_mode()
        def generate(**more):
            drawn = network.generate(
                **batch, num_return_sequences=group, max_new_tokens=tokens, do_sample=True, top_k=0, **more
            )
            return theirs.processing_class.batch_decode(
                drawn[:, batch.input_ids.shape[1] :], skip_special_tokens=True
            )

        same_odds(task, asked, ours, generate)
        for cache, note in ((None, ""), ("static", "their static cache")):
            more = {} if cache is None else {"cache_implementation": cache, "disable_compile": True}
            generate(**more)
            turns = [
                (seconds(ours, DRAWS), seconds(lambda m=more: generate(**m), DRAWS)) for _ in range(TURNS)
            ]
            yield compared("sampling", *zip(*turns, strict=True), note)


def same_odds(task, asked, *draws):
    """Both are right equally often, and as long: a race against another distribution would be no race."""
    found = []
    for draw in draws:
        answers = [(i, answer) for texts in (draw() for _ in range(8)) for i, answer in enumerate(texts)]
        group = (max(i for i, _ in answers) + 1) // len(asked)
        seen = [(task.verify(asked[i // group], answer), len(answer)) for i, answer in answers]
        found.append((np.mean(seen, 0), np.std(seen, 0) / len(seen) ** 0.5))
    (ours, error), (theirs, _) = found
    if (abs(ours - theirs) > 6 * error).any():
        raise ValueError(
            f"the samplers are right in {ours[0]:.3f} and {theirs[0]:.3f} of all draws, with {ours[1]:.2f} and "
            f"{theirs[1]:.2f} tokens; they must agree."
        )


def step_race(name):
    """Whole steps of both, from the same checkpoint."""
    settings, task = training.plan(name), tasks.named(name)
    task.prompts(10_000, np.random.default_rng(0))  # Countdown remembers what it has counted once
    for more, words_of_it in (
        ({}, ""),
        ({"activation_checkpointing": True}, "their default, activation checkpointing"),
    ):
        turns = []
        for _ in range((TURNS + 1) // 2):
            turns.append((our_step(settings), their_step(settings, task, more)))
        yield compared("GRPO step", *zip(*turns, strict=True), words_of_it)


def our_step(settings):
    run = training.Trainer(settings)
    for _ in range(WARM):
        run.advance()
    return seconds(run.advance, STEPS)


def their_step(settings, task, more):
    """Median seconds from one batch to the next, after some to warm up."""
    from transformers import PrinterCallback, TrainerCallback

    marks = []

    class Clock(TrainerCallback):
        def on_step_end(self, args, state, control, **_):
            if state.global_step % settings.epochs == 0:
                marks.append(time.perf_counter())

    model = lm.load(settings.task, "cpu")
    steps = (WARM + STEPS) * settings.epochs
    with trl_trainer(settings, task, model, max_steps=steps, logging_steps=10**6, **more) as theirs:
        theirs.remove_callback(PrinterCallback)
        theirs.add_callback(Clock())
        theirs.train()
    return statistics.median(np.diff(marks)[WARM - 1 :])


if __name__ == "__main__":
    main()
