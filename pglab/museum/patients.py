"""What a fault is, and a Trainer that has one."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from pglab import tasks
from pglab.training import PostTraining, Trainer
from pglab.training.trainer import check
from pglab.training.update import Update


@dataclass(frozen=True)
class Fault:
    """One thing that can be wrong with a run.

    Args:
      name: a word to ask for it by.
      words: what it is called.
      wrong: what is broken, in one sentence.
      look: where to look on the panel.
      fix: what has to change.
      settings: PostTraining of a run in which it shows.
      updates: the class of the sick updates.
      twin: the class of the healthy ones.
      changes: function of PostTraining -> PostTraining, for a fault that is a setting.
      collect: function of Rollouts -> Rollouts, for a fault that lies between sampler and learner.
      pays: function of a task -> function (prompt, completion) -> number, which pays both runs; None for
        the reward that the settings name.
      pays_wrongly: the same, for the sick run alone.
    """

    name: str
    words: str
    wrong: str
    look: str
    fix: str
    settings: PostTraining
    updates: type = Update
    twin: type = Update
    changes: Callable | None = None
    collect: Callable | None = None
    pays: Callable | None = None
    pays_wrongly: Callable | None = None


class Patient(Trainer):
    """A Trainer with a fault, or the twin of one."""

    fault = healthy = None

    def collect(self):
        rollouts = super().collect()
        return rollouts if self.healthy or self.fault.collect is None else self.fault.collect(rollouts)

    @property
    def marks(self):
        return super().marks | {"fault": f"{self.fault.name}{', healed' if self.healthy else ''}"}


def patient(fault, settings, device, healthy, options):
    """A Trainer with a fault, or its twin; see ``faults.trainer``."""
    settings = fault.settings if settings is None else settings
    check(settings, None, None, options.get("task"))
    task = options.get("task") or tasks.named(settings.task)
    pays = None if options.get("reward") is not None else fault.pays
    pays = pays if healthy else fault.pays_wrongly or pays
    if pays is not None:
        settings, options = replace(settings, reward="outcome"), options | {"reward": pays(task)}
    if fault.changes is not None and not healthy:
        settings = fault.changes(settings)
    body = {"updates": fault.twin if healthy else fault.updates, "fault": fault, "healthy": healthy}
    return type("Patient", (Patient,), body)(settings, device, **options)
