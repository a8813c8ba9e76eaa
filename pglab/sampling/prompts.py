"""Prompts as tokens, looked at before a model reads them."""

import torch

from pglab import lm


def as_tokens(model, prompts, steps):
    """(B, P) tokens on the model's device, and the mask, or None where nothing is padded."""
    mask = None
    if not isinstance(prompts, torch.Tensor):
        prompts, mask = lm.encode_all(prompts)
        mask = None if bool(mask.all()) else mask.to(model.device)
    whole_numbers("prompts", prompts, "(B, P)")
    context, length = model.shape["context"], prompts.shape[1]
    if length + steps > context + 1:
        raise ValueError(
            f"prompts of {length} tokens and max_new_tokens {steps} need a context of {length + steps - 1}; "
            f"this model has {context}. Take shorter prompts or fewer new tokens."
        )
    return prompts.to(model.device), mask


def whole_numbers(name, tokens, shape):
    kind, size = getattr(tokens, "dtype", type(tokens).__name__), tuple(getattr(tokens, "shape", ()))
    if kind not in (torch.int64, torch.int32) or len(size) != 2 or 0 in size:
        wanted = f"a tensor of whole numbers of shape {shape}, neither of them 0"
        raise ValueError(f"{name} is {kind} of shape {size}; it must be {wanted}.")
