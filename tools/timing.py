"""How long a call takes."""

import statistics
import time


def seconds(function, repeats):
    """Median time of one call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times)
