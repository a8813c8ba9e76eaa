"""Settings of post-training, frozen, and the ones that work for each checkpoint in ``data/``."""

import math
from dataclasses import dataclass, fields, replace

from pglab import _checks, algorithms, lm, tasks

REWARDS = ("outcome", "process", "steps")
COLDEST = 0.01  # the least temperature: below it, what differs between completions is rounding


@dataclass(frozen=True)
class PostTraining:
    """Everything that decides what post-training gives, beside the machine it runs on.

    Args:
      task: name in ``tasks.TASKS``.
      algorithm: a name of ``algorithms.ALGORITHMS``, or an Algorithm of your own.
      start: name or path of the checkpoint to start from; "" for that of the task's name.
      seed: of the prompts and of the completions.
      prompts: B, of each step.
      group_size: G, completions of each prompt.
      steps: batches that are drawn.
      epochs: updates on each batch. From the second on the ratio is no longer 1.
      learning_rate: of Adam, its highest.
      warmup: steps on which it rises to that in a straight line.
      cool_down: share of the steps, at the end, on which it falls in a straight line towards 0; 0 keeps
        it, 1 lets it fall all the way (the schedule that TRL takes by default).
      micro_batches: into how many parts a batch is split for its gradient; with two or more, the
        noise of the gradient is measured. The gradient is the same.
      grad_clip: the longest a gradient may be before it is shortened; 0 for any length.
      temperature: of the policy that is sampled from and trained.
      reward: "outcome", whether the whole answer is right; "process", how many of its steps are, as one
        number for all tokens; "steps", the same number, each token paid for its own step.
      room: tokens that a completion may have beyond the longest right answer. A penalty for length
        (``overlong``) acts on these alone: with 0 it is idle. ``plan`` gives it room.

    Raises:
      ValueError: unknown names, numbers outside their ends, a group that is too small for the
        algorithm, a process reward for a task that has no steps.

    Source: Kingma and Ba 2015 (Adam); the loop is that of Shao et al. 2024 (GRPO), algorithm 1.
    """

    task: str
    algorithm: algorithms.Algorithm | str = "grpo"
    start: str = ""
    seed: int = 0
    prompts: int = 32
    group_size: int = 8
    steps: int = 40
    epochs: int = 2
    learning_rate: float = 1e-3
    warmup: int = 0
    cool_down: float = 0.0
    micro_batches: int = 1
    grad_clip: float = 1.0
    temperature: float = 1.0
    reward: str = "outcome"
    room: int = 0

    def __post_init__(self):
        task = tasks.named(_checks.one_of("task", self.task, list(tasks.TASKS)))
        if isinstance(self.algorithm, dict):
            self._set("algorithm", _algorithm(self.algorithm))
        self._set("algorithm", algorithms.named(self.algorithm))
        self._set("start", str(self.start))
        low = dict(seed=0, warmup=0, room=0, prompts=1, group_size=1, steps=1, epochs=1, micro_batches=1)
        for name, least in low.items():
            self._set(name, _checks.whole(name, getattr(self, name), low=least))
        for name in ("learning_rate", "grad_clip", "temperature"):
            self._set(name, _checks.number(name, getattr(self, name), low=0))
        self._set("cool_down", _checks.number("cool_down", self.cool_down, low=0, high=1))
        if self.temperature < COLDEST:
            raise ValueError(
                f"temperature is {self.temperature:g}; it must be at least {COLDEST}: greedy completions are all alike."
            )
        _checks.one_of("reward", self.reward, REWARDS)
        if self.reward != "outcome" and not hasattr(task, "step_rewards"):
            raise ValueError(f"reward is {self.reward!r}; it must be 'outcome' for {self.task}: no steps.")
        if self.reward == "steps" and not self.algorithm.by_token:
            raise ValueError(
                f"reward is 'steps'; it must be 'outcome' or 'process' for {self.algorithm.name}, whose ratio "
                "is one for a completion: its tokens cannot be paid apart."
            )
        least = self.algorithm.smallest_group
        if self.group_size < least:
            raise ValueError(
                f"group_size is {self.group_size}; it must be at least {least} for {self.algorithm.name}, "
                "which compares the completions of one prompt with each other."
            )
        if self.micro_batches > self.prompts:
            raise ValueError(
                f"micro_batches is {self.micro_batches}; it must be at most prompts, {self.prompts}."
            )

    def _set(self, name, value):
        object.__setattr__(self, name, value)

    @property
    def total(self):
        """Steps of the whole run."""
        return self.steps

    def rate(self, step):
        """The learning rate of a step, counted from 0: what it is after that step's rise, before its fall."""
        up = (step + 1) / self.warmup if step < self.warmup else 1.0
        falling = self.cool_down * self.steps
        left = (self.steps - step) / falling if falling and self.steps - step < falling else 1.0
        return self.learning_rate * min(up, left)

    def longest(self, task):
        """Tokens of the longest completion, its end token included."""
        return task.answer_length + 1 + self.room

    def as_dict(self):
        """A dictionary for JSON."""
        made = {field.name: getattr(self, field.name) for field in fields(self)}
        return made | {"algorithm": self.algorithm.as_dict()}

    def differences(self, other):
        """In words, what differs between these settings and another dictionary of them."""
        return ", ".join(_differences(self.as_dict(), other))


def _algorithm(fields_of_it):
    """An algorithm from the dictionary of a card."""
    try:
        return algorithms.Algorithm(**fields_of_it)
    except TypeError as error:
        raise ValueError(
            f"algorithm is a dictionary that does not fit ({error}); take one of a card."
        ) from None


def _differences(mine, other):
    for name, value in mine.items():
        there = other.get(name)
        if isinstance(value, dict) and isinstance(there, dict):  # the algorithm; its source decides nothing
            if value["name"] != there.get("name"):
                yield f"name {there.get('name')}, not {value['name']}"
            for field in algorithms.differences(value, there):
                yield f"{field} {there.get(field)}, not {value.get(field)}"
        elif value != there:
            yield f"{name} {there!r}, not {value!r}" if name == "start" else f"{name} {there}, not {value}"


# What is known to work, by task: about a second for the first two, a minute for Countdown.
POST_TRAINED = {
    "addition": PostTraining("addition"),
    "running_sum": PostTraining("running_sum", steps=20),
    "countdown": PostTraining("countdown", steps=375, learning_rate=2e-4, cool_down=1.0),
    "countdown_solver": PostTraining("countdown_solver", steps=300, learning_rate=1e-4),
}


def plan(task, algorithm="grpo", **changes):
    """Settings that are known to work for a task.

    Args:
      task: a name of ``POST_TRAINED``.
      algorithm: a name of ``algorithms.ALGORITHMS``, or an Algorithm.
      changes: what is different, such as seed=3 or learning_rate=3e-4.

    Returns:
      PostTraining. If the algorithm has a penalty for length (``overlong``), room for the longest
      completion that it tells apart, unless another room is given.

    Raises:
      ValueError: unknown names, numbers that ``PostTraining`` refuses, a room in which a penalty for
        length cannot act.
    """
    settings = POST_TRAINED[_checks.one_of("task", task, list(POST_TRAINED))]
    names = [field.name for field in fields(settings)]
    unknown = sorted(set(changes) - set(names))
    if unknown and hasattr(settings.algorithm, unknown[0]):
        raise ValueError(
            f"{unknown[0]} belongs to the algorithm; give algorithm=algorithms.named(name, {unknown[0]}=...)."
        )
    if unknown:
        raise ValueError(f"there is no setting {unknown[0]}; there are {', '.join(names)}.")
    made = replace(settings, algorithm=algorithm, **changes)
    if made.algorithm.overlong is None:
        return made
    soft, hard = made.algorithm.overlong
    if "room" not in changes:
        return replace(made, room=math.ceil(hard))
    if made.room <= soft:
        raise ValueError(
            f"room is {made.room}; it must be at least {math.floor(soft) + 1} for {made.algorithm.name}: its penalty "
            f"acts on completions of more than {soft:g} tokens too many, and there can be none. Leave room out for "
            f"{math.ceil(hard)}, or take the penalty away, overlong=None."
        )
    return made


def start_of(settings):
    """Name or path of the checkpoint that a run starts from."""
    return settings.start or settings.task


def reach(model, settings, task):
    """Refuses a model whose context is too short for what it may have to read."""
    needs, has = task.prompt_length + settings.longest(task) - 1, model.shape["context"]
    if needs > has:
        room = f", of which room is {settings.room}" if settings.room else ""
        raise ValueError(
            f"{start_of(settings)} reads {has} tokens; {settings.task} needs {needs}{room}. Take less room, or a "
            "checkpoint with a longer context."
        )
    if model.shape["vocabulary"] != len(lm.ALPHABET):
        raise ValueError(
            f"{start_of(settings)} knows {model.shape['vocabulary']} tokens; it must be {len(lm.ALPHABET)}."
        )
