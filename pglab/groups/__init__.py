"""Groups of samples, exact: every group counted once as a multiset; the closed form for leave-one-out.

G answers to one prompt of A possible answers make A^G groups. An estimate that does not look at
the order is the same for all groups that hold the same answers, so it is enough to go through the
*multisets*: C(G + A - 1, A - 1) of them, 47,905 instead of 10^38 for A = 4 and G = 64. An
advantage looks only at rewards, so ``moments`` needs the multisets of reward *values*: with
rewards of 0 and 1 these are the G + 1 pass counts.

Source: Feller 1968, An introduction to probability theory, vol. 1, sections II.5 and VI.9.
"""

from pglab.groups.estimates import moments, rloo_covariance_trace, weight_moments, zero_variance_probability
from pglab.groups.listing import expect, multinomial, multisets
from pglab.groups.scale import grpo_objective, grpo_scale

__all__ = [
    "expect",
    "grpo_objective",
    "grpo_scale",
    "moments",
    "multinomial",
    "multisets",
    "rloo_covariance_trace",
    "weight_moments",
    "zero_variance_probability",
]
