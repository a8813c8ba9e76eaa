"""What the command lines share: a bad choice is answered in one line, an error becomes an exit code."""

import argparse


class Parser(argparse.ArgumentParser):
    """A bad choice is answered in one line."""

    def error(self, message):
        self.exit(2, f"{message} ({self.prog} --help lists the options)\n")


def outcome(run, *given, stopped="Stopped."):
    """Calls run(*given), which returns an exit code.

    Args:
      run: a function.
      given: its arguments.
      stopped: what is said of a Ctrl-C that says nothing itself.

    Returns:
      the exit code: its own; 1 if something could not be written; 2 for a bad choice; 130 after Ctrl-C;
      and the sentence that belongs on stderr, "" for its own code.
    """
    try:
        return run(*given), ""
    except ValueError as error:
        return 2, str(error)
    except OSError as error:
        return 1, str(error.strerror or error)
    except KeyboardInterrupt as error:
        return 130, str(error) or stopped
