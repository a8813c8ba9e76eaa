"""python -m pglab.lm export addition --out exported/addition     and back:  import exported/addition --out mine.safetensors"""

import argparse
import json
import sys
from pathlib import Path

from pglab._commands import outcome
from pglab.lm.export import CARD, DTYPES, export, from_export
from pglab.lm.files import find, load, read_card, save, weights_path


def main(arguments=None):
    """Runs one command.

    Args:
      arguments: a list of words; None takes those of the command line.

    Returns:
      The exit code: 0; 1 if something could not be written; 2 for a bad choice; 130 after Ctrl-C.
    """
    options = parser().parse_args(arguments)
    code, sentence = outcome(options.run, options)
    if sentence:
        print(sentence, file=sys.stderr)
    return code


def parser():
    """What the command line understands."""
    top = argparse.ArgumentParser(
        prog="python -m pglab.lm", description="Hand a small model over, and take it back."
    )
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND")
    out = commands.add_parser("export", help="write a checkpoint as a Hugging Face model with its tokenizer")
    out.add_argument(
        "model", metavar="NAME", help="a checkpoint of data/, such as addition, or the path of one"
    )
    out.add_argument(
        "--out", metavar="FOLDER", help="new, empty, or an earlier export (default: exported/NAME)"
    )
    out.add_argument("--dtype", default="float32", help=f"{', '.join(DTYPES)} (default: float32)")
    out.set_defaults(run=run_export)
    back = commands.add_parser("import", help="read such a folder, trained elsewhere, as a checkpoint")
    back.add_argument("folder", metavar="FOLDER", help="with config.json and model.safetensors")
    back.add_argument(
        "--out", metavar="PATH", required=True, help="of the weights, *.safetensors; must be new"
    )
    back.set_defaults(run=run_import)
    return top


def run_export(options):
    """The command ``export``."""
    model, card = load(options.model, "cpu"), read_card(options.model)
    folder = Path(options.out or Path("exported", find(options.model).stem))
    files = export(model, folder, card, options.dtype)
    print(f"{folder} holds {', '.join(files)}.")
    print(
        f"Offline: transformers.AutoModelForCausalLM.from_pretrained({str(folder)!r}), AutoTokenizer alike."
    )
    return 0


def run_import(options):
    """The command ``import``."""
    path, folder = weights_path(options.out), Path(options.folder)
    if path.exists() or path.with_suffix(".json").exists():
        raise ValueError(f"{path} is there already; name a new place with --out.")
    model = from_export(folder, "cpu")
    task = read_task(folder)
    save(model, path, {"words": f"imported from {folder.name}", **task})
    print(f"The weights are in {path}, their card in {path.with_suffix('.json').name}.")
    return 0


def read_task(folder):
    """The task that an export's card names, if the card has been kept: {"task": name} or nothing."""
    try:
        return {"task": json.loads((folder / CARD).read_text(encoding="utf-8"))["task"]}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


if __name__ == "__main__":
    sys.exit(main())
