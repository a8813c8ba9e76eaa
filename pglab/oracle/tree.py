"""Every completion of a vocabulary, once, and which text of full length each is read from."""

from typing import NamedTuple

import numpy as np

from pglab import _checks

MOST = 2_000_000  # completions in one list; more would fill the memory


class Tree(NamedTuple):
    """N completions of at most T tokens, and the M texts of T - 1 tokens in which no one has ended yet.

    A model that reads those M texts has read the beginning of every completion: M is about N / V.
    """

    tokens: np.ndarray  # (N, T) behind the end token more end tokens
    mask: np.ndarray  # (N, T) True up to and including the end token
    paths: np.ndarray  # (M, T - 1)
    path: np.ndarray  # (N,) a row of paths that begins as the completion does


def completions(vocabulary, max_new_tokens, end_token=0):
    """Every completion: it stops at the end token, or after max_new_tokens without one.

        N = 1 + (V-1) + ... + (V-1)^(T-2) + (V-1)^(T-1) V,     V tokens, at most T of them

    Args:
      vocabulary: V, how many tokens there are, at least 2.
      max_new_tokens: T, at least 1.
      end_token: the token that stops.

    Returns:
      Tree.

    Raises:
      ValueError: counts out of range, an end token outside the vocabulary, more than two million
        completions.
    """
    size, steps = (
        _checks.whole("vocabulary", vocabulary, 2),
        _checks.whole("max_new_tokens", max_new_tokens, 1),
    )
    end = _checks.whole("end_token", end_token, 0)
    if end >= size:
        raise ValueError(f"end_token is {end}; it must be below vocabulary, which is {size}.")
    if steps > 64 or (size - 1) ** (steps - 1) * size > MOST:
        raise ValueError(
            f"vocabulary {size} and max_new_tokens {steps} make too many completions; there must be at most "
            f"{MOST:,}. Take fewer tokens of either."
        )
    going_on = np.delete(np.arange(size), end)
    paths = _words(going_on, steps - 1)  # (M, T - 1)
    rows, path = [], []
    for length in range(steps):  # those that choose the end token after `length` others
        stride = len(going_on) ** (steps - 1 - length)
        first = np.arange(0, len(paths), stride)
        rows.append(_ended(paths[first, :length], steps, end))
        path.append(first + min(length, stride - 1))  # not all on the first: less to do for each path
    rows.append(np.column_stack([np.repeat(paths, len(going_on), 0), np.tile(going_on, len(paths))]))
    path.append(np.repeat(np.arange(len(paths)), len(going_on)))
    tokens = np.concatenate(rows)
    ends = tokens == end
    return Tree(tokens, ends.cumsum(1) - ends == 0, paths, np.concatenate(path))


def prompt_tokens(prompt):
    """A prompt as an int64 array, shape (P,); refused if it is empty or holds something else than tokens."""
    prompt = _checks.vector("prompt", prompt)
    if (prompt % 1 != 0).any():
        raise ValueError(f"prompt is {prompt.tolist()}; it must be tokens, whole numbers.")
    return prompt.astype(np.int64)


def _words(letters, length):
    """(letters^length, length): every word, the last letter varies fastest."""
    if length == 0:
        return np.zeros((1, 0), dtype=np.int64)
    grid = np.meshgrid(*[letters] * length, indexing="ij")
    return np.stack(grid, -1).reshape(-1, length)


def _ended(beginnings, steps, end):
    return np.pad(beginnings, ((0, 0), (0, steps - beginnings.shape[1])), constant_values=end)
