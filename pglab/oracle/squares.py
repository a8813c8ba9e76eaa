"""The squared length of the score of every completion, without writing the scores down.

A layer's gradient from one text is a sum over positions of outer products, G = sum_t d_t x_t', of what
came in and what flowed back. So |G|^2 = sum_tu (d_t . d_u)(x_t . x_u): two small tables of products in
place of a matrix for each of thousands of completions.

Source: Goodfellow 2015 (one layer, one position); Li et al. 2022, section 4 (sequences).
"""

from collections import defaultdict
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

KNOWN = (nn.Linear, nn.Embedding, nn.LayerNorm)


class Watched:
    """While it is entered, keeps what goes in and out of the layers that hold parameters."""

    def __init__(self, model):
        self.model, self.seen = model, []
        self.layers = [layer for layer in model.modules() if [*layer.parameters(recurse=False)]]

    def possible(self, texts):
        """Whether every parameter sits in a layer whose squares are known, one output for each text."""
        return all(_known(layer) for layer in self.layers) and all(
            output.requires_grad and output.ndim == 3 and len(output) == texts for _, _, output in self.seen
        )

    def __enter__(self):
        self.hooks = [layer.register_forward_hook(self._keep) for layer in self.layers]
        return self

    def __exit__(self, *error):
        for hook in self.hooks:
            hook.remove()

    def _keep(self, layer, inputs, output):
        self.seen.append((layer, inputs[0].detach(), output))


def _known(layer):
    plain = getattr(layer, "bias", None) is None and getattr(layer, "padding_idx", None) is None
    return isinstance(layer, KNOWN) and plain and layer.weight.requires_grad


def squared_norms(watched, token_logprobs, tree):
    """|score|^2 of every completion.

    Args:
      watched: Watched, after the model has read ``tree.paths`` behind the prompt.
      token_logprobs: (M, T, V) log-probability of every token after every path, on its graph.
      tree: Tree.

    Returns:
      (N,) tensor.
    """
    result = token_logprobs.new_zeros(len(tree.tokens))
    outputs = [output for _, _, output in watched.seen]
    uses = defaultdict(list)  # by parameter: a matrix used twice has one gradient, the sum
    for number, (layer, came, output) in enumerate(watched.seen):
        uses[layer.weight].append(_Use.of(number, layer, came, output.dtype))
    for chosen in _one_for_each_path(tree.path):
        weight = _one_hot(tree, chosen, token_logprobs)
        back = torch.autograd.grad(token_logprobs, outputs, weight, retain_graph=True)
        norms = sum(_square(of_one, [back[use.number] for use in of_one]) for of_one in uses.values())
        result[chosen] = norms[tree.path[chosen]]
    return result


def _one_for_each_path(path):
    """Groups of completions, none of which needs a path twice: one backward pass serves each group."""
    order = np.argsort(path, kind="stable")
    ranked = path[order]
    rank = np.arange(len(path)) - np.searchsorted(ranked, ranked)  # 0 for the first completion of its path
    return [torch.from_numpy(order[rank == r]) for r in range(rank.max() + 1)]


def _one_hot(tree, chosen, token_logprobs):
    """(M, T, V): 1 at each token of the chosen completions."""
    weight = torch.zeros_like(token_logprobs)
    tokens, mask = torch.from_numpy(tree.tokens)[chosen], torch.from_numpy(tree.mask)[chosen]
    ones = nn.functional.one_hot(tokens, weight.shape[-1]) * mask[..., None]
    weight[torch.from_numpy(tree.path)[chosen]] = ones.to(weight.dtype)
    return weight


class _Use(NamedTuple):
    """One use of a parameter, and what is the same in every backward pass."""

    number: int
    layer: nn.Module
    came: torch.Tensor  # (M, positions, in) what came in; tokens as one-hot rows, normalised for a LayerNorm
    products: torch.Tensor  # (M, positions, positions) of the rows of came

    @classmethod
    def of(cls, number, layer, came, dtype):
        if isinstance(layer, nn.Embedding):
            came = nn.functional.one_hot(came, layer.num_embeddings).to(dtype)
        if isinstance(layer, nn.LayerNorm):
            came = nn.functional.layer_norm(came, layer.normalized_shape, eps=layer.eps)
        return cls(number, layer, came, came @ came.mT)


def _square(uses, backs):
    """(M,) squared length of each text's gradient by one parameter."""
    if isinstance(uses[0].layer, nn.LayerNorm):
        return sum((back * use.came).sum(1) for use, back in zip(uses, backs, strict=True)).square().sum(1)
    if len(uses) == 1:
        return (backs[0] @ backs[0].mT * uses[0].products).sum((1, 2))
    # Several uses, the embedding as head among them: rows by token, columns by width.
    pairs = [
        (use.came, back) if isinstance(use.layer, nn.Embedding) else (back, use.came)
        for use, back in zip(uses, backs, strict=True)
    ]
    rows, columns = (torch.cat(parts, 1) for parts in zip(*pairs, strict=True))
    return (rows @ rows.mT * (columns @ columns.mT)).sum((1, 2))
