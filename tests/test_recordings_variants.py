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
    assert abs(pair[0][:, :4] - pair[1][:, :4]).max() < 0.005
    assert abs(last(read, "addition grpo").mean() - last(read, "addition grpo_token_mean").mean()) < 0.06


def test_a_higher_clip_holds_fewer_tokens(read):
    pair = [
        read(f"addition {variant}", "clip_fraction")[:, 1:5].mean(1)
        for variant in ("grpo", "grpo_clip_higher")
    ]
    assert (pair[1] < pair[0]).all()


def test_dynamic_sampling_is_slower_at_first_and_ahead_where_most_groups_are_alike(read):
    assert to(read, "addition grpo_dynamic", 0.5).min() > to(read, "addition grpo", 0.5).max()
    assert last(read, "addition grpo_dynamic").mean() > last(read, "addition grpo").mean()
    assert last(read, "addition grpo_dynamic").min() > last(read, "addition grpo").min() + 0.05
    assert (to(read, "addition grpo_dynamic", 0.9) < 9_000).all() and np.isinf(
        to(read, "addition grpo", 0.9)
    ).any()
    drawn = read("addition grpo_dynamic", "drawn_a_step")
    assert (drawn[:, -1] == 768).all() and (read("addition grpo", "drawn_a_step")[:, 1:] == 256).all()
    assert (
        last(read, "addition grpo_dynamic", "grad_norm") > last(read, "addition grpo", "grad_norm").max()
    ).all()


def test_one_ratio_for_an_answer_holds_most_tokens_and_is_the_fastest(read):
    assert read("addition gspo", "clip_fraction")[:, 2:5].mean() > 0.6
    assert to(read, "addition gspo", 0.5).max() < to(read, "addition grpo", 0.5).min()
    assert np.median(to(read, "addition gspo", 0.8)) < np.median(to(read, "addition grpo", 0.8))


def test_where_only_the_weight_is_clipped_sixteen_updates_are_too_many(read):
    assert to(read, "addition cispo", 0.8).min() > np.median(to(read, "addition grpo", 0.8))
    assert last(read, "addition cispo").mean() < last(read, "addition grpo").mean() - 0.05


# ---- Where lengths vary, and the verifier has a hole that long answers fall into


def test_the_mean_of_each_answer_runs_into_the_hole_and_other_denominators_mostly_do_not(read):
    for variant in ("grpo", "grpo_clip_higher", "grpo_dynamic", "gspo"):
        assert last(read, f"running_sum {variant}", "length").min() > 13
        assert last(read, f"running_sum {variant}").max() < 0.15
        assert last(read, f"running_sum {variant}", "paid").min() > 0.7
    assert last(read, "running_sum grpo_token_mean", "length").max() < 9.2
    assert last(read, "running_sum grpo_token_mean").min() > 0.4
    for variant in ("grpo_token_mean", "dr_grpo"):
        assert (last(read, f"running_sum {variant}") > 0.9).sum() == 4
    # One seed of Dr. GRPO finds the hole after all, when it is nearly done.
    length = read("running_sum dr_grpo", "length")
    assert (length[:, -1] > 13).sum() == 1 and length[:, -3].max() < 9.5


def test_a_penalty_for_length_closes_this_hole_since_it_is_a_long_one(read):
    pass_1, length = (read("running_sum grpo_overlong", column) for column in ("pass_at_1", "length"))
    assert (pass_1[:, -1] > 0.85).all() and (abs(length[:, -1] - 9) < 0.1).all()
    grpo = read("running_sum grpo", "length")
    assert abs(length[:, :6] - grpo[:, :6]).max() < 0.2 and (grpo[:, 7] > length[:, 7]).all()


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
