"""make.py: what one sees while it installs."""

import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

PIP_SAYS = """\
Ignoring appnope: markers 'sys_platform == "darwin"' don't match your environment
Requirement already satisfied: Jinja2==3.1.6 in ./.venv (3.1.6)
Collecting jinja2 (from torch)
Processing /some where/argon2_cffi-25.1.0-py3-none-any.whl (from -r requirements.lock (line 6))
Collecting async-lru==2.4.0
Requirement already satisfied: async_lru
Collecting torch==2.13.0
"""


def test_each_package_counts_once(make):
    progress = make.progress.Progress(total=9)
    for line in PIP_SAYS.splitlines(True):
        progress.read(line)
    assert progress.seen == {"appnope", "jinja2", "argon2-cffi", "async-lru", "torch"}
    assert re.match(r" *\[ *5/9\] .* torch$", progress.line())


@pytest.mark.parametrize(
    "line",
    [
        "  Downloading torch-2.13.0-cp311-none-linux.whl (190.2 MB)\n",
        "  Downloading https://a.host/whl/torch-2.13.0%2Bcpu-cp311.whl (190.2 MB)\n",
    ],
)
def test_a_long_download_says_what_and_how_much(make, line):
    progress = make.progress.Progress(total=1)
    progress.read(line)
    assert progress.line().endswith("downloading torch (190.2 MB)")


def test_a_log_file_gets_a_line_now_and_then(make, capsys):
    progress = make.progress.Progress(total=100)
    for number in range(100):
        progress.read(f"Collecting package{number}==1\n")
        progress.read(f"Requirement already satisfied: package{number}\n")
        progress.show(progress.line())
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_a_terminal_gets_one_line_no_wider_than_itself(make, monkeypatch, capsys):
    monkeypatch.setattr(make.shutil, "get_terminal_size", lambda: SimpleNamespace(columns=40))
    progress = make.progress.Progress(total=1)
    progress.live = True
    progress.read("Installing collected packages: one, two\n")
    progress.show("x" * 100)
    progress.show("")
    out = capsys.readouterr().out
    assert "\n" not in out and {len(part) for part in out.split("\r")} == {0, 39}


def test_silence_is_noticed_and_no_line_is_lost(make):
    says = "import time; print('one', flush=True); time.sleep(0.5); print('two')"
    with subprocess.Popen([sys.executable, "-c", says], stdout=subprocess.PIPE, encoding="utf-8") as process:
        heard = list(make.progress.ticking(process.stdout, seconds=0.05))
    assert [line for line in heard if line] == ["one\n", "two\n"]
    assert None in heard[heard.index("one\n") : heard.index("two\n")]


def test_a_failed_install_shows_the_end_of_what_was_said_and_keeps_it_all(make, folder):
    says = "import sys; [print('line', i) for i in range(40)]; sys.exit(1)"
    with pytest.raises(SystemExit) as stop:
        make.progress.watch(make.progress.Progress(total=1), sys.executable, "-c", says)
    message = str(stop.value)
    assert "line 39" in message and "line 14\n" not in message and "install.log" in message
    assert len(make.places.LOG.read_text().splitlines()) == 40
