"""What the recordings of broken runs show: a symptom on the panel, and it is there before the reward tells."""

import re

import numpy as np
import pytest

from pglab import recordings
from pglab.museum import faults

# Of each classic the column to look at, and the last step at which the last seed's leaves the healthy range.
SYMPTOMS = {
    "gradient_through_advantage": ("grad_norm", 0),
    "action_dependent_baseline": ("grad_norm", 0),
    "shift_off_by_one": ("kl", 0),
    "prompt_in_loss": ("grad_norm", 0),
    "sparse_reward": ("zero_std", 0),
    "variance_for_bias": ("grad_noise", 0),
}


@pytest.fixture(scope="module")
def museum():
    return recordings.read("museum")


@pytest.fixture(scope="module")
def clinic():
    return recordings.read("clinic")


def both(recording, name, column):
    """(S, T) of the sick runs, and of their twins."""
    return recording.column(name, column), recording.column(f"{name}, healthy", column)


def leaves(sick, healthy, steps=3):
    """(S,) the step from which each run is outside the range of all healthy runs for so many steps; inf if never."""
    outside = (sick < healthy.min(0)) | (sick > healthy.max(0))
    found = np.full(len(sick), np.inf)
    for seed, row in enumerate(outside):
        stays = [i for i in range(len(row) - steps + 1) if row[i : i + steps].all()]
        found[seed] = stays[0] if stays else np.inf
    return found


# ---- The museum


@pytest.mark.parametrize("name", faults.CLASSICS)
def test_the_symptom_of_every_seed_is_there_before_the_reward_of_any(museum, name):
    column, last = SYMPTOMS[name]
    symptom, right = (leaves(*both(museum, name, each)) for each in (column, "right"))
    assert symptom.max() <= last < right.min()


@pytest.mark.parametrize("name", faults.CLASSICS)
def test_at_the_first_step_the_answers_are_the_twins(museum, name):
    """The same prompts and completions of the same model: what differs there is the update."""
    for column in ("right", "length", "entropy"):
        sick, healthy = both(museum, name, column)
        assert np.array_equal(sick[:, 0], healthy[:, 0])


def test_a_value_that_is_pushed_down_ends_two_below_its_target(museum):
    sick, healthy = both(museum, "gradient_through_advantage", "advantage_mean")
    assert (abs(sick[:, -5:] - 2) < 0.15).all() and (abs(healthy[:, -5:]) < 0.15).all()
    assert leaves(sick, healthy).max() <= 3
    right, twin = both(museum, "gradient_through_advantage", "right")
    assert (right[:, -1] > 0.9).all() and (twin[:, -1] > 0.9).all()  # the reward curve never tells


def test_a_baseline_that_has_seen_the_action_takes_most_of_the_gradient_away(museum):
    norm, twin = both(museum, "action_dependent_baseline", "grad_norm")
    assert norm[:, 0].max() < 0.5 * twin[:, 0].min()
    spread, other = both(museum, "action_dependent_baseline", "advantage_std")
    assert leaves(spread, other).max() <= 2
    right, twin = both(museum, "action_dependent_baseline", "right")
    assert right[:, -3:].mean(1).max() < twin[:, -3:].mean(1).min()


def test_logits_read_late_give_a_distance_that_no_step_can_have_made(museum):
    kl, twin = both(museum, "shift_off_by_one", "kl")
    assert kl[:, 0].min() > 100 * twin[:, 0].max()
    held, twin = both(museum, "shift_off_by_one", "clip_fraction")
    assert held[:, 0].min() > 2 * twin[:, 0].max()
    right, _ = both(museum, "shift_off_by_one", "right")
    assert (right[:, 1] > right[:, 0]).sum() >= 4 and (right[:, -1] < 0.3).all()  # first it climbs


def test_the_prompts_gradient_is_many_times_that_of_the_answers(museum):
    norm, twin = both(museum, "prompt_in_loss", "grad_norm")
    assert norm[:, 0].min() > 5 * twin[:, 0].max()
    entropy, twin = both(museum, "prompt_in_loss", "entropy")
    assert (entropy[:, -1] > 3 * entropy[:, 0]).all() and (twin[:, -1] < twin[:, 0]).all()
    assert (museum.column("prompt_in_loss", "right")[:, -1] < 0.3).all()


def test_hardly_a_group_teaches_where_hardly_a_trace_is_paid(museum):
    zero, twin = both(museum, "sparse_reward", "zero_std")
    norm, other = both(museum, "sparse_reward", "grad_norm")
    assert zero[:, 0].min() > 0.95 > 0.5 > twin[:, 0].max() and norm[:, 0].max() < 0.2 * other[:, 0].min()
    noise = museum.column("sparse_reward", "grad_noise")
    assert np.array_equal(np.isnan(noise), norm == 0) and (norm == 0).any()
    # It is luck when it begins to learn; at the end of 40 steps all have.
    right = museum.column("sparse_reward", "right")
    starts = [int(np.argmax(row > 0.3)) for row in right]
    assert max(starts) - min(starts) >= 10 and (right[:, -1] > 0.7).all()


def test_noise_is_not_bias(museum):
    noise, twin = both(museum, "variance_for_bias", "grad_noise")
    assert noise[:, 0].min() > 4 * twin[:, 0].max() and np.median(noise[:, 0]) > 30 * np.median(twin[:, 0])
    norm, other = both(museum, "variance_for_bias", "grad_norm")
    ratio = [(n[:, :20] ** 2).mean() / v[:, :20].mean() for n, v in ((norm, noise), (other, twin))]
    assert abs(ratio[0] - 1) < 0.05 and 1.05 < ratio[1] < 1.3  # what is left of E|g|^2 beside the noise
    right, other = both(museum, "variance_for_bias", "right")
    assert right[:, -10:].mean(1).max() < 0.5 < 0.7 < other[:, -10:].mean(1).min()


def test_a_learned_critic_that_is_read_late_does_no_visible_harm(museum):
    right, twin = both(museum, "late_critic", "right")
    assert abs(right[:, -5:].mean() - twin[:, -5:].mean()) < 0.03
    assert (leaves(right, twin) == np.inf).sum() >= 4


# ---- The clinic


def patients(clinic, column):
    """{fault: (S, T)}."""
    return {fault: clinic.column(letter, column) for letter, fault in faults.CLINIC.items()}


def test_the_clinic_keeps_its_secret():
    text = (recordings.FOLDER / "clinic.json").read_text(encoding="utf-8")
    hidden = {word for fault in faults.CLINIC.values() for word in (fault, faults.FAULTS.get(fault, fault))}
    assert not any(str(word) in text for word in hidden - {faults.HEALTHY})
    variants = recordings.read("clinic").variants
    assert [v["words"] for v in variants.values()] == [f"run {letter}" for letter in "ABCDEFGH"]
    alike = [{k: v for k, v in about.items() if k != "words"} for about in variants.values()]
    assert all(one == alike[0] for one in alike) and not re.search('lax|"fault"|reward function', text)


def test_one_run_learns_and_its_panel_is_quiet(clinic):
    for column, low, high in (
        ("advantage_mean", -1e-6, 1e-6), ("clip_fraction", 0, 0.06), ("kl", 0, 0.01), ("kl_ref", 0, 1.0),
        ("finished", 0.95, 1), ("grad_norm", 0, 2),
    ):  # fmt: skip
        found = patients(clinic, column)[faults.HEALTHY]
        assert low <= found.min() and found.max() <= high, (column, found.min(), found.max())
    reward = patients(clinic, "reward")
    assert (reward[faults.HEALTHY][:, -1] > 0.9).all()


def test_each_sick_run_can_be_told_by_a_column_of_its_own(clinic):
    """In every seed, and by the sixth step; the two that a reward betrays only later by the twentieth."""
    first = {column: patients(clinic, column) for column in clinic.columns if column != "samples"}

    def highest(column, steps, measure):
        score = {fault: measure(found[:, steps]) for fault, found in first[column].items()}
        return max(score, key=lambda fault: score[fault].min()), score

    start = slice(0, 3)
    told, score = highest("kl", start, lambda x: x.mean(1))
    assert told == "shift_off_by_one" and score[told].min() > 3 * max(
        s.max() for f, s in score.items() if f != told
    )
    told, score = highest("kl_ref", slice(1, 4), lambda x: x.mean(1))
    assert told == "learning_rate_too_high" and score[told].min() > 2 * max(
        s.max() for f, s in score.items() if f != told
    )
    off = {fault: abs(found[:, :6]).max(1) for fault, found in first["advantage_mean"].items()}
    assert {fault for fault, s in off.items() if s.max() > 1e-6} == {"wrong_brackets", "tiny_eps"}
    assert off["tiny_eps"].min() > 1 > 0.3 > off["wrong_brackets"].max() > 0.1
    clipped = {fault: found[:, 0] for fault, found in first["clip_fraction"].items()}
    held = {fault for fault, s in clipped.items() if s.min() > 0.1}
    assert held == {"shift_off_by_one", "learning_rate_too_high", "temperature_mismatch"}
    finished, reward = first["finished"]["lax_verifier"], first["reward"]["lax_verifier"]
    assert (finished[:, -1] < 0.1).all() and (reward[:, -1] > reward[:, 0] + 0.3).all()
    # E|g|^2 = |E g|^2 + V: where their ratio is 1, all of a gradient is noise.
    norm, noise = (patients(clinic, column) for column in ("grad_norm", "grad_noise"))
    ratio = {fault: (norm[fault][:, 6:16] ** 2).mean(1) / noise[fault][:, 6:16].mean(1) for fault in norm}
    assert abs(ratio["rewards_transposed"] - 1).max() < 0.2 and ratio[faults.HEALTHY].min() > 3
    assert ratio[faults.HEALTHY].min() > max(r.max() for f, r in ratio.items() if f != faults.HEALTHY)
    flat = first["reward"]["rewards_transposed"]
    assert flat.max() < 0.25 and first["finished"]["rewards_transposed"].min() > 0.9
