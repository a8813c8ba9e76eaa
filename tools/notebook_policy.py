"""What a stored notebook must be, beyond what strict nbval notices.

nbval compares outputs as text. It lets a stripped notebook pass, does not look at pictures, and
does not mind execution counts. ``problems`` does, and it also holds the habits of this course:
short cells, prose beside code, claims that are asserted, numbers in prose that were computed.
"""

import base64
import io
import math
import re
import statistics
from pathlib import Path

import nbformat

WIDGET = "application/vnd.jupyter.widget-view+json"
FORBIDDEN_TAGS = {"nbval-ignore-output", "nbval-skip", "nbval-check-output"}
MARKER = re.compile(r"NBVAL_\w+|;\s*$", re.M)
ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
MACHINE_PATH = re.compile(r"(?:/(?:home|root|Users|tmp|work|var|opt)/|[A-Z]:\\\\)[\w.]")
SPEAKS = re.compile(r"\bprint\(|\.show\(|figures\.numbers\(|\bcheck\(|progress\(")
PICTURE_WORDS = ("Picture: ", "Figure with ")
FORBIDDEN_WORDS = re.compile(r"\b(obviously|simply|just)\b", re.I)
CELLS = {
    "00": (12, 45),
    "01": (25, 52),
    "02": (25, 52),
    "03": (25, 60),
    "04": (25, 62),
    "05": (25, 50),
    "06": (25, 62),
    "07": (25, 76),
    "08": (25, 92),
    "09": (25, 90),
    "10": (25, 120),
    "11": (25, 84),
}  # 01 asserts nine claims
PREDICT = re.compile(r'^predict\("(\d+\.\d+)"\)\n', re.M)
SCAFFOLD = re.compile(
    PREDICT.pattern + r"|^from pglab\.predictions import predict\n?", re.M
)  # not the lesson
QUESTION = re.compile(r"Prediction \d+\.\d+\. ")  # the words of predict(...)
ASKED, FOLDED = "**Prediction", "<summary>Answer"  # a question in the prose; its answer on paper, folded away
WORDS_PER_MINUTE, MINUTES_PER_CODE_CELL = 110, 0.75


def problems(path, known_claims):
    """Sentences, one for each thing that is wrong with the notebook at ``path``; [] if none is."""
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    prose = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
    number = Path(path).name[:2]
    return [
        *_stored_form(notebook, code),
        *(sentence for cell in code for sentence in _cell(cell)),
        *_shape(number, notebook.cells, code, prose),
        *_claims(code, known_claims),
        *_prose(number, prose, code),
        *_predictions(number, notebook.cells),
    ]


# --- The stored form ---------------------------------------------------------------------------


def _stored_form(notebook, code):
    counts = [cell.execution_count for cell in code]
    if counts != list(range(1, len(code) + 1)):
        yield f"execution counts are {counts}, not 1..{len(code)}: run `make render`"
    if notebook.metadata.get("widgets"):
        yield "widget state is stored: run `make render`"
    if notebook.metadata.get("kernelspec", {}).get("name") != "python3":
        yield "the kernelspec is not python3: run `make render`"
    ids = [cell.get("id") for cell in notebook.cells]
    if None in ids or len(set(ids)) != len(ids):
        yield "cell ids are missing or used twice"
    if any(not cell.source.strip() for cell in notebook.cells):
        yield "a cell is empty"


def _cell(cell):
    where = f"cell [{cell.execution_count}]"
    if set(cell.metadata.get("tags", [])) & FORBIDDEN_TAGS or MARKER.search(cell.source):
        yield f"{where}: an nbval marker, or a line that ends in a semicolon"
    if SPEAKS.search(cell.source) and not cell.outputs:
        yield f"{where}: it prints or shows something, but no output is stored"
    for output in cell.outputs:
        yield from (f"{where}: {sentence}" for sentence in _output(output))


def _output(output):
    if output.output_type == "error":
        yield "an error is stored"
    if output.output_type == "stream" and output.name == "stderr":
        yield "something was written to stderr"
    data = output.get("data", {})
    text = "".join(data.get("text/plain", "")) + "".join(output.get("text", ""))
    if WIDGET in data:
        yield "the id of a widget is stored: run `make render`"
    if text.startswith(PICTURE_WORDS) != ("image/png" in data):
        yield "a picture without its words, or words without their picture"
    if "image/png" in data:
        yield from _png(output)
    if ADDRESS.search(text):
        yield "a memory address is stored"
    if MACHINE_PATH.search(text):
        yield "a path of one machine is stored"


def _png(output):
    from PIL import Image

    if not output.metadata.get("image/png", {}).get("alt"):
        yield "a picture without alternative text"
    try:
        image = Image.open(io.BytesIO(base64.b64decode(output.data["image/png"]))).convert("L")
        darkest, lightest = image.getextrema()
    except Exception as error:  # whatever Pillow says of broken bytes
        yield f"a picture that cannot be read ({type(error).__name__})"
        return
    if lightest - darkest < 50:
        yield "a picture with nothing on it"


# --- The shape of a lesson ---------------------------------------------------------------------


def _shape(number, cells, code, prose):
    low, high = CELLS.get(number, (25, 45))
    if not low <= len(cells) <= high:
        yield f"{len(cells)} cells; {low} to {high} is what a reader can hold"
    if not 1.0 <= len(prose) / len(code) <= 1.5:
        yield f"{len(prose)} cells of prose to {len(code)} of code; 1 to 1.5 for each is wanted"
    lengths = sorted(len(SCAFFOLD.sub("", cell.source).splitlines()) for cell in code)
    if statistics.median(lengths) > 5:
        yield f"the median code cell has {statistics.median(lengths)} lines; at most 5 is wanted"
    if lengths[math.ceil(0.9 * len(lengths)) - 1] >= 18:
        yield "more than one code cell in ten has 18 lines or more"
    tags = {tag for cell in code for tag in cell.metadata.get("tags", []) if tag.startswith("exercise-")}
    if len(tags) < 3:
        yield f"{len(tags)} exercises; at least three are wanted"
    text = "\n".join(cell.source for cell in prose)
    for tag in sorted(tags):
        if f"<summary>Solution {tag[9:]}</summary>" not in text:
            yield f"{tag} has no folded solution"


def _claims(code, known):
    for cell in code:
        claims = cell.metadata.get("claims", [])
        where = f"cell [{cell.execution_count}]"
        if len(claims) > 2:
            yield f"{where}: more than two claims"
        if claims and "assert " not in cell.source:
            yield f"{where}: claims {claims} and asserts nothing"
        if unknown := [claim for claim in claims if claim not in known]:
            yield f"{where}: unknown claims {unknown}; tests/claims.json lists them"


def asserted_claims(path):
    """The claims that some executed, asserting cell of the notebook names."""
    notebook = nbformat.read(path, as_version=4)
    return {
        claim
        for cell in notebook.cells
        if cell.cell_type == "code" and cell.execution_count and "assert " in cell.source
        for claim in cell.metadata.get("claims", [])
    }


# --- The prose ---------------------------------------------------------------------------------


def _prose(number, prose, code):
    text = "\n\n".join(cell.source for cell in prose)
    if not prose[0].source.startswith(f"# {number} "):
        yield f"the first cell does not start with '# {number} '"
    for heading in (
        "**The question.**",
        "**Time.**",
        "**You need**",
        "## What was shown",
        "**In practice.**",
        "**Sources.**",
    ):
        if heading not in text:
            yield f"{heading} is missing"
    if said := FORBIDDEN_WORDS.findall(_plain(text)):
        yield f"words that make a learner feel slow: {sorted(set(said))}"
    yield from _minutes(text, code)
    yield from _uncomputed(text, code)


def minutes(text, code):
    """Time to read, to run and to do the exercises, rounded up to five minutes."""
    exercises = sum(int(m) for m in re.findall(r"\*(?:Easy|Medium|Hard), (\d+) minutes\.\*", text))
    reading = len(_plain(text).split()) / WORDS_PER_MINUTE + MINUTES_PER_CODE_CELL * len(code)
    return 5 * math.ceil((reading + exercises) / 5)


def _minutes(text, code):
    said, measured = re.search(r"About (\d+) minutes", text), minutes(text, code)
    if not said or int(said[1]) != measured:
        yield f"the opening should say 'About {measured} minutes'"


def _plain(text):
    """Prose without code, mathematics, links' targets, tables and solutions."""
    for pattern in (r"```.*?```", r"<details>.*?</details>", r"\$\$.*?\$\$", r"\$[^$]*\$", r"`[^`]*`", r"\]\([^)]*\)",
                    r"(?m)^\|[^\n]*$"):  # fmt: skip
        text = re.sub(pattern, " ", text, flags=re.S)
    return text


def _uncomputed(text, code):
    """Decimals of three digits or more in the prose that no output of the notebook shows."""
    shown = " ".join(_texts(code))
    numbers = [float(n) for n in re.findall(r"(?<![\w.])-?\d+\.?\d*(?:e-?\d+)?", shown)]
    for paragraph in _plain(text).split("\n\n"):
        if "(source:" in paragraph:
            continue
        for said in re.findall(r"(?<![\w.])\d+\.\d+(?![\w.]*\d)", paragraph):
            digits = len(said.partition(".")[2])
            if digits + len(said.partition(".")[0].lstrip("0")) < 3:
                continue
            if not any(abs(abs(n) - float(said)) <= 0.5000001 * 10**-digits for n in numbers):
                yield f"the prose says {said}, and no output does"


def _texts(code):
    """What the outputs say; a prediction's question is none of it, nor are the wrong numbers it offers."""
    for cell in code:
        for output in cell.outputs:
            yield "".join(output.get("text", ""))
            words = "".join(output.get("data", {}).get("text/plain", ""))
            yield "" if QUESTION.match(words) else words


# --- Predictions -------------------------------------------------------------------------------


def _predictions(number, cells):
    """Each one is asked in the prose, and committed to in the cell that answers it, or answered in a fold."""
    names, open_questions = [], 0
    for cell in cells:
        if cell.cell_type == "markdown" and ASKED in cell.source:
            if open_questions:
                yield f"a prediction before {cell.source[:40]!r} has neither a predict(...) nor a folded answer"
            open_questions = cell.source.count(ASKED) - cell.source.count(FOLDED)
        elif cell.cell_type == "code":
            found = PREDICT.findall(cell.source)
            names += found
            open_questions -= len(found)
            if open_questions < 0:
                yield f"predict({found}) answers no prediction of the prose before it"
                open_questions = 0
    if open_questions:
        yield "the last prediction has neither a predict(...) nor a folded answer"
    if names != (wanted := [f"{int(number)}.{place}" for place in range(1, len(names) + 1)]):
        yield f"the predictions are called {names}, not {wanted}"
