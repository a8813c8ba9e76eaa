"""Faults that a claim of notebook 08 must notice."""

from cells import Fault

# Cells that train, and that nothing later in the list needs.
LEAVE_OUT = ("curve = list(grpo(", "def one_too_large(x, y)", "again, moments =")

FAULTS = [
    Fault(
        "pglab.advantages",
        "scale = _masked.deviation(differences, mask, ddof) + eps",
        "scale = _masked.deviation(differences, mask, 0) + eps",
        "G1",
        "the population's deviation for that of the sample",
    ),
    Fault(
        "pglab.advantages",
        "return differences / _where(scale > 0, scale, 1.0)",
        "return differences",
        "G1",
        "the deviation is worked out, and never divided by",
    ),
    Fault(
        "pglab.training.update",
        "weights = self.weights[rows, :width] * part.counts[:, None]",
        "weights = self.weights[rows, :width]",
        "G1",
        "alike completions read once and counted once",
    ),
    Fault(
        "pglab.algorithms.algorithm",
        "return self.aggregation, self.norm or (rows if by_row else max(int(mask.sum()), 1))",
        "return self.aggregation, self.norm or max(int(mask.sum()), 1)",
        "G1",
        "tokens for rows below the line of a mean over rows",
    ),
    Fault(
        "pglab.losses",
        "return -ratio * advantages",
        "return ratio * advantages",
        "G1",
        "the objective handed out as a loss, without the minus sign",
    ),
    Fault(
        "pglab.losses",
        "log_ratio = new - old  # (B, T)",
        "log_ratio = old - new  # (B, T)",
        "G1",
        "the ratio upside down",
    ),
    Fault(
        "pglab._masked",
        "return largest <= smallest",
        "return largest - smallest < 2",
        "G1",
        "mixed groups taken for groups all alike",
    ),
    Fault(
        "pglab.training.update",
        "self.optimiser.zero_grad(set_to_none=True)",
        "pass",
        "G2",
        "gradients of earlier steps never cleared",
    ),
    Fault(
        "pglab.training.evaluation",
        "return float(column.mean()), float(column.std(ddof=1) / np.sqrt(len(column)))",
        "return float(column.mean()), float(column.std(ddof=1))",
        "G2",
        "a standard deviation for a standard error",
    ),
    Fault(
        "pglab.groups.estimates",
        "result = p**size + (1 - p) ** size",
        "result = p**size",
        "G4",
        "groups that are wrong throughout not counted as silent",
    ),
    Fault(
        "pglab.diagnostics",
        "return (every - math.comb(n - c, k)) / every",
        "return 1 - (1 - c / n) ** k",
        "G5",
        "pass@k as if drawn with replacement: biased low",
    ),
]
