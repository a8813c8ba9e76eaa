"""TEACHING.md: its plans fill ninety minutes, and what it names and says is in the notebooks."""

import contextlib
import functools
import io
import re

import pytest
from classroom.explorers import explorers
from classroom.lesson import exercise_of, lessons
from conftest import ROOT

import make
from pglab import exercises, predictions

TEXT = (ROOT / "TEACHING.md").read_text(encoding="utf-8")
LESSONS = {lesson.number: lesson for lesson in lessons()}
TAUGHT = [number for number in LESSONS if number != "00"]  # 00 is a note on the set-up
EXPLORERS = {(number, found.name): found for number in LESSONS for found in explorers(LESSONS[number])}

PREDICTION = re.compile(r"\*\*(\d+\.\d+)\*\*")
EXERCISE = re.compile(r"(?<![\w.])(\d{1,2}[a-e])(?!\w)")
HEADING = re.compile(r"(?<!\*)\*(?!\*)([^*\n]+)\*(?!\*)")
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w.]*\d)")  # 67,604,341.89; not the 1 of k1
SHOWN = re.compile(r"(?<![\w.])\d+(?:,\d{3})*\.?\d*(?:e-?\d+)?")
MOVES, PLAN = (
    ("", "explorer", "set", "one sees"),
    ("min", "what", "sections", "ask", "project", "the room does"),
)
PROJECTED = re.compile(r"`(\w+_\w+)`,? ?(\d\d)? ?([a-j](?:, [a-j])*)?")


# ---- Reading it


def sections(text=TEXT):
    """{"03": what stands below its heading}; "" holds everything outside of the notebooks' chapters."""
    found = {"": text}
    for chapter in re.findall(r"^## \d\d [^\n]*\n.*?(?=^##? |\Z)", text, re.M | re.S):
        found[chapter[3:5]] = chapter
        found[""] = found[""].replace(chapter, "")
    return found


def tables(text, header):
    """Every table of this header, as lists of rows."""
    for block in re.findall(r"(?:^\|.*\n)+", text, re.M):
        rows = [tuple(cell.strip() for cell in line.strip()[1:-1].split("|")) for line in block.splitlines()]
        if rows[0] == header:
            yield rows[2:]


def plans(text):
    return list(tables(text, PLAN))


def moves(text):
    """{letter: (explorer, set, one sees)}"""
    return {row[0]: row[1:] for rows in tables(text, MOVES) for row in rows}


def cell(text, column):
    """One column of every plan, put together."""
    return "\n".join(row[PLAN.index(column)] for plan in plans(text) for row in plan)


def prose(text):
    """Without the plans and the explorers' settings, whose numbers have their own tests, and without code."""
    text = re.sub(r"^\|.*\n", "", re.sub(r"```.*?```", "", text, flags=re.S), flags=re.M)
    return re.sub(r"\[[^]]*\]\([^)]*\)", "", PREDICTION.sub("", text))


# ---- What the notebooks have


@functools.cache
def said(number):
    """Every number that the notebook says, its outputs included."""
    texts = []
    for each in LESSONS[number].notebook().cells:
        texts.append(each.source)
        for output in each.get("outputs", []):
            texts.append(output.get("text", "") or output.get("data", {}).get("text/plain", ""))
    return numbers("\n".join(texts))


def numbers(text):
    return [float(found.replace(",", "").rstrip(".")) for found in SHOWN.findall(text)]


def unfounded(text, shown, least=0.0):
    """Decimals of the text, and whole numbers from ``least`` on if it is not 0, that are not shown, rounded."""
    for word in NUMBER.findall(text):
        value, digits = float(word.replace(",", "")), len(word.partition(".")[2])
        if "." not in word and not (least and value >= least):
            continue
        if not any(abs(each - value) <= 0.5000001 * 10**-digits for each in shown):
            yield word


def headings(number):
    cells = LESSONS[number].notebook().cells
    text = "\n".join(each.source for each in cells if each.cell_type == "markdown")
    return set(re.findall(r"^#+ (.*)$", text, re.M))


@functools.cache
def explorer(number, name):
    """The explorer itself, made by the statements that its notebook needs for it."""
    program, made = EXPLORERS[number, name].program, {}
    assert program.rstrip().endswith(".show()")
    before, _, last = program.rstrip().removesuffix(".show()").rpartition("\n")
    with contextlib.redirect_stdout(io.StringIO()):
        exec(f"{before}\nmade = {last}", made)
    return made["made"]


def control(which, label):
    """The control that a reader knows by this label; its group stands before it where two are alike."""
    names = [
        name
        for name, each in which._controls.items()
        if label in (each.label, each.label.partition(",")[0], f"{each.group} {each.label}")
    ]
    assert len(names) == 1, f"{label!r} names {names or 'no control'}"
    return names[0]


def seen(number, name, settings):
    """What the explorer says at each of the settings "label = value / other value; label = value"."""
    which = explorer(number, name)
    pairs = [pair.strip().rpartition(" = ")[::2] for pair in settings.split(";")]
    values = {control(which, label): value.split(" / ") for label, value in pairs}
    for k in range(max(map(len, values.values()))):
        which.reset()
        which.move(
            **{key: _value(which, key, several[min(k, len(several) - 1)]) for key, several in values.items()}
        )
        yield which.text


def _value(which, name, word):
    return word if hasattr(which._controls[name], "options") else float(word)


# ---- The tests


@pytest.mark.parametrize("number", ["", *TAUGHT])
def test_every_plan_is_ninety_minutes_long(number):
    lengths = [sum(int(row[0]) for row in plan) for plan in plans(sections()[number])]
    titles = re.findall(r"^\*\*.* of 90 minutes\*\*$", sections()[number], re.M)
    assert lengths == [90] * len(titles) and lengths


def test_every_notebook_has_its_chapter_in_order_and_the_whole_course_its_sessions():
    assert [number for number in sections() if number] == list(LESSONS)
    for number, text in sections().items():
        assert not number or f"](notebooks/{LESSONS[number].path.name})" in text
    in_all = sum(len(plans(sections()[number])) for number in TAUGHT)
    assert f"| the whole course | {in_all} |" in TEXT
    two = re.search(r"^(.*) take two sessions\.", TEXT, re.M)[1]
    for sessions, which in re.findall(r"^\| (?:one|a|for)[^|]*\| (\d+) \| (.*) \|$", TEXT, re.M):
        assert int(sessions) == sum(2 if "both" in each else 1 for each in which.split(", ")), which
    assert re.findall(r"\d\d", two) == [number for number in TAUGHT if len(plans(sections()[number])) == 2]


@pytest.mark.parametrize("number", LESSONS)
def test_every_explorer_is_projected(number):
    here = {name for of, name in EXPLORERS if of == number}
    known = moves(sections()[number])
    assert {name.strip("`") for name, _, _ in known.values()} == here
    assert list(known) == list("abcdefghij"[: len(known)])
    if number in TAUGHT:
        assert {name for name, *_ in PROJECTED.findall(cell(sections()[number], "project"))} == here


@pytest.mark.parametrize("number", ["", *TAUGHT])
def test_the_letters_of_a_plan_stand_in_the_table_below_it(number):
    for name, other, letters in PROJECTED.findall(cell(sections()[number], "project")):
        known = moves(sections()[other or number])
        assert letters and all(known[letter][0] == f"`{name}`" for letter in letters.split(", "))


@pytest.mark.parametrize("number", sections())
def test_predictions_exist_and_belong_to_the_notebook(number):
    named = PREDICTION.findall(sections()[number])
    known = {p.name for p in predictions.all_predictions()}
    assert named and set(named) <= known
    assert not number or {int(name.partition(".")[0]) for name in named} == {int(number)}


@pytest.mark.parametrize("number", ["", *TAUGHT])
def test_a_plan_asks_three_to_six_predictions_each_once_under_its_heading(number):
    for plan in plans(sections()[number]):
        asked = PREDICTION.findall("\n".join(row[PLAN.index("ask")] for row in plan))
        assert 3 <= len(asked) == len(set(asked)) <= 6
        for row in plan:
            for name in PREDICTION.findall(row[PLAN.index("ask")]):
                of = f"{int(name.partition('.')[0]):02d}"
                below = _under(of, HEADING.findall(row[PLAN.index("sections")]))
                assert f'predict("{name}")' in below, f"{name} is not asked there"


def _under(number, titles):
    """What stands in the notebook below these headings; a ## heading has its ### headings too, the title has not."""
    text = "\n".join(each.source for each in LESSONS[number].notebook().cells)
    found = ""
    for title in titles:
        for level in ("#", "##", "###"):
            pattern = rf"^{level} {re.escape(title)}$.*?(?=^#{{2,{max(2, len(level))}}} |\Z)"
            found += "".join(re.findall(pattern, text, re.M | re.S))
    return found


@pytest.mark.parametrize("number", ["", *TAUGHT])
def test_the_sections_of_a_plan_are_headings(number):
    known = headings(number) if number else set().union(*map(headings, LESSONS))
    named = set(HEADING.findall(cell(sections()[number], "sections")))
    assert named and named <= known


@pytest.mark.parametrize("number", LESSONS)
def test_every_exercise_has_its_place_and_no_other_is_named(number):
    text = re.sub(r"\(notebooks/[^)]*\)", "", sections()[number])
    has = {name for each in LESSONS[number].notebook().cells if (name := exercise_of(each))}
    assert set(EXERCISE.findall(text)) == has
    if number in TAUGHT:
        room = re.search(r"\*\*Room:\*\* (.*?)\*\*Home:", text)[1]
        assert set(EXERCISE.findall(cell(text, "the room does"))) == set(EXERCISE.findall(room))


def test_exercises_outside_of_the_chapters_exist():
    named = set(EXERCISE.findall(sections()[""]))
    assert named and named <= {each.name for each in exercises.all_exercises()}


@pytest.mark.parametrize("number", TAUGHT)
def test_three_misconceptions_each_with_the_prediction_that_answers_it(number):
    said_of = sections()[number].partition("Expected misconceptions\n")[2].partition("**Room:**")[0]
    entries = re.findall(r"^\* (.*)$", said_of, re.M)
    assert len(entries) == 3 and all(entry.startswith("*") and PREDICTION.search(entry) for entry in entries)


@pytest.mark.parametrize("number", LESSONS)
def test_every_number_of_a_chapter_is_one_of_its_notebook(number):
    text = prose(sections()[number])
    assert list(unfounded(text, said(number))) == []


COUNTED = pytest.param("07", marks=pytest.mark.slow)  # all completions of four networks, half a minute


@pytest.mark.parametrize("number", [COUNTED if number == "07" else number for number in LESSONS])
def test_an_explorer_shows_what_is_said_at_its_setting(number):
    for letter, (name, settings, words) in moves(sections()[number]).items():
        shown = numbers("\n".join(seen(number, name.strip("`"), settings)))
        missing = list(unfounded(words, shown, least=20))
        assert missing == [], f"{number} {letter}"


def test_every_command_exists():
    words = set(re.findall(r"`(?:PGLAB_PROGRESS=off )?make ([a-z]+)", TEXT))
    assert {"slides", "app", "student", "mine", "lab"} <= words <= set(make.WORDS)


# ---- What the tests would notice


def test_a_wrong_number_is_noticed():
    assert list(unfounded("the value has 0.1153, nothing 0.0018", said("03"))) == ["0.1153"]
    assert list(unfounded("about 67,604,341.9, and 10,000.38", said("03"))) == ["10,000.38"]
    (text,) = seen("02", "noisy_step", "samples N = 1; step size = 20")
    assert list(unfounded("J stays at 0.8653; chance 0.1348", numbers(text))) == ["0.1348"]
    assert list(unfounded("it takes 643 s, then 603 s", [643, 602], least=20)) == ["603"]


def test_a_label_that_is_none_or_two_is_noticed():
    with pytest.raises(AssertionError, match="no control"):
        list(seen("02", "noisy_step", "samples = 1"))
    with pytest.raises(AssertionError, match="logit_1.*reward_1"):
        list(seen("01", "one_step", '"4" = 1'))
