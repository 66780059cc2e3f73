"""JupyterLab for tests: a separate server, and a page of it in Chromium."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from notebooks import DEADLINE, environment, make_spec

PICTURES = os.environ.get("TIMELOOM_PICTURES")  # a directory, for docs/images
BROWSER = os.environ.get("TIMELOOM_CHROMIUM") or shutil.which("chromium")
TOKEN = "of-this-test"
BASE = "/user/somebody"  # as a JupyterHub has it
DISPLAY_NAME = "Timeloom of the test"

# The contrast of an element's text to its background, as WCAG defines it.
CONTRAST = """element => {
  const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
  let behind = element;
  while (numbers(getComputedStyle(behind).backgroundColor)[3] === 0) behind = behind.parentElement;
  const light = colour => numbers(colour).slice(0, 3).map(part => part / 255)
    .map(part => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
  const both = [light(getComputedStyle(element).color), light(getComputedStyle(behind).backgroundColor)];
  return (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
}"""


def write_notebook(path, cells):
    """A notebook that names no kernel."""
    import nbformat

    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells]), path)


class Lab:
    """A server of JupyterLab, without any of the user's files."""

    def __init__(self, directory, root):
        self.root = Path(root)
        self._settings = Path(directory) / "settings"
        self.set("notification", fetchNews="false", checkForUpdates=False)
        make_spec(directory, display_name=DISPLAY_NAME)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        variables = {"JUPYTERLAB_SETTINGS_DIR": str(self._settings), "JUPYTERLAB_WORKSPACES_DIR": str(Path(directory) / "workspaces")}
        self._log = (Path(directory) / "log").open("w+")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--ServerApp.port={self.port}",
             "--ServerApp.ip=127.0.0.1", f"--ServerApp.root_dir={self.root}", f"--IdentityProvider.token={TOKEN}",
             f"--ServerApp.base_url={BASE}/"],
            cwd=self.root, env=environment(directory, **variables), stdout=self._log, stderr=subprocess.STDOUT)
        end = time.monotonic() + 4 * DEADLINE
        while not self._answers():
            assert self._process.poll() is None and time.monotonic() < end, self.log()
            time.sleep(0.1)

    def set(self, plugin, **settings):
        """Settings of a user, read when a page is opened."""
        place = self._settings / "@jupyterlab" / "apputils-extension"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{plugin}.jupyterlab-settings").write_text(json.dumps(settings))

    def _answers(self):
        address = f"http://127.0.0.1:{self.port}{BASE}/api/status?token={TOKEN}"
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=5) as answer:
            return answer.status == 200
        return False

    def log(self):
        self._log.seek(0)
        return self._log.read()

    def address(self, notebook):
        return f"http://127.0.0.1:{self.port}{BASE}/lab/tree/{notebook}?token={TOKEN}&reset"

    def close(self):
        self._process.terminate()
        try:
            self._process.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()


class Page:
    """A notebook in a page; all error messages of the page are kept."""

    def __init__(self, page, lab, notebook):
        self.page, self.complaints = page, []
        page.set_default_timeout(4 * DEADLINE * 1000)  # a page is slow on a busy machine
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(lab.address(notebook))

    def choose_kernel(self, name=DISPLAY_NAME):
        self.page.locator(".jp-Dialog select").select_option(label=name)
        self.page.locator(".jp-Dialog .jp-mod-accept").click()
        self.page.locator(".jp-Dialog").wait_for(state="detached")
        self.page.locator(".jp-Toolbar-kernelName", has_text=name).wait_for()
        self.page.locator("[data-status=idle]").first.wait_for()

    def cell(self, index):
        return self.page.locator(".jp-Notebook .jp-CodeCell").nth(index)

    def run(self, index):
        """Run a cell and wait for its reply."""
        cell = self.cell(index)
        cell.locator(".jp-InputArea-editor").click()
        self.page.keyboard.press("Control+Enter")
        cell.locator(".jp-InputArea-prompt", has_text="[*]").wait_for(state="detached")
        cell.locator(".jp-InputArea-prompt").filter(has_text="]:").wait_for()
        return cell.locator(".jp-OutputArea")
