"""Activations of other shapes than the small model's: gates, half precision, layers that are computed again."""

import extras
import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from pglab import lm, scaling
from pglab.lm.model import reading


class Layer(nn.Module):
    """Grouped queries and a gate, written out once more."""

    def __init__(self, width, heads, kv_heads, mlp):
        super().__init__()
        self.size = size = width // heads
        self.norms = nn.ModuleList(nn.LayerNorm(width, bias=False) for _ in range(2))
        sizes = [
            (width, heads * size),
            (width, kv_heads * size),
            (width, kv_heads * size),
            (heads * size, width),
        ]
        sizes += [(width, mlp), (width, mlp), (mlp, width)]
        matrices = [nn.Linear(*pair, bias=False) for pair in sizes]
        self.q, self.k, self.v, self.out, self.gate, self.up, self.down = matrices

    def forward(self, x):
        seen = self.norms[0](x)
        q, k, v = (f(seen).unflatten(-1, (-1, self.size)).transpose(1, 2) for f in (self.q, self.k, self.v))
        found = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.out(found.transpose(1, 2).flatten(2))
        seen = self.norms[1](x)
        return x + self.down(functional.silu(self.gate(seen)) * self.up(seen))


@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_the_activations_of_a_gated_model_are_what_autograd_keeps(kv_heads):
    width, heads, mlp, V, layers = 32, 4, 88, 50, 3
    decoder = scaling.Decoder(layers, width, heads, mlp, V, kv_heads=kv_heads, gated=True, tied=False)
    blocks = [Layer(width, heads, kv_heads, mlp) for _ in range(layers)]
    ends = nn.LayerNorm(width, bias=False), nn.Linear(width, V, bias=False)
    model = nn.Sequential(nn.Embedding(V, width), *blocks, *ends)
    assert sum(p.numel() for p in model.parameters()) == decoder.parameters
    tokens = torch.zeros(5, 12, dtype=torch.int64)
    kept = scaling.measured.saved(model, lambda: model(tokens).log_softmax(-1).sum())
    assert abs(scaling.activations(decoder, tokens.numel(), 4) / kept - 1) < 0.1


@pytest.mark.parametrize("kv_heads, gated", [(2, True), (4, True), (4, False)])
def test_the_bill_of_models_of_transformers(kv_heads, gated):
    """Their norms of root mean squares keep one tensor more, which a fused one would not."""
    extras.peers()
    import transformers

    sizes = dict(hidden_size=64, num_hidden_layers=3, num_attention_heads=4, vocab_size=300)
    if gated:
        config = transformers.Qwen2Config(
            **sizes, intermediate_size=200, num_key_value_heads=kv_heads, tie_word_embeddings=False
        )
        model, more = transformers.Qwen2ForCausalLM(config), dict(gated=True, tied=False, biases="qkv")
        decoder = scaling.Decoder(3, 64, 4, 200, 300, kv_heads=kv_heads, **more)
    else:
        config = transformers.GPT2Config(
            **sizes, n_positions=64, resid_pdrop=0, attn_pdrop=0, embd_pdrop=0, activation_function="gelu",
            bos_token_id=0, eos_token_id=0,
        )  # fmt: skip
        model = transformers.GPT2LMHeadModel(config)
        decoder = scaling.Decoder(3, 64, 4, 256, 300, positions=64, biases="all", smooth=True)
    assert decoder.parameters == model.num_parameters()
    tokens = torch.zeros(4, 32, dtype=torch.int64)
    kept = scaling.measured.saved(model, lambda: model(tokens, use_cache=False).logits.log_softmax(-1).sum())
    norms = 7 * 64 * 4 * tokens.numel() * gated
    assert abs((scaling.activations(decoder, tokens.numel(), 4) + norms) / kept - 1) < 0.04


@pytest.mark.parametrize("width, layers", [(64, 2), (128, 4)])
def test_half_precision(width, layers):
    model, tokens = lm.SmallLM(width=width, layers=layers).bfloat16(), torch.zeros(8, 32, dtype=torch.int64)
    kept = scaling.measured.saved(model, lambda: model(tokens).float().log_softmax(-1).sum())
    assert abs(scaling.activations(scaling.Decoder.of(model), 256, 2) / kept - 1) < 0.01


@pytest.mark.parametrize("width, layers", [(64, 2), (128, 4)])
def test_layers_that_are_computed_again(width, layers):
    """Before the way back: inputs and ends. The bill adds what is kept of one layer while it is worked on."""
    model, tokens = lm.SmallLM(width=width, layers=layers), torch.zeros(8, 32, dtype=torch.int64)
    decoder = scaling.Decoder.of(model)

    def forward():
        places, attend = reading(tokens, None)
        x = model.tokens(tokens) + model.positions(places.expand_as(tokens))
        for block in model.blocks:
            x = checkpoint(block, x, attend, use_reentrant=False)
        return model.head(model.norm(x)).log_softmax(-1).sum()

    kept = scaling.measured.saved(model, forward)
    deeper = scaling.Decoder.of(lm.SmallLM(width=width, layers=layers + 1))
    layer = scaling.activations(deeper, 256, 4) - scaling.activations(decoder, 256, 4)
    assert abs((scaling.activations(decoder, 256, 4, checkpointing=True) - layer) / kept - 1) < 0.01
