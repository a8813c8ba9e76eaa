"""How the cases of enumerated language models are computed: by the oracle, on the two models they name."""

import itertools

import numpy as np
import torch
from models_by_hand import OneLayer, TwoLogits

from pglab import advantages, logprobs, losses, oracle

WORDS = {(1,): "E", (0, 1): "aE", (0, 0): "aa"}
END = 2
SHOWN = ["||g||", "g[0:5]", "g[-3:]"]


def tree(theta, rewards):
    return oracle.exact(TwoLogits(theta), [0], lambda completion: rewards[WORDS[completion]], 2, end_token=1)


def transformer():
    """1 where it ends and holds one token 1, 1/2 where it was cut off, else 0."""

    def reward(completion):
        return float(completion.count(1) == 1) if completion[-1] == END else 0.5

    return oracle.exact(OneLayer(), [0, 1], reward, 3, end_token=END)


def shown(gradient):
    return [np.linalg.norm(gradient), *gradient[:5], *gradient[-3:]]


def over_all_groups(theta, rewards, G, agg, adv):
    """Mean ascent direction of an aggregated loss: every group through the loss, a batch of one group each."""
    assert adv == "r-mean"
    exact, model = tree(theta, rewards), TwoLogits(theta)
    mode = {"token-mean": {"aggregation": "token_mean"}, "seq-mean-token-sum": {"aggregation": "constant"}}
    options = mode[agg] | ({"norm": 1} if agg == "seq-mean-token-sum" else {})
    tokens = torch.from_numpy(exact.tokens)
    read = torch.cat(
        [torch.zeros(3, 1, dtype=torch.int64), tokens[:, :-1]], 1
    )  # the prompt, then all but the last
    logs = logprobs.gather(model(read), tokens)
    mask = logprobs.completion_mask(tokens, 1)
    loss = 0.0
    for group in itertools.product(range(3), repeat=G):
        rows = list(group)
        advantage = advantages.batch_mean(exact.rewards[rows])
        chance = exact.probabilities[rows].prod()
        loss = loss + chance * losses.policy_loss(
            logs[rows], None, advantage, mask[rows], clip=None, **options
        )
    loss.backward()
    mean = -model.theta.grad.numpy()
    if agg == "seq-mean-token-sum":  # then the estimate is a mean of weighted scores, which the oracle knows
        np.testing.assert_allclose(exact.moments(advantages.batch_mean, G)[0], mean, rtol=0, atol=1e-14)
    return {"E": mean, "sum_of_components": mean.sum(), "true_sum": exact.gradient.sum()}


def gradient_shown(show):
    assert show == SHOWN
    return shown(transformer().gradient)


def mass_cut_off():
    exact = transformer()
    return exact.probabilities[~(exact.tokens == END).any(1)].sum()


def mean_of_leave_one_out(G, agg):
    assert agg == "sum"
    return shown(transformer().moments(advantages.leave_one_out, G)[0])


COMPUTED = {
    "len-01-tree-gradient": lambda theta, rewards, desc: tree(theta, rewards).gradient,
    "len-02-seq-mean-token-sum": over_all_groups,
    "len-02-token-mean": over_all_groups,
    "tf-01-sum-to-one": lambda desc: transformer().probabilities.sum(),
    "tf-03-gradient": gradient_shown,
    "tf-05-truncation-mass": mass_cut_off,
    "tf-06-rloo-unbiased": mean_of_leave_one_out,
}
