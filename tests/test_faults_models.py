"""A model that is no longer what it was: weights that are no numbers, another type of number since it was read."""

import math

import numpy as np
import pytest
import torch
from refusals import check

from pglab import lm, oracle, sampling


def exact(model):
    return oracle.exact(model, [1, 2], lambda completion: float(len(completion) % 2), 3)


CHANGES = {
    "float": lambda model: model.float(),
    "half": lambda model: model.half(),
    "there and back": lambda model: model.float().double(),
    "to": lambda model: model.to(torch.bfloat16),
}
READS = {
    "gradient": lambda found: found.gradient,
    "scores": lambda found: found.scores([0]),
    "squares": lambda found: found.squares,
    "scores_along": lambda found: found.scores_along(np.ones(sum(p.numel() for p in found.parameters))),
}


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("change", CHANGES)
def test_another_type_of_number_after_exact_is_refused_and_gives_no_zeros(change, read):
    model = oracle.network(0)
    found = exact(model)
    CHANGES[change](model)
    check(lambda: READS[read](found), "model was turned into another type of number")


def test_what_changes_nothing_of_the_kind_is_fine():
    model, other = oracle.network(0), oracle.network(0)
    found = exact(model)
    model.double().eval().requires_grad_(True).to("cpu")
    assert np.array_equal(found.gradient, exact(other).gradient) and abs(found.gradient).max() > 0


@pytest.mark.parametrize("spoil", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_weights_that_are_no_numbers_are_refused(spoil, cache, temperature):
    model = lm.load("addition", "cpu")
    with torch.no_grad():
        model.norm.weight[0] = spoil
    check(
        lambda: sampling.sample(model, ["12+34="], 4, 5, temperature, cache=cache),
        "model gives logits that are NaN, or -inf for every token, so nothing can be drawn; its weights must be finite.",
    )


def test_a_fault_that_begins_after_the_first_token_is_seen_too():
    model = lm.load("addition", "cpu")
    with torch.no_grad():
        model.positions.weight[6:] = math.nan  # the prompt itself is read well
    sampling.sample(model, ["12+34="], 4, 1)
    check(lambda: sampling.sample(model, ["12+34="], 64, 5, 3.0), "model gives logits that are NaN")
