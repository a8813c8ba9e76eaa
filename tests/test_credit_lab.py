"""The explorer of notebook 04 against other routes: plain loops, nudged logits, a tabular process."""

import importlib
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pglab import mdp
from pglab.figures import COLOURS, NAMES, Bars, Line, Points, describe
from pglab.sliders import credit_lab

# The file; the package has a function of this name.
drawing = importlib.import_module("pglab.sliders.credit_lab")
START = {
    "horizon": 4,
    "share": 0.5,
    "gamma": 0.8,
    "p": 0.7,
    "outcome": drawing.SUM,
    "goal": drawing.DISCOUNTED,
}


def credit(**changed):
    return drawing.credit(*(START | changed).values())


def paid(actions, share, outcome):
    """Rewards of one trajectory, token by token."""
    T = len(actions)
    rewards = [share / T if right else 0.0 for right in actions]
    rewards[-1] += (1 - share) * (sum(actions) / T if outcome == drawing.SUM else float(all(actions)))
    return rewards


def chance(actions, chances):
    return float(np.prod([c if right else 1 - c for right, c in zip(actions, chances, strict=True)]))


def later(rewards, t, gamma):
    return sum(gamma ** (k - t) * rewards[k] for k in range(t, len(rewards)))


def mean_of_the_rest(known, T, share, gamma, p, outcome, t):
    """E[G_t | the first tokens], going through all endings one by one."""
    return sum(
        chance(rest, [p] * len(rest)) * later(paid((*known, *rest), share, outcome), t, gamma)
        for rest in product((0, 1), repeat=T - len(known))
    )


def by_loops(horizon, share, gamma, p, outcome, goal):
    """{weight: [(chance, actions, weights)]} of every trajectory."""
    found = {name: [] for name in drawing.WEIGHTS}
    for actions in product((0, 1), repeat=horizon):
        rewards, steps = paid(actions, share, outcome), range(horizon)
        to_go = [later(rewards, t, gamma) for t in steps]
        q, v = (
            [
                mean_of_the_rest(actions[: t + more], horizon, share, gamma, p, outcome, t)
                for t in steps
            ]
            for more in (1, 0)
        )  # fmt: skip
        rows = {
            "return": [to_go[0]] * horizon,
            "reward_to_go": to_go,
            "from_start": [gamma**t * to_go[t] for t in steps],
            "baselined": [to_go[t] - v[t] for t in steps],
            "q": q,
            "advantage": [q[t] - v[t] for t in steps],
        }
        for name, row in rows.items():
            found[name].append((chance(actions, [p] * horizon), actions, row))
    return found


def nudged(horizon, share, gamma, p, outcome, goal):
    """The gradient of the goal, by moving each token's logit both ways."""
    discount, logit, h = gamma if goal == drawing.DISCOUNTED else 1.0, np.log(p / (1 - p)), 1e-5

    def J(logits):
        chances = 1 / (1 + np.exp(-logits))
        every = product((0, 1), repeat=horizon)
        return sum(chance(a, chances) * later(paid(a, share, outcome), 0, discount) for a in every)

    base = np.full(horizon, logit)
    return np.array([J(base + h * e) - J(base - h * e) for e in np.eye(horizon)]) / (2 * h)


@settings(max_examples=20, deadline=None)
@given(
    st.integers(2, 4),
    st.integers(0, 20),
    st.integers(0, 20),
    st.integers(1, 19),
    st.sampled_from(drawing.OUTCOMES),
    st.sampled_from(drawing.GOALS),
)
def test_weights_means_and_variances_are_those_of_plain_loops(horizon, share, gamma, p, outcome, goal):
    setting = horizon, share / 20, gamma / 20, p / 20, outcome, goal
    found = drawing.credit(*setting)
    np.testing.assert_allclose(found.gradient, nudged(*setting), atol=1e-9)
    for name, rows in by_loops(*setting).items():
        np.testing.assert_allclose(found.weights[name], [row for _, _, row in rows], atol=1e-12)
        chances = np.array([c for c, _, _ in rows])
        estimates = np.array([np.multiply(w, np.array(a) - p / 20) for _, a, w in rows])
        mean = chances @ estimates
        np.testing.assert_allclose(found.means[name], mean, atol=1e-12)
        np.testing.assert_allclose(
            found.variances[name], chances @ ((estimates - mean) ** 2).sum(axis=1), atol=1e-12
        )


@pytest.mark.parametrize("goal", drawing.GOALS)
def test_the_gradient_is_that_of_a_tabular_process(goal):
    """All right, nothing at once, as a chain of states: all right so far, or spoilt."""
    T, p, gamma = 5, 0.8, 0.9
    transition, reward = np.zeros((2 * T + 1, 2, 2 * T + 1)), np.zeros((2 * T + 1, 2))
    for t in range(T):  # state t: all right so far; T + t: spoilt
        transition[t, 1, t + 1 if t + 1 < T else 2 * T] = 1
        transition[t, 0, T + t + 1] = transition[T + t, :, T + t + 1] = 1
    reward[T - 1, 1] = 1.0
    process = mdp.TabularMDP(
        np.eye(2 * T + 1)[0], transition, reward, T, terminal=np.arange(2 * T + 1) == 2 * T
    )
    logits = np.log([[1 - p, p]] * (2 * T + 1))
    discount = gamma if goal == drawing.DISCOUNTED else 1.0
    wanted = mdp.objective_gradient(process, logits, discount)[:T, 1]
    found = credit(horizon=T, share=0.0, gamma=gamma, p=p, outcome=drawing.ALL, goal=goal)
    np.testing.assert_allclose(found.gradient, wanted, atol=1e-14)


def marks(panel, kind):
    return [mark for mark in panel.marks if isinstance(mark, kind)]


@pytest.mark.parametrize("weight", drawing.WEIGHTS)
@pytest.mark.parametrize(("horizon", "outcome", "wrong"), [(3, drawing.SUM, 2), (8, drawing.ALL, 0)])
def test_the_picture_shows_these_numbers(weight, horizon, outcome, wrong):
    picture = drawing.picture(
        horizon, 0.4, 0.85, 0.6, outcome, drawing.UNDISCOUNTED, weight=weight, wrong=wrong
    )
    found = credit(horizon=horizon, share=0.4, gamma=0.85, p=0.6, outcome=outcome, goal=drawing.UNDISCOUNTED)
    average, one, every = picture.panels
    gradient, mean = marks(average, Bars)
    np.testing.assert_array_equal(gradient.heights, found.gradient)
    np.testing.assert_array_equal(mean.heights, found.means[weight])
    assert mean.colour == COLOURS[weight]
    shown = tuple(int(t + 1 != wrong) for t in range(horizon))
    np.testing.assert_allclose(marks(one, Bars)[0].heights, paid(shown, 0.4, outcome), atol=1e-15)
    row = [tuple(a) for a in found.actions].index(shown)
    np.testing.assert_array_equal(marks(one, Points)[0].y, found.weights[weight][row])
    places = {label: (dot.x[0], dot.y[0]) for dot in marks(every, Points) for label in dot.labels}
    for name in drawing.WEIGHTS:
        label = next(words for words in places if NAMES[name] in words.split(", "))
        off = found.means[name] - found.gradient
        shown_at, axes = np.array(places[label]), (every.x.high, every.y.high)
        near = 1e-12 if label == NAMES[name] else 0.01  # one dot for several: a hundredth of the axis
        assert (np.abs(shown_at - (off @ off, found.variances[name])) <= near * np.array(axes) + 1e-12).all()
    assert (
        len(picture.caption.split("\n")) == 3 and f"variance {found.variances[weight]:.4f}" in picture.caption
    )


@settings(max_examples=40, deadline=None)
@given(
    st.integers(2, 8),
    st.integers(0, 20),
    st.integers(0, 20),
    st.integers(1, 19),
    st.sampled_from(drawing.OUTCOMES),
    st.sampled_from(drawing.GOALS),
    st.sampled_from(drawing.WEIGHTS),
    st.integers(0, 8),
)
def test_everything_fits_into_its_panel(horizon, share, gamma, p, outcome, goal, weight, wrong):
    picture = drawing.picture(horizon, share / 20, gamma / 20, p / 20, outcome, goal, weight, wrong)
    for panel in picture.panels[:2]:
        for mark in marks(panel, Bars):
            assert panel.y.low - 1e-12 <= mark.heights.min() and mark.heights.max() <= panel.y.high
        for mark in marks(panel, Line):
            assert panel.y.low <= mark.y.min() and mark.y.max() <= panel.y.high
    for dot in marks(picture.panels[2], Points):
        assert 0 <= dot.x[0] <= picture.panels[2].x.high and 0 <= dot.y[0] <= picture.panels[2].y.high
    assert picture.caption.count("\n") == 2


def test_the_explorer_starts_where_it_is_told_and_moves():
    live = credit_lab()
    assert live.text == describe(drawing.picture(*START.values()))
    live.move(horizon=8, weight="A", goal=drawing.UNDISCOUNTED, wrong=0, share=1.0)
    wanted = drawing.picture(8, 1.0, 0.8, 0.7, drawing.SUM, drawing.UNDISCOUNTED, weight="advantage", wrong=0)
    assert live.text == describe(wanted)
    other = credit_lab(2, 0.0, 1.0, 0.05, drawing.ALL, drawing.UNDISCOUNTED, "q", 8)
    assert other.text == describe(
        drawing.picture(2, 0.0, 1.0, 0.05, drawing.ALL, drawing.UNDISCOUNTED, "q", 8)
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"horizon": 1}, "Slider.value is 1.0"),
        ({"horizon": 9}, "Slider.value is 9.0"),
        ({"share": 1.1}, "Slider.value is 1.1"),
        ({"gamma": -0.1}, "Slider.value is -0.1"),
        ({"p": 0.0}, "Slider.value is 0.0"),
        ({"wrong": 9}, "Slider.value is 9.0"),
        ({"outcome": "none"}, "Choice.value is 'none'"),
        ({"goal": "none"}, "Choice.value is 'none'"),
        ({"weight": "gae"}, "weight is 'gae'"),
    ],
)
def test_a_bad_start_is_refused(change, words):
    with pytest.raises(ValueError, match=words):
        credit_lab(**change)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"horizon": 9}, "horizon is 9"),
        ({"horizon": 2.5}, "horizon is 2.5"),
        ({"share": -0.5}, "share is -0.5"),
        ({"gamma": np.nan}, "gamma is nan"),
        ({"p": 1.0}, "p is 1.0"),
        ({"outcome": "all"}, "outcome is 'all'"),
        ({"goal": "both"}, "goal is 'both'"),
    ],
)
def test_bad_input_is_named(change, words):
    with pytest.raises(ValueError, match=words):
        credit(**change)
    with pytest.raises(ValueError, match="weight is 'none'"):
        drawing.picture(*START.values(), weight="none")
    with pytest.raises(ValueError, match="wrong is -1"):
        drawing.picture(*START.values(), wrong=-1)


# ---- What notebook 04 says can be found


def unbiased(**changed):
    found = credit(**changed)
    return {name for name, mean in found.means.items() if np.abs(mean - found.gradient).max() < 1e-12}


def test_question_1_two_goals():
    assert unbiased() == {"return", "from_start"} and unbiased(goal=drawing.UNDISCOUNTED) == set()
    found = credit(goal=drawing.UNDISCOUNTED)
    off = {name: np.linalg.norm(mean - found.gradient) for name, mean in found.means.items()}
    assert off["reward_to_go"] < 0.5 * off["return"] and np.isclose(off["return"], off["from_start"])


def test_question_2_without_a_discount():
    variance = {share: credit(gamma=1.0, share=share).variances for share in (0.0, 0.5, 1.0)}
    assert unbiased(gamma=1.0) == set(drawing.WEIGHTS)
    assert np.isclose(variance[0.0]["reward_to_go"], variance[0.0]["return"])
    assert variance[1.0]["reward_to_go"] < variance[0.5]["reward_to_go"] < variance[0.0]["reward_to_go"]
    assert np.isclose(variance[0.0]["return"], variance[1.0]["return"])


def test_question_3_the_value_on_the_wrong_side():
    ends = [
        credit(gamma=1.0, share=0.0, outcome=drawing.ALL, p=p, goal=drawing.DISCOUNTED).variances
        for p in (0.5, 0.95)
    ]
    assert [min(end, key=end.get) for end in ends] == ["advantage", "q"]
    assert all(50 < ends[1][name] / ends[1]["q"] < 200 for name in ("advantage", "baselined"))


def test_question_5_the_advantage_gets_quieter():
    found = [credit(gamma=gamma, goal=drawing.UNDISCOUNTED) for gamma in (1.0, 0.8, 0.0)]
    noise = [each.variances["advantage"] for each in found]
    np.testing.assert_allclose(noise, [0.0084, 0.0064, 0.0037], atol=5e-5)


def test_tiny_numbers_are_not_shown_as_zero():
    picture = drawing.picture(8, 0.0, 0.0, 0.05, drawing.ALL)
    bias = 0.05**8 * 0.95  # of the last step: the only one whose usual form is paid
    assert f"bias of length {bias:.1e} (the gradient: 0)" in picture.caption
    assert "Quietest: full return, gamma^t reward-to-go (0)." in picture.caption
    average, _, every = picture.panels
    assert average.y.high < 1e-10 and every.y.high < 1e-10 and marks(average, Bars)[1].heights[-1] > 3e-11


def test_the_axis_says_when_no_token_is_wrong():
    for wrong, words in (0, "; no token is wrong"), (4, ""), (5, "; no wrong token: T = 4"):
        label = drawing.picture(*START.values(), wrong=wrong).panels[1].x.label
        assert label == "token (1 is step 0)" + words


def test_question_4_paid_at_once():
    for gamma in (0.0, 0.3, 0.9):
        found = unbiased(gamma=gamma, share=1.0, goal=drawing.UNDISCOUNTED)
        assert found == {"reward_to_go", "baselined", "q", "advantage"}
