"""A command called in this process: what it answers, and what it would start."""

from pglab.training import command as training


def answer(main, capsys, *words):
    """(exit code, what a command prints, what it complains of): never a traceback."""
    try:
        code = main(list(words))
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    return code, out, err


def refused(main, capsys, *words, silent=False):
    """The one line that a command answers a bad choice with; ``silent``: and it has printed nothing before."""
    code, out, err = answer(main, capsys, *words)
    assert code == 2 and err.count("\n") == 1 and err[0] != "\n", (code, out, err)
    assert not (silent and out), out
    return err


def asked(monkeypatch, *words):
    """What ``post_train`` is called with: (settings, path, device, {the rest})."""
    made = []

    def catch(*given, **more):
        made.append((*given, more))
        raise ValueError("enough")

    monkeypatch.setattr(training, "post_train", catch)
    assert training.main(list(words)) == 2
    return made[0]
