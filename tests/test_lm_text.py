"""Text to tokens and back; which device is chosen."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from refusals import check

from pglab import lm
from pglab.lm import devices

pytestmark = pytest.mark.filterwarnings("error")

TEXTS = st.text(lm.ALPHABET[1:], max_size=30)

# ---- Text


def test_the_alphabet():
    assert len(lm.ALPHABET) == len(set(lm.ALPHABET)) == 32 and lm.ALPHABET[lm.END] == "\n" and lm.END == 0


@given(TEXTS)
def test_there_and_back(text):
    tokens = lm.encode(text)
    assert tokens.dtype == torch.int64 and tokens.shape == (len(text),) and lm.END not in tokens
    assert [lm.ALPHABET[token] for token in tokens] == list(text)
    for form in (tokens, tokens.tolist(), tokens.numpy(), tokens.int()):
        assert lm.decode(form) == text


@given(TEXTS, st.lists(st.integers(-5, 99), max_size=5))
def test_what_follows_the_end_token_is_not_read(text, rest):
    assert lm.decode([*lm.encode(text).tolist(), lm.END, *rest]) == text


@given(st.lists(TEXTS.filter(len), min_size=1, max_size=6))
def test_padding_stands_left(texts):
    tokens, mask = lm.encode_all(texts)
    length = max(map(len, texts))
    assert tokens.shape == mask.shape == (len(texts), length) and mask.dtype == torch.bool
    assert tokens.dtype == torch.int64
    for text, row, seen in zip(texts, tokens, mask, strict=True):
        assert seen.tolist() == [False] * (length - len(text)) + [True] * len(text)
        assert lm.decode(row[seen]) == text and (row[~seen] == lm.END).all()


@given(st.lists(TEXTS, max_size=4))
def test_several_at_once(texts):
    ended = [[*lm.encode(text).tolist(), lm.END] for text in texts]
    assert lm.decode_all(ended) == texts
    rows = np.zeros((len(texts), 31), dtype=np.int64)
    for row, tokens in zip(rows, ended, strict=True):
        row[: len(tokens)] = tokens
    assert lm.decode_all(rows) == lm.decode_all(torch.tensor(rows)) == texts


@given(st.characters().filter(lambda character: character not in lm.ALPHABET))
def test_an_unknown_character_is_named(character):
    check(lambda: lm.encode(f"1{character}2"), f"text holds {character!r}, which is not in the alphabet")


REFUSED = {
    "bytes": (lambda: lm.encode(b"1+1"), "text is a bytes"),
    "a list": (lambda: lm.encode(["1"]), "text is a list"),
    "None": (lambda: lm.encode(None), "text is a NoneType"),
    "one str": (lambda: lm.encode_all("1+1"), "texts is one str"),
    "a number": (lambda: lm.encode_all(3), "texts is one int"),
    "no texts": (lambda: lm.encode_all([]), "texts must hold at least one text"),
    "an empty text": (lambda: lm.encode_all(["1", ""]), "texts must hold"),
    "a number among texts": (lambda: lm.encode_all(["1", 2]), "text is a int"),
    "too large": (lambda: lm.decode([1, 32]), "tokens holds 32"),
    "negative": (lambda: lm.decode([1, -1]), "tokens holds -1"),
    "fractions": (lambda: lm.decode([1, 1.5]), "tokens holds 1.5"),
    "floats": (lambda: lm.decode(torch.ones(2)), "tokens holds 1.0"),
    "booleans": (lambda: lm.decode(torch.tensor([True])), "tokens holds True"),
    "text for tokens": (lambda: lm.decode("12"), "tokens holds '1'"),
    "rows for one": (lambda: lm.decode([[1, 2]]), "tokens holds [1, 2]"),
    "one token": (lambda: lm.decode(torch.tensor(3)), "tokens is 3"),
    "one for several": (lambda: lm.decode_all(torch.tensor([1, 2])), "tokens is 1"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    check(*REFUSED[name])


# ---- Devices


@pytest.fixture
def machine(monkeypatch):
    """A machine with so many NVIDIA GPUs, and an Apple GPU or not."""

    def pretend(cuda=0, mps=False):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: cuda)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)

    pretend()
    return pretend


@pytest.mark.parametrize(
    "cuda, mps, best",
    [(0, False, "cpu"), (0, True, "mps"), (1, False, "cuda"), (2, False, "cuda"), (1, True, "cuda")],
)
def test_auto_takes_the_best(machine, cuda, mps, best):
    machine(cuda, mps)
    assert lm.choose_device() == lm.choose_device("auto") == torch.device(best)
    assert lm.choose_device("cpu") == torch.device("cpu")


def test_a_named_gpu_is_taken_if_it_is_there(machine):
    machine(cuda=2, mps=True)
    for name in ("cuda", "cuda:0", "cuda:1", "mps", torch.device("cuda:1"), torch.device("cuda")):
        assert lm.choose_device(name) == torch.device(name)
    assert lm.choose_device("cuda:01") == torch.device("cuda:1")
    assert lm.choose_device(torch.device("mps:0")).type == "mps"
    for name in (torch.device("cpu"), torch.device("cpu:0"), torch.device("meta")):
        assert lm.choose_device(name) is name


def test_a_gpu_that_is_not_there(machine):
    for name in ("cuda", "cuda:0", "cuda:1", torch.device("cuda"), torch.device("cuda:5")):
        check(lambda name=name: lm.choose_device(name), "device is 'cuda', which needs an NVIDIA GPU")
    with pytest.raises(ValueError, match="make env TORCH=cuda.*device='cpu', or 'auto'"):
        lm.choose_device("cuda")
    for name in ("mps", torch.device("mps")):
        check(
            lambda name=name: lm.choose_device(name), "device is 'mps', which needs a Mac with an Apple GPU;"
        )
    machine(cuda=1)
    check(lambda: lm.choose_device("cuda:1"), "device is 'cuda:1', but there are only 1, counted from cuda:0")
    machine(cuda=2)
    for name in ("cuda:5", torch.device("cuda:5")):
        check(lambda name=name: lm.choose_device(name), "device is 'cuda:5', but there are only 2")
    check(lambda: lm.choose_device("cuda:" + "9" * 30), "device is 'cuda:999")


NONSENSE = [
    "",
    "gpu",
    "CUDA",
    "cpu:0",
    "cuda:",
    "cuda:x",
    "cuda:-1",
    "cuda:1:1",
    "cuda: 1",
    "auto:1",
    "mps:0",
]


@pytest.mark.parametrize("name", [*NONSENSE, "cuda:²", "cuda:١", None, 0, True])
def test_nonsense_is_no_device(machine, name):
    machine(cuda=3, mps=True)
    check(lambda: lm.choose_device(name), f"device is {name!r}; it must be one of auto, cpu, cuda, mps, or")


def test_the_words_for_a_card(monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "NVIDIA H200")
    assert devices.words(torch.device("cuda:0")) == "cuda (NVIDIA H200)"
    assert devices.words(torch.device("cpu")).startswith("cpu (")
