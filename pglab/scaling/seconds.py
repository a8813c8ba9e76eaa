"""The seconds of one step on a cluster, reckoned: generation waits for memory, training for arithmetic."""

import math
from typing import NamedTuple

from pglab import _checks


class Gpu(NamedTuple):
    """What a data sheet says of a GPU."""

    arithmetic: float  # operations a second in bfloat16, dense
    bandwidth: float  # bytes a second between the GPU and its memory
    memory: float  # bytes


# NVIDIA's data sheets: A100 80GB SXM (2021), H100 SXM (2022), H200 SXM (2023).
GPUS = {
    "A100 80 GB": Gpu(312e12, 2.039e12, 80e9),
    "H100 80 GB": Gpu(989e12, 3.35e12, 80e9),
    "H200 141 GB": Gpu(989e12, 4.8e12, 141e9),
}


class Step(NamedTuple):
    """Seconds of the parts of one step."""

    generation: float
    scoring: float  # log-probabilities under the reference, where a KL asks for them
    training: float
    waits_for: str  # what generation waits for most of the time: "memory" or "arithmetic"
    at_once: int  # completions that one GPU draws side by side


def step(
    decoder, gpu="H100 80 GB", *, prompts=128, group=16, prompt_length=256, answer_length=2048, epochs=1,
    samplers=8, trainers=8, reference=False, used=0.4, streamed=0.7,
):  # fmt: skip
    """Seconds of one step, if samplers and trainers are different GPUs.

        a token drawn     2 P operations a completion;  all weights and every cache read once for all that are drawn side by side
        a token trained   6 P operations: 2 forward, 4 backward;     a token scored   2 P

    P are the parameters that a token is multiplied with. Every sampling GPU holds the whole model in half precision
    (or as few share one as can hold it) and draws an equal share of the completions, all to the same length.

    Args:
      decoder: Decoder.
      gpu: a key of ``GPUS``.
      prompts, group: completions are their product.
      prompt_length, answer_length: in tokens.
      epochs: updates on each batch.
      samplers, trainers: GPUs that draw, and that train.
      reference: whether a reference scores every completion, on the trainers.
      used: share of the peak arithmetic that matrix products reach in training and scoring, from 0 to 1.
      streamed: share of the bandwidth that reading weights and caches reaches.

    Returns:
      Step.

    Raises:
      ValueError: an unknown GPU, numbers outside their ends.

    Source: Kaplan et al. 2020, section 2.1 (2 P and 4 P); Pope et al. 2022, section 2 (what decoding waits for).
    """
    card = GPUS[_checks.one_of("gpu", gpu, list(GPUS))]
    counts = dict(prompts=prompts, group=group, prompt_length=prompt_length, answer_length=answer_length)
    counts |= dict(epochs=epochs, samplers=samplers, trainers=trainers)
    for name, value in counts.items():
        _checks.whole(name, value, low=1)
    for name, value in (("used", used), ("streamed", streamed)):
        if not 0 < _checks.number(name, value) <= 1:
            raise ValueError(f"{name} is {value}; it must be above 0 and at most 1.")
    weights, each = 2 * decoder.parameters, 2 * decoder.multiplied
    share = math.ceil(weights / (0.9 * card.memory))  # GPUs that hold one copy
    copies = max(samplers // share, 1)
    at_once = math.ceil(prompts * group / copies)
    bandwidth, arithmetic = streamed * card.bandwidth * share, used * card.arithmetic * share
    own = 4 * decoder.layers * decoder.kv_heads * decoder.head_size  # bytes of a token's keys and values
    read = weights + at_once * own * (prompt_length + answer_length / 2)  # on average over the answer
    memory, work = read / bandwidth, at_once * each / arithmetic
    drawn = answer_length * max(memory, work) + prompts * prompt_length * each / (arithmetic * copies)
    tokens = prompts * group * (prompt_length + answer_length)
    trained = 3 * each * tokens * epochs / (used * card.arithmetic * trainers)
    scored = each * tokens / (used * card.arithmetic * trainers) if reference else 0.0
    return Step(drawn, scored, trained, "memory" if memory >= work else "arithmetic", at_once)


def balance(decoder, gpus, gpu="H100 80 GB", **more):
    """How to divide GPUs into samplers and trainers so that neither waits long for the other.

    While the trainers learn from one batch the samplers draw the next, one step stale; a step takes as long as
    the slower of the two.

    Args:
      decoder, gpu, more: as ``step``, without samplers and trainers.
      gpus: how many there are, at least 2.

    Returns:
      samplers, and the seconds of a step.

    Raises:
      ValueError: fewer than 2 GPUs; as ``step``.
    """

    def slower(samplers):
        found = step(decoder, gpu, samplers=samplers, trainers=gpus - samplers, **more)
        return max(found.generation, found.scoring + found.training)

    _checks.whole("gpus", gpus, low=2)
    best = min(range(1, gpus), key=slower)
    return best, slower(best)
