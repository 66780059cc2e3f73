"""Opening a run in Vampir after a measured cell."""

from __future__ import annotations

import os
import shutil
import subprocess

from timeloom._notebook._messages import say, say_error

NOT_FOUND = (
    "KernelError: Vampir binary not found in PATH. Add it to PATH to enable automatic launch (e.g. in ~/.bashrc: "
    'export PATH="/path/to/vampir/bin:$PATH"'
)


def launch(run: str) -> None:
    """Open the trace of a woven run; no running process is touched."""
    trace = os.path.join(run, "traces.otf2")
    if not os.path.isfile(trace):
        say_error("KernelError: Instrumentation output directory not found or missing traces.otf2 "
                  f"(looked in: {run})")
        return
    program = shutil.which("vampir")
    if program is None:
        say_error(NOT_FOUND)
        return
    say(f"\nLaunching Vampir: {program}")
    try:
        subprocess.Popen([program, trace], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL, start_new_session=True)
    except OSError as error:
        say_error(f"KernelError: Failed to launch Vampir: {error}")
