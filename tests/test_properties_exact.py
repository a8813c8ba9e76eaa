"""Every exact quantity on random policies: other names for actions and states, another unit of reward, a shift of logits."""

import inspect

import estimators_exact as table
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.filterwarnings("error")
FEW = settings(max_examples=15)
SEEDS = st.integers(0, 10**6)
every = pytest.mark.parametrize("name", table.EXACT)


def problem(name, seed):
    return table.a_bandit(seed) if name in table.BANDITS else table.a_process(seed)


def found(name, case):
    return np.asarray(table.EXACT[name].call(case))


def close(value, wanted):
    size = max(1.0, abs(np.asarray(wanted)).max())
    np.testing.assert_allclose(value, wanted, rtol=1e-9, atol=1e-10 * size)


def test_every_public_estimator_has_an_entry():
    offered = {
        f"{room}.{name}"
        for room, module in table.ROOMS.items()
        for name in module.__all__
        if inspect.isfunction(getattr(module, name)) or inspect.ismodule(getattr(module, name))
    }
    listed = {name.split()[0] for name in table.EXACT} - {"kl.divergence", "kl.gradient"}
    assert listed | set(table.ELSEWHERE) == offered and not listed & set(table.ELSEWHERE)


def test_what_is_tested_elsewhere_is(root):
    for name, why in table.ELSEWHERE.items():
        file = root / "tests" / f"{why.rpartition(' ')[2]}.py"
        assert name.partition(".")[2] in file.read_text(encoding="utf-8"), name


@every
@FEW
@given(SEEDS, st.permutations(range(3)), st.permutations(range(2)))
def test_other_names_move_the_numbers_and_change_none(name, seed, three, two):
    case, axes = problem(name, seed), table.EXACT[name].axes
    bandit = name in table.BANDITS
    actions, states = (three, None) if bandit else (two, three)
    wanted = found(name, case)
    assert wanted.ndim == len(axes)
    for axis, kind in enumerate(axes):
        if kind != ".":
            wanted = np.take(wanted, actions if kind == "A" else states, axis=axis)
    close(found(name, case.renamed(list(actions), None if bandit else list(states))), wanted)


@every
@FEW
@given(SEEDS, st.sampled_from([0.25, 2.0, 16.0]))
def test_another_unit_of_reward(name, seed, k):
    unit = table.EXACT[name].unit
    if unit is None:
        return
    case = problem(name, seed)
    close(found(name, case.in_unit(k)), found(name, case) * k**unit)


@every
@FEW
@given(SEEDS, st.integers(-3, 3))
def test_a_shift_of_all_logits_is_no_other_policy(name, seed, c):
    case = problem(name, seed)
    moved = found(name, case._replace(logits=case.logits + c, other=case.other - c))
    close(moved - c if name == "offpolicy.ascent" else moved, found(name, case))
