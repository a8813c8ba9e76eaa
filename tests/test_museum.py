"""Each exhibit: its mistake gives the numbers that it says, the right function the right ones."""

import inspect
import re
import warnings

import museum_blind as blind
import museum_by_hand as by_hand
import numpy as np
import pytest
import torch
from refusals import check

from pglab import museum
from pglab.museum import exhibit as exhibits

EVERY = list(museum.EXHIBITS.values())
one_by_one = pytest.mark.parametrize("exhibit", EVERY, ids=[each.name for each in EVERY])


def near(found, wanted, tolerance=6e-7):
    wanted = [float(x) for x in wanted]
    return np.allclose(found, wanted, rtol=tolerance, atol=tolerance, equal_nan=True)


# ---- The numbers


@one_by_one
def test_both_numbers_are_those_of_another_road(exhibit):
    right, wrong = by_hand.NUMBERS[exhibit.name]
    assert near(exhibit.right, right) and near(exhibit.wrong, wrong)
    assert near(exhibit.gives(exhibit.fixed), right) and near(exhibit.gives(exhibit.broken), wrong)


@one_by_one
def test_right_and_wrong_are_told_apart_in_all_four_ways(exhibit):
    assert exhibit.passes(exhibit.fixed) and not exhibit.falls(exhibit.fixed)
    assert exhibit.falls(exhibit.broken) and not exhibit.passes(exhibit.broken)
    assert not near(exhibit.right, exhibit.wrong, 1e-4)  # a mistake is larger than any rounding


def test_every_exhibit_has_its_numbers_and_a_blind_spot():
    assert set(by_hand.NUMBERS) == set(museum.EXHIBITS) == set(blind.INPUTS)


@pytest.mark.parametrize("name", by_hand.DIGITS)
def test_the_road_ends_at_the_public_digits(name):
    for found, wanted in zip(by_hand.NUMBERS[name], by_hand.DIGITS[name], strict=True):
        assert near([float(x) for x in found], wanted, 5e-6)


@one_by_one
def test_nothing_warns_and_no_input_is_changed(exhibit):
    """A reader's screen shows the answer only; and a second question finds the first one's inputs."""

    def watched(function):
        def call(*given):
            before = [_written(x) for x in given]
            result = function(*given)
            assert [_written(x) for x in given] == before
            return result

        return call

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert exhibit.passes(watched(exhibit.fixed)) and exhibit.falls(watched(exhibit.broken))


def _written(x):
    return repr(x.tolist() if hasattr(x, "tolist") else x)


@one_by_one
def test_the_mistake_is_one_thing_and_elsewhere_both_agree(exhibit):
    right, wrong = (
        blind.outcome(each, blind.INPUTS[exhibit.name], exhibit.kind)
        for each in (exhibit.fixed, exhibit.broken)
    )
    np.testing.assert_allclose(wrong, right, rtol=1e-6, atol=1e-12)


def test_the_floor_of_the_dual_clip_is_three():
    """As reported: ratio 1, advantage 1, an objective of 3."""
    fresh = blind.batch([[0.0]], [1.0])
    case = museum.case("floor_for_all")
    assert (case.fixed(*fresh), case.broken(*fresh)) == (-1, -3)


# ---- What is written on the label


@one_by_one
def test_the_contract_names_the_arguments(exhibit):
    """In their order; a room of pglab may have options behind them."""
    words = re.search(r"\w+\(([^)]*)\)", exhibit.contract).group(1).split(", ")
    assert list(inspect.signature(exhibit.broken).parameters) == words
    fixed = inspect.signature(exhibit.fixed)
    fixed.bind(*words)
    assert list(fixed.parameters)[: len(words)] == words


def test_labels_are_whole_and_do_not_repeat():
    assert [each.name for each in EVERY] == list(museum.EXHIBITS)
    assert all(each.broken.__name__ == each.name for each in EVERY if each.name != "sign")
    for field in ("title", "hint", "fix", "symptom", "broken"):
        assert len({getattr(each, field) for each in EVERY}) == len(EVERY), field
    for each in EVERY:
        texts = (each.contract, each.hint, each.fix, each.symptom)
        assert all(text.strip() == text and text[-1] in ".?)" for text in texts), each.name
        assert each.title[0].isupper() or each.title.startswith("pass@"), each.name
        assert each.title[-1] != "." and all(text.isascii() for text in (each.title, *texts)), each.name
        assert len(each.right) == len(each.wrong) > 0


def test_every_exhibit_links_its_report():
    pattern = r"https://github\.com/[\w.-]+/[\w.-]+/(issues|pull|discussions)/\d+"
    for each in EVERY:
        assert each.threads and len(set(each.threads)) == len(each.threads), each.name
        assert all(re.fullmatch(pattern, thread) for thread in each.threads), each.name


def test_kinds_stand_together_in_the_order_that_is_promised():
    kinds = [each.kind for each in EVERY]
    assert list(dict.fromkeys(kinds)) == sorted(set(kinds), key=kinds.index)
    assert sum(a != b for a, b in zip(kinds, kinds[1:], strict=False)) == len(set(kinds)) - 1
    assert set(kinds) == set(exhibits.KINDS)


def test_a_case_is_asked_for_by_its_name():
    assert all(museum.case(name) is each for name, each in museum.EXHIBITS.items())
    check(lambda: museum.case("sgin"), "case is 'sgin'; it must be one of sign, everything_counts")


def test_the_cases_of_the_notebook_have_numbers_that_give_nothing_away(capsys):
    assert [museum.case(k + 1).name for k in range(len(museum.TOUR))] == list(museum.TOUR)
    museum.judge(3, lambda f: True)
    museum.judge("sign", None)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Case 3: not right yet.") and museum.case(3).hint in lines[0]
    assert lines[1].startswith("Case sign: not done yet.")
    for number in (0, 15, -1):
        check(
            lambda number=number: museum.case(number),
            f"case is {number}; it must be from 1 to 14, or a name.",
        )
    check(lambda: museum.case(True), "case is True; it must be one of sign, ")


def test_an_exhibit_of_no_kind_is_refused():
    fields = {name: getattr(EVERY[0], name) for name in inspect.signature(museum.Exhibit).parameters}
    check(lambda: museum.Exhibit(**fields | {"kind": "bug"}), "kind is 'bug'; it must be one of loss, ")


# ---- Opening a case


@one_by_one
def test_a_case_that_is_opened_shows_everything(exhibit, capsys):
    exhibit.reveal()
    shown = capsys.readouterr().out
    first, second, gap, *rest = shown.rstrip("\n").split("\n")
    assert first == f"{exhibit.name}: {exhibit.title}" and gap == ""
    numbers = [exhibits.shown(x) for x in (exhibit.wrong, exhibit.right)]
    assert second == "It gives {}; right is {}.".format(*numbers) and "-0," not in second
    code, test = (inspect.getsource(each).rstrip().split("\n") for each in (exhibit.broken, exhibit.probe))
    code = [*code, "", "The oracle test looks at this:", "", *test]
    assert rest[: len(code) + 1] == [*code, ""]
    text = " ".join(" ".join(rest[len(code) + 1 :]).split())
    reports = " ".join(f"The report: {thread}" for thread in exhibit.threads)
    assert text == f"The fix: {exhibit.fix} The symptom: {exhibit.symptom} {reports}"
    assert max(len(line) for line in shown.split("\n")) <= 110 and shown == exhibit.words() + "\n"
    assert all(line.startswith(("  ", "The ")) for line in rest[len(code) + 1 :])


def test_numbers_are_shown_with_six_digits():
    assert exhibits.shown([0.5]) == "0.5" and exhibits.shown([1, -0.0]) == "(1, 0)"
    assert exhibits.shown([1 / 3, -1e-13, 1e6, np.nan]) == "(0.333333, 0, 1e+06, nan)"
    assert exhibits.shown([1.23456789e-5]) == "1.23457e-05"


# ---- What functions give


def test_results_of_every_sort_are_read_alike():
    exhibit = museum.case("pad_by_value")
    for found in (
        [True, True, False, False],
        (1, 1.0, 0, 0),
        np.array([[True, True], [False, False]]),
        torch.tensor([1, 1, 0, 0], dtype=torch.bfloat16),
        torch.tensor([1.0, 1, 0, 0], requires_grad=True),
        [torch.ones(2), np.zeros(2)],
    ):
        assert exhibit.passes(lambda tokens, found=found: found)
    number = museum.case("mean_of_means")
    assert all(number.passes(lambda parts, x=x: x) for x in (1.75, np.float32(1.75), torch.tensor([[1.75]])))


def test_another_number_of_results_is_refused():
    exhibit = museum.case("pad_by_value")
    check(lambda: exhibit.gives(lambda tokens: [1, 1, 0]), "the function gives 3 numbers; it must give 4.")
    check(
        lambda: exhibit.passes(lambda tokens: [1, 1, 0, 0, 0]), "the function gives 5 numbers; it must give"
    )
    with pytest.raises(TypeError):
        exhibit.gives(lambda tokens: None)


def test_equal_means_to_a_millionth():
    assert exhibits.close([1.0, 100.0, 0.0], [1 + 1e-6, 100 + 9e-5, 1e-7])
    for off in ([1 + 1e-5, 100, 0], [1, 100.001, 0], [1, 100, 1e-5]):
        assert not exhibits.close([1.0, 100.0, 0.0], off)
    assert exhibits.close([np.nan], [np.nan]) and not exhibits.close([np.nan], [0.0])


def test_a_mistake_is_known_in_each_of_its_shapes():
    nan, other = museum.case("multiplied_mask"), museum.case("padded_mean")
    assert (nan.compare([np.nan, np.nan, 0]) == "falls") and not (nan.compare([1, 2, 0]) == "falls")
    assert (other.compare([0.25]) == "falls") and not (other.compare([np.nan]) == "falls")
    assert not (other.compare([0.5]) == "falls")
    empty = museum.case("plain_division")
    assert empty.falls(lambda *batch: batch[0].sum() * np.nan) and not empty.falls(empty.fixed)
