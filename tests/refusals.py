"""Bad input must end in one sentence that names what was wrong."""

import pytest


def check(call, message):
    """The call raises a ValueError that begins with ``message`` and ends with a full stop."""
    with pytest.raises(ValueError) as caught:
        call()
    assert str(caught.value).startswith(message) and str(caught.value).endswith("."), caught.value
