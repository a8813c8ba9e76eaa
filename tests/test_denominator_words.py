"""The table's denominator against autograd: what its words say is what the code divides by."""

import re
from itertools import product

import pytest
import torch

from pglab import losses
from pglab.algorithms import RATIOS, Algorithm, Batch, on_batch, shared_batch, table

LEGAL = [
    way
    for way in product(RATIOS, losses.MODES, (None, 3.5), ("ppo", "cispo"))
    if way[::3] != ("none", "cispo")
]
ALL = Batch(*(column if column.dtype == torch.bool else column.double() for column in shared_batch()))


@pytest.mark.parametrize(("ratio", "aggregation", "norm", "variant"), LEGAL)
def test_the_denominator_in_words_is_what_the_code_divides_by(ratio, aggregation, norm, variant):
    """With every ratio at 1 a token's gradient is -A over the product of the words, taken as numbers."""
    below = {"clip": None, "aggregation": aggregation, "norm": norm}
    mine = Algorithm("mine", "here", "batch_mean", ratio=ratio, variant=variant, **below)
    batch = ALL._replace(old_logprobs=ALL.logprobs)
    tokens = batch.mask.sum(1, keepdim=True)
    numbers = {
        "completions": 16,
        "longest allowed": 8,
        "tokens of the batch": 57,
        "its completion's tokens": tokens,
    }
    divisor = torch.ones_like(tokens)
    for words in re.split(", then | x ", table([mine])[0].denominator):
        divisor = divisor * (numbers[words] if words in numbers else float(words))
    weights = (batch.rewards - batch.rewards.mean(1, keepdim=True)).reshape(-1, 1)
    wanted = torch.where(batch.mask, -weights / divisor, 0.0)
    torch.testing.assert_close(on_batch(mine, batch).gradient, wanted, rtol=1e-9, atol=1e-12)
