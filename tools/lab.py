"""A real JupyterLab in a real Chromium, for the browser tests and the benchmark.

with serving(folder) as lab, chromium() as browser:
    with lab.open(browser, "01_the_exact_bandit.ipynb") as page:
        counts = page.evaluate(RUN_ALL)
"""

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
START_SECONDS = 90

# Resolves, once every cell has finished, to the execution counts of the code cells. Waiting for
# the session and the kernel first matters: a Run All before that is lost. A kernel that never
# answers (or a dialog that asks for one) ends in an error, not in silence.
RUN_ALL = """() => Promise.race([
 new Promise((_, fail) => setTimeout(() => fail(new Error('the notebook did not finish in 300 s')), 300000)),
 (async () => {
  const app = window.jupyterapp; await app.restored; let w;
  while (!(w = app.shell.currentWidget) || !w.sessionContext) await new Promise(r => setTimeout(r, 50));
  await w.context.ready; await w.sessionContext.ready; await w.sessionContext.session.kernel.info;
  await app.commands.execute('notebook:run-all-cells');
  return w.content.widgets.filter(c => c.model.type === 'code' && c.model.sharedModel.source.trim())
    .map(c => c.model.executionCount) })()])"""

# A reader who wants to see every answer without a guess: the button "Show all" does the same.
UNCOVER = """() => { document.documentElement.dataset.pglabUncovered = "yes";
  document.dispatchEvent(new Event("pglab-uncovered")); }"""

ERROR_OUTPUTS = (
    '[data-mime-type="application/vnd.jupyter.error"],[data-mime-type="application/vnd.jupyter.stderr"]'
)


def find_chromium():
    """The browser's path, or None. PGLAB_CHROMIUM names one that lies elsewhere."""
    wanted = os.environ.get("PGLAB_CHROMIUM")
    candidates = [wanted] if wanted else NAMES
    return next((path for name in candidates if (path := shutil.which(name))), None)


@contextlib.contextmanager
def chromium():
    """A headless browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


class Lab:
    """A running server: where it is, and how to open one of its notebooks."""

    def __init__(self, url, token):
        self.url, self.token = url, token

    @contextlib.contextmanager
    def open(self, browser, name, width=1280, height=900):
        """A page with one notebook; ``page.problems`` gathers what the console calls an error."""
        page = browser.new_page(viewport={"width": width, "height": height})
        page.problems = []
        page.on("console", lambda m: m.type == "error" and page.problems.append(m.text))
        page.on("pageerror", lambda error: page.problems.append(str(error)))
        try:
            page.goto(f"{self.url}/lab/tree/{name}?token={self.token}&reset")
            page.wait_for_function("window.jupyterapp", timeout=90_000)
            yield page
        finally:
            page.close()


@contextlib.contextmanager
def serving(folder):
    """JupyterLab on ``folder``, with settings of its own so that nobody's are touched."""
    with tempfile.TemporaryDirectory() as scratch, free_port() as port:
        token, scratch = secrets.token_hex(8), Path(scratch)
        with open(scratch / "log", "w") as log:
            server = subprocess.Popen(
                _command(folder, port, token), env=_environment(scratch), stdout=log, stderr=log
            )
            try:
                url = f"http://127.0.0.1:{port}"
                wait(server, f"{url}/api/status?token={token}", scratch / "log")
                yield Lab(url, token)
            finally:
                server.terminate()
                server.wait(30)


@contextlib.contextmanager
def free_port():
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    yield port


def _command(folder, port, token):
    return [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}",
        f"--ServerApp.root_dir={folder}", "--LabApp.expose_app_in_browser=True",
    ]  # fmt: skip


def _environment(scratch):
    own = {f"JUPYTER_{kind}_DIR": str(scratch / kind.lower()) for kind in ("CONFIG", "RUNTIME", "DATA")}
    own |= {"JUPYTERLAB_SETTINGS_DIR": str(scratch / "settings"), "IPYTHONDIR": str(scratch / "ipython")}
    own |= {"JUPYTERLAB_WORKSPACES_DIR": str(scratch / "workspaces"), "PGLAB_PROGRESS": "off"}
    news = scratch / "settings" / "@jupyterlab" / "apputils-extension"
    news.mkdir(parents=True)
    (news / "notification.jupyterlab-settings").write_text('{"fetchNews":"false","checkForUpdates":false}')
    return {**os.environ, **own}


def wait(server, url, log):
    """Until the server answers; what it has logged, as an error, if it ends or takes too long."""
    end = time.monotonic() + START_SECONDS
    while True:
        try:
            urllib.request.urlopen(url, timeout=2)
            return
        except OSError as error:
            if time.monotonic() > end or server.poll() is not None:
                raise RuntimeError(f"The server did not start:\n{log.read_text()}") from error
            time.sleep(0.2)
