"""What public libraries run unless told otherwise, in the words of ``Algorithm``.

Each entry was read from the source of the version it names, and says in ``note`` what that library does
beside it and no field here can say. prime-rl (559b4477) is missing: it takes r - mean over all tokens of
the batch like others here, but masks tokens by the *difference* of two probabilities and adds the square
of the log-ratio, and neither is a field.
"""

from types import MappingProxyType
from typing import NamedTuple

from pglab.algorithms.algorithm import Algorithm


class Library(NamedTuple):
    """The default of one library."""

    name: str
    version: str  # that was read
    source: str  # the files and lines of its parts
    algorithm: Algorithm  # what would run here
    note: str  # what it does beside that


def _library(name, version, source, note, **fields):
    return Library(name, version, source, Algorithm(name, f"{version}: {source}", **fields), note)


VERL = "commit 1dda039b, 0.10.0.dev"
OPENRLHF = "commit 3c3be623, 0.11.0"

LIBRARIES = MappingProxyType(
    {
        each.name: each
        for each in (
            _library(
                "TRL GRPO",
                "1.16.0",
                "grpo_trainer.py: advantage 2765-2787, ratio 3087, loss type dapo 3170; grpo_config.py 681, 693, 801",
                "With vLLM it also leaves out completions whose sampler and trainer disagree by a factor above 3. "
                "The tokens it divides by are those of all workers and of every accumulated batch.",
                weight="grpo",
                aggregation="token_mean",
            ),
            _library(
                "TRL RLOO",
                "1.16.0",
                "rloo_trainer.py: KL 1669, advantage 1687, ratio 1824, mean 1832; rloo_config.py 502",
                "A completion without tokens counts in its mean over completions; here it does not.",
                weight="leave_one_out",
                ratio="sequence_product",
                aggregation="sequence_mean",
                kl=0.05,
                kl_kind="k1",
                kl_where="reward",
            ),
            _library(
                "verl",
                VERL,
                "ppo_trainer.yaml 68-74, actor.yaml 39-86, critic.yaml cliprange_value; core_algos.py 262, 1170, 1338",
                "Log-ratios are held in [-20, 20], without a gradient beyond. The critic is a model of its own, with "
                "its own optimiser.",
                weight="critic",
                whiten=True,
                dual_clip=3.0,
                aggregation="token_mean",
                value_weight=1.0,
                value_clip=0.5,
            ),
            _library(
                "verl GRPO",
                VERL,
                "adv_estimator=grpo: core_algos.py 316-326, 1170, 1338; actor.yaml 39-86",
                "Log-ratios are held in [-20, 20], without a gradient beyond. A group of one keeps its bare reward.",
                weight="grpo",
                eps=1e-6,
                dual_clip=3.0,
                aggregation="token_mean",
            ),
            _library(
                "slime",
                "commit 624b824a",
                "rollout.py 613-629, arguments.py 899-984, cp_utils.py 47-81, loss.py 1353",
                "A completion without tokens counts in its mean over completions; here it does not. A group of one "
                "becomes NaN, and one completion a prompt is its default.",
                weight="grpo",
                eps=1e-6,
                aggregation="sequence_mean",
            ),
            _library(
                "OpenRLHF",
                OPENRLHF,
                "train_ppo_ray.py 387-482, experience_maker.py 315-328, utils.py 95-108, loss.py 11-45 and 168",
                "Log-ratios are held in [-20, 20], estimates of the KL and rewards in [-10, 10]; the variance that "
                "whitens is held above 1e-8, where here it is added to. The critic is a model of its own, with its "
                "own optimiser and its own clip of the values.",
                weight="critic",
                whiten=True,
                ddof=0,
                aggregation="token_mean",
                kl=0.01,
                kl_kind="k1",
                kl_where="reward",
                value_weight=1.0,
            ),
            _library(
                "OpenRLHF group_norm",
                OPENRLHF,
                "advantage estimator group_norm: experience_maker.py 270; loss.py 11-45 and 168",
                "Without its KL of 0.01: that is taken off each token after the division by the std, and summed from "
                "the token on, which no field here says. Log-ratios are held in [-20, 20], advantages in [-10, 10]. "
                "An eps of 1e-9 is below the rounding of float32: rewards that are all equal can get an advantage.",
                weight="grpo",
                eps=1e-9,
                aggregation="token_mean",
            ),
            _library(
                "NeMo-RL",
                "commit 7ea279ab",
                "advantage_estimator.py 69-98, loss_functions.py 114-149, 488-503 and 678; grpo_math_1B.yaml",
                "Its KL in the loss is k3 with a weight exp(x - x held constant): the value of k3, the gradient of k2. "
                "k2 stands here, so the loss has another value and the same gradient. Its clamps (20 in, 10 out) are "
                "not here.",
                weight="leave_one_out_std",
                eps=1e-6,
                aggregation="token_mean",
                kl=0.01,
                kl_kind="k2",
            ),
            _library(
                "tinker-cookbook",
                "commit 9dfcc3a2",
                "rl/data_processing.py 37-39, rl/train.py 466-477; the sum over tokens: Tinker documentation, losses",
                "The ratio corrects for the sampler that drew the batch; nothing bounds it.",
                weight="batch_mean",
                clip=None,
                aggregation="sum",
            ),
        )
    }
)
