"""Ends the JVM that this process has started for Spark, and its Python workers.

The JVM ends when its standard input is closed, so without this it ends together with the program's process. Its workers
would still record when the run is woven.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from typing import Any

_QUIET_SECONDS = 2  # without a line
_JVM_SECONDS = 30  # for jobs that are cancelled, and directories that are removed
_WORKER_SECONDS = 5
_MODULES = ("pyspark.core.context", "pyspark.context")  # from 4.0 on, and before


def _context_type() -> Any:
    return next((getattr(sys.modules[name], "SparkContext", None) for name in _MODULES if name in sys.modules), None)


def _started_jvm() -> Any:
    """Return the Popen object of the JVM; None: this process has started none, or pyspark is of an unknown version."""
    jvm = getattr(getattr(_context_type(), "_gateway", None), "proc", None)
    running = isinstance(jvm, subprocess.Popen) and jvm.stdin is not None and jvm.poll() is None
    return jvm if running else None


def _end_accumulators() -> None:
    """End the thread that reads accumulators from the JVM: it would print an error when the JVM closes its socket."""
    context = getattr(_context_type(), "_active_spark_context", None)
    server = getattr(context, "_accumulatorServer", None)
    if server is not None:
        ending = threading.Thread(target=server.shutdown, daemon=True)
        ending.start()
        ending.join(_QUIET_SECONDS)


def _parents() -> dict[int, int]:
    """Return the parent of each process that has not ended."""
    parents = {}
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                state, parent, *_ = file.read().rpartition(b")")[2].split()
        except (OSError, ValueError):  # it has ended meanwhile
            continue
        if state != b"Z":
            parents[int(name)] = int(parent)
    return parents


def _descendants(process: int) -> set[int]:
    parents = _parents()
    found = {process}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {process}


def end_jvm() -> None:
    """Close the standard input of the JVM and wait until it has ended, and its workers."""
    jvm = _started_jvm()
    if jvm is None:
        return
    _end_accumulators()
    workers = _descendants(jvm.pid)
    try:
        jvm.stdin.close()
        try:
            jvm.wait(_QUIET_SECONDS)
        except subprocess.TimeoutExpired:
            print(f"timeloom: waiting for the JVM of Spark to end, {_JVM_SECONDS} s at most [TL169]", file=sys.stderr)
            jvm.wait(_JVM_SECONDS)
    except (OSError, subprocess.TimeoutExpired):  # it ends after this process
        return
    last = time.monotonic() + _WORKER_SECONDS
    while workers & set(_parents()) and time.monotonic() < last:
        time.sleep(0.01)
