"""Text and tokens: one character is one token.

Token 0 ends an answer. It is an action like any other: choosing it is choosing to stop.
"""

from collections.abc import Iterable
from numbers import Integral

import torch

# Token 0, then what the tasks write, then a few letters to spare: 32 tokens.
ALPHABET = "\n0123456789+-*/()=,:> abcdefghij"
END = 0
TOKEN_OF = {character: token for token, character in enumerate(ALPHABET)}


def encode(text):
    """The tokens of a text.

    Args:
      text: characters of ``ALPHABET``.

    Returns:
      (L,) int64 tensor, one token a character. No end token is added.

    Raises:
      ValueError: a character that is not in the alphabet.
    """
    if not isinstance(text, str):
        raise ValueError(f"text is a {type(text).__name__}; it must be a str.")
    unknown = [character for character in text if character not in TOKEN_OF]
    if unknown:
        raise ValueError(
            f"text holds {unknown[0]!r}, which is not in the alphabet; it must be made of {ALPHABET!r}."
        )
    return torch.tensor([TOKEN_OF[character] for character in text], dtype=torch.int64)


def encode_all(texts):
    """The tokens of several texts, shorter ones padded on the left with the end token.

    Args:
      texts: a list of B texts, none of them empty.

    Returns:
      tokens (B, L) int64, and mask (B, L) booleans: False where a place is padding.

    Raises:
      ValueError: one str in place of a list, no texts, an empty one, an unknown character.
    """
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        raise ValueError(f"texts is one {type(texts).__name__}; it must be a list of str.")
    rows = [encode(text) for text in texts]
    if not rows or min(map(len, rows)) == 0:
        raise ValueError("texts must hold at least one text, and none that is empty.")
    longest = max(map(len, rows))
    tokens, mask = torch.full((len(rows), longest), END), torch.zeros(len(rows), longest, dtype=torch.bool)
    for i, row in enumerate(rows):
        tokens[i, longest - len(row) :], mask[i, longest - len(row) :] = row, True
    return tokens, mask


def decode(tokens):
    """The text of one completion: what stands before the first end token.

    Args:
      tokens: (T,) whole numbers from 0 to 31, a tensor or a list.

    Returns:
      A str, without the end token and whatever follows it.

    Raises:
      ValueError: a number that is not a token.
    """
    text = []
    for token in _numbers(tokens):
        if not isinstance(token, Integral) or isinstance(token, bool):
            raise ValueError(f"tokens holds {token!r}; it must be whole numbers, those of one completion.")
        if token == END:
            break
        if not 0 <= token < len(ALPHABET):
            raise ValueError(f"tokens holds {token}; it must be whole numbers from 0 to {len(ALPHABET) - 1}.")
        text.append(ALPHABET[token])
    return "".join(text)


def decode_all(tokens):
    """The texts of several completions, (N, T) tokens; see ``decode``."""
    return [decode(row) for row in _numbers(tokens)]


def _numbers(tokens):
    numbers = tokens.tolist() if isinstance(tokens, torch.Tensor) else tokens
    if not isinstance(numbers, Iterable):
        raise ValueError(f"tokens is {numbers!r}; it must be a list or a tensor of whole numbers.")
    return numbers
