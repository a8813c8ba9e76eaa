"""Make a reveal.js deck of every notebook, which works without a network.

    make slides                        all of them, into build/slides; open index.html there
    make slides ARGS=03                one notebook, or several

The marks stand in the notebooks' metadata (View > Right Sidebar > Property Inspector > Slide Type). In the
browser: arrow keys, S for the speaker's window with the answer to each prediction, O for the overview,
?print-pdf behind .html for paper.
"""

import html
import importlib.util
import re
import shutil
import sys
from pathlib import Path

import nbformat
from nbconvert import SlidesExporter
from notebook_policy import ASKED, PREDICT

from classroom.lesson import FOLD, ROOT, asked, choices_of, chosen_lessons, lessons
from classroom.marks import mark
from classroom.mathml import with_mathml

HERE = Path(__file__).parent
OUT = ROOT / "build" / "slides"
WORDS_OF_A_PICTURE = tuple(
    f"<details><summary>{words}" for words in ("The numbers in", "This picture in words")
)
FOLDED = re.compile(r"<details><summary>(.*?)</summary>(.*?)</details>", re.S)
WORDS_ON_A_SLIDE = 105
FULL, PICTURE = 22, 15  # lines: a slide; a picture on it
LIST = re.compile(r"(?:[*-]|\d+\.) ")
FENCE = re.compile(r"```.*?```|\$\$.*?\$\$", re.S)


# --- What stands on the slides


def slides_of(notebook):
    """The notebook as a deck: long texts on several slides, folds and answers in the speaker's notes."""
    deck = nbformat.v4.new_notebook(metadata=notebook.metadata)
    for place, cell in enumerate(notebook.cells):
        kind = mark(cell)
        if kind == "skip":
            continue
        if cell.cell_type == "markdown":
            following = notebook.cells[place + 1 : place + 2]
            deck.cells += _prose(cell, kind, asked(following[0]) if following else [])
        else:
            deck.cells += _code(cell, kind)
    return deck


def _prose(cell, kind, coming):
    """One slide or several; each answer stands in the notes of the slide that asks, each fold where it was folded."""
    coming, first = list(coming), True
    texts, folds = FOLD.split(cell.source)[::3], FOLD.findall(cell.source)
    for place, text in enumerate(texts):
        fold = folds[place] if place < len(folds) else None
        pieces = parts(text)
        for piece in pieces:
            yield _marked(nbformat.v4.new_markdown_cell(with_mathml(piece)), _begins(piece, kind, first))
            first = False
            asks = piece.count(ASKED)
            if piece is pieces[-1] and fold and fold[0].startswith("Answer"):
                asks -= 1  # this one is answered by the fold
            said, coming = coming[:asks], coming[asks:]
            if said:
                yield _note("\n\n".join(map(_answer, said)))
        if fold:
            yield _note(f"**{fold[0]}**\n\n{fold[1]}")


def _begins(piece, kind, first):
    """A heading begins a column of slides, wherever it stands in its cell."""
    heading = "slide" if piece.startswith(("# ", "## ")) else "subslide"
    return heading if not first or kind == "subslide" else kind


def _code(cell, kind):
    cell = cell.copy()
    answered = asked(cell)
    cell.source = PREDICT.sub("", cell.source).strip()
    cell.outputs = [_unfolded(output) for output in cell.outputs if _is_for_a_slide(output)]
    for source, outputs in _pages(cell):
        page = nbformat.v4.new_code_cell(cell.source, outputs=outputs, execution_count=cell.execution_count)
        yield _marked(page, kind if source else "subslide", [] if source else ["output-only"])
    if answered:
        yield _note("\n\n".join(map(_answer, answered)))


def _pages(cell):
    """[(is the program shown, outputs)]: together if they fit on a slide, otherwise one after the other."""
    pages, lines = [(True, [])], len(cell.source.splitlines())
    for output in cell.outputs:
        height = _height(output)
        if lines + height > FULL:
            pages.append((False, []))
            lines = 0
        pages[-1][1].append(output)
        lines += height
    return pages


def _height(output):
    """In lines of a program, as a slide has them."""
    data = output.get("data", {})
    words = output.get("text", "") or data.get("text/plain", "")
    return PICTURE if "image/png" in data else len(words.splitlines())


def _is_for_a_slide(output):
    """Not the question once more, nor the words of a picture, which its alternative text has too."""
    data = output.get("data", {})
    asks = list(data) == ["text/plain"] and data["text/plain"].startswith("Prediction ")
    return not asks and not data.get("text/html", "").startswith(WORDS_OF_A_PICTURE)


def _unfolded(output):
    """What a cell has folded away, such as the code of a case, in the open: nobody unfolds it on a wall."""
    data = output.get("data", {})
    if "<details>" in data.get("text/html", ""):
        data["text/html"] = FOLDED.sub(r"<p><b>\1</b></p>\2", data["text/html"])
    return output


def _answer(prediction):
    right = f"{prediction.right}. " if prediction.right else ""
    return f"**{prediction.name} {prediction.question}**{choices_of(prediction)} {right}{prediction.answer}"


def _marked(cell, kind, tags=()):
    cell.metadata = nbformat.from_dict({"slideshow": {"slide_type": kind}, "tags": list(tags)})
    return cell


def _note(text):
    return _marked(nbformat.v4.new_markdown_cell(with_mathml(text)), "notes")


def parts(markdown):
    """The text in pieces that fit on a slide. A table, a list, a formula or a program stays in one piece."""
    pieces, words = [[]], 0
    for block in _blocks(markdown):
        weight = len(block.split()) + (12 if FENCE.match(block) else 0)
        begins_anew = block.startswith("## ") or words + weight > WORDS_ON_A_SLIDE
        if begins_anew and pieces[-1] and not _is_heading(pieces[-1][-1]):
            pieces.append([])
            words = 0
        pieces[-1].append(block)
        words += weight
    return ["\n\n".join(piece) for piece in pieces if piece]


def _blocks(markdown):
    kept = []  # programs and formulas may hold empty lines
    text = FENCE.sub(lambda match: kept.append(match[0]) or f"\0{len(kept) - 1}\0", markdown)
    for block in re.split(r"\n\s*\n", text):
        long = LIST.match(block) and len(block.split()) > WORDS_ON_A_SLIDE
        for piece in re.split(r"\n(?=[*-] |\d+\. )", block) if long else [block]:
            if piece.strip():  # an indented program keeps its first spaces
                yield re.sub(r"\0(\d+)\0", lambda match: kept[int(match[1])], piece.strip("\n").rstrip())


def _is_heading(block):
    return block.startswith("#") and "\n" not in block


# --- The files


def exporter():
    """nbconvert's, with our template and reveal.js beside the deck."""
    return SlidesExporter(
        template_name="deck",
        extra_template_basedirs=[str(HERE)],
        reveal_url_prefix="reveal",
        reveal_theme="white",
    )


def build(chosen=(), out=OUT):
    """Write decks into ``out``; [their paths].

    Raises:
      ValueError: a number that no notebook has.
    """
    picked = chosen_lessons(chosen)
    out.mkdir(parents=True, exist_ok=True)
    _copy_reveal(out / "reveal")
    shutil.copytree(ROOT / "notebooks" / "drawings", out / "drawings", dirs_exist_ok=True)
    for name in ("deck.css", "deck.js"):
        shutil.copy(HERE / "deck" / name, out / name)
    written = []
    for lesson in picked:
        page, _ = exporter().from_notebook_node(
            slides_of(lesson.notebook()), {"metadata": {"name": lesson.title}}
        )
        written.append(out / f"{lesson.path.stem}.html")
        written[-1].write_text(_local(page), encoding="utf-8")
        print(f"{written[-1].relative_to(out)}", flush=True)
    _write_index(out)
    return written


def _local(page):
    """Links from one notebook to another lead from deck to deck."""
    return re.sub(r'href="(\d\d_\w+)\.ipynb"', r'href="\1.html"', page)


def _copy_reveal(folder):
    """reveal.js as the package sphinx-revealjs brings it, with its licence."""
    found = importlib.util.find_spec("sphinx_revealjs")
    if found is None:
        raise ValueError(
            "reveal.js is missing: the package sphinx-revealjs brings it; `make env` installs it."
        )
    source = Path(found.origin).parent / "_static" / "revealjs"
    (folder / "dist" / "theme").mkdir(parents=True, exist_ok=True)
    shutil.copy(source / "LICENSE", folder)
    for name in ("dist/reveal.js", "plugin/notes/notes.js"):
        shutil.copy(source / name, folder)
    for name in ("reset.css", "reveal.css", "theme/white.css"):
        text = (source / "dist" / name).read_text(encoding="utf-8")
        text = re.sub(r"@import url\([^)]*\);?", "", text)  # fonts; the system's own will do
        (folder / "dist" / name).write_text(text, encoding="utf-8")


def _write_index(out):
    rows = [
        f'<li><a href="{lesson.path.stem}.html">{lesson.number} {html.escape(lesson.title)}</a></li>'
        for lesson in lessons()
        if (out / f"{lesson.path.stem}.html").exists()
    ]
    page = (HERE / "deck" / "contents.html").read_text(encoding="utf-8")
    (out / "index.html").write_text(page.replace("<!-- decks -->", "\n".join(rows)), encoding="utf-8")


def main(arguments):
    try:
        build(tuple(arguments))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"Open {(OUT / 'index.html').relative_to(ROOT)} in a browser. S shows the speaker's notes.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
