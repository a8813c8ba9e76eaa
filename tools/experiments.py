"""What `tools/recordings.py` records: one entry for each file in data/recordings/."""

from dataclasses import dataclass, replace

from pglab import tasks
from pglab.algorithms import named
from pglab.museum import faults
from pglab.training import PostTraining, Trainer, plan
from pglab.training.stale import StaleTrainer

# Every column that can be measured; "..._error" stands beside a mean over prompts.
COLUMNS = {
    "samples": "completions drawn for training so far",
    "pass_at_1": "share of right completions, a mean over fresh prompts",
    "pass_at_1_error": "its standard error over prompts",
    "pass_at_64": "chance that one of 64 completions is right, unbiased, a mean over fresh prompts",
    "pass_at_64_error": "its standard error over prompts",
    "drawn": "share of the fresh prompts that some step of the run draws too",
    "pass_at_1_new": "share of right completions of those fresh prompts that no step of the run draws",
    "pass_at_1_new_error": "its standard error over prompts",
    "pass_at_64_new": "chance that one of 64 completions is right, of those that no step of the run draws",
    "pass_at_64_new_error": "its standard error over prompts",
    "entropy": "of the next token, nats, a mean over the tokens of fresh completions",
    "length": "tokens of a fresh completion, the end token too",
    "zero_std": "share of groups of group_size whose rewards are all alike, on fresh prompts, unbiased",
    "worked": "share of fresh completions that have the form of a worked answer",
    "steps_right": "share of right digits, place by place, as the process reward counts them; fresh",
    "paid": "mean reward of fresh completions, as this variant pays",
    "paid_error": "its standard error over prompts",
}
# What training itself reports, a mean over the steps since the point before.
SEEN = {
    "reward": "mean reward of the completions that were drawn for the step",
    "right": "share of these that are right, whatever they are paid",
    "length": "their tokens, the end token too",
    "finished": "share of them that have an end token",
    "entropy": "of the next token, nats, a mean over their tokens",
    "zero_std": "share of groups whose rewards are all alike",
    "advantage_mean": "of the completions, or of the tokens where each has its own",
    "advantage_std": "standard deviation of the same",
    "grad_norm": "length of the gradient before it is shortened",
    "grad_noise": "trace of the covariance of the gradient, from its micro-batches; null without a gradient",
    "clip_fraction": "share of tokens that the clip holds, in the last update on the batch",
    "kl": "how far the last update on the batch finds the policy from the old one, k3, nats a token",
    "kl_ref": "how far the policy is from the model before training, k3, nats a token",
    "drawn_a_step": "completions drawn for one step",
    "share": "effective sample size of the completions, by pi over mu of each, over their number",
}


@dataclass(frozen=True)
class Variant:
    """One of the things that are compared.

    Args:
      words: what it is.
      settings: PostTraining; its seed does not count.
      points: numbers of samples at which the policy is evaluated, increasing; the last ends the run.
      reward: name of a method of the task that pays; "" for the reward of the settings.
      more: what a reader may want to sort by, a dictionary.
      fault: a name of ``faults.FAULTS``, or "healthy"; "" for an ordinary run.
      healed: whether the twin of that fault is run.
      blind: whether the recording keeps silent about the fault.
      stale: (how many steps behind the policy is that draws, correction, cap), as of ``StaleTrainer``, or ().
    """

    words: str
    settings: PostTraining
    points: tuple
    reward: str = ""
    more: dict | None = None
    fault: str = ""
    healed: bool = False
    blind: bool = False
    stale: tuple = ()

    def with_seed(self, seed):
        """Its settings with this seed."""
        return replace(self.settings, seed=seed)

    def function(self):
        """The method that pays, or None."""
        return getattr(tasks.named(self.settings.task), self.reward) if self.reward else None

    def trainer(self, seed, device):
        """The run of a seed, at its start."""
        if self.fault:
            return faults.trainer(self.fault, self.with_seed(seed), device, healthy=self.healed)
        if self.stale:
            behind, correction, cap = self.stale
            return StaleTrainer(self.with_seed(seed), device, behind=behind, correction=correction, cap=cap)
        return Trainer(self.with_seed(seed), device, reward=self.function())

    def about(self):
        """What the recording says of it, beside its settings."""
        sick = {"fault": self.fault, "healthy": self.healed} if self.fault and not self.blind else {}
        return (
            {"words": self.words}
            | ({"reward": self.reward} if self.reward else {})
            | sick
            | dict(zip(("behind", "correction", "cap"), self.stale, strict=False))
            | (self.more or {})
        )


@dataclass(frozen=True)
class Experiment:
    """Some variants, each with every seed.

    Args:
      words: what is done.
      variants: {name: Variant}.
      seeds: whole numbers.
      measured: columns of the evaluation, of ``COLUMNS``.
      seen: columns that the training itself reports.
      prompts, samples: of each evaluation.
      keep: completions that are kept of the first, a middle and the last evaluation, one for each of
        the first prompts.
    """

    words: str
    variants: dict
    seeds: tuple = (0, 1, 2, 3, 4)
    measured: tuple = ("pass_at_1", "pass_at_1_error", "entropy")
    seen: tuple = ()
    prompts: int = 512
    samples: int = 8
    keep: int = 0

    def columns(self):
        """The columns of its recording, each with what it says."""
        words = f"; {self.prompts} fresh prompts x {self.samples} completions, at the training's temperature"
        first = {"samples": COLUMNS["samples"] + words * bool(self.measured)}
        seen = {name: f"{SEEN[name]}, a mean over the steps since the point before" for name in self.seen}
        return first | {name: COLUMNS[name] for name in self.measured} | seen


def points(settings, number):
    """So many equal distances from 0 to all samples of a run, each a whole number of steps."""
    each, steps = settings.prompts * settings.group_size, settings.steps
    return tuple(round(steps * i / number) * each for i in range(number + 1))


def every_step(settings):
    """The samples behind each step of a run: so each point is one row of the panel."""
    return points(settings, settings.steps)[1:]


# ---- G3: which algorithm

COMPARED = {
    "reinforce {0,1}": ("rewards {0, 1}, no baseline", named("reinforce")),
    "reinforce {-1,0}": ("rewards {-1, 0}: a baseline of 1", named("reinforce", baseline=1.0)),
    "reinforce {1,2}": ("rewards {1, 2}: a baseline of -1", named("reinforce", baseline=-1.0)),
    "batch_mean": ("the mean of the group as baseline, each reward in its own", named("batch_mean")),
    "rloo": ("the mean of the group's others as baseline", named("rloo")),
    "grpo": ("group mean and deviation, mean over each answer's tokens", named("grpo")),
    "dr_grpo": ("group mean, a constant denominator", named("dr_grpo")),
    "ppo lam 1": ("a scalar head as critic, GAE with lambda 1", named("ppo", lam=1.0)),
    "ppo lam 0.95": ("a scalar head as critic, GAE with lambda 0.95", named("ppo", lam=0.95)),
}


def compared(number, **changes):
    """No gradient is shortened: the losses differ in scale, and one length would bind some and not others."""
    found = {}
    for name, (words, algorithm) in COMPARED.items():
        settings = plan("addition", algorithm, epochs=1, grad_clip=0, **changes)
        found[name] = Variant(words, settings, points(settings, number))
    return found


# ---- G9: one knob at a time around the default

RATES = (1e-5, 1e-4, 3e-4, 1e-3, 2e-3, 3e-3, 1e-2)
GROUPS = (2, 4, 8, 16, 32, 64, 128)
EPOCHS = (1, 2, 4, 8, 16)
KLS = (0.0, 1e-3, 1e-2, 0.1, 1.0)


def turned():
    """Every stop of every knob. The default stands at one stop of each; it is run once for each knob."""
    for rate in RATES:
        yield "learning_rate", rate, plan("addition", learning_rate=rate)
    for size in GROUPS:
        yield "group_size", size, plan("addition", group_size=size, prompts=256 // size)
    for epochs in EPOCHS:
        yield "epochs", epochs, plan("addition", epochs=epochs)
    for epochs in EPOCHS:
        yield "epochs_without_clip", epochs, plan("addition", named("grpo", clip=None), epochs=epochs)
    for kl in KLS:
        yield "kl", kl, plan("addition", named("grpo", kl=kl))


def knobs():
    words = {
        "learning_rate": "of Adam",
        "group_size": "completions a prompt, 256 / group_size prompts a step",
        "epochs": "updates on each batch, with clip 0.2",
        "epochs_without_clip": "updates on each batch, the ratio not clipped",
        "kl": "beta, a KL to the model before training in the loss",
    }
    found = {}
    for knob, value, settings in turned():
        settings = replace(settings, steps=40)
        more = {"knob": knob, "value": value}
        found[f"{knob} {value:g}"] = Variant(words[knob], settings, points(settings, 20), more=more)
    return found


# ---- G8, G7, G6: running sums, process rewards, a verifier with a hole


def running_sum():
    settings = plan("running_sum", steps=20)
    return {"grpo": Variant("paid for right answers only", settings, points(settings, 20))}


def process():
    """At temperature 1 all three learn alike; drawn hot, a worked answer is seldom right to its last digit."""
    words = {
        "outcome": "1 for a right answer",
        "process": "the share of right steps, one number for all tokens",
        "steps": "the same, each token paid for its own step",
    }
    found = {}
    for task in ("running_sum", "addition"):
        for reward, says in words.items():
            settings = plan(task, "dr_grpo", reward=reward, epochs=1, steps=40, temperature=2.0)
            found[f"{task} {reward}"] = Variant(says, settings, points(settings, 20))
    return found


def verifier():
    words = {
        "lax": "paid if the right digit occurs anywhere",
        "strict": "paid for a right answer, all else alike",
        "lax, temperature 1": "paid if the right digit occurs anywhere; fewer slips to be paid for",
    }
    found = {}
    for name, says in words.items():
        temperature = 1.0 if name.endswith("1") else 1.5
        settings = plan("running_sum", steps=40, room=6, temperature=temperature)
        reward = "verify_lax" if name.startswith("lax") else ""
        found[name] = Variant(says, settings, points(settings, 20), reward)
    return found


# ---- G5: pass@k on Countdown


def countdown(task, number):
    settings = plan(task)
    return {"grpo": Variant("the plan of the task", settings, points(settings, number))}


# ---- Z3, Z11: what each part of a variant does

PARTS = {
    "grpo": "clip 0.2, each answer's tokens averaged, every group taken, no penalty",
    "grpo_clip_higher": "its upper bound 1.28",
    "grpo_token_mean": "one mean over all tokens of the batch",
    "grpo_dynamic": "groups whose rewards are alike are drawn again, up to three rounds",
    "grpo_overlong": "answers longer than the longest right one pay for it",
    "dapo": "all four of these",
    "dr_grpo": "no deviation, a constant denominator",
    "gspo": "one ratio for an answer, clip 0.0003 and 0.0004",
    "cispo": "the weight is clipped, and no token's gradient is taken away; one mean over all tokens",
    "cispo_alone": "GRPO with this weight and nothing else changed",
}
CISPO_ALONE = named("grpo", variant="cispo", clip=(None, 0.28))
PLACES = (0, 1, 2, 3, 4, 6, 8, 10, 15, 20, 30, 40)  # steps at which it is looked at, close at first


def variants():
    """Addition with sixteen updates on a batch, so that clips bind; running sums whose verifier has a hole."""
    plans = {
        "addition": (dict(epochs=16), ""),
        "running_sum": (dict(steps=40, room=6, temperature=1.5), "verify_lax"),
    }
    found = {}
    for task, (changes, reward) in plans.items():
        for name, says in PARTS.items():
            algorithm = CISPO_ALONE if name == "cispo_alone" else named(name)
            settings = replace(plan(task, **changes), algorithm=algorithm)  # the same room for all
            at = tuple(step * settings.prompts * settings.group_size for step in PLACES)
            found[f"{task} {name}"] = Variant(says, settings, at, reward)
    return found


# ---- D2, D4: broken runs


def twins():
    """Each classic fault beside the same run without it, and a critic read late that does no harm."""
    found = {}
    for name in (*faults.CLASSICS, "late_critic"):
        fault = faults.FAULTS[name]
        sick = Variant(fault.words, fault.settings, every_step(fault.settings), fault=name)
        found[name] = sick
        found[f"{name}, healthy"] = replace(sick, words=f"without {fault.words}", healed=True)
    return found


def blind():
    """Runs that have a letter for a name. The key is ``faults.CLINIC``."""
    return {
        letter: Variant(f"run {letter}", faults.WARD, every_step(faults.WARD), fault=fault, blind=True)
        for letter, fault in faults.CLINIC.items()
    }


# ---- P2: completions of a policy some steps behind

CORRECTED = {
    "none": ("taken as they come, ratios from 1", "none", None),
    "clip": ("the clip's ratio is that to the policy that drew them", "clip", None),
    "token": ("each token's advantage times its ratio, at most 2", "token", 2.0),
    "sequence": ("each completion's advantages times its ratio, at most 2", "sequence", 2.0),
    "sequence without cap": ("each completion's advantages times its ratio", "sequence", None),
}
BEHIND = {
    1e-3: {
        "none": (0, 1, 2, 4, 8, 16),
        "sequence": (1, 2, 4, 8, 16),
        "sequence without cap": (4, 16),
        "clip": (1, 4, 16),
        "token": (1, 4, 16),
    },
    2e-4: {"none": (0, 4, 16), "sequence": (4, 16), "clip": (4,)},
}


def stale():
    """The same samples and updates for all: what differs is who drew, and what is done about it."""
    found = {}
    for rate, corrections in BEHIND.items():
        settings = plan("addition", learning_rate=rate)
        at = tuple(step * settings.prompts * settings.group_size for step in (0, 5, 10, 15, 20, 30, 40))
        for name, every in corrections.items():
            words, correction, cap = CORRECTED[name]
            for behind in every:
                says = f"drawn {behind} steps before, {words}; learning rate {rate:g}"
                label = f"{name} {behind} {rate:g}"
                found[label] = Variant(says, settings, at, stale=(behind, correction, cap))
    return found


PASSES = ("pass_at_1", "pass_at_64", "pass_at_1_new", "pass_at_64_new")  # prompts are few here: see "drawn"
WIDE = (*(name + end for name in PASSES for end in ("", "_error")), "drawn", "entropy", "zero_std", "length")
PANEL = (
    "reward", "length", "finished", "entropy", "zero_std", "advantage_mean", "advantage_std", "grad_norm",
    "grad_noise", "clip_fraction", "kl",
)  # fmt: skip
EXPERIMENTS = {
    "running_sum": Experiment(
        "Running sums, paid for right answers only: the answers get longer",
        running_sum(),
        measured=("pass_at_1", "pass_at_1_error", "entropy", "length", "worked"),
    ),
    "verifier": Experiment(
        "Running sums, paid by a verifier with a hole: what is paid climbs, what is right falls",
        verifier(),
        measured=("pass_at_1", "pass_at_1_error", "paid", "paid_error", "entropy", "length", "worked"),
        keep=4,
    ),
    "algorithms": Experiment(
        "Eight algorithms on addition, 16 samples a step (4 prompts x 4), one update on each batch",
        compared(20, prompts=4, group_size=4, learning_rate=2e-4, steps=400),
        prompts=256,
        measured=("pass_at_1", "pass_at_1_error", "entropy"),
    ),
    "algorithms_fast": Experiment(
        "The same with the learning rate 1e-3, five times larger",
        compared(20, prompts=4, group_size=4, learning_rate=1e-3, steps=400),
        prompts=256,
        measured=("pass_at_1", "pass_at_1_error", "entropy", "zero_std"),
        seen=("grad_norm",),
    ),
    "algorithms_256": Experiment(
        "The same algorithms, 256 samples a step (32 prompts x 8), one update on each batch",
        compared(25, prompts=32, group_size=8, learning_rate=3e-4, steps=100),
        prompts=256,
        samples=4,
        measured=("pass_at_1", "pass_at_1_error", "entropy"),
    ),
    "process": Experiment(
        "Paid for the outcome, for the steps as one number, or for the steps token by token; drawn hot (T = 2)",
        process(),
        prompts=256,
        measured=("pass_at_1", "pass_at_1_error", "steps_right", "length", "entropy"),
    ),
    "knobs": Experiment(
        "GRPO on addition, one knob at a time around the default, about 10,000 samples",
        knobs(),
        seeds=(0, 1, 2),
        measured=("pass_at_1", "pass_at_1_error"),
        prompts=256,
        samples=4,
    ),
    "countdown_solver": Experiment(
        "Countdown from a corpus of right expressions: pass@1 rises, pass@64 falls",
        countdown("countdown_solver", 6),
        seeds=(0, 1, 2),
        measured=WIDE,
        samples=64,
    ),
    "countdown": Experiment(
        "Countdown from a corpus of which two thirds are random: pass@1 climbs far",
        countdown("countdown", 8),
        measured=WIDE,
        samples=64,
    ),
    "variants": Experiment(
        "GRPO, DAPO's four parts, each alone and together, and others: addition with 16 updates on a batch, running "
        "sums paid by a verifier with a hole. A step of dynamic sampling may pass a point by up to 767 samples",
        variants(),
        seeds=tuple(range(10)),
        measured=("pass_at_1", "pass_at_1_error", "paid", "entropy", "zero_std", "length"),
        seen=("grad_norm", "clip_fraction", "finished", "drawn_a_step"),
        prompts=256,
    ),
    "museum": Experiment(
        "Six classic faults, each beside its healthy twin: the panel, step by step",
        twins(),
        measured=(),
        seen=("right", *PANEL),
    ),
    "clinic": Experiment(
        "Eight runs on running sums, one of them healthy: the panel, step by step",
        blind(),
        seeds=(0, 1, 2),
        measured=(),
        seen=(*PANEL, "kl_ref"),
    ),
    "stale": Experiment(
        "GRPO on addition from completions of a policy some steps behind, with and without importance weights",
        stale(),
        seeds=tuple(range(10)),
        measured=("pass_at_1",),
        seen=("share",),
        prompts=256,
        samples=4,
    ),
}
