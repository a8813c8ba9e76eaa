"""The hand-over: the same task, settings and gradient in TRL's hands; every setting's name in TRL and verl.

Needs the optional extra ``peers`` (``make peers``); without it ``recorded`` and ``GUIDE`` can still be read. Nothing
here reaches for a hub.
"""

from pglab.peers.extra import missing, need
from pglab.peers.guide import GUIDE, Row
from pglab.peers.hand_over import dataset, reward, trl_settings
from pglab.peers.parity import Parity, parity, trainer
from pglab.peers.results import recorded

__all__ = [
    "GUIDE",
    "Parity",
    "Row",
    "dataset",
    "missing",
    "need",
    "parity",
    "recorded",
    "reward",
    "trainer",
    "trl_settings",
]
