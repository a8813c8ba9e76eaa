"""Folders for a class, and one's own copy: solutions leave, checks stay, nothing of the reader's is overwritten."""

import json
import re
import socket

import lab
import nbformat
import pytest
from classroom import __main__ as command
from classroom import mine, student
from classroom.lesson import ROOT, asked, exercise_of, lessons
from nbclient import NotebookClient

LESSONS = lessons()
each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.path.stem)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return student.build(out=tmp_path_factory.mktemp("class"))


def _read(folder, lesson):
    return nbformat.read(folder / lesson.path.name, 4)


# --- Students and instructors ------------------------------------------------------------------


@each_lesson
def test_students_get_stubs_and_checks_and_no_solution(folders, lesson):
    original, theirs = lesson.notebook(), _read(folders[0], lesson)
    nbformat.validate(theirs)
    text = "\n".join(cell.source for cell in theirs.cells)
    assert "<summary>Solution" not in text
    for old, new in zip(original.cells, theirs.cells, strict=True):
        if old.cell_type == "code":
            assert new.source == old.source
    names = [name for cell in original.cells if (name := exercise_of(cell))]
    assert names and all(f'check("{name}"' in text and f"Solution {name}: your" in text for name in names)
    code = re.findall(
        r"<summary>Solution \w+</summary>\s*```python\n(.*?)```",
        "\n".join(c.source for c in original.cells),
        re.S,
    )
    assert len(code) == len(names)
    assert not any(solution.strip() in text for solution in code)


@each_lesson
def test_what_answers_a_prediction_is_not_stored_for_students(folders, lesson):
    for cell in _read(folders[0], lesson).cells:
        if cell.cell_type == "code" and asked(cell):
            assert cell.outputs == [] and cell.execution_count is None


@each_lesson
def test_instructors_get_every_solution_in_its_cell_and_all_answers(folders, lesson):
    theirs, text = _read(folders[1], lesson), (folders[1] / "answers.md").read_text(encoding="utf-8")
    nbformat.validate(theirs)
    for cell in theirs.cells:
        if name := exercise_of(cell):
            assert "..." not in cell.source.splitlines() and f'check("{name}"' in cell.source
            assert cell.source in text and f"**{name}**" in text
        if cell.cell_type == "code":
            assert all(prediction.answer in text for prediction in asked(cell))
            assert all(choice in text for prediction in asked(cell) for choice in prediction.choices)


@pytest.mark.slow
def test_the_instructors_notebook_runs_and_the_students_says_not_done_yet(folders):
    lesson = next(lesson for lesson in LESSONS if lesson.number == "01")
    said = []
    for folder in folders:
        notebook = _read(folder, lesson)
        resources = {"metadata": {"path": str(folder)}}
        NotebookClient(notebook, kernel_name="python3", timeout=120, resources=resources).execute()
        said.append(["".join(o.get("text", "") for o in c.outputs) for c in notebook.cells if exercise_of(c)])
    assert all("not done yet" in line for line in said[0])
    assert all("right. Well done." in line for line in said[1])


def test_work_in_the_folders_is_not_written_over(tmp_path, capsys, monkeypatch):
    student.build(("03", "10"), tmp_path)
    (tmp_path / "student" / "handout.md").write_text("mine")
    student.build(("03",), tmp_path)  # what was not touched is made again
    answers = tmp_path / "instructor" / "answers.md"
    answers.write_text("my remarks")
    before = (tmp_path / "student" / "03_baselines.ipynb").read_bytes()
    with pytest.raises(ValueError, match=r"instructor.answers.md .* has been changed"):
        student.build(("03",), tmp_path)
    assert answers.read_text() == "my remarks" and (tmp_path / "student" / "handout.md").exists()
    assert (tmp_path / "student" / "03_baselines.ipynb").read_bytes() == before
    monkeypatch.setattr(student.build, "__defaults__", ((), tmp_path))
    assert student.main(["03"]) == 2 and "nothing was written" in capsys.readouterr().err


def test_the_tests_of_the_museum_are_the_instructors(folders):
    for folder, stands in zip(folders, (False, True), strict=True):
        text = (folder / "10_the_bug_museum.ipynb").read_text(encoding="utf-8")
        assert ("<summary>Tests for cases" in text) == stands
    assert "**Tests for cases" in (folders[1] / "answers.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        (["--help"], 0, "The words are slides, app"),
        (["nonsense"], 2, "The words are slides, app"),
        (["slides", "--help"], 0, "make slides"),
        (["student", "-h"], 0, "make student"),
        (["app", "--port", "70000"], 2, "is no port"),
    ],
)
def test_the_words_explain_themselves(capsys, line, code, says):
    assert command.main(line) == code
    said = capsys.readouterr()
    assert says in said.out + said.err


def test_a_port_in_use_is_said(capsys):
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        assert command.main(["app", "--port", str(busy.getsockname()[1])]) == 2
    assert "choose another with --port" in capsys.readouterr().err


def test_some_notebooks_only_and_an_unknown_number(tmp_path, capsys):
    students, _ = student.build(("03",), tmp_path)
    assert [path.name for path in students.glob("*.ipynb")] == ["03_baselines.ipynb"]
    assert (students / "drawings").is_dir()
    assert student.main(["99"]) == 2 and "no notebook 99" in capsys.readouterr().err


# --- One's own copy ----------------------------------------------------------------------------


def test_what_is_mine_is_never_overwritten(tmp_path):
    out = tmp_path / "mine"
    fresh, changed = mine.copy(out)
    assert fresh == [lesson.path.name for lesson in LESSONS] and changed == []
    own = out / "03_baselines.ipynb"
    own.write_text("my own words", encoding="utf-8")
    drawing = next((out / "drawings").iterdir())
    drawing.write_text("my own drawing", encoding="utf-8")
    (out / "04_trajectories.ipynb").unlink()
    assert mine.copy(out) == (["04_trajectories.ipynb"], [])
    assert own.read_text(encoding="utf-8") == "my own words"
    assert drawing.read_text(encoding="utf-8") == "my own drawing"


def test_an_update_is_told_and_may_be_put_beside(tmp_path):
    out = tmp_path / "mine"
    mine.copy(out)
    noted = json.loads((out / mine.NOTE).read_text())
    (out / mine.NOTE).write_text(json.dumps(noted | {"03_baselines.ipynb": "of an older one"}))
    before = (out / "03_baselines.ipynb").read_bytes()
    assert mine.copy(out) == ([], ["03_baselines.ipynb"])
    assert mine.beside(("03",), out) == ["03_baselines (new).ipynb"]
    assert mine.beside(("03",), out) == ["03_baselines (new 2).ipynb"]
    assert (out / "03_baselines.ipynb").read_bytes() == before
    assert mine.copy(out) == ([], [])  # told once


@pytest.mark.parametrize("content", ["", "{", "[1]", "\x00"])
def test_a_damaged_note_costs_nothing(tmp_path, content):
    out = tmp_path / "mine"
    mine.copy(out)
    (out / mine.NOTE).write_text(content)
    fresh, changed = mine.copy(out)
    assert fresh == [] and len(changed) == len(LESSONS)


def test_a_file_in_the_way_is_said(tmp_path, capsys, monkeypatch):
    (tmp_path / "mine").write_text("in the way")
    monkeypatch.setattr(mine, "OUT", tmp_path / "mine")
    monkeypatch.setattr(mine.copy, "__defaults__", (tmp_path / "mine",))
    assert mine.main([]) == 1
    assert "cannot be written" in capsys.readouterr().err
    assert (tmp_path / "mine").read_text() == "in the way"


def test_git_does_not_look_into_it():
    assert "mine/" in (ROOT / ".gitignore").read_text().splitlines()


# --- In the browser ----------------------------------------------------------------------------

PICTURES = "all => all.map(image => image.complete && image.naturalWidth > 0)"


@pytest.mark.browser
def test_a_student_opens_a_notebook_and_commits_to_a_guess(folders, chromium):
    with lab.serving(folders[0]) as running, running.open(chromium, "01_the_exact_bandit.ipynb") as page:
        page.evaluate(lab.RUN_ALL)
        assert page.locator(lab.ERROR_OUTPUTS).count() == 0
        box = page.locator(".pglab-guess").first
        box.scroll_into_view_if_needed()
        box.get_by_role("button").first.click()
        box.get_by_text("You guessed").wait_for(timeout=20_000)
        solution = page.locator(".jp-MarkdownOutput", has_text="Solution 1a: your instructor has it.")
        for _ in range(60):  # JupyterLab renders what is in view
            if solution.count():
                break
            page.mouse.wheel(0, 600)
            page.wait_for_timeout(100)
        solution.first.scroll_into_view_if_needed()
        assert page.get_by_text("Exercise 1a: not done yet.").is_visible()
        assert page.problems == []


@pytest.mark.browser
def test_my_copy_opens_with_its_drawings_and_answers_out_of_sight(chromium, tmp_path):
    mine.copy(tmp_path / "mine")
    with lab.serving(tmp_path / "mine") as running, running.open(chromium, "00_start_here.ipynb") as page:
        pictures = page.locator(".jp-MarkdownOutput img")
        pictures.first.wait_for(timeout=30_000)
        page.wait_for_function(
            "() => [...document.querySelectorAll('.jp-MarkdownOutput img')].every(i => i.complete)"
        )
        assert all(pictures.evaluate_all(PICTURES))
        page.evaluate(lab.RUN_ALL)
        assert page.locator(lab.ERROR_OUTPUTS).count() == 0
        assert page.problems == []
