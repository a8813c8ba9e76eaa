"""An error of a command becomes an exit code and a sentence, for all commands alike."""

import errno
import os

import pytest

from pglab import _commands
from pglab.lm import __main__ as hand_over


def ends(error):
    def run(options):
        raise error

    return run


@pytest.mark.parametrize(
    "error, code, sentence",
    [
        (ValueError("clip is 3; it must be less."), 2, "clip is 3; it must be less."),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "a.bin"), 1, "No space left on device"),
        (OSError("no number"), 1, "no number"),
        (KeyboardInterrupt(), 130, "Stopped."),
        (KeyboardInterrupt("Stopped at step 3."), 130, "Stopped at step 3."),
    ],
)
def test_each_error_has_its_exit_code_and_says_why(error, code, sentence):
    assert _commands.outcome(ends(error), "options") == (code, sentence)


def test_a_command_that_ends_well_says_nothing_more():
    assert _commands.outcome(lambda a, b: a - b, 3, 3) == (0, "")
    assert _commands.outcome(lambda: 1) == (1, "")


def test_a_fault_of_ours_is_not_hidden():
    with pytest.raises(ZeroDivisionError):
        _commands.outcome(lambda: 1 / 0)


def test_ctrl_c_ends_a_hand_over_without_a_traceback(monkeypatch, capsys):
    monkeypatch.setattr(hand_over, "export", ends(KeyboardInterrupt()))
    monkeypatch.setattr(hand_over, "load", lambda *_: None)
    monkeypatch.setattr(hand_over, "read_card", ends(KeyboardInterrupt()))
    assert hand_over.main(["export", "addition"]) == 130
    assert capsys.readouterr().err == "Stopped.\n"


def test_a_bad_choice_is_one_line(capsys):
    with pytest.raises(SystemExit) as stop:
        _commands.Parser(prog="a tool").parse_args(["--nothing"])
    assert stop.value.code == 2
    assert capsys.readouterr().err == "unrecognized arguments: --nothing (a tool --help lists the options)\n"
