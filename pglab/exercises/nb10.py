"""Exercises of notebook 10, The bug museum."""

import numpy as np

from pglab import _checks, recordings
from pglab.exercises.checking import Misfit, NotDone, exercise

# --- 10a ----------------------------------------------------------------------------------------

# What a finding would show on the panel; asked of whoever names it for a run that has another.
WOULD = {
    "wrong_brackets": "With wrong brackets advantage_mean is not 0, and follows the reward. Is it 0 here? And if not, "
    "divide it by zero_std at some steps: what do you see?",
    "tiny_eps": "A tiny eps gives weights to groups that are all alike, and to no other: advantage_mean is then not 0, and "
    "the same multiple of zero_std at every step. Is it?",
    "temperature_mismatch": "At another temperature the same tokens get somewhat other probabilities: kl is a few hundredths "
    "in the first step, and kl_ref one step later a small part of that. Are both so here?",
    "shift_off_by_one": "Numbers of other tokens differ by whole nats: kl is above 1 in the first step, though kl_ref one "
    "step later says that the policy has hardly moved. Are both so here?",
    "learning_rate_too_high": "With too high a rate the policy itself goes far: kl is large in the first step, and kl_ref one "
    "step later is as large. Are both so here?",
    "rewards_transposed": "Rewards at the wrong answers leave advantage_mean at 0 and the first kl small; the reward does not "
    "move, and over the whole run grad_noise is all of grad_norm squared. Which of these is not so here?",
    "lax_verifier": "A verifier with a hole pays more for the same answers. All runs drew the same ones in the first step: what "
    "were they paid here, and elsewhere? And does the reward climb from there?",
    "healthy": "In a run in which nothing is wrong all of this holds here: advantage_mean is 0, kl is small in the first step, "
    "the answers end by themselves, and the reward ends clearly above where it began. Which of these fails?",
    "gradient_through_advantage": "A gradient through the advantage lets advantage_mean climb to 2, above any reward. Where does "
    "it go here?",
    "sparse_reward": "Where hardly anything is paid, zero_std is near 1 and grad_norm near 0 from the *first* step. Are they?",
    "variance_for_bias": "A baseline of -3 adds 3 to every weight: advantage_mean would be above 2 from the first step. What is it?",
}
CLOSER = {
    (
        "rewards_transposed",
        "healthy",
    ): "All runs drew the same answers in the first step. Can answers that are paid the same "
    "in all fall into other groups? Compare reward and zero_std of that step. And does this reward ever rise?",
    (
        "healthy",
        "rewards_transposed",
    ): "Noise alone is no finding: every run has it before it learns. Does the reward move, "
    "and is grad_noise all of grad_norm squared over the *whole* run?",
    (
        "tiny_eps",
        "lax_verifier",
    ): "The first step is paid more than elsewhere, yes: what do 0.1 and 0.7 make of the same "
    "answers? And does the reward climb from there?",
}


def clinic():
    """The key of the clinic; imported late, since it brings torch."""
    from pglab.museum import faults

    return faults.CLINIC


def findings():
    """What may be answered."""
    from pglab.museum import faults

    return list(faults.FINDINGS)


@exercise("10a", "Eight runs", "hard", 25)
def _diagnoses(answer):
    if not isinstance(answer, dict):
        raise Misfit(
            f'A dictionary is asked for, {{"A": "healthy", ...}}, and this is of type {type(answer).__name__}.'
        )
    key = clinic()
    unknown = [str(x) for x in answer if x not in key]
    if unknown:
        raise Misfit(f"There is no run {', '.join(unknown)}: the runs are {', '.join(key)}.")
    missing = [x for x in key if answer.get(x) is None or answer.get(x) is Ellipsis]
    if missing:
        raise NotDone(f"Still without a finding: {', '.join(missing)}.")
    for letter in key:
        if answer[letter] not in findings():
            raise Misfit(
                f"{letter} is {_checks.shown(answer[letter])}; it must be one of the findings: {', '.join(findings())}."
            )
    wrong = [letter for letter, truth in key.items() if answer[letter] != truth]
    if not wrong:
        return None
    first = wrong[0]
    hint = CLOSER.get((key[first], answer[first]), WOULD[answer[first]])
    return f"{len(key) - len(wrong)} of {len(key)} are right. Something else: {', '.join(wrong)}. {first}: {hint}"


# --- 10b ----------------------------------------------------------------------------------------

DISAGREE = ("shift_off_by_one", "temperature_mismatch")
ALARMS = (
    (
        "learning_rate_too_high",
        False,
        "It rings for a run whose policy really went that far. What says how far the policy is from the start?",
    ),
    (
        "temperature_mismatch",
        True,
        "It is silent where the sampler was hotter than the learner thinks. The kl of its first step is small, and still "
        "several times too large: compared with what?",
    ),
    ("shift_off_by_one", True, "It is silent for a run whose kl is several nats after one update."),
    ("healthy", False, "It rings for a run in which nothing is wrong."),
)


def panels(name, seed):
    """The rows of a run of the clinic, as a Trainer has them."""
    found = recordings.read("clinic")
    letter = next(x for x, fault in clinic().items() if fault == name)
    table = {column: found.column(letter, column)[found.seeds.index(seed)] for column in found.columns}
    return [dict(zip(table, map(float, values), strict=True)) for values in zip(*table.values(), strict=True)]


@exercise("10b", "An alarm", "medium", 12)
def _alarm(answer):
    _is_function(answer)
    rang = {name: [_rings(answer(panels(name, seed))) for seed in (1, 2)] for name in clinic().values()}
    if all(all(each) for each in rang.values()):
        return "It rings always. An alarm is worth what it keeps silent about."
    if not any(any(each) for each in rang.values()):
        return "It never rings. In which number do the sampler's log-probabilities meet the learner's?"
    for name, wanted, hint in ALARMS:
        if any(each is not wanted for each in rang[name]):
            return hint
    if any(any(each) for name, each in rang.items() if name not in DISAGREE):
        return "It rings for a run with another fault, whose sampler and learner agree."
    late = {name: [_rings(answer(panels(name, seed)[:2])) for seed in (1, 2)] for name in DISAGREE}
    if not all(all(each) for each in late.values()):
        return "It rings, and needs more than two steps for it. What is known after two?"
    return None


def _rings(value):
    if value is None or value is Ellipsis:
        raise NotDone
    try:
        return bool(np.all(value))
    except (TypeError, ValueError) as error:
        raise Misfit("True or False is asked for.") from error


def _is_function(answer):
    if not callable(answer):
        raise Misfit(
            f"A function is asked for, and this is of type {type(answer).__name__}. Give its name, without calling it."
        )


# --- 10c ----------------------------------------------------------------------------------------


@exercise("10c", "A blind input", "easy", 6)
def _blind(answer):
    try:
        group = np.asarray(answer, dtype=float)
    except (TypeError, ValueError) as error:
        raise Misfit("A list of rewards is asked for, such as [1.0, 0.0, 0.0].") from error
    if group.ndim != 1 or group.size < 2 or not np.isfinite(group).all():
        raise Misfit("A list of at least two rewards is asked for, such as [1.0, 0.0, 0.0].")
    if np.ptp(group) == 0:
        return "All equal: there the case is right, and the exercise easy. Which other groups does it leave alone?"
    if abs(group.std() - 1) < 1e-9:
        return None
    if abs(group.std(ddof=1) - 1) < 1e-3:
        return (
            "Its *sample* deviation is 1, divided by G - 1. The contract divides by the population's, by G."
        )
    from pglab import museum
    from pglab.museum.exhibit import shown

    case = museum.case("comparison")
    right, wrong = (shown(f(group)) for f in (case.fixed, case.broken))
    said = f"It gives {wrong}; right is {right}. " if group.size <= 6 else ""
    if abs(group.var() - 1) < 0.05:
        return said + "Nearly. Nine digits are asked for."
    return said + "It always divides by 1. For which groups is that what one should divide by?"


# --- 10d ----------------------------------------------------------------------------------------


@exercise("10d", "A loss that falls for nothing", "hard", 20)
def _loss(answer):
    _is_function(answer)
    if "policy_loss" in getattr(getattr(answer, "__code__", None), "co_names", ()):
        raise Misfit("It calls losses.policy_loss. Write it out: the ratio, the two gains, the mean.")
    import torch

    from pglab import museum

    one = torch.zeros(1, 1, dtype=torch.float64, requires_grad=True)
    tried = answer(one, torch.zeros_like(one), torch.ones(1, dtype=torch.float64), torch.ones(1, 1) > 0)
    if tried is None or tried is Ellipsis:
        raise NotDone
    try:
        found = museum.examine(answer)
    except ValueError as error:
        raise Misfit(str(error)) from error
    failed = [each for each in found.results if each.verdict != "ok"]
    if failed:
        falling = next((each for each in failed if each.verdict == "falls"), failed[0])
        exhibit = falling.exhibit
        mistake = f"It falls for the exhibit {exhibit.name}. " if falling.verdict == "falls" else ""
        told = f" (It {falling.words}.)" if falling.words and falling.verdict != "raises" else ""
        return f"{mistake}{exhibit.hint}{told}"
    portrait = found.portrait
    if portrait.ratio != "token":
        return "One ratio for each *token* is asked for."
    if portrait.aggregation == "token_mean":
        return "This is the mean over all tokens. In GRPO's a row is averaged first, and then the rows: a long answer's token weighs less."
    if portrait.aggregation != "sequence_mean":
        return "The denominator is not the one that is asked for: each row's own tokens, then the rows that have some."
    bounds = (portrait.low - 0.8, portrait.high - 1.2)
    if max(map(abs, bounds)) > 1e-5 or portrait.variant != "ppo":  # float32 inside is fine
        return "The bounds of the ratio are 0.8 and 1.2, and a token beyond them has no slope."
    if found.equal is None:
        return "Every oracle test passes, and yet its value or its slopes are not GRPO's on random batches."
    return _empty_rows(answer)


def _empty_rows(answer):
    """The hint for a loss that counts rows without tokens; None for one that leaves them out."""
    import torch

    new = torch.zeros(2, 2, dtype=torch.float64, requires_grad=True)
    mask = torch.tensor([[True, True], [False, False]])
    value = answer(new, torch.zeros_like(new), torch.tensor([1.0, 1.0], dtype=torch.float64), mask)
    (slope,) = torch.autograd.grad(value.sum(), new)
    if torch.allclose(slope[0], torch.full((2,), -0.5, dtype=torch.float64)):
        return None
    return "A row without tokens is counted among the rows: beside it the others weigh half. Count rows that have tokens."
