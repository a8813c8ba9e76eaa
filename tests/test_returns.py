"""Each return and advantage against plain loops over the steps that count; identities between them."""

import math
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pglab import returns

pytestmark = pytest.mark.filterwarnings("error")

# ---- The same by hand: the lists hold the True steps of one trajectory and no others


def to_go_by_hand(r, gamma, from_start=False):
    later = [sum(gamma ** (k - t) * r[k] for k in range(t, len(r))) for t in range(len(r))]
    return [gamma**t * g for t, g in enumerate(later)] if from_start else later


def deltas(r, v, gamma, last):
    following = [*v[1:], last]
    return [r[t] + gamma * following[t] - v[t] for t in range(len(r))]


def n_step_by_hand(r, v, gamma, n, last):
    result = []
    for t in range(len(r)):
        end = min(t + n, len(r))
        rest = v[end] if end < len(r) else last
        sampled = sum(gamma ** (k - t) * r[k] for k in range(t, end))
        result.append(sampled + gamma ** (end - t) * rest)
    return result


def gae_by_hand(r, v, gamma, lam, last):
    delta = deltas(r, v, gamma, last)
    return [sum((gamma * lam) ** (k - t) * delta[k] for k in range(t, len(r))) for t in range(len(r))]


def mixture_by_hand(r, v, gamma, lam, last):
    """GAE the other way: n-step advantages, each weighing lam times the one before, the last takes the rest."""
    result = []
    for t in range(len(r)):
        steps = len(r) - t
        gains = [n_step_by_hand(r, v, gamma, n, last)[t] - v[t] for n in range(1, steps + 1)]
        shares = [(1 - lam) * lam ** (n - 1) for n in range(1, steps)] + [lam ** (steps - 1)]
        result.append(sum(s * g for s, g in zip(shares, gains, strict=True)))
    return result


# name: (what the room says, what the loops say), both of (rewards, values, last_value, mask or none)
CASES = {
    f"reward_to_go {gamma} {start}": (
        lambda r, v, last, mask, g=gamma, s=start: returns.reward_to_go(r, g, mask, s),
        lambda r, v, last, g=gamma, s=start: to_go_by_hand(r, g, s),
    )
    for gamma in (0, 0.5, 1)
    for start in (False, True)
}
CASES |= {
    f"td_errors {gamma}": (
        lambda r, v, last, mask, g=gamma: returns.td_errors(r, v, g, last, mask),
        lambda r, v, last, g=gamma: deltas(r, v, g, last),
    )
    for gamma in (0, 0.9, 1)
}
CASES |= {
    f"n_step {gamma} {n}": (
        lambda r, v, last, mask, g=gamma, n=n: returns.n_step(r, v, g, n, last, mask),
        lambda r, v, last, g=gamma, n=n: n_step_by_hand(r, v, g, n, last),
    )
    for gamma in (0, 0.9, 1)
    for n in (1, 2, 3, 10**9)
}
CASES |= {
    f"gae {gamma} {lam}": (
        lambda r, v, last, mask, g=gamma, lam=lam: returns.gae(r, v, g, lam, last, mask),
        lambda r, v, last, g=gamma, lam=lam: gae_by_hand(r, v, g, lam, last),
    )
    for gamma in (0, 0.9, 1)
    for lam in (0, 0.6, 1)
}
QUARTERS = st.integers(-8, 8).map(lambda k: k / 4)
JUNK = [np.nan, np.inf, -np.inf, 1e300, -5.0]


@st.composite
def batches(draw):
    """(rewards, values, last_value, mask): up to two leading axes; 0 stands where the mask is False."""
    shape = (*draw(st.lists(st.integers(1, 3), max_size=2)), draw(st.integers(1, 5)))

    def drawn(entries, shape):
        n = math.prod(shape)
        return np.array(draw(st.lists(entries, min_size=n, max_size=n))).reshape(shape)

    mask = drawn(st.sampled_from([True, True, False]), shape)
    last = drawn(QUARTERS, shape[:-1]) if draw(st.booleans()) else draw(QUARTERS)
    return drawn(QUARTERS, shape) * mask, drawn(QUARTERS, shape) * mask, last, mask


def by_hand(loops, rewards, values, last, mask):
    """Row by row: take the True steps out, run the loops, put the results back in their places."""
    last = np.broadcast_to(last, mask.shape[:-1])
    result = np.zeros(mask.shape)
    for row in np.ndindex(mask.shape[:-1]):
        counts = mask[row]
        result[row][counts] = loops(rewards[row][counts].tolist(), values[row][counts].tolist(), last[row])
    return result


def close(value, wanted, tolerance=1e-12):
    np.testing.assert_allclose(np.asarray(value), wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", CASES)
@given(batches(), st.sampled_from(JUNK), st.sampled_from(JUNK))
def test_by_hand_whatever_stands_under_the_mask(name, batch, junk, more_junk):
    rewards, values, last, mask = batch
    room, loops = CASES[name]
    result = room(rewards, values, last, mask)
    close(result, by_hand(loops, rewards, values, last, mask))
    dirty = np.where(mask, rewards, junk), np.where(mask, values, more_junk)
    assert (room(*dirty, last, mask) == result).all() and (result[~mask] == 0).all()
    tensors = [torch.tensor(x) for x in (*dirty, last, mask)]
    close(room(*tensors), result)
    everywhere = np.ones_like(mask)
    assert (room(rewards, values, last, everywhere) == room(rewards, values, last, None)).all()


@pytest.mark.parametrize("gamma", [0, 0.5, 1])
@given(batches(), st.sampled_from(JUNK))
def test_discounted_return_by_hand(gamma, batch, junk):
    rewards, _, _, mask = batch
    result = returns.discounted_return(rewards, gamma, mask)
    wanted = np.zeros(mask.shape[:-1])
    for row in np.ndindex(wanted.shape):
        wanted[row] = sum(gamma**t * r for t, r in enumerate(rewards[row][mask[row]]))
    close(result, wanted)
    dirty = np.where(mask, rewards, junk)
    assert (returns.discounted_return(dirty, gamma, mask) == result).all()
    close(returns.discounted_return(torch.tensor(dirty), gamma, torch.tensor(mask)), result)
    # The first True step's reward-to-go is the whole return.
    first = np.take_along_axis(
        returns.reward_to_go(rewards, gamma, mask), mask.argmax(axis=-1)[..., None], axis=-1
    )
    close(first[..., 0], np.where(mask.any(axis=-1), wanted, 0.0))


@given(batches(), st.sampled_from([0.0, 0.3, 0.9, 1.0]), st.sampled_from([0.0, 0.5, 1.0]))
def test_gae_is_the_mixture_of_all_n_step_advantages(batch, gamma, lam):
    wanted = by_hand(partial(mixed, gamma=gamma, lam=lam), *batch)
    rewards, values, last, mask = batch
    close(returns.gae(rewards, values, gamma, lam, last, mask), wanted)


def mixed(r, v, last, gamma, lam):
    return mixture_by_hand(r, v, gamma, lam, last)


@given(batches(), st.sampled_from([0.0, 0.9, 1.0]))
def test_the_ends_of_lambda_and_of_n(batch, gamma):
    rewards, values, last, mask = batch
    options = {"last_value": last, "mask": mask}
    td = returns.td_errors(rewards, values, gamma, **options)
    assert (returns.gae(rewards, values, gamma, 0, **options) == td).all()
    close(returns.n_step(rewards, values, gamma, 1, **options) - values * mask, td)
    everything = returns.n_step(rewards, values, gamma, mask.shape[-1], **options)
    close(returns.gae(rewards, values, gamma, 1, **options), everything - values * mask)
    ended = returns.n_step(rewards, values, gamma, mask.shape[-1], mask=mask)
    close(ended, returns.reward_to_go(rewards, gamma, mask))


@pytest.mark.parametrize("name", CASES)
def test_a_batch_is_its_rows_one_by_one(name):
    rng = np.random.default_rng(0)
    rewards, values = rng.normal(size=(2, 2, 3, 5))
    last, mask = rng.normal(size=(2, 3)), rng.random((2, 3, 5)) < 0.7
    mask[1, 1] = False
    room, _ = CASES[name]
    result = room(rewards, values, last, mask)
    for row in np.ndindex(2, 3):
        assert (room(rewards[row], values[row], last[row], mask[row]) == result[row]).all()
    assert (result[1, 1] == 0).all()
    total = returns.discounted_return(rewards, 0.9, mask)
    assert total.shape == (2, 3) and total[1, 1] == 0
    for row in np.ndindex(2, 3):
        assert returns.discounted_return(rewards[row], 0.9, mask[row]) == total[row]


# ---- What goes wrong in practice


def test_tool_tokens_neither_lose_nor_decay_credit():
    """A reward after a tool has answered reaches the call, and its answer costs no gamma (B25, B26)."""
    rewards, mask = [0, 0, 0, 1], [1, 0, 0, 1]
    assert returns.reward_to_go(rewards, 1.0, mask).tolist() == [1, 0, 0, 1]
    assert returns.reward_to_go(rewards, 0.5, mask).tolist() == [0.5, 0, 0, 1]
    assert returns.reward_to_go(rewards, 0.5, mask, discount_from_start=True).tolist() == [0.5, 0, 0, 0.5]
    assert returns.discounted_return(rewards, 0.5, mask) == 0.5
    close(returns.gae(rewards, [0.2, 9, 9, 0.4], 0.9, 0.5, mask=mask), [0.43, 0, 0, 0.6])
    # What the tool itself was paid is not the policy's.
    assert returns.reward_to_go([0, 7, 0, 1], 1.0, mask).tolist() == [1, 0, 0, 1]


def test_padding_never_bootstraps():
    long = returns.gae([0, 1, 5, 5], [0.5, 0.25, 100, np.nan], 0.9, 0.8, mask=[1, 1, 0, 0])
    short = returns.gae([0, 1], [0.5, 0.25], 0.9, 0.8)
    assert long.tolist() == [*short, 0, 0]
    # A trajectory that was cut off before its padding bootstraps at its last True step.
    long = returns.gae([0, 1, 5, 5], [0.5, 0.25, 100, np.nan], 0.9, 0.8, 2.0, mask=[1, 1, 0, 0])
    assert long.tolist() == [*returns.gae([0, 1], [0.5, 0.25], 0.9, 0.8, 2.0), 0, 0]
    assert returns.td_errors([1.0], [0.5], 1.0, 2.0, mask=[0]).tolist() == [0]


def test_truncation_bootstraps_and_termination_does_not():
    rewards, values = [[1.0, 1.0]] * 2, [[10.0, 10.0]] * 2
    error = returns.td_errors(rewards, values, 1.0, last_value=[0.0, 10.0])
    assert error.tolist() == [[1, -9], [1, 1]]
    assert returns.n_step(rewards, values, 1.0, 2, last_value=[0.0, 10.0]).tolist() == [[2, 1], [12, 11]]


def test_known_mistakes():
    assert returns.reward_to_go([1, 1, 1], 0.5).tolist() == [1.75, 1.5, 1]  # B51
    assert returns.reward_to_go([1, 2, 3], 0.5).tolist() == [2.75, 3.5, 3]  # B53
    close(returns.reward_to_go([0, 0, 1], 0.9), [0.81, 0.9, 1])  # claim 20: one scalar at gamma 1 only
    assert returns.reward_to_go([0, 0, 1]).tolist() == [1, 1, 1]
