#!/usr/bin/env python3
"""Every habit of this project is one word:  make WORD  or, the same without make,  python make.py WORD.

Only the standard library, and no syntax newer than Python 3.6: an old Python must be able to
read this file, at least as far as the message that says it is too old.
"""

import collections
import hashlib
import importlib.util
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from pathlib import Path

OLDEST, NEWEST = (3, 11), (3, 14)  # requires-python says the same; a test holds them together
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
INSTALLED_APART = re.compile(r"(torch|triton|nvidia-[\w-]+|cuda-[\w-]+)==")
PEERS_HEADER = """\
# Made by `make lock`: what the extra `peers` needs on top of requirements.lock; `make peers` installs it.
"""
LOCK_HEADER = """\
# Made by `make lock` (uv pip compile --universal): every package on every platform; not for editing.
# torch is not here: make.py installs it apart, since its CUDA packages weigh gigabytes.
"""


def python_in(folder):
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


ROOT = Path(__file__).resolve().parent
LOCK, PROJECT, FIRST = ROOT / "requirements.lock", ROOT / "pyproject.toml", ROOT / "notebooks/00_start_here.ipynb"
PEERS = ROOT / "requirements-peers.lock"
VENV = ROOT / ".venv"
PYTHON, STAMP, LOG = python_in(VENV), VENV / "complete.json", VENV / "install.log"


# ---- Is this Python good enough, and which torch is wanted?


def refusal(version, word="lab"):
    """Why this version of Python will not do, and what will; None if it will."""
    if OLDEST <= tuple(version[:2]) <= NEWEST:
        return None
    found = [minor for minor in range(NEWEST[1], OLDEST[1] - 1, -1) if shutil.which(f"python3.{minor}")]
    minor, this = (found or [12])[0], ".".join(map(str, version[:3]))
    source = f"You have python3.{minor}; say" if found else "Get one from https://www.python.org/downloads/ and say"
    return (f"This project needs Python 3.{OLDEST[1]} to 3.{NEWEST[1]}; this is Python {this} ({sys.executable}).\n"
            f"{source}"
            f"\n    make {word} PYTHON=python3.{minor}\nor, on Windows,\n    py -3.{minor} make.py {word}")


def has_nvidia_driver():
    return bool(shutil.which("nvidia-smi")) or os.path.exists("/proc/driver/nvidia")


def torch_index(environ):
    """Where torch may come from besides the default index; "" for nowhere else."""
    if "TORCH_INDEX" in environ:
        return environ["TORCH_INDEX"]
    choice = environ.get("TORCH") or ("cuda" if has_nvidia_driver() else "cpu")
    if choice not in ("cuda", "cpu"):
        sys.exit(f"TORCH is {choice!r}: it can be cuda or cpu.")
    return CPU_INDEX if choice == "cpu" else ""


def torch_arguments(environ):
    """What pip is told about torch. An index that cannot be reached must not hold anyone up for minutes."""
    import tomllib  # new in 3.11, hence not at the top

    wanted = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["dependencies"]
    pin = next(requirement for requirement in wanted if requirement.startswith("torch=="))
    index = torch_index(environ)
    elsewhere = ["--extra-index-url", index, "--retries", "1", "--timeout", "15"] if index else []
    return [pin, "-c", LOCK.name, *elsewhere]


# ---- The stamp: written last, so that an interrupted install is never taken for a finished one


def fingerprint():
    """Changes when .venv must be brought up to date (ROOT: the folder may have been moved or copied)."""
    parts = [LOCK.read_bytes(), PROJECT.read_bytes(), b"%d.%d" % sys.version_info[:2], str(ROOT).encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def read_stamp():
    try:
        return dict(json.loads(STAMP.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def write_whole(path, text):
    """The file has its old content or its new one, never half of it."""
    fresh = path.with_name(path.name + ".new")
    fresh.write_bytes(text.encode())
    fresh.replace(path)


def installed():
    """What lies in site-packages, by name: enough to notice that something has gone since."""
    return sorted(path.name for path in site_packages().glob("*") if path.name != "__pycache__")


def site_packages():
    return Path(sysconfig.get_path("purelib", "venv", {"base": str(VENV)}))


def is_damaged():
    """Has something that a finished install put there been deleted?"""
    names = read_stamp().get("installed", [])
    return not all((site_packages() / name).exists() for name in names)


def torch_differs(stamp, environ):
    """Another torch was asked for; who asks for none in particular keeps the one there is."""
    asked = environ.get("TORCH") or environ.get("TORCH_INDEX")
    return bool(asked) and stamp.get("torch") != torch_arguments(environ)


def is_complete(environ):
    stamp = read_stamp()
    return stamp.get("fingerprint") == fingerprint() and not torch_differs(stamp, environ)


# ---- Installing, with one line to look at instead of pip's hundreds


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
    threading.Thread(target=lambda: [lines.put(line) for line in stream] + [lines.put("")], daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=seconds)
        except queue.Empty:
            line = None
        if line == "":
            return
        yield line


def watch(progress, *command):
    """Run an installer behind a progress line; if it fails, show the end of what it said."""
    quiet = dict(os.environ, PIP_PROGRESS_BAR="off", PIP_NO_INPUT="1", PIP_DISABLE_PIP_VERSION_CHECK="1")
    tail = collections.deque(maxlen=25)
    with LOG.open("a", encoding="utf-8") as log, subprocess.Popen(
            command, cwd=str(ROOT), env=quiet, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, encoding="utf-8", errors="replace") as process:
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
        sys.exit("".join(tail) + f"\nThe install did not finish; all that was said is in {VENV.name}/{LOG.name}."
                 "\nIf it was the network (behind a proxy? set HTTPS_PROXY), the same command goes on from here."
                 "\nIf not, `make clean` (or `python make.py clean`) and the same command start afresh.")


def pip(progress, *arguments):
    watch(progress, str(PYTHON), "-m", "pip", *arguments)


def venv_works():
    """Does .venv's Python start, with pip, and is it of this Python's minor version?"""
    probe = f"import pip, sys; sys.exit(sys.version_info[:2] != {sys.version_info[:2]})"
    try:
        return subprocess.call([str(PYTHON), "-c", probe], stderr=subprocess.DEVNULL) == 0
    except OSError:
        return False


def pins(lock):
    """The lines of a lock that name a package."""
    return re.findall(r"(?m)^[^#\s].*$", lock.read_text(encoding="utf-8"))


def make_venv(progress):
    if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        sys.exit("This Python lacks its venv module. On Debian or Ubuntu:\n"
                 f"    sudo apt install python3.{sys.version_info[1]}-venv")
    if VENV.exists():
        shutil.rmtree(str(VENV))
    VENV.mkdir()
    progress.say(VENV.name)
    watch(progress, sys.executable, "-m", "venv", str(VENV))


def forget_half_installed():
    """pip, stopped while unpacking, may leave a package that looks installed: without INSTALLER it is not."""
    for info in site_packages().glob("*.dist-info"):
        if not (info / "INSTALLER").exists():
            shutil.rmtree(str(info))


def ready():
    """Make or complete .venv; instant when there is nothing to do."""
    torch = torch_arguments(os.environ)  # first, for it may object
    works = venv_works() and not is_damaged()
    if works and is_complete(os.environ):
        return
    print("Installing into .venv: minutes the first time, seconds later. Ctrl-C is safe.", flush=True)
    progress = Progress(total=2 + len(pins(LOCK)))
    if not works:
        make_venv(progress)
    before = read_stamp()
    if STAMP.exists():
        STAMP.unlink()
    forget_half_installed()
    pip(progress, "install", "--no-deps", "-r", LOCK.name)
    if torch_differs(before, os.environ):
        pip(progress, "uninstall", "--yes", "torch")  # or pip takes the torch that is there for the one asked for
    progress.say("torch", worth_a_line=True)
    pip(progress, "install", *torch)
    pip(progress, "install", "--no-deps", "--no-build-isolation", "-e", ".")
    write_whole(STAMP, json.dumps({"fingerprint": fingerprint(), "torch": torch, "installed": installed()}))
    print(f"Installed in {time.time() - progress.start:.0f} s.", flush=True)


def peers_ready():
    """Complete .venv, and put the extra `peers` beside it; instant when there is nothing to do."""
    ready()
    lock, stamp = hashlib.sha256(PEERS.read_bytes()).hexdigest(), read_stamp()
    if stamp.get("peers") == lock:
        return
    print("Installing the extra `peers` (transformers, TRL and what they need): a minute or two. Ctrl-C is safe.",
          flush=True)
    progress = Progress(total=len(pins(PEERS)))
    forget_half_installed()
    pip(progress, "install", "--no-deps", "-r", PEERS.name)
    write_whole(STAMP, json.dumps(dict(stamp, peers=lock, installed=installed())))
    print(f"Installed in {time.time() - progress.start:.0f} s.", flush=True)


# ---- The words. Each gets what stands after it on the command line, and returns an exit code


def run(*arguments, **settings):
    """Run a tool with .venv's Python, as if .venv were activated; its exit code is ours."""
    ready()
    path = str(PYTHON.parent) + os.pathsep + os.environ.get("PATH", "")
    signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C is the tool's to answer; this only waits for it
    code = subprocess.call([str(PYTHON), *arguments], cwd=str(ROOT),
                           env=dict(os.environ, PATH=path, VIRTUAL_ENV=str(VENV), **settings))
    return code if code >= 0 else 128 - code


def env(more):
    ready()
    print(f"{VENV.name} is ready.")
    return 0


def lab(more):
    ready()
    first = [f"--LabApp.default_url=/lab/tree/{FIRST.name}"] if FIRST.exists() else []
    root = ["--allow-root"] if getattr(os, "getuid", lambda: 1)() == 0 else []
    where = "to start" if "--no-browser" in more else "to open in your browser"
    print(f"JupyterLab is about {where}. Ctrl-C here, twice, stops it.", flush=True)
    return run("-m", "jupyterlab", f"--ServerApp.root_dir={FIRST.parent}", *first, *root, *more)


def test(more):
    return run("-m", "pytest", "--nbval", "tests", "notebooks", *more, PGLAB_PROGRESS="off")


def checkpoints(more):
    one = any(word == "--task" or word.startswith("--task=") for word in more)
    device = ["--device", os.environ["DEVICE"]] if os.environ.get("DEVICE") else []
    return run("-m", "pglab.training", "pretrain", *([] if one else ["--all"]), *device, *more)


def recorded(more):
    device = ["--device", os.environ["DEVICE"]] if os.environ.get("DEVICE") else []
    return run("tools/recordings.py", *device, *more)


def peers(more):
    peers_ready()
    print("The extra `peers` is ready.")
    return 0


def peers_bench(more):
    peers_ready()
    return run("tools/bench_peers.py", *more)


def lock(more):
    with tempfile.TemporaryDirectory() as folder:
        uv = [str(python_in(Path(folder))), "-m", "uv", "pip", "compile", "--quiet", "--universal"]
        uv += ["--fork-strategy", "fewest", "--no-annotate", "--no-header", "--extra", "test", "--extra", "classroom"]
        uv += ["--python-version", "%d.%d" % OLDEST]  # noqa: UP031
        subprocess.check_call([sys.executable, "-m", "venv", folder])
        subprocess.check_call([uv[0], "-m", "pip", "install", "--quiet", "uv"])

        def compiled(*options):
            said = subprocess.check_output([*uv, PROJECT.name, *options, *more], cwd=str(ROOT), encoding="utf-8")
            return [pin for pin in said.splitlines(True) if not INSTALLED_APART.match(pin)]

        write_whole(LOCK, LOCK_HEADER + "".join(compiled()))
        extra = compiled("--extra", "peers", "-c", LOCK.name)
    known = {name_of(pin) for pin in pins(LOCK)}
    write_whole(PEERS, PEERS_HEADER + "".join(pin for pin in extra if name_of(pin) not in known))
    return 0


def name_of(pin):
    return pin.split("==")[0]


def clean(more):
    for pattern in (".venv", "build", "dist", ".*_cache", "[!.]*/**/__pycache__", "[!.]*/**/.ipynb_checkpoints"):
        for folder in list(ROOT.glob(pattern)):
            shutil.rmtree(str(folder))
    return 0


def show_help(more):
    print("make WORD, or python make.py WORD, or on Windows py make.py WORD:\n")
    print("\n".join(f"  {word:11} {says}" for word, (says, _) in WORDS.items()))
    print('\nMore for the tool behind a word:  make test ARGS="-k bandit",  python make.py test -k bandit'
          "\nAnother Python, another torch:    make lab PYTHON=python3.12,  make lab TORCH=cuda (or cpu)"
          "\nAnother device:                   make checkpoints DEVICE=cuda (or cpu, mps)"
          "\nOne of the recordings:            make recordings ARGS=knobs,  python make.py recordings knobs")
    return 0


WORDS = {
    "lab": ("open the notebooks in JupyterLab", lab),
    "test": ("run everything that CI runs: the tests, and every notebook against its stored outputs", test),
    "quick": ("the same without the slow tests and the browser's",
              lambda more: test(["-m", "not slow and not browser", *more])),
    "render": ("run the notebooks and store their outputs", lambda more: run("tools/render.py", *more)),
    "bench": ("time what a reader waits for", lambda more: run("tools/bench.py", *more)),
    "drawings": ("make the committed drawings again", lambda more: run("tools/drawings.py", *more)),
    "checkpoints": ("pretrain the models in data/ again (minutes)", checkpoints),
    "recordings": ("record the experiments in data/recordings/ again (an hour; a name: that one)", recorded),
    "peers": ("install TRL and transformers beside it, which notebook 11 hands over to", peers),
    "peers-bench": ("race their sampler and their GRPO step, on the same weights and work", peers_bench),
    "env": ("make or complete .venv (the words above do so by themselves)", env),
    "lock": ("pin in both locks the newest versions that pyproject.toml allows", lock),
    "clean": ("remove .venv and the caches, nothing of yours", clean),
    "help": ("say this", show_help),
}


def main(arguments):
    word = arguments[0] if arguments else "help"
    objection = refusal(sys.version_info, word)
    if objection:
        sys.exit(objection)
    if word not in WORDS:
        print(f"There is no {word!r} here.\n")
        show_help([])
        return 2
    try:
        return WORDS[word][1](arguments[1:])
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on from here.")
        return 130
    except subprocess.CalledProcessError as failure:  # it has said why itself
        return failure.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
