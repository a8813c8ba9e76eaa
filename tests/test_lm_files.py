"""Checkpoints: there and back bit by bit; anything damaged is refused with the command that makes it again."""

import hashlib
import json
import os
import struct

import pytest
import torch
from models_by_hand import shaken
from refusals import check
from safetensors.torch import load_file, save_file

from pglab import lm
from pglab.lm import files

pytestmark = pytest.mark.filterwarnings("error")

COMMAND = "python -m pglab.training pretrain --task TASK --out"
SHAPE = dict(vocabulary=7, context=6, width=8, layers=2, heads=2)


@pytest.fixture
def saved(tmp_path):
    model = shaken(1, dtype=torch.float32, **SHAPE)
    path = tmp_path / "tiny.safetensors"
    return model, path, lm.save(model, path, {"task": "addition", "score": 0.5})


def same(model, other):
    pairs = zip(model.named_parameters(), other.named_parameters(), strict=True)
    return all(a == b and p.equal(q) and p.dtype == q.dtype for (a, p), (b, q) in pairs)


# ---- There and back


def test_there_and_back_bit_by_bit(saved):
    model, path, card = saved
    back = lm.load(path)
    assert same(model, back) and back.shape == SHAPE and back.head.weight is back.tokens.weight
    assert same(model, lm.load(str(path), "cpu"))
    tokens = torch.tensor([[1, 6, 0, 3]])
    assert back(tokens).equal(model(tokens)) and all(p.requires_grad for p in back.parameters())
    assert card == lm.read_card(path) == json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert card["task"] == "addition" and card["score"] == 0.5 and card["shape"] == SHAPE
    assert card["parameters"] == sum(p.numel() for p in model.parameters())
    assert card["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_tied_head_is_in_the_file_once(saved):
    model, path, _ = saved
    tensors = load_file(path)
    assert tensors.keys() == dict(model.named_parameters()).keys() and "head.weight" not in tensors
    assert sum(t.numel() for t in tensors.values()) == sum(p.numel() for p in model.parameters())
    (length,) = struct.unpack("<Q", path.read_bytes()[:8])
    header = json.loads(path.read_bytes()[8 : 8 + length])
    assert json.loads(header["__metadata__"]["shape"]) == SHAPE
    assert path.stat().st_size == 8 + length + 4 * sum(t.numel() for t in tensors.values())


@pytest.mark.parametrize(
    "dtype, near", [(torch.float16, 2**-11), (torch.bfloat16, 2**-8), (torch.float64, 0)]
)
def test_other_precisions(saved, dtype, near):
    model, path, _ = saved
    size = path.stat().st_size
    lm.save(model, path, dtype=dtype)
    assert {t.dtype for t in load_file(path).values()} == {dtype}
    back = lm.load(path)
    for p, q in zip(model.parameters(), back.parameters(), strict=True):
        assert p.dtype == q.dtype == torch.float32 and q.equal(p.to(dtype).float())
        assert ((p - q).abs() <= near * p.abs() + 1e-7).all()
    assert (path.stat().st_size < 0.7 * size) == (dtype != torch.float64)


def test_a_model_in_double_precision_and_one_that_was_trained(saved):
    model, path, _ = saved
    lm.save(model.double(), path)
    assert next(model.parameters()).dtype == torch.float64 and same(model.float(), lm.load(path))
    model(torch.tensor([[1, 2]])).sum().backward()
    lm.save(model, path)
    assert lm.load(path).norm.weight.grad is None


def test_saving_twice_gives_the_same_bytes(saved, tmp_path):
    model, path, card = saved
    again = lm.save(model, tmp_path / "deep" / "tiny.safetensors", {"task": "addition", "score": 0.5})
    assert again == card and (tmp_path / "deep" / "tiny.safetensors").read_bytes() == path.read_bytes()
    lm.save(
        model, path, {"shape": "no", "sha256": "no", "text": "\u2264"}
    )  # what is known is not overwritten
    assert lm.read_card(path)["shape"] == SHAPE and lm.read_card(path)["text"] == "\u2264"
    lm.load(path)


def test_a_name_stands_for_a_file_of_the_project(saved, monkeypatch):
    _, path, card = saved
    monkeypatch.setattr(files, "DATA", path.parent)
    assert lm.read_card("tiny") == card and lm.load("tiny").shape == SHAPE
    check(
        lambda: lm.load("tinny"), f"There is no tinny.json in {path.parent}. Checkpoints of the project: tiny"
    )
    check(lambda: lm.load(path.parent / "no" / "no.safetensors"), "There is no no.json in")
    path.unlink()
    path.with_suffix(".json").unlink()
    check(
        lambda: lm.read_card("tiny"),
        f"There is no tiny.json in {path.parent}. Checkpoints of the project: none",
    )


# ---- Damaged, changed, lost


def with_right_hash(path, data):
    """Weights of any content, with a card that vouches for them."""
    path.write_bytes(data)
    change_card(path, sha256=hashlib.sha256(data).hexdigest())


def change_card(path, **entries):
    card = path.with_suffix(".json")
    card.write_text(json.dumps(json.loads(card.read_text(encoding="utf-8")) | entries), encoding="utf-8")


def flip(path, place):
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


def retensored(path, change):
    tensors = load_file(path)
    change(tensors)
    save_file(tensors, path)
    with_right_hash(path, path.read_bytes())


def shape_of(path, **changes):
    change_card(path, shape=SHAPE | changes)


CHANGED, NO_MODEL = (
    "tiny.safetensors is damaged or was changed",
    "tiny.safetensors does not hold the model of its card",
)
NO_CARD = "tiny.safetensors has lost its card, tiny.json"
DAMAGE = {
    "one byte too few": (lambda path: path.write_bytes(path.read_bytes()[:-1]), CHANGED),
    "one byte too many": (lambda path: path.write_bytes(path.read_bytes() + b"\0"), CHANGED),
    "one bit of the weights": (lambda path: flip(path, -5), CHANGED),
    "one bit of the header": (lambda path: flip(path, 20), CHANGED),
    "empty": (lambda path: path.write_bytes(b""), CHANGED),
    "hash": (lambda path: change_card(path, sha256="0" * 64), CHANGED),
    "hash of another type": (lambda path: change_card(path, sha256=None), CHANGED),
    "card lost": (lambda path: path.with_suffix(".json").unlink(), NO_CARD),
    "card empty": (lambda path: path.with_suffix(".json").write_bytes(b""), "tiny.json cannot be read"),
    "card no text": (lambda path: path.with_suffix(".json").write_bytes(b"\xff"), "tiny.json cannot be read"),
    "card cut off": (lambda path: path.with_suffix(".json").write_text('{"a": '), "tiny.json cannot be read"),
    "card a list": (lambda path: path.with_suffix(".json").write_text("[1]"), "tiny.json holds no card"),
    "weights lost": (lambda path: path.unlink(), "tiny.safetensors cannot be read"),
    "no safetensors": (lambda path: with_right_hash(path, b"not weights at all"), NO_MODEL),
    "nothing, with its hash": (lambda path: with_right_hash(path, b""), NO_MODEL),
    "truncated, with its hash": (lambda path: with_right_hash(path, path.read_bytes()[:-1]), NO_MODEL),
    "width": (lambda path: shape_of(path, width=12), NO_MODEL),
    "context": (lambda path: shape_of(path, context=7), NO_MODEL),
    "layers": (lambda path: shape_of(path, layers=1), NO_MODEL),
    "more layers": (lambda path: shape_of(path, layers=3), NO_MODEL),
    "heads that do not divide": (lambda path: shape_of(path, heads=3), NO_MODEL),
    "shape of words": (lambda path: shape_of(path, width="8"), NO_MODEL),
    "shape with more": (lambda path: shape_of(path, depth=2), NO_MODEL),
    "shape lost": (lambda path: change_card(path, shape=None), NO_MODEL),
    "a tensor too many": (lambda path: retensored(path, lambda t: t.update(more=torch.ones(1))), NO_MODEL),
    "a tensor too few": (lambda path: retensored(path, lambda t: t.pop("norm.weight")), NO_MODEL),
    "a tensor transposed": (
        lambda path: retensored(path, lambda t: t.update({"tokens.weight": t["tokens.weight"].T.contiguous()})),
        NO_MODEL,
    ),
    "a tensor that would stretch": (
        lambda path: retensored(path, lambda t: t.update({"norm.weight": torch.ones(1)})),
        NO_MODEL,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_refused_and_the_command_named(saved, name):
    _, path, _ = saved
    damage, message = DAMAGE[name]
    damage(path)
    check(lambda: lm.load(path), message)
    with pytest.raises(ValueError) as caught:
        lm.load(path)
    assert COMMAND in str(caught.value) and str(path) in str(caught.value)


def test_the_card_may_name_its_own_command(saved):
    model, path, _ = saved
    lm.save(model, path, {"command": "python -m pglab.training pretrain --task tiny --seed 3"})
    flip(path, -1)
    with pytest.raises(
        ValueError, match="Make it again with `python -m pglab.training pretrain --task tiny --seed 3 --out "
    ):
        lm.load(path)


# ---- Saving that fails


def test_what_save_refuses(saved):
    model, path, _ = saved
    before = {p: p.read_bytes() for p in (path, path.with_suffix(".json"))}
    check(lambda: lm.save(model, path.with_suffix(".pt")), "path is ")
    check(lambda: lm.save(model, path.with_suffix("")), "path is ")
    for dtype in (torch.int8, torch.bool, torch.complex64, None, "float16"):
        check(
            lambda dtype=dtype: lm.save(model, path, dtype=dtype),
            f"dtype is {dtype}; it must be one of torch.fl",
        )
    for card in ({"a": {1, 2}}, {"a": model}, {(1, 2): 3}, 5):
        check(lambda card=card: lm.save(model, path, card), "card cannot be written")
    check(lambda: lm.load(path, "gpu"), "device is 'gpu'")
    assert {p: p.read_bytes() for p in path.parent.iterdir()} == before


def test_a_full_disk_leaves_the_old_pair(saved, monkeypatch):
    _, path, card = saved
    calls, flush = [], os.fsync

    def fails_at_the_card(handle):
        calls.append(handle)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        flush(handle)

    monkeypatch.setattr(os, "fsync", fails_at_the_card)
    with pytest.raises(OSError, match="tiny.json could not be written"):
        lm.save(shaken(9, **SHAPE), path)
    assert sorted(p.name for p in path.parent.iterdir()) == ["tiny.json", "tiny.safetensors"]
    assert lm.read_card(path) == card and lm.load(path).shape == SHAPE
