"""What a reader has done so far, notebook by notebook."""

from pglab import predictions, progress

TITLES = {
    "0": "00 Start here",
    "1": "01 The exact bandit",
    "2": "02 REINFORCE",
    "3": "03 Baselines",
    "4": "04 Trajectories",
    "5": "05 Critics",
    "6": "06 Constraints",
    "7": "07 Language models",
    "8": "08 GRPO on a small model",
    "9": "09 The variants",
    "10": "10 The bug museum",
    "11": "11 Scaling out",
}


def show_progress():
    """Print, for every notebook, which exercises are done and how many predictions were made."""
    from pglab.exercises.checking import all_exercises

    solved, exercises = set(progress.done()), all_exercises()
    for number, title in TITLES.items():
        mine = [e for e in exercises if e.name[:-1] == number]
        print(f"{title}: {sum(e.name in solved for e in mine)} of {len(mine)} exercises, {_guessed(number)}")
        for e in mine:
            mark = "[x]" if e.name in solved else "[ ]"
            print(f"  {mark} {e.name}  {e.title} ({e.difficulty}, {e.minutes} min)")


def _guessed(number):
    asked = [p for p in predictions.all_predictions() if p.name.partition(".")[0] == number]
    guesses = progress.guesses()
    made = [p for p in asked if p.name in guesses]
    judged = [p for p in made if p.choices]  # what is written freely, nobody judges
    hits = sum(guesses[p.name] == p.right for p in judged)
    came_true = f", {hits} of {len(judged)} came true" if judged else ""
    return f"{len(made)} of {len(asked)} predictions{came_true}"
