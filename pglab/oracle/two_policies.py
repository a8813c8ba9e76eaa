"""A language model that is trained, another that samples: every completion, as ``offpolicy.Answers``."""

import numpy as np
import torch

from pglab import offpolicy
from pglab.oracle.exact import exact
from pglab.sampling import sampling_logits

MOST = 60_000_000  # numbers in the table of scores


def answers(
    model, engine, prompt, reward, max_new_tokens, end_token=0, *, temperature=1.0, top_k=None, top_p=None
):
    """Every completion that the engine can draw, with the probabilities of both models and each token's score.

        chance = mu(y),     log_ratio_t = log pi(y_t | ...) - log mu(y_t | ...),     scores = grad log pi(y_t | ...)

    pi is the model at temperature 1. The exact mean, bias and variance of any weighting follow, by
    ``offpolicy.moments``. Meant for few completions: there is a score for each token of each of them.

    Args:
      model: as in ``oracle.exact``, which is trained.
      engine: a torch module of the same kind, which samples, such as ``sampling.engine(model, "int8")``.
      prompt, reward, max_new_tokens, end_token: as in ``oracle.exact``.
      temperature, top_k, top_p: of the engine, as ``sampling.sampling_logits``.

    Returns:
      offpolicy.Answers, n parameters in the order of ``model.parameters()``.

    Raises:
      ValueError: as ``oracle.exact``; a table of scores that would fill the memory.

    Source: Owen 2013, section 9.1; the enumeration is that of ``oracle.exact``.
    """
    known = exact(model, prompt, reward, max_new_tokens, end_token)
    tree, mask = known.tree, known.mask
    number = mask.size * sum(p.numel() for p in known.parameters)
    if number > MOST:
        raise ValueError(
            f"{len(mask):,} completions make a table of {number:.3g} scores; it may hold {MOST:,}. Take a smaller "
            "model, fewer tokens, or a smaller vocabulary."
        )
    text = torch.from_numpy(
        np.column_stack([np.tile(prompt, (len(tree.paths), 1)), tree.paths]).astype(np.int64)
    )
    with torch.no_grad():
        other = engine(text)[:, len(prompt) - 1 :].double()
        log_mu = _chosen(sampling_logits(other, temperature, top_k, top_p).log_softmax(-1), tree)  # (N, T)
    log_pi = _chosen(model(text)[:, len(prompt) - 1 :].log_softmax(-1), tree)
    scores = _scores(log_pi, known.parameters, mask)
    ratio = log_pi.detach().double().numpy() - log_mu.numpy()
    chance = np.exp(np.where(mask, log_mu.numpy(), 0.0).sum(1))
    return offpolicy.listed(chance, known.rewards, ratio, mask, scores, known.gradient)


def _chosen(every, tree):
    """(M, T, V) -> (N, T) log-probabilities of the tokens of each completion."""
    steps = torch.arange(tree.tokens.shape[1])
    return every[torch.from_numpy(tree.path)[:, None], steps, torch.from_numpy(tree.tokens)]


def _scores(log_pi, parameters, mask):
    """(N, T, n): one backward pass for each token; equal beginnings are not asked twice."""
    found = np.zeros((*mask.shape, sum(p.numel() for p in parameters)))
    for row, place in np.argwhere(mask):
        parts = torch.autograd.grad(log_pi[row, place], parameters, retain_graph=True, materialize_grads=True)
        found[row, place] = torch.cat([part.reshape(-1) for part in parts]).numpy()
    return found
