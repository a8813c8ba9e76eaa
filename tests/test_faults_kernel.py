"""The square button in the middle of training, in a real kernel: a clean stop, and the same cell again ends well."""

import json

import pytest
from kernels_by_hand import cell_with, cells, kernel, wait_for

from pglab import training

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]

LIVE = cell_with("08", "first_run = training.Trainer(")
# Steps are slowed down a little, and one leaves a file behind: the button is pressed while training goes on.
SLOWLY = """
import time
from pathlib import Path
def slowly(name, at, one):
    def step(self, *given):
        time.sleep(0.01)
        if self.step >= at:
            Path(name).touch()
        return one(self, *given)
    return step
"""
KEPT = """
def train(folder="out"):
    return training.post_train(training.plan("addition"), f"{folder}/a.safetensors", "cpu", False, prompts=8)
"""


@pytest.fixture(scope="module")
def whole():
    """The undisturbed run of notebook 08's live cell."""
    run = training.Trainer(training.plan("addition"))
    return untimed(list(run))


def untimed(rows):
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]


@pytest.fixture
def running(tmp_path):
    """A kernel in an empty folder, in which notebook 08 has begun, and steps are slow."""
    with kernel(tmp_path) as running:
        running.says(cells("08")[0])
        running.says(SLOWLY)
        yield running


def pressed(running, code, mark):
    """What a cell answers whose kernel is interrupted as soon as it leaves its mark."""
    request = running.start(code)
    wait_for(mark)
    running.interrupt()
    return running.end(request)


def test_a_live_cell_is_interrupted_and_run_again(running, tmp_path, whole):
    slow = 'training.Trainer.advance = slowly("seen", 10, training.Trainer.advance)'
    running.says(slow)
    assert pressed(running, LIVE, tmp_path / "seen") == ("KeyboardInterrupt", "")
    steps, pictures, frame = json.loads(
        running.says(
            "import json; print(json.dumps([len(first_run.rows), live.pictures, live._drawing.frame]))"
        )
    )
    assert 10 <= steps < 40 and pictures >= 1 and json.loads(frame)["elements"]
    assert running.run(LIVE)[0] is None
    said = "print(json.dumps([first_run.rows, live._drawing.frame]))"
    rows, frame = json.loads(running.says(said))
    assert untimed(rows) == json.loads(json.dumps(whole))
    running.says("look = sliders.Live(lambda rows: figures.watch([rows], last=10_500), show=False)")
    assert running.says("look.finish(first_run.rows); print(look._drawing.frame)").strip() == frame
    assert [path.name for path in tmp_path.iterdir()] == ["seen"]


def test_a_run_that_writes_is_interrupted_and_gone_on_with(running, tmp_path, whole):
    running.says(KEPT)
    running.says('training.Trainer.advance = slowly("seen", 20, training.Trainer.advance)')
    error, said = pressed(running, "made = train()", tmp_path / "seen")
    assert error == "Interrupted" and "kept in a.unfinished: the same command goes on from there." in said
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a.unfinished"]
    said = running.says("made = train()")
    assert "Going on from step" in said and "made" not in said
    rows = json.loads(running.says("import json; print(json.dumps(made.rows))"))
    assert untimed(rows) == json.loads(json.dumps(whole))
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["a.json", "a.jsonl", "a.safetensors"]


def test_pretraining_is_interrupted_and_gone_on_with(running, tmp_path):
    few = "examples=400, steps=60, batch=8, warmup=4, width=8, heads=2"
    running.says(f'settings = training.Pretraining("addition", {few})')
    running.says("from pglab.training import run; run.Run.several = slowly('seen', 5, run.Run.several)")
    train = 'made = training.pretrain(settings, "out/b.safetensors", "cpu", False, prompts=8)'
    running.says("run.REPORT = 3")  # steps between two looks
    error, said = pressed(running, train, tmp_path / "seen")
    assert error == "Interrupted" and "b.unfinished" in said
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["b.unfinished"]
    assert "Going on from step" in running.says(train)
    again = 'whole = training.pretrain(settings, None, "cpu", False, prompts=8)'
    running.says(again)
    assert running.says("print(made.losses == whole.losses)").strip() == "True"


def test_a_damaged_checkpoint_is_told_and_the_kernel_lives(running):
    error, said = running.run('lm.load("additon")')
    assert error == "ValueError" and "There is no additon.json" in said and "git checkout data" in said
    assert running.says("print(1 + 1)") == "2\n"
