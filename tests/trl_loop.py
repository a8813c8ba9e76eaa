"""One step of TRL's own training loop, by one process or several: python trl_loop.py FOLDER (torchrun starts several).

The completions depend on the prompt alone, so that any number of processes has the same batch. Each process writes
what it saw: {case: {"texts", "tokens", "gradient"}}, the gradient as the optimiser gets it.
"""

import gc
import sys
from pathlib import Path
from zlib import crc32

import extras  # noqa: F401  nothing asks a hub
import torch

from pglab import lm, peers, sampling, tasks, training

TASK = "countdown"
CASES = {
    (algorithm, micro): training.plan(
        TASK, algorithm, prompts=8, group_size=4, epochs=1, steps=1, micro_batches=micro, grad_clip=0
    )
    for algorithm in ("grpo", "grpo_token_mean", "dr_grpo", "gspo", "cispo")
    for micro in (1, 2)
}


def completions(model, settings, prompt):
    """A group of completions as TRL's generator hands them over: lists of tokens that stop at the end token."""
    longest = settings.longest(tasks.named(TASK))
    noise = torch.Generator().manual_seed(crc32(prompt.encode()))
    drawn = sampling.sample(model, [prompt], settings.group_size, longest, generator=noise)
    return [row[seen].tolist() for row, seen in zip(drawn.tokens, drawn.mask, strict=True)]


def steps(folder):
    """{case: what was seen}."""
    peers.need()
    from accelerate import PartialState
    from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
    from trl import GRPOConfig, GRPOTrainer

    class Fixed(GRPOTrainer):
        """Draws what ``completions`` says."""

        def _generate_single_turn(self, prompt_ids, *_, **__):
            texts = [lm.decode(torch.tensor(ids)) for ids in prompt_ids]
            size = self.num_generations
            assert all(texts[i] == texts[i - i % size] for i in range(len(texts)))
            found = [row for text in texts[::size] for row in completions(start, settings, text)]
            seen.update(texts=texts[::size], tokens=found)
            return found, None

    class Watch(TrainerCallback):
        """Keeps the gradient that the optimiser is about to get."""

        def on_pre_optimizer_step(self, *_, model, **__):
            named = {name.removeprefix("module."): p for name, p in model.named_parameters()}
            seen["gradient"] = {name: p.grad.clone() for name, p in named.items() if p.grad is not None}

    process, start = PartialState(cpu=True), lm.load(TASK, "cpu")
    if process.is_main_process:
        lm.export(start, folder / "start")
    process.wait_for_everyone()
    tokenizer, everything = AutoTokenizer.from_pretrained(folder / "start"), {}
    for case, settings in CASES.items():
        seen = everything[case] = {}
        model = AutoModelForCausalLM.from_pretrained(folder / "start", dtype="float32")
        for name, parameter in model.named_parameters():
            parameter.requires_grad = not name.endswith("bias")
        options = peers.trl_settings(settings, process.num_processes)
        Fixed(
            model,
            reward_funcs=peers.reward(tasks.named(TASK)),
            args=GRPOConfig(
                str(folder), **options, use_cpu=True, report_to="none", save_strategy="no", disable_tqdm=True,
                logging_strategy="no", ddp_find_unused_parameters=False,
            ),
            train_dataset=peers.dataset(tasks.named(TASK), settings.prompts, seed=2),
            processing_class=tokenizer,
            callbacks=[Watch()],
        ).train()  # fmt: skip
    return process.process_index, everything


if __name__ == "__main__":
    torch.set_num_threads(1)
    place = Path(sys.argv[1])
    index, found = steps(place)
    torch.save(found, place / f"{index}.pt")
    from accelerate import PartialState

    together = PartialState()
    together.wait_for_everyone()
    gc.collect()  # a process that goes while gloo still holds its tensors may be aborted
    together.destroy_process_group()
