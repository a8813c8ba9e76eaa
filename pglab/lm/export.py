"""The small language model as a Hugging Face model, and back.

python -m pglab.lm export addition --out exported/addition

``SmallLM`` has the shape of GPT-2, less its biases and with ReLU in place of GELU. So what is written is a
GPT-2 whose biases are 0, and every program that reads GPT-2 reads it: transformers, TRL, verl, vLLM. Nothing but
JSON and safetensors is needed to write it.

    config.json, model.safetensors           the model
    tokenizer.json, tokenizer_config.json    one character, one token; token 0 ends and pads
    generation_config.json                   generate() samples from the model as it is: no top-k, no top-p
    pglab.json, README.md                    where it comes from
"""

import json
from os import PathLike
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load as read_tensors
from safetensors.torch import save as tensors_to_bytes

from pglab import _checks, _files
from pglab.lm.devices import choose_device
from pglab.lm.model import SmallLM
from pglab.lm.text import ALPHABET, END

CARD, WEIGHTS, CONFIG = "pglab.json", "model.safetensors", "config.json"
DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
EPSILON = 1e-5  # of every LayerNorm, torch's default and GPT-2's
# GPT-2's words for the shape of a SmallLM, and what kind of GPT-2 a SmallLM is.
SHAPE = {
    "vocabulary": "vocab_size", "context": "n_positions", "width": "n_embd", "layers": "n_layer", "heads": "n_head",
}  # fmt: skip
KIND = {
    "model_type": "gpt2",
    "activation_function": "relu",
    "tie_word_embeddings": True,
    "layer_norm_epsilon": EPSILON,
}
# More of its kind, which nobody writes: GPT-2 is so unless its configuration says otherwise.
DEFAULTS = {"scale_attn_weights": True, "scale_attn_by_inverse_layer_idx": False}


def export(model, folder, card=None, dtype="float32"):
    """Write a model as a Hugging Face GPT-2, with its tokenizer.

    Args:
      model: lm.SmallLM with the alphabet's vocabulary.
      folder: new, empty, or an earlier export, which is replaced.
      card: what is known about the model, a dictionary as of ``lm.read_card``.
      dtype: of the numbers in the file: "float32", "float16" or "bfloat16".

    Returns:
      {name: bytes} of the files, as written.

    Raises:
      ValueError: no SmallLM, another vocabulary, an unknown dtype, a folder that holds something else.
      OSError: it could not be written; nothing is half there.

    Source: Radford et al. 2019 (GPT-2), section 2.3; file formats as of transformers 5.24.
    """
    if not isinstance(model, SmallLM):
        raise ValueError(f"model is a {type(model).__name__}; it must be an lm.SmallLM.")
    _checks.one_of("dtype", dtype, list(DTYPES))
    if model.shape["vocabulary"] != len(ALPHABET):
        raise ValueError(
            f"model knows {model.shape['vocabulary']} tokens; it must be {len(ALPHABET)}, those of lm.ALPHABET."
        )
    folder = _free(folder)
    tensors = {name: value.to("cpu", DTYPES[dtype]).contiguous() for name, value in gpt2(model).items()}
    about = {"shape": model.shape, **(card or {})}
    files = {
        CONFIG: _json(_config(model.shape, dtype)),
        WEIGHTS: tensors_to_bytes(tensors, {"format": "pt"}),
        "tokenizer.json": _json(_tokenizer()),
        "tokenizer_config.json": _json(_tokenizer_config(model.shape["context"])),
        "generation_config.json": _json(_generation()),
        CARD: _json(about),
        "README.md": _words(about).encode(),
    }
    _files.write_whole({folder / name: data for name, data in files.items()})
    return files


def _free(folder):
    """A folder that may be written to."""
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file; it must be a folder.")
    if folder.exists() and any(folder.iterdir()) and not (folder / CARD).exists():
        raise ValueError(f"{folder} holds something else; it must be new, empty, or an earlier export.")
    return folder


def gpt2(model):
    """The weights under GPT-2's names.

    A linear layer of GPT-2 keeps its matrix the other way round: (inputs, outputs). The head is the token
    embedding, and is not written twice.

    Args:
      model: lm.SmallLM.

    Returns:
      {name: tensor}; tensors share memory with the model where they can.
    """
    found = {"wte.weight": model.tokens.weight, "wpe.weight": model.positions.weight}
    for i, block in enumerate(model.blocks):
        for theirs, ours in MATRICES.items():
            matrix = block.get_submodule(ours).weight
            found |= {
                f"h.{i}.{theirs}.weight": matrix.T,
                f"h.{i}.{theirs}.bias": matrix.new_zeros(len(matrix)),
            }
        for theirs, ours in NORMS.items():
            found |= _norm(f"h.{i}.{theirs}", block.get_submodule(ours))
    found |= _norm("ln_f", model.norm)
    return {f"transformer.{name}": value.detach() for name, value in found.items()}


MATRICES = {"attn.c_attn": "qkv", "attn.c_proj": "out", "mlp.c_fc": "up", "mlp.c_proj": "down"}
NORMS = {"ln_1": "norm_1", "ln_2": "norm_2"}


def _norm(name, layer):
    return {f"{name}.weight": layer.weight, f"{name}.bias": torch.zeros_like(layer.weight)}


def _config(shape, dtype):
    return {
        "architectures": ["GPT2LMHeadModel"],
        **KIND,
        **{theirs: shape[ours] for ours, theirs in SHAPE.items()},
        "n_inner": 4 * shape["width"],
        **dict.fromkeys(("attn_pdrop", "embd_pdrop", "resid_pdrop", "summary_first_dropout"), 0.0),
        **dict.fromkeys(("bos_token_id", "eos_token_id", "pad_token_id"), END),
        "dtype": dtype,
    }


def _tokenizer():
    """One character, one token, in the format of the ``tokenizers`` library; other characters are an error."""
    end = {"id": END, "content": ALPHABET[END], "special": True, "normalized": False}
    added = [end | dict.fromkeys(("single_word", "lstrip", "rstrip"), False)]
    vocabulary = {character: token for token, character in enumerate(ALPHABET)}
    each = {"type": "Split", "pattern": {"Regex": r"[\s\S]"}, "behavior": "Isolated", "invert": False}
    return {
        "version": "1.0",
        **dict.fromkeys(("truncation", "padding", "normalizer", "post_processor")),
        "added_tokens": added,
        "pre_tokenizer": each,
        "decoder": {"type": "Fuse"},
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "(no such character)"},
    }


def _tokenizer_config(context):
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        **dict.fromkeys(("bos_token", "eos_token", "pad_token"), ALPHABET[END]),
        "model_max_length": context,
        "padding_side": "left",
        "clean_up_tokenization_spaces": False,
    }


def _generation():
    ends = dict.fromkeys(("bos_token_id", "eos_token_id", "pad_token_id"), END)
    return {"do_sample": True, "temperature": 1.0, "top_k": 0, "top_p": 1.0, **ends}


def _json(value):
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def _words(card):
    """What a person who finds the folder reads first."""
    lines = ["---", "license: mit", "library_name: transformers", "pipeline_tag: text-generation", "---", ""]
    lines += [f"# A small language model{' for ' + card['task'] if 'task' in card else ''}", ""]
    lines += [f"{card['words']}.", ""] if "words" in card else []
    lines += [
        "A GPT-2 with biases of 0 and ReLU. One character is one token; the newline ends an answer.",
        "",
    ]
    lines += [f"- {name}: {card[name]}" for name in ("pass_at_1", "pass_at_64", "sha256") if name in card]
    return "\n".join(lines).rstrip() + "\n"


# ---- And back


def from_export(folder, device="auto"):
    """The model in a folder that ``export`` has written, or that transformers has saved since.

    Args:
      folder: of config.json and model.safetensors.
      device: as ``lm.choose_device``.

    Returns:
      lm.SmallLM in float32.

    Raises:
      ValueError: no such files; a model of another kind; biases that are not 0, which a SmallLM cannot
        hold: train with them frozen.
    """
    folder = Path(_checks.kind("folder", folder, (str, PathLike), "the path of a folder"))
    config, tensors = _read_config(folder), _read_weights(folder)
    shape = {ours: config[theirs] for ours, theirs in SHAPE.items()}
    model = SmallLM(**shape)
    wanted = gpt2(model)
    tensors = {f"transformer.{name.removeprefix('transformer.')}": value for name, value in tensors.items()}
    head = tensors.pop("transformer.lm_head.weight", None)  # the token embedding once more
    if head is not None and not torch.equal(head, tensors.get("transformer.wte.weight", head)):
        raise ValueError(f"{folder / WEIGHTS} has a head of its own; a SmallLM's is the token embedding.")
    if any(not value.is_floating_point() or not bool(value.isfinite().all()) for value in tensors.values()):
        raise ValueError(f"{folder / WEIGHTS} holds what is no finite number; it may be damaged.")
    if {name: value.shape for name, value in tensors.items()} != {n: v.shape for n, v in wanted.items()}:
        raise ValueError(f"{folder / WEIGHTS} does not hold the weights of its {CONFIG}: it may be damaged.")
    moved = sorted(name for name, value in tensors.items() if name.endswith("bias") and bool(value.any()))
    if moved:
        raise ValueError(
            f"{folder / WEIGHTS} has biases that are not 0 ({moved[0]}, {len(moved)} in all); a SmallLM has none. "
            "Train with the biases frozen, as examples/trl_grpo.py does."
        )
    with torch.no_grad():
        for name, place in wanted.items():
            place.copy_(tensors[name])
    return model.to(choose_device(device))


def _read_config(folder):
    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{folder / CONFIG} cannot be read ({error}).") from error
    if not isinstance(config, dict):
        raise ValueError(f"{folder / CONFIG} holds no settings of a model.")
    config = DEFAULTS | config
    others = [
        f"{name} {config.get(name)!r}, not {value!r}"
        for name, value in (KIND | DEFAULTS).items()
        if config.get(name) != value
    ]
    if config.get("n_inner") not in (None, 4 * config.get("n_embd", 0)):
        others.append(f"n_inner {config['n_inner']}, not {4 * config['n_embd']}")
    if others:
        raise ValueError(f"{folder / CONFIG} is of another kind of model ({', '.join(others)}).")
    return config


def _read_weights(folder):
    try:
        return read_tensors((folder / WEIGHTS).read_bytes())
    except (OSError, SafetensorError) as error:
        raise ValueError(f"{folder / WEIGHTS} cannot be read ({error}).") from error
