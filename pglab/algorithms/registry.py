"""The algorithms by name, each with its source."""

from dataclasses import asdict, replace
from types import MappingProxyType

from pglab import _checks
from pglab.algorithms.algorithm import Algorithm
from pglab.algorithms.libraries import LIBRARIES, Library


def named(algorithm, **changes):
    """An algorithm of the registry, or one like it.

    Args:
      algorithm: a name of ``ALGORITHMS`` or of ``LIBRARIES``, an Algorithm, or a Library.
      changes: what is different, such as kl=0.1. Another aggregation has a norm of its own: None, unless
        one is given.

    Returns:
      Algorithm.

    Raises:
      ValueError: an unknown name, changes that ``Algorithm`` refuses.
    """
    unknown = sorted(set(changes) - set(Algorithm.__dataclass_fields__))
    if unknown:
        raise ValueError(f"there is no setting {unknown[0]}; the settings are those of Algorithm.")
    if isinstance(algorithm, str) and algorithm in LIBRARIES:  # no name is in both
        algorithm = LIBRARIES[algorithm]
    if isinstance(algorithm, Library):
        algorithm = algorithm.algorithm
    if not isinstance(algorithm, Algorithm):
        algorithm = ALGORITHMS[_known(algorithm)]
    if "aggregation" in changes:
        changes = {"norm": None} | changes
    return replace(algorithm, **changes)


def _known(name):
    """A name of the registry; else refused, with the names that libraries have here."""
    try:
        return _checks.one_of("algorithm", name, list(ALGORITHMS))
    except ValueError as error:
        raise ValueError(f"{error} Or what a library runs: {', '.join(LIBRARIES)}.") from None


def differences(one, other):
    """The fields in which two algorithms differ: what turns the one into the other.

    Args:
      one, other: whatever ``named`` takes, or dictionaries as of ``Algorithm.as_dict``.

    Returns:
      {field: (in the one, in the other)}, in the order of the fields; without name and source, which
      decide nothing. A field that one of the dictionaries lacks is None there.

    Raises:
      ValueError: an unknown name.
    """
    one, other = (each if isinstance(each, dict) else asdict(named(each)) for each in (one, other))
    known = (name for name in Algorithm.__dataclass_fields__ if name in one or name in other)
    names = dict.fromkeys((*known, *one, *other))  # a card may have fields that are not known here
    pairs = {name: (_plain(one.get(name)), _plain(other.get(name))) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1] and name not in ABOUT}


def _plain(value):
    return tuple(value) if isinstance(value, list) else value  # from JSON


ABOUT = ("name", "source")

# One completion is one sum over its tokens, as in the gradient of the expected reward.
PLAIN = dict(clip=(0.2, 0.2), aggregation="constant", norm=1)

GRPO = Algorithm(
    "grpo",
    "Shao et al. 2024, section 4.1.1, equation 3; its KL is left out by default here and in TRL 1.16",
    weight="grpo",
    aggregation="sequence_mean",
)
# What DAPO changes in GRPO, part by part: alone, and all together.
PARTS = {
    "grpo_clip_higher": ("section 3.1", {"clip": (0.2, 0.28)}),
    "grpo_dynamic": ("section 3.2", {"rounds": 3}),
    "grpo_token_mean": ("section 3.3", {"aggregation": "token_mean"}),
    "grpo_overlong": ("section 3.4", {"overlong": (0, 4)}),
}
ALONE = tuple(
    replace(GRPO, name=name, source=f"Yu et al. 2025 (DAPO), {section}, on GRPO", **change)
    for name, (section, change) in PARTS.items()
)
TOGETHER = {field: value for _, change in PARTS.values() for field, value in change.items()}
DAPO = replace(GRPO, name="dapo", source="Yu et al. 2025, section 3, equation 8", **TOGETHER)

ALGORITHMS = MappingProxyType(
    {
        each.name: each
        for each in (
            Algorithm(
                "vanilla",
                "Sutton et al. 1999, theorem 1, with the whole return: no baseline, ratio or clip",
                weight="constant",
                ratio="none",
                clip=None,
                aggregation="constant",
                norm=1,
            ),
            Algorithm(
                "reinforce",
                "Williams 1992, section 4; clipped from the second epoch on",
                weight="constant",
                **PLAIN,
            ),
            Algorithm("batch_mean", "Sutton and Barto (2nd ed.), section 13.4", weight="batch_mean", **PLAIN),
            Algorithm(
                "rloo",
                "Ahmadian et al. 2024, section 2; one ratio for a completion as in TRL 1.16, rloo_trainer.py",
                weight="leave_one_out",
                ratio="sequence_product",
                aggregation="sequence_mean",
            ),
            GRPO,
            Algorithm("dr_grpo", "Liu et al. 2025, section 3", weight="batch_mean", aggregation="constant"),
            Algorithm(
                "ppo",
                "Schulman et al. 2017, equation 7; whitened advantages as in verl 0.10, core_algos.py, no dual clip",
                weight="critic",
                whiten=True,
                aggregation="token_mean",
                value_clip=0.2,
            ),
            *ALONE,
            DAPO,
            Algorithm(
                "gspo",
                "Zheng et al. 2025, equations 5 and 7; bounds of section 5",
                weight="grpo",
                ratio="sequence_mean",
                clip=(3e-4, 4e-4),
                aggregation="sequence_mean",
            ),
            Algorithm(
                "cispo",
                "MiniMax 2025 (M1), section 3.1; the bound is that of DAPO",
                weight="grpo",
                variant="cispo",
                clip=(None, 0.28),
                aggregation="token_mean",
            ),
            Algorithm("max_rl", "Tajwar et al. 2026", weight="max_rl", aggregation="constant"),
        )
    }
)
