"""The decks: every slide fits, nothing comes from the network, the answers stand in the speaker's notes."""

import re

import nbformat
import pytest
from classroom import slides
from classroom.lesson import choices_of, lessons
from classroom.marks import MARKS, usual
from classroom.mathml import with_mathml
from notebook_policy import ASKED, PREDICT

from pglab import predictions

LESSONS = lessons()
each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.path.stem)


# --- Without a browser -------------------------------------------------------------------------


@each_lesson
def test_every_cell_has_a_mark(lesson):
    marks = [cell.metadata.get("slideshow", {}).get("slide_type") for cell in lesson.notebook().cells]
    assert set(marks) <= set(MARKS)
    assert marks[0] == "slide"
    deck = slides.slides_of(lesson.notebook())
    begins = [cell.source for cell in deck.cells if cell.metadata["slideshow"]["slide_type"] == "slide"]
    headings = sum(cell.source.startswith("## ") for cell in deck.cells if cell.cell_type == "markdown")
    assert len(begins) == 1 + headings > 4


@each_lesson
def test_the_notes_hold_the_answer_to_each_prediction_and_the_slides_do_not(lesson):
    deck = slides.slides_of(lesson.notebook())
    notes, shown = ([], [])
    for cell in deck.cells:
        (notes if cell.metadata["slideshow"]["slide_type"] == "notes" else shown).append(cell.source)
    notes, shown = "\n".join(notes), "\n".join(shown)
    asked = [p for p in predictions.all_predictions() if int(p.name.partition(".")[0]) == int(lesson.number)]
    for prediction in asked:
        assert f"**{prediction.name} {prediction.question}**{choices_of(prediction)} " in notes
        assert all(with_mathml(choice) in notes for choice in prediction.choices)
        assert with_mathml(prediction.answer) in notes
    assert not PREDICT.search(shown) and "<details>" not in shown
    assert notes.count("**Solution ") == sum("exercise-" in str(c.metadata) for c in lesson.notebook().cells)


@each_lesson
def test_an_answer_stands_in_the_notes_of_the_slide_that_asks(lesson):
    """The next note after a question is its own, before the next question comes."""
    asks = 0
    for cell in slides.slides_of(lesson.notebook()).cells:
        if cell.metadata["slideshow"]["slide_type"] == "notes":
            asks = 0
        elif cell.cell_type == "markdown":
            assert not (asks and ASKED in cell.source), cell.source[:80]
            asks += cell.source.count(ASKED)


def test_a_program_in_the_notes_is_a_program():
    page, _ = slides.exporter().from_notebook_node(slides.slides_of(LESSONS[1].notebook()))
    notes = re.findall(r'<aside class="notes">(.*?)</aside>', page, re.S)
    assert len(notes) > 10 and not any("```" in note or "&lt;math" in note for note in notes)
    assert any('<div class="highlight">' in note for note in notes)


def test_long_prose_is_parted_and_nothing_is_lost():
    for lesson in LESSONS:
        for cell in lesson.notebook().cells:
            if cell.cell_type == "markdown":
                pieces = slides.parts(cell.source)
                words = [piece.split() for piece in pieces]
                assert sum(words, []) == cell.source.split()
                assert all(piece.count("```") % 2 == 0 and piece.count("$$") % 2 == 0 for piece in pieces)
                assert not any(piece.startswith("#") and "\n" not in piece for piece in pieces[:-1])


def test_formulas_become_mathml_and_code_stays():
    text = with_mathml("The price `$5` is $\\pi_a$, and\n\n$$\\sum_a \\pi(a) = 1$$\n\n```\n$x$\n```")
    assert text.count("<math") == 2 and "`$5`" in text and "$x$" in text and "$$" not in text
    lines = with_mathml(r"$$\begin{aligned} a &= b && \text{why} \\ &= c \end{aligned}$$")
    assert lines.count("<mtr>") == 2 and "&<" not in lines
    with pytest.raises(ValueError, match="& is not known"):
        with_mathml("$a & b$")
    with pytest.raises(ValueError, match=r"\\unheard is not known"):
        with_mathml(r"$\unheard{1}$")


def test_the_usual_mark():
    code, prose = nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell
    assert usual(prose("## A heading")) == "slide" and usual(prose("Text.")) == "subslide"
    assert usual(code("import numpy as np\n\nfrom pglab import bandit")) == "skip"
    assert usual(code("import numpy as np\nx = 1")) == "subslide"
    assert usual(code("x = ...", metadata={"tags": ["exercise-1a"]})) == "skip"


def test_a_number_that_no_notebook_has_is_refused(tmp_path, capsys):
    with pytest.raises(ValueError, match="no notebook 99"):
        slides.build(("99",), tmp_path)
    assert slides.main(["99"]) == 2 and "no notebook 99" in capsys.readouterr().err


# --- In the browser ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def decks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slides")
    slides.build(out=folder)
    return folder


LOOK = """() => {
  const slide = Reveal.getCurrentSlide();
  const visible = [...slide.children].filter(part => part.tagName !== "ASIDE");
  const scrolls = slide.style.overflowY === "auto";
  return {
    height: scrolls ? slide.clientHeight : slide.scrollHeight,
    width: Math.max(0, ...[...slide.querySelectorAll("pre, p, li, table, img, math *")].map(
      part => part.getBoundingClientRect().right)),
    size: Math.min(1, ...visible.map(part => parseFloat(part.style.zoom || 1))),
    scrolls, text: slide.innerText, broken: [...slide.querySelectorAll("img")].filter(i => !i.naturalWidth).length,
    dollars: [...slide.querySelectorAll(".jp-RenderedMarkdown, .jp-MarkdownOutput")].some(part => {
      const copy = part.cloneNode(true);
      copy.querySelectorAll("code, pre").forEach(code => code.remove());
      return copy.innerText.includes("$");
    }),
  }; }"""


@pytest.mark.browser
@each_lesson
def test_every_slide_fits_and_nothing_is_fetched(lesson, decks, chromium):
    page = chromium.new_page(viewport={"width": 1280, "height": 720})
    fetched, problems = [], []
    page.on("request", lambda r: r.url.startswith(("file:", "data:", "blob:")) or fetched.append(r.url))
    page.on("requestfailed", lambda r: problems.append(r.url))
    page.on("console", lambda m: m.type == "error" and problems.append(m.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto((decks / f"{lesson.path.stem}.html").as_uri())
    page.wait_for_function("Reveal.isReady()")
    page.wait_for_function("Reveal.getCurrentSlide().dataset.fitted")
    slides_seen, scrolling = page.evaluate("Reveal.getTotalSlides()"), 0
    for _ in range(slides_seen):
        seen = page.evaluate(LOOK)
        where = seen["text"][:80]
        assert seen["text"].strip() or page.evaluate("Reveal.getCurrentSlide().querySelector('img') !== null")
        assert seen["height"] <= 721, where
        assert seen["width"] <= 1281, where
        assert seen["size"] >= 0.7 and not seen["broken"] and not seen["dollars"], where
        scrolling += seen["scrolls"]
        page.evaluate("Reveal.next()")
        page.wait_for_function("Reveal.getCurrentSlide().dataset.fitted")
    assert slides_seen > 8 and scrolling <= 3  # long tables, such as the glossary
    assert page.locator("aside.notes").count() >= 3
    assert (fetched, problems) == ([], [])
    page.close()


@pytest.mark.browser
def test_the_speakers_window_shows_the_answer_and_the_contents_lead_to_the_decks(decks, chromium):
    context = chromium.new_context()
    page = context.new_page()
    page.goto((decks / "index.html").as_uri())
    assert page.get_by_role("link").count() == len(LESSONS)
    page.get_by_role("link", name=re.compile("^01 ")).click()
    page.wait_for_function("Reveal.isReady()")
    said = page.evaluate("""() => { const note = document.querySelector('aside.notes');
        const at = Reveal.getIndices(note.closest('section')); Reveal.slide(at.h, at.v);
        return note.textContent.trim().slice(0, 40); }""")
    with context.expect_page() as opened:
        page.keyboard.press("s")
    speaker = opened.value
    notes = speaker.locator(".speaker-controls-notes .value")
    notes.filter(has_text=said).wait_for(timeout=20_000)
    context.close()
