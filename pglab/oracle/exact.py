"""A language model of which everything is known: every completion, its probability, its score."""

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from pglab import _checks, groups
from pglab.oracle.graph import Graph
from pglab.oracle.squares import Watched, squared_norms
from pglab.oracle.tree import completions, prompt_tokens
from pglab.sampling import sampling_logits


class Table(NamedTuple):
    """What the scores of a policy look like for each value of the reward: enough for any estimator.

    K different rewards, n parameters. All expectations are under the policy that is sampled from.
    """

    values: np.ndarray  # (K,) the rewards, increasing
    chance: np.ndarray  # (K,) probability of each
    centre: np.ndarray  # (K, n) mean score given the reward
    square: np.ndarray  # (K,) mean squared length of the score given the reward

    def moments(self, advantage, size):
        """Exact mean and variance of the gradient estimate from one group.

            estimate = 1/G sum_i A_i score(y_i),     A = advantage(rewards of the group)

        Args:
          advantage, size: as for ``groups.moments``.

        Returns:
          mean (n,), and the variance: the trace of the covariance, without writing down the n^2 entries.

        Raises:
          ValueError: as ``groups.weight_moments``.

        Source: as ``groups.moments``.
        """
        mean, covariance, inside = groups.weight_moments(self.values, self.chance, advantage, size)
        between = np.sum(covariance * self.products)
        return mean @ self.centre, float(between + inside @ (self.square - self.products.diagonal()))

    @property
    def products(self):
        """(K, K) inner products of the mean scores."""
        return self.centre @ self.centre.T

    def along(self, direction, square):
        """The same seen along one direction, n = 1: ``square`` (K,) is the mean of (score . direction)^2."""
        return self._replace(centre=self.centre @ direction[:, None], square=square)


class Exact:
    """Everything about one model, prompt and reward. Made by ``exact``.

    N completions of at most T tokens; n parameters, in the order of ``model.parameters()``.
    """

    def __init__(self, model, prompt, rewards, tree):
        _checks.kind("model", model, torch.nn.Module, "a torch module; oracle.exact makes an Exact of it")
        self.tree, self.rewards = tree, rewards
        self.parameters = [p for p in model.parameters() if p.requires_grad]
        self.watched = Watched(model)
        text = np.column_stack([np.tile(prompt, (len(tree.paths), 1)), tree.paths])  # (M, P + T - 1)
        # The plain way to write attention: it can be differentiated twice, and forwards.
        with self.watched, sdpa_kernel(SDPBackend.MATH), torch.enable_grad():
            logits = model(torch.from_numpy(text))[:, len(prompt) - 1 :]  # (M, T, V)
            self._every = logits.log_softmax(-1)  # (M, T, V)
            self._sums = self._sum_of(self._every)  # (N,) on the graph
        self.logits, self._graph = logits.detach(), Graph(self.parameters)
        self._rounding = math.sqrt(torch.finfo(logits.dtype).eps)
        if not abs(self.probabilities.sum() - 1) < self._rounding:
            raise ValueError(
                f"model gives completions that have the probability {self.probabilities.sum():.6g} together; "
                "it must look only back, read without chance (no dropout) and give no NaN."
            )

    def _sum_of(self, every):
        """(M, T, V) -> (N,): the sum over the tokens of each completion."""
        steps = torch.arange(self.tokens.shape[1])
        tokens = torch.from_numpy(self.tokens)
        each = every[torch.from_numpy(self.tree.path)[:, None], steps, tokens]  # (N, T)
        return each.where(torch.from_numpy(self.mask), 0.0).sum(1)

    def _one_each(self, name, value):
        value = _checks.vector(name, value)
        if len(value) != len(self.tokens):
            raise ValueError(
                f"{name} has {len(value)} entries; it must have {len(self.tokens)}, one a completion."
            )
        return value

    @property
    def tokens(self):
        """(N, T) every completion; behind the end token more end tokens."""
        return self.tree.tokens

    @property
    def mask(self):
        """(N, T) True up to and including the end token."""
        return self.tree.mask

    @cached_property
    def logprobs(self):
        """(N,) log pi(y), float64."""
        return self._sums.detach().numpy().astype(np.float64)

    @cached_property
    def probabilities(self):
        """(N,) pi(y); they sum to 1."""
        return np.exp(self.logprobs)

    @cached_property
    def J(self):
        """The objective: sum_y pi(y) r(y)."""
        return float(self.probabilities @ self.rewards)

    @cached_property
    def gradient(self):
        """(n,) sum_y pi(y) r(y) score(y)."""
        return self.weighted_score(self.probabilities * self.rewards)

    @cached_property
    def squares(self):
        """(N,) squared length of the score of every completion."""
        self._graph.check()
        if self.watched.possible(len(self.tree.paths)):
            squares = squared_norms(self.watched, self._every, self.tree).numpy().astype(np.float64)
            longest = int(squares.argmax())  # a use of a weight that no layer reported shows here
            if abs(squares[longest] - (self.scores(longest) ** 2).sum()) <= self._rounding * squares[longest]:
                return squares
        return (self.scores() ** 2).sum(1)

    def weighted_score(self, weights):
        """sum_y weights(y) score(y): one backward pass.

        Args:
          weights: (N,).

        Returns:
          (n,) float64.
        """
        weights = self._one_each("weights", weights)
        self._graph.check()
        weights = torch.from_numpy(weights).to(self._sums.dtype)
        parts = torch.autograd.grad(
            self._sums, self.parameters, weights, retain_graph=True, materialize_grads=True
        )
        return torch.cat([part.reshape(-1) for part in parts]).numpy().astype(np.float64)

    def scores(self, rows=None):
        """The scores themselves, one backward pass each: for small cases, and for checking.

        Args:
          rows: which completions; None for all.

        Returns:
          (rows, n) float64.
        """
        every = np.arange(len(self.tokens))
        rows = every if rows is None else _checks.vector("rows", np.atleast_1d(rows))
        if not np.isin(rows, every).all():
            raise ValueError(f"rows is {rows.tolist()}; it must be whole numbers from 0 to {every[-1]}.")
        return np.array([self.weighted_score(every == row) for row in rows])

    @torch.enable_grad()
    def scores_along(self, direction):
        """score(y) . direction for every completion, by differentiating twice.

        Args:
          direction: (n,).

        Returns:
          (N,) float64.
        """
        direction = torch.from_numpy(_checks.vector("direction", direction))
        self._graph.check()
        dummy = torch.zeros_like(self._sums, requires_grad=True)
        parts = torch.autograd.grad(
            self._sums, self.parameters, dummy, create_graph=True, materialize_grads=True
        )
        flat = torch.cat([part.reshape(-1) for part in parts])  # linear in the dummy weights
        if flat.shape != direction.shape:
            raise ValueError(
                f"direction has {len(direction)} entries; it must have {len(flat)}, one a parameter."
            )
        (along,) = torch.autograd.grad(flat, dummy, direction.to(flat.dtype), retain_graph=True)
        return along.numpy().astype(np.float64)

    def sampled_with(self, temperature=1.0, top_k=None, top_p=None):
        """Probability of every completion when it is *sampled* with these settings.

        Args:
          temperature, top_k, top_p: as ``sampling.sampling_logits``.

        Returns:
          (N,) float64; they sum to 1.
        """
        every = sampling_logits(self.logits, temperature, top_k, top_p).log_softmax(-1)
        return np.exp(self._sum_of(every).numpy().astype(np.float64))

    def table(self, probabilities=None):
        """Rewards and scores in the form that any estimator's moments follow from.

        Args:
          probabilities: (N,) of the policy that is sampled from, such as ``sampled_with`` gives; None
            for the model's own. The scores are those of the model at temperature 1 in any case.

        Returns:
          Table.
        """
        chance_of = self.probabilities if probabilities is None else probabilities
        chance_of = self._one_each("probabilities", chance_of)
        if (chance_of < 0).any() or abs(chance_of.sum() - 1) > self._rounding:
            raise ValueError(
                f"probabilities sum to {chance_of.sum():.6g}, the least is {chance_of.min():.6g}; they must be "
                ">= 0 and sum to 1."
            )
        values, kind = np.unique(self.rewards[chance_of > 0], return_inverse=True)
        share = np.zeros((values.size, len(chance_of)))
        share[kind, np.flatnonzero(chance_of > 0)] = chance_of[chance_of > 0]
        chance = share.sum(1)  # (K,)
        share /= chance[:, None]
        centre = np.array([self.weighted_score(weights) for weights in share])
        return Table(values, chance / chance.sum(), centre, share @ self.squares)

    def moments(self, advantage, size):
        """``table().moments``: exact mean (n,) and variance of the estimate from one group."""
        return self.own_table.moments(advantage, size)

    def variance_along(self, direction, advantage, size):
        """Exact variance of the estimate from one group along a direction (n,)."""
        table, along = self.own_table, self.scores_along(direction)
        share = np.array([(self.rewards == value) * self.probabilities for value in table.values])
        square = share @ along**2 / share.sum(1)
        return table.along(np.asarray(direction, dtype=np.float64), square).moments(advantage, size)[1]

    @cached_property
    def own_table(self):
        return self.table()


def exact(model, prompt, reward, max_new_tokens, end_token=0):
    """Exact objective, gradient and moments of a language model, by enumerating its completions.

        J = sum_y pi(y | prompt) r(y),     grad J = sum_y pi(y | prompt) r(y) score(y)
        score(y) = grad log pi(y | prompt) = sum_t grad log pi(y_t | prompt, y_1 .. y_{t-1})

    The model reads each beginning once: (V-1)^(T-1) texts serve all N completions.

    Args:
      model: a torch module on the CPU, (B, L) tokens -> (B, L, V) logits, which looks only back.
        In float64 the results are exact to rounding. It must not change while the result is in use.
      prompt: P tokens, at least one.
      reward: function of a completion, a tuple of tokens up to and including the end token, that
        returns a number. It is asked once for every completion.
      max_new_tokens: T; a completion without an end token is cut off there.
      end_token: the token that stops.

    Returns:
      Exact.

    Raises:
      ValueError: an empty prompt or tokens outside the vocabulary, rewards that are not finite
        numbers, too many completions; a model on a GPU, in half precision, or that looks ahead.

    Source: Sutton and Barto 2018, section 13.3 (the gradient); the enumeration is counting.
    """
    prompt = prompt_tokens(prompt)
    if not callable(reward):
        raise ValueError(f"reward is {reward!r}; it must be a function of a completion, a tuple of tokens.")
    tree = completions(_vocabulary(model, prompt), max_new_tokens, end_token)
    lengths = tree.mask.sum(1).tolist()
    rewards = [reward(tuple(row[:length])) for row, length in zip(tree.tokens.tolist(), lengths, strict=True)]
    return Exact(model, prompt, _checks.vector("reward(completion)", rewards), tree)


def _vocabulary(model, prompt):
    """How many tokens the model knows; or what is wrong with it."""
    if not isinstance(model, torch.nn.Module):
        raise ValueError(f"model is a {type(model).__name__}; it must be a torch module.")
    for kind in {(p.device.type, p.dtype) for p in model.parameters()}:
        if kind not in (("cpu", torch.float64), ("cpu", torch.float32)):
            raise ValueError(f"model has numbers in {kind[1]} on {kind[0]}; take model.cpu().double().")
    try:
        with torch.no_grad():
            return model(torch.from_numpy(prompt)[None]).shape[-1]
    except IndexError as error:
        raise ValueError(
            f"prompt is {prompt.tolist()}, which the model cannot read ({error}); it must be tokens of its "
            "vocabulary."
        ) from error
