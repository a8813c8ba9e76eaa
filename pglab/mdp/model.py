"""The process itself: three tables, and what makes them valid."""

from dataclasses import dataclass

import numpy as np

from pglab import _checks, bandit


@dataclass(frozen=True, eq=False)
class TabularMDP:
    """A Markov decision process of S states, A actions and a fixed number of steps.

    Args:
      start: (S,) probability of each state to be the first.
      transition: (S, A, S) P(s' | s, a); every row [s, a] sums to 1.
      reward: (S, A) reward of taking a in s, or (S, A, S) where it depends on the next state too.
      horizon: T, how many steps are taken, at least 1.
      terminal: (S,) booleans, True for a state in which the episode is over: no action is taken
        there and no reward comes. Its rows of the two tables are not used. None: no such state.

    The attributes are the arguments, checked and read-only; ``reward`` always has shape (S, A, S).

    Raises:
      ValueError: probabilities that are negative or do not sum to 1, numbers that are not finite,
        shapes that do not fit one another, a start in a terminal state.

    Source: Sutton and Barto (2nd ed.), section 3.1.
    """

    start: np.ndarray
    transition: np.ndarray
    reward: np.ndarray
    horizon: int
    terminal: np.ndarray | None = None

    def __post_init__(self):
        start = _checks.vector("start", self.start)
        terminal = _terminal(self.terminal, start.size)
        transition = _transition(self.transition, terminal)
        _distribution("start", start)
        if start[terminal].any():
            state = int(np.flatnonzero(terminal & (start > 0))[0])
            raise ValueError(
                f"start[{state}] is {start[state]}, but state {state} is terminal: it must be 0."
            )
        kept = {
            "start": start,
            "transition": transition,
            "reward": _reward(self.reward, transition.shape, terminal),
            "terminal": terminal,
        }
        for name, array in kept.items():
            array.flags.writeable = False
            object.__setattr__(self, name, array)  # the dataclass is frozen
        object.__setattr__(self, "horizon", _checks.whole("horizon", self.horizon, low=1))

    @property
    def states(self):
        """S, how many states there are."""
        return self.transition.shape[0]

    @property
    def actions(self):
        """A, how many actions there are in each state."""
        return self.transition.shape[1]

    def trajectories(self, policy_logits, steps=None):
        """Every trajectory with its probability: the same as ``mdp.trajectories(self, policy_logits)``."""
        from pglab.mdp.trajectories import trajectories  # that file builds on this one

        return trajectories(self, policy_logits, steps)


def policy(mdp, policy_logits):
    """(S, A) probabilities of the actions in each state, from logits of that shape.

        pi(a | s) = exp(logits[s, a]) / sum_b exp(logits[s, b])

    Raises:
      ValueError: logits of another shape, NaN, +inf, or a state whose logits are all -inf.
    """
    _checks.kind("mdp", mdp, TabularMDP, "a TabularMDP, such as mdp.search_agent()")
    wanted = f"one logit for each state and action, shape ({mdp.states}, {mdp.actions})"
    logits = _checks.floats("policy_logits", policy_logits, wanted)
    if logits.shape != (mdp.states, mdp.actions):
        raise ValueError(f"policy_logits has shape {logits.shape}; it must be {wanted}.")
    bad = np.isnan(logits) | (logits == np.inf)
    if bad.any():
        s, a = np.argwhere(bad)[0]
        raise ValueError(f"policy_logits[{s}, {a}] is {logits[s, a]}; it must be finite, or -inf.")
    never = (logits == -np.inf).all(axis=1)
    if never.any():
        s = np.flatnonzero(never)[0]
        raise ValueError(
            f"policy_logits[{s}] is -inf throughout; some action must be possible in each state."
        )
    return np.array([bandit.softmax(row) for row in logits])


def _distribution(name, p):
    if not _checks.is_distribution(p):
        raise ValueError(
            f"{name} sums to {p.sum():.6g}, its least entry is {p.min():.6g}; probabilities must be >= 0 "
            "and sum to 1."
        )


def _terminal(terminal, states):
    if terminal is None:
        return np.zeros(states, dtype=bool)
    wanted = f"booleans of shape ({states},), True for a state in which the episode is over"
    given = _checks.floats("terminal", terminal, wanted)
    if given.shape != (states,) or not np.isin(given, (0, 1)).all():
        raise ValueError(f"terminal is {terminal!r}; it must be {wanted}.")
    return given == 1


def _transition(transition, terminal):
    """The checked table; a terminal state leads to itself, so that every path has the same length."""
    states = terminal.size
    wanted = f"probabilities of shape ({states}, A, {states}): state, action, next state"
    table = _checks.floats("transition", transition, wanted)
    if table.ndim != 3 or 0 in table.shape or table.shape != (states, table.shape[1], states):
        raise ValueError(f"transition has shape {table.shape}; it must be {wanted}.")
    table[terminal] = 0.0
    table[terminal, 0, terminal] = 1.0
    if not np.isfinite(table).all():
        raise ValueError(f"transition holds NaN or infinity; it must be {wanted}.")
    for s in np.flatnonzero(~terminal):
        for a, row in enumerate(table[s]):
            _distribution(f"transition[{s}, {a}]", row)
    return table


def _reward(reward, shape, terminal):
    """The checked table, with the next state on its last axis; nothing is earned when all is over."""
    states, actions, _ = shape
    wanted = f"finite numbers of shape ({states}, {actions}), or {shape} if the next state matters"
    table = _checks.floats("reward", reward, wanted)
    if table.shape == shape[:2]:
        table = np.repeat(table[:, :, None], states, axis=2)
    if table.shape != shape:
        raise ValueError(f"reward has shape {table.shape}; it must be {wanted}.")
    table[terminal] = 0.0
    if not np.isfinite(table).all():
        raise ValueError(f"reward holds NaN or infinity; it must be {wanted}.")
    return table
