"""What the command line changes of an algorithm, and the room that a penalty for length needs."""

import json
import re
from dataclasses import fields, replace
from itertools import product

import commands_by_hand
import numpy as np
import pytest
from experiments import EXPERIMENTS
from hypothesis import given
from hypothesis import strategies as st
from refusals import check
from training_by_hand import paid, settings

from pglab import algorithms, lm, recordings, tasks, training
from pglab.algorithms import ALGORITHMS, Algorithm, named
from pglab.training import PostTraining, command, plan
from pglab.training.fields import FIELDS, chosen, shown, value_of

PENALISED = [name for name, each in ALGORITHMS.items() if each.overlong]
SMALL = ["--task", "addition", "--steps", "1", "--prompts", "2", "--evaluate", "0", "--device", "cpu"]


def refused(capsys, *words):
    return commands_by_hand.refused(command.main, capsys, *words)


# ---- Room for a penalty


def test_which_algorithms_have_a_penalty():
    assert PENALISED == ["grpo_overlong", "dapo"]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_plan_has_room_for_the_whole_penalty(name):
    for task in training.POST_TRAINED:
        made, length = plan(task, name), tasks.named(task)
        assert made.room == (4 if name in PENALISED else 0)
        assert plan(task, name, room=7).room == 7 and plan(task, name, room=1).room == 1
        longest = np.array([made.longest(length)])
        assert made.algorithm.penalties(longest, length.answer_length + 1) == (-1 if name in PENALISED else 0)
        training.plans.reach(lm.load(task, "cpu"), made, length)  # its checkpoint can read that far


def test_the_room_is_that_of_the_penalty_at_hand():
    for overlong, room in (((0, 4), 4), ((1, 3), 3), ((0, 2.5), 3), ((0.5, 0.75), 1), (None, 0)):
        assert plan("addition", named("grpo", overlong=overlong)).room == room
    assert plan("addition", named("dapo").as_dict()).room == 4
    assert plan("addition", named("dapo", overlong=None), room=0).room == 0


def test_a_room_in_which_a_penalty_is_idle_is_refused():
    message = "room is 0; it must be at least 1 for dapo: its penalty acts on completions of more than 0 tokens too many"
    check(lambda: plan("addition", "dapo", room=0), message)
    later = named("grpo", overlong=(2, 5))
    check(
        lambda: plan("addition", later, room=2),
        "room is 2; it must be at least 3 for grpo: its penalty acts on",
    )
    assert plan("addition", later, room=3).room == 3
    between = named("grpo", overlong=(2.5, 5))
    check(lambda: plan("addition", between, room=2), "room is 2; it must be at least 3 for grpo")
    assert plan("addition", between, room=3).room == 3
    # What was recorded without room must be read: PostTraining itself takes it.
    assert PostTraining("addition", "dapo").room == settings(algorithm="dapo", room=0).room == 0


@pytest.mark.parametrize("name", PENALISED)
def test_in_its_room_the_penalty_acts(name):
    """Nothing is right here, so that all that is paid is the penalty."""
    made = plan("addition", name, steps=1, prompts=2)
    run = training.Trainer(made, "cpu", reward=paid)
    rollouts = training.rollouts.collect(run.policy, run.task, made, 0, reward=lambda *_: 0.0)
    lengths = (rollouts.every or rollouts).samples.mask.sum(1).numpy()
    enough = run.task.answer_length + 1
    assert lengths.max() <= enough + 4 == made.longest(run.task)
    wanted = -np.clip((lengths - enough) / 4, 0, 1)
    np.testing.assert_allclose((rollouts.every or rollouts).rewards.ravel(), wanted, atol=1e-12)


def test_a_penalty_that_had_nothing_to_do_is_said(monkeypatch, tmp_path, capsys):
    """Addition: one completion runs on after 13 steps, and the runs part; running sums: none does."""
    monkeypatch.chdir(tmp_path)
    idle = "No completion was long enough to pay for it: the penalty for length has changed no reward."
    words = ["--device", "cpu", "--evaluate", "0", "--steps", "14"]
    weights = {}
    for task, name in product(("addition", "running_sum"), ("grpo", "grpo_overlong")):
        assert command.main([name, "--task", task, *words]) == 0
        said = capsys.readouterr().out
        assert (idle in said) == ((task, name) == ("running_sum", "grpo_overlong"))
        weights[task, name] = (tmp_path / "runs" / f"{task}_{name}.safetensors").read_bytes()
    assert weights["addition", "grpo"] != weights["addition", "grpo_overlong"]
    assert weights["running_sum", "grpo"] == weights["running_sum", "grpo_overlong"]
    # What is paid for its steps is no measure: nothing is said.
    assert command.main(["dapo", "--task", "addition", *words[:-1], "1", "--reward", "process"]) == 0
    assert idle not in capsys.readouterr().out


def test_recorded_variants_have_the_room_they_had():
    recording = recordings.read("variants")
    for name in recording.variants:
        stored, wanted = recording.settings(name), EXPERIMENTS["variants"].variants[name].settings
        assert wanted.room == stored["room"] == (6 if name.startswith("running_sum") else 0)
        made = PostTraining(**stored).as_dict()
        made["algorithm"]["source"] = wanted.algorithm.source
        assert made == wanted.as_dict()


# ---- Fields by the command line


def test_a_higher_clip_by_hand_is_the_registrys(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    by_hand = commands_by_hand.asked(monkeypatch, "grpo", "--task", "addition", "--set", "clip=0.2,0.28")[0]
    ours = commands_by_hand.asked(monkeypatch, "grpo_clip_higher", "--task", "addition")[0]
    about = {"name": "", "source": ""}
    assert by_hand.as_dict() | {"algorithm": by_hand.algorithm.as_dict() | about} == ours.as_dict() | {
        "algorithm": ours.algorithm.as_dict() | about
    }
    assert by_hand.algorithm.name == "grpo"


def test_it_learns_the_same_and_the_card_says_what_was_changed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    more = ["--epochs", "4", "--steps", "2"]
    for name, words in (("grpo", ["--set", "clip=0.2,0.28"]), ("grpo_clip_higher", []), ("plain", [])):
        words = [name.replace("plain", "grpo"), *SMALL, *more, *words, "--out", f"{name}.safetensors"]
        assert command.main(words) == 0
    weights = {path.stem: path.read_bytes() for path in tmp_path.glob("*.safetensors")}
    assert weights["grpo"] == weights["grpo_clip_higher"]
    card = lm.read_card(tmp_path / "grpo.safetensors")["settings"]
    assert card["algorithm"]["clip"] == [0.2, 0.28] and card["algorithm"]["name"] == "grpo"
    assert PostTraining(**card).algorithm == named("grpo", clip=(0.2, 0.28))
    assert command.main(["grpo", *SMALL, *more, "--out", "grpo.safetensors"]) == 2
    assert "(clip [0.2, 0.28], not [0.2, 0.2])" in capsys.readouterr().err


def test_all_parts_of_dapo_by_hand_are_dapo(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    words = "clip=0.2,0.28 aggregation=token_mean rounds=3 overlong=0,4"
    made = commands_by_hand.asked(
        monkeypatch, "grpo", "--task", "addition", *(f"--set={word}" for word in words.split())
    )[0]
    assert algorithms.differences(made.algorithm, "dapo") == {} and made.room == 4
    without = commands_by_hand.asked(monkeypatch, "dapo", "--task", "addition", "--set", "overlong=none")[0]
    assert without.algorithm == named("dapo", overlong=None) and without.room == 0
    # Another denominator has a norm of its own, unless one is given; the later word counts; --kl stays.
    words = ["--set", "aggregation=sum", "--set", "clip=0.1,none", "--set", "clip=none", "--kl", "0.1"]
    made = commands_by_hand.asked(monkeypatch, "reinforce", "--task", "addition", *words)[0]
    assert made.algorithm == named("reinforce", aggregation="sum", norm=None, clip=None, kl=0.1)
    words = ["--set", "kl=0.5", "--kl", "0.5", "--set", " kl-where = reward", "--set", "name=mine"]
    made = commands_by_hand.asked(monkeypatch, "grpo", "--task", "addition", *words)[0]
    assert made.algorithm == named("grpo", kl=0.5, kl_where="reward", name="mine")


def test_every_field_has_a_type_that_is_read():
    assert list(FIELDS) == [field.name for field in fields(Algorithm)]
    for each in (*ALGORITHMS.values(), *(library.algorithm for library in algorithms.LIBRARIES.values())):
        words = [f"{field}={shown(getattr(each, field))}" for field in FIELDS]
        assert Algorithm(**chosen(words)) == each and chosen(words) == {f: getattr(each, f) for f in FIELDS}


NUMBERS = st.floats(0, 1e6)
SIDES = st.tuples(st.none() | NUMBERS, st.none() | NUMBERS)


@given(NUMBERS, st.none() | SIDES, st.booleans(), st.integers(1, 99), st.none() | NUMBERS)
def test_what_is_written_is_read(kl, clip, whiten, rounds, norm):
    values = {"kl": kl, "clip": clip, "whiten": whiten, "rounds": rounds, "norm": norm}
    for field, value in values.items():
        found = value_of(field, shown(value))
        assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    "field, text, value",
    [
        ("clip", "(0.2, 0.28)", (0.2, 0.28)),
        ("clip", "[0.2,0.28]", (0.2, 0.28)),
        ("clip", "none, 0.28", (None, 0.28)),
        ("clip", "None", None),
        ("overlong", "0,4", (0, 4)),
        ("whiten", "True", True),
        ("whiten", "false", False),
        ("kl", "1e-3", 0.001),
        ("baseline", "-1", -1.0),
        ("rounds", "3", 3),
        ("dual_clip", "3", 3.0),
        ("norm", "none", None),
        ("ratio", "none", "none"),
    ],
)
def test_values_by_hand(field, text, value):
    found = value_of(field, text)
    assert found == value and type(found) is type(value)


PAIR = "it must be two numbers with a comma, such as 0.2,0.28, and none for a side that is open; or none."


@pytest.mark.parametrize(
    "words, message",
    [
        (["--set", "clip"], "--set is 'clip'; it must be FIELD=VALUE, such as --set clip=0.2,0.28."),
        (["--set", "klip=1"], "--set is 'klip=1'; there is no such field. Did you mean clip? There are name, source, weight,"),
        (["--set", "Q=1"], "--set is 'Q=1'; there is no such field. There are name, source, weight,"),
        (["--set", "clip=0.2"], f"--set clip is '0.2'; {PAIR}"),
        (["--set", "clip=1,2,3"], f"--set clip is '1,2,3'; {PAIR}"),
        (["--set", "clip=a,b"], f"--set clip is 'a,b'; {PAIR}"),
        (["--set", "clip="], f"--set clip is ''; {PAIR}"),
        (["--set", "kl=much"], "--set kl is 'much'; it must be a number."),
        (["--set", "kl=none"], "--set kl is 'none'; it must be a number."),
        (["--set", "norm=x"], "--set norm is 'x'; it must be a number; or none."),
        (["--set", "rounds=1.5"], "--set rounds is '1.5'; it must be a whole number."),
        (["--set", "rounds=none"], "--set rounds is 'none'; it must be a whole number."),
        (["--set", "whiten=yes"], "--set whiten is 'yes'; it must be true or false."),
        (["--set", "kl=-1"], "kl is -1.0; it must be one finite number, at least 0."),
        (["--set", "kl=nan"], "kl is nan; it must be one finite number, at least 0."),
        (["--set", "weight=mean"], "weight is 'mean'; it must be one of constant, batch_mean,"),
        (["--set", "overlong=none,4"], "overlong[0] is None; it must be one finite number."),
        (["--set", "name="], "name is ''; it must be text, and not empty."),
        (["--set", "name=a/b"], "name is 'a/b', which names no file; say with --out where the weights go."),
        (["--set", "kl=0.2", "--kl", "0.1"], "--kl is 0.1 and --set says kl=0.2; give one of the two."),
        (["--set", "overlong=2,4", "--room", "2"], "room is 2; it must be at least 3 for grpo: its penalty acts"),
        (["--set"], "argument --set: expected one argument (python -m pglab.training grpo --help lists"),
        (["--clip", "0.2"], "unrecognized arguments: --clip 0.2; clip is a field of the algorithm: --set clip=VALUE "
         "(python -m pglab.training grpo --help lists the options)"),
        (["--kl-where=loss"], "unrecognized arguments: --kl-where=loss; kl_where is a field of the algorithm: --set kl_where="),
        (["--beta", "1"], "unrecognized arguments: --beta 1 (python -m pglab.training grpo --help lists the options)"),
        (["clip"], "unrecognized arguments: clip (python -m pglab.training grpo --help lists the options)"),
        (["--out", "x"], "--out is 'x'; it must end in .safetensors."),
        (["--out", ""], "--out is ''; it must end in .safetensors."),
    ],
)  # fmt: skip
def test_a_bad_choice_ends_in_one_line(capsys, monkeypatch, tmp_path, words, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "post_train", lambda *_, **__: pytest.fail("it was tried too late"))
    assert refused(capsys, "grpo", "--task", "addition", *words).startswith(message)
    assert list(tmp_path.iterdir()) == []


def test_the_other_command_points_to_its_own_help(capsys):
    said = refused(capsys, "pretrain", "--task", "addition", "--clip", "1")
    assert said == (
        "unrecognized arguments: --clip 1 (python -m pglab.training pretrain --help lists the options)\n"
    )
    assert refused(capsys, "pretrain", "--task", "addition", "--out", "a.bin").startswith(
        "--out is 'a.bin'; it"
    )


@pytest.mark.parametrize(
    "word, near",
    [("GRPO", "grpo"), ("grpo-dynamic", "grpo_dynamic"), ("Dr-GRPO", "dr_grpo"), ("pretrian", "pretrain"), ("a2c", "")],
)  # fmt: skip
def test_a_command_that_is_nearly_one_is_guessed(capsys, word, near):
    said = refused(capsys, word, "--task", "addition")
    meant = f"; did you mean {near}?" if near else "."
    assert said.startswith(f"invalid choice: {word!r}{meant} The commands are pretrain, vanilla, reinforce,")
    assert all(f" {name}" in said for name in ALGORITHMS) and said.endswith("--help lists the options)\n")


def test_help_shows_the_fields_as_they_are_typed(capsys):
    with pytest.raises(SystemExit):
        command.main(["dapo", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    (has,) = re.findall(r"dapo has (weight=.*?overlong=\S+)", said)
    found = Algorithm("dapo", named("dapo").source, **chosen(has.split()))
    assert found == named("dapo") and "whiten=false" in has and "norm=none" in has


def test_settings_say_what_differs_where_one_of_two_cards_has_less_or_more():
    made = plan("addition")
    card = json.loads(json.dumps(made.as_dict()))
    assert made.differences(card) == ""
    card["algorithm"] |= {"tau": 0.5}
    del card["algorithm"]["lam"]
    assert made.differences(card) == "lam None, not 1.0, tau 0.5, not None"
    assert replace(made, room=4).differences(made.as_dict()) == "room 0, not 4"
