"""Every setting of a run here, and its name and default in TRL and verl.

TRL 1.16.0 (GRPOConfig; read, and checked by a test where the extra is installed). verl 0.10.0.dev (its
configuration: ppo_trainer, actor, optim/fsdp, rollout, reward, algorithm/filter_groups; read, not run).
"""

from typing import NamedTuple


class Row(NamedTuple):
    """One setting."""

    ours: str  # a field of PostTraining or Algorithm
    trl: dict  # {name in GRPOConfig: default}; empty if there is none
    verl: dict  # {name: default}; actor., rollout. and so on stand behind actor_rollout_ref.
    remark: str

    def words(self):
        """Four cells: ours, TRL's, verl's, remark."""
        return [f"`{self.ours}`", _named(self.trl), _named(self.verl), self.remark]


def _named(names):
    return ", ".join(f"`{name}` ({value})" for name, value in names.items()) or "none"


HEADINGS = ("pglab", "TRL (default)", "verl (default)", "what to watch")

RUN = (
    Row("task", {}, {"data.train_files": "a parquet file"}, "TRL: `train_dataset` and `reward_funcs`, arguments of the trainer; see `peers.dataset`, `peers.reward`."),
    Row("start", {}, {"model.path": "a 7B model"}, "A Hugging Face folder: `python -m pglab.lm export`. TRL: the argument `model`."),
    Row("seed", {"seed": 42}, {"data.seed": None}, "The draws differ between libraries whatever the seed: other generators."),
    Row("prompts", {"per_device_train_batch_size": 8, "generation_batch_size": None}, {"data.train_batch_size": 1024}, "TRL counts completions, not prompts: prompts times group_size, divided by processes and by accumulation. verl counts prompts."),
    Row("group_size", {"num_generations": 8}, {"rollout.n": 1}, "verl's GRPO needs more than 1."),
    Row("steps", {"max_steps": -1}, {"trainer.total_training_steps": None}, "TRL counts updates: steps times epochs."),
    Row("epochs", {"num_iterations": 1}, {"actor.ppo_epochs": 1}, "verl also cuts the batch into mini-batches, `actor.ppo_mini_batch_size`, each with a step of its own: from the second on the ratio is not 1."),
    Row("learning_rate", {"learning_rate": 1e-6}, {"actor.optim.lr": 1e-6}, "1e-3 suits 60,000 parameters, not billions. Weight decay is 0 here and in TRL, 0.01 in verl."),
    Row("warmup", {"warmup_steps": 0}, {"actor.optim.lr_warmup_steps": -1}, "TRL's first step then has the rate 0; ours has not."),
    Row("cool_down", {"lr_scheduler_type": "linear"}, {"actor.optim.lr_scheduler_type": "constant"}, "TRL's default is our cool_down 1; ours is 0, TRL's `constant`. With several epochs TRL's rate falls from update to update, ours from batch to batch. verl has a cosine, no straight line; it said `warmup_style` before."),
    Row("micro_batches", {"gradient_accumulation_steps": 1}, {"actor.ppo_micro_batch_size_per_gpu": None}, "In TRL the gradient of `grpo`, `dapo`, `dr_grpo` and `cispo` is the whole batch's, however many micro-batches and processes share it. `bnpo`'s is not: a mean of their means. verl counts completions in one of them, not how many there are."),
    Row("grad_clip", {"max_grad_norm": 1.0}, {"actor.grad_clip": 1.0}, "TRL counts the biases of a GPT-2 in the length, unless they are frozen."),
    Row("temperature", {"temperature": 1.0, "top_p": 1.0, "top_k": 0}, {"rollout.temperature": 1.0, "rollout.top_p": 1, "rollout.top_k": -1}, "With top-k or top-p the sampled policy is not the scored one: a mismatch of chapter 4. Ours offers neither in training."),
    Row("reward", {"reward_weights": None}, {"reward.custom_reward_function.path": None}, "A function of (prompts, completions) in TRL, of (data_source, solution_str, ground_truth, extra_info) in verl, where the name stood without `reward.` before."),
    Row("room", {"max_completion_length": 512}, {"data.max_response_length": 512}, "Ours counts beyond the longest right answer. It is also Dr. GRPO's constant in TRL."),
)  # fmt: skip
LOSS = (
    Row("name", {}, {"algorithm.adv_estimator": "gae"}, "TRL has one trainer for each family: GRPOTrainer, RLOOTrainer."),
    Row("source", {}, {}, "A citation; decides nothing."),
    Row("weight", {"scale_rewards": "group"}, {"algorithm.adv_estimator": "gae", "algorithm.norm_adv_by_std_in_grpo": True}, "`grpo` is TRL's `group`, `batch_mean` its `none` (Dr. GRPO). `leave_one_out`: RLOOTrainer, or verl's `rloo`. `critic`: verl's `gae`."),
    Row("baseline", {}, {}, "Neither has a constant baseline."),
    Row("eps", {}, {}, "Added to the standard deviation: 1e-4 in TRL, 1e-6 in verl, fixed in both."),
    Row("ddof", {}, {}, "1 in both, fixed."),
    Row("whiten", {}, {}, "verl whitens the advantages of `gae` always; TRL's `scale_rewards=\"batch\"` divides by the batch's deviation and keeps the group's mean."),
    Row("ratio", {"importance_sampling_level": "token"}, {"actor.policy_loss.loss_mode": "vanilla"}, "`sequence_mean` is TRL's `sequence`, verl's `gspo`; `sequence_product` is what RLOOTrainer does."),
    Row("variant", {"loss_type": "dapo"}, {"actor.policy_loss.loss_mode": "vanilla"}, "`cispo` in both; see clip."),
    Row("clip", {"epsilon": 0.2, "epsilon_high": None}, {"actor.clip_ratio_low": 0.2, "actor.clip_ratio_high": 0.2}, "None in TRL means the same as below. TRL's cispo takes `epsilon_high` for the cap itself: write 1.28 where others write 0.28."),
    Row("dual_clip", {"delta": None}, {"actor.clip_ratio_c": 3.0}, "On in verl, off in TRL and here."),
    Row("aggregation", {"loss_type": "dapo"}, {"actor.loss_agg_mode": "token-mean"}, "`sequence_mean` is TRL's `grpo` (which counts empty rows), `token_mean` its `dapo`, `constant` its `dr_grpo`."),
    Row("norm", {"max_completion_length": 512}, {"actor.loss_scale_factor": None}, "Of `dr_grpo` in TRL: completions times this. verl's `seq-mean-token-sum-norm` takes the padded width of the batch unless told otherwise."),
    Row("kl", {"beta": 0.0}, {"actor.kl_loss_coef": 0.001, "algorithm.kl_ctrl.kl_coef": 0.001}, "Off in all three; verl: `actor.use_kl_loss`, `algorithm.use_kl_in_reward` switch it on."),
    Row("kl_kind", {"use_bias_correction_kl": True}, {"actor.kl_loss_type": "low_var_kl", "algorithm.kl_penalty": "kl"}, "k3 in TRL's loss, times the ratio unless this is False; ours has no ratio there. verl clamps k3 to between -10 and 10."),
    Row("kl_where", {}, {"algorithm.use_kl_in_reward": False}, "TRL's GRPOTrainer: in the loss; its RLOOTrainer: k1 in the reward, and on (0.05) by default."),
    Row("lam", {}, {"algorithm.lam": 1.0, "algorithm.gamma": 1.0}, "Ours has no gamma in training: it is 1. Of a critic only."),
    Row("value_weight", {}, {}, "verl trains the critic apart, with `critic.optim.lr` of its own."),
    Row("value_clip", {}, {"critic.cliprange_value": 0.5}, "Of a critic only; off here by default."),
    Row("rounds", {}, {"algorithm.filter_groups.enable": False, "algorithm.filter_groups.max_num_gen_batches": 10}, "Dynamic sampling; TRL has none."),
    Row("overlong", {}, {"reward.reward_kwargs.overlong_buffer_cfg": None}, "In TRL a second reward function, `get_soft_overlong_punishment`. In verl with the reward manager `dapo`: `len` and `penalty_factor` of it, counted back from `max_resp_len`."),
)  # fmt: skip
GUIDE = RUN + LOSS


def markdown():
    """The guide as a table, the one in ``examples/README.md``."""
    lines = [f"| {' | '.join(HEADINGS)} |", "|---|---|---|---|"]
    return "\n".join(lines + [f"| {' | '.join(row.words())} |" for row in GUIDE]) + "\n"
