"""The seconds of one step on a cluster, reckoned: generation waits for memory, training for arithmetic."""

import math
from typing import NamedTuple

from pglab import _checks
from pglab.scaling.decoder import checked
from pglab.scaling.memory import bill, cache

USABLE = 0.9  # share of a GPU's memory that weights, caches and the optimiser may fill; assumed
ALONE = {"policy": "trained"}


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
    at_once: int  # completions that one copy of the model draws side by side
    waves: int  # how often it does so, because no more caches have room


def step(
    decoder, gpu="H100 80 GB", *, prompts=128, group=16, prompt_length=256, answer_length=2048, epochs=1,
    samplers=8, trainers=8, reference=False, used=0.4, streamed=0.7, size=2,
):  # fmt: skip
    """Seconds of one step, if samplers and trainers are different GPUs.

        a token drawn     2 P + 4 L H D s operations; weights and caches are read once for all that are drawn side by side
        a token trained   three times as many (once forward, twice backward);     a token scored   once as many

    P are the parameters that a token is multiplied with, s how many tokens it looks at on average. Every sampling GPU
    holds the whole model (or as many share one as ``samplers_needed`` says, and work as one) and draws an equal share
    of the completions, all to the same length: as many side by side as their caches have room, then the next.

    Left out: messages between GPUs, verifiers, samplers that are left over where several share a model. Whether the
    trainers have room is what ``trainers_needed`` says.

    Args:
      decoder: Decoder.
      gpu: a key of ``GPUS``, or a Gpu.
      prompts, group: completions are their product.
      prompt_length, answer_length: in tokens. A sampler reads each prompt once, a trainer with each answer.
      epochs: updates on each batch.
      samplers, trainers: GPUs that draw, and that train.
      reference: whether a reference scores every completion, on the trainers.
      used: share of the peak arithmetic that matrix products reach, above 0, at most 1.
      streamed: share of the bandwidth that reading weights and caches reaches.
      size: bytes of a number.

    Returns:
      Step.

    Raises:
      ValueError: an unknown GPU, numbers outside their ends, fewer samplers than one copy of the model takes.

    Source: Kaplan et al. 2020, section 2.1 (operations); Pope et al. 2022, section 2 (what decoding waits for).
    """
    card, length = _card(gpu), prompt_length + answer_length
    counts = dict(prompts=prompts, group=group, prompt_length=prompt_length, answer_length=answer_length)
    for name, value in (counts | dict(epochs=epochs, trainers=trainers, size=size)).items():
        _checks.whole(name, value, low=1)
    for name, value in (("used", used), ("streamed", streamed)):
        if not 0 < _checks.number(name, value) <= 1:
            raise ValueError(f"{name} is {value}; it must be above 0 and at most 1.")
    share = samplers_needed(decoder, card, length, size)
    copies = _checks.whole("samplers", samplers, low=share) // share
    reached = Gpu(used * card.arithmetic, streamed * card.bandwidth, card.memory)
    drawn = _draw(decoder, Gpu(*(share * each for each in reached)), **counts, copies=copies, size=size)
    forward = 2 * decoder.multiplied + decoder.attending(length / 2)
    once = forward * prompts * group * length / (reached.arithmetic * trainers)
    return Step(drawn[0], once * reference, 3.0 * once * epochs, *drawn[1:])


def _draw(decoder, card, prompts, group, prompt_length, answer_length, copies, size):
    """Seconds of generation, and what ``Step`` says of it; ``card`` is all that holds one copy of the model."""
    many, seen = (
        prompts * group / copies,
        prompt_length + answer_length / 2,
    )  # a token looks back on average so far
    weights, answer = size * decoder.parameters, cache(decoder, prompt_length + answer_length, size)
    fit = max((USABLE * card.memory - weights) // answer, 1)  # at least 1, but for rounding: samplers_needed
    waves = math.ceil(many / fit)
    at_once = many / waves
    memory = (weights + at_once * cache(decoder, seen, size)) / card.bandwidth
    work = at_once * (2 * decoder.multiplied + decoder.attending(seen)) / card.arithmetic
    reading = 2 * decoder.multiplied + decoder.attending(prompt_length / 2)
    first = prompts / copies * prompt_length * reading / card.arithmetic
    waits = "memory" if memory >= work else "arithmetic"
    return waves * answer_length * max(memory, work) + first, waits, math.ceil(at_once), waves


def samplers_needed(decoder, gpu, tokens, size=2):
    """GPUs that one copy of the model takes, with room for caches beside it.

        usable memory >= max(2 weights, weights + cache of one answer)

    At least as much room for caches as for weights: with less, only a few answers would be drawn side by side.

    Args:
      decoder: Decoder.
      gpu: as ``step``.
      tokens: of the answer and its prompt.
      size: bytes of a number.

    Returns:
      a whole number.

    Raises:
      ValueError: an unknown GPU, tokens below 0.
    """
    weights = size * checked(decoder).parameters
    return math.ceil((weights + max(weights, cache(decoder, tokens, size))) / (USABLE * _card(gpu).memory))


def trainers_needed(decoder, gpu, tokens, models=ALONE, precision="mixed"):
    """GPUs that what is trained takes, if all of it is shared (ZeRO, stage 3).

        n usable memory >= n activations + all else

    Args:
      decoder: Decoder.
      gpu: as ``step``.
      tokens: of a micro-batch on each GPU; only the inputs of layers are kept.
      models: {model: role}, as ``bill``.
      precision: as ``bill``.

    Returns:
      a whole number; inf where the activations alone do not fit.

    Raises:
      ValueError: as ``bill``; an unknown GPU.
    """
    items = bill(decoder, models, precision, tokens=tokens, checkpointing=True)
    alone = sum(item.bytes for item in items if item.item == "activations")
    room = USABLE * _card(gpu).memory - alone
    return (
        math.ceil(sum(item.bytes for item in items if item.item != "activations") / room)
        if room > 0
        else math.inf
    )


def _card(gpu):
    return gpu if isinstance(gpu, Gpu) else GPUS[_checks.one_of("gpu", gpu, list(GPUS))]


def balance(decoder, gpus, gpu="H100 80 GB", **more):
    """How to divide GPUs into samplers and trainers so that neither waits long for the other.

    While the trainers learn from one batch the samplers draw the next, one step stale; a step takes as long as
    the slower of the two.

    Args:
      decoder, gpu, more: as ``step``, without samplers and trainers.
      gpus: how many there are, at least one more than a copy of the model takes.

    Returns:
      samplers, and the seconds of a step.

    Raises:
      ValueError: fewer GPUs; as ``step``.
    """

    def slower(samplers):
        found = step(decoder, gpu, samplers=samplers, trainers=gpus - samplers, **more)
        return max(found.generation, found.scoring + found.training)

    length = more.get("prompt_length", 256) + more.get("answer_length", 2048)
    share = samplers_needed(decoder, gpu, length, more.get("size", 2))
    _checks.whole("gpus", gpus, low=share + 1)
    best = min(range(share, gpus), key=slower)
    return best, slower(best)
