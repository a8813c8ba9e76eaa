"""Training: a model learns a corpus (pretraining), and scores that say how well it did.

python -m pglab.training pretrain --task addition     makes data/addition.safetensors again
"""

from pglab.training.evaluation import Scores, evaluate
from pglab.training.pretraining import Pretrained, pretrain
from pglab.training.settings import LARGE, PRETRAINED, Pretraining, preset

__all__ = [
    "LARGE",
    "PRETRAINED",
    "Pretrained",
    "Pretraining",
    "Scores",
    "evaluate",
    "preset",
    "pretrain",
]
