"""What the recordings show, as orderings and intervals: a lesson may rest on these."""

import numpy as np
import pytest

from pglab import recordings


@pytest.fixture(scope="module")
def read():
    found = {name: recordings.read(name) for name in recordings.names()}
    return found.__getitem__


def last(recording, variant, name="pass_at_1"):
    """(S,) the last point of every seed."""
    return recording.column(variant, name)[:, -1]


def to(recording, variant, level=0.9):
    """(S,) samples to a level."""
    columns = recording.column(variant, "samples"), recording.column(variant, "pass_at_1")
    return np.array([recordings.samples_to(*pair, level) for pair in zip(*columns, strict=True)])


def all_learned(recording):
    """Every seed of every variant learned from where it began."""
    return all(
        (last(recording, v) > recording.column(v, "pass_at_1")[:, 0]).all() for v in recording.variants
    )


# ---- G8


def test_running_sums_get_longer_because_the_worked_form_is_right(read):
    recording = read("running_sum")
    one, length, worked = (recording.column("grpo", name) for name in ("pass_at_1", "length", "worked"))
    assert (one[:, 0] < 0.3).all() and (one[:, -1] > 0.95).all() and (to(recording, "grpo") < 3_000).all()
    assert (length[:, 0] < 4.5).all() and (length[:, -1] > 8.5).all()
    assert (worked[:, 0] < 0.4).all() and (worked[:, -1] > 0.95).all()


# ---- G6


def test_a_hole_in_the_verifier_is_found_where_answers_are_drawn_hot(read):
    recording = read("verifier")
    paid, right, length = (recording.column("lax", name) for name in ("paid", "pass_at_1", "length"))
    assert (paid[:, -1] > 0.7).all() and (paid[:, 0] < 0.25).all()
    assert (right[:, -1] < 0.01).all() and (right.max(1) > right[:, 0]).all()
    assert (length[:, -1] > 14.5).all()
    assert (last(recording, "strict") > 0.9).all()
    # Honesty would be paid more; and where slips are rare the same verifier does no harm.
    assert last(recording, "strict").min() > np.median(paid[:, -1])
    assert (last(recording, "lax, temperature 1") > 0.95).all()


# ---- G3

FIELD = ("batch_mean", "rloo", "grpo", "dr_grpo")


def test_with_small_steps_every_algorithm_learns_and_imitation_of_the_right_answers_is_first(read):
    recording = read("algorithms")
    assert all_learned(recording) and all((last(recording, v) > 0.75).all() for v in recording.variants)
    first = to(recording, "reinforce {0,1}")
    assert all(first.max() < to(recording, v).min() for v in recording.variants if v != "reinforce {0,1}")
    for variant in FIELD:
        assert last(recording, variant).mean() > last(recording, "reinforce {1,2}").mean()


def test_with_larger_steps_rewards_of_one_and_two_collapse(read):
    recording = read("algorithms_fast")
    assert (last(recording, "reinforce {1,2}") < 0.05).all()
    assert (last(recording, "reinforce {0,1}") > 0.75).all()
    for variant in FIELD:
        assert (last(recording, variant) > 0.8).all()
    assert (to(recording, "reinforce {0,1}") < 2_000).all()


# ---- G9


def stops(recording, knob):
    """{value: (S,) final pass@1} of one knob."""
    return {
        about["value"]: last(recording, variant)
        for variant, about in recording.variants.items()
        if about["knob"] == knob
    }


def test_the_learning_rate_has_a_wide_ridge_and_a_cliff_on_either_side(read):
    rates = stops(read("knobs"), "learning_rate")
    assert min(rates) == 1e-5 and max(rates) == 1e-2 and len(rates) == 7
    assert (rates[1e-5] < 0.45).all() and (rates[1e-2] < 0.1).all()
    assert all((rates[rate] > 0.85).all() for rate in (3e-4, 1e-3, 2e-3))


def test_many_prompts_beat_many_answers_to_few_prompts(read):
    groups = stops(read("knobs"), "group_size")
    assert list(groups) == [2, 4, 8, 16, 32, 64, 128]
    assert (groups[128] < 0.87).all() and all((groups[size] > 0.9).all() for size in (2, 4, 8, 16))
    assert groups[2].min() > groups[64].max() and groups[8].min() > groups[128].max()


def test_the_clip_is_idle_at_one_epoch_and_needed_at_sixteen(read):
    recording = read("knobs")
    clipped, free = stops(recording, "epochs"), stops(recording, "epochs_without_clip")
    one = [recording.column(f"{knob} 1", "pass_at_1") for knob in ("epochs", "epochs_without_clip")]
    assert np.array_equal(*one)  # the ratio is exactly 1
    assert abs(clipped[2].mean() - free[2].mean()) < 0.04
    assert clipped[16].mean() > free[16].mean() + 0.03
    assert to(recording, "epochs 2").max() < to(recording, "epochs 1").min()
    assert clipped[16].mean() < clipped[4].mean()


def test_a_small_kl_is_harmless_and_a_large_one_holds_the_policy_where_it_was(read):
    kls = stops(read("knobs"), "kl")
    assert all((kls[beta] > 0.9).all() for beta in (0, 1e-3, 1e-2)) and (kls[1] < 0.6).all()
    assert kls[1].max() < kls[0.1].min() and kls[0.1].mean() < kls[0].mean()


def test_the_default_is_one_run_under_four_names(read):
    columns = [
        read("knobs").column(variant, "pass_at_1")
        for variant in ("learning_rate 0.001", "group_size 8", "epochs 2", "kl 0")
    ]
    assert all(np.array_equal(column, columns[0]) for column in columns)


# ---- G3 at the default batch, and G7


def test_with_large_batches_every_algorithm_gets_there_and_the_order_is_that_of_the_noise(read):
    recording = read("algorithms_256")
    order = ["reinforce {0,1}", "rloo", "reinforce {-1,0}", "reinforce {1,2}"]
    reached = [to(recording, variant) for variant in order]
    assert np.isfinite(reached).all()
    assert all(
        (early < late).all() for early, late in zip(reached, reached[1:], strict=False)
    )  # at each seed


def test_algorithms_that_differ_in_scale_alone_are_one_algorithm_under_adam(read):
    """Every answer has the same length, and G/(G-1) is a scale: what is left is rounding."""
    curves = [read("algorithms_256").column(v, "pass_at_1") for v in ("batch_mean", "rloo", "dr_grpo")]
    assert np.abs(curves[0] - curves[1]).max() < 0.02 and np.abs(curves[0] - curves[2]).max() < 0.02


def test_a_process_reward_teaches_running_sums_where_the_outcome_is_too_rare(read):
    recording = read("process")
    final = {variant: last(recording, variant) for variant in recording.variants}
    assert (final["running_sum outcome"] < 0.15).all()
    assert (final["running_sum process"] > 0.7).all()
    middle = recording.column("running_sum steps", "pass_at_1")[:, 10]
    assert (middle > recording.column("running_sum process", "pass_at_1")[:, 10]).all()
    assert (final["running_sum steps"] > final["running_sum process"]).all()


def test_a_process_reward_costs_where_it_pays_for_forgotten_carries(read):
    recording = read("process")
    outcome = last(recording, "addition outcome")
    for reward in ("process", "steps"):
        assert (outcome > last(recording, f"addition {reward}") + 0.02).all()


# ---- G5


def test_on_the_mixed_corpus_pass_at_1_climbs_far_and_pass_at_64_stays(read):
    recording = read("countdown")
    one, many, entropy = (recording.column("grpo", name) for name in ("pass_at_1", "pass_at_64", "entropy"))
    assert (one[:, 0] < 0.4).all() and (one[:, -1] > 0.85).all()
    assert (many[:, 0] > 0.97).all() and (many[:, -1] > 0.97).all()
    assert (entropy[:, -1] > 0.1).all()
    zero = recording.column("grpo", "zero_std")
    assert (zero[:, -1] > 3 * zero[:, 0]).all()


def test_on_the_solver_pass_at_64_and_entropy_fall_while_pass_at_1_rises(read):
    recording = read("countdown_solver")
    one, many, entropy = (recording.column("grpo", name) for name in ("pass_at_1", "pass_at_64", "entropy"))
    assert (one[:, -1] > one[:, 0] + 0.15).all() and (one[:, -1] < 0.6).all()
    assert (many[:, 0] > 0.95).all() and (many[:, -1] < 0.85).all()
    assert (entropy[:, -1] < entropy[:, 0] / 3).all()


@pytest.mark.parametrize("name", ["countdown", "countdown_solver"])
def test_of_countdown_half_of_the_fresh_prompts_are_drawn_in_training_and_those_do_better(read, name):
    recording = read(name)
    one, new, drawn = (recording.column("grpo", each) for each in ("pass_at_1", "pass_at_1_new", "drawn"))
    assert ((drawn > 0.3) & (drawn < 0.7)).all() and (new[:, -1] < one[:, -1] - 0.02).all()
    assert (new[:, -1] > new[:, 0] + 0.1).all()  # what was never drawn gets better too
    if name == "countdown_solver":
        many = recording.column("grpo", "pass_at_64_new")
        assert (many[:, -1] < many[:, 0] - 0.1).all()
