"""The explorer of split batches against ``losses.aggregate`` and autograd, one part after the other."""

import importlib
import itertools

import numpy as np
import pytest
import torch

from pglab import advantages, losses
from pglab.figures import Bars, Line, Points, Rule, describe
from pglab.figures.layout import scene
from pglab.sliders import aggregation_lab

drawing = importlib.import_module("pglab.sliders.aggregation_lab")  # the package has a function of this name
BATCHES = list(itertools.product(drawing.ORDERS, drawing.EMPTY, drawing.GROUPS, (0, 8, 10)))
START = {"denominator": "token_mean", "parts": 4, "together": drawing.OWN}


def at(**moved):
    return drawing.picture(**(START | moved))


def marks(panel, kind):
    return [mark for mark in panel.marks if isinstance(mark, kind)]


def by_autograd(rows, mode, parts, together, broken=None):
    """Each token of answer i has log-probability theta_i: the gradient with respect to theta, ascending."""
    theta = torch.zeros(8, dtype=torch.float64, requires_grad=True)
    mask = torch.arange(24) < torch.tensor(rows.lengths)[:, None]
    surrogate = -torch.tensor(rows.advantages)[:, None] * theta[:, None].expand(8, 24)
    empty_rows = "count" if rows.counted else "exclude"
    kept = 8 if rows.counted else int(mask.any(1).sum())
    size, total = 8 // parts, 0.0
    for first in range(0, 8, size):
        piece = surrogate[first : first + size], mask[first : first + size]
        if together == drawing.OWN:
            norm = drawing.BUDGET if mode == "constant" else None
            total = total + losses.aggregate(*piece, mode, norm, empty_rows) / parts
        else:
            norm = {"token_mean": int(mask.sum()), "sequence_mean": kept, "constant": kept * drawing.BUDGET}
            kind = "sum" if mode == "constant" else mode
            total = total + losses.aggregate(*piece, kind, norm.get(mode), empty_rows)
    total.backward()
    return -theta.grad.numpy()


@pytest.mark.parametrize("mode", drawing.DENOMINATORS)
@pytest.mark.parametrize("together", drawing.TOGETHER)
@pytest.mark.parametrize("parts", drawing.PARTS)
def test_the_update_is_the_gradient_of_the_losses(mode, together, parts):
    assert set(drawing.DENOMINATORS) == set(losses.MODES)
    for words in BATCHES:
        rows = drawing.batch(*words)
        got = drawing.update(rows, mode, parts, together)
        np.testing.assert_allclose(got, by_autograd(rows, mode, parts, together), rtol=1e-12, atol=1e-15)


def test_the_whole_batch_is_one_call_of_aggregate():
    for words, mode in itertools.product(BATCHES, drawing.DENOMINATORS):
        rows = drawing.batch(*words)
        whole = by_autograd(rows, mode, 1, drawing.OWN)  # one part: its own denominator is the whole's
        for parts in drawing.PARTS:
            np.testing.assert_allclose(
                drawing.update(rows, mode, parts, drawing.WHOLE), whole, rtol=1e-12, atol=1e-15
            )


def test_the_batch_is_two_prompts_with_advantages_of_dr_grpo():
    rows = drawing.batch()
    rewards = (rows.advantages > 0).reshape(2, 4).astype(float)
    np.testing.assert_allclose(advantages.dr_grpo(rewards).ravel(), rows.advantages)
    assert len(set(rows.lengths)) == 8 and rows.lengths.tolist() == [2, 6, 20, 9, 4, 16, 3, 12]
    silent = drawing.batch(groups=drawing.ONE)
    assert not silent.advantages[4:].any() and (silent.advantages[:4] == rows.advantages[:4]).all()
    for counted, empty in ((False, drawing.LEFT_OUT), (True, drawing.COUNTED)):
        less = drawing.batch(empty=empty)
        assert less.counted == counted and (less.lengths == 0).sum() == 1 and less.lengths.sum() == 52
    by_length = drawing.batch(drawing.SORTED)
    assert (np.diff(by_length.lengths) > 0).all()
    pairs = [dict(zip(each.lengths, each.advantages, strict=True)) for each in (rows, by_length)]
    assert pairs[0] == pairs[1]


def test_how_unequal_the_lengths_are():
    assert drawing.batch(spread=0).lengths.tolist() == [9] * 8
    widths = [np.ptp(drawing.batch(spread=n).lengths) for n in range(drawing.WIDEST + 1)]
    assert (np.diff(widths) > 0).all()
    widest = drawing.batch(spread=drawing.WIDEST).lengths
    assert 1 <= widest.min() and widest.max() <= drawing.BUDGET


def apart(mode, parts, **words):
    rows = drawing.batch(**words)
    unsplit = drawing.update(rows, mode)
    return drawing.difference(drawing.update(rows, mode, parts, drawing.OWN), unsplit)


def test_which_denominators_survive():
    """Claims of the notebook: with equal numbers of rows two survive, with an empty row that is left out none."""
    for parts in drawing.PARTS[1:]:
        for mode in ("sequence_mean", "constant"):
            assert apart(mode, parts)[2] < 1e-15
            assert apart(mode, parts, empty=drawing.COUNTED)[2] < 1e-15
            assert apart(mode, parts, empty=drawing.LEFT_OUT)[2] > 0.01
        ratio, cosine, _ = apart("sum", parts)
        assert ratio == pytest.approx(1 / parts) and cosine == pytest.approx(1)
        assert apart("token_mean", parts)[1] < 0.9999
        assert apart("token_mean", parts, spread=0)[2] < 1e-15  # equal lengths: no harm
    came, by_length = (apart("token_mean", 4, order=order)[1] for order in drawing.ORDERS)
    assert by_length < came  # short answers among themselves: each token of theirs counts for more


def test_a_silent_group_takes_up_room_in_a_token_mean_only():
    for mode in drawing.DENOMINATORS:
        full, silent = (drawing.update(drawing.batch(groups=g), mode)[:4] for g in drawing.GROUPS)
        np.testing.assert_array_equal(full, silent)
    alone = drawing.batch()._replace(lengths=np.array([2, 6, 20, 9]), advantages=np.ones(4))
    assert drawing.token_weights(alone, "token_mean")[0] == 1 / 37
    assert drawing.token_weights(drawing.batch(), "token_mean")[0] == 1 / 72


def test_difference_by_hand():
    ratio, cosine, distance = drawing.difference(np.array([0.0, 2.0]), np.array([1.0, 1.0]))
    assert ratio == pytest.approx(2**0.5) and cosine == pytest.approx(0.5**0.5)
    assert distance == pytest.approx(1.0)


@pytest.mark.parametrize("mode", drawing.DENOMINATORS)
@pytest.mark.parametrize("parts", drawing.PARTS)
def test_the_picture_shows_these_numbers(mode, parts):
    for together, words in itertools.product(drawing.TOGETHER, BATCHES):
        rows = drawing.batch(*words)
        picture = at(
            denominator=mode,
            parts=parts,
            together=together,
            **dict(zip(("order", "empty", "groups", "spread"), words, strict=True)),
        )
        left, right = picture.panels
        unsplit, split = (bar.heights for bar in marks(left, Bars))
        np.testing.assert_array_equal(unsplit, drawing.update(rows, mode))
        np.testing.assert_array_equal(split, drawing.update(rows, mode, parts, together))
        assert max(abs(unsplit).max(), abs(split).max()) < left.y.high == -left.y.low
        assert [name for _, name in left.x.ticks] == [str(n) for n in rows.lengths]
        edges = [rule.value for rule in marks(left, Rule)]
        assert edges == [8 / parts * k - 0.5 for k in range(1, parts)]
        lines = {line.label: line for line in marks(right, Line)}
        assert list(lines) == list(drawing.DENOMINATORS.values())
        for name, label in drawing.DENOMINATORS.items():
            whole = drawing.update(rows, name)
            wanted = [
                np.linalg.norm(drawing.update(rows, name, n, together) - whole) / np.linalg.norm(whole)
                for n in drawing.PARTS
            ]
            np.testing.assert_allclose(lines[label].y, wanted, rtol=1e-12)
            assert lines[label].y.max() <= right.y.high
            assert lines[label].dashed == (name != mode)
        (dot,) = marks(right, Points)
        assert dot.x[0] == parts
        assert dot.y[0] == lines[drawing.DENOMINATORS[mode]].y[drawing.PARTS.index(parts)]
        _check_caption(picture, rows, unsplit, split)
        assert scene(picture).height == scene(at()).height  # no caption is broken into more lines


def _check_caption(picture, rows, unsplit, split):
    first, second, third = picture.caption.split("\n")
    cosine = unsplit @ split / np.linalg.norm(unsplit) / np.linalg.norm(split)
    ratio = f"{np.linalg.norm(split) / np.linalg.norm(unsplit):.3f} times as long"
    if np.allclose(split, unsplit, rtol=1e-12, atol=1e-15):
        assert first == "The update is that of the whole batch."
    elif cosine > 1 - 1e-12:
        assert first.startswith("The direction is that of the whole batch") and ratio in first
    else:
        assert f"cosine {cosine:.4f}" in first and ratio in first
    seen = rows.advantages * rows.lengths != 0
    factors = (split / np.where(seen, rows.advantages * rows.lengths, 1))[seen]
    if (rows.advantages != 0).all():
        assert f"{factors.min():.4f}" in second and f"{factors.max():.4f}" in second
    telling = sum(int(n) for n, a in zip(rows.lengths, rows.advantages, strict=True) if a)
    assert f"{sum(rows.lengths)} tokens, {telling} of them with an advantage" in third


def test_the_explorer_starts_where_it_is_told_and_moves():
    lab = aggregation_lab()
    assert lab.text == describe(at()) and "cosine 0.9228" in lab.picture.caption
    for mode, words in drawing.DENOMINATORS.items():
        lab.move(
            denominator=words, parts="8", together=drawing.OWN, order=drawing.SORTED, empty=drawing.LEFT_OUT
        )
        assert lab.text == describe(
            at(denominator=mode, parts=8, order=drawing.SORTED, empty=drawing.LEFT_OUT)
        )
    lab.move(groups=drawing.ONE, together=drawing.WHOLE)
    assert "The update is that of the whole batch." in lab.picture.caption


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: aggregation_lab("rows"), "denominator is 'rows'"),
        (lambda: aggregation_lab(parts=3), "Choice.value is '3'"),
        (lambda: aggregation_lab(together="sum"), "Choice.value is 'sum'"),
        (lambda: aggregation_lab(order="random"), "Choice.value is 'random'"),
        (lambda: aggregation_lab(empty="two"), "Choice.value is 'two'"),
        (lambda: aggregation_lab(groups="neither"), "Choice.value is 'neither'"),
        (lambda: aggregation_lab(spread=11), "Slider.value is 11"),
        (lambda: drawing.batch(spread=-1), "spread is -1"),
        (lambda: drawing.batch("random"), "order is 'random'"),
        (lambda: drawing.batch(empty="two"), "empty is 'two'"),
        (lambda: drawing.batch(groups="neither"), "groups is 'neither'"),
        (lambda: at(denominator="rows"), "denominator is 'rows'"),
        (lambda: at(parts=3), "parts is 3"),
        (lambda: at(together="sum"), "together is 'sum'"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
