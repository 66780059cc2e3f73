"""Compares the clocks of the hosts of a Dask cluster with the clock of the program's host (_clocks.py).

The connection is Dask's own: a question goes from the client over the scheduler to a worker.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from timeloom._engines._clocks import ROUNDS, Trip, clock_here, note_offset, offset_of

_AT_ONCE = 4  # hosts: more of them would wait for each other, which makes round trips longer


async def _compare(client: Any, address: str) -> None:
    """Measure the difference to the clock of a worker, which notes it."""
    trips: list[Trip] = []
    for _ in range(ROUNDS):
        begin = time.monotonic_ns()
        answers = await client.run(clock_here, workers=[address])
        trips.append((begin, int(answers[address][1]), time.monotonic_ns()))
    await client.run(note_offset, *offset_of(trips), workers=[address])


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
