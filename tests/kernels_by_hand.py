"""A real kernel, driven cell by cell as JupyterLab does it."""

import time
from contextlib import contextmanager

import nbformat
from conftest import ROOT
from jupyter_client.manager import start_new_kernel

SECONDS = 120  # for one cell


class Kernel:
    """One kernel; ``manager`` and ``client`` are those of jupyter_client."""

    def __init__(self, manager, client):
        self.manager, self.client, self.seen = manager, client, []

    def start(self, code):
        """Hands a cell over, without waiting for its end."""
        self.seen = []
        return self.client.execute(code)

    def end(self, request):
        """What a started cell answers: (name of its error or None, what was said: text, or the error's words)."""

        def keep(message):
            self.seen.append(message["content"] | {"kind": message["msg_type"]})

        reply = self._reply(request, keep)
        if reply["status"] == "ok":
            return None, "".join(each["text"] for each in self.seen if each["kind"] == "stream")
        return reply["ename"], reply["evalue"]

    def _reply(self, request, keep):
        until = time.monotonic() + SECONDS
        while True:  # what is shown comes by its own way, up to the word that the kernel is idle
            message = self.client.get_iopub_msg(timeout=max(until - time.monotonic(), 0.01))
            if message["parent_header"].get("msg_id") != request:
                continue
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                break
            keep(message)
        while True:
            reply = self.client.get_shell_msg(timeout=max(until - time.monotonic(), 0.01))
            if reply["parent_header"].get("msg_id") == request:
                return reply["content"]

    def run(self, code):
        """A whole cell: as ``end``."""
        return self.end(self.start(code))

    def says(self, code):
        """What a cell prints; an error is the test's."""
        error, said = self.run(code)
        assert error is None, f"{error}: {said}\n{code}"
        return said

    def interrupt(self):
        """The square button."""
        self.manager.interrupt_kernel()


@contextmanager
def kernel(folder, **environment):
    """A fresh kernel in a folder; ``environment`` is what differs from ours."""
    import os

    manager, client = start_new_kernel(
        kernel_name="python3",
        cwd=str(folder),
        env=os.environ | environment,
        extra_arguments=["--log-level=ERROR"],
    )
    try:
        yield Kernel(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def cells(name):
    """The sources of a notebook's code cells, in order; ``name`` is how its file begins, such as "08"."""
    (path,) = (ROOT / "notebooks").glob(f"{name}_*.ipynb")
    return [cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]


def cell_with(name, words):
    """The one code cell of a notebook that holds these words."""
    (found,) = (source for source in cells(name) if words in source)
    return found


def wait_for(path, seconds=SECONDS):
    """Waits until a file is there."""
    until = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < until, f"{path.name} never came"
        time.sleep(0.005)
