"""Notebook 11: the memory of one GPU in training, item by item and model by model."""

from functools import partial

import numpy as np

from pglab import _checks
from pglab.figures import Axis, Bars, Panel, Picture, Rule, named_axis
from pglab.figures.palette import BLUE, GREEN, INDIGO, OCHRE, PURPLE, VERMILLION
from pglab.scaling.decoder import MODELS
from pglab.scaling.memory import PRECISIONS, bill
from pglab.sliders.controls import Choice, Slider
from pglab.sliders.ends import end_for
from pglab.sliders.explorer import Explorer

# The models that an algorithm holds, as scaling.held says (a test compares; asking it here would load torch).
ALGORITHMS = {
    "GRPO": {"policy": "trained"},
    "GRPO, KL": {"policy": "trained", "reference": "frozen"},
    "PPO": {"policy": "trained", "critic": "trained"},
    "PPO, RLHF": {"policy": "trained", "critic": "trained", "reference": "frozen", "reward model": "frozen"},
}
SIZES = tuple(MODELS)
GPUS = ("1", "2", "4", "8", "16", "32", "64")
ITEMS = ("weights", "gradients", "master copy", "moments", "activations", "cache")
HUES = (BLUE, VERMILLION, OCHRE, GREEN, PURPLE, INDIGO)  # of the items
ROLES = ("policy", "critic", "reference", "reward model")
CARD = 80  # GB of an H100 or an A100
ENDS = (10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000)
GB = 1e9
AXIS = partial(Axis, "GB (line: one GPU of 80 GB)", 0)


def memory_lab(
    model="Qwen2.5 7 B", algorithm="GRPO", precision="mixed", gpus=8, stage=0, tokens=8, cached=128, keep="inputs"
):  # fmt: skip
    """The explorer of the memory bill.

    Args:
      model: a key of ``scaling.MODELS``.
      algorithm: a key of ``ALGORITHMS``.
      precision: a key of ``scaling.PRECISIONS``.
      gpus: that share, one of ``GPUS`` as a number.
      stage: of ZeRO, from 0 to 3.
      tokens: thousands in a micro-batch, from 1 to 64.
      cached: thousands of tokens in the sampler's cache, from 0 to 512.
      keep: "all" activations, or the "inputs" of the layers alone.

    Returns:
      Explorer.

    Raises:
      ValueError: a start outside the sliders' ends, unknown names.
    """
    for name, value, known in (
        ("model", model, SIZES), ("algorithm", algorithm, list(ALGORITHMS)), ("precision", precision, list(PRECISIONS)),
        ("keep", keep, ("all", "inputs")), ("gpus", str(gpus), GPUS),
    ):  # fmt: skip
        _checks.one_of(name, value, known, repr)
    controls = [
        Choice("model", "model", model, SIZES, group="the run"),
        Choice("algorithm", "algorithm", algorithm, tuple(ALGORITHMS), group="the run"),
        Choice("precision", "precision", precision, tuple(PRECISIONS), group="the run"),
        Choice("gpus", "GPUs", str(gpus), GPUS, group="sharing"),
        Slider("stage", "ZeRO stage", stage, 0, 3, 1, group="sharing"),
        Slider("tokens", "thousand tokens", tokens, 1, 64, 1, group="a micro-batch"),
        Choice("keep", "activations kept", keep, ("all", "inputs"), group="a micro-batch"),
        Slider("cached", "thousand cached", cached, 0, 512, 16, group="a micro-batch"),
    ]

    def picture_at(model, algorithm, precision, gpus, stage, tokens, keep, cached):
        return picture(model, algorithm, precision, int(gpus), int(stage), int(tokens), int(cached), keep)

    return Explorer(controls, picture_at)


def picture(model, algorithm, precision, gpus, stage, tokens, cached, keep):
    """GB on one GPU, by item and by model.

    Args:
      model, algorithm, precision, gpus, stage, tokens, cached, keep: as in ``memory_lab``.

    Returns:
      Picture of two panels with a caption of three lines.

    Raises:
      ValueError: unknown names; as ``scaling.bill``.
    """
    decoder = MODELS[_checks.one_of("model", model, SIZES, repr)]
    models = ALGORITHMS[_checks.one_of("algorithm", algorithm, list(ALGORITHMS), repr)]
    items = bill(
        decoder, models, precision, tokens=1000 * tokens, cached=1000 * cached,
        checkpointing=keep == "inputs", gpus=gpus, stage=stage,
    )  # fmt: skip
    table = np.zeros((len(ITEMS), len(ROLES)))
    for each in items:
        table[ITEMS.index(each.item), ROLES.index(each.model)] += each.bytes / GB
    total = float(table.sum())
    top = end_for(max(total, CARD), ENDS)
    panels = _item_panel(table.sum(1), top), _model_panel(table, top)
    names = " and ".join(f"{name} ({role})" for name, role in models.items())
    fits = "fits" if total < CARD else "does not fit"
    first = f"{decoder.parameters / 1e9:.2f} billion parameters. Held: {names}."
    share = {
        0: "nothing is shared",
        1: "the optimiser's part is shared",
        2: "gradients too",
        3: "weights too",
    }[stage]
    second = f"{gpus} GPUs, stage {stage}: {share}. {tokens},000 tokens in a micro-batch, {cached},000 in the cache."
    return Picture(
        panels, "GB on one GPU", f"{first}\n{second}\nTogether {total:,.1f} GB: it {fits} into {CARD} GB."
    )


def _item_panel(heights, top):
    """The colours of this panel are those of the other."""
    marks = [Bars(range(len(ITEMS)), heights, colour=HUES, values=".1f"), Rule(CARD)]
    return Panel("By item", marks, named_axis(ITEMS), AXIS(high=top), 500, 300)


def _model_panel(table, top):
    """Items on each other, and in the first column all models together. The lower pieces cover the taller bars."""
    columns = np.column_stack([table.sum(1), table])  # (items, 1 + models)
    ends, places = columns.cumsum(0), range(columns.shape[1])
    marks = [
        Bars(places, ends[k], colour=HUES[k], values=".1f" if k == len(ITEMS) - 1 else "")
        for k in reversed(range(len(ITEMS)))
    ]
    names = ("together", *ROLES)
    return Panel(
        "By model, items on each other", [*marks, Rule(CARD)], named_axis(names), AXIS(high=top), 440, 300
    )
