"""Faults that a claim of notebook 07 must notice."""

from cells import Fault

# Cells that train, and that nothing later in the list needs.
LEAVE_OUT = (
    "def penalised(model)",
    "kl_curves[name], at_end = eight(",
    "curves[name], last[name] = eight(loss, 80)",
    "def halted(name",
    "def broken(model)",
    "def protected(m",
    "def shifted_by(shift)",
)

FAULTS = [
    Fault(
        "pglab.sampling.scoring",
        "first = read[:, -1:].index_select(0, owners)",
        "first = read[:, :1].index_select(0, owners)",
        "L1",
        "the first token scored from the prompt's beginning, not from its end",
    ),
    Fault(
        "pglab.sampling.scoring",
        "rest = model.run(tokens[:, :-1], places",
        "rest = model.run(tokens[:, 1:], places",
        "L1",
        "the shift by one the wrong way: a token scored from itself",
    ),
    Fault(
        "pglab.lm.model",
        "is_causal=True",
        "is_causal=False",
        "L1",
        "the causal mask forgotten",
    ),
    Fault(
        "pglab.oracle.exact",
        "return self.weighted_score(self.probabilities * self.rewards)",
        "return self.weighted_score(self.rewards)",
        "L3",
        "completions not weighted by their probability",
    ),
    Fault(
        "pglab.oracle.exact",
        "return mean @ self.centre, float(between + inside @ (self.square - self.products.diagonal()))",
        "return mean @ self.centre, float(between + inside @ self.square)",
        "L3",
        "the mean score not taken off the squared scores within a reward value",
    ),
    Fault(
        "pglab._masked",
        "return centred(values, mask) * number / where(number > 1, number - 1, 1.0)",
        "return centred(values, mask)",
        "L3",
        "leave-one-out that leaves nothing out",
    ),
    Fault(
        "pglab.losses",
        "return losses.sum() / (norm or mask.sum().clamp(min=1))",
        "return losses.sum() / (norm or mask.numel())",
        "L2",
        "a token mean over padding too",
    ),
    Fault(
        "pglab.losses",
        "return _masked.mean(losses, mask).sum() / (norm or rows)",
        "return losses.mean(1).sum() / (norm or rows)",
        "L2",
        "a sequence mean over padding too",
    ),
    Fault(
        "pglab.sampling.policy",
        "logits = logits / temperature",
        "logits = logits * temperature",
        "L5",
        "the temperature upside down",
    ),
    Fault(
        "pglab.lm.model",
        "return (mask.long().cumsum(1) - 1).clamp(min=0), padded(mask)",
        "return torch.arange(tokens.shape[1], device=tokens.device), padded(mask)",
        "L6",
        "padding on the left counted as positions",
    ),
]
