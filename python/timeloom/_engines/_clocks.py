"""Comparisons of the clocks of the hosts of an engine with the clock of the program's host.

A question goes from the program through the engine to a worker, and its answer comes back the same way. The answer of
the shortest of some round trips is taken to have been given in the middle. A worker of each host notes the difference
in its records at the start and at the end, and weaving puts the line through both into the times of the host, as for
ranks of MPI (src/weave/host_clocks.hpp).
"""

from __future__ import annotations

import time

from timeloom import _core

ROUNDS = 32
_BOOT_ID = "/proc/sys/kernel/random/boot_id"

Trip = tuple[int, int, int]  # nanoseconds: when the question was asked here, the clock there, when the answer was here


def clock_here() -> tuple[str, int]:
    """Return the id of the boot of this host, and its monotonic clock in nanoseconds. Runs in the worker."""
    now = time.monotonic_ns()
    try:
        with open(_BOOT_ID, encoding="ascii") as file:
            return file.read(64).strip(), now
    except OSError:
        return "", now


def note_offset(offset_ns: int, error_ns: int) -> None:
    """Note how far the clock of the program's host is ahead now. Runs in the worker."""
    _core.note_clock_offset(offset_ns, error_ns)


def offset_of(trips: list[Trip]) -> tuple[int, int]:
    """Return how far the clock here is ahead of the one there, and the error, in nanoseconds."""
    trip, offset = min((end - begin, (begin + end) // 2 - there) for begin, there, end in trips)
    return offset, (trip + 1) // 2
