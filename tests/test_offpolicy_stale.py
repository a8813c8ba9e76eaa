"""Training on completions of an older policy, step by step by hand."""

import copy
from functools import partial

import numpy as np
import pytest
import torch
from refusals import check

from pglab import diagnostics, recordings, sampling
from pglab.algorithms import named
from pglab.training import Trainer, plan, rollouts
from pglab.training import stale as stale_room
from pglab.training.stale import CORRECTIONS, StaleTrainer

SETTINGS = plan("addition", prompts=6, group_size=4, steps=4, learning_rate=3e-3, seed=3)


pytestmark = pytest.mark.usefixtures("one_thread")


def weights_of(model):
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def test_no_step_behind_is_the_trainer():
    plain, stale = Trainer(SETTINGS), StaleTrainer(SETTINGS)
    for one, other in zip(plain, stale, strict=True):
        assert {k: v for k, v in one.items() if k != "seconds"} == pytest.approx(
            {k: v for k, v in other.items() if k != "seconds"}, nan_ok=True, abs=0
        )
    assert torch.equal(weights_of(plain.policy), weights_of(stale.policy))
    assert stale.column("share") == pytest.approx([1] * 4, abs=1e-6) and len(stale.column("reward")) == 4


@pytest.mark.parametrize("behind", [1, 2, 9])
def test_who_draws(behind):
    run, before = StaleTrainer(SETTINGS, behind=behind), []
    for step in range(SETTINGS.steps):
        before.append(copy.deepcopy(run.policy))
        run.advance()
        drawn = rollouts.collect(before[max(step - behind, 0)], run.task, SETTINGS, step)
        assert torch.equal(drawn.samples.tokens, run.rollouts.samples.tokens)
        torch.testing.assert_close(
            drawn.samples.logprobs, run.rollouts.samples.logprobs, rtol=1e-4, atol=1e-5
        )
        now = sampling.score(before[-1], drawn.prompts, drawn.samples.tokens).detach()
        log_ratio = (now - drawn.samples.logprobs).where(drawn.samples.mask, 0.0).sum(1)
        size = diagnostics.effective_sample_size(log_ratio.double().exp().numpy())
        assert run.share[-1] == pytest.approx(float(size) / 24, rel=1e-4)
    assert run.share[-1] < 0.999


def first_gradient(run, correction, cap):
    """Of the first update on the last batch, computed from the loss in the open; and the policy it starts from."""
    seen = {}

    class Spy(stale_room._Update):
        def gradient(self, epoch, seen_by_update):
            if epoch == 0:
                seen["start"] = copy.deepcopy(self.model)
            result = super().gradient(epoch, seen_by_update)
            if epoch == 0:
                seen["gradient"] = torch.cat([p.grad.flatten() for p in self.parameters]).clone()
            return result

    original, stale_room._Update = stale_room._Update, Spy
    try:
        run.advance()
    finally:
        stale_room._Update = original
    drawn = run.rollouts
    model = seen["start"].requires_grad_(True)
    model.zero_grad()
    new = sampling.score(model, drawn.prompts, drawn.samples.tokens)
    mask, mu = drawn.samples.mask, drawn.samples.logprobs
    advantage = torch.tensor(run.settings.algorithm.advantages(drawn.rewards).reshape(-1, 1)).float()
    ratio = (new.detach() - mu).where(mask, 0.0)
    if correction == "token":
        advantage = advantage * ratio.exp().clamp(max=cap or np.inf)
    if correction == "sequence":
        advantage = advantage * ratio.sum(1, keepdim=True).exp().clamp(max=cap or np.inf)
    old = mu if correction == "clip" else new.detach()
    r = (new - old).where(mask, 0.0).exp()
    each = -torch.minimum(r * advantage, r.clamp(0.8, 1.2) * advantage)
    (each.where(mask, 0.0).sum(1) / mask.sum(1)).mean().backward()
    return seen["gradient"], torch.cat([p.grad.flatten() for p in model.parameters()])


@pytest.mark.parametrize(("correction", "cap"), [("none", None), ("clip", None), ("token", 1.1), ("sequence", 1.2),
                                                 ("sequence", None)])  # fmt: skip
def test_the_gradient_from_the_loss_in_the_open(correction, cap):
    run = StaleTrainer(SETTINGS, behind=2, correction=correction, cap=cap)
    run.advance(), run.advance()
    found, wanted = first_gradient(run, correction, cap)
    assert float((found - wanted).norm() / wanted.norm()) < 1e-4 and float(wanted.norm()) > 1e-3


def test_corrections_differ_and_the_loss_comes_to_nothing_else():
    ends = []
    for correction in CORRECTIONS:
        run = StaleTrainer(SETTINGS, behind=2, correction=correction)
        assert [row["step"] for row in run] == [0, 1, 2, 3]
        ends.append(weights_of(run.policy))
    for k, one in enumerate(ends):
        assert all(not torch.equal(one, other) for other in ends[:k])


def test_refusals():
    make = partial(StaleTrainer, SETTINGS)
    check(lambda: make(behind=-1), "behind is -1; it must be a whole number, at least 0")
    check(lambda: make(correction="tis"), "correction is 'tis'; it must be one of 'none', 'clip', 'token'")
    check(lambda: make(cap=0), "cap is 0; it must be larger than 0, or None")
    check(lambda: make(cap=np.inf), "cap is inf; it must be one finite number")
    check(lambda: make(kept="run.pt"), "kept is given; it must be left out")
    for name in ("ppo", named("reinforce", ratio="none", clip=None)):
        settings = plan("addition", name, prompts=2, group_size=2)
        check(
            lambda s=settings: StaleTrainer(s),
            f"algorithm is {settings.algorithm.name}; it must have a ratio",
        )
    with pytest.raises(ValueError, match="must be one of step, samples"):
        StaleTrainer(SETTINGS).column("shares")


# ---- What the recording says


@pytest.fixture(scope="module")
def told():
    return recordings.read("stale")


def apart(told, one, other, step=40):
    """(10,) pass@1 of a variant minus that of another, seed by seed, after so many steps."""
    place = [0, 5, 10, 15, 20, 30, 40].index(step)
    return told.column(one, "pass_at_1")[:, place] - told.column(other, "pass_at_1")[:, place]


def sure(differences, errors=4):
    """Whether a mean is that many of its standard errors above 0."""
    return differences.mean() > errors * differences.std(ddof=1) / len(differences) ** 0.5


def test_taken_as_they_come_they_do_harm_that_grows_with_the_steps_behind(told):
    ends = [told.column(f"none {k} 0.001", "pass_at_1")[:, -1].mean() for k in (0, 1, 2, 4, 8, 16)]
    assert ends == sorted(ends, reverse=True) and ends[0] > 0.95 > ends[2] and ends[-1] < 0.31 < ends[-2]
    for k in (2, 4, 8, 16):
        assert sure(apart(told, "none 0 0.001", f"none {k} 0.001"))
    assert told.column("none 16 0.001", "pass_at_1")[:, 0].mean() > ends[-1]  # worse than before training


def test_at_a_fifth_of_the_rate_four_steps_behind_cost_a_hundredth(told):
    lost = apart(told, "none 0 0.0002", "none 4 0.0002")
    assert sure(lost) and 0 < lost.mean() < 0.02
    assert apart(told, "none 0 0.0002", "none 16 0.0002").mean() > 0.2


def test_weights_of_completions_mend_most_of_it(told):
    for k in (4, 8, 16):
        assert sure(apart(told, f"sequence {k} 0.001", f"none {k} 0.001"))
        assert 0.02 < apart(told, "none 0 0.001", f"sequence {k} 0.001").mean() < 0.1
    for k in (4, 16):
        for other in ("token", "clip", "none"):
            assert (apart(told, f"sequence {k} 0.001", f"{other} {k} 0.001", 10) > 0).all()
    assert apart(told, "none 0 0.0002", "sequence 16 0.0002").mean() < 0.02


def test_the_end_does_not_tell_token_and_sequence_weights_apart_four_steps_behind(told):
    assert abs(apart(told, "sequence 4 0.001", "token 4 0.001").mean()) < 0.02
    assert sure(apart(told, "sequence 16 0.001", "token 16 0.001"), 2)


def test_the_cap_matters_early_and_hardly_at_the_end(told):
    for k in (4, 16):
        early, late = (
            apart(told, f"sequence {k} 0.001", f"sequence without cap {k} 0.001", s) for s in (10, 40)
        )
        assert 0.01 < early.mean() < 0.06 and not sure(late, 2) and not sure(-late, 2)


def test_a_clip_to_the_sampler_is_slower_than_doing_nothing_where_nothing_need_be_done(told):
    assert (apart(told, "none 4 0.0002", "clip 4 0.0002") > 0).all()
    assert sure(apart(told, "clip 16 0.001", "none 16 0.001"))  # and a help where much must be


def test_how_much_the_samples_are_worth(told):
    share = told.column("none 0 0.001", "share")[:, 1:]
    assert (share > 0.999).all()
    assert np.nanmean(told.column("none 16 0.001", "share")[:, -1]) < 0.1
    assert told.settings("token 4 0.001") == told.settings("none 0 0.001")
