"""Each explorer alone, large enough for a projector, through Voila: no code, a link for each lesson.

    make app                           builds them into build/app, starts a server, opens the browser
    make app ARGS=--no-browser         the same, and says where to look
    make app ARGS=--build              builds and starts nothing

A server shows them to this machine only; VOILA_ARGS in the environment goes to Voila as it is.
"""

import argparse
import html
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import nbformat

from classroom.explorers import explorers
from classroom.lesson import ROOT, lessons
from classroom.mathml import with_mathml

HERE = Path(__file__).parent
OUT = ROOT / "build" / "app"
HOW_IN_LAB = re.compile(
    r"\((?:No sliders|Panels below)[^)]*\)|`Ctrl`\+`B`[^.]*\. |If you see no sliders[^.]*\."
)
TEMPLATES = Path("templates") / "voila" / "templates" / "stage"  # where Voila looks, below JUPYTER_PATH


def notebook_of(found):
    """A notebook that holds one explorer, and below it the questions of its lesson."""
    heading = f"# {found.title}\n\n{found.lesson.number} {found.lesson.title}"
    cells = [
        nbformat.v4.new_markdown_cell(heading, id="heading"),
        nbformat.v4.new_code_cell(found.program, id="explorer"),
        nbformat.v4.new_markdown_cell(with_mathml(HOW_IN_LAB.sub("", found.questions)), id="questions"),
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return nbformat.v4.new_notebook(cells=cells, metadata=kernel | {"title": found.title})


def build(out=OUT):
    """Write a notebook for each explorer and the page of links; [what was found]."""
    every = [found for lesson in lessons() for found in explorers(lesson)]
    templates = out / TEMPLATES
    templates.mkdir(parents=True, exist_ok=True)
    for found in every:
        nbformat.write(notebook_of(found), out / found.file)
    for name in ("conf.json", "index.html.j2"):
        shutil.copy(HERE / "stage" / name, templates / name)
    (templates / "tree-lab.html").write_text(_contents(every), encoding="utf-8")
    return every


def _contents(every):
    """The page of links, one group for each lesson."""
    groups = []
    for lesson in dict.fromkeys(found.lesson for found in every):
        links = "\n".join(
            f'<li><a href="{{{{ page_config.baseUrl }}}}voila/render/{found.file}">{html.escape(found.title)}</a></li>'
            for found in every
            if found.lesson == lesson
        )
        groups.append(f"<h2>{lesson.number} {html.escape(lesson.title)}</h2>\n<ul>\n{links}\n</ul>")
    page = (HERE / "stage" / "contents.html").read_text(encoding="utf-8")
    return page.replace("<!-- explorers -->", "\n".join(groups))


def command(out=OUT, *more):
    """(what starts the server, its environment)."""
    arguments = [
        sys.executable, "-m", "voila", str(out), "--template=stage", "--theme=light",
        "--VoilaConfiguration.file_allowlist=.*\\.(png|jpg|svg)",
        "--Voila.ip=127.0.0.1", *more,
    ]  # fmt: skip
    path = os.pathsep.join(filter(None, [str(out / "templates"), os.environ.get("JUPYTER_PATH")]))
    return arguments, {**os.environ, "JUPYTER_PATH": path, "PGLAB_PROGRESS": "off"}


def _taken(port):
    """Why nothing can listen there, in words; None if it can."""
    if not 1 <= port <= 65535:
        return f"--port {port} is no port; choose one from 1024 to 65535."
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            return f"Port {port} cannot be used ({error.strerror}); choose another with --port."
    return None


def main(arguments):
    parser = argparse.ArgumentParser(prog="make app", description="Each explorer alone, for the projector.")
    parser.add_argument("--build", action="store_true", help="only write build/app")
    parser.add_argument("--no-browser", action="store_true", help="start the server, open no browser")
    parser.add_argument("--port", type=int, default=8866, help="where the server listens (8866)")
    chosen = parser.parse_args(arguments)
    if not chosen.build and (problem := _taken(chosen.port)):
        print(problem, file=sys.stderr)
        return 2
    found = build()
    print(f"{len(found)} explorers in {OUT.relative_to(ROOT)}.", flush=True)
    if chosen.build:
        return 0
    print(f"They are at http://localhost:{chosen.port}/ ; Ctrl-C stops the server.", flush=True)
    more = [f"--port={chosen.port}", *(["--no-browser"] if chosen.no_browser else [])]
    line, environment = command(OUT, *more, *shlex.split(os.environ.get("VOILA_ARGS", "")))
    return subprocess.call(line, env=environment)
