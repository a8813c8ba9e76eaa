"""Wrong functions at random: near the right one, like it in shape, or unlike it; no check takes one for right."""

import sys

import numpy as np
import pytest

from pglab.exercises import all_exercises, check

NEAR, ROUNDS = 1e-6, 2  # what a check takes for equal; how often each kind of mistake is tried


def asked_of(exercise, monkeypatch):
    """(cases, right function) of an exercise whose check compares functions; None for another."""
    module, seen = sys.modules[exercise.judge.__module__], []
    if not hasattr(module, "judge_function"):
        return None

    def look(function, cases, right, mistakes, *more, **settings):
        seen.append((list(cases), right))
        return "seen"

    with monkeypatch.context() as patch:
        patch.setattr(module, "judge_function", look)
        for answer in (lambda *a: np.zeros(2), [lambda *a: np.zeros(2)] * 2):
            try:
                exercise.judge(answer)
            except Exception:  # this one asks for something else
                continue
            if seen:
                return seen[0]
    return None


def wrong_functions(right, rng):
    """Functions of the right shape that are off by noise, by a factor, by order, by a copy, or altogether."""
    factor, shift = 1 + rng.uniform(0.01, 2) * rng.choice([-1, 1]), rng.normal()
    noise = {
        name: rng.normal(scale=scale, size=100) for name, scale in {"a little": 1e-3, "much": 10.0}.items()
    }

    def of(change):
        return lambda *given: change(np.asarray(right(*given), dtype=float))

    for each in noise.values():
        yield of(lambda y, each=each: y + each[: y.size].reshape(y.shape))
    yield of(lambda y: y * factor)
    yield of(lambda y: y + shift)
    yield of(lambda y: np.roll(y, 1))
    yield of(lambda y: np.full_like(y, y.ravel()[0] if y.size else 0))
    yield of(lambda y: np.flip(y))
    yield of(lambda y: noise["much"][: y.size].reshape(y.shape))
    yield of(lambda y: -y)


def is_wrong(function, cases, right):
    pairs = [(np.asarray(function(*case)), np.asarray(right(*case), dtype=float)) for case in cases]
    return not all(np.allclose(a, b, rtol=NEAR, atol=NEAR) for a, b in pairs)


@pytest.mark.parametrize("exercise", all_exercises(), ids=lambda exercise: exercise.name)
def test_no_wrong_function_is_taken_for_right(exercise, monkeypatch, capsys):
    found = asked_of(exercise, monkeypatch)
    if found is None:
        return  # its check asks for words or numbers: test_exercises.py tries those
    rng, tried = np.random.default_rng(int(exercise.name[:-1]) * 100 + ord(exercise.name[-1])), 0
    for _ in range(ROUNDS):
        for function in wrong_functions(found[1], rng):
            if is_wrong(function, *found):
                check(exercise.name, function)
                said = capsys.readouterr().out
                assert "right. Well done." not in said and said.count("\n") == 1, said
                tried += 1
    assert tried >= 2 * ROUNDS
    check(exercise.name, found[1])
    assert "right. Well done." in capsys.readouterr().out  # it is these very cases that are judged


def test_most_exercises_are_tried(monkeypatch):
    assert sum(asked_of(each, monkeypatch) is not None for each in all_exercises()) >= 25
