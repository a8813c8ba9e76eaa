"""What an examination asks, what it refuses, and how it reads."""

import math

import pytest
import torch
from refusals import check

from pglab import losses, museum
from pglab.museum import portrait as portraits
from pglab.museum.examination import CHOICES, report
from pglab.museum.loss_exhibits import LOSSES


def policy(**options):
    return lambda *batch: losses.policy_loss(*batch, **options)


# ---- Which tests are asked


def asked(loss):
    return {each.exhibit.name for each in museum.examine(loss).results}


def test_nobody_is_asked_what_has_no_answer_for_him():
    every = {each.name for each in LOSSES}
    rows = {"once_per_token"}
    clips = {"larger_of_two", "clipped_only"}
    assert asked(policy()) == every - rows
    assert asked(policy(ratio="sequence_mean")) == every
    assert asked(policy(ratio="sequence_mean", clip=(3e-4, 4e-4))) == every - rows
    assert asked(policy(ratio="sequence_mean", clip=(None, 0.05), variant="cispo")) >= rows
    assert asked(policy(ratio="sequence_mean", dual_clip=1.05)) == every - rows - clips
    for options in ({"clip": None}, {"clip": (None, 0.2)}, {"dual_clip": 1.9}, {"clip": (0.6, 1.1)}):
        assert asked(policy(**options)) == every - rows - clips
    assert asked(policy(clip=(0.4, 0.9), dual_clip=2.1)) == every - rows
    assert asked(policy(variant="cispo", clip=(None, 0.2))) == every - rows - clips
    cut = asked(policy(variant="cispo"))
    assert cut == every - rows - clips - {"fresh_ratio", "low_cap", "floor_for_all"}
    nothing = asked(museum.case("fresh_ratio").broken)
    assert nothing == every - rows - clips - {"summed_ratio", "low_cap", "floor_for_all"}


# ---- Refusals and rough losses


@pytest.mark.parametrize(
    "loss, message",
    [
        (3, "the loss is of type int; it must be a function."),
        (
            dict,
            "the loss is a class, dict; it must be a function. An instance that can be called will do: my_loss",
        ),
        (
            lambda *b: losses.policy_loss(b[0].detach() + 0 * b[0], *b[1:]),
            "the loss has no slope for tokens that",
        ),
        (
            lambda *b: losses.policy_loss(*b[:3], b[3] & (b[3].cumsum(1) > 1)),
            "a row of three tokens has a slope, and a",
        ),
        (
            lambda *b: losses.policy_loss(*b) * torch.rand(()),
            "two calls on one input give different numbers; a l",
        ),
        (lambda *b: (losses.policy_loss(*b), {}), "the loss returned something of tuple; it must return one"),
        (lambda *b: 1.5, "the loss returned something of float; it must"),
        (lambda *b: None, "the loss returned something of NoneType; it must"),
        (lambda *b: losses.policy_loss(*b).detach().numpy(), "the loss returned something of ndarray; it m"),
        (
            lambda *b: (b[0] - b[1]).sum(1),
            "the loss returned something of shape (2,); it must return one num",
        ),
        (lambda *b: losses.policy_loss(*b).detach(), "the loss has no gradient; it must be computed from"),
        (lambda *b: losses.policy_loss(*b) * math.nan, "the slope of the loss is NaN for a single token, w"),
        (lambda new, old: new.sum(), "the loss raised TypeError: "),
        (lambda new, old, a, mask, beta: new.sum(), "the loss raised TypeError: "),
        (lambda *b: int("1\n2"), "the loss raised ValueError: invalid literal"),
        (lambda *b: exit(3), "the loss raised SystemExit: 3. It is called as loss(logprobs, old_logprobs, "),
        (lambda new, *b: new.mul_(2).sum(), "the loss raised RuntimeError: a leaf Variable that requires "),
    ],
)
def test_what_is_no_loss_is_told_so(loss, message):
    check(lambda: museum.examine(loss), message)


def test_how_a_loss_is_called_is_part_of_the_answer():
    with pytest.raises(ValueError, match=r"It is called as loss\(logprobs, old_logprobs, advantages, mask\)"):
        museum.examine(lambda new: new.sum())


def test_ctrl_c_is_not_swallowed():
    def loss(*batch):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        museum.examine(loss)


def test_a_loss_may_spoil_what_it_is_given():
    def loss(logprobs, old_logprobs, advantages, mask):
        weights = advantages.detach()
        value = losses.policy_loss(logprobs, old_logprobs.clone(), weights.clone(), mask.clone())
        old_logprobs.zero_(), weights.zero_(), mask.zero_()
        return value

    examination = museum.examine(loss)
    assert examination.fine and examination.falls_for == [] and "'token_mean'" in examination.equal


def test_a_loss_of_another_precision_or_with_an_axis_is_fine():
    assert museum.examine(lambda *b: losses.policy_loss(*b).float()).fine
    assert museum.examine(lambda *b: losses.policy_loss(*b).reshape(1, 1)).fine


def test_a_question_does_not_touch_the_random_state():
    torch.manual_seed(3)
    before = torch.get_rng_state()
    one, two = (museum.examine(losses.policy_loss) for _ in range(2))
    assert torch.equal(torch.get_rng_state(), before) and one.equal == two.equal


def test_what_is_handed_in_are_log_probabilities():
    """However large the ratios are that are tried: a loss may check it."""
    ratios = []

    def loss(new, old, advantages, mask):
        assert bool((new[mask] <= 0).all()) and bool((old[mask] <= 0).all()), "no log-probabilities"
        ratios.append(float((new - old)[mask].abs().max().detach()) if mask.any() else 0.0)
        return losses.policy_loss(new, old, advantages, mask, ratio="sequence_mean")

    examination = museum.examine(loss)
    assert examination.fine and examination.equal and max(ratios) == portraits.FAR


def test_a_slow_loss_is_asked_some_hundred_times():
    calls = []
    museum.examine(lambda *b: losses.policy_loss(*b) if not calls.append(1) else None)
    assert len(calls) < 500


# ---- The report

DESCRIPTIONS = [
    ({}, "one for each token", "no slope above 1.2 where A > 0 and below 0.8 where A < 0", "the tokens that count"),
    (
        {"ratio": "sequence_mean", "clip": (None, 0.5), "dual_clip": 3.0},
        "one for each answer: exp of the mean log-ratio",
        "no slope above 1.5 where A > 0; dual clip at 3", "each row's tokens, then the rows",
    ),
    (
        {"ratio": "sequence_product", "clip": (0.25, None), "aggregation": "sum"},
        "one for each answer: the product over its tokens", "no slope below 0.75 where A < 0", "nothing",
    ),
    (
        {"variant": "cispo", "aggregation": "constant", "norm": 7},
        "one for each token", "weights kept within 0.8 and 1.2", "the rows, times 7",
    ),
    ({"clip": None, "aggregation": "sum", "norm": 2.5}, "one for each token", "nothing", "2.5"),
    (
        {"clip": None, "aggregation": "sequence_mean", "norm": 3},
        "one for each token", "nothing", "each row's tokens, then 3",
    ),
]  # fmt: skip


@pytest.mark.parametrize("options, ratio, held, divided", DESCRIPTIONS)
def test_a_portrait_in_words(options, ratio, held, divided):
    assert portraits.describe(portraits.portray(policy(**options))) == [
        f"ratio         {ratio}",
        f"held by       {held}",
        f"divided by    {divided}",
    ]


def test_a_portrait_of_what_fits_nothing():
    assert portraits.describe(portraits.Portrait(None, None, 1.0, 1.0, 1.0, None, None)) == [
        "ratio         fits no level that is known here",
        "held by       fits no clip that is known here",
        "divided by    fits no denominator that is known here",
    ]
    lines = portraits.describe(portraits.portray(museum.case("padded_mean").broken))
    assert lines[2] == "divided by    rows times width, padding too"
    lines = portraits.describe(portraits.portray(museum.case("fresh_ratio").broken))
    assert lines[:2] == [
        "ratio         none: the old log-probabilities are not used",
        "held by       nothing",
    ]


def test_a_report_of_a_right_loss():
    lines = report(museum.examine(losses.policy_loss), "mine:loss").split("\n")
    assert lines[0] == "mine:loss, called as loss(logprobs, old_logprobs, advantages, mask)"
    assert lines[2] == "  ratio         one for each token"
    assert lines[6:8] == [
        "On random batches of every kind its values and slopes are those of",
        "  losses.policy_loss(ratio='token', aggregation='token_mean', clip=(0.2, 0.2))",
    ]
    assert lines[9:11] == ["Oracle tests", "  ok       sign"]
    assert lines[-2:] == ["", "All 15 oracle tests pass."] and len(lines) == 27


def test_a_report_of_a_mistake_opens_the_case():
    text = report(museum.examine(museum.case("padded_mean").broken), "mine:loss")
    assert "  FALLS    padded_mean        gives 0.25; right is 1\n" in text
    assert "random batches" not in text
    assert text.endswith(
        "\n\nIt falls for 1 of 15 exhibits: padded_mean.\n"
        "python -m pglab.museum --show padded_mean   opens the case."
    )


def test_a_report_of_several_opens_the_first_case():
    text = report(museum.examine(museum.case("everything_counts").broken), "mine:loss")
    names = "everything_counts, multiplied_mask, one_for_nothing, padded_mean"
    assert f"\nIt falls for 4 of 15 exhibits: {names}.\n" in text
    assert text.endswith("--show everything_counts   opens the case.")


def test_a_report_of_a_mistake_that_is_in_no_case():
    text = report(museum.examine(lambda *batch: -3 * losses.policy_loss(*batch)), "mine:loss")
    assert (
        "  differs  larger_of_two" in text and "  FALLS    sign               gives 2; right is -2\n" in text
    )

    def loss(new, old, weights, mask):
        return losses.policy_loss(new, old, weights.detach() ** 2 * weights.detach().sign(), mask)

    text = report(museum.examine(loss), "mine:loss")
    assert text.endswith(
        "2 of 15 oracle tests fail, and none of the mistakes here explains it digit for digit. "
        "Begin with sign."
    )


def test_a_report_of_what_may_be_meant():
    text = report(museum.examine(policy(ratio="sequence_product", aggregation="sum")), "mine:loss")
    for name in ("summed_ratio", "budget_only"):
        assert f"  FALLS    {name} " in text and f"\n{'':29} ({CHOICES[name]})\n" in text
    assert text.endswith("13 of 15 oracle tests pass; summed_ratio and budget_only may be meant so.")
