"""A device that is not there, asked for at every door: a sentence before anything starts; "auto" takes what there is."""

import pytest
import recordings as recordings_tool
import torch
from commands_by_hand import answer
from doors_by_hand import parameters, public
from refusals import check

from pglab import lm, training
from pglab.lm import devices
from pglab.museum import faults
from pglab.training import command, stale

pytestmark = pytest.mark.usefixtures("one_thread")

PRETRAINING = training.Pretraining("addition", examples=20, steps=1, batch=4, warmup=0, width=8, heads=2)
PLAN = training.plan("addition", prompts=2, group_size=4, steps=1)


def last(rows):
    return list(rows)[-1]


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    return lm.export(lm.load("addition", "cpu"), folder := tmp_path_factory.mktemp("out")) and folder


# Every public function or class that takes a device, and a call of it that does something there.
DOORS = {
    "lm.choose_device": lambda name, at: torch.ones(1, device=lm.choose_device(name)),
    "lm.load": lambda name, at: lm.load("addition", name)(torch.tensor([[1]], device=lm.choose_device(name))),
    "lm.from_export": lambda name, at: lm.from_export(at, name).norm.weight.sum(),
    "training.pretrain": lambda name, at: training.pretrain(PRETRAINING, None, name, False, prompts=2),
    "training.post_train": lambda name, at: training.post_train(PLAN, None, name, False, prompts=2),
    "training.Trainer": lambda name, at: last(training.Trainer(PLAN, name)),
    "training.StaleTrainer": lambda name, at: last(stale.StaleTrainer(PLAN, name)),
    "museum.faults.trainer": lambda name, at: last(faults.trainer("shift_off_by_one", PLAN, name)),
}
COMMANDS = {
    "pretrain": (command.main, ["pretrain", "--task", "addition"]),
    "grpo": (command.main, ["grpo", "--task", "addition"]),
    "recordings": (recordings_tool.main, ["knobs"]),
}
each_door = pytest.mark.parametrize("door", DOORS)


def test_no_door_is_forgotten():
    found = {name for name, thing in public().items() if "device" in parameters(thing)}
    found -= {"recordings.Recording"}  # there it is a word of the file
    assert len(found) >= 6 and found <= set(DOORS)


@pytest.fixture
def no_gpu(monkeypatch):
    """As on a laptop, wherever this runs."""
    monkeypatch.setattr(devices, "count", lambda kind: int(kind == "cpu"))


@each_door
@pytest.mark.parametrize("name, words", [
    ("cuda", "device is 'cuda', which needs an NVIDIA GPU and a torch built with CUDA (`make env TORCH=cuda`"),
    ("cuda:1", "device is 'cuda', which needs an NVIDIA GPU"),
    ("mps", "device is 'mps', which needs a Mac with an Apple GPU; this machine offers none"),
    ("nonsense", "device is 'nonsense'; it must be one of auto, cpu, cuda, mps, or cuda:1 and so on."),
    ("", "device is ''; it must be one of auto, cpu, cuda, mps"),
    (None, "device is None; it must be one of auto, cpu, cuda, mps"),
    (0, "device is 0; it must be one of auto, cpu, cuda, mps"),
])  # fmt: skip
def test_what_is_not_there_is_refused_in_words(no_gpu, exported, door, name, words):
    check(lambda: DOORS[door](name, exported), words)


@each_door
def test_auto_takes_what_there_is(exported, door):
    assert DOORS[door]("auto", exported) is not None


@each_door
def test_auto_is_the_cpu_where_there_is_nothing_else(no_gpu, exported, door):
    assert DOORS[door]("auto", exported) is not None


@pytest.mark.parametrize("name", ["cuda", "mps", "nonsense", "cuda:9"])
@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_says_it_in_one_line_and_nothing_is_begun(
    no_gpu, capsys, monkeypatch, tmp_path, words, name
):
    monkeypatch.chdir(tmp_path)
    main, start = COMMANDS[words]
    code, out, err = answer(main, capsys, *start, "--device", name)
    assert code == 2 and err.count("\n") == 1 and err.startswith(f"device is '{name.partition(':')[0]}")
    assert list(tmp_path.iterdir()) == []
