"""The timeline of a run inside a notebook: the result of ``timeloom.view()``.

Only ``timeloom.view()`` and the notebook extension import it, so a measured program does not load it.
"""

from __future__ import annotations

import atexit
import html
import importlib.util
import os
import subprocess
import tempfile
import urllib.parse
from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from timeloom import Error, _core

_PROGRAM = Path(_core.__file__).parent / "bin" / "timeloom"
_MOST = 4_000_000  # bytes of a page that a notebook stores
_HEIGHT = 640
_IDLE_MINUTES = "60"


class View:
    """The timeline of a run, or of two; a notebook shows it in a frame.

    With a proxy (jupyter-server-proxy) the frame uses a server of ``timeloom view``, which ends after an hour without a
    request, with :meth:`stop`, or with this process. Without a proxy the page contains the run and needs no server. A
    run that is too large for that is only named.
    """

    def __init__(
        self,
        runs: Sequence[str | PathLike[str]],
        *,
        height: int = _HEIGHT,
        with_source: bool = False,
        proxy: str | None = None,
    ) -> None:
        self.runs = [fspath(run) for run in runs]
        self.height = height
        self._process: subprocess.Popen[str] | None = None
        template = proxy if proxy is not None else _known_proxy()
        with _core.unrecorded():
            self._attributes = self._serve(template) if template else self._page(with_source)

    def __repr__(self) -> str:
        command = f"timeloom view {' '.join(self.runs)}"
        return ("timeline: " if self._attributes else "the run is too large for a page inside a notebook: ") + command

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        bundle = {"text/plain": repr(self)}
        if self._attributes:
            style = f"width:100%;height:{self.height}px;border:0"
            bundle["text/html"] = f'<iframe {self._attributes} style="{style}" title="timeline"></iframe>'
        return bundle

    def stop(self) -> None:
        """End the server, if there is one."""
        if self._process is not None:
            self._process.terminate()
            self._process.communicate()
            self._process = None

    def _page(self, with_source: bool) -> str:
        """Return the attributes of a frame with the whole page; empty if it is too large."""
        with tempfile.TemporaryDirectory(prefix="timeloom-view-") as directory:
            file = Path(directory) / "run.html"
            options = ["--html", str(file), *(["--with-source"] if with_source else [])]
            command = [str(_PROGRAM), "view", *options, *self.runs]
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
            if done.returncode != 0:
                raise Error(done.stderr.strip().removeprefix("timeloom: "))
            page = file.read_text(encoding="utf-8")
        return "" if len(page) > _MOST else f'srcdoc="{html.escape(page)}" sandbox="allow-scripts allow-downloads"'

    def _serve(self, template: str) -> str:
        """Start a server, and return the attributes of a frame that uses it."""
        host = urllib.parse.urlsplit(template).hostname
        options = ["--no-browser", "--frame", "--idle", _IDLE_MINUTES, *(["--allow-host", host] if host else [])]
        process = subprocess.Popen(
            [str(_PROGRAM), "view", *options, *self.runs],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        if not address:
            raise Error(process.communicate()[1].strip().removeprefix("timeloom: "))
        self._process = process
        atexit.register(self.stop)
        place, _, fragment = address.partition("#")
        port = urllib.parse.urlsplit(place).port
        return f'src="{html.escape(template.replace("{port}", str(port)))}#{fragment}"'


def _known_proxy() -> str | None:
    """Return the URL of jupyter-server-proxy for this machine's ports, known in a JupyterHub that passes its
    address."""
    address = os.environ.get("JUPYTERHUB_PUBLIC_URL", "").rstrip("/")
    if not address or importlib.util.find_spec("jupyter_server_proxy") is None:
        return None
    return f"{address}/proxy/{{port}}/"
