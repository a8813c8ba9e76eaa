from typing import NamedTuple


class Row(NamedTuple):
    ours: str


GUIDE = ()
