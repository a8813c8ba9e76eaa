"""Every link of the documents, the notebooks and the code leads somewhere, and every picture has its words."""

import re

import links
import nbformat
import pytest
from conftest import ROOT, code_files, files

DOCUMENTS = files("*.md")
NOTEBOOKS = files("*.ipynb")
TEXTS = files("*.py", "*.js", "*.css", "*.md", "*.toml", "*.yml", "*.cff", "*.lock", "Makefile", "LICENSE")

PLANTED = {"test_links.py", "test_environment.py"}  # they name hosts in order to miss them elsewhere


@pytest.mark.parametrize("path", DOCUMENTS + NOTEBOOKS, ids=lambda path: path.name)
def test_links_and_drawings_exist(path):
    assert links.problems(path) == []


def test_every_document_and_notebook_is_read():
    names = {str(path.relative_to(ROOT)) for path in DOCUMENTS}
    assert {"README.md", "CONTRIBUTING.md", "examples/README.md", "data/README.md"} <= names
    assert len(NOTEBOOKS) == 12
    assert sum(1 for path in NOTEBOOKS for _ in links.links(links.markdown(path))) > 100


def test_outer_links_in_code_are_well_formed():
    found = []
    for path in code_files():
        if path.name in PLANTED:
            continue
        for target in links.OUTER.findall(path.read_text(encoding="utf-8")):
            if not re.search(r"[\\{]", target):  # a pattern or an f-string
                found += links.wrong_outer(target.rstrip(".,;:"))
    assert found == []


def test_no_file_names_where_packages_come_from():
    named = {
        path.name: links.REGISTRY.findall(path.read_text(encoding="utf-8"))
        for path in TEXTS + NOTEBOOKS + [ROOT / ".ci" / "run"]
    }
    assert {name for name, hosts in named.items() if hosts} == PLANTED


# ---- What the check would notice


@pytest.fixture
def page(tmp_path):
    """Writes a document beside a notebook and another document, and says what is wrong with it."""
    cells = [nbformat.v4.new_markdown_cell("# 01 The *exact* bandit\n\n## What `softmax` does")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "one.ipynb")
    text = "# A title, and more\n\n## Twice\n\n## Twice\n\n```\n# no heading\n```\n"
    (tmp_path / "two.md").write_text(text)
    (tmp_path / "sub").mkdir()

    def wrong(text):
        path = tmp_path / "page.md"
        path.write_text(f"# Here I am\n\n{text}\n")
        return links.problems(path)

    return wrong


SAYS = "two bars, the left one higher"


@pytest.mark.parametrize(
    "text",
    [
        "[a](one.ipynb) and [b](two.md) and [c](sub)",
        "[a](one.ipynb#01-The-exact-bandit) [b](one.ipynb#What-softmax-does)",
        "[a](two.md#a-title-and-more) [b](two.md#twice) [c](two.md#twice-1) [d](#here-i-am)",
        "[the `code`](two.md) `[no](link)`\n\n```\n[no](link)\n```",
        f"![{SAYS}](two.md) <img src='two.md' alt='{SAYS}'>",
        "[a](https://github.com/a/b) and [b](https://download.pytorch.org/whl/cpu)",
        f"[![{SAYS}](two.md)](one.ipynb)",
    ],
)
def test_good_links_pass(page, text):
    assert page(text) == []


@pytest.mark.parametrize(
    "text, words",
    [
        ("[a](three.md)", "no file"),
        ("[a]()", "no file"),
        ("[a](one.ipynb#01-the-exact-bandit)", "no heading"),  # JupyterLab keeps capitals
        ("[a](one.ipynb#What-`softmax`-does)", "no heading"),
        ("[a](two.md#A-title,-and-more)", "no heading"),
        ("[a](two.md#twice-2)", "no heading"),
        ("[a](two.md#no-heading)", "no heading"),
        ("[a](#there-i-am)", "no heading"),
        ("![](two.md)", "for words"),
        ("![picture](two.md)", "for words"),
        ("<img src='two.md'>", "for words"),
        (f"![{SAYS}](gone.svg)", "no file"),
        (f"[![{SAYS}](gone.svg)](two.md)", "no file"),
        ("[![](two.md)](two.md)", "for words"),
        ("<a href='gone.md'>a</a>", "no file"),
        ("[a](http://github.com/a)", "not https"),
        ("[a](https://github/a)", "no host"),
        ("[a](https://github.com/a.)", "mark of the sentence"),
        ("[a](https://pypi.org/simple)", "packages come from"),
        ("[a](https://download.pytorch.org/whl/cu130)", "packages come from"),
    ],
)
def test_a_link_that_leads_nowhere_is_named(page, text, words):
    assert re.search(words, " ".join(page(text)))
