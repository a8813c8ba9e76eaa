"""A run that can be stopped at any moment and gone on with: what pretraining and post-training share."""

import copy
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import torch
from tqdm.auto import tqdm

from pglab import lm
from pglab.lm.devices import words
from pglab.training import state
from pglab.training.workers import ALONE, WorkerLost, undisturbed

KEEP = 20.0  # seconds between two states on disk


class Interrupted(KeyboardInterrupt):
    """Stopped by Ctrl-C; the message says what is kept."""


class Unfinished:
    """A model on its way, with the copy of it that an interrupt leaves behind.

    A subclass makes ``model`` and ``optimisers``, calls ``go_on``, and has ``several``: some steps, which
    returns how many it took, and ``postfix``: what stands behind the bar.

    Args:
      settings: Pretraining or PostTraining.
      device: torch.device.
      kept: path of the unfinished run; None keeps nothing.
      progress: whether a bar is shown.
      workers: the processes that share the run; the first one speaks, and writes, for all.
    """

    def __init__(self, settings, device, kept=None, progress=True, workers=ALONE):
        self.settings, self.device, self.kept, self.workers = settings, device, kept, workers
        self.progress = progress and workers.first
        self.step, self.rows, self.seconds, self.good = 0, [], 0.0, None

    @property
    def marks(self):
        """What must be the same to go on with a state, beside the settings."""
        return {
            "device": words(self.device),
            "threads": torch.get_num_threads(),
            "torch": str(torch.__version__),
            "workers": self.workers.count,
        }

    def go_on(self):
        """Takes up the unfinished run, if one lies there.

        Raises:
          ValueError: a run of other settings lies there.
        """
        found = self.workers.told(self._found() if self.workers.first else None)
        if found is None:
            return self.remember()
        different = self._different(found)
        if different:
            raise ValueError(
                f"{self.kept.name} is an unfinished run with {different}. "
                "Go on with it as it was started, or forget it with --fresh (from Python: delete the file)."
            )
        self.model.load_state_dict(found["model"])
        for optimiser, saved in zip(self.optimisers, found["optimisers"], strict=True):
            optimiser.load_state_dict(saved)
        self.step, self.rows, self.seconds = found["step"], found["rows"], found["seconds"]
        self.say(f"Going on from step {self.step:,} of {self.settings.total:,}.")
        self.remember()

    def _found(self):
        try:
            return None if self.kept is None else state.read(self.kept)
        except ValueError as error:
            self.say(f"{error} Starting afresh.")

    def _different(self, found):
        marks, mine = found["marks"], self.marks
        marks = {"workers": 1} | marks  # runs of earlier days had no others
        others = [
            f"{name} {marks.get(name)}, not {mine[name]}" for name in mine if marks.get(name) != mine[name]
        ]
        return ", ".join(filter(None, [self.settings.differences(found["settings"]), *others]))

    def say(self, sentence):
        if self.workers.first:
            tqdm.write(sentence)

    def remember(self):
        """Holds a copy of the run as it is now: an interrupt in the middle of a step must not be kept."""
        self.good = {
            "settings": self.settings.as_dict(),
            "marks": self.marks,
            "step": self.step,
            "rows": list(self.rows),
            "seconds": self.seconds,
            "model": copy.deepcopy(self.model.state_dict()),
            "optimisers": copy.deepcopy([optimiser.state_dict() for optimiser in self.optimisers]),
        }

    def write(self):
        """Writes what is remembered to disk, and says in words what lies there now."""
        if self.kept is None:
            return "Nothing is kept."
        state.write(self.kept, self.good)
        return f"It is kept in {self.kept.name}: the same command goes on from there."

    def finish(self):
        """Runs all steps that are left."""
        written = time.perf_counter()
        with tqdm(
            total=self.settings.total,
            initial=self.step,
            disable=not self.progress,
            desc=self.settings.task,
            unit="step",
        ) as bar:
            while self.step < self.settings.total:
                bar.update(self.several())
                bar.set_postfix(self.postfix(), refresh=False)
                self.remember()
                if time.perf_counter() - written > KEEP and self.step < self.settings.total:
                    if self.workers.first:
                        self.write()
                    written = time.perf_counter()


@contextmanager
def held(run):
    """Whatever stops a run, what has been done is kept.

    Args:
      run: Unfinished.

    Raises:
      Interrupted: in place of Ctrl-C; it says what is kept.
      WorkerLost: another worker has gone; it says what is kept. Whoever is left writes it: all have the same.
      OSError: as it came. What has no room for the weights may have it for the state.
    """
    try:
        yield
    except KeyboardInterrupt:
        undisturbed()
        raise Interrupted(f"Stopped at step {run.good['step']:,}. {run.write()}") from None
    except WorkerLost as lost:
        raise WorkerLost(f"{lost} Stopped at step {run.good['step']:,}. {run.write()}") from lost
    except OSError:
        with suppress(OSError):
            run.write()
        raise


def places(path, kept):
    """Where the weights and the unfinished run go: both tried, or None."""
    if path is None:
        return None, None
    path = lm.files.weights_path(path)
    kept = state.place(path) if kept is None else Path(kept)
    for file in (path, path.with_suffix(".json"), kept):
        state.check_folder(file)
    return path, kept


@contextmanager
def with_threads(number):
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)
