"""What is said of bad input: on one line, short, and never cut inside a word."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pglab import _checks, exercises, tasks

LONG = "the quick brown fox jumps over the lazy dog and then it sleeps for a very long while in the warm sun of June"


def test_a_long_value_ends_with_a_whole_word():
    said = _checks.shown(LONG)
    assert (
        said == "'the quick brown fox jumps over the lazy dog and then it sleeps for a very..."
        and len(said) <= 80
    )
    assert _checks.shown("four words, no more") == "'four words, no more'"
    assert _checks.shown("x" * 500) == "'" + "x" * 76 + "..."  # no word to keep whole
    assert _checks.shown([3] * 1_000_000) == "[3, 3, 3, 3, 3, 3, ...]"
    assert "\n" not in _checks.shown(np.ones((9, 9)))


@given(st.text(alphabet=st.sampled_from("ab \n\t"), max_size=300), st.integers(10, 120))
def test_whatever_is_shortened_keeps_whole_words(text, most):
    said, words = _checks.brief(text, most), text.split()
    assert len(said) <= most and "\n" not in said
    kept = said.removesuffix("...").split()
    whole = kept == words[: len(kept)]
    assert whole or (len(kept) == 1 and words[0].startswith(kept[0]) and len(words[0]) > most - 4)


@pytest.mark.parametrize("call", [
    lambda: tasks.Addition().verify(LONG, "1"),
    lambda: tasks.check_expression([LONG] * 50),
    lambda: tasks.Addition().verify("12+34=", [LONG] * 50),
])  # fmt: skip
def test_a_refusal_is_one_short_line(call):
    with pytest.raises(ValueError) as caught:
        call()
    said = str(caught.value)
    assert "\n" not in said and len(said) < 200 and said.endswith(".")
    cut = said.partition("...")[0].rpartition(" ")[2].strip("'[")
    assert cut in LONG.split() or "..." not in said, said


def answer(name, given, capsys):
    exercises.check(name, given)
    return capsys.readouterr().out


def raises(text):
    def f(*_):
        raise RuntimeError(text)

    return f


def test_another_library_s_error_is_not_repeated_on_a_page(capsys):
    page = "Expected all tensors to be on the same device\n" + "\n".join(
        f"frame {i} of the stack" for i in range(400)
    )
    said = answer("1a", raises(page), capsys)
    assert said.count("\n") == 1 and len(said) < 320 and said.endswith("...\n")
    assert said.split("...")[0].split()[-1] in page.split()
    assert answer("1a", raises(""), capsys).endswith("Your code raised RuntimeError\n")


def test_a_wrong_answer_of_many_numbers_shows_the_first(capsys):
    from pglab.exercises.checking import judge_function

    found = judge_function(lambda x: x + 1, [(np.zeros((400, 400)),)], lambda x: x, [])
    assert len(found) < 700 and found.count("... 400 rows") == 3 and "... 400 numbers" in found
