"""Broken runs, with their healthy twins and under letters (D2, D4)."""

from dataclasses import replace

from experiments.variant import Variant, every_step
from pglab.museum import faults


def twins():
    """Each classic fault beside the same run without it, and a critic read late that does no harm."""
    found = {}
    for name in (*faults.CLASSICS, "late_critic"):
        fault = faults.FAULTS[name]
        sick = Variant(fault.words, fault.settings, every_step(fault.settings), fault=name)
        found[name] = sick
        found[f"{name}, healthy"] = replace(sick, words=f"without {fault.words}", healed=True)
    return found


def blind():
    """Runs that have a letter for a name. The key is ``faults.CLINIC``."""
    return {
        letter: Variant(f"run {letter}", faults.WARD, every_step(faults.WARD), fault=fault, blind=True)
        for letter, fault in faults.CLINIC.items()
    }
