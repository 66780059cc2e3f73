"""Copies of spools of processes of this host that still record, as if the processes had been killed.

A process that appends to several files cannot be copied while it runs: parts would be missing, or torn. It stands still
for as long as a copy on its own disk takes.
"""

from __future__ import annotations

import os
import shutil

from timeloom._engines._standstill import standstill, start_of

_LIFE = "life"  # of a spool whose process records


def _recorder_of(spool: str) -> tuple[int, bytes] | None:
    """Return the process of this host that records into a spool, and its start; None: there is none, or this one."""
    _, number, start, _ = os.path.basename(spool).rsplit("-", 3)
    process = int(number)
    if not os.path.lexists(os.path.join(spool, _LIFE)) or process == os.getpid():
        return None
    return (process, start.encode()) if start_of(process) == start.encode() else None


def freeze(spool: str, copy: str) -> None:
    """Copy a spool if a process records into it. Makes no copy if the process does not stand still meanwhile."""
    try:
        recorder = _recorder_of(spool)
        if recorder is not None:
            with standstill(*recorder):
                shutil.copytree(spool, copy, ignore=shutil.ignore_patterns(_LIFE))
    except (OSError, ValueError):  # it has ended, or the name is another one
        shutil.rmtree(copy, ignore_errors=True)
