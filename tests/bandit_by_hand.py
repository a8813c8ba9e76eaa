"""The running example, and how close is close."""

import numpy as np

from pglab import bandit

LOGITS = np.array([0.4, -0.2, 1.1, 0.0])  # the running example
REWARDS = np.array([1.0, 0.0, 0.0, 1.0])


def close(value, wanted, scale=1.0, tolerance=1e-12):
    """Equal to within ``tolerance`` times the scale of what went in."""
    return np.testing.assert_allclose(value, wanted, rtol=0, atol=tolerance * max(scale, 1e-300))


WITH_LOGITS = [bandit.log_softmax, bandit.softmax, bandit.score_matrix, bandit.entropy]
WITH_REWARDS = [bandit.expected_reward, bandit.optimal_baseline]
WITH_WEIGHTS = [bandit.exact_gradient, bandit.gradient_covariance, bandit.covariance_trace]
