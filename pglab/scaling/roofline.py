"""The reckoning of seconds, held against the processor it runs on: untrained small models of growing width."""

import time

import numpy as np
import torch

from pglab import _checks, lm, logprobs, sampling
from pglab.scaling.decoder import Decoder
from pglab.scaling.seconds import Gpu, step

VOCABULARY, HEADS = 1000, 4  # so many tokens that hardly an answer ends before its time
PROMPT, ANSWER = 4, 16
MEMORY = 8e9  # enough that every cache fits


def time_shape(width, layers, prompts, group, repeats=5):
    """Median seconds of drawing a batch, and of one gradient of it, as ``step`` reckons them.

    Every answer has 16 tokens, every text is read whole, prompt included, by the one pass that learns.

    Args:
      width, layers: of an untrained lm.SmallLM with 4 heads and 1,000 tokens.
      prompts, group: completions are their product; a prompt has 4 tokens.
      repeats: that are timed, after one that is not.

    Returns:
      {"width", "layers", "prompts", "group", "generation", "training"}, the last two in seconds.
    """
    model = lm.SmallLM(VOCABULARY, PROMPT + ANSWER, width, layers, HEADS)
    generator = torch.Generator().manual_seed(0)
    tokens = torch.randint(1, VOCABULARY, (prompts * group, PROMPT + ANSWER), generator=generator)
    found = []
    for _ in range(repeats + 1):
        began = time.perf_counter()
        sampling.sample(model, tokens[::group, :PROMPT], group, ANSWER, generator=generator)
        drawn = time.perf_counter()
        model.zero_grad(set_to_none=True)
        logprobs.token_logprobs(model(tokens), tokens).sum().backward()
        found.append((drawn - began, time.perf_counter() - drawn))
    about = {"width": width, "layers": layers, "prompts": prompts, "group": group}
    seconds = np.median(found[1:], axis=0).tolist()
    return about | dict(zip(("generation", "training"), seconds, strict=True))


def calibrate(rows):
    """The processor as a Gpu: two rates from two rows of ``time_shape``, each the one where it should be purest.

        arithmetic = operations / seconds of training    in the row with the most operations
        bandwidth  = bytes read / seconds of generation  in the row with the most bytes for each operation

    Args:
      rows: as ``time_shape`` gives them, or as ``measured_times()["shapes"]``.

    Returns:
      Gpu.
    """
    _checks.kind("rows", rows, (list, tuple), 'a list, such as measured_times()["shapes"]')
    unit = Gpu(1.0, 1.0, MEMORY)
    work = max(rows, key=lambda row: reckon(row, unit).training)
    read = max(rows, key=lambda row: _decoder(row).parameters / (row["prompts"] * row["group"]))
    slow = Gpu(1e30, 1.0, MEMORY)  # whose arithmetic takes no time
    return Gpu(
        reckon(work, unit).training / work["training"],
        reckon(read, slow).generation / read["generation"],
        MEMORY,
    )


def reckon(row, card):
    """``step`` for one row, in float32 and with nothing taken off the rates.

    Args:
      row: as ``time_shape`` gives it.
      card: Gpu.

    Returns:
      Step.
    """
    _checks.table_of("row", row, 'such as measured_times()["shapes"][0]')
    counts = {name: row[name] for name in ("prompts", "group")}
    return step(
        _decoder(row), card, **counts, prompt_length=PROMPT, answer_length=ANSWER, samplers=1, trainers=1,
        used=1, streamed=1, size=4,
    )  # fmt: skip


def _decoder(row):
    return Decoder(
        row["layers"], row["width"], HEADS, 4 * row["width"], VOCABULARY, positions=PROMPT + ANSWER
    )
