"""What two policies cannot be made of is refused, in one sentence."""

import numpy as np
import pytest
from refusals import check

from pglab import bandit, mdp, offpolicy

pytestmark = pytest.mark.filterwarnings("error")
LOGITS, REWARDS = bandit.EXAMPLE_LOGITS, bandit.EXAMPLE_REWARDS
UNIFORM = np.zeros(4)
ONE = offpolicy.one_decision(LOGITS, UNIFORM, REWARDS)
MANY = offpolicy.along_tokens(LOGITS, UNIFORM, REWARDS, 3)
PATH = offpolicy.ascent(LOGITS, REWARDS, 3, 1.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: offpolicy.one_decision(LOGITS, UNIFORM[:3], REWARDS), "behaviour_logits has 3 entries; it must have 4"),
        (lambda: offpolicy.one_decision(LOGITS, UNIFORM, [1.0]), "rewards has 1 entries; it must have 4"),
        (lambda: offpolicy.one_decision([np.nan, 0], [0, 0], [1, 0]), "logits[0] is nan"),
        (lambda: offpolicy.one_decision([-np.inf] * 2, [0, 0], [1, 0]), "logits are all -inf"),
        (lambda: offpolicy.along_tokens(LOGITS, UNIFORM, REWARDS, 0), "length is 0; it must be a whole number"),
        (lambda: offpolicy.along_tokens(LOGITS, UNIFORM, REWARDS, 60), "length is 60, for 4 tokens: 3.97e+04 kinds"),
        (lambda: offpolicy.along_tokens(LOGITS, UNIFORM, REWARDS, 2, "each"), "pay is 'each'; it must be one of 'all'"),
        (lambda: offpolicy.moments("all"), "answers is a str; it must be Answers"),
        (lambda: offpolicy.moments(ONE, "sentence"), "level is 'sentence'; it must be one of 'none', 'token'"),
        (lambda: offpolicy.moments(ONE, mode="clip"), "mode is 'clip'; it must be one of 'truncate', 'mask'"),
        (lambda: offpolicy.moments(ONE, mode="mask"), "cap is None; it must be a positive number, for mode 'mask'"),
        (lambda: offpolicy.moments(ONE, cap=0), "cap is 0; it must be one number larger than 0"),
        (lambda: offpolicy.moments(ONE, cap=np.nan), "cap is nan; it must be one number larger than 0"),
        (lambda: offpolicy.moments(ONE, cap=[1.0, 2.0]), "cap is [1.0, 2.0]; it must be one number larger than 0"),
        (lambda: offpolicy.moments(ONE, cap="two"), "cap is 'two'; it must be a positive number, or None"),
        (lambda: offpolicy.moments(ONE, baseline="mean"), "baseline is 'mean'; it must be one finite number"),
        (lambda: offpolicy.along_tokens([0, 0], [0, 0], [1, 0], 20_000), "length is 20000, for 2 tokens: 2e+04 kinds"),
        (lambda: offpolicy.moments(MANY, "prefix"), "level is 'prefix', but these answers list no order"),
        (lambda: offpolicy.moments(ONE).mse(0), "samples is 0; it must be a whole number, at least 1"),
        (lambda: offpolicy.moments(ONE).effective(0), "samples is 0; it must be a whole number, at least 1"),
        (lambda: offpolicy.moments(ONE).effective(1.5), "samples is 1.5; it must be a whole number"),
        (lambda: offpolicy.curve(ONE, [1.0, -1.0], 4), "cap is -1.0; it must be one number larger than 0"),
        (lambda: offpolicy.curve(ONE, [], 4), "caps is empty"),
        (lambda: offpolicy.curve(ONE, [1.0], 0), "samples is 0"),
        (lambda: offpolicy.best_cap(ONE, 4, "none"), "level is 'none', which has no cap"),
        (lambda: offpolicy.best_cap(ONE, 4, aim="speed"), "aim is 'speed'; it must be one of 'error', 'direction'"),
        (lambda: offpolicy.best_cap(offpolicy.one_decision(LOGITS, UNIFORM, [1] * 4), 4), "the gradient is 0"),
        (lambda: offpolicy.growth(LOGITS, UNIFORM, [1] * 4, [1]), "the gradient is 0"),
        (lambda: offpolicy.growth(LOGITS, UNIFORM, REWARDS, [1.5]), "length is 1.5"),
        (lambda: offpolicy.ascent(LOGITS, REWARDS, -1, 1.0), "steps is -1"),
        (lambda: offpolicy.ascent(LOGITS, REWARDS, 1, np.inf), "rate is inf"),
        (lambda: offpolicy.stale(PATH, 4, REWARDS), "path has shape (4, 4), behind is 4; it must be"),
        (lambda: offpolicy.stale(PATH[0], 0, REWARDS), "path has shape (4,), behind is 0; it must be"),
        (lambda: offpolicy.stale(PATH, 1, REWARDS, temperature=0), "temperature is 0; it must be larger than 0"),
        (lambda: offpolicy.stale(PATH, -1, REWARDS), "behind is -1; it must be a whole number, at least 0"),
        (lambda: offpolicy.stale("up", 1, REWARDS), "path is 'up'; it must be logits of shape (steps + 1, A)."),
        (lambda: offpolicy.stale(PATH, 1, REWARDS, temperature="hot"), "temperature is 'hot'; it must be one"),
        (lambda: offpolicy.growth(LOGITS, UNIFORM, REWARDS, "long"), "lengths is 'long'; it must be a vector"),
        (lambda: offpolicy.growth(LOGITS, UNIFORM, REWARDS, [2], baseline="x"), "baseline is 'x'; it must be one"),
        (lambda: offpolicy.curve(ONE, [1.0], 4, baseline="x"), "baseline is 'x'; it must be one finite number"),
        (lambda: offpolicy.curve(ONE, [1.0], 4, "sentence"), "level is 'sentence'; it must be one of 'none'"),
        (lambda: offpolicy.curve(ONE, [1.0], 4, mode="clip"), "mode is 'clip'; it must be one of 'truncate'"),
        (lambda: offpolicy.best_cap(ONE, 0), "samples is 0; it must be a whole number, at least 1"),
        (lambda: offpolicy.best_cap(ONE, 4, baseline="x"), "baseline is 'x'; it must be one finite number"),
        (lambda: offpolicy.best_cap(ONE, 4, mode="clip"), "mode is 'clip'; it must be one of 'truncate'"),
        (lambda: offpolicy.ascent("z", REWARDS, 1, 1.0), "logits is 'z'; it must be a vector"),
        (lambda: offpolicy.ratio_square([np.nan], [0]), "logits[0] is nan; it must be a vector"),
        (lambda: offpolicy.ratio_square([0], [np.inf]), "behaviour_logits[0] is inf; it must be a vector"),
        (lambda: offpolicy.one_decision([0, 0], [0, np.nan], [0, 0]), "behaviour_logits[1] is nan; it must be"),
        (lambda: offpolicy.one_decision([0, 0], [0, 0], [0, np.nan]), "rewards[1] is nan; it must be a vector"),
        (lambda: offpolicy.along_tokens(LOGITS, UNIFORM, REWARDS, 1.5), "length is 1.5; it must be a whole number, at"),
        (lambda: offpolicy.ratio_square([0, 1], [0]), "behaviour_logits has 1 entries; it must have 2"),
    ],
)  # fmt: skip
def test_refusals(call, message):
    check(call, message)


def listed(**changes):
    columns = {
        "chance": [0.5, 0.5], "rewards": [1.0, 0.0], "log_ratio": np.zeros((2, 3)), "mask": np.ones((2, 3)),
        "scores": np.zeros((2, 3, 4)), "gradient": np.zeros(4),
    }  # fmt: skip
    return offpolicy.listed(**(columns | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"chance": [0.5, 0.6]}, "chance sums to 1.1"),
        ({"chance": [1.5, -0.5]}, "chance sums to 1, its least entry is -0.5"),
        ({"chance": "x"}, "chance is 'x'; it must be a vector"),
        ({"rewards": "x"}, "rewards is 'x'; it must be a vector"),
        ({"gradient": "x"}, "gradient is 'x'; it must be a vector"),
        ({"scores": "x"}, "scores is 'x'; it must be numbers of shape (N, T, n)."),
        ({"log_ratio": "x"}, "log_ratio is 'x'; it must be numbers of shape (2, 3)."),
        ({"mask": "x"}, "mask is 'x'; it must be booleans of shape (2, 3)."),
        ({"mask": np.ones((2, 2))}, "chance, rewards, log_ratio, mask, scores and gradient have shapes"),
        ({"log_ratio": np.ones((2, 2))}, "chance, rewards, log_ratio, mask, scores and gradient have shapes"),
        ({"rewards": [1.0]}, "chance, rewards, log_ratio, mask, scores and gradient have shapes"),
        ({"chance": [1.0]}, "chance, rewards, log_ratio, mask, scores and gradient have shapes (1,), (2,)"),
        (
            {"mask": np.full((2, 3), 0.5)},
            "chance sums to 1, its least entry is 0.5; it must be >= 0 and sum to 1, and",
        ),
        (
            {"mask": [[1, 1, 1], [0, 0, 0]]},
            "mask leaves an answer that mu draws without a token; each must have one",
        ),
        ({"gradient": np.zeros(3)}, "chance, rewards, log_ratio, mask, scores and gradient have shapes"),
        ({"log_ratio": np.full((2, 3), np.inf)}, "log_ratio or scores holds NaN or infinity"),
        ({"log_ratio": np.full((2, 3), np.nan)}, "log_ratio or scores holds NaN or infinity"),
        ({"scores": np.full((2, 3, 4), np.nan)}, "log_ratio or scores holds NaN or infinity"),
    ],
)
def test_columns_of_ones_own(changes, message):
    check(lambda: listed(**changes), message)


def test_what_is_not_read_may_be_anything():
    mask = np.array([[1, 1, 0], [1, 0, 0]])
    ratio = np.where(mask, 0.1, np.nan)
    found = listed(mask=mask, log_ratio=ratio, scores=np.where(mask[..., None], 1.0, np.nan) * np.ones(4))
    assert (found.scores[mask == 0] == 0).all() and np.isfinite(offpolicy.moments(found).variance)
    assert offpolicy.weights(found)[1].tolist() == pytest.approx([np.exp(0.1), 0, 0])
    assert offpolicy.moments(found, "token", baseline=0.5).share == pytest.approx(1)
    never = listed(chance=[1.0, 0.0], log_ratio=[[0, 0, 0], [np.inf, np.nan, 0]])
    assert len(never.chance) == 1


def test_a_process_with_actions_that_are_never_taken():
    process = mdp.search_agent(horizon=2)
    never, always = np.array(mdp.LOGITS), np.array(mdp.LOGITS)
    never[0, 0] = -np.inf  # no search; mu searches
    found = offpolicy.trajectories(process, never, always)
    np.testing.assert_allclose(found.gradient, mdp.objective_gradient(process, never).ravel(), atol=1e-15)
    np.testing.assert_allclose(offpolicy.moments(found, "sequence").bias, 0, atol=1e-15)


def test_what_neither_policy_does_has_no_ratio():
    found = offpolicy.one_decision([0.0, 1.0, -np.inf], [1.0, 0.0, -np.inf], [1.0, 0.0, 5.0])
    assert len(found.chance) == 2 and found.log_ratio[:, 0].tolist() == [-1.0, 1.0]
    both = offpolicy.along_tokens([0.0, 1.0, -np.inf], [1.0, 0.0, -np.inf], [1.0, 0.0, 5.0], 2)
    assert len(both.chance) == 3 and np.isfinite(both.log_ratio).all() and not both.ordered


def test_as_many_kinds_of_answers_as_may_be():
    answers = offpolicy.along_tokens(
        [0, 0], [0, 0], [1, 0], 19_999, "share"
    )  # 20,000 kinds, most of them too rare
    assert answers.chance.sum() == pytest.approx(1) and (answers.times.sum(axis=1) == 19_999).all()


def test_the_share_counts_answers_or_tokens():
    """Answers of three tokens and of one: a sequence weight is one for the answer, a token weight one for each token."""
    ratio = [[0.5, -0.2, 0.1], [0.7, 0.0, 0.0]]
    found = listed(chance=[0.25, 0.75], mask=[[1, 1, 1], [1, 0, 0]], log_ratio=ratio)
    whole, token = offpolicy.moments(found, "sequence"), offpolicy.moments(found, "token")
    w, chance = np.exp([0.4, 0.7]), np.array([0.25, 0.75])
    assert whole.share == pytest.approx((chance @ w) ** 2 / (chance @ w**2))
    w, chance = np.exp([0.5, -0.2, 0.1, 0.7]), np.array([0.25] * 3 + [0.75])
    assert token.share == pytest.approx((chance @ w) ** 2 / chance.sum() / (chance @ w**2))


def test_a_cap_that_masks_everything():
    nothing = offpolicy.moments(ONE, cap=1e-9, mode="mask")
    assert nothing.share == 0 and nothing.variance == 0 and (nothing.bias == -ONE.gradient).all()
    assert offpolicy.moments(ONE, "none", mode="mask").share == 1  # without weights there is no cap
    for _ in range(20):  # memory that is not set holds what was there before
        spoilt = [np.full(2, 7.0) for _ in range(20)]
        del spoilt
        assert offpolicy.curve(ONE, [1e-9, 2e-9], 4, mode="mask").astray.tolist() == [1, 1]
