"""Exercises of notebook 10, The bug museum."""

import numpy as np

from pglab import recordings
from pglab.exercises.checking import Misfit, NotDone, exercise

# --- 10a ----------------------------------------------------------------------------------------

ASTRAY = ("prompt_in_loss", "sparse_reward", "stop_token_out")  # findings that no run of the clinic has

# Which number of the panel tells a finding; asked of whoever names another one.
TELLS = {
    "wrong_brackets": "Look at advantage_mean, step by step, beside zero_std: what must it be for group weights, and "
    "does it follow the share of equal groups?",
    "tiny_eps": "Look at advantage_mean beside zero_std, and divide one by the other at some steps. What is the "
    "same at every step?",
    "temperature_mismatch": "Look at kl in the first step, and at kl_ref one step later: has the policy gone that far? "
    "And is the kl one of several nats, or a small one?",
    "shift_off_by_one": "Look at kl in the first step: several nats, after a single update. How far is the policy from "
    "the start one step later (kl_ref)?",
    "learning_rate_too_high": "Look at kl in the first step, and at kl_ref one step later: did the policy really go that "
    "far? Who decides how far one update goes?",
    "rewards_transposed": "Divide the mean grad_noise by the mean of grad_norm squared. What does it mean if that is 1 "
    "for the whole run?",
    "lax_verifier": "Look at reward and finished together, at the end. Would a right answer use up all the room?",
    "healthy": "Is there any number here that could not be so in a run that is right? Compare with the twins of the "
    "six classic failures.",
}


def clinic():
    """The key of the clinic; imported late, since it brings torch."""
    from pglab.museum import faults

    return faults.CLINIC


def findings():
    """What may be answered."""
    return sorted({*clinic().values(), *ASTRAY})


@exercise("10a", "Eight runs", "hard", 25)
def _diagnoses(answer):
    if not isinstance(answer, dict):
        raise Misfit(
            f'A dictionary is asked for, {{"A": "healthy", ...}}, and this is of type {type(answer).__name__}.'
        )
    key = clinic()
    missing = [x for x in key if answer.get(x) is None or answer.get(x) is Ellipsis]
    if missing:
        raise NotDone(f"Still without a finding: {', '.join(missing)}.")
    for letter in key:
        if answer[letter] not in findings():
            raise Misfit(
                f"{letter} is {answer[letter]!r}; it must be one of the findings: {', '.join(findings())}."
            )
    wrong = [letter for letter, truth in key.items() if answer[letter] != truth]
    if not wrong:
        return None
    right = f"{len(key) - len(wrong)} of {len(key)} are right."
    return f"{right} {wrong[0]} is something else. {TELLS[key[wrong[0]]]}"


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
    if abs(group.std(ddof=1) - 1) < 1e-9:
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
    if (round(portrait.low, 9), round(portrait.high, 9)) != (0.8, 1.2) or portrait.variant != "ppo":
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
