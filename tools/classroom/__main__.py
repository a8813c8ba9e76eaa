"""python -m classroom WORD, as make.py calls it: slides, app, student or mine."""

import importlib
import sys

WORDS = ("slides", "app", "student", "mine")

if __name__ == "__main__":
    word, *more = sys.argv[1:] or ["help"]
    if word not in WORDS:
        sys.exit(f"There is no {word!r} here; the words are {', '.join(WORDS)}.")
    sys.exit(importlib.import_module(f"classroom.{word}").main(more))
