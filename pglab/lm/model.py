"""A small decoder-only transformer: GPT-2's shape, small enough to train on a laptop's processor.

Left out: dropout, biases, and whatever serves only large models; ReLU stands in place of GELU. The
output head is the token embedding (tied), as in GPT-2.
"""

import math

import torch
from torch import nn
from torch.nn import functional

from pglab import _checks
from pglab.lm.text import ALPHABET

VOCABULARY = len(ALPHABET)


class Block(nn.Module):
    """Attention, then an MLP four times as wide; each reads a normalised copy and adds what it found.

    How a position looks back is handed in as a function: the whole text at once, or a cache.
    """

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = (nn.LayerNorm(width, bias=False) for _ in range(2))
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.up = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)

    def forward(self, x, attend):
        batch, length, width = x.shape
        split = self.qkv(self.norm_1(x)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)  # each (B, heads, L, width / heads)
        seen = attend(query, key, value)  # (B, heads, L, width / heads)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, length, width))
        wide = self.up(self.norm_2(x))  # (B, L, 4 width); without gradients it may be overwritten
        return x + self.down(functional.relu(wide, inplace=not torch.is_grad_enabled()))


class SmallLM(nn.Module):
    """A language model: for every position of a text, logits of the next token.

    Args:
      vocabulary: V, how many tokens there are; 32 for the alphabet of ``lm.ALPHABET``.
      context: the most tokens a text may have, prompt and completion together.
      width: d, numbers that stand for one position. A multiple of heads.
      layers, heads: of the transformer.
      seed: of the random start; the same seed gives the same weights.

    Raises:
      ValueError: numbers that are not whole and positive, a width that the heads do not divide.

    Source: Radford et al. 2019 (GPT-2), section 2.3; Vaswani et al. 2017, section 3.
    """

    def __init__(self, vocabulary=VOCABULARY, context=32, width=64, layers=2, heads=4, seed=0):
        super().__init__()
        self.shape = {
            name: _checks.whole(name, value, low=1)
            for name, value in dict(
                vocabulary=vocabulary, context=context, width=width, layers=layers, heads=heads
            ).items()
        }
        if self.shape["width"] % self.shape["heads"]:
            raise ValueError(f"width is {width}; it must be a multiple of heads, which is {heads}.")
        vocabulary, context, width, layers, heads = self.shape.values()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width, bias=False)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.tokens.weight  # tied: one matrix reads tokens in and out
        self._initialise(torch.Generator().manual_seed(_checks.whole("seed", seed, low=0)))

    def _initialise(self, generator):
        """Normal with deviation 0.02; what is added to the main stream is smaller the more layers add."""
        for name, parameter in self.named_parameters():
            if parameter.ndim == 2:
                added = name.endswith(("out.weight", "down.weight"))
                scale = 0.02 / math.sqrt(2 * len(self.blocks)) if added else 0.02
                nn.init.normal_(parameter, std=scale, generator=generator)

    def forward(self, tokens, mask=None):
        """Logits of the next token at every position.

        Args:
          tokens: (B, L) whole numbers from 0 to V - 1, L at most the context.
          mask: (B, L) booleans, False where a place is padding, left or right; None if none is.
            Padding is not seen and does not count as a position. Any token may stand there.

        Returns:
          (B, L, V) logits. Those at position t speak about token t + 1.

        Raises:
          ValueError: tokens of another shape or type, longer than the context, or (on a CPU, where
            that costs nothing) outside the vocabulary.
        """
        return self.head(self.hidden(tokens, mask))

    def hidden(self, tokens, mask=None):
        """What the head reads: (B, L, width), one vector a position. Arguments as ``forward``."""
        self._check(tokens, mask)
        places, attend = reading(tokens, mask)
        return self.run(tokens, places.expand_as(tokens), [attend] * len(self.blocks))

    def run(self, tokens, places, attends):
        """The layers, each with its own way of looking back: what a cache needs.

        Args:
          tokens: (B, L).
          places: (L,) or (B, L), the position of each token in its text.
          attends: a function for each layer, of query, key, value (B, heads, L, width / heads).

        Returns:
          (B, L, width).
        """
        try:
            x = self.tokens(tokens)
        except IndexError:  # a GPU stops the whole program instead
            raise ValueError(
                f"tokens holds whole numbers from {int(tokens.min())} to {int(tokens.max())}; they must be "
                f"from 0 to {self.shape['vocabulary'] - 1}, under padding too."
            ) from None
        x = x + self.positions(places)  # (B, L, width)
        for block, attend in zip(self.blocks, attends, strict=True):
            x = block(x, attend)
        return self.norm(x)

    def _check(self, tokens, mask):
        context = self.shape["context"]
        wanted = f"whole numbers of shape (B, L), L from 1 to {context} (the context)"
        if not isinstance(tokens, torch.Tensor) or tokens.dtype not in (torch.int64, torch.int32):
            kind = getattr(tokens, "dtype", type(tokens).__name__)
            raise ValueError(f"tokens is {kind}; it must be a tensor of {wanted}.")
        if tokens.ndim != 2 or not 1 <= tokens.shape[1] <= context:
            raise ValueError(f"tokens has shape {tuple(tokens.shape)}; it must be {wanted}.")
        if mask is None:
            return
        wanted = f"a tensor of booleans of shape {tuple(tokens.shape)}"
        if not isinstance(mask, torch.Tensor):
            raise ValueError(f"mask is {type(mask).__name__}; it must be {wanted}.")
        if mask.shape != tokens.shape or mask.dtype != torch.bool:
            raise ValueError(
                f"mask has shape {tuple(mask.shape)} and type {mask.dtype}; it must be {wanted}."
            )

    @property
    def device(self):
        return self.norm.weight.device


def reading(tokens, mask):
    """How a text is read whole: the position of each token, (L,) or with padding (B, L), and what it looks at."""
    if mask is None:
        return torch.arange(tokens.shape[1], device=tokens.device), whole_text
    return (mask.long().cumsum(1) - 1).clamp(min=0), padded(mask)


def whole_text(query, key, value):
    """Every position looks at itself and at all before it."""
    return functional.scaled_dot_product_attention(query, key, value, is_causal=True)


def padded(mask):
    """Attention that does not see padding; mask (B, L). A padded place sees itself, or it would be 0/0."""
    length = mask.shape[1]
    each = torch.ones(length, length, dtype=torch.bool, device=mask.device)
    seen = (mask[:, None, :] & each.tril()) | torch.eye(length, dtype=torch.bool, device=mask.device)

    def attend(query, key, value):
        return functional.scaled_dot_product_attention(query, key, value, attn_mask=seen[:, None])

    return attend
