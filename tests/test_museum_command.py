"""The museum's command line, as a reader meets it: with a file of his own, in a folder of his own."""

import os
import signal
import subprocess
import sys
import time

import commands_by_hand
import pytest
from conftest import ROOT
from refusals import check

from pglab import losses, museum
from pglab.museum import command
from pglab.museum.examination import report

TOOL = [sys.executable, "-m", "pglab.museum"]
SOURCE = '''"""A reader's own losses."""
import torch
from pglab import losses

def right(logprobs, old_logprobs, advantages, mask):
    print("heard")
    return losses.policy_loss(logprobs, old_logprobs, advantages, mask)

def plain_sum(logprobs, old_logprobs, advantages, mask):
    return losses.policy_loss(logprobs, old_logprobs, advantages, mask, aggregation="sum")

def padded(logprobs, old_logprobs, advantages, mask):
    ratio = (logprobs - old_logprobs).where(mask, 0.0).exp()
    weight = advantages.detach()[:, None]
    return -torch.min(ratio * weight, ratio.clamp(0.8, 1.2) * weight).where(mask, 0.0).mean()

def pair(*batch):
    return right(*batch), {}

def leaves(*batch):
    raise SystemExit("I have\\nseen enough.")

def unbrackets(rewards):
    print("heard")
    return rewards - rewards.mean(1, keepdims=True) / (rewards.std(1, ddof=1, keepdims=True) + 1e-4)

def centred(rewards):
    centre = rewards - rewards.mean(1, keepdims=True)
    return centre / (rewards.std(1, ddof=1, keepdims=True) + 1e-4)

def half_right(rewards, gamma):
    return [2.75, 0, 0]

class Box:
    loss = staticmethod(right)

number = 3
'''


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A folder with a space and an accent in its name; the reader stands in it."""
    folder = tmp_path / "mes épreuves"
    folder.mkdir()
    folder.joinpath("my_losses.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield folder
    for name in [name for name, module in sys.modules.items() if str(folder) in str(_file(module))]:
        del sys.modules[name]


def _file(module):
    return getattr(module, "__file__", None) or ""


def said(capsys, *words):
    return commands_by_hand.answer(command.main, capsys, *words)


def refused(capsys, *words):
    return commands_by_hand.refused(command.main, capsys, *words, silent=True)[:-1]


# ---- In a shell


def shell(folder, *words, python=()):
    env = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    line = [TOOL[0], *python, *TOOL[1:], *words]
    return subprocess.run(line, cwd=folder, env=env, capture_output=True, encoding="utf-8", timeout=120)


def test_a_module_in_the_folder_where_one_stands(mine):
    run = shell(mine, "my_losses:right")
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == report(museum.examine(losses.policy_loss), "my_losses:right") + "\n"


def test_a_file_elsewhere_and_a_mistake(mine):
    run = shell(mine.parent, "mes épreuves/my_losses.py:padded")
    assert (run.returncode, run.stderr) == (1, "")
    assert run.stdout.startswith("mes épreuves/my_losses.py:padded, called as loss(")
    assert "It falls for 1 of 15 exhibits: padded_mean." in run.stdout


def test_a_bad_choice_in_a_shell(mine):
    run = shell(mine, "nowhere:loss")
    assert (run.returncode, run.stdout) == (2, "")
    words = "nowhere could not be imported (ModuleNotFoundError: No module named 'nowhere').\n"
    assert run.stderr == words


@pytest.mark.skipif(os.name == "nt", reason="no such signal")
def test_ctrl_c_ends_a_slow_loss_without_a_traceback(mine):
    mine.joinpath("slow.py").write_text(
        "import pathlib, time\n\ndef loss(*batch):\n    pathlib.Path('begun').touch()\n    time.sleep(60)\n"
    )
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    run = subprocess.Popen([*TOOL, "slow:loss"], cwd=mine, env=env, stdout=-1, stderr=-1, text=True)
    until = time.monotonic() + 60
    while not mine.joinpath("begun").exists() and run.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=60)
    assert (run.returncode, out, err) == (130, "", "\nStopped.\n")


# ---- What is asked for


def test_help_names_the_exit_codes(capsys):
    code, out, err = said(capsys, "--help")
    assert code == 0 and "Exit code 0: all oracle tests pass" in " ".join(out.split()) and err == ""


def test_what_is_missing_or_unknown_is_told_in_one_line(mine, capsys):
    assert refused(capsys) == (
        "which function? Such as python -m pglab.museum my_module:my_loss, or --list for the exhibits."
    )
    assert refused(capsys, "a:b", "c:d").startswith("unrecognized arguments: c:d (python -m pglab.museum --h")
    assert refused(capsys, "--exhibits", "sign").startswith("unrecognized arguments: --exhibits")
    meant = "there is no exhibit 'sgin'. Did you mean sign? python -m pglab.museum --list shows all."
    assert refused(capsys, "--show", "sgin") == meant
    none = "there is no exhibit 'x'. python -m pglab.museum --list shows all."
    assert refused(capsys, "my_losses:right", "--exhibit", "x") == none
    assert refused(capsys, "--show", "15") == "case is 15; it must be from 1 to 14, or a name."
    assert refused(capsys, "--exhibit", "sign").startswith("which function? ")
    for name in ("my_losses", "my_losses:", ":right", "my_losses.right", ""):
        wanted = f"the function is {name!r}; it must be MODULE:FUNCTION, such as my_module:my_loss."
        assert refused(capsys, name) == wanted
    assert refused(capsys, "my_losses:wrong") == "my_losses has no wrong."
    assert refused(capsys, "my_losses:Box.gain") == "my_losses has no Box.gain."
    assert refused(capsys, "my_losses:number") == "my_losses:number is of type int; it must be a function."
    assert refused(capsys, "nowhere.py:loss") == "there is no file nowhere.py."
    assert refused(capsys, "my_losses.inner:loss").startswith("my_losses.inner could not be imported (Mod")
    assert refused(capsys, ".my_losses:right").startswith(".my_losses could not be imported (TypeError: ")


@pytest.mark.parametrize(
    "source, words",
    [
        ("import nothing_like_it", "ModuleNotFoundError: No module named 'nothing_like_it'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("raise SystemExit", "SystemExit"),
        ("import sys; sys.exit('usage:\\n  no')", "SystemExit: usage: no"),
        ("raise RuntimeError('two\\nlines.')", "RuntimeError: two lines"),
        ("def loss(:", "SyntaxError: "),
        ("raise ValueError('x' * 500)", "ValueError: " + "x" * 185 + "..."),
    ],
)
@pytest.mark.parametrize("name", ["broken", "broken.py"])
def test_a_module_that_cannot_be_imported(mine, capsys, source, words, name):
    mine.joinpath("broken.py").write_text(source)
    told = refused(capsys, f"{name}:loss")
    assert told.startswith(f"{name} could not be imported ({words}") and told.endswith(").")


def test_ctrl_c_while_the_reader_s_module_is_loaded(mine, capsys):
    mine.joinpath("halted.py").write_text("raise KeyboardInterrupt\n")
    assert said(capsys, "halted.py:loss") == (130, "", "\nStopped.\n")


# ---- What is found


def test_a_file_is_taken_by_its_path_whatever_it_is_called(mine, capsys):
    """random is a module of Python's own, and has been imported long before."""
    inner = mine / "2 ideas"
    inner.mkdir()
    inner.joinpath("helper.py").write_text("SCALE = 1.0\n")
    for name in ("random.py", "my-loss.py", "a.b.py") + ("a:b.py",) * (os.name != "nt"):
        source = "from dataclasses import dataclass\nfrom helper import SCALE\n\n@dataclass\nclass A:\n    x: 'int' = 1\n"
        inner.joinpath(name).write_text(source + SOURCE)
        assert said(capsys, f"2 ideas/{name}:right")[0] == 0
        assert said(capsys, f"{inner / name}:padded")[0] == 1
    import random

    assert hasattr(random, "Random")


def test_a_name_may_have_dots(mine, capsys):
    assert said(capsys, "my_losses:Box.loss")[0] == 0


def test_what_the_function_prints_is_not_shown(mine, capsys):
    for words in (("my_losses:right",), ("my_losses:unbrackets", "--exhibit", "missing_brackets")):
        _, out, err = said(capsys, *words)
        assert "heard" not in out + err


def test_the_exit_codes_of_losses(mine, capsys):
    assert [said(capsys, f"my_losses:{name}")[0] for name in ("right", "plain_sum", "padded")] == [0, 0, 1]
    assert refused(capsys, "my_losses:pair").startswith("the loss returned something of tuple; it must")
    assert refused(capsys, "my_losses:leaves").startswith(
        "the loss raised SystemExit: I have seen enough. It"
    )
    assert refused(capsys, "my_losses:centred").startswith(
        "the loss raised TypeError: centred() takes 1 posi"
    )
    assert refused(capsys, "my_losses:Box").startswith("the loss is a class, Box; it must be a function.")


# ---- One exhibit


def test_one_exhibit_alone(mine, capsys):
    contract = museum.case("missing_brackets").contract
    asked = ("--exhibit", "missing_brackets")
    assert said(capsys, "my_losses:centred", *asked) == (
        0,
        "my_losses:centred passes the oracle test of missing_brackets: (1.49993, -0.499975, -0.499975, -0.499975).\n",
        "",
    )
    numbers = (
        "(3.50002, -0.499975, -0.499975, -0.499975); right is (1.49993, -0.499975, -0.499975, -0.499975)"
    )
    assert said(capsys, "my_losses:unbrackets", *asked) == (
        1,
        f"my_losses:unbrackets gives {numbers}: the very mistake of this exhibit.\nIts contract: {contract}\n",
        "",
    )


def test_one_exhibit_and_another_mistake(mine, capsys):
    code, out, _ = said(capsys, "my_losses:right", "--exhibit", "sign")
    assert (code, out) == (0, "my_losses:right passes the oracle test of sign: -2.\n")
    code, out, _ = said(capsys, "my_losses:centred", "--exhibit", "batch_statistics")
    assert said(capsys, "my_losses:half_right", "--exhibit", "never_added")[0] == 1
    assert code == 1 and ": not right, by another mistake.\nIts contract: weights(rewards)" in out


@pytest.mark.parametrize(
    "name, exhibit, words",
    [
        ("right", "missing_brackets", "TypeError: right() missing 3 required positional arguments"),
        ("leaves", "sign", "SystemExit: I have seen enough"),
        ("pair", "sign", "NoLoss: the loss returned something of tuple"),
        ("centred", "mean_of_means", "AttributeError: 'list' object has no attribute 'mean'"),
    ],
)
def test_one_exhibit_that_the_function_does_not_fit(mine, capsys, name, exhibit, words):
    code, out, err = said(capsys, f"my_losses:{name}", "--exhibit", exhibit)
    first, second, rest = out.split("\n")
    assert code == 1 and err == rest == "" and first.startswith(f"my_losses:{name} raised {words}")
    assert first[-1] == "." and second == f"Its contract: {museum.case(exhibit).contract}"


# ---- Show and list


def test_a_case_is_shown(capsys):
    for name in ("sign", "set_and_whole"):
        assert said(capsys, "--show", name) == (0, museum.case(name).words() + "\n", "")
    assert said(capsys, "--show", "3") == (0, museum.case(3).words() + "\n", "")


def test_all_exhibits_are_listed_by_what_they_compute(capsys):
    code, out, err = said(capsys, "--list")
    assert code == 0 and err == "" and out.endswith("\npython -m pglab.museum --show NAME opens a case.\n")
    blocks = [block.split("\n") for block in out.strip().split("\n\n")[:-1]]
    assert [block[0] for block in blocks] == list(dict.fromkeys(e.kind for e in museum.EXHIBITS.values()))
    for kind, *lines in blocks:
        inside = [each for each in museum.EXHIBITS.values() if each.kind == kind]
        wanted = [f"  {each.name:20} {each.title}{numbered(each.name)}" for each in inside]
        assert lines == wanted and all(len(each.name) < 20 for each in inside) and max(map(len, lines)) <= 110


def numbered(name):
    return f" ({museum.TOUR.index(name) + 1})" if name in museum.TOUR else ""


def test_a_function_is_found_as_it_would_be_imported(mine):
    assert command.found("my_losses:right").__name__ == "right"
    assert command.found("my_losses.py:right").__name__ == "right"
    check(lambda: command.found("my_losses:nothing"), "my_losses has no nothing.")
