"""The transformer against the same in NumPy; causality, padding, the tied head, the start, bad input."""

import math

import numpy as np
import pytest
import torch
from models_by_hand import numpy_logits, shaken
from refusals import check

from pglab import lm
from pglab.lm.model import padded

pytestmark = pytest.mark.filterwarnings("error")

SHAPES = [
    dict(vocabulary=32, context=9, width=8, layers=2, heads=2),
    dict(vocabulary=5, context=9, width=12, layers=1, heads=4),
    dict(vocabulary=3, context=9, width=6, layers=3, heads=1),
]


def tokens_for(model, batch, length, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, model.shape["vocabulary"], (batch, length), generator=generator)


# ---- The forward pass


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape['layers']} layers")
@pytest.mark.parametrize("dtype, near", [(torch.float64, 1e-12), (torch.float32, 2e-5)])
def test_the_logits_are_those_of_numpy(shape, dtype, near):
    model = shaken(5, dtype=dtype, **shape)
    for length in (1, 2, 9):
        tokens = tokens_for(model, 3, length)
        logits = model(tokens)
        assert logits.shape == (3, length, shape["vocabulary"]) and logits.dtype == dtype
        for row, wanted in zip(logits.detach(), tokens.numpy(), strict=True):
            np.testing.assert_allclose(row, numpy_logits(model, wanted), rtol=0, atol=near)


def test_a_later_token_changes_no_earlier_logit():
    model = shaken()
    tokens = tokens_for(model, 2, 8)
    before = model(tokens)
    for t in range(1, 8):
        changed = tokens.clone()
        changed[:, t] = (changed[:, t] + 3) % 32
        after = model(changed)
        assert after[:, :t].equal(before[:, :t])
        assert (after[:, t:] != before[:, t:]).any(-1).all()  # each later one has seen it


def test_rows_of_a_batch_do_not_see_each_other():
    model = shaken()
    tokens = tokens_for(model, 4, 6)
    together = model(tokens)
    for i in range(4):
        torch.testing.assert_close(model(tokens[i : i + 1])[0], together[i], rtol=0, atol=1e-12)


# ---- Padding


def padded_batch(left):
    model = shaken(3)
    texts = [tokens_for(model, 1, length, length)[0] for length in (5, 1, 3)]
    tokens, mask = torch.full((3, 7), 9), torch.zeros(3, 7, dtype=torch.bool)
    for row, seen, text in zip(tokens, mask, texts, strict=True):
        part = (
            slice(7 - len(text) - 1, 6) if left else slice(0, len(text))
        )  # left: one place on the right too
        row[part], seen[part] = text, True
    return model, texts, tokens, mask


@pytest.mark.parametrize("left", [True, False])
def test_padding_changes_neither_logits_nor_gradients(left):
    model, texts, tokens, mask = padded_batch(left)
    logits = model(tokens, mask)
    assert logits.isfinite().all()
    weight = torch.randn(mask.sum(), 32, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    (logits[mask] * weight).sum().backward()
    gradients = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    alone = torch.cat([model(text[None])[0] for text in texts])
    torch.testing.assert_close(logits[mask], alone, rtol=0, atol=1e-12)
    (alone * weight).sum().backward()
    torch.testing.assert_close(gradients, [p.grad for p in model.parameters()], rtol=0, atol=1e-11)


@pytest.mark.parametrize("left", [True, False])
def test_what_stands_under_padding_is_not_seen(left):
    model, _, tokens, mask = padded_batch(left)
    other = tokens.where(mask, tokens_for(model, 3, 7, 5))
    assert model(tokens, mask)[mask].equal(model(other, mask)[mask])


def test_a_mask_of_true_is_no_mask_and_a_row_of_padding_is_finite():
    model = shaken()
    tokens = tokens_for(model, 2, 5)
    torch.testing.assert_close(model(tokens, torch.ones(2, 5, dtype=torch.bool)), model(tokens))
    empty = model(tokens, torch.tensor([[False] * 5, [True] * 5]))
    empty.sum().backward()
    assert empty.isfinite().all() and all(p.grad.isfinite().all() for p in model.parameters())


def test_a_padded_place_looks_at_itself_alone():
    mask = torch.tensor([[False, False, True, True, False]])
    query, key, value = torch.randn(
        3, 1, 2, 5, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64
    )
    seen = padded(mask)(query, key, value)
    torch.testing.assert_close(seen[:, :, :2], value[:, :, :2])
    torch.testing.assert_close(seen[:, :, 2], value[:, :, 2])
    assert not torch.allclose(seen[:, :, 3], value[:, :, 3])


# ---- Parameters


def test_the_head_is_the_embedding_and_learns_from_both_uses():
    model = shaken(vocabulary=6)
    assert model.head.weight is model.tokens.weight
    assert sum("tokens" in name or "head" in name for name, _ in model.named_parameters()) == 1
    tokens = torch.tensor([[1, 4, 2, 1]])

    def loss():
        return model(tokens)[0, :, 3].logsumexp(0)  # token 3 is only looked up, 1, 2 and 4 are only read

    loss().backward()
    weight, gradient = model.tokens.weight, model.tokens.weight.grad
    for row, column in ((1, 0), (2, 5), (3, 2), (4, 7), (0, 1)):
        ends = []
        for step in (1e-6, -1e-6):
            with torch.no_grad():
                weight[row, column] += step
                ends.append(loss().item())
                weight[row, column] -= step
        assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(gradient[row, column].item(), abs=1e-7)
    assert (gradient[[1, 2, 3, 4]].abs().max(1).values > 1e-3).all() and (gradient[[0, 5]] == 0).all()


def test_every_other_gradient_is_a_finite_difference():
    model = shaken(vocabulary=4, width=4)
    tokens = tokens_for(model, 2, 5)

    def loss():
        return model(tokens).log_softmax(-1)[..., 0].sum()

    loss().backward()
    for parameter in model.parameters():
        direction = torch.randn(
            parameter.shape, generator=torch.Generator().manual_seed(2), dtype=torch.float64
        )
        ends = []
        for step in (1e-6, -1e-6):
            with torch.no_grad():
                parameter += step * direction
                ends.append(loss().item())
                parameter -= step * direction
        slope = (parameter.grad * direction).sum().item()
        assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(slope, rel=1e-5, abs=1e-6)


def test_the_start_is_as_documented():
    model = lm.SmallLM(vocabulary=300, context=200, width=128, layers=3, heads=4, seed=1)
    for name, parameter in model.named_parameters():
        if parameter.ndim == 1:
            assert (parameter == 1).all()
            continue
        wanted = 0.02 / math.sqrt(6) if name.endswith(("out.weight", "down.weight")) else 0.02
        n = parameter.numel()
        assert parameter.std().item() == pytest.approx(wanted, rel=4 / math.sqrt(2 * n))
        assert abs(parameter.mean().item()) <= 4 * wanted / math.sqrt(n)
    assert not [name for name, _ in model.named_parameters() if "bias" in name]
    assert len(list(model.named_parameters())) == 2 + 3 * 6 + 1


def test_the_seed_makes_the_start():
    def flat(seed):
        return torch.nn.utils.parameters_to_vector(lm.SmallLM(seed=seed).parameters())

    before = torch.get_rng_state()
    assert flat(3).equal(flat(3)) and not flat(3).equal(flat(4))
    chosen = flat(3)
    torch.manual_seed(99)
    assert flat(3).equal(chosen)  # the common generator has no part in it
    torch.set_rng_state(before)


def test_the_default_shape():
    model = lm.SmallLM()
    assert model.shape == dict(vocabulary=32, context=32, width=64, layers=2, heads=4)
    assert sum(p.numel() for p in model.parameters()) == 64 * (32 + 32) + 2 * (12 * 64**2 + 2 * 64) + 64
    assert model.device == torch.device("cpu") and model.to("meta").device.type == "meta"
    assert lm.SmallLM(32.0, 32, 64, 2.0, 4).shape == model.shape  # 2.0 counts as 2


# ---- Bad input

MODEL = shaken(vocabulary=5, context=6, dtype=torch.float32)
ROW = torch.tensor([[1, 2, 3]])


def read(tokens, mask=None):
    return lambda: MODEL(tokens, mask)


REFUSED = {
    "no vocabulary": (lambda: lm.SmallLM(vocabulary=0), "vocabulary is 0"),
    "half a layer": (lambda: lm.SmallLM(layers=1.5), "layers is 1.5"),
    "no layers": (lambda: lm.SmallLM(layers=0), "layers is 0"),
    "heads": (
        lambda: lm.SmallLM(width=10, heads=4),
        "width is 10; it must be a multiple of heads, which is 4",
    ),
    "context": (lambda: lm.SmallLM(context=None), "context is None"),
    "width": (lambda: lm.SmallLM(width="64"), "width is '64'"),
    "seed": (lambda: lm.SmallLM(seed=-1), "seed is -1"),
    "a list": (read([[1, 2]]), "tokens is list"),
    "floats": (read(ROW.float()), "tokens is torch.float32"),
    "booleans": (read(ROW > 1), "tokens is torch.bool"),
    "one text": (read(ROW[0]), "tokens has shape (3,)"),
    "nothing": (read(ROW[:, :0]), "tokens has shape (1, 0)"),
    "too long": (read(ROW.repeat(1, 3)), "tokens has shape (1, 9)"),
    "too large": (read(ROW + 2), "tokens holds whole numbers from 3 to 5; they must be from 0 to 4"),
    "too small": (read(ROW - 2), "tokens holds whole numbers from -1 to 1"),
    "under padding too": (read(ROW - 2, ROW > 1), "tokens holds whole numbers from -1"),
    "mask of numbers": (read(ROW, ROW), "mask has shape (1, 3) and type torch.int64"),
    "mask of another shape": (read(ROW, ROW[0] > 0), "mask has shape (3,)"),
    "mask as a list": (read(ROW, [[True, True, True]]), "mask is list"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    check(*REFUSED[name])


def test_int32_and_no_texts_are_taken():
    assert MODEL(ROW.int()).equal(MODEL(ROW)) and MODEL(ROW[:0]).shape == (0, 3, 5)
