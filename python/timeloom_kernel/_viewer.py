"""The viewer's page of a run inside a notebook."""

from __future__ import annotations

import html
import subprocess
import tempfile
from pathlib import Path

from IPython.display import display

import timeloom
from timeloom import _core

_PROGRAM = Path(_core.__file__).parent / "bin" / "timeloom"
_MOST = 4_000_000  # bytes that a notebook keeps of a page
_HEIGHT = 640


def show(run: str) -> None:
    """Show the timeline of a run that is woven, in a frame that asks no server. Raises timeloom.Error."""
    with _core.unrecorded(), tempfile.TemporaryDirectory(prefix="timeloom-view-") as directory:
        file = Path(directory) / "run.html"
        done = subprocess.run([str(_PROGRAM), "view", "--html", str(file), run], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace")
        if done.returncode != 0:
            raise timeloom.Error(done.stderr.strip().removeprefix("timeloom: "))
        page = file.read_text(encoding="utf-8")
    command = f"timeloom view {run}"
    if len(page) > _MOST:
        display({"text/plain": f"the run is too large for a page inside a notebook: {command}"}, raw=True)
        return
    frame = (f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts allow-downloads" '
             f'style="width:100%;height:{_HEIGHT}px;border:0" title="timeline"></iframe>')
    display({"text/plain": f"timeline: {command}", "text/html": frame}, raw=True)
