"""Exercises of notebook 07, a language model is a policy."""

import numpy as np

from pglab.exercises.checking import Misfit, exercise, judge_function


def _explained(answer, words):
    """The reader's function, with a hint in place of an error whose message holds one of the words."""
    if not callable(answer):
        return answer

    def f(*arguments):
        try:
            return answer(*arguments)
        except (ValueError, IndexError) as error:
            hints = [hint for piece, hint in words.items() if piece in str(error)]
            if hints:
                raise Misfit(hints[0]) from error
            raise

    return f


# --- 7a -----------------------------------------------------------------------------------------

ENDINGS = [
    (np.array([[3, 7, 0, 0], [1, 2, 3, 5], [0, 0, 0, 0], [9, 0, 4, 0]]), 0),
    (np.array([[5, 2, 2], [2, 5, 5], [5, 5, 5]]), 2),
]


def _mask(tokens, end):
    ends = tokens == end
    return (np.cumsum(ends, axis=1) - ends == 0).astype(float)


@exercise("7a", "The mask", "easy", 8)
def _the_mask(answer):
    missing = "One of the completions has no end token: it was cut off, and every token of it was chosen."
    return judge_function(
        _explained(answer, {"not in list": missing, "not in tuple": missing}),
        ENDINGS,
        right=_mask,
        mistakes=[
            (
                lambda t, end: (t != end).astype(float),
                "This mask looks at values: every end token is left out, the first one too. But to stop was chosen, "
                "like any other token. Which of the end tokens was it?",
            ),
            (
                lambda t, end: (np.cumsum(t == end, axis=1) == 0).astype(float),
                "The first end token is left out. It is the choice to stop: does the policy not make it?",
            ),
            (
                lambda t, end: _mask(t, end) + (t == end) * (1 - _mask(t, end)),
                "The filling takes part wherever it equals the end token. Count the end tokens *before* a place.",
            ),
            (
                lambda t, end: np.ones(t.shape),
                "Everything takes part, the filling too. The policy chose nothing behind its end token.",
            ),
            (
                lambda t, end: 1 - _mask(t, end),
                "Turned round: 1 should stand where a token was chosen, 0 behind the end.",
            ),
            (
                lambda t, end: _mask(t, end).sum(axis=1),
                "These are the lengths. A 1 or a 0 is asked for at each token.",
            ),
            (
                lambda t, end: _mask(t.T, end).T,
                "This counts down the batch, over different completions. Time runs along a row.",
            ),
            (
                lambda t, end: _mask(t[:, ::-1], end)[:, ::-1],
                "This counts from the right end. A completion begins on the left.",
            ),
            (
                lambda t, end: (np.arange(t.shape[1]) <= np.argmax(t == end, axis=1)[:, None]).astype(float),
                "One of the completions has no end token, and there argmax answers 0: the first place. Nothing was "
                "cut away from that completion: which of its tokens were chosen?",
            ),
            (
                lambda t, end: (np.cumsum(t == end, axis=1) <= 1).astype(float),
                "The count includes the place itself, and stays at 1 *behind* the first end token until the next "
                "one comes. Count the end tokens before a place.",
            ),
        ],
    )


# --- 7b -----------------------------------------------------------------------------------------


def _case(seed, length, size):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(length, size)), rng.integers(size, size=length)


LOGITS = [_case(0, 5, 4), _case(1, 3, 6)]


def _logs(logits):
    return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))


def _read(table, tokens, shift):
    """Entry i: token i + shift of row i, as far as both exist."""
    n = len(tokens) - shift
    return table[np.arange(n), tokens[shift:].astype(int)]


@exercise("7b", "Shift once", "medium", 10)
def _shift_once(answer):
    def of(f):
        return lambda logits, tokens: f(_logs(logits), tokens.astype(int))

    errors = {
        "arrays used as indices": "The tokens come as floats. An index must be a whole number: tokens.astype(int).",
        "only integers": "The tokens come as floats. An index must be a whole number: tokens.astype(int).",
        "broadcast": "Two shapes do not fit. The sum over the vocabulary should stand beside its own row: does the "
        "sum keep its axis?",
    }
    last = "The last row of logits speaks about a token that is not there, and nothing speaks about the first token."
    return judge_function(
        _explained(answer, errors),
        LOGITS,
        right=of(lambda table, y: _read(table, y, 1)),
        mistakes=[
            (
                of(lambda table, y: _read(table, y, 0)),
                f"No shift: each token is scored by logits that have already read it. {last}",
            ),
            (
                of(lambda table, y: _read(table, y, 0)[1:]),
                "The first token is gone, as it should be. But the others are still read from their own row: "
                "these logits have seen the token that they judge.",
            ),
            (
                of(lambda table, y: _read(table, y, 0)[:-1]),
                "The length is right, the pairs are not: row t stands beside token t. Whom does it speak about?",
            ),
            (
                of(lambda table, y: _read(table, y, 2)),
                "Shifted twice: row t speaks about token t + 1, not t + 2.",
            ),
            (
                of(lambda table, y: table[np.arange(1, len(y)), y[:-1]]),
                "Shifted the wrong way round: these are logits that come *after* the token they judge.",
            ),
            (
                of(lambda table, y: np.roll(_read(np.roll(table, 1, axis=0), y, 0), 0)),
                "A roll brings the last row to the front: the first token is now judged by the end of the text. "
                "Cut off instead of rolling.",
            ),
            (
                lambda logits, tokens: _read(logits, tokens, 1),
                "These are logits. A log-probability needs the sum over the vocabulary taken away.",
            ),
            (
                of(lambda table, y: np.exp(_read(table, y, 1))),
                "These are probabilities. Their logarithms are asked for.",
            ),
            (
                of(lambda table, y: _read(table, y, 1).sum()),
                "This is the whole text's log-probability. Here each token's is asked for.",
            ),
            (
                of(lambda table, y: -_read(table, y, 1)),
                "The sign is turned round: this is the loss of maximum likelihood.",
            ),
            (
                lambda logits, tokens: _read(
                    logits - np.log(np.exp(logits).sum(axis=0, keepdims=True)), tokens, 1
                ),
                "The softmax runs along the text. It should run over the vocabulary: each row sums to 1.",
            ),
            (
                lambda logits, tokens: _read(logits - np.log(np.exp(logits).sum()), tokens, 1),
                "One sum for the whole array: then all rows together sum to 1. Each row is a distribution of its own.",
            ),
        ],
    )


# --- 7c -----------------------------------------------------------------------------------------


def _chosen(seed, length, size, temperature):
    logits, tokens = _case(seed, length, size)
    return logits, tokens, temperature


TEMPERED = [_chosen(2, 4, 3, 0.5), _chosen(3, 2, 5, 1.6), _chosen(4, 3, 4, 0.8)]


def _ratios(logits, tokens, T):
    """(L,) log of pi / pi_T, of each token."""
    return _read(_logs(logits), tokens, 0) - _read(_logs(logits / T), tokens, 0)


@exercise("7c", "Undo the temperature", "hard", 12)
def _undo(answer):
    def of(f):
        return lambda logits, tokens, T: f(_ratios(logits, tokens, T))

    def unnormalised(logits, tokens, T):
        logp = _read(_logs(logits), tokens, 0)
        return np.exp((logp - logp / T).sum())

    return judge_function(
        answer,
        TEMPERED,
        right=of(lambda d: np.exp(d.sum())),
        mistakes=[
            (
                of(lambda d: np.exp(-d.sum())),
                "The ratio is upside down: it should be small for what the sampler draws more often than the policy.",
            ),
            (
                of(np.exp),
                "These are the ratios of the tokens. The completion is one action: what becomes of their ratios?",
            ),
            (
                of(lambda d: np.exp(d.mean())),
                "This is the geometric mean of the token ratios (notebook 06): quiet, and no importance weight.",
            ),
            (
                of(lambda d: np.exp(d).mean()),
                "A mean of token ratios does not turn one distribution over completions into another.",
            ),
            (
                of(lambda d: np.exp(d).sum()),
                "The ratios are added. The probability of a completion is a product.",
            ),
            (
                of(lambda d: np.exp(d[-1])),
                "This is the last token's ratio alone. What the earlier tokens did counts too.",
            ),
            (
                of(lambda d: d.sum()),
                "This is the logarithm of the weight.",
            ),
            (
                lambda logits, tokens, T: np.exp(
                    (_read(_logs(logits), tokens, 1) - _read(_logs(logits / T), tokens, 1)).sum()
                ),
                "Shifted once more: here row t is already *for* token t.",
            ),
            (
                lambda logits, tokens, T: np.exp(-_read(_logs(logits / T), tokens, 0).sum()),
                "The sampler stands below, as it should. What stands above it, in an importance weight?",
            ),
            (
                of(lambda d: np.minimum(np.exp(d.sum()), 1)),
                "The weight is cut off at 1. That makes it quieter, and biased: the mean is no longer the gradient.",
            ),
            (
                of(lambda d: np.clip(np.exp(d.sum()), 0.8, 1.2)),
                "The weight is clipped. That makes it quieter, and biased: the mean is no longer the gradient.",
            ),
            (
                unnormalised,
                "Here log-probabilities are divided by T. Divide the *logits*, and normalise afterwards: powers of "
                "probabilities do not sum to 1.",
            ),
            (
                lambda logits, tokens, T: np.exp((_read(logits, tokens, 0) * (1 - 1 / T)).sum()),
                "Only the chosen logits are compared. Both distributions have a sum over the vocabulary to divide by.",
            ),
            (
                lambda logits, tokens, T: np.exp((_ratios(logits, tokens, 1 / T)).sum()),
                "The logits are multiplied by T. A high temperature should make them flatter.",
            ),
            (
                lambda logits, tokens, T: np.exp(_read(_logs(logits), tokens, 0).sum()),
                "This is the policy's probability. The sampler's has to stand below it.",
            ),
        ],
    )
