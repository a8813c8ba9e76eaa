"""Several processes that train one model: each draws and reads its own prompts, and all add up.

    torchrun --nproc-per-node 2 -m pglab.training grpo --task addition

torchrun starts the same command several times and tells each process its number. Every worker holds the
whole model and the whole optimiser. In a step

1. each draws the completions of its own share of the prompts, from the noise that one worker alone would
   have used for them, and has them verified;
2. all tell each other what they have drawn, so that advantages and denominators are those of the whole batch;
3. each reads its share once more, for its share of the gradient;
4. torch's DistributedDataParallel adds the shares up, and every worker takes the same step.

One process is the special case in which nobody else is there: ``ALONE``.
"""

import gc
import hashlib
import os
import signal
import textwrap
from contextlib import contextmanager, nullcontext, suppress

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

from pglab import lm


class WorkerLost(ConnectionError):
    """Another worker has gone, and this one cannot go on without it."""


class Alone:
    """One process that has nobody to share with. ``Group`` says what each of these is for."""

    number = 0
    count = 1

    @property
    def first(self):
        return self.number == 0

    def part(self, many):
        """Which of ``many`` things are this worker's: a slice, those of all workers side by side."""
        few, more = divmod(many, self.count)
        start = self.number * few + min(self.number, more)
        return slice(start, start + few + (self.number < more))

    def join(self, model):
        pass

    def apart(self):
        return nullcontext()

    def add_up(self):
        pass

    def told(self, thing):
        return thing

    def gathered(self, thing):
        return [thing]

    def agree(self, model):
        pass


ALONE = Alone()


class Group(Alone):
    """This process among those that torchrun has started.

    Args:
      number, count: of this worker, counted from 0, and how many there are.
    """

    def __init__(self, number, count):
        self.number, self.count, self.shares = number, count, None

    def join(self, model):
        """From here on ``add_up`` is about the gradients of this model, and all start from the first one's weights."""
        self.shares = together(self, DistributedDataParallel, Nothing(model))

    def apart(self):
        """While this is open, gradients stay where they are."""
        return self.shares.no_sync()

    def add_up(self):
        """The gradient of every worker becomes the sum of all: each share has the denominator of the whole batch."""
        together(self, lambda: self.shares().backward())
        for parameter in self.shares.parameters():
            parameter.grad *= self.count  # DistributedDataParallel has taken the mean

    def told(self, thing):
        """What the first worker says, for all."""
        said = [thing]
        together(self, distributed.broadcast_object_list, said)
        return said[0]

    def gathered(self, thing):
        """What every worker says, a list in their order. Nothing of it may lie on a GPU."""
        said = [None] * self.count
        together(self, distributed.all_gather_object, said, thing)
        return said

    def agree(self, model):
        """Raises a ValueError if the workers do not all have the same weights, to the last bit."""
        found = self.gathered(fingerprint(model))
        if len(set(found)) > 1:
            raise ValueError(
                f"the workers have different weights ({', '.join(each[:8] for each in found)}); they must be the "
                "same. Do all machines run the same torch on the same kind of device?"
            )


class Nothing(torch.nn.Module):
    """A model whose only output is 0, with a gradient of 0.

    What a worker reads depends on what it drew, and it may have nothing to read. So gradients are first
    made on each worker as if it were alone, and this output's backward pass, which adds nothing, is
    the one at which DistributedDataParallel adds up what lies there.
    """

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self):
        return sum((0 * parameter).sum() for parameter in self.model.parameters())


def together(workers, what, *arguments):
    """Something that all workers do at once; WorkerLost if another one has gone."""
    try:
        return what(*arguments)
    except RuntimeError as error:  # torch's errors of gloo and NCCL
        undisturbed()
        raise WorkerLost(
            "another worker has gone, and none can go on without it. If it was not killed, its own message says why. "
            f"({textwrap.shorten(str(error), 160)})"
        ) from error


def fingerprint(model):
    """SHA-256 of all weights."""
    found = hashlib.sha256()
    for parameter in model.parameters():
        found.update(parameter.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
    return found.hexdigest()


# ---- What torchrun has said


def started():
    """Whether torchrun, or another launcher with its variables, has started this process."""
    return "RANK" in os.environ and "WORLD_SIZE" in os.environ


def several():
    """Whether it has started more than one."""
    return started() and int(os.environ["WORLD_SIZE"]) > 1


def who():
    """What stands before a message, where several workers speak at once."""
    return f"Worker {os.environ['RANK']} of {os.environ['WORLD_SIZE']}: " if several() else ""


def local(name="auto"):
    """The device of this process: with several GPUs on a machine, each has its own.

    Args:
      name: as ``lm.choose_device``.

    Returns:
      torch.device.

    Raises:
      ValueError: as ``lm.choose_device``; fewer GPUs than processes on this machine, one GPU named for
        several processes, an Apple GPU for several.
    """
    kind = lm.choose_device(name)
    if not several() or kind.type == "cpu":
        return kind
    if kind.type != "cuda" or kind.index is not None:
        raise ValueError(
            f"device is {str(kind)!r}; it must be cpu, cuda or auto for several workers: each takes its own GPU."
        )
    here, there = int(os.environ.get("LOCAL_RANK", 0)), torch.cuda.device_count()
    if here >= there:
        raise ValueError(
            f"this is worker {here} of its machine, counted from 0, which has {there} GPUs; start at most so many "
            f"workers, --nproc-per-node {there}, or choose --device cpu."
        )
    return torch.device("cuda", here)


@contextmanager
def joined(device):
    """The workers that torchrun has started, for as long as this is open; ``ALONE`` without torchrun.

    Args:
      device: of this process, as ``local`` gives it. Messages go by NCCL between GPUs, else by gloo.

    Raises:
      ConnectionError: the others cannot be reached.
    """
    if not started():
        yield ALONE
        return
    if device.type == "cuda":
        torch.cuda.set_device(device)
    try:
        distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
    except (RuntimeError, ValueError) as error:
        raise ConnectionError(f"The other workers cannot be reached: {error}") from error
    signal.signal(signal.SIGTERM, stop)
    group = Group(distributed.get_rank(), distributed.get_world_size())
    try:
        yield group
    finally:
        group.shares = None  # it holds on to what is now taken apart, in circles
        gc.collect()
        with suppress(RuntimeError):
            distributed.destroy_process_group()


def stop(*_):
    """torchrun ends the workers that are left when one has failed; like Ctrl-C, it costs no finished step.

    The signal may come before this worker has noticed by itself: both ends say the same.
    """
    undisturbed()
    raise WorkerLost(
        "torchrun ends this worker, as it does when another worker has gone or when it is told to stop."
    )


def undisturbed():
    """From here on torchrun's signals are not heard: what has been done is being written."""
    if started():
        for number in (
            signal.SIGTERM,
            signal.SIGINT,
        ):  # Ctrl-C comes twice: from the keyboard and from torchrun
            signal.signal(number, signal.SIG_IGN)
