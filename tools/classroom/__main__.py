"""python -m classroom WORD, as make.py calls it: slides, app, student or mine."""

import importlib
import sys

WORDS = ("slides", "app", "student", "mine")


def main(arguments):
    word, *more = arguments or ["--help"]
    if word not in WORDS:
        print(f"The words are {', '.join(WORDS)}; each knows --help.")
        return 0 if word in ("-h", "--help") else 2
    module = importlib.import_module(f"classroom.{word}")
    if word in ("slides", "student") and {"-h", "--help"} & set(more):
        print(module.__doc__)
        return 0
    try:
        return module.main(more)
    except OSError as error:
        print(f"{error.filename} cannot be written: {error.strerror}.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
