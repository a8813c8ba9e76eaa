"""From a corpus to a checkpoint, and from rewards to a better one: resumable, one command each.

python -m pglab.training pretrain --task addition     makes data/addition.safetensors again
python -m pglab.training grpo --task addition         lets it learn from rewards; see --help for others
"""

from pglab.training.evaluation import Scores, evaluate
from pglab.training.plans import POST_TRAINED, PostTraining, plan
from pglab.training.post_training import PostTrained, post_train
from pglab.training.pretraining import Pretrained, pretrain
from pglab.training.settings import LARGE, PRETRAINED, Pretraining, preset
from pglab.training.trainer import PANEL, Trainer

__all__ = [
    "LARGE", "PANEL", "POST_TRAINED", "PRETRAINED", "PostTrained", "PostTraining", "Pretrained", "Pretraining",
    "Scores", "Trainer", "evaluate", "plan", "post_train", "preset", "pretrain",
]  # fmt: skip
