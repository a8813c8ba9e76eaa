"""What the small language model costs: sampling against the machine's peak, the oracle, pretraining.

One torch thread throughout, as everywhere by default.
"""

import statistics

import torch
from timing import seconds

from pglab import advantages, lm, oracle, sampling, training

PROMPT, NEW = 8, 5  # tokens of an addition's prompt, and of its answer with the end token
ADDITION = dict(context=PROMPT + NEW, width=64, layers=2, heads=4)
TINY = dict(vocabulary=10, context=8, width=16, layers=1, heads=2)


def against_the_peak(function, work, repeats, size=1024):
    """Median time of a call, and the share of the peak it reaches: its operations a second over those of
    a product of two float32 matrices, measured beside it each time, for the machine is shared."""
    a, times, shares = torch.randn(size, size), [], []
    for _ in range(repeats):
        peak = 2 * size**3 / seconds(lambda: a @ a, 3)
        times.append(seconds(function, 3))  # the first finds the caches full of the product
        shares.append(work / times[-1] / peak)
    return statistics.median(times), statistics.median(shares)


def forward_work(model, read, asked):
    """Operations of the matrix products for so many tokens read, and the head asked so often."""
    weights = {name: p.numel() for name, p in model.named_parameters() if p.ndim == 2}
    layers = sum(n for name, n in weights.items() if name.startswith("blocks"))
    return 2 * (layers * read + weights["tokens.weight"] * asked)


def matrix_work(model, batch, group, prompt=PROMPT, new=NEW):
    """Operations of the matrix products of one ``sample``; the last token is not read."""
    own = batch * group * (new - 1)
    return forward_work(model, batch * prompt + own, batch + own)


def bench_sampling():
    torch.set_num_threads(1)
    a = torch.randn(1024, 1024)
    peak = seconds(lambda: a @ a, 9)
    yield "float32 product, 1024 x 1024", peak, f"{2 * 1024**3 / peak / 1e9:.0f} GFLOP/s: the peak"
    model, generator = lm.SmallLM(**ADDITION), torch.Generator().manual_seed(0)
    for batch, group in ((32, 8), (128, 8), (16, 64), (1024, 1)):
        prompts = torch.randint(1, 32, (batch, PROMPT), generator=generator)
        drawn = int(sampling.sample(model, prompts, group, NEW, generator=generator).mask.sum())
        took, share = against_the_peak(
            lambda p=prompts, g=group: sampling.sample(model, p, g, NEW, generator=generator),
            matrix_work(model, batch, group),
            15,
        )
        verdict = "met" if share >= 0.4 else "MISSED"
        name = f"sampling, {batch} prompts x {group}"
        yield name, took, f"{drawn / took:,.0f} tokens/s, {share:.0%} of the peak; aim: 40%, {verdict}"
    prompts = torch.randint(1, 32, (32, PROMPT), generator=generator)
    plain = seconds(lambda: sampling.sample(model, prompts, 8, NEW, generator=generator, cache=False), 5)
    cached = seconds(lambda: sampling.sample(model, prompts, 8, NEW, generator=generator), 15)
    yield "sampling without a cache, 32 x 8", plain, f"{plain / cached:.1f} times slower"


def bench_oracle():
    torch.set_num_threads(1)
    model = lm.SmallLM(**TINY).double()

    def gradient():
        return oracle.exact(model, [7, 3], ends_in_three, 4).gradient

    def everything():
        known = oracle.exact(model, [7, 3], ends_in_three, 4)
        return known, known.moments(advantages.grpo, 8)

    known = everything()[0]
    number = f"{len(known.tokens):,} completions"
    yield "oracle, J and gradient", seconds(gradient, 9), number
    took = seconds(everything, 9)
    verdict = "met" if took < 0.1 else "MISSED"
    yield "oracle, any estimator's variance too", took, f"{number}; aim: under 100 ms, {verdict}"
    more = seconds(lambda: known.moments(advantages.grpo, 16), 50)
    yield "oracle, another estimator", more, "the policy unchanged"


def ends_in_three(completion):
    return float(sum(completion) % 10 == 3)


def bench_pretraining():
    """The flagship from nothing, without the evaluation that follows."""
    settings = training.PRETRAINED["addition"]
    times = [training.pretrain(settings, progress=False).card["seconds"] for _ in range(3)]
    took = statistics.median(times)
    verdict = "met" if took <= 15 else "MISSED"
    yield (
        "pretraining, addition",
        took,
        f"{settings.total} steps, slowest {max(times):.1f} s; aim: 15 s, {verdict}",
    )
