"""The memory bill, item by item."""

from typing import NamedTuple

from pglab import _checks
from pglab.scaling.decoder import checked

# Bytes of one parameter, by item. "mixed": weights and gradients in half precision, and what the optimiser
# reads and writes in float32: a master copy of the weights, and AdamW's two moments.
PRECISIONS = {
    "float32": {"weights": 4, "gradients": 4, "master copy": 0, "moments": 8},
    "mixed": {"weights": 2, "gradients": 2, "master copy": 4, "moments": 8},
    "half": {"weights": 2, "gradients": 2, "master copy": 0, "moments": 4},
}
ROLES = (
    "trained",
    "frozen",
)  # a frozen model only infers: the reference, a reward model, a copy that samples
SHARED_FROM = {"weights": 3, "gradients": 2, "master copy": 1, "moments": 1}  # ZeRO's stages


class Item(NamedTuple):
    """One line of the bill, on one GPU."""

    model: str  # policy, critic, reference, reward model
    item: str  # weights, gradients, master copy, moments, activations, cache
    bytes: float


def held(algorithm, reward_model=False):
    """The models that an algorithm holds: {model: role}.

    Args:
      algorithm: whatever ``algorithms.named`` takes.
      reward_model: whether a learned model pays; a verifier needs no memory to speak of.

    Raises:
      ValueError: an unknown algorithm.
    """
    from pglab import algorithms  # torch, which a bill by itself does not need

    algorithm = algorithms.named(algorithm)
    found = {"policy": "trained"}
    if algorithm.weight == "critic":
        found["critic"] = "trained"
    if algorithm.kl:
        found["reference"] = "frozen"
    if reward_model:
        found["reward model"] = "frozen"
    return found


def bill(
    decoder, algorithm="grpo", precision="mixed", *, reward_model=False, tokens=0, cached=0, checkpointing=False,
    gpus=1, stage=0,
):  # fmt: skip
    """What lies in the memory of one GPU.

    The models of the algorithm all have the same shape. Items that a stage shares are divided by the GPUs: the
    optimiser's from stage 1, gradients from 2, weights from 3. Left out: the allocator's waste, buffers of
    messages, the program itself (a GB or two on a GPU).

    Args:
      decoder: Decoder.
      algorithm: whatever ``algorithms.named`` takes; it decides which models there are. Or these themselves,
        {model: role}, as ``held`` gives them.
      precision: a key of ``PRECISIONS``.
      reward_model: as ``held``.
      tokens: of one micro-batch on this GPU, whose activations wait for the backward pass.
      cached: tokens whose keys and values the sampler holds at once, where this GPU samples too.
      checkpointing: whether each layer's activations are thrown away and computed again (all but its input).
      gpus: that share, at least 1.
      stage: 0 to 3, of ZeRO.

    Returns:
      a list of Item, largest models first, without those of 0 bytes.

    Raises:
      ValueError: an unknown precision, counts below their ends.

    Source: Rajbhandari et al. 2020 (ZeRO), sections 3.1 and 5; Kingma and Ba 2015 (the two moments).
    """
    checked(decoder)
    per = PRECISIONS[_checks.one_of("precision", precision, list(PRECISIONS))]
    gpus, stage = _checks.whole("gpus", gpus, low=1), _checks.whole("stage", stage, low=0)
    if stage > 3:
        raise ValueError(f"stage is {stage}; it must be from 0 to 3.")
    items, models = [], algorithm if isinstance(algorithm, dict) else held(algorithm, reward_model)
    for model, role in models.items():
        _checks.one_of("role", role, ROLES, repr)
        for item, size in per.items():
            if role == "trained" or item == "weights":
                share = gpus if stage >= SHARED_FROM[item] else 1
                items.append(Item(model, item, size * decoder.parameters / share))
        if role == "trained":
            size = activations(decoder, tokens, per["weights"], checkpointing)
            items.append(Item(model, "activations", size))
        if model == "policy":
            items.append(Item(model, "cache", cache(decoder, cached, per["weights"])))
    return [item for item in items if item.bytes]


def cache(decoder, tokens, size=2):
    """Bytes of the keys and values of so many tokens.

        2 * layers * kv_heads * head_size * size * tokens

    Args:
      decoder: Decoder.
      tokens: at least 0.
      size: bytes of a number.

    Source: Pope et al. 2022, section 2.1.
    """
    _checks.number("tokens", tokens, low=0)
    return 2 * decoder.layers * decoder.kv_heads * decoder.head_size * size * tokens


def activations(decoder, tokens, size=2, checkpointing=False):
    """Bytes that one forward pass keeps for the backward pass.

    Of each token and layer autograd keeps: the main stream before both norms (2 d) and behind them (2 d); queries,
    keys and values; what attention found; and what ``Decoder.inside`` counts of the MLP. Fused attention keeps no
    table of who looks at whom, only one float32 number a head; each norm keeps two float32. At the end the final
    norm and the logits, these in float32.

    Args:
      decoder: Decoder.
      tokens: B L.
      size: bytes of a number, 2 in half precision.
      checkpointing: keep the input of each layer alone, and one layer's rest while it is worked on.

    Returns:
      bytes.

    Source: Korthikanti et al. 2022, section 4.1, recounted for fused attention and no dropout.
    """
    _checks.number("tokens", tokens, low=0)
    d, end = decoder.width, _end(decoder, size)
    if checkpointing:
        return tokens * (decoder.layers * d * size + _layer(decoder, size) + end)
    return tokens * (decoder.layers * _layer(decoder, size) + end)


def _layer(decoder, size):
    """Bytes of one token in one layer."""
    q, kv = decoder.heads * decoder.head_size, decoder.kv_heads * decoder.head_size
    return size * (4 * decoder.width + 2 * q + 2 * kv + decoder.inside) + 4 * (decoder.heads + 4)


def _end(decoder, size):
    """Bytes of one token behind the last layer: the final norm's both sides, the logits' softmax."""
    return size * 2 * decoder.width + 8 + 4 * decoder.vocabulary


def score_activations(decoder, prompts, prompt_length, rows, width):
    """What a step of ``training`` keeps, which reads each prompt once for all of its completions; float32.

    Prompts and completions pass the layers apart. The completions' attention keeps, for each row, the keys
    and values of its prompt once more; the head is asked only where a token of a completion is next.

    Args:
      decoder: Decoder of an lm.SmallLM.
      prompts: b, that are read; prompt_length: P tokens each.
      rows: n completions that are read; width: T tokens of the longest.

    Returns:
      {item: bytes}: "prompts", "completions", "logits".

    Source: ``sampling.states``, counted.
    """
    d, here = checked(decoder).width, rows * (width - 1)
    layer, norm, number = _layer(decoder, 4), 4 * d + 8, 8
    again = decoder.layers * 2 * 4 * d * rows * (prompt_length + width - 1) if width > 1 else 0
    mask = 4 * decoder.layers * (width - 1) * (prompt_length + width - 1)
    return {
        "prompts": prompts * prompt_length * (decoder.layers * layer + norm + number),
        "completions": here * (decoder.layers * layer + norm + number) + again + mask,
        "logits": rows * width * (4 * d + 4 * decoder.vocabulary + LOSS),
    }


def score_peak(decoder, prompts, prompt_length, rows, width):
    """The most that one gradient of ``training`` takes beside the weights.

    One of two moments. The gradient of the logits is there, and nothing has been freed; or the way back stands in
    the last layer's MLP: the logits are gone, and there are gradients of the main stream, of both sides of the
    MLP's inside, and of two weights. For batches whose activations weigh at least twice as much as the weights;
    with smaller ones the most may come at the end, when all weights have their gradients.

    Args:
      decoder, prompts, prompt_length, rows, width: as ``score_activations``.

    Returns:
      bytes.

    Source: ``training.update``, counted.
    """
    kept = score_activations(decoder, prompts, prompt_length, rows, width)
    d, all_kept = decoder.width, sum(kept.values())
    first = 4 * rows * width * decoder.vocabulary
    weights = 4 * d * (decoder.vocabulary + decoder.mlp)
    inside = 4 * (2 * rows * (width - 1) * decoder.mlp + rows * width * d)
    return all_kept + max(first, inside + weights - kept["logits"])


LOSS = 23  # bytes of a token in the loss itself: ratio, mask, advantage
