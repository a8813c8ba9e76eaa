"""Discounted return, reward-to-go, TD errors, n-step returns, GAE, with masks.

Rewards of one trajectory in, what each of its steps is credited with out.

Time stands on the last axis: ``rewards`` has shape (..., T). NumPy arrays and torch tensors both
work, and what comes in (kind, device, precision) comes out; half precision is computed, and comes
out, in float32. No function here detaches.

Shared by all:

* ``mask`` is True where the policy acted. A False step (padding, the answer of a tool) is stepped
  over: it costs no factor of gamma or lambda, stops no credit, and whatever stands under it, NaN
  too, is never read. Its own result is 0. So a reward for what a tool returned belongs to the
  action that called the tool.
* ``last_value`` is the value of the state after the last True step. 0 means *terminated*: nothing
  more would have come. Where a trajectory was only cut off (*truncated*), hand in the critic's
  value of the state it stopped in; what would have come is then not counted as 0.
"""

from pglab import _arrays, _checks
from pglab._masked import where as _where


def discounted_return(rewards, gamma=1.0, mask=None):
    """What a whole trajectory earned, seen from its start.

        R = sum_t gamma^t r_t

    Args:
      rewards: (..., T) reward of each step.
      gamma: discount of one step, from 0 to 1.
      mask: (..., T) booleans, True where the policy acted; None if everywhere.

    Returns:
      (...) in the unit of the rewards; 0 where the mask leaves no step.

    Raises:
      ValueError: gamma outside [0, 1]; rewards that are not finite where the mask is True; a mask
        of another shape, or one that holds other things than 0 and 1.

    Source: Sutton and Barto (2nd ed.), equation 3.8.
    """
    rewards, mask = _steps("rewards", rewards, mask)
    gamma = _checks.number("gamma", gamma, low=0, high=1)
    return (rewards * gamma ** _acted_before(rewards, mask)).sum(axis=-1)


def reward_to_go(rewards, gamma=1.0, mask=None, discount_from_start=False):
    """What came at or after each step.

        G_t = sum_{k >= t} gamma^(k - t) r_k,        with ``discount_from_start``:  gamma^t G_t

    The first is the usual form; for gamma below 1 only the second belongs to the gradient of the
    discounted return.

    Args:
      rewards: (..., T) reward of each step.
      gamma: discount of one step, from 0 to 1.
      mask: (..., T) booleans, True where the policy acted; None if everywhere.
      discount_from_start: discount from the first step instead of from step t.

    Returns:
      (..., T) in the unit of the rewards; 0 where the mask is False.

    Raises:
      ValueError: as ``discounted_return``.

    Source: Sutton and Barto (2nd ed.), equation 3.9 and the factor gamma^t of section 13.3.
    """
    rewards, mask = _steps("rewards", rewards, mask)
    gamma = _checks.number("gamma", gamma, low=0, high=1)
    to_go = _decayed_sum(rewards, gamma, mask)
    return to_go * gamma ** _acted_before(rewards, mask) if discount_from_start else to_go


def td_errors(rewards, values, gamma, last_value=0.0, mask=None):
    """How much better each step went than the critic thought.

        delta_t = r_t + gamma V(s_{t+1}) - V(s_t)

    Args:
      rewards: (..., T) reward of each step.
      values: (..., T) the critic's value of the state in which each step was taken.
      gamma: discount of one step, from 0 to 1.
      last_value: a number, or one for each trajectory (...): the value after the last step, 0 if it ended.
      mask: (..., T) booleans, True where the policy acted; None if everywhere. s_{t+1} is the
        state of the next True step.

    Returns:
      (..., T) in the unit of the rewards; 0 where the mask is False.

    Raises:
      ValueError: as ``discounted_return``; values of another shape than the rewards, or not
        finite where the mask is True; a last_value of another shape, or not finite.

    Source: Sutton and Barto (2nd ed.), equation 6.5.
    """
    rewards, mask = _steps("rewards", rewards, mask)
    values = _values(values, rewards, mask)
    gamma = _checks.number("gamma", gamma, low=0, high=1)
    following = _value_of_next(values, _last(last_value, rewards), mask)
    return _where(mask, rewards + gamma * following - values, 0.0)


def n_step(rewards, values, gamma, n, last_value=0.0, mask=None):
    """Return of n sampled steps, and the critic's word for the rest.

        G_t^(n) = r_t + gamma r_{t+1} + ... + gamma^(n-1) r_{t+n-1} + gamma^n V(s_{t+n})

    Fewer than n steps where the trajectory ends sooner. n = 1 is the target of TD(0), n = T is
    the whole rest. Subtract the values to get an advantage.

    Args:
      rewards: (..., T) reward of each step.
      values: (..., T) the critic's value of the state in which each step was taken.
      gamma: discount of one step, from 0 to 1.
      n: how many sampled rewards, at least 1.
      last_value: as in ``td_errors``.
      mask: (..., T) booleans, True where the policy acted; None if everywhere.

    Returns:
      (..., T) in the unit of the rewards; 0 where the mask is False.

    Raises:
      ValueError: as ``td_errors``; an n that is not a positive whole number.

    Source: Sutton and Barto (2nd ed.), equation 7.1.
    """
    rewards, mask = _steps("rewards", rewards, mask)
    values = _values(values, rewards, mask)
    gamma, n = _checks.number("gamma", gamma, low=0, high=1), _checks.whole("n", n, low=1)
    last_value = _last(last_value, rewards)
    target = values
    for _ in range(min(n, rewards.shape[-1])):  # each pass adds one reward in front of the critic's word
        target = _where(mask, rewards + gamma * _value_of_next(target, last_value, mask), 0.0)
    return target


def gae(rewards, values, gamma, lam, last_value=0.0, mask=None):
    """Generalised advantage estimate: a decaying sum of what surprised the critic.

        A_t = sum_{l >= 0} (gamma lam)^l delta_{t+l},     delta_t = r_t + gamma V(s_{t+1}) - V(s_t)

    lam = 0 gives delta_t; lam = 1 gives G_t - V(s_t), with G_t bootstrapped by ``last_value``.

    Args:
      rewards: (..., T) reward of each step.
      values: (..., T) the critic's value of the state in which each step was taken.
      gamma: discount of one step, from 0 to 1.
      lam: lambda, from 0 (trust the critic) to 1 (trust the sample).
      last_value: as in ``td_errors``.
      mask: (..., T) booleans, True where the policy acted; None if everywhere.

    Returns:
      (..., T) in the unit of the rewards; 0 where the mask is False.

    Raises:
      ValueError: as ``td_errors``; a lam outside [0, 1].

    Source: Schulman et al. 2016, High-dimensional continuous control using GAE, equation 16.
    """
    lam = _checks.number("lam", lam, low=0, high=1)
    delta = td_errors(rewards, values, gamma, last_value, mask)
    return _decayed_sum(delta, float(gamma) * lam, _arrays.boolean("mask", mask, delta))


def _decayed_sum(numbers, decay, mask):
    """(..., T): at each True step the sum of it and of all later ones, decayed once a True step."""
    xp = _arrays.namespace(numbers)
    total, sums = xp.zeros_like(numbers[..., 0]), []
    for t in reversed(range(numbers.shape[-1])):
        total = _where(mask[..., t], numbers[..., t] + decay * total, total)
        sums.append(total)
    return _where(mask, xp.stack(sums[::-1], axis=-1), 0.0)


def _value_of_next(values, last_value, mask):
    """(..., T): the value at the next True step; after the last of them, ``last_value``."""
    following, column = [], last_value
    for t in reversed(range(values.shape[-1])):
        following.append(column)
        column = _where(mask[..., t], values[..., t], column)
    return _arrays.namespace(values).stack(following[::-1], axis=-1)


def _acted_before(rewards, mask):
    """(..., T): at how many steps before this one the policy acted, in the rewards' precision."""
    acted = mask + 0 * rewards
    return acted.cumsum(axis=-1) - acted


def _steps(name, numbers, mask):
    """Checked numbers, 0 where the mask is False, and the mask as booleans."""
    wanted = "numbers of shape (..., T), T at least 1"
    numbers = _arrays.floating(name, numbers, wanted)
    if numbers.ndim == 0 or numbers.shape[-1] == 0:
        raise ValueError(f"{name} has shape {tuple(numbers.shape)}; it must be {wanted}.")
    mask = _arrays.boolean("mask", mask, numbers)
    numbers = _where(mask, numbers, 0.0)  # selected before any sum: NaN times 0 would still be NaN
    if not bool(_arrays.namespace(numbers).isfinite(numbers).all()):
        raise ValueError(f"{name} holds NaN or infinity where the mask is True; there it must be finite.")
    return numbers, mask


def _values(values, rewards, mask):
    """Checked values, of the kind and the shape of the rewards."""
    values = _arrays.like("values", values, rewards, "one value for each reward")
    if tuple(values.shape) != tuple(rewards.shape):
        raise ValueError(
            f"values has shape {tuple(values.shape)}; it must have that of rewards, {tuple(rewards.shape)}: "
            "the value of the state before each step. The value after the last one is last_value."
        )
    return _steps("values", values, mask)[0]


def _last(last_value, rewards):
    """``last_value`` as one finite number for each trajectory."""
    shape = tuple(rewards.shape[:-1])
    wanted = f"one finite number, or one for each trajectory, shape {shape}"
    last = _arrays.like("last_value", last_value, rewards, wanted)
    if last.ndim and tuple(last.shape) != shape:
        raise ValueError(f"last_value has shape {tuple(last.shape)}; it must be {wanted}.")
    if not bool(_arrays.namespace(last).isfinite(last).all()):
        raise ValueError(f"last_value holds NaN or infinity; it must be {wanted}.")
    return last + 0.0 * rewards[..., 0]
