"""Ends the JVM that this process has started for Spark, and its Python workers.

The JVM ends when its standard input is closed, so without this it ends together with the program's process. Its workers
would still record when the run is woven.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import Any

_JVM_SECONDS = 30  # for jobs that are cancelled, and directories that are removed
_WORKER_SECONDS = 5
_MODULES = ("pyspark.core.context", "pyspark.context")  # from 4.0 on, and before


def _started_jvm() -> Any:
    """Return the Popen object of the JVM; None: this process has started none, or pyspark is of an unknown version."""
    for name in _MODULES:
        gateway = getattr(getattr(sys.modules.get(name), "SparkContext", None), "_gateway", None)
        jvm = getattr(gateway, "proc", None)
        if isinstance(jvm, subprocess.Popen) and jvm.stdin is not None and jvm.poll() is None:
            return jvm
    return None


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
    workers = _descendants(jvm.pid)
    try:
        jvm.stdin.close()
        jvm.wait(_JVM_SECONDS)
    except (OSError, subprocess.TimeoutExpired):  # it ends after this process
        return
    last = time.monotonic() + _WORKER_SECONDS
    while workers & set(_parents()) and time.monotonic() < last:
        time.sleep(0.01)
