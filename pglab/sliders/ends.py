"""Where an axis ends: a few fixed places, so that it does not jump at every move of a slider."""

ENDS = tuple(round(digit * 10.0**power, 6) for power in range(-3, 3) for digit in (1, 2, 5))


def end_for(largest, ends=ENDS, full=0.9):
    """The smallest of the ends that ``largest`` fills to a share of at most ``full``.

    Beyond the last of them the axis follows the picture, with a fifth of room.
    """
    return next((end for end in ends if largest <= full * end), 1.2 * largest)
