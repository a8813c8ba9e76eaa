"""The prose is spelled right, and British: documents, notebooks, comments, docstrings, messages."""

import re
import subprocess
import sys
from importlib import resources

import nbformat
import pytest
from conftest import ROOT, code_files, files
from prose import prose

# What codespell takes for a mistake, and why it is none.
NAMES = {
    "Ba": "Jimmy Ba, of Kingma and Ba 2015",
    "additon": "a name that does not exist, in a test of messages",
}
DATA = resources.files("codespell_lib") / "data" / "dictionary_en-GB_to_en-US.txt"
# American words that are British ones too, in the sense that they have here.
BOTH = {
    "biased": "British dictionaries have it before biassed",
    "dialog": "JupyterLab's name for its window",
    "license": "the name of a file; a verb",
    "math": "Python's module",
    "practice": "the noun",
    "program": "of a computer",
    "story": "a tale",
}
QUOTED = ["unrecognized arguments", "simulation of color vision deficiency"]  # argparse says it; a title
SOURCES = re.compile(
    r"(?ms)^\s*(\*\*Sources\.\*\*|Sources?:).*?(?=\n\s*\n|\Z)"
)  # titles are spelled as they are
Z_FOR_S = re.compile(r"\b(?!(?:re|f)?siz|priz|seiz|tokeniz)[a-z]+iz(?:e[ds]?|ers?|ing|ations?)\b", re.I)
TEXTS = files("*.md", "*.ipynb", "*.toml", "*.yml", "*.cff") + code_files()
TEXTS = [path for path in TEXTS if path.name != "test_spelling.py"]  # its mistakes are planted


def misspelled(folder):
    command = [sys.executable, "-m", "codespell_lib", "--builtin", "clear,rare,names"]
    command += ["--ignore-words-list", ",".join(NAMES), folder]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=folder, timeout=120
    ).stdout.splitlines()


def american(text):
    """The words that have a British twin, in their order."""
    text = SOURCES.sub(" ", text)
    for words in QUOTED:
        text = text.replace(words, " ")
    words = re.findall(r"[A-Za-z]+", text)
    return [word for word in words if word.lower() in TWINS or Z_FOR_S.fullmatch(word)]


def british():
    """{American word: British twin} of codespell's list."""
    pairs = (line.split("->") for line in DATA.read_text(encoding="utf-8").splitlines() if "->" in line)
    twins = {us.strip(): uk for uk, all_us in pairs for us in all_us.split(",") if us.strip() not in ("", uk)}
    return {us: uk for us, uk in twins.items() if us not in BOTH}


TWINS = british()


@pytest.fixture(scope="module")
def proses():
    return {str(path.relative_to(ROOT)): prose(path) for path in TEXTS}


def test_every_word_is_spelled_right(proses, tmp_path):
    for name, text in proses.items():
        (tmp_path / name.replace("/", " ")).write_text(text, encoding="utf-8")
    assert misspelled(tmp_path) == []


def test_the_spelling_is_british(proses):
    found = {name: american(text) for name, text in proses.items()}
    assert {name: words for name, words in found.items() if words} == {}


def test_all_prose_is_read(proses):
    assert sum(len(text.split()) for text in proses.values()) > 100_000
    assert {"README.md", "make.py", "Makefile", ".ci/run", "pglab/sliders/drawing.js"} < set(proses)
    assert "colour" in proses["CONTRIBUTING.md"] and "colour" in proses["pglab/figures/palette.py"]
    assert len(TWINS) > 500 and TWINS["color"] == "colour"


# ---- What the check would notice

PYTHON = '''
"""A docstring that colour."""
color = center(text_color="gray")  # a comment of behavior
message = f"these words name {color} a neighbor"
'''


def test_a_mistake_is_noticed(tmp_path):
    (tmp_path / "a.txt").write_text("We recieve teh mean of Kingma and Ba.\n")
    assert [line.partition(": ")[2] for line in misspelled(tmp_path)] == [
        "recieve ==> receive",
        "teh ==> the",
    ]


@pytest.mark.parametrize(
    "text, words",
    [
        ("The color is gray, its behavior normalized.", ["color", "gray", "behavior", "normalized"]),
        ("The colour is grey, its behaviour normalised; the size of a tokenizer, in practice.", []),
        ("We lemmatize, vectorized.", ["lemmatize", "vectorized"]),
        ("One more.\n\nSource: Schulman 2017, Proximal policy optimization.\n\nA color.", ["color"]),
        ("**Sources.** *Proximal policy optimization*.", []),
        ("Policy optimization is one thing.", ["optimization"]),
    ],
)
def test_an_american_twin_is_noticed_but_for_titles(text, words):
    assert american(text) == words


@pytest.mark.parametrize(
    "name, text, words",
    [
        ("a.py", PYTHON, ["behavior", "neighbor"]),
        ("a.md", "A `color` $color$ [word](color.md) ``color``.\n\n```\ncolor\n```\n\nA gray.", ["gray"]),
        ("a.js", "let color = 1; // the center\n/* of\n gray */", ["center", "gray"]),
        ("a.css", "p { color: red; } /* a favorite */", ["favorite"]),
        ("a.sh", "color=1  # a theater is gray", ["gray"]),
    ],
)
def test_code_may_call_things_what_it_likes(tmp_path, name, text, words):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert sorted(american(prose(path))) == sorted(words)


def test_notebooks_are_read_cell_by_cell(tmp_path):
    path = tmp_path / "a.ipynb"
    cells = [nbformat.v4.new_markdown_cell("A `color` and a *flavor*."), nbformat.v4.new_code_cell(PYTHON)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    assert sorted(american(prose(path))) == ["behavior", "flavor", "neighbor"]
