"""GRPO on addition by TRL's GRPOTrainer: pglab's model, task, verifier and settings, in another library's hands.

    python examples/trl_grpo.py                                                           one process
    accelerate launch --multi_gpu --num_processes 2 examples/trl_grpo.py                  two, also without a GPU
    accelerate launch --multi_gpu --num_processes 8 examples/trl_grpo.py --task countdown eight GPUs

(accelerate's word --multi_gpu starts several processes on CPUs too; its word --cpu starts one.) The batch has as
many completions however many processes share it. `make peers` installs what this needs. Nothing is downloaded.
"""

import argparse
import gc
import json
import time
from pathlib import Path

import numpy as np

from pglab import lm, peers, tasks
from pglab.training import plan

peers.need()  # before transformers is imported: it must not ask a hub

import torch  # noqa: E402
from accelerate import PartialState  # noqa: E402
from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: E402
from trl import GRPOConfig, GRPOTrainer  # noqa: E402


def main():
    options = arguments()
    process = PartialState(cpu=options.cpu)  # who am I, among those that accelerate has started?
    settings, task, out = (
        plan(options.task, "grpo", seed=options.seed),
        tasks.named(options.task),
        Path(options.out),
    )
    if process.is_main_process:
        lm.export(lm.load(options.task, "cpu"), out / "start", lm.read_card(options.task))
    process.wait_for_everyone()
    model = AutoModelForCausalLM.from_pretrained(out / "start", dtype="float32")
    tokenizer = AutoTokenizer.from_pretrained(out / "start")
    for name, parameter in model.named_parameters():
        parameter.requires_grad = not name.endswith("bias")  # pglab's model has none, so they stay 0

    chosen = peers.trl_settings(settings, process.num_processes)
    if options.steps:
        chosen["max_steps"] = options.steps * settings.epochs
    trainer = GRPOTrainer(
        model,
        reward_funcs=peers.reward(task),
        args=GRPOConfig(
            str(out), **chosen, use_cpu=options.cpu, report_to="none", save_strategy="no", logging_steps=2,
            disable_tqdm=not process.is_main_process, ddp_find_unused_parameters=False,
        ),
        train_dataset=peers.dataset(task, settings.prompts * settings.steps, settings.seed),
        processing_class=tokenizer,
    )  # fmt: skip
    before = pass_at_1(trainer.model, tokenizer, task) if process.is_main_process else None
    process.wait_for_everyone()
    began = time.perf_counter()
    trainer.train()
    seconds = time.perf_counter() - began
    if process.is_main_process:
        trained = trainer.accelerator.unwrap_model(trainer.model)
        after = pass_at_1(trained, tokenizer, task)
        trained.save_pretrained(out / "trained")
        tokenizer.save_pretrained(out / "trained")
        report(options, trainer, before, after, seconds, out)


@torch.no_grad()
def pass_at_1(model, tokenizer, task, prompts=256, samples=16, seed=1):
    """How often a sampled answer to a fresh prompt is right: the mean, and its standard error over prompts."""
    asked = task.prompts(prompts, np.random.default_rng([seed, 10]))
    batch = tokenizer(asked, return_tensors="pt").to(model.device)
    tokens = model.eval().generate(
        **batch, num_return_sequences=samples, max_new_tokens=task.answer_length + 1
    )
    answers = tokenizer.batch_decode(tokens[:, batch.input_ids.shape[1] :], skip_special_tokens=True)
    right = np.reshape(
        [task.verify(asked[i // samples], a) for i, a in enumerate(answers)], (prompts, samples)
    )
    model.train()
    return right.mean(), right.mean(1).std(ddof=1) / prompts**0.5


def report(options, trainer, before, after, seconds, out):
    """Says what came out, and writes it down."""
    processes, completions = trainer.accelerator.num_processes, trainer.args.generation_batch_size
    print(f"pass@1 {before[0]:.3f} +- {before[1]:.3f} before, {after[0]:.3f} +- {after[1]:.3f} after, {seconds:.0f} s "
          f"of training; {completions} completions a batch, shared by {processes}.")  # fmt: skip
    print(f"The model is in {out / 'trained'}; back to pglab: "
          f"python -m pglab.lm import {out / 'trained'} --out mine.safetensors")  # fmt: skip
    curve = [[row["step"], row["reward"]] for row in trainer.state.log_history if "reward" in row]
    found = {
        "task": options.task,
        "seed": options.seed,
        "processes": processes,
        "completions": completions,
        "seconds": seconds,
    }
    found |= {"before": before, "after": after, "curve": curve}
    (out / "result.json").write_text(json.dumps(found, indent=1) + "\n")


def arguments():
    this = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    this.add_argument(
        "--task", default="addition", help="addition, running_sum or countdown (default: %(default)s)"
    )
    this.add_argument("--steps", type=int, help="batches, if fewer than pglab's plan has")
    this.add_argument("--seed", type=int, default=0)
    this.add_argument(
        "--out", default="runs/trl", help="folder for the models and the result (default: %(default)s)"
    )
    this.add_argument(
        "--cpu", action="store_true", default=not torch.cuda.is_available(), help="even where a GPU is"
    )
    return this.parse_args()


def leave():
    """Ends the talk between the processes; one that goes while gloo still holds its tensors may be aborted."""
    process = PartialState()
    process.wait_for_everyone()
    gc.collect()
    process.destroy_process_group()


if __name__ == "__main__":
    main()
    leave()
