"""A folder for students, without solutions, and the matching one for whoever teaches.

    make student                       into build/student and build/instructor
    make student ARGS="03 04"          some notebooks

The students' notebooks keep stubs and checks. The instructor's have each solution in its cell, so that
Run All says "right" at each of them, and a file answers.md with every prediction and every solution. What
stands there and was changed since is never written over.
"""

import hashlib
import json
import re
import shutil
import sys

import nbformat

from classroom.lesson import (
    FOLD,
    ROOT,
    SOLUTION,
    asked,
    choices_of,
    chosen_lessons,
    exercise_of,
    noted,
    solutions,
    with_answers_out_of_sight,
)
from pglab import _files

OUT, MADE = ROOT / "build", ".class.json"  # the note says what was made: {file: hash}
TESTS = re.compile(
    r"<details><summary>(Tests for [^<]*)</summary>.*?</details>", re.S
)  # of the museum's cases
POINTER = "*Solution {0}: your instructor has it. The check gives hints as often as you like.*"


def for_students(notebook):
    """The notebook with each solution replaced by a line that says who has it."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = SOLUTION.sub(lambda match: POINTER.format(match[1]), cell.source)
            cell.source = TESTS.sub(lambda match: f"*{match[1]}: your instructor has them.*", cell.source)
    return with_answers_out_of_sight(notebook)


def for_instructors(notebook):
    """The notebook with each solution in its cell; what the stub had shown is gone."""
    known = solutions(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code" and (name := exercise_of(cell)):
            cell.source = known[name].strip()
            cell.outputs, cell.execution_count = [], None
    return notebook


def answers(lesson):
    """What an instructor wants at hand, in Markdown: predictions, then solutions."""
    notebook, lines = lesson.notebook(), [f"# {lesson.number} {lesson.title}", "## Predictions"]
    for cell in notebook.cells:
        for prediction in asked(cell) if cell.cell_type == "code" else []:
            right = f"**{prediction.right}.** " if prediction.right else ""
            question = f"**{prediction.name}** {prediction.question}{choices_of(prediction)}"
            lines.append(f"{question}\\\n{right}{prediction.answer}")
    lines.append("## Exercises")
    for cell in notebook.cells:
        tests = TESTS.finditer(cell.source)
        lines += [f"**{match[1]}**\n\n{FOLD.findall(match[0])[0][1].strip()}" for match in tests]
        for name, code, why in SOLUTION.findall(cell.source) if cell.cell_type == "markdown" else []:
            lines.append(f"**{name}**\n\n```python\n{code.strip()}\n```\n{why.strip()}".strip())
    return "\n\n".join(lines)


def build(chosen=(), out=OUT):
    """Write both folders; (the students', the instructor's).

    Raises:
      ValueError: a number that no notebook has, or a file there that somebody has changed since it was made.
    """
    picked = chosen_lessons(chosen)
    students, instructors = out / "student", out / "instructor"
    files = {instructors / "answers.md": "\n\n".join(map(answers, picked)) + "\n"}
    for folder, changed in ((students, for_students), (instructors, for_instructors)):
        files |= {
            folder / each.path.name: nbformat.writes(changed(each.notebook())) + "\n" for each in picked
        }
    contents = {path: text.encode() for path, text in files.items()}
    _refuse_to_lose_work(contents, out / MADE)
    _files.write_whole(contents)
    for folder in (students, instructors):
        shutil.copytree(ROOT / "notebooks" / "drawings", folder / "drawings", dirs_exist_ok=True)
    made = noted(out / MADE) | {str(path.relative_to(out)): _hash(data) for path, data in contents.items()}
    _files.write_whole({out / MADE: json.dumps(made, indent=1).encode()})
    return students, instructors


def _refuse_to_lose_work(contents, note):
    """A file that somebody has changed since it was made is not written over."""
    made, out = noted(note), note.parent
    changed = [
        str(path.relative_to(out))
        for path, data in contents.items()
        if path.exists()
        and _hash(path.read_bytes()) not in (made.get(str(path.relative_to(out))), _hash(data))
    ]
    if changed:
        raise ValueError(
            f"{', '.join(changed)} in {out.name}/ has been changed since it was made. Move it, or delete it, and "
            "say this again; nothing was written."
        )


def _hash(data):
    return hashlib.sha256(data).hexdigest()


def main(arguments):
    try:
        students, instructors = build(tuple(arguments))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    print(
        f"For students: {students.relative_to(ROOT)}. For you: {instructors.relative_to(ROOT)}, with answers.md."
    )
    print("Both need the environment of this project (make env, or conda).")
    return 0
