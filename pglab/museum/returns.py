"""Returns that are wrong: which rewards belong to which token."""

import numpy as np

from pglab import bandit, returns
from pglab.museum.exhibit import Exhibit

TO_GO = "to_go(rewards, gamma): (T,) -> (T,): at each step the discounted rewards from this step on."
SKIPS = "mask is False where the environment wrote the token."


# ---- The broken ones, and how the rooms of pglab do it


def one_step_late(rewards, gamma):
    rewards = np.concatenate([[0.0], rewards[:-1]])  # the buffer stored what came before the action
    to_go = np.zeros(len(rewards))
    for t in reversed(range(len(rewards))):
        to_go[t] = rewards[t] + gamma * (to_go[t + 1] if t + 1 < len(rewards) else 0.0)
    return to_go


def never_added(rewards, gamma):
    return rewards * gamma ** np.arange(len(rewards))


def cut_is_the_end(rewards, values, last_value, truncated, gamma, lam):
    values = np.append(values, 0.0)  # the episode is over
    weights = np.zeros(len(rewards) + 1)
    for t in reversed(range(len(rewards))):
        error = rewards[t] + gamma * values[t + 1] - values[t]
        weights[t] = error + gamma * lam * weights[t + 1]
    return weights[:-1]


def cut_goes_on(rewards, values, last_value, truncated, gamma, lam):
    return returns.gae(rewards, values, gamma, lam, last_value=last_value if truncated else 0.0)


def critic_of_noise(rewards, values, mask, gamma, lam):
    weights = np.zeros(len(rewards) + 1)
    values = np.append(values, 0.0)
    for t in reversed(range(len(rewards))):
        error = rewards[t] + gamma * values[t + 1] - values[t]
        weights[t] = error + gamma * lam * weights[t + 1]
    return weights[:-1] * mask


def critic_of_actions(rewards, values, mask, gamma, lam):
    return returns.gae(rewards, values, gamma, lam, mask=mask)


def reset_at_the_tool(rewards, mask, gamma):
    to_go, running = np.zeros(len(rewards)), 0.0
    for t in reversed(range(len(rewards))):
        running = (rewards[t] + gamma * running) * mask[t]
        to_go[t] = running
    return to_go


def carried_across(rewards, mask, gamma):
    return returns.reward_to_go(rewards, gamma, mask=mask)


def mean_of_logprobs(logprobs, weights):
    return -logprobs.mean() * weights.sum()


def each_with_its_own(logprobs, weights):
    return -(logprobs * weights).sum()


def from_here(rewards, gamma):
    return returns.reward_to_go(rewards, gamma)


def from_the_start(rewards, gamma):
    return returns.reward_to_go(rewards, gamma, discount_from_start=True)


# ---- The oracle tests


def of_three_rewards(to_go):
    return to_go(np.array([1.0, 2.0, 3.0]), 0.5)


def of_a_cut_episode(gae):
    return gae(np.array([1.0, 0.0, 2.0]), np.array([0.5, 1.0, 1.5]), 4.0, True, 0.9, 0.0)


def past_a_tool(gae):
    rewards, values = np.array([0.0, 0.0, 0.0, 1.0]), np.array([0.2, 9.0, 9.0, 0.4])
    return gae(rewards, values, np.array([True, False, False, True]), 0.9, 0.5)[0]


def before_a_tool(to_go):
    return to_go(np.array([0.0, 0.0, 0.0, 1.0]), np.array([True, False, False, True]), 1.0)[0]


def of_two_steps(loss):
    return loss(np.array([-1.0, -3.0]), np.array([2.0, 1.0]))


def of_the_objective(weights):
    """The expected gradient of two steps with one logit of 0: action 1 earns 0.6 first, -1 second."""
    total = 0.0
    for first in (0, 1):
        for second in (0, 1):
            weight = weights(np.array([0.6 * first, -1.0 * second]), 0.5)
            scores = np.array([bandit.score_matrix([0.0, 0.0])[action][1] for action in (first, second)])
            total += 0.25 * (weight * scores).sum()
    return total


RETURNS = (
    Exhibit(
        "one_step_late",
        "The last reward is never seen, and each action answers for the one before it",
        "returns", TO_GO, one_step_late, returns.reward_to_go, of_three_rewards, (2.75, 3.5, 3.0), (1.0, 2.0, 2.0),
        "Different rewards at each step: which of them reach the last action?",
        "The reward of a step is the one that came *after* its action.",
        "With one reward at the end, no gradient at all; with dense rewards a run that is worse than it could be.",
        ("https://github.com/openai/spinningup/issues/50",),
    ),
    Exhibit(
        "never_added",
        "Early actions do not hear of late rewards",
        "returns", TO_GO, never_added, returns.reward_to_go, of_three_rewards, (2.75, 3.5, 3.0), (1.0, 1.0, 0.75),
        "What does the first action get of the last reward?",
        "G_t = r_t + gamma G_{t+1}, from the end to the start.",
        "Where the reward comes last, only the last token learns.",
        ("https://github.com/hunkim/ReinforcementZeroToAll/issues/1",),
    ),
    Exhibit(
        "cut_is_the_end",
        "What was cut off counts as if nothing more would have come",
        "returns", "gae(rewards, values, last_value, truncated, gamma, lam) -> (T,); a truncated episode goes on, and "
        "last_value is what its next state is worth.",
        cut_is_the_end, cut_goes_on, of_a_cut_episode, (1.4, 0.35, 4.1), (1.4, 0.35, 0.5),
        "A truncated episode whose next state is worth 4.",
        "Only an end is worth 0: bootstrap where the episode was cut.",
        "Values near the limit of length are too low; the policy learns to hurry.",
        ("https://github.com/Toni-SM/skrl/issues/449", "https://github.com/anthonytorlucci/rlevo/issues/170"),
    ),
    Exhibit(
        "critic_of_noise",
        "What a tool wrote is judged as if the policy had",
        "returns", f"gae(rewards, values, mask, gamma, lam) -> (T,); {SKIPS}",
        critic_of_noise, critic_of_actions, past_a_tool, (0.43,), (5.800075,),
        "Put nonsense where the critic judges the tool's tokens, with a lambda below 1.",
        "The recursion runs over the policy's own tokens alone.",
        "Advantages before a call of a tool are larger and noisier than all others.",
        ("https://github.com/radixark/miles/pull/1827",),
    ),
    Exhibit(
        "reset_at_the_tool",
        "What is done before a tool is called earns nothing",
        "returns", f"to_go(rewards, mask, gamma): (T,), (T,) -> (T,); {SKIPS}",
        reset_at_the_tool, carried_across, before_a_tool, (1.0,), (0.0,),
        "One reward at the very end, and masked tokens in between.",
        "Carry the return across what others wrote.",
        "The first turn of a dialogue never changes.",
        ("https://github.com/verl-project/verl/issues/7278", "https://github.com/verl-project/verl/pull/6376"),
    ),
    Exhibit(
        "mean_of_logprobs",
        "Each action is paid for all",
        "returns", "loss(logprobs, weights): (T,), (T,) -> minus the sum of each log-probability times its weight.",
        mean_of_logprobs, each_with_its_own, of_two_steps, (5.0,), (6.0,),
        "Two steps with different weights.",
        "Multiply first, add then.",
        "Credit is shared out evenly: reward-to-go and critics change nothing.",
        ("https://github.com/Farama-Foundation/Gymnasium/issues/1336",),
    ),
    Exhibit(
        "from_here",
        "The discounted objective goes down",
        "returns", "weights(rewards, gamma): (T,) -> (T,); the expected gradient is that of the *discounted* return.",
        from_here, from_the_start, of_the_objective, (0.025,), (-0.1,),
        "Enumerate two steps: .6 for action 1 first, -1 for action 1 second, one shared logit.",
        "Weight gamma^t G_t; or say that another objective is climbed. At gamma = 1 there is no difference.",
        "The undiscounted return may rise while the one that is reported falls.",
        ("https://github.com/ufal/npfl122/issues/117", "https://github.com/facebookresearch/Pearl/issues/46"),
    ),
)  # fmt: skip
