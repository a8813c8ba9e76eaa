"""A critic that learns beside its policy: a small network, fitted to sampled returns."""

from typing import NamedTuple

import numpy as np

from pglab import _checks, returns
from pglab.mdp.critics import explained_variance, gae_weights
from pglab.mdp.model import policy
from pglab.mdp.moments import estimates
from pglab.mdp.trajectories import Trajectories, along, trajectories
from pglab.mdp.values import objective, values

KINDS = ("learning", "dead", "frozen", "noise")
UNITS, FITS, RATE = 16, 4, 0.02  # hidden units; steps of the critic for each batch, and their size


class Update(NamedTuple):
    """One update, as it stood before the step."""

    logits: np.ndarray  # (S, A) the policy
    critic: np.ndarray  # (T, S) what the critic says of each state at each time
    batch: Trajectories  # N sampled trajectories of this policy


def actor_critic(mdp, policy_logits, kind="learning", seed=0, updates=60, size=256, lam=0.95, rate=1.0):
    """Train a policy with GAE and a critic that is trained beside it.

    For each update: sample a batch; add ``rate`` times the mean estimate to the logits, with GAE's
    weights (gamma 1); then fit the critic to the batch's reward-to-go, by four steps of Adam on the
    squared error. The critic is a network of one layer of ReLUs that is told time and state.

    Args:
      mdp: a TabularMDP.
      policy_logits: (S, A) where the policy starts.
      kind: "learning", as it should be; "dead", no unit of the ReLU layer ever fires, so the critic
        can only learn a constant; "frozen", its learning rate is 0; "noise", it is fitted to the
        batch's returns in a shuffled order.
      seed: of the sampling and of the network's start.
      updates: how many.
      size: N, trajectories in a batch.
      lam: lambda.
      rate: step size of the policy.

    Returns:
      list of ``updates`` Updates.

    Raises:
      ValueError: a kind that is none of these; numbers outside their range; as ``trajectories``.

    Source: Schulman et al. 2016 (GAE), section 5, without a trust region.
    """
    policy(mdp, policy_logits)  # what is wrong with them is said before anything is drawn
    _checks.one_of("kind", kind, KINDS)
    updates, size = _checks.whole("updates", updates, low=1), _checks.whole("size", size, low=1)
    rng, theta, history = np.random.default_rng(seed), np.array(policy_logits, dtype=float), []
    network = _Network(mdp.horizon, mdp.states, kind, seed)
    for _ in range(updates):
        every = trajectories(mdp, theta)
        drawn = rng.choice(len(every.probability), size=size, p=every.probability)
        batch = Trajectories(*(field[drawn] for field in every))
        critic = network.table()
        history.append(Update(theta, critic, batch))
        theta = theta + rate * estimates(batch, gae_weights(batch, critic, 1.0, lam)).mean(axis=0)
        place = np.arange(mdp.horizon) * mdp.states + batch.states[:, :-1]
        target = returns.reward_to_go(batch.rewards, 1.0, batch.mask)[batch.mask]
        network.fit(place[batch.mask], rng.permutation(target) if kind == "noise" else target)
    return history


def follow(mdp, history):
    """What a log of such a training shows, and what only an exact process can tell.

    Args:
      mdp: the TabularMDP.
      history: list of Updates.

    Returns:
      dict of vectors, one number for each update: "ev", the explained variance of the critic on its
      batch; "ceiling", that of the exact V of this policy, on the same batch; "rmse", the root mean
      square of critic minus exact V over the steps of the batch; "J", exact, at gamma 1.

    Raises:
      ValueError: as ``values`` and ``explained_variance``.

    Source: none.
    """
    _checks.kind("history", history, (list, tuple), "a list of Updates, as mdp.actor_critic gives it")
    rows = [_followed(mdp, *update) for update in history]
    return dict(zip(("ev", "ceiling", "rmse", "J"), np.array(rows).T, strict=True))


def _followed(mdp, logits, critic, batch):
    exact = values(mdp, logits).v[: mdp.horizon]
    wrong = along(batch, critic - exact)[batch.mask]
    shares = explained_variance(batch, critic), explained_variance(batch, exact)
    return *shares, np.sqrt(np.mean(wrong**2)), objective(mdp, logits)


class _Network:
    """One input for each time and state; one layer of ReLUs; one number out."""

    def __init__(self, horizon, states, kind, seed):
        import torch

        self.torch, self.shape = torch, (horizon, states)
        with torch.random.fork_rng(devices=[]):  # the reader's own generator stays where it is
            torch.manual_seed(seed)
            layers = torch.nn.Linear(horizon * states, UNITS), torch.nn.ReLU(), torch.nn.Linear(UNITS, 1)
            self.net = torch.nn.Sequential(*layers).double()
        if kind == "dead":
            torch.nn.init.constant_(self.net[0].bias, -10.0)
        self.inputs = torch.eye(horizon * states, dtype=torch.float64)
        self.adam = torch.optim.Adam(self.net.parameters(), lr=0.0 if kind == "frozen" else RATE)

    def table(self):
        return self.net(self.inputs).detach().numpy().reshape(self.shape)

    def fit(self, place, target):
        place, target = self.torch.tensor(place), self.torch.tensor(target)
        threads = self.torch.get_num_threads()
        self.torch.set_num_threads(1)  # for so small a network, more would only wait for one another
        try:
            for _ in range(FITS):
                self.adam.zero_grad()
                ((self.net(self.inputs)[place, 0] - target) ** 2).mean().backward()
                self.adam.step()
        finally:
            self.torch.set_num_threads(threads)
