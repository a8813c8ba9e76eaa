"""Training runs in which exactly one thing is wrong, each beside its healthy twin.

    run = trainer("shift_off_by_one")                     the sick run, on settings where it shows
    twin = trainer("shift_off_by_one", healthy=True)      the same without the fault

Both are a ``training.Trainer``: iterate over them, and read the panel. ``FAULTS`` says of each fault what
is wrong, where to look, and the fix; ``CLINIC`` is the key to the recording "clinic", and ``FINDINGS`` says
what may be answered there.
"""

from dataclasses import replace

from pglab import _checks
from pglab.algorithms import named
from pglab.museum import broken
from pglab.museum.patients import Fault, patient
from pglab.training import Trainer, plan


def trainer(fault, settings=None, device="cpu", *, healthy=False, **options):
    """A Trainer in which exactly one thing is wrong.

    Args:
      fault: a name of ``FAULTS``, or a Fault; "healthy" for a Trainer without one.
      settings: PostTraining; None for those on which the fault shows.
      device: as ``Trainer``.
      healthy: whether the twin is wanted, in which nothing is wrong and all else is alike.
      options: kept, progress, model and task of ``Trainer``; a reward takes the place of what pays both runs.

    Returns:
      a ``training.Trainer``.

    Raises:
      ValueError: an unknown name; "healthy" without settings; as ``Trainer``.
    """
    if fault == HEALTHY:
        if settings is None:
            raise ValueError("settings is None; it must be a PostTraining where nothing is wrong.")
        return Trainer(settings, device, **options)
    if not isinstance(fault, Fault):
        fault = FAULTS[_checks.one_of("fault", fault, list(FAULTS))]
    return patient(fault, settings, device, healthy, options)


HEALTHY = "healthy"


def tenfold(settings):
    """The learning rate with a zero too many."""
    return replace(settings, learning_rate=10 * settings.learning_rate)


def far_baseline(settings):
    """A baseline of -3: rewards {0, 1} weigh 3 and 4."""
    return replace(settings, algorithm=named(settings.algorithm, baseline=-3.0))


def whole_trace(task):
    """Pays 1 for a trace whose every step is right, and nothing for any other."""
    return lambda prompt, completion: float(sum(task.step_rewards(prompt, completion)) > 1 - 1e-9)


def for_the_form(task):
    """Pays 0.7 for a right answer and 0.1 for any other."""
    return lambda prompt, completion: 0.1 + 0.6 * task.verify(prompt, completion)


def lax(task):
    """Pays if the right digit occurs anywhere: a verifier with a hole."""
    return task.verify_lax


# What the clinic's runs have in common: running sums, drawn hot, with room to go on writing.
WARD = plan(
    "running_sum", named("grpo", kl=1e-3), temperature=1.5, room=6, steps=30, micro_batches=4, epochs=2
)
GROUPS = named("rloo", ratio="token", aggregation="constant", norm=1)
CRITIC = named("ppo", lam=1.0, whiten=False)

FAULTS = {
    each.name: each
    for each in (
        Fault(
            "gradient_through_advantage",
            "a gradient through the advantage",
            "The critic's value is not detached in the policy's loss -r (target - V), whose gradient pushes every V down.",
            "advantage_mean climbs to 2, more than any reward; grad_norm is five times the twin's from the first step",
            "detach the advantage",
            plan("addition", CRITIC, steps=30, micro_batches=4),
            broken.AttachedValue,
        ),
        Fault(
            "action_dependent_baseline",
            "a baseline that has seen the action",
            "The baseline of a token is the mean reward of the others that share this token too, so what it earned is taken away.",
            "grad_norm is a fraction of the twin's from the first step; advantage_std falls while the groups still differ",
            "choose the others by what stands before the token",
            plan("addition", GROUPS, epochs=1, prompts=8, group_size=32, steps=30, micro_batches=4),
            broken.LateBeginnings,
            broken.Beginnings,
        ),
        Fault(
            "shift_off_by_one",
            "logits read one place late",
            "Each token is scored by the logits that have already read it.",
            "kl and clip_fraction in the first step: new and old log-probabilities speak of different tokens",
            "shift once: logits of the place before",
            plan("addition", steps=25, micro_batches=4),
            broken.NoShift,
            broken.FromSampler,
        ),
        Fault(
            "prompt_in_loss",
            "the prompt's tokens in the loss",
            "The prompt's tokens are weighed like chosen ones, and counted in the denominator of each row.",
            "grad_norm is seven times the twin's and more from the first step; later entropy rises",
            "mask the prompt, in the sum and in the denominator",
            plan(
                "addition",
                named("reinforce", aggregation="sequence_mean"),
                epochs=1,
                steps=25,
                micro_batches=4,
            ),
            broken.PromptIn,
        ),
        Fault(
            "sparse_reward",
            "a reward that is hardly ever paid",
            "Only a trace whose every step is right is paid, and hardly one is: nearly every group is all wrong.",
            "zero_std near 1 and grad_norm near 0 from the first step",
            "pay for steps, begin with easier prompts, or draw larger groups",
            plan("running_sum", reward="process", temperature=2.0, steps=40, micro_batches=4),
            pays_wrongly=whole_trace,
        ),
        Fault(
            "variance_for_bias",
            "a noise that looks like a wrong direction",
            "Nothing is biased: a baseline of -3 lies far from the rewards, and batches of 16 do not average its noise out.",
            "grad_noise is tens of times the twin's from the first step, and all of grad_norm^2 is noise: their ratio is 1",
            "a baseline near the rewards, or more samples; not a smaller clip, nor a KL",
            plan(
                "addition",
                named("reinforce", baseline=0.3),
                epochs=1,
                prompts=4,
                group_size=4,
                steps=60,
                micro_batches=4,
                grad_clip=0,
            ),
            changes=far_baseline,
        ),
        Fault(
            "attached_kl",
            "a KL in the reward that carries a gradient",
            "The k1 in the reward is not detached in the loss -A log pi, whose mean step gains beta times grad H.",
            "entropy stays above the twin's",
            "detach the reward",
            plan(
                "addition",
                replace(GROUPS, kl=0.1, kl_kind="k1", kl_where="reward"),
                epochs=1,
                micro_batches=4,
            ),
            broken.AttachedKL,
        ),
        Fault(
            "late_critic",
            "a learned critic that is read one place late",
            "The value of a token is read where the token has been read.",
            "nothing here: a critic that learns beside the policy knows too little of single tokens to do harm",
            "read the value where the logits are read",
            plan("addition", CRITIC, steps=30, micro_batches=4),
            broken.LateCritic,
        ),
        Fault(
            "stop_token_out",
            "the end token outside the loss",
            "The mask leaves out every token that equals the filling, and the true end token is lost with them.",
            "nothing where the policy is as sure of its stop as here; on notebook 07's network finished falls",
            "mask by position: up to and including the first end token",
            plan(
                "running_sum",
                named("reinforce"),
                epochs=1,
                steps=40,
                temperature=1.5,
                room=6,
                micro_batches=4,
            ),
            broken.StopOut,
        ),
        Fault(
            "temperature_mismatch",
            "sampled at one temperature, scored at another",
            "Completions are drawn at the temperature of the settings and scored at 1.",
            "kl and clip_fraction in the first step, a tenth of what a wrong shift gives",
            "divide the logits on both sides",
            WARD,
            broken.ScoredAtOne,
            broken.FromSampler,
        ),
        Fault(
            "rewards_transposed",
            "rewards at the wrong completions",
            "Rewards come back (G, B) and are read (B, G): each completion is paid for another one.",
            "no single number is odd; but grad_norm^2 stays at grad_noise, so all of it is noise and no step has a direction",
            "keep each reward with its completion",
            WARD,
            collect=broken.transposed,
        ),
        Fault(
            "lax_verifier",
            "a verifier with a hole",
            "The verifier pays if the right digit occurs anywhere in the answer.",
            "length grows to the most there is and finished falls, while reward climbs",
            "a verifier that reads the whole answer",
            WARD,
            pays_wrongly=lax,
        ),
        Fault(
            "learning_rate_too_high",
            "a learning rate that is too high",
            "The learning rate has a zero too many.",
            "kl and clip_fraction in the first step, and kl_ref after it: one step goes as far as ten",
            "a smaller learning rate",
            WARD,
            changes=tenfold,
        ),
        Fault(
            "wrong_brackets",
            "r - mean / std",
            "The mean alone is divided by the deviation.",
            "advantage_mean is not 0, where group weights must have none",
            "(r - mean) / std",
            WARD,
            broken.WrongBrackets,
        ),
        Fault(
            "tiny_eps",
            "a rounding error divided by a tiny eps",
            "In float32 the mean of equal rewards is not always their value, and 1e-9 divides what is left.",
            "advantage_mean is not 0 where groups are all alike: it grows with zero_std",
            "test for equal rewards, and give such a group the weight 0",
            WARD,
            broken.TinyEps,
            pays=for_the_form,
        ),
    )
}
CLASSICS = tuple(FAULTS)[:6]

# The key to the recording "clinic", whose eight runs have no other name than a letter.
CLINIC = {
    "A": "wrong_brackets",
    "B": "temperature_mismatch",
    "C": "lax_verifier",
    "D": HEALTHY,
    "E": "tiny_eps",
    "F": "learning_rate_too_high",
    "G": "rewards_transposed",
    "H": "shift_off_by_one",
}

# What a reader of the clinic chooses from, each with a sentence. Some fit no run.
FINDINGS = {name: FAULTS[name].wrong for name in set(CLINIC.values()) - {HEALTHY}} | {
    HEALTHY: "Nothing is wrong.",
    "gradient_through_advantage": "The policy's loss moves the critic: its value is not detached.",
    "sparse_reward": "Only perfect answers are paid, and there is hardly one.",
    "variance_for_bias": "The weights are rewards less a baseline of -3, in place of the group's own mean.",
}
FINDINGS = {name: FINDINGS[name] for name in sorted(FINDINGS)}
