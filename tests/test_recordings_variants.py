"""What the recording of variants shows, as orderings: DAPO's four parts, each alone, and three others."""

import numpy as np
import pytest

from pglab import recordings


@pytest.fixture(scope="module")
def read():
    return recordings.read("variants").column


def to(read, variant, level):
    """(S,) samples to a level of pass@1."""
    pairs = zip(read(variant, "samples"), read(variant, "pass_at_1"), strict=True)
    return np.array([recordings.samples_to(*pair, level) for pair in pairs])


def last(read, variant, column="pass_at_1"):
    return read(variant, column)[:, -1]


# ---- Where every answer has five tokens, and clips bind


def test_on_addition_a_penalty_for_length_is_nothing_at_all(read):
    for column in ("pass_at_1", "entropy", "grad_norm", "length"):
        same = (read(f"addition {variant}", column) for variant in ("grpo", "grpo_overlong"))
        assert np.array_equal(*same, equal_nan=True)


def test_on_addition_a_token_mean_is_the_mean_of_answers_at_first(read):
    # Then a few answers of another length, and rounding, part them.
    pair = [read(f"addition {variant}", "pass_at_1") for variant in ("grpo", "grpo_token_mean")]
    assert (abs(pair[0][:, :4] - pair[1][:, :4]).max(1) < 0.005).sum() >= 8
    assert abs(last(read, "addition grpo").mean() - last(read, "addition grpo_token_mean").mean()) < 0.06


def test_a_higher_clip_holds_fewer_tokens(read):
    pair = [
        read(f"addition {variant}", "clip_fraction")[:, 1:5].mean(1)
        for variant in ("grpo", "grpo_clip_higher")
    ]
    assert (pair[1] < pair[0]).all()


def test_dynamic_sampling_costs_three_times_as_many_answers_and_is_seldom_faster_to_a_half(read):
    pair = [to(read, f"addition {variant}", 0.5) for variant in ("grpo_dynamic", "grpo")]
    assert (pair[0] > pair[1]).sum() >= 9 and (pair[0] >= pair[1]).all()
    drawn = read("addition grpo_dynamic", "drawn_a_step")
    assert (drawn[:, -1] >= 700).all() and (read("addition grpo", "drawn_a_step")[:, 1:] == 256).all()
    norms = [last(read, f"addition {variant}", "grad_norm") for variant in ("grpo_dynamic", "grpo")]
    assert (norms[0] > norms[1]).all()
    ahead = last(read, "addition grpo_dynamic") > last(read, "addition grpo")
    assert 3 <= ahead.sum() <= 7  # what it brings, ten seeds do not show


def test_one_ratio_for_an_answer_holds_most_tokens_and_is_faster_to_a_half(read):
    assert read("addition gspo", "clip_fraction")[:, 2:5].mean() > 0.6
    assert (to(read, "addition gspo", 0.5) < to(read, "addition grpo", 0.5)).all()


def test_where_only_the_weight_is_clipped_sixteen_updates_are_too_many(read):
    for variant in ("cispo", "cispo_alone"):
        assert (last(read, f"addition {variant}") < last(read, "addition grpo")).sum() == 9
        assert last(read, f"addition {variant}").mean() < last(read, "addition grpo").mean() - 0.05


# ---- Where lengths vary, and the verifier has a hole that long answers fall into


def test_the_mean_of_each_answer_runs_into_the_hole_and_other_denominators_less_often(read):
    for variant in ("grpo", "grpo_clip_higher", "grpo_dynamic", "gspo", "cispo", "cispo_alone"):
        assert (
            last(read, f"running_sum {variant}", "length").min() > 10
        )  # the longest right answer has 9 tokens
        assert last(read, f"running_sum {variant}").max() < 0.3
    for variant, times in (("grpo_token_mean", 2), ("dr_grpo", 4)):
        long = last(read, f"running_sum {variant}", "length") > 10
        right = last(read, f"running_sum {variant}")
        assert long.sum() == times and right[long].max() < 0.1 and (right > 0.9).sum() >= 6


def test_a_penalty_for_length_keeps_all_seeds_short_and_most_of_them_right(read):
    pass_1, length = (read("running_sum grpo_overlong", column) for column in ("pass_at_1", "length"))
    assert (abs(length[:, -1] - 9) < 0.1).all()
    assert (pass_1[:, -1] > 0.75).sum() == 8 and (pass_1[:, -1] < 0.2).sum() == 2
    grpo = read("running_sum grpo", "length")
    assert abs(length[:, :5] - grpo[:, :5]).max() < 0.3 and (grpo[:, 8] > length[:, 8]).all()


def test_all_four_parts_are_steady_and_slow_for_each_sample(read):
    assert last(read, "running_sum dapo", "length").max() < 9.1
    assert (
        last(read, "running_sum dapo", "paid").mean() < last(read, "running_sum grpo_overlong", "paid").mean()
    )
    drawn = read("running_sum dapo", "drawn_a_step")
    assert np.nanmean(drawn) > 1.6 * 256


def test_a_higher_clip_keeps_more_entropy_on_one_task_and_not_on_the_other(read):
    more = {
        task: read(f"{task} grpo_clip_higher", "entropy")[:, 1:] - read(f"{task} grpo", "entropy")[:, 1:]
        for task in ("running_sum", "addition")
    }
    assert (more["running_sum"] > 0).all()  # at every point of every seed
    assert (more["addition"] > 0).mean() < 0.6
