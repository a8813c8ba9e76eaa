"""KL and what it is given: masks, kinds of arrays, devices, bad input refused."""

import numpy as np
import pytest
import torch
from refusals import check

from pglab import kl

pytestmark = pytest.mark.filterwarnings("error")

LOGP, REF = [[-1.0, -2.0, -0.5], [-0.1, -3.0, -2.5]], [[-1.5, -1.0, -0.5], [-0.2, -2.0, -4.0]]
MASK = [[True, True, False], [False, True, True]]
JUNK = [np.nan, np.inf, -np.inf, 1e300, 5.0]

# ---- Masks


@pytest.mark.parametrize("kind", kl.KINDS)
@pytest.mark.parametrize("junk", JUNK)
def test_whatever_stands_under_the_mask_changes_nothing(kind, junk):
    plain = kl.estimate(LOGP, REF, kind)
    logp, ref = np.where(MASK, LOGP, junk), np.where(MASK, REF, -junk)
    assert kl.estimate(logp, ref, kind, MASK).tolist() == np.where(MASK, plain, 0.0).tolist()
    tensors = [torch.tensor(x, requires_grad=True) for x in (logp, ref)]
    result = kl.estimate(*tensors, kind, MASK)
    np.testing.assert_allclose(result.detach(), np.where(MASK, plain, 0.0), rtol=1e-14)
    result.sum().backward()
    for tensor in tensors:
        assert torch.isfinite(tensor.grad).all() and (tensor.grad[~torch.tensor(MASK)] == 0).all()


@pytest.mark.parametrize("kind", kl.KINDS)
def test_a_mask_that_leaves_nothing(kind):
    nan = np.full((2, 3), np.nan)
    assert (kl.estimate(nan, nan, kind, np.zeros((2, 3), bool)) == 0).all()
    assert kl.estimate(np.zeros((0, 3)), np.zeros((0, 3)), kind).shape == (0, 3)


@pytest.mark.parametrize("kind", kl.KINDS)
def test_what_the_reference_never_does(kind):
    logp = torch.tensor([-1.0, -2.0], requires_grad=True)
    result = kl.estimate(logp, torch.tensor([-torch.inf, -2.0]), kind)
    assert result.tolist() == [np.inf, 0.0]
    result.sum().backward()
    assert not torch.isnan(logp.grad).any()
    assert kl.estimate([-1.0, -2.0], [-np.inf, -2.0], kind).tolist() == [np.inf, 0.0]


# ---- Kinds of arrays


@pytest.mark.parametrize("kind", kl.KINDS)
def test_what_comes_in_comes_out(kind):
    wanted = kl.estimate(np.array(LOGP), np.array(REF), kind)
    assert wanted.dtype == np.float64
    for dtype in (np.float64, np.float32, np.float16):
        logp, ref = np.array(LOGP, dtype), np.array(REF, dtype)
        for array in (logp, ref):
            array.flags.writeable = False
        for other in (ref, REF):  # a list takes the precision of the log-probabilities
            result = kl.estimate(logp, other, kind, np.ones((2, 3), bool))
            assert result.dtype == (np.float64 if dtype is np.float64 else np.float32)
            np.testing.assert_allclose(result, wanted, rtol=3e-2 if dtype is np.float16 else 1e-5, atol=1e-4)
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        logp = torch.tensor(LOGP, dtype=dtype)
        for other in (torch.tensor(REF, dtype=dtype), REF, np.array(REF)[::-1][::-1]):
            result = kl.estimate(logp, other, kind)
            assert result.dtype == (dtype if dtype is torch.float64 else torch.float32)
            np.testing.assert_allclose(
                result, wanted, rtol=5e-2 if dtype is torch.bfloat16 else 1e-5, atol=3e-2
            )
    assert kl.estimate([-1, -2], [-2, -1], kind).dtype == np.float64
    assert kl.estimate(-1.0, -2.0, kind) == kl.estimate([-1.0], [-2.0], kind)[0]


@pytest.mark.parametrize("kind", kl.KINDS)
def test_a_tensor_stays_on_its_device_and_keeps_its_graph(kind):
    logp, ref = torch.tensor(LOGP), torch.tensor(REF)
    wanted = kl.estimate(logp, ref, kind)
    with torch.device("meta"):  # whatever is made without a device is now made elsewhere
        assert kl.estimate(logp, ref, kind, MASK).equal(wanted * torch.tensor(MASK, device="cpu"))
    inputs = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in (LOGP, REF)]
    assert torch.autograd.gradcheck(lambda a, b: kl.estimate(a, b, kind, MASK), inputs)


@pytest.mark.parametrize("kind", kl.KINDS)
def test_nothing_is_changed_or_shared(kind):
    logp, ref = np.array(LOGP), np.array(REF)
    kl.estimate(logp, ref, kind)[:] = 7
    assert logp.tolist() == LOGP and ref.tolist() == REF


# ---- Bad input


FINITE = "logprobs and ref_logprobs must be finite where the mask is True"
BAD_ESTIMATES = {
    "k4": (lambda: kl.estimate(LOGP, REF, "k4"), "kind is 'k4'; it must be one of k1, k2, k3"),
    "None": (lambda: kl.estimate(LOGP, REF, None), "kind is None; it must be one of k1, k2, k3"),
    "one row": (
        lambda: kl.estimate(LOGP, REF[0], "k1"),
        "logprobs and ref_logprobs have shapes (2, 3) and (3,); they must be",
    ),
    "a number": (lambda: kl.estimate(LOGP, 0.0, "k1"), "logprobs and ref_logprobs have shapes (2, 3) and ()"),
    "policy NaN": (lambda: kl.estimate([np.nan], [0.0], "k1"), FINITE),
    "policy inf": (lambda: kl.estimate([np.inf], [0.0], "k1"), FINITE),
    "policy -inf": (lambda: kl.estimate([-np.inf], [0.0], "k2"), FINITE),
    "both -inf": (lambda: kl.estimate([-np.inf], [-np.inf], "k3"), FINITE),
    "reference NaN": (lambda: kl.estimate([0.0], [np.nan], "k3"), FINITE),
    "reference inf": (lambda: kl.estimate([0.0], [np.inf], "k1"), FINITE),
    "a tensor of NaN": (lambda: kl.estimate(torch.tensor([torch.nan]), torch.tensor([0.0]), "k1"), FINITE),
    "tensor and list": (
        lambda: kl.estimate([0.0], torch.tensor([0.0]), "k1"),
        "ref_logprobs is a tensor beside a NumPy array; hand in both as one kind",
    ),
    "words": (lambda: kl.estimate(["a"], [0.0], "k1"), "logprobs is ['a']; it must be log-probabilities"),
    "reference": (
        lambda: kl.estimate([0.0], ["a"], "k1"),
        "ref_logprobs is ['a']; it must be log-probabilities, both arrays",
    ),
    "mask": (lambda: kl.estimate(LOGP, REF, "k1", [True] * 3), "mask has shape (3,); it must be booleans"),
    "mask 2": (lambda: kl.estimate(LOGP, REF, "k1", np.full((2, 3), 2)), "mask holds something other than 0"),
}


@pytest.mark.parametrize("call, message", BAD_ESTIMATES.values(), ids=BAD_ESTIMATES)
def test_bad_samples_are_refused(call, message):
    check(call, message)


BAD_LOGITS = {
    "NaN": ([0.0, np.nan], "[1] is nan; it must be a vector of finite numbers"),
    "inf": ([np.inf, 0.0], "[0] is inf; it must be a vector of finite numbers"),
    "a table": ([[0.0, 1.0]], " has shape (1, 2); it must be a vector"),
    "empty": ([], " is empty"),
    "three": ([0.0, 0.0, 0.0], " has 3 entries; it must have 2"),
}


@pytest.mark.parametrize("logits, message", BAD_LOGITS.values(), ids=BAD_LOGITS)
def test_bad_logits_are_refused_by_name(logits, message):
    check(lambda: kl.divergence([0.0, 0.0], logits), "ref_logits" + message)
    check(lambda: kl.gradient([0.0, 0.0], logits, "k1"), "ref_logits" + message)
    check(
        lambda: kl.gradient([0.0] * 2, [0.0] * 2, "k1", behaviour_logits=logits), "behaviour_logits" + message
    )
    if len(logits) != 3:
        check(lambda: kl.divergence(logits, [0.0, 0.0]), "logits" + message)
        check(lambda: kl.gradient(logits, [0.0, 0.0], "k1"), "logits" + message)


NEVER = [0.0, -np.inf]
BAD_GRADIENTS = {
    "kind": (lambda: kl.gradient([0, 0], [0, 0], "kl"), "kind is 'kl'; it must be one of k1, k2, k3"),
    "where": (
        lambda: kl.gradient([0, 0], [0, 0], "k1", "advantage"),
        "where is 'advantage'; it must be one of loss, ratio_loss, reward",
    ),
    "loss, detach": (
        lambda: kl.gradient([0, 0], [0, 0], "k1", "loss", False),
        "detach=False has a meaning for",
    ),
    "off-policy, detach": (
        lambda: kl.gradient([0, 0], [0, 0], "k1", "reward", False, [0, 0]),
        'detach=False has a meaning for where="reward" without behaviour_logits alone',
    ),
    "policy -inf": (lambda: kl.gradient(NEVER, [0, 0], "k1", "reward"), "logits[1] is -inf; it must be"),
    "reference -inf": (lambda: kl.gradient([0, 0], NEVER, "k1"), "ref_logits[1] is -inf; it must be"),
    "sampler -inf": (
        lambda: kl.gradient([0, 0], [0, 0], "k1", "ratio_loss", True, NEVER),
        "behaviour_logits[1] is -inf; it must be",
    ),
    "k3 overflows": (lambda: kl.gradient([0, -800], [0, 0], "k3"), "k3 is too large for float64; logits and"),
    "all -inf": (lambda: kl.divergence([-np.inf] * 2, [0, 0]), "logits are all -inf"),
}


@pytest.mark.parametrize("call, message", BAD_GRADIENTS.values(), ids=BAD_GRADIENTS)
def test_bad_arguments_of_the_gradient_are_refused(call, message):
    check(call, message)
