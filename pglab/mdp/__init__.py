"""Tabular decision processes: every trajectory, exact values, exact mean and covariance of any weight,
critics right and wrong.

The horizon is finite, and all is in float64.

A state s, an action a drawn from pi(a | s), a reward, a next state drawn from P(s' | s, a), and
so on for a fixed number of steps. For a language model a state is a prompt with the tokens so
far, an action is the next token, and P only appends it, unless a tool answers.

Notation, kept in every notebook:

    tau = (s_0, a_0, r_0, s_1, a_1, r_1, ...)              a trajectory
    p(tau) = P(s_0) prod_t pi(a_t | s_t) P(s_{t+1} | s_t, a_t)
    J = E[sum_t gamma^t r_t]                               the objective
    w_t                                                    the weight of step t's score
    g_hat = sum_t w_t grad log pi(a_t | s_t)               the estimate from one trajectory

A policy is a table of logits, shape (S, A): one softmax in each state. ``trajectories`` counts
paths, ``values`` goes backwards through time; the two routes share no code, and each checks the other.

Sources: Sutton and Barto (2nd ed.), chapters 3 and 13; Spinning Up, Intro to policy optimization.
"""

from pglab.mdp import lengths
from pglab.mdp.actor_critic import Update, actor_critic, follow
from pglab.mdp.baselines import best_table, minus_table, noise_with_table, score_weighted_table
from pglab.mdp.batches import batch_estimate, sampled_batch_estimate
from pglab.mdp.critics import explained_variance, gae_mean, gae_moments, gae_weights
from pglab.mdp.model import TabularMDP
from pglab.mdp.moments import (
    WEIGHTS,
    covariance,
    covariance_trace,
    estimates,
    exact_gradient,
    moments,
    weights,
)
from pglab.mdp.search_agent import ACTIONS, LOGITS, STATES, search_agent, two_steps
from pglab.mdp.tokens import noise_to_signal, token_sequences, token_tree
from pglab.mdp.trajectories import Trajectories, trajectories
from pglab.mdp.values import Values, objective, objective_gradient, occupancy, values

__all__ = [
    "ACTIONS", "LOGITS", "STATES", "WEIGHTS", "TabularMDP", "Trajectories", "Update", "Values", "actor_critic",
    "batch_estimate", "best_table", "covariance", "covariance_trace", "estimates", "exact_gradient",
    "explained_variance", "follow", "gae_mean", "gae_moments", "gae_weights", "lengths", "minus_table", "moments",
    "noise_to_signal", "noise_with_table", "objective", "objective_gradient", "occupancy", "sampled_batch_estimate",
    "score_weighted_table", "search_agent", "token_sequences", "token_tree", "trajectories", "two_steps", "values", "weights",
]  # fmt: skip
