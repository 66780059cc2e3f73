"""Compares the clocks of the hosts of a Dask cluster with the clock of the program's host.

The connection is Dask's own: a question goes from the client over the scheduler to a worker, and its answer comes back
the same way. The answer of the shortest of some round trips is taken to have been given in the middle. A worker of each
host notes the difference in its records at the start and at the end, and weaving puts the line through both into the
times of the host, as for ranks of MPI (src/weave/host_clocks.hpp).
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from timeloom import _core

_ROUNDS = 32
_AT_ONCE = 4  # hosts: more of them would wait for each other, which makes round trips longer
_BOOT_ID = "/proc/sys/kernel/random/boot_id"


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


async def _compare(client: Any, address: str) -> None:
    """Measure the difference to the clock of a worker, which notes it."""
    trips = []
    for _ in range(_ROUNDS):
        begin = time.monotonic_ns()
        answers = await client.run(clock_here, workers=[address])
        end = time.monotonic_ns()
        trips.append((end - begin, (begin + end) // 2 - int(answers[address][1])))
    trip, offset = min(trips)
    await client.run(note_offset, offset, (trip + 1) // 2, workers=[address])


async def compare_clocks(client: Any, addresses: list[str]) -> None:
    """Compare the clock of each host of these workers that has another clock than this one."""
    answers = await client.run(clock_here, workers=addresses, on_error="ignore") if addresses else {}
    here, _ = clock_here()
    others: dict[str, str] = {}
    for address, (boot, _) in answers.items():
        if boot != here:
            others.setdefault(boot, address)
    some = asyncio.Semaphore(_AT_ONCE)

    async def compare(address: str) -> None:
        async with some:
            await _compare(client, address)

    await asyncio.gather(*(compare(address) for address in others.values()))
