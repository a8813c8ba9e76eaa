"""The shape of a decoder-only transformer, and how many parameters that makes."""

from dataclasses import dataclass

from pglab import _checks

BIASES = ("none", "qkv", "all")


@dataclass(frozen=True)
class Decoder:
    """A decoder-only transformer, as far as its costs go.

    Args:
      layers, width, heads: L, d, H.
      mlp: numbers inside the MLP.
      vocabulary: V.
      kv_heads: heads of keys and values, fewer where several query heads share them (grouped-query
        attention); 0 for as many as ``heads``.
      head_size: numbers of a head; 0 for d / H.
      gated: whether the MLP has a third matrix that opens and shuts it (SwiGLU).
      tied: whether the head is the token embedding.
      positions: learned positions, 0 for none (rotary positions have no parameters).
      biases: "none", "qkv" (of queries, keys and values) or "all" (of every matrix and norm).
      smooth: whether what bends inside an MLP without gate is smooth (GELU), not ReLU.

    Raises:
      ValueError: numbers that are not whole or too small, heads that do not divide the width (with head_size 0),
        kv_heads that do not divide heads, unknown biases.

    Source: Vaswani et al. 2017, section 3; Ainslie et al. 2023 (grouped-query attention); Shazeer 2020 (SwiGLU).
    """

    layers: int
    width: int
    heads: int
    mlp: int
    vocabulary: int
    kv_heads: int = 0
    head_size: int = 0
    gated: bool = False
    tied: bool = True
    positions: int = 0
    biases: str = "none"
    smooth: bool = False

    def __post_init__(self):
        for name in ("layers", "width", "heads", "mlp", "vocabulary"):
            _checks.whole(name, getattr(self, name), low=1)
        for name in ("kv_heads", "head_size", "positions"):
            _checks.whole(name, getattr(self, name), low=0)
        _checks.one_of("biases", self.biases, BIASES)
        if not self.head_size and self.width % self.heads:
            raise ValueError(f"heads is {self.heads}; it must divide width, which is {self.width}.")
        object.__setattr__(self, "kv_heads", self.kv_heads or self.heads)
        object.__setattr__(self, "head_size", self.head_size or self.width // self.heads)
        if self.heads % self.kv_heads:
            raise ValueError(f"kv_heads is {self.kv_heads}; it must divide heads, which is {self.heads}.")

    @classmethod
    def of(cls, model):
        """The shape of a small model, an lm.SmallLM."""
        s = model.shape
        return cls(
            s["layers"], s["width"], s["heads"], 4 * s["width"], s["vocabulary"], positions=s["context"]
        )

    @property
    def parts(self):
        """{part: parameters}: embeddings, attention, MLP, norms, head."""
        d, q, kv = self.width, self.heads * self.head_size, self.kv_heads * self.head_size
        every = self.biases == "all"
        attention = d * (q + 2 * kv) + q * d
        attention += (q + 2 * kv) * (self.biases != "none") + d * every
        inside = self.mlp * (2 if self.gated else 1)
        mlp = d * inside + self.mlp * d + (inside + d) * every
        norm = d * (2 if every else 1)
        return {
            "embeddings": (self.vocabulary + self.positions) * d,
            "attention": self.layers * attention,
            "MLP": self.layers * mlp,
            "norms": (2 * self.layers + 1) * norm,
            "head": 0 if self.tied else self.vocabulary * d,
        }

    @property
    def parameters(self):
        """How many numbers the model has learned."""
        return sum(self.parts.values())

    @property
    def multiplied(self):
        """Parameters that a token is multiplied with: all but embeddings that are only looked up."""
        looked_up = self.parts["embeddings"] - (self.vocabulary * self.width if self.tied else 0)
        return self.parameters - looked_up

    @property
    def inside(self):
        """Numbers that the backward pass needs of a token inside an MLP.

        ReLU: its result. GELU: what enters it, and its result. A gate: what enters the gate, what leaves it, what
        it is multiplied with, and the product.
        """
        return self.mlp * (4 if self.gated else 2 if self.smooth else 1)

    def attending(self, seen):
        """Operations in which a token looks at so many others, in all layers: 4 layers heads head_size seen.

        Query with key and weight with value, a multiplication and an addition each, on the way forward.
        """
        return 4 * self.layers * self.heads * self.head_size * seen


# From the configurations that were published with the weights (config.json), and for the counts their cards.
MODELS = {
    "GPT-2 (0.12 B)": Decoder(12, 768, 12, 3072, 50_257, positions=1024, biases="all", smooth=True),
    "Qwen2.5 0.5 B": Decoder(24, 896, 14, 4864, 151_936, kv_heads=2, gated=True, biases="qkv"),
    "Qwen2.5 1.5 B": Decoder(28, 1536, 12, 8960, 151_936, kv_heads=2, gated=True, biases="qkv"),
    "Qwen2.5 7 B": Decoder(28, 3584, 28, 18_944, 152_064, kv_heads=4, gated=True, tied=False, biases="qkv"),
    "Llama 3.1 8 B": Decoder(32, 4096, 32, 14_336, 128_256, kv_heads=8, gated=True, tied=False),
    "Llama 3.1 70 B": Decoder(80, 8192, 64, 28_672, 128_256, kv_heads=8, gated=True, tied=False),
}


def checked(decoder):
    """The decoder, if it is one; else refused."""
    return _checks.kind("decoder", decoder, Decoder, "a Decoder, such as Decoder.of(lm.load('addition'))")
