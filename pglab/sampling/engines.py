"""A rollout engine beside the trainer: the same weights in lower precision, and how far its probabilities are off."""

import copy
from typing import NamedTuple

import torch

from pglab import _checks
from pglab.sampling.draw import sample
from pglab.sampling.scoring import score

PRECISIONS = ("float16", "bfloat16", "int8")
WAYS = ("weights", "all")


def engine(model, precision, way="weights"):
    """A copy of a model as an engine would hold it.

        "float16", "bfloat16"   each number rounded to that type
        "int8"                  each row of a matrix a whole number from -127 to 127, times one scale:
                                w ~ scale round(w / scale),   scale = max |w| / 127

    Args:
      model: a torch module; it stays as it is.
      precision: one of ``PRECISIONS``; "int8" leaves vectors, the scales of the norms, alone.
      way: "weights" rounds these and computes in the model's precision; "all" computes in the half precision
        as well, and is not for "int8".

    Returns:
      The copy, without gradients.

    Raises:
      ValueError: unknown names, "all" for "int8".

    Source: Dettmers et al. 2022 (LLM.int8()), section 2.1 (row by row, the largest entry to 127).
    """
    _checks.one_of("precision", precision, PRECISIONS, repr), _checks.one_of("way", way, WAYS, repr)
    if precision == "int8" and way == "all":
        raise ValueError("way is 'all', for precision 'int8'; it must be 'weights'.")
    copied = copy.deepcopy(model).requires_grad_(False)
    if way == "all":
        return copied.to(getattr(torch, precision))
    for weight in copied.parameters():
        weight.data = _rows(weight.data) if precision == "int8" else _there_and_back(weight.data, precision)
    return copied


def _there_and_back(weight, precision):
    return weight.to(getattr(torch, precision)).to(weight.dtype)


def _rows(weight):
    if weight.ndim < 2:
        return weight
    scale = weight.abs().amax(-1, keepdim=True).clamp(min=torch.finfo(weight.dtype).tiny) / 127
    return scale * (weight / scale).round()


class Mismatch(NamedTuple):
    """N completions drawn by an engine, and what trainer and engine say of them."""

    trained: torch.Tensor  # (N, T) log-probabilities under the model that is trained, in nats
    drawn: torch.Tensor  # (N, T) the same under the engine
    mask: torch.Tensor  # (N, T)

    @property
    def token(self):
        """(M,) log pi - log mu of every token, in nats."""
        return (self.trained - self.drawn)[self.mask]

    @property
    def sequence(self):
        """(N,) log pi - log mu of every completion, in nats."""
        return (self.trained - self.drawn).where(self.mask, 0.0).sum(1)


@torch.no_grad()
def mismatch(
    model, engine, prompts, group_size=1, max_new_tokens=16, temperature=1.0, generator=None, **settings
):
    """Draws completions from an engine, and asks the model that is trained about them.

    Args:
      model: lm.SmallLM, which is trained, at temperature 1.
      engine: lm.SmallLM that samples: one that ``engine`` gives, one of some steps before, or the model itself.
      prompts, group_size, max_new_tokens, temperature, generator: as ``sample``, of the engine.
      settings: top_k and top_p of the engine, as in ``sample``.

    Returns:
      Mismatch, in float32 or the model's precision.

    Raises:
      ValueError: as ``sample``.

    Source: Yao et al. 2025 (Your efficient RL framework secretly brings you off-policy RL training).
    """
    drawn = sample(engine, prompts, group_size, max_new_tokens, temperature, generator, **settings)
    trained = score(model, prompts, drawn.tokens).where(drawn.mask, 0.0)
    return Mismatch(trained, drawn.logprobs.to(trained), drawn.mask)
