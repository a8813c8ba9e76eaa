"""The live picture: what it sends to the front end while a cell runs, and what it leaves behind."""

import json

import pytest
from refusals import check

from pglab import figures
from pglab.figures.layout import scene
from pglab.figures.svg import elements
from pglab.sliders import Live
from pglab.sliders import live as module


def picture(heights):
    return figures.Picture([figures.curves("reward", range(len(heights)), {"grpo": heights})])


def frame(live):
    return json.loads(live._drawing.frame)


def test_it_draws_what_it_is_called_with_as_the_explorers_do():
    live = Live(picture, wait=0, show=False)
    assert frame(live)["elements"] == []
    live([0.1, 0.4])
    drawn = frame(live)
    assert drawn["elements"] == json.loads(json.dumps(elements(scene(picture([0.1, 0.4])))))
    assert drawn["key"] == "" and drawn["words"] == figures.describe(picture([0.1, 0.4]))
    live([0.1, 0.4, 0.9])
    assert frame(live)["elements"] != drawn["elements"] and live.pictures == 2


def test_news_that_come_too_soon_are_passed_over_but_the_last_is_not(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(module.time, "perf_counter", lambda: clock[0])
    live = Live(picture, wait=0.1, show=False)
    for n in range(1, 11):
        live([0.5] * (n + 1))
        clock[0] += 0.04
    assert live.pictures == 4  # at 0, 0.12, 0.24, 0.36 seconds
    live.finish([0.25, 0.75])
    assert live.pictures == 5 and frame(live)["words"] == figures.describe(picture([0.25, 0.75]))


def test_what_is_stored_is_one_constant_sentence_beside_the_widget(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    live = Live(picture, wait=0)
    assert shown == [live]
    before = live._repr_mimebundle_()[0]
    live([0.1, 0.4])
    after = live._repr_mimebundle_()[0]
    assert before["text/plain"] == after["text/plain"] == module.WORDS and "image/png" not in after
    assert "application/vnd.jupyter.widget-view+json" in after


@pytest.mark.parametrize("wrong", [None, "reward", figures.curves("a", [0, 1], {"grpo": [0, 1]})])
def test_a_function_that_gives_no_picture_is_refused(wrong):
    live = Live(lambda: wrong, show=False)
    check(live, f"picture returned a {type(wrong).__name__}; it must return a figures.Picture")
