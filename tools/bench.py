"""Times and ratios, all measured in one run.

    make bench                     everything
    make bench ARGS=--no-browser   without JupyterLab
    make bench ARGS=--record       also into data/measured/bench.md, to be kept

The table goes to build/bench.md. The cost of exact groups is also drawn: build/bench_groups.svg.

A ratio compares two things on one machine in one run, so it can be quoted; a time cannot.
"""

import dataclasses
import statistics
import subprocess
import sys
from datetime import date

import bench_lm
import bench_rl
import lab
import nbformat
import numpy as np
import torch
from render import METADATA, ROOT
from timing import seconds

from pglab import _files, advantages, bandit, figures, groups, oracle
from pglab.figures.svg import markup
from pglab.lm import devices
from pglab.sliders import (
    aggregation_lab,
    clinic_lab,
    cluster_lab,
    credit_lab,
    critic_lab,
    estimator_atlas,
    knob_lab,
    length_lab,
    memory_lab,
    mismatch_lab,
    network_lab,
    noisy_step,
    one_step,
    step_lab,
    variance_lab,
)

LOGITS, REWARDS = bandit.EXAMPLE_LOGITS, bandit.EXAMPLE_REWARDS
SAMPLES, KEY_PRESSES = 200_000, 60
DISTINCT = (3.0, -1.0, 0.5, 2.0)  # four rewards, no two of them equal
SIZES, ACTIONS = (2, 4, 8, 16, 32, 64), range(2, 9)
PICTURE, TABLE = ROOT / "build" / "bench_groups.svg", ROOT / "build" / "bench.md"
RECORDED = ROOT / "data" / "measured" / "bench.md"


def sampled_trace(count=SAMPLES, seed=0):
    """The loop most people would write: sample, build the estimate, take the variance."""
    rng = np.random.default_rng(seed)
    p = np.exp(LOGITS) / np.exp(LOGITS).sum()
    estimates = []
    for _ in range(count):
        action = rng.choice(4, p=p)
        score = -p.copy()
        score[action] += 1
        estimates.append(REWARDS[action] * score)
    return np.var(estimates, axis=0).sum()


def vectorised_trace(count=SAMPLES, seed=0):
    """The same without a Python loop, to be fair to sampling."""
    p = bandit.softmax(LOGITS)
    actions = np.random.default_rng(seed).choice(4, p=p, size=count)
    return np.var(np.array(REWARDS)[actions, None] * (np.eye(4) - p)[actions], axis=0).sum()


def bench_trace():
    exact = seconds(lambda: bandit.covariance_trace(LOGITS, REWARDS), 2000)
    loop, vectorised = seconds(sampled_trace, 1), seconds(vectorised_trace, 5)
    value = bandit.covariance_trace(LOGITS, REWARDS)
    yield "exact covariance trace", exact, f"{value:.6f}, no error"
    yield f"loop over {SAMPLES:,} samples", loop, f"{loop / exact:,.0f} times slower"
    yield (
        "the same, vectorised",
        vectorised,
        f"{vectorised / exact:,.0f} times slower; gave {vectorised_trace():.6f}",
    )


def first_call(advantage, logits, rewards, size):
    """Seconds that a reader waits for the moments: the list of multisets is made anew each time."""

    def run():
        groups.listing.list_multisets.cache_clear()
        groups.moments(logits, rewards, advantage, size)

    return seconds(run, 9)


def closed_form(logits, rewards, size):
    return seconds(lambda: groups.rloo_covariance_trace(logits, rewards, size), 200)


def bench_groups():
    """What exact groups cost, against their size and against the number of actions."""
    functions = {"leave_one_out": advantages.leave_one_out, "grpo": advantages.grpo}
    by_size = {
        f"{name}, {kind}": [first_call(f, LOGITS, rewards, size) for size in SIZES]
        for kind, rewards in (("0/1", REWARDS), ("distinct", DISTINCT))
        for name, f in functions.items()
    } | {"closed form": [closed_form(LOGITS, DISTINCT, size) for size in SIZES]}
    # Evenly spaced logits and rewards: all rewards differ, which is the most expensive case.
    lines = [(np.linspace(-1, 1, actions), np.linspace(0, 1, actions)) for actions in ACTIONS]
    by_actions = {
        f"{name}, distinct": [first_call(f, *line, 8) for line in lines] for name, f in functions.items()
    } | {"closed form": [closed_form(*line, 8) for line in lines]}
    yield from cost_rows("size", SIZES, by_size)
    yield from cost_rows("actions", ACTIONS, by_actions)
    slowest = max(times[-1] for times in by_size.values())
    verdict = "met" if slowest < 0.05 else "MISSED"
    yield "four actions at group size 64", slowest, f"slowest of the above; aim: under 50 ms, {verdict}"
    drawing = seconds(lambda: draw(by_size, by_actions), 5)
    yield "both drawn", drawing, str(PICTURE.relative_to(ROOT))


def draw(by_size, by_actions):
    PICTURE.parent.mkdir(exist_ok=True)
    picture = figures.Picture(
        [
            cost_panel("Four actions", figures.Axis("G, samples in a group", log=True), SIZES, by_size),
            cost_panel("Groups of 8", figures.Axis("A, actions"), ACTIONS, by_actions),
        ],
        "Cost of exact groups",
        "Median of a few calls, none of which finds its multisets made. Dashed: rewards of 0 and 1.",
    )
    PICTURE.write_text(markup(picture, figures.describe(picture)), encoding="utf-8")


def cost_panel(title, axis, places, curves):
    lines = []
    for name, times in curves.items():
        colour = figures.COLOURS.get(name.partition(",")[0], figures.COLOURS["exact"])
        lines.append(figures.Line(places, np.multiply(times, 1e3), name, colour, dashed="0/1" in name))
    axis = dataclasses.replace(axis, ticks=tuple((place, str(place)) for place in places))
    return figures.Panel(title, lines, axis, figures.Axis("milliseconds", log=True), width=460, height=280)


def cost_rows(what, places, curves):
    """One row a curve: the time at the last place, and at each the ratio to the closed form."""
    for name, times in curves.items():
        ratios = " ".join(f"{t / c:,.0f}" for t, c in zip(times, curves["closed form"], strict=True))
        yield f"{name}, {what} {places[-1]}", times[-1], f"times closed form at {what} {[*places]}: {ratios}"


def bench_import():
    for module in ("pglab.bandit", "pglab.mdp", "pglab.figures", "pglab.sliders"):
        code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
        times = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5)]
        yield f"import {module}", statistics.median(times), "without torch"


def bench_move():
    """One slider move in Python: the picture, and the frame for the browser."""
    lab_of = {"reward_2": 0.3, "reward_3": -0.5, "reward_4": 0.7}  # four rewards, no two of them equal
    far, many = [-0.9, 1.7, 0.4, 1.1], np.linspace(0, 1, 81)[1:].reshape(4, 20).T.ravel()  # many: none twice
    gammas = np.linspace(0.5, 1, 51)[:-1].reshape(5, 10).T.ravel()
    chances = np.linspace(0.06, 0.94, 150).reshape(15, 10).T.ravel().round(4)  # none twice: nothing is kept
    networks = {
        f"seed {s}": oracle.exact(oracle.network(s), [4, 6], lambda y: float(sum(y) == 10), 4) for s in (0, 1)
    }
    cases = [
        ("one_step", one_step(), {}, 5, "logit_1", far),
        ("variance_lab, 1 sample", variance_lab(), {"size": 1, "weight": "value E[R]"}, 5, "logit_1", far),
        (
            "variance_lab, group of 16",
            variance_lab(),
            {"size": 16, "weight": "GRPO"} | lab_of,
            30,
            "logit_1",
            far,
        ),
        ("estimator_atlas, group of 16", estimator_atlas(), {"size": 16} | lab_of, 30, "logit_1", far),
        ("noisy_step, 4 samples", noisy_step(), {"samples": 4}, 5, "baseline", far),
        ("noisy_step, 16 samples", noisy_step(), {"samples": 16}, 30, "baseline", far),
        ("credit_lab, 8 tokens", credit_lab(), {"horizon": 8}, 5, "share", [0.1, 0.9, 0.35, 0.65]),
        ("credit_lab, gamma", credit_lab(), {"horizon": 8}, 5, "gamma", gammas),
        ("critic_lab, size of the error", critic_lab(), {}, 5, "size", many),
        ("critic_lab, gamma", critic_lab(), {}, 5, "gamma", gammas),
        ("step_lab, baseline", step_lab(), {}, 5, "baseline", far),
        ("step_lab, distance", step_lab(), {}, 5, "distance", 6 * many),
        ("network_lab, size", network_lab(networks), {"weight": "GRPO"}, 2, "size", [5, 40, 13, 60, 31, 9]),
        ("knob_lab, value", knob_lab(), {}, 5, "place", [1, 7, 3, 6, 2, 5]),
        ("length_lab, steps", length_lab(), {}, 5, "steps", 400 * many),
        ("length_lab, a new climb", length_lab(), {}, 20, "chance_right", chances),
        ("aggregation_lab, parts", aggregation_lab(), {}, 5, "parts", ["8", "2", "4", "1"]),
        ("clinic_lab, step", clinic_lab(), {}, 5, "step", [3, 29, 14, 22, 7, 18]),
        ("cluster_lab, that draw", cluster_lab(), {}, 5, "samplers", [3, 30, 9, 20]),
        ("cluster_lab, tokens", cluster_lab(), {}, 5, "answer", ["128", "16384", "1024", "32768"]),
        ("memory_lab, tokens", memory_lab(), {}, 5, "tokens", [3, 40, 9, 20]),
        ("mismatch_lab, cap", mismatch_lab(), {}, 5, "cap", [0.5, 7, 2, 4]),
        ("mismatch_lab, 12 tokens", mismatch_lab(), {"length": 12}, 5, "behind", [3, 20, 9, 14, 1]),
    ]
    for name, explorer, values, aim, slider, places in cases:
        explorer.move(**values)
        # Far apart, so that no frame is sent ahead: the move alone.
        stops = iter(np.resize(places, 150))
        measured = seconds(lambda e=explorer, s=slider, n=stops: e.move(**{s: next(n)}), 100)
        verdict = "met" if measured < aim / 1e3 else "MISSED"
        yield f"slider move, {name}", measured, f"picture and frame; aim: under {aim} ms, {verdict}"


# From the key event to the first frame that is painted with a changed drawing.
WATCH = """() => {
  window.times = []; let pressed = 0;
  const svg = document.querySelector('svg.pglab-drawing');
  document.addEventListener('keydown', e => { pressed = performance.now(); }, true);
  new MutationObserver(() => {
    const start = pressed; if (!start) return; pressed = 0;
    requestAnimationFrame(() => setTimeout(() => window.times.push(performance.now() - start), 0));
  }).observe(svg, {attributes: true, attributeFilter: ['data-key']});
}"""


def bench_keys():
    """Arrow keys on a slider in real JupyterLab; each press changes the picture."""
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        cell = nbformat.v4.new_code_cell("from pglab import sliders\nsliders.one_step().show()")
        notebook = nbformat.v4.new_notebook(cells=[cell], metadata=METADATA)
        nbformat.write(notebook, Path(folder) / "bench.ipynb")
        with (
            lab.serving(folder) as server,
            lab.chromium() as browser,
            server.open(browser, "bench.ipynb") as page,
        ):
            page.evaluate(lab.UNCOVER)
            page.evaluate(lab.RUN_ALL)
            handle = page.locator(".jp-OutputArea .noUi-handle").first
            page.locator("svg.pglab-drawing rect").first.wait_for(timeout=20_000)
            page.evaluate(WATCH)
            handle.focus()
            for i in range(KEY_PRESSES):
                handle.press("ArrowRight" if (i // 20) % 2 == 0 else "ArrowLeft")
                page.wait_for_timeout(80)
            times = sorted(page.evaluate("window.times"))
    median, p90 = statistics.median(times) / 1e3, times[int(0.9 * len(times))]
    yield (
        "key press to changed pixels",
        median,
        f"p90 {p90:.0f} ms, {len(times)} of {KEY_PRESSES} presses seen",
    )


def table(rows):
    """Print the rows as they come; the whole as Markdown."""
    lines = ["| what | median | note |", "|---|--:|---|"]
    print(f"{'what':<38}{'median':>12}   note\n" + "-" * 100)
    for name, measured, note in rows:
        shown = f"{measured * 1e6:.0f} us" if measured < 1e-3 else f"{measured * 1e3:.1f} ms"
        shown = f"{measured:.1f} s" if measured >= 10 else shown
        print(f"{name:<38}{shown:>12}   {note}", flush=True)
        lines.append(f"| {name} | {shown} | {note} |")
    return "\n".join(lines)


def store(rows, record):
    """Write the table to build/bench.md, and into data/ if it shall be kept."""
    places = [TABLE, *([RECORDED] if record else [])]
    head = f"# make bench\n\nOne run on {devices.words(torch.device('cpu'))}, {date.today()}. Ratios hold elsewhere too, times do not."
    _files.write_whole({path: f"{head}\n\n{rows}\n".encode() for path in places})
    print(f"Written to {', '.join(str(path.relative_to(ROOT)) for path in places)}.")


def main(arguments):
    parts = [bench_trace, bench_groups, bench_import, bench_move]
    parts += [bench_lm.bench_sampling, bench_lm.bench_oracle, bench_lm.bench_pretraining]
    parts += [bench_rl.bench_shares, bench_rl.bench_race]
    if "--no-browser" not in arguments:
        if lab.find_chromium():
            parts.append(bench_keys)
        else:
            print("No Chromium found: the key presses are left out. Install it or set PGLAB_CHROMIUM.")
    store(table(row for part in parts for row in part()), "--record" in arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
