"""The command line:  python -m pglab.training pretrain --task addition,  or  grpo --task addition."""

import sys
from pathlib import Path

from pglab import _checks, algorithms, lm, tasks
from pglab._commands import Parser, outcome
from pglab.training import state, workers
from pglab.training.evaluation import PROMPTS
from pglab.training.fields import FIELDS, chosen, shown
from pglab.training.plans import POST_TRAINED, REWARDS, plan
from pglab.training.post_training import post_train
from pglab.training.pretraining import pretrain
from pglab.training.settings import PRETRAINED, default_path, preset


def main(arguments=None):
    """Runs one command.

    Args:
      arguments: a list of words; None takes those of the command line.

    Returns:
      The exit code: 0; 1 if something could not be written; 2 for a bad choice; 130 after Ctrl-C.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    top = parser()
    check_command(top, words)
    options, rest = top.parse_known_args(words)
    if rest:
        options.parser.error(unrecognized(options, rest))
    code, sentence = outcome(options.run, options)
    if sentence:
        line = "\n" if code == 130 or workers.several() else ""  # a bar may stand there
        print(f"{line}{workers.who()}{sentence}", file=sys.stderr)
    return code


def check_command(top, words):
    """Ends with a bad choice if the first word is no command, and says which one is near."""
    commands = ["pretrain", *algorithms.ALGORITHMS]
    if not words or words[0].startswith("-") or words[0] in commands:
        return
    near = _checks.nearest(words[0].lower(), commands)
    meant = f"; did you mean {near}?" if near else "."
    top.error(f"invalid choice: {words[0]!r}{meant} The commands are {', '.join(commands)}")


def unrecognized(options, rest):
    """What is said of words that a command does not know; a field of its algorithm has a way in."""
    field = rest[0].lstrip("-").partition("=")[0].replace("-", "_")
    way = f"; {field} is a field of the algorithm: --set {field}=VALUE"
    known = rest[0].startswith("--") and field in FIELDS and options.run is run_algorithm
    return f"unrecognized arguments: {' '.join(rest)}{way if known else ''}"


def parser():
    """What the command line understands."""
    top = Parser(prog="python -m pglab.training", description="Train small language models.")
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND")
    add_pretrain(commands)
    for name in algorithms.ALGORITHMS:
        add_algorithm(commands, name)
    return top


def add_pretrain(commands):
    """The command ``pretrain`` and its options."""
    short = "teach a model the corpus of a task and write a checkpoint"
    this = commands.add_parser(
        "pretrain",
        help=short,
        description=f"Pretrain: {short}, with a card that says where it comes from and how well it does.",
        epilog="Ctrl-C is safe: the same command goes on from there.",
    )
    which = this.add_mutually_exclusive_group(required=True)
    which.add_argument("--task", metavar="NAME", help=f"which one: {', '.join(PRETRAINED)}")
    which.add_argument("--all", action="store_true", help="every checkpoint that ships in data/")
    this.add_argument("--preset", default="small", help="small (the shipped one) or large (for a GPU)")
    this.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:1 or mps (default: auto)")
    this.add_argument("--out", metavar="PATH", help="of the weights, *.safetensors (default: in data/)")
    this.add_argument("--fresh", action="store_true", help="forget what an interrupt has left")
    this.add_argument("--threads", metavar="N", type=int, default=1, help="of torch on the CPU (default: 1)")
    this.add_argument("--seed", metavar="N", type=int, help="another seed than the preset's")
    this.add_argument("--examples", metavar="N", type=int, help="in each corpus")
    this.add_argument("--steps", metavar="N", type=int, nargs="+", help="for each corpus")
    this.add_argument(
        "--prompts", metavar="N", type=int, default=PROMPTS, help=f"of the evaluation (default: {PROMPTS})"
    )
    this.set_defaults(run=run_pretrain, parser=this)


def run_pretrain(options):
    """The command ``pretrain``."""
    if workers.several():
        raise ValueError("pretrain runs in one process; start it without torchrun.")
    if options.all and options.out:
        raise ValueError("--out names one file and --all makes several; give one of the two.")
    check_ending(options.out)
    names = list(PRETRAINED) if options.all else [options.task]
    device = lm.choose_device(options.device)
    plan = [
        preset(name, options.preset, options.seed, options.examples, options.steps and tuple(options.steps))
        for name in names
    ]
    paths = [options.out or default_path(settings) for settings in plan]
    if None in paths:
        raise ValueError("Other examples or steps make another checkpoint; say with --out where it goes.")
    if options.preset == "large" and device.type == "cpu":
        print("The large preset is meant for a GPU: on a CPU it takes hours.", flush=True)
    for settings, path in zip(plan, paths, strict=True):
        one_checkpoint(settings, Path(path), device, options)
    return 0


def one_checkpoint(settings, path, device, options):
    """Makes one checkpoint and says what came out."""
    if options.fresh:
        state.forget(state.place(path))
    print(f"{settings.task}: {tasks.named(settings.task).describe()}", flush=True)
    made = pretrain(settings, path, device, threads=options.threads, prompts=options.prompts)
    card = made.card
    print(f"{card['parameters']:,} parameters, {card['seconds']:.1f} s of training on {card['device']}.")
    print(f"{made.scores.words()}; greedy {made.scores.greedy:.3f}.")
    print(f"The weights are in {path}, their card in {path.with_suffix('.json').name}.", flush=True)


def add_algorithm(commands, name):
    """The command of one algorithm, such as ``grpo``, and its options."""
    short = f"let a checkpoint learn from rewards by {name} ({algorithms.ALGORITHMS[name].source.partition(';')[0]})"
    this = commands.add_parser(
        name,
        help=short,
        description=f"{name}: {short}. Writes the weights, a card beside them, and a line for every step.",
        epilog=f"Ctrl-C is safe: the same command goes on from there. Known to work: {'; '.join(known())}.",
    )
    this.add_argument("--task", metavar="NAME", required=True, help=f"which one: {', '.join(POST_TRAINED)}")
    this.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:1 or mps (default: auto)")
    this.add_argument("--out", metavar="PATH", help="of the weights, *.safetensors (default: in runs/)")
    this.add_argument(
        "--fresh",
        action="store_true",
        help="forget what an interrupt has left, and replace what stands at --out",
    )
    this.add_argument("--threads", metavar="N", type=int, default=1, help="of torch on the CPU (default: 1)")
    this.add_argument(
        "--evaluate", metavar="N", type=int, default=PROMPTS,
        help=f"on so many fresh prompts at the end, 0 for none (default: {PROMPTS})",
    )  # fmt: skip
    settings = this.add_argument_group("settings; those left out are known to work for the task")
    settings.add_argument("--start", metavar="NAME", help="name or path of the checkpoint to start from")
    for option, kind, what in OPTIONS:
        settings.add_argument(f"--{option}", metavar="X" if kind is float else "N", type=kind, help=what)
    settings.add_argument("--reward", metavar="NAME", help=f"{', '.join(REWARDS)} (default: outcome)")
    settings.add_argument("--kl", metavar="X", type=float, help="what a KL to the checkpoint costs")
    has = " ".join(
        f"{field}={shown(getattr(algorithms.ALGORITHMS[name], field))}" for field in list(FIELDS)[2:]
    )
    settings.add_argument(
        "--set", metavar="FIELD=VALUE", action="append", default=[],
        help="another field of the algorithm, such as clip=0.2,0.28, clip=none or aggregation=token_mean; may be "
        f"given more than once. {name} has {has}",
    )  # fmt: skip
    this.set_defaults(run=run_algorithm, algorithm=name, parser=this)


OPTIONS = (
    ("seed", int, "of prompts and completions"),
    ("prompts", int, "of each step"),
    ("group-size", int, "completions of each prompt"),
    ("steps", int, "batches"),
    ("epochs", int, "updates on each batch"),
    ("learning-rate", float, "of Adam"),
    ("micro-batches", int, "parts of a batch; from 2 on the noise of the gradient is measured"),
    ("temperature", float, "of the policy"),
    ("warmup", int, "steps on which the learning rate rises"),
    ("cool-down", float, "share of the steps, at the end, on which it falls to 0"),
    ("grad-clip", float, "the longest a gradient may be, 0 for any length"),
    ("room", int, "tokens beyond the longest right answer (default: 0, or what a penalty for length needs)"),
)


def known():
    """What the settings are that are known to work, a line for each task."""
    for task, s in POST_TRAINED.items():
        fall = " falling to 0" if s.cool_down == 1 else ""
        yield (
            f"{task}: {s.steps} steps of {s.prompts} prompts x {s.group_size}, {s.epochs} epochs, learning rate "
            f"{s.learning_rate:g}{fall}"
        )


def run_algorithm(options):
    """The command of one algorithm."""
    names = ["start", "reward", *(option.replace("-", "_") for option, _, _ in OPTIONS)]
    changes = {name: value for name in names if (value := getattr(options, name)) is not None}
    fields_of_it = chosen(options.set)
    if options.kl is not None and fields_of_it.setdefault("kl", options.kl) != options.kl:
        raise ValueError(
            f"--kl is {options.kl:g} and --set says kl={fields_of_it['kl']:g}; give one of the two."
        )
    algorithm = algorithms.named(options.algorithm, **fields_of_it)
    settings = plan(options.task, algorithm, **changes)
    if options.evaluate and _checks.whole("evaluate", options.evaluate) < 2:
        raise ValueError(f"--evaluate is {options.evaluate}; it must be at least 2 prompts, or 0 for none.")
    seed = f"_seed{settings.seed}" if settings.seed else ""
    path = Path("runs") / f"{settings.task}_{algorithm.name}{seed}.safetensors"
    if options.out is not None:
        path = check_ending(options.out)
    elif path.parent != Path("runs"):
        raise ValueError(
            f"name is {algorithm.name!r}, which names no file; say with --out where the weights go."
        )
    device = workers.local(options.device) if workers.started() else options.device
    with workers.joined(device) as group:
        if not group.first:
            train(settings, path, device, options, group)
            return 0
        if options.fresh:
            state.forget(state.place(path))
        else:
            spare(path, settings)
        print(f"{settings.task}: {tasks.named(settings.task).describe()}", flush=True)
        made = train(settings, path, device, options, group)
    report(made, settings, path, group)
    return 0


def train(settings, path, device, options, group):
    """The training that a command asks for."""
    return post_train(
        settings, path, device, threads=options.threads, prompts=options.evaluate, workers=group
    )


def report(made, settings, path, group):
    """Says what came out."""
    card, last = made.card, made.rows[-1]
    if group.count > 1:
        print(f"{group.count} workers, which have ended with the same weights, to the last bit.")
    print(f"{card['completions']:,} completions, {card['seconds']:.1f} s of training on {card['device']}.")
    print(f"Reward of the last batch {last['reward']:.3f}, of the first {made.rows[0]['reward']:.3f}.")
    if (
        settings.algorithm.overlong
        and settings.reward == "outcome"
        and all(r["reward"] >= r["right"] for r in made.rows)
    ):
        print("No completion was long enough to pay for it: the penalty for length has changed no reward.")
    if made.scores is not None:
        warm = "" if settings.temperature == 1 else " Scores are those at temperature 1."
        print(f"{made.scores.words()}; greedy {made.scores.greedy:.3f}.{warm}")
    names = ", ".join(path.with_suffix(end).name for end in (".json", ".jsonl"))
    print(f"The weights are in {path}; the card and the curve beside them: {names}.", flush=True)


def check_ending(out):
    """The path of --out, refused before anything starts if weights cannot have it; None if none is given."""
    if out is not None and Path(out).suffix != ".safetensors":
        raise ValueError(f"--out is {out!r}; it must end in .safetensors.")
    return out and Path(out)


def spare(path, settings):
    """Refuses to replace the result of other settings, or a checkpoint of another origin."""
    try:
        before = lm.read_card(path).get("settings")
    except ValueError:  # nothing lies there, or nothing that could be lost
        return
    if isinstance(before, dict) and (different := settings.differences(before)):
        raise ValueError(
            f"{path} holds the result of other settings ({different}). Keep it and name another place with "
            "--out, or replace it with --fresh."
        )
