"""What `tools/recordings.py` records: one entry for each file in data/recordings/."""

from experiments.algorithms import compared, variants
from experiments.behind import stale
from experiments.broken import blind, twins
from experiments.knobs import knobs
from experiments.rewards import countdown, process, running_sum, verifier
from experiments.variant import Experiment

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
