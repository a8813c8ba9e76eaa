"""Groups: every multiset once, with its probability, and exact expectations."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from bandit_by_hand import close
from groups_by_hand import every_tuple, problems
from hypothesis import given
from hypothesis import strategies as st

from pglab import bandit, groups

# ---- Multisets and their probabilities


@given(st.integers(1, 6), st.integers(1, 9))
def test_multisets_are_all_there_and_none_twice(actions, size):
    rows = groups.multisets(actions, size)
    assert rows.shape == (math.comb(size + actions - 1, actions - 1), actions)
    assert rows.dtype.kind == "i" and (rows >= 0).all() and (rows.sum(axis=1) == size).all()
    assert len({tuple(row) for row in rows.tolist()}) == len(rows)


@pytest.mark.parametrize("actions, size", [(1, 1), (1, 5), (2, 1), (2, 6), (3, 4), (4, 4), (6, 3)])
def test_multisets_are_those_of_the_tuples(actions, size):
    tuples = itertools.product(range(actions), repeat=size)
    counted = {tuple(Counter(group)[a] for a in range(actions)) for group in tuples}
    assert {tuple(row) for row in groups.multisets(actions, size).tolist()} == counted


def test_a_list_of_multisets_belongs_to_the_caller():
    groups.multisets(3, 2)[:] = 99  # lists are kept for the next call; this one must be a copy
    assert groups.multisets(3, 2).max() == 2


@given(problems())
def test_multinomial_adds_up_the_tuples(problem):
    logits, _, size = problem
    p, counts = bandit.softmax(logits), groups.multisets(logits.size, size)
    added = Counter()
    for group, chance in zip(*every_tuple(p, size), strict=True):
        added[tuple(np.bincount(group, minlength=p.size).tolist())] += chance
    chances = groups.multinomial(p, counts)
    np.testing.assert_allclose(chances, [added[tuple(row)] for row in counts.tolist()], rtol=1e-12, atol=0)
    close(chances.sum(), 1)
    assert (chances[counts[:, p == 0].any(axis=1)] == 0).all()  # not small: nothing


def test_multinomial_of_large_groups_against_fractions():
    counts = groups.multisets(2, 500)
    exact = [
        math.comb(500, k) * Fraction(1, 4) ** k * Fraction(3, 4) ** (500 - k) for k in counts[:, 0].tolist()
    ]
    np.testing.assert_allclose(
        groups.multinomial([0.25, 0.75], counts), [float(c) for c in exact], rtol=1e-11
    )


# ---- Expectations


@given(problems())
def test_expectations_are_sums_over_tuples(problem):
    logits, values, size = problem
    p = bandit.softmax(logits)
    for f in (
        lambda g: values[g].mean() ** 3,
        lambda g: np.median(values[g]),
        lambda g: np.bincount(g, minlength=p.size) ** 2,  # a vector
        lambda g: np.outer([g.min(), g.max()], [1.0, values[g].sum()]),  # a matrix
    ):
        tuples, chances = every_tuple(p, size)
        wanted = sum(c * np.asarray(f(group)) for group, c in zip(tuples, chances, strict=True))
        close(groups.expect(p, size, f), wanted, scale=100)


@pytest.mark.parametrize("size", [1, 2, 17, 60])
def test_binomial_moments(size):
    q, p = 0.3, [0.3, 0.7]
    passes = [lambda g, n=n: ((g == 0).sum() - size * q) ** n for n in (1, 2, 3)]
    wanted = [0, size * q * (1 - q), size * q * (1 - q) * (1 - 2 * q)]
    close([groups.expect(p, size, f) for f in passes], wanted, scale=size**2)


def test_expect_returns_a_float_or_an_array():
    assert type(groups.expect([0.5, 0.5], 2, lambda g: g.sum())) is float
    array = groups.expect([0.5, 0.5], 2, lambda g: [1, g.sum()])
    assert array.shape == (2,) and array.dtype == np.float64


def test_f_may_do_what_it_likes_with_its_argument():
    def careless(group):
        total = group.sum()
        group[:] = 0
        return total

    close(groups.expect([0.25, 0.75], 3, careless), 2.25)


def test_impossible_groups_are_not_asked_for():
    def picky(group):
        assert 1 not in group
        return len(group)

    assert groups.expect([0.5, 0.0, 0.5], 3, picky) == pytest.approx(3)


ORDERED = {
    "first": lambda g: g[0],
    "second": lambda g: g[1],  # of three: the middle one, so turning the group round does not show it
    "neighbours": lambda g: (g[1:] * g[:-1]).sum(),
    "a little of a large number": lambda g: 1 + 1e-6 * g[0],
    "a little of nothing": lambda g: 1e-9 * g[0],
    "shape": lambda g: np.zeros(1 + g[0]) if g[0] != g[-1] else np.zeros(1),
    "place of an action": lambda g: np.argmax(g == 0),
}


@pytest.mark.parametrize("f", ORDERED.values(), ids=ORDERED)
@pytest.mark.parametrize("p, size", [([0.5, 0.5], 3), ([0.5, 0.5, 0.0], 30), ([0.1, 0.2, 0.3, 0.4], 12)])
def test_an_f_that_looks_at_the_order_is_refused(f, p, size):
    with pytest.raises(ValueError, match=r"f\(group\)"):
        groups.expect(p, size, f)


def test_the_order_is_tried_on_some_groups_and_each_group_is_asked():
    asked = []
    groups.expect([0.1, 0.2, 0.3, 0.4], 12, lambda g: asked.append(g.tolist()) or g.max())
    assert len({tuple(sorted(g)) for g in asked}) == 455 and 455 + 2 * 16 <= len(asked) < 500
