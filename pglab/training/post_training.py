"""Post-training: a model learns from rewards for its own completions, and becomes a checkpoint."""

import json
import math
from datetime import date
from pathlib import Path
from typing import NamedTuple

import torch

from pglab import _checks, lm
from pglab.lm.devices import words
from pglab.training import plans
from pglab.training import state as states
from pglab.training.evaluation import PROMPTS, Scores, evaluate
from pglab.training.pretraining import rounded
from pglab.training.trainer import Trainer, column, named
from pglab.training.unfinished import held, places, with_threads
from pglab.training.workers import ALONE


class PostTrained(NamedTuple):
    """What ``post_train`` gives."""

    model: lm.SmallLM  # numbers rounded to float16 if it was written, computing in float32
    card: dict  # where it comes from, and its scores
    scores: Scores | None  # None without an evaluation
    rows: list  # the panel: a dictionary for each step

    def column(self, name):
        """One column of the panel, a list with a number for each step; a ValueError for another name."""
        return column(self.rows, name)


def post_train(
    settings, path=None, device="auto", progress=True, state=None, *,
    threads=1, prompts=PROMPTS, reward=None, watch=None, workers=ALONE,
):  # fmt: skip
    """Trains a policy on rewards for its own completions.

        theta <- theta + Adam(grad),     grad = the gradient of ``settings.algorithm.loss`` on fresh completions

    An unfinished run of the same settings is gone on with, and ends in the same curve and the same
    weights, bit for bit on one machine, as one that was never stopped.

    Args:
      settings: PostTraining; ``plan`` has some that work.
      path: of the weights, ending in .safetensors. The card is written beside them, and the panel, one
        JSON line for each step, as .jsonl. None writes nothing and keeps no unfinished run.
      device: as ``lm.choose_device``.
      progress: whether a bar is shown.
      state: where the unfinished run is kept; None for a place beside the weights.
      threads: of torch on the CPU, for this call.
      prompts: of the evaluation at the end; 0 for none. See ``evaluate``.
      reward: function (prompt, completion) -> number, or None where it cannot be scored; in place of the
        reward that the settings name.
      watch: function of the ``Trainer``, called after every step.
      workers: the processes that share the work, as ``workers.joined`` gives them. The first one
        evaluates and writes.

    Returns:
      PostTrained; for workers that are not the first, without scores.

    Raises:
      ValueError: an unknown or missing device or checkpoint, a path with another ending, an unfinished
        run of other settings, a reward that is no finite number; workers that have come to different
        weights. The last good state is kept.
      WorkerLost: another worker has gone. The last good state is kept.
      OSError: the result cannot be written. The folder is tried before training starts; if the disk
        fills up later, the last good state is kept.
      Interrupted: Ctrl-C. The same call goes on.

    Source: Shao et al. 2024 (GRPO), algorithm 1, without its outer loop.
    """
    if prompts:
        prompts = _checks.whole("prompts", prompts, low=2)  # 0 is for none
    threads = _checks.whole("threads", threads, low=1)
    device = lm.choose_device(device)
    path, kept = places(path, state)
    if path is not None:
        states.check_folder(path.with_suffix(".jsonl"))
    with with_threads(threads):
        run = Watched(settings, device, kept, progress, reward=reward, workers=workers)
        run.watch = watch
        try:
            with held(run):
                run.finish()
                workers.agree(run.model)
                if not workers.first:
                    return PostTrained(run.policy, about(run, None), None, run.rows)
                result = _finished(run, path, prompts)
        except ValueError as error:
            raise ValueError(f"Step {run.good['step']:,}: {error} {_kept(run)}") from error
    if kept is not None:
        states.forget(kept)
    return result


def _kept(run):
    """What is kept of a run that cannot go on as it is."""
    if run.good["step"] == 0:
        return "No step was finished, so nothing is kept."
    return f"{run.write()} Mend the cause first; --fresh begins anew."


class Watched(Trainer):
    """A Trainer that shows itself after every step."""

    watch = None

    def several(self):
        taken = super().several()
        if self.watch is not None:
            self.watch(self)
        return taken


def _finished(run, path, prompts):
    """Evaluates and writes the model, as the file will hold it."""
    model = run.policy if path is None else rounded(run.policy)
    scores = evaluate(model, run.task, prompts, seed=run.settings.seed) if prompts else None
    card = about(run, scores)
    if path is not None:
        # JSON has no NaN and no infinity: what was not measured is null.
        rows = [{k: v if math.isfinite(v) else None for k, v in row.items()} for row in run.rows]
        lines = "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)
        curve = {path.with_suffix(".jsonl"): lines.encode()}
        card = lm.save(model, path, card, torch.float16, curve)
    return PostTrained(model, card, scores, run.rows)


def about(run, scores):
    """The card: everything needed to judge the weights and to make them again."""
    settings = run.settings
    return {
        "task": settings.task,
        "words": f"{settings.algorithm.name} on {settings.task}, from {Path(plans.start_of(settings)).name}",
        "settings": settings.as_dict(),
        "reward": settings.reward if run.reward is None else named(run.reward),
        "device": words(run.device),
        "threads": torch.get_num_threads(),
        "workers": run.workers.count,
        "torch": str(torch.__version__),
        "seconds": round(run.seconds, 1),
        "completions": run.rows[-1]["samples"],
        "date": date.today().isoformat(),
        **({} if scores is None else {name: round(value, 5) for name, value in scores._asdict().items()}),
    }
