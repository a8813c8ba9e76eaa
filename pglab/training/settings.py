"""Settings of pretraining, frozen, and the ones that made the checkpoints in ``data/``."""

import shlex
from dataclasses import asdict, dataclass, fields, replace

from pglab import _checks, lm, tasks


@dataclass(frozen=True)
class Pretraining:
    """Everything that decides what pretraining gives, beside the machine it runs on.

    Args:
      task: name in ``tasks.TASKS``.
      before: name of a task whose corpora are learned first, such as one that gets things right; ""
        for none. Its prompts and answers are as long as those of ``task``.
      seed: of the corpus, the order of its examples and the start of the weights.
      examples: in each corpus.
      steps: of the optimiser, for each corpus: a whole number, or one number a corpus.
      batch: examples of one step.
      learning_rate: its peak, reached after ``warmup`` steps of each corpus; a cosine takes it to 0 at
        the last step of each.
      warmup: steps on which it rises in a straight line.
      later: share of the peaks that the corpora after the first are learned with.
      muon: peak learning rate of the matrices inside the layers if Muon moves them, on the same
        schedule; 0 leaves them to AdamW, like the rest. It learned Countdown from half the examples.
      weight_decay: of both.
      width, layers, heads, context: of ``lm.SmallLM``.
      bfloat16: compute in half precision on a CUDA device. It pays for large models; small ones wait
        for each operation to be started, not for its arithmetic.

    Raises:
      ValueError: an unknown task, numbers outside their ends, a context that is too short for the task.

    Source: Loshchilov and Hutter 2019 (AdamW), with the cosine of their 2017 paper (SGDR), equation 5;
    Jordan et al. 2024 (Muon), as in torch.optim.Muon.
    """

    task: str
    before: str = ""
    seed: int = 0
    examples: int = 40_000
    steps: int | tuple = 1_000
    batch: int = 64
    learning_rate: float = 4e-3
    warmup: int = 50
    later: float = 1.0
    muon: float = 0.0
    weight_decay: float = 0.01
    width: int = 48
    layers: int = 2
    heads: int = 6
    context: int = 32
    bfloat16: bool = False

    def __post_init__(self):
        task = tasks.named(_checks.one_of("task", self.task, list(tasks.TASKS)))
        low = {name: 1 for name in ("examples", "batch", "width", "layers", "heads", "context")}
        for name in ("seed", "warmup", *low):
            self._set(name, _checks.whole(name, getattr(self, name), low=low.get(name, 0)))
        for name in ("learning_rate", "later", "muon", "weight_decay"):
            self._set(name, _checks.number(name, getattr(self, name), low=0))
        if self.before:
            _check_before(tasks.named(_checks.one_of("before", self.before, list(tasks.TASKS))), task)
        self._set("steps", _steps(self.steps, len(self.corpora)))
        if self.width % self.heads:
            raise ValueError(f"width is {self.width}; it must be a multiple of heads, which is {self.heads}.")
        needs = task.prompt_length + task.answer_length
        if self.context < needs:
            raise ValueError(
                f"context is {self.context}; it must be at least {needs} for {self.task}: prompts have "
                f"{task.prompt_length} tokens, answers up to {task.answer_length}."
            )

    def _set(self, name, value):
        object.__setattr__(self, name, value)

    @property
    def total(self):
        """Steps of all corpora together."""
        return sum(self.steps)

    @property
    def corpora(self):
        """What is learned, in this order: pairs of a task and the stage of its corpus."""
        names = [name for name in (self.before, self.task) if name]
        return [(tasks.named(name), stage) for name in names for stage in range(tasks.named(name).stages)]

    def corpus(self, step):
        """Which of the corpora this step belongs to, counted from 0."""
        return next(i for i in range(len(self.steps)) if step < sum(self.steps[: i + 1]))

    def shape(self):
        """The arguments of ``lm.SmallLM``."""
        return {name: getattr(self, name) for name in ("context", "width", "layers", "heads", "seed")}

    def as_dict(self):
        """A dictionary for JSON."""
        return {**asdict(self), "steps": list(self.steps)}

    def differences(self, other):
        """In words, what differs between these settings and another dictionary of them."""
        mine = self.as_dict()
        names = [field.name for field in fields(self) if mine[field.name] != other.get(field.name)]
        return ", ".join(f"{name} {other.get(name)}, not {mine[name]}" for name in names)


def _steps(steps, corpora):
    each = steps if isinstance(steps, (tuple, list)) else (steps,) * corpora
    if len(each) != corpora:
        raise ValueError(f"steps has length {len(each)}; it must be {corpora}, one number for each corpus.")
    return tuple(_checks.whole("steps", number, low=1) for number in each)


def _check_before(before, task):
    sizes = [(t.prompt_length, t.answer_length) for t in (before, task)]
    if sizes[0] != sizes[1]:
        raise ValueError(
            f"before has prompts and answers of {sizes[0]} tokens; it must be a task with {sizes[1]}."
        )


COUNTDOWN = dict(examples=400_000, learning_rate=2e-3, muon=0.006, width=128, heads=8)

# What made the checkpoints of data/, by name. The name is also that of the task.
PRETRAINED = {
    "addition": Pretraining("addition", steps=800),
    "running_sum": Pretraining("running_sum", steps=(300, 400)),
    "countdown": Pretraining(
        "countdown", before="countdown_solver", steps=(7_000, 600), later=0.03, **COUNTDOWN
    ),
    "countdown_solver": Pretraining("countdown_solver", steps=900, **COUNTDOWN),
}

# A bigger model for a GPU: what differs from the small one.
LARGE = dict(
    examples=400_000,
    batch=512,
    learning_rate=1e-3,
    warmup=200,
    muon=0.0,
    width=256,
    layers=6,
    heads=8,
    bfloat16=True,
)


def preset(task, size="small", seed=None, examples=None, steps=None):
    """Settings by name.

    Args:
      task: a name of ``PRETRAINED``.
      size: "small" gives the shipped checkpoint; "large" a bigger model, meant for a GPU.
      seed, examples, steps: others than the preset's; None for its own.

    Returns:
      Pretraining.

    Raises:
      ValueError: an unknown task or size, or numbers that ``Pretraining`` refuses.
    """
    settings = PRETRAINED[_checks.one_of("task", task, list(PRETRAINED))]
    if _checks.one_of("preset", size, ["small", "large"]) == "large":
        settings = replace(settings, **LARGE, steps=tuple(2 * number for number in settings.steps))
    others = {"seed": seed, "examples": examples, "steps": steps}
    return replace(settings, **{name: value for name, value in others.items() if value is not None})


def default_path(settings):
    """Where a checkpoint lies if no other place is named; None if it has to be.

    What ships lies in data/ under its own name. A preset with another seed, and a large one, go there
    too under longer names, so that none replaces what ships.
    """
    for size, ending in (("small", ""), ("large", "_large")):
        if settings == preset(settings.task, size, settings.seed):
            seed = "" if settings.seed == PRETRAINED[settings.task].seed else f"_seed{settings.seed}"
            return lm.DATA / f"{settings.task}{ending}{seed}.safetensors"
    return None


def command(settings, path=None, device="cpu", threads=1):
    """How to make a checkpoint again.

    Args:
      settings: Pretraining.
      path: of the weights, or None.
      device, threads: what was used.

    Returns:
      A command; or the call in Python, where the options of the command do not reach these settings.
    """
    size = "large" if settings.width == LARGE["width"] else "small"
    reached = preset(settings.task, size, settings.seed, settings.examples, settings.steps)
    if settings != reached:
        return f"pglab.training.pretrain(pglab.training.{settings!r}, threads={threads})"
    options = {"--preset": size} if size == "large" else {}
    usual = preset(settings.task, size)
    if settings.seed != usual.seed:
        options["--seed"] = settings.seed
    if settings.examples != usual.examples:
        options["--examples"] = settings.examples
    if settings.steps != usual.steps:
        options["--steps"] = " ".join(map(str, settings.steps))
    if path is not None and path.resolve() != default_path(settings):
        options["--out"] = shlex.quote(path.name)
    options["--device"] = device
    if threads != 1:
        options["--threads"] = threads
    words = [f"{name} {value}" for name, value in options.items()]
    return " ".join(["python -m pglab.training pretrain --task", settings.task, *words])
