"""A task, its verifier and the settings of a run, as TRL's GRPOTrainer takes them."""

import numpy as np

from pglab import _checks, tasks
from pglab.peers.extra import bring
from pglab.training import PostTraining

PROMPTS_STREAM = 9  # what one seed means here, apart from what it means elsewhere


def dataset(task, n, seed=0):
    """Prompts of a task.

    Args:
      task: tasks.Task.
      n: how many, at least 1.
      seed: of the draw.

    Returns:
      datasets.Dataset with the one column "prompt", texts.

    Raises:
      ImportError: the extra is not installed, or half.
      ValueError: no Task; n below 1.
    """
    (Dataset,) = bring("datasets", "Dataset")
    _task(task)
    rng = np.random.default_rng([_checks.whole("seed", seed, low=0), PROMPTS_STREAM])
    return Dataset.from_dict({"prompt": task.prompts(_checks.whole("n", n, low=1), rng)})


def reward(task):
    """A task's verifier in the form that TRL calls: function (prompts, completions, **more) -> a list of numbers.

    Args:
      task: tasks.Task.

    Raises:
      ValueError: no Task.
    """
    _task(task)

    def verified(prompts, completions, **_):
        return [
            task.verify(prompt, completion) for prompt, completion in zip(prompts, completions, strict=True)
        ]

    return verified


def _task(task):
    if not isinstance(task, tasks.Task):
        raise ValueError(f"task is {task!r}; it must be a Task, such as tasks.Addition().")


def trl_settings(settings, processes=1):
    """The keywords of TRL's GRPOConfig with which it takes the steps of a pglab run.

    What is drawn differs, since the generators do; what is made of a batch does not: ``parity`` shows it. Adam,
    learning rate, schedule and the longest gradient are the run's too. Two things stay different: with several
    epochs a falling rate falls from update to update in TRL, from batch to batch here; and where all rewards of a
    batch are equal nothing moves here, while TRL's Adam moves on by its momentum.

    Args:
      settings: training.PostTraining.
      processes: how many share a batch; each gets as many prompts.

    Returns:
      a dictionary; ``trl.GRPOConfig(output_dir, **it)``.

    Raises:
      ValueError: something in the settings that GRPOTrainer has no word for; the message says what would do
        instead, where something does.

    Source: TRL 1.16.0, grpo_config.py and grpo_trainer.py.
    """
    if not isinstance(settings, PostTraining):
        raise ValueError(f"settings is {settings!r}; it must be a PostTraining, such as plan('addition').")
    _refuse(settings)
    parts = _checks.whole("processes", processes, low=1) * settings.micro_batches
    each, rest = divmod(settings.prompts, parts)
    if rest:
        raise ValueError(
            f"prompts is {settings.prompts}; it must be a multiple of {parts}, which is processes times micro_batches: "
            "TRL gives each as many."
        )
    return {
        "per_device_train_batch_size": each * settings.group_size,
        "gradient_accumulation_steps": settings.micro_batches,
        "num_generations": settings.group_size,
        "num_iterations": settings.epochs,
        "max_steps": settings.steps * settings.epochs,
        "max_completion_length": settings.longest(tasks.named(settings.task)),
        "temperature": settings.temperature,
        "learning_rate": settings.learning_rate,
        "max_grad_norm": settings.grad_clip,
        "seed": settings.seed,
        **_schedule(settings),
        **_loss(settings.algorithm),
        **SAME,
    }


# The model is sampled from as it is, in float32, and nothing is computed twice to save memory.
SAME = {"top_k": 0, "top_p": 1.0, "bf16": False, "activation_checkpointing": False, "weight_decay": 0.0}
LOSSES = {"sequence_mean": "grpo", "token_mean": "dapo", "constant": "dr_grpo"}
SCALES = {"grpo": "group", "batch_mean": "none"}
LEVELS = {"token": "token", "sequence_mean": "sequence"}


def _loss(algorithm):
    """What concerns the loss."""
    low, high = algorithm.clip
    found = {
        "loss_type": "cispo" if algorithm.variant == "cispo" else LOSSES[algorithm.aggregation],
        "scale_rewards": SCALES[algorithm.weight],
        "importance_sampling_level": LEVELS[algorithm.ratio],
        "beta": algorithm.kl,
        "use_bias_correction_kl": False,
    }
    if algorithm.variant == "cispo":
        return found | {"epsilon_high": 1 + high}  # TRL's number is the cap itself
    return found | {"epsilon": low, "epsilon_high": high, "delta": algorithm.dual_clip}


def _schedule(settings):
    """The learning rate over the steps of the optimiser."""
    return {"lr_scheduler_type": "linear" if settings.cool_down else "constant", "warmup_steps": 0}


def _refuse(settings):
    """Raises if TRL has no word for something."""
    a = settings.algorithm
    reasons = (
        (a.weight not in SCALES, f"weight {a.weight!r}", "TRL's GRPOTrainer subtracts the mean of the group"),
        (a.weight == "grpo" and (a.eps, a.ddof) != (1e-4, 1), f"eps {a.eps:g} and ddof {a.ddof}", "TRL has 1e-4 and 1"),
        (a.whiten, "whiten", "TRL's GRPOTrainer does not whiten"),
        (a.ratio not in LEVELS, f"ratio {a.ratio!r}", f"TRL has those of {' and '.join(LEVELS)}"),
        (a.clip is None, "clip None", "TRL always clips; one update on each batch is not touched by it"),
        (a.variant == "ppo" and a.clip is not None and None in a.clip, f"clip {a.clip}", "TRL needs both bounds"),
        (a.variant == "cispo" and a.clip is not None and (a.clip[0] is not None or a.clip[1] is None), f"clip {a.clip}",
         "TRL's cispo has an upper bound only"),
        (a.variant == "cispo" and a.aggregation != "token_mean", f"aggregation {a.aggregation!r}",
         "TRL's cispo takes the mean over tokens"),
        (a.aggregation not in LOSSES, f"aggregation {a.aggregation!r}", f"TRL has {', '.join(LOSSES)}"),
        (a.ratio == "sequence_mean" and a.aggregation != "sequence_mean", f"ratio {a.ratio!r} with {a.aggregation!r}",
         "TRL then counts a row's one loss once for each token"),
        (a.norm is not None, f"norm {a.norm}", "TRL chooses the denominator by loss_type"),
        (a.kl and (a.kl_kind, a.kl_where) != ("k3", "loss"), f"a KL of kind {a.kl_kind} in the {a.kl_where}",
         "TRL's GRPOTrainer has k3 in the loss"),
        (a.rounds > 1, f"rounds {a.rounds}", "TRL has no dynamic sampling"),
        (a.overlong is not None, f"overlong {a.overlong}", "put the penalty into the reward function"),
        (settings.reward != "outcome", f"reward {settings.reward!r}", "write it as a reward function"),
        (settings.warmup and settings.cool_down, "warmup and cool_down together", "choose one"),
        (settings.warmup, f"warmup {settings.warmup}", "TRL's first warm-up step has the rate 0, ours has not"),
        (settings.cool_down not in (0, 1), f"cool_down {settings.cool_down:g}", "TRL's linear schedule is 1"),
    )  # fmt: skip
    for refused, what, why in reasons:
        if refused:
            raise ValueError(
                f"{a.name} on {settings.task} has {what}, which cannot be handed to GRPOTrainer: {why}."
            )
