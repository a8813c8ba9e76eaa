"""The Hugging Face folder: what is in it, that it comes back, and what is refused. No extra is needed."""

import json

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import check
from safetensors.torch import load_file, save_file
from training_by_hand import model

from pglab import lm
from pglab.lm import __main__ as command
from pglab.lm.export import gpt2

SHAPES = st.fixed_dictionaries(
    {
        "context": st.integers(1, 40),
        "heads": st.sampled_from([1, 2, 4]),
        "width": st.sampled_from([8, 16]),
        "layers": st.integers(1, 3),
        "seed": st.integers(0, 99),
    }
)


@settings(max_examples=15)
@given(SHAPES, st.sampled_from([torch.float32, torch.float64]))
def test_what_goes_out_comes_back(tmp_path_factory, shape, dtype):
    folder = tmp_path_factory.mktemp("out")
    before = lm.SmallLM(**shape).to(dtype)
    lm.export(before, folder, {"task": "addition"})
    after = lm.from_export(folder, "cpu")
    assert after.shape == before.shape
    for mine, other in zip(before.parameters(), after.parameters(), strict=True):
        assert torch.equal(mine.float(), other)


def by_hand(weights, config, tokens):
    """GPT-2 in plain matrix products, from the files alone."""
    w = {name.removeprefix("transformer."): value.double() for name, value in weights.items()}
    width, heads, length = config["n_embd"], config["n_head"], len(tokens)

    def norm(name, x):
        centred = x - x.mean(-1, keepdim=True)
        spread = (centred**2).mean(-1, keepdim=True)
        return (
            centred / (spread + config["layer_norm_epsilon"]) ** 0.5 * w[f"{name}.weight"] + w[f"{name}.bias"]
        )

    def conv(name, x):
        return x @ w[f"{name}.weight"] + w[f"{name}.bias"]

    x = w["wte.weight"][tokens] + w["wpe.weight"][:length]
    later = torch.ones(length, length, dtype=torch.bool).triu(1)
    for i in range(config["n_layer"]):
        query, key, value = conv(f"h.{i}.attn.c_attn", norm(f"h.{i}.ln_1", x)).split(width, -1)
        found = []
        for part in torch.arange(width).chunk(heads):
            odds = (query[:, part] @ key[:, part].T / len(part) ** 0.5).masked_fill(later, -torch.inf)
            found.append(odds.softmax(-1) @ value[:, part])
        x = x + conv(f"h.{i}.attn.c_proj", torch.cat(found, -1))
        wide = conv(f"h.{i}.mlp.c_fc", norm(f"h.{i}.ln_2", x)).clamp(min=0)
        x = x + conv(f"h.{i}.mlp.c_proj", wide)
    return norm("ln_f", x) @ w["wte.weight"].T


@pytest.mark.parametrize("name", ["addition", "running_sum", "countdown", "countdown_solver"])
def test_the_files_hold_a_gpt2_with_the_same_logits(tmp_path, name):
    network = lm.load(name, "cpu")
    lm.export(network, tmp_path, lm.read_card(name))
    tokens = torch.randint(0, 32, (network.shape["context"],), generator=torch.Generator().manual_seed(0))
    logits = by_hand(load_file(tmp_path / "model.safetensors"), read(tmp_path / "config.json"), tokens)
    assert (logits - network(tokens[None])[0]).abs().max() < 1e-4
    words = (tmp_path / "README.md").read_text()
    assert lm.read_card(name)["sha256"] in words and f"for {name}" in words


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_files_say_that_one_character_is_one_token_and_zero_ends(tmp_path):
    lm.export(model(), tmp_path)
    tokenizer, config = read(tmp_path / "tokenizer.json"), read(tmp_path / "config.json")
    assert "".join(sorted(tokenizer["model"]["vocab"], key=tokenizer["model"]["vocab"].get)) == lm.ALPHABET
    assert tokenizer["model"]["unk_token"] not in tokenizer["model"]["vocab"]  # so that others are an error
    assert {config[f"{kind}_token_id"] for kind in ("eos", "pad", "bos")} == {0}
    assert not any(config[name] for name in config if name.endswith(("pdrop", "dropout")))
    generation = read(tmp_path / "generation_config.json")
    assert generation["do_sample"] and (generation["top_k"], generation["top_p"]) == (0, 1.0)
    assert not any(value.any() for name, value in gpt2(model()).items() if name.endswith("bias"))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_halves_the_file(tmp_path, dtype):
    network = lm.load("addition", "cpu")
    whole, half = lm.export(network, tmp_path / "a"), lm.export(network, tmp_path / "b", dtype=dtype)
    assert len(half["model.safetensors"]) < 0.6 * len(whole["model.safetensors"])
    assert read(tmp_path / "b" / "config.json")["dtype"] == dtype
    for mine, other in zip(network.parameters(), lm.from_export(tmp_path / "b").parameters(), strict=True):
        assert torch.equal(mine.to(getattr(torch, dtype)).float(), other)


# ---- What is refused


def test_what_cannot_be_exported_is_refused(tmp_path):
    check(lambda: lm.export("addition", tmp_path), "model is a str; it must be an lm.SmallLM.")
    check(
        lambda: lm.export(model(), tmp_path, dtype="int8"),
        "dtype is 'int8'; it must be one of float32, float16",
    )
    other = lm.SmallLM(vocabulary=7)
    check(lambda: lm.export(other, tmp_path), "model knows 7 tokens; it must be 32, those of lm.ALPHABET.")
    (tmp_path / "mine.txt").write_text("dear")
    check(lambda: lm.export(model(), tmp_path), f"{tmp_path} holds something else; it must be new, empty")
    check(
        lambda: lm.export(model(), tmp_path / "mine.txt"),
        f"{tmp_path / 'mine.txt'} is a file; it must be a folder.",
    )
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_an_earlier_export_is_replaced(tmp_path):
    lm.export(model(seed=1), tmp_path)
    lm.export(model(seed=2), tmp_path)
    assert torch.equal(lm.from_export(tmp_path).tokens.weight, model(seed=2).tokens.weight.float())


def test_what_is_no_small_lm_does_not_come_back(tmp_path):
    check(lambda: lm.from_export(tmp_path), f"{tmp_path / 'config.json'} cannot be read (")
    lm.export(model(), tmp_path)
    weights, config = load_file(tmp_path / "model.safetensors"), read(tmp_path / "config.json")

    def with_config(**changes):
        (tmp_path / "config.json").write_text(json.dumps(config | changes))
        return lambda: lm.from_export(tmp_path)

    kind = f"{tmp_path / 'config.json'} is of another kind of model ("
    check(with_config(activation_function="gelu_new"), f"{kind}activation_function 'gelu_new', not 'relu').")
    check(with_config(model_type="llama"), f"{kind}model_type 'llama', not 'gpt2').")
    check(with_config(scale_attn_weights=False), f"{kind}scale_attn_weights False, not True).")
    check(
        with_config(scale_attn_by_inverse_layer_idx=True),
        f"{kind}scale_attn_by_inverse_layer_idx True, not False).",
    )
    (tmp_path / "config.json").write_text("[1]")
    check(lambda: lm.from_export(tmp_path), f"{tmp_path / 'config.json'} holds no settings of a model.")
    check(with_config(n_inner=8), f"{kind}n_inner 8, not {4 * config['n_embd']}).")
    check(
        with_config(n_layer=2),
        f"{tmp_path / 'model.safetensors'} does not hold the weights of its config.json",
    )
    with_config()
    save_file(
        weights | {"transformer.ln_f.bias": weights["transformer.ln_f.bias"] + 1},
        tmp_path / "model.safetensors",
    )
    check(
        lambda: lm.from_export(tmp_path),
        f"{tmp_path / 'model.safetensors'} has biases that are not 0 (transformer.ln_f",
    )
    own = weights["transformer.wte.weight"] + 1
    save_file(weights | {"lm_head.weight": own}, tmp_path / "model.safetensors")
    check(lambda: lm.from_export(tmp_path), f"{tmp_path / 'model.safetensors'} has a head of its own;")
    save_file(weights | {"transformer.ln_f.weight": own[0] * torch.nan}, tmp_path / "model.safetensors")
    check(
        lambda: lm.from_export(tmp_path), f"{tmp_path / 'model.safetensors'} holds what is no finite number;"
    )
    (tmp_path / "model.safetensors").write_bytes(b"no weights")
    check(lambda: lm.from_export(tmp_path), f"{tmp_path / 'model.safetensors'} cannot be read (")


# ---- The command


def test_the_command_writes_and_reads(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert command.main(["export", "addition"]) == 0
    assert "exported/addition holds config.json, model.safetensors" in capsys.readouterr().out.replace(
        "\\", "/"
    )
    assert command.main(["import", "exported/addition", "--out", "mine.safetensors"]) == 0
    assert torch.equal(lm.load("./mine").tokens.weight, lm.load("addition").tokens.weight)
    assert lm.read_card("./mine")["task"] == "addition"
    assert command.main(["import", "exported/addition", "--out", "mine.safetensors"]) == 2
    assert "is there already" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words, code, said",
    [
        (["export", "subtraction"], 2, "There is no subtraction.json"),
        (["export", "addition", "--dtype", "int4"], 2, "dtype is 'int4'; it must be one of"),
        (["export", "addition", "--out", "file"], 2, "file is a file; it must be a folder."),
        (["export", "addition", "--out", "file/below"], 1, "could not be written"),
        (["import", "nowhere", "--out", "a.safetensors"], 2, "cannot be read"),
        (["import", "nowhere", "--out", "a.txt"], 2, "it must end in .safetensors."),
    ],
)
def test_a_bad_choice_ends_in_one_sentence(tmp_path, capsys, monkeypatch, words, code, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    assert command.main(words) == code
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1
