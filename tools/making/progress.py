"""Installing, with one line to look at instead of pip's hundreds."""

import collections
import os
import queue
import re
import shutil
import subprocess
import sys
import threading
import time

from making import places


class Progress:
    """One line, rewritten in place on a terminal; elsewhere an occasional plain line."""

    def __init__(self, total):
        self.total, self.seen, self.label, self.start = total, set(), "", time.time()
        self.live = sys.stdout.isatty()

    def read(self, line):
        """Learn from a line of pip's output where it has got to."""
        package = re.match(r"(?:Collecting|Requirement already satisfied:|Ignoring) ([\w.-]+)", line.strip())
        package = package or re.match(r"Processing .*[/\\](\w+)-", line.strip())
        download = re.match(r"Downloading \S*?([^/\s]+?)-\d\S* (\(.*\))", line.strip())
        if package:
            name = package.group(1).lower().replace("_", "-")
            fresh = name not in self.seen
            self.seen.add(name)
            self.say(name, worth_a_line=fresh and len(self.seen) % 25 == 0)
        elif download:
            self.say("downloading {} {}".format(*download.groups()))
        elif line.startswith("Installing collected packages"):
            self.say("unpacking", worth_a_line=True)

    def say(self, label, worth_a_line=False):
        self.label = label
        if worth_a_line and not self.live:
            print(self.line(), flush=True)

    def line(self):
        return f"  [{len(self.seen):3}/{self.total}] {time.time() - self.start:4.0f} s  {self.label}"

    def show(self, text):
        if self.live:
            width = shutil.get_terminal_size().columns - 1
            print("\r" + text[:width].ljust(width), end="\r", flush=True)


def ticking(stream, seconds=0.5):
    """The stream's lines as they come, and None whenever it has been silent for a while."""
    lines = queue.Queue()

    def read():
        for line in stream:
            lines.put(line)
        lines.put("")

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=seconds)
        except queue.Empty:
            line = None
        if line == "":
            return
        yield line


def started(command, env):
    """The command, with nobody to answer its questions, and all it says in one stream."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    as_text = {"encoding": "utf-8", "errors": "replace"}
    return subprocess.Popen(command, cwd=str(places.ROOT), env=env, **streams, **as_text)


def watch(progress, *command):
    """Run an installer behind a progress line; if it fails, show the end of what it said."""
    quiet = dict(os.environ, PIP_PROGRESS_BAR="off", PIP_NO_INPUT="1", PIP_DISABLE_PIP_VERSION_CHECK="1")
    tail = collections.deque(maxlen=25)
    with places.LOG.open("a", encoding="utf-8") as log, started(command, quiet) as process:
        try:
            for line in ticking(process.stdout):
                if line:
                    tail.append(line)
                    log.write(line)
                    progress.read(line)
                progress.show(progress.line())
        except KeyboardInterrupt:
            process.terminate()
            raise
        finally:
            progress.show("")
    if process.returncode:
        sys.exit(
            "".join(tail)
            + f"\nThe install did not finish; all that was said is in {places.VENV.name}/{places.LOG.name}."
            "\nIf it was the network (behind a proxy? set HTTPS_PROXY), the same command goes on from here."
            "\nIf not, `make clean` (or `python make.py clean`) and the same command start afresh."
        )
