"""Bad input must end in one sentence that names what was wrong."""

import pytest


def check(call, message):
    """The call raises a ValueError that begins with ``message`` and ends with a full stop; what it says."""
    with pytest.raises(ValueError) as caught:
        call()
    text = str(caught.value)
    assert text.startswith(message) and text.endswith("."), text
    return text
