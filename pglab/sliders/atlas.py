"""Notebook 03: the estimator atlas, moving with the sliders."""

import numpy as np

from pglab import bandit
from pglab.figures import NAMES, Picture, atlas
from pglab.sliders.controls import Choice, Slider
from pglab.sliders.ends import end_for
from pglab.sliders.explorer import Explorer
from pglab.sliders.four_answers import ANSWERS, LIMIT, eight_sliders, values_of
from pglab.sliders.weights import WEIGHTS, moments

AS_THEY_COME, MATCHED = "as they come", "step size matched"


def estimator_atlas(
    logits=bandit.EXAMPLE_LOGITS, rewards=bandit.EXAMPLE_REWARDS, size=4, baseline=0.8, answers=ANSWERS
):
    """The explorer of the estimator atlas: squared bias against variance for every weight so far.

    Args:
      logits: (4,) where the logit sliders start, from -3 to 3.
      rewards: (4,) where the reward sliders start, from -3 to 3.
      size: where the group size starts, from 2 to 16.
      baseline: where the constant b starts, from -3 to 3.
      answers: four words, the names of the answers.

    Returns:
      Explorer.

    Raises:
      ValueError: a start outside the sliders' ends, or not four of each.
    """
    controls = eight_sliders(logits, rewards, answers)
    controls += [
        Slider("size", "samples G", size, 2, 16, 1, group="the estimates"),
        Slider("baseline", "constant b", baseline, -LIMIT, LIMIT, 0.05, group="the estimates"),
        Choice("scaling", "compare", AS_THEY_COME, (AS_THEY_COME, MATCHED), group="the estimates"),
    ]

    def picture_at(size, baseline, scaling, **sliders):
        return picture(*values_of(sliders), int(size), baseline, scaling == MATCHED)

    return Explorer(controls, picture_at)


def picture(logits, rewards, size, baseline, matched=False):
    """The atlas of the seven weights.

    Args:
      logits: (A,) logits.
      rewards: (A,) rewards.
      size: samples in a group, at least 2.
      baseline: the constant b.
      matched: scale every estimate so that its mean is as long as the gradient, along it.

    Returns:
      Picture of one panel with a caption.

    Raises:
      ValueError: as ``weights.moments``.
    """
    estimates = {name: moments(name, logits, rewards, size, baseline) for name in WEIGHTS}
    flat = bool(np.abs(estimates["none"].gradient).max() < 1e-12)  # equal rewards: nothing to be matched with
    if matched and not flat:
        estimates = {name: estimate.matched() for name, estimate in estimates.items()}
    places = {name: (e.squared_bias, e.variance) for name, e in estimates.items() if e is not None}
    lost = [NAMES[name] for name, estimate in estimates.items() if estimate is None]
    # A constant far off would squeeze all others into a corner: it may stand at the border.
    up = end_for(max(pair[1] for name, pair in places.items() if name != "constant"))
    right = max(end_for(max(pair[0] for pair in places.values())), up / 4)
    panel = atlas(places, f"{len(places)} estimators, {size} samples each", (right, up), width=760)
    title = f"Squared bias against variance, {size} samples, {MATCHED if matched else AS_THEY_COME}"
    return Picture(panel, title, _caption(places, lost, matched, flat))


def _caption(places, lost, matched, flat):
    error = {name: bias + variance for name, (bias, variance) in places.items()}
    how = "Along a dashed line the mean squared error is the same."
    if matched and flat:
        how = "The gradient is zero: there is nothing to match, and the estimates stand as they come."
    elif matched:
        how = "Each is scaled so that its mean, projected on the gradient, is the gradient. " + how
    biased = [f"{NAMES[name]} {bias:.4f}" for name, (bias, _) in places.items() if bias > 0]
    how += f"\nSquared bias: {', '.join(biased) or 'none'}."
    missing = f" Nothing along the gradient: {', '.join(lost)}." if lost else ""
    return (
        f"{how}{missing}\n"
        f"Least mean squared error: {_named(error, min(error.values()))}; "
        f"most: {_named(error, max(error.values()))}."
    )


def _named(error, value):
    """The estimators with this error, more than one where they tie, and the error itself."""
    ties = [NAMES[name] for name in error if np.isclose(error[name], value, rtol=1e-9, atol=1e-15)]
    return f"{', '.join(ties)} ({value:.4f})"
