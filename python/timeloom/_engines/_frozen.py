"""Copies the spool of a process of this host that still records, as if the process had been killed.

A process that appends to several files cannot be copied while it runs: parts would be missing, or torn. It stands still
for as long as a copy on its own disk takes.
"""

from __future__ import annotations

import os
import shutil
import signal
import time

_SECONDS = 2  # for a process to stand still
_LIFE = "life"  # of a spool whose process records


def _facts(path: str) -> list[bytes]:
    """Return the fields of /proc/PID/stat behind the name: the state is first, the start the 20th."""
    with open(path, "rb") as file:
        return file.read().rpartition(b")")[2].split()


def _states(process: int) -> list[bytes]:
    """Return the state of each thread of a process; raise OSError if it has ended."""
    threads = f"/proc/{process}/task"
    return [_facts(f"{threads}/{thread}/stat")[0] for thread in os.listdir(threads)]


def _recorder_of(spool: str) -> int:
    """Return the process of this host that records into a spool, other than this one; 0: there is none."""
    _, process, start, _ = os.path.basename(spool).rsplit("-", 3)
    if not os.path.lexists(os.path.join(spool, _LIFE)) or int(process) == os.getpid():
        return 0
    return int(process) if _facts(f"/proc/{int(process)}/stat")[19] == start.encode() else 0


def _wait_until_still(process: int) -> None:
    last = time.monotonic() + _SECONDS
    while any(state not in (b"T", b"t") for state in _states(process)) and time.monotonic() < last:
        time.sleep(0.001)


def freeze(spool: str, copy: str) -> None:
    """Copy a spool if a process records into it. Does nothing if that is not possible."""
    try:
        process = _recorder_of(spool)
        if process == 0:
            return
        os.kill(process, signal.SIGSTOP)
        try:
            _wait_until_still(process)
            shutil.copytree(spool, copy, ignore=shutil.ignore_patterns(_LIFE))
        finally:
            os.kill(process, signal.SIGCONT)
    except (OSError, ValueError):  # it has ended, or the name is another one
        shutil.rmtree(copy, ignore_errors=True)
