"""A folder for students, without solutions, and the matching one for whoever teaches.

    make student                       into build/student and build/instructor
    make student ARGS="03 04"          some notebooks

The students' notebooks keep stubs and checks. The instructor's have each solution in its cell, so that
Run All says "right" everywhere, and a file answers.md with every prediction and every solution.
"""

import shutil
import sys

import nbformat

from classroom.lesson import (
    ROOT,
    SOLUTION,
    asked,
    choices_of,
    chosen_lessons,
    exercise_of,
    solutions,
    with_answers_out_of_sight,
)

OUT = ROOT / "build"
POINTER = "*Solution {0}: your instructor has it. The check gives hints as often as you like.*"


def for_students(notebook):
    """The notebook with each solution replaced by a line that says who has it."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = SOLUTION.sub(lambda match: POINTER.format(match[1]), cell.source)
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
        for name, code, why in SOLUTION.findall(cell.source) if cell.cell_type == "markdown" else []:
            lines.append(f"**{name}**\n\n```python\n{code.strip()}\n```\n{why.strip()}".strip())
    return "\n\n".join(lines)


def build(chosen=(), out=OUT):
    """Write both folders anew; (the students', the instructor's).

    Raises:
      ValueError: a number that no notebook has.
    """
    picked = chosen_lessons(chosen)
    folders = {out / "student": for_students, out / "instructor": for_instructors}
    for folder, changed in folders.items():
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(ROOT / "notebooks" / "drawings", folder / "drawings")
        for lesson in picked:
            nbformat.write(changed(lesson.notebook()), folder / lesson.path.name)
    students, instructors = folders
    (instructors / "answers.md").write_text("\n\n".join(map(answers, picked)) + "\n", encoding="utf-8")
    return students, instructors


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
