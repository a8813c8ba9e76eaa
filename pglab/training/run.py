"""One run of the optimiser, from its first or any later step to its last."""

import functools
import math
import time
from contextlib import nullcontext

import torch
from torch.nn.functional import cross_entropy

from pglab import lm
from pglab.training import corpus
from pglab.training.unfinished import Unfinished

REPORT = 50  # most steps between two looks at the loss, for which a GPU must be waited
PATIENCE = 1.0  # seconds between two looks, about, where a step is slow
RECENT = 50  # steps whose mean loss is shown


class Run(Unfinished):
    """A model on its way through the corpora of its task.

    Args:
      settings: Pretraining.
      device, kept, progress: as ``Unfinished``.

    Raises:
      ValueError: a run of other settings lies there.
    """

    def __init__(self, settings, device, kept=None, progress=True):
        super().__init__(settings, device, kept, progress)
        self.model = start(settings).to(device)
        self.optimisers = optimisers(self.model, settings)
        self.at_once = 1  # steps until the next look
        self.go_on()

    @functools.cached_property
    def corpora(self):
        return [corpus.make(self.settings, i, self.device) for i in range(len(self.settings.corpora))]

    def postfix(self):
        """The mean loss of the last steps."""
        recent = self.rows[-RECENT:]
        return {"loss": f"{sum(recent) / len(recent):.3f}"}

    def several(self):
        """Some steps, with one wait for the device; returns how many."""
        began, settings = time.perf_counter(), self.settings
        which = settings.corpus(self.step)
        examples = self.corpora[which]
        end = min(self.step + self.at_once, sum(settings.steps[: which + 1]))
        order = corpus.rows(settings, self.step, end).to(self.device)  # (steps, batch), moved once
        losses = []
        for step, rows in enumerate(order, self.step):
            losses.append(self.one(step, examples.inputs[rows], examples.targets[rows]))
        self.rows += torch.stack(losses).tolist()
        took = time.perf_counter() - began
        self.seconds += took
        self.at_once = min(2 * self.at_once, REPORT) if took < PATIENCE else max(self.at_once // 2, 1)
        taken, self.step = end - self.step, end
        return taken

    def one(self, step, inputs, targets):
        """One step; returns the loss before it, still on the device."""
        groups = [group for optimiser in self.optimisers for group in optimiser.param_groups]
        for group in groups:
            group["lr"] = group["peak"] * pace(self.settings, step)
        low = self.settings.bfloat16 and self.device.type == "cuda"
        with torch.autocast("cuda", dtype=torch.bfloat16) if low else nullcontext():
            loss = loss_of(self.model, inputs, targets)
        self.model.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimiser in self.optimisers:
            optimiser.step()
        return loss.detach()


def start(settings):
    """The model before its first step.

    Matrices start with the deviation 1 / sqrt(inputs), which keeps what passes through them at its
    size, and embeddings with 2 / sqrt(width). GPT-2's 0.02 suits a width of 768; at 48 attention then
    hardly tells one position from another at first, and addition takes twice as many steps.

    Args:
      settings: Pretraining.

    Returns:
      SmallLM on the CPU; the same seed gives the same weights.

    Source: LeCun et al. 1998 (Efficient BackProp), section 4.6.
    """
    model = lm.SmallLM(**settings.shape())
    generator = torch.Generator().manual_seed(settings.seed)
    for name, parameter in model.named_parameters():
        if parameter.ndim == 2:
            gain = 2 if name.startswith(("tokens", "positions")) else 1
            torch.nn.init.normal_(parameter, std=gain / math.sqrt(parameter.shape[1]), generator=generator)
    return model


def loss_of(model, inputs, targets):
    """What a step makes smaller.

        loss = - mean over the targets that count of log pi(y_t | prompt, y_<t)

    The shift and the gather of ``logprobs``, as one fused operation that makes no GPU wait.

    Args:
      model: lm.SmallLM.
      inputs: (B, P + T - 1) tokens.
      targets: (B, T) tokens that the last T positions must say, or ``corpus.IGNORED``.

    Returns:
      A tensor without axes, in nats per token.

    Source: Radford et al. 2018 (GPT), equation 1.
    """
    hidden = model.hidden(inputs)[:, -targets.shape[1] :]  # (B, T, width): the head is asked only there
    logits = model.head(hidden).float()  # (B, T, V)
    return cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=corpus.IGNORED)


def optimisers(model, settings):
    """AdamW; and Muon for the matrices inside the layers, where the settings say so."""
    inside = [p for p in model.blocks.parameters() if p.ndim == 2 and settings.muon]
    rest = [p for p in model.parameters() if not any(p is matrix for matrix in inside)]
    groups = [{"params": rest, "peak": settings.learning_rate}]
    decay = settings.weight_decay
    made = [torch.optim.AdamW(groups, betas=(0.9, 0.95), weight_decay=decay, fused=True)]  # one call for all
    if inside:
        groups = [{"params": inside, "peak": settings.muon}]
        made.append(torch.optim.Muon(groups, weight_decay=decay))
    return made


def pace(settings, step):
    """The learning rate as a share of its peak: a straight line up, half a cosine down; anew for each corpus.

    Args:
      settings: Pretraining.
      step: counted from 0.

    Returns:
      A number from 0 to 1 on the first corpus, to ``settings.later`` on those after it.

    Source: Loshchilov and Hutter 2017 (SGDR), equation 5.
    """
    which = settings.corpus(step)
    peak = settings.later if which else 1.0
    step, steps = step - sum(settings.steps[:which]), settings.steps[which]
    if step < settings.warmup:
        return peak * (step + 1) / settings.warmup
    done = (step - settings.warmup) / (steps - settings.warmup)
    return peak * 0.5 * (1 + math.cos(math.pi * done))
